// Losses of pairs of numbers: each of them, their sums without the losses in memory, and their
// rules.
#include "loss.h"

#include "../math/math.h"
#include "../reduction/row_reductions.h"
#include "../simd/steps.h"

namespace extensor::EX_ISA {
namespace {

template <typename T, typename Loss, size_t... kParameter>
void sum_losses(const void* const* inputs, void* const* outputs, int64_t n,
                const double* parameters, std::index_sequence<kParameter...>) {
  [[maybe_unused]] const Vec<T> constants[sizeof...(kParameter) + 1] = {
      Vec<T>(static_cast<T>(parameters[kParameter]))...};
  const void *const prediction = inputs[0], *const target = inputs[1];
  *static_cast<T*>(outputs[0]) = row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
    return access.or_zero(
        Loss{}(access.load(prediction, i), access.load(target, i), constants[kParameter]...));
  });
}

template <typename T, size_t kParameters, typename Loss>
constexpr Pass sum_pass_of() {
  return [](const void* const* in, void* const* out, int64_t n, const double* p) {
    sum_losses<T, Loss>(in, out, n, p, std::make_index_sequence<kParameters>{});
  };
}

// Of `loss(prediction, target, parameters...)` each and the sum, and of `rule(grad, prediction,
// target, parameters...)` the two gradients.
template <size_t kParameters, int kWeights = 0, typename Loss, typename Rule>
constexpr LossKernel loss(const char* name, const char* rule_name, Cost cost, Loss, Rule rule) {
  return {name,
          kWeights,
          kParameters,
          cost,
          {map_pass_of<float, 2, kParameters, Loss>(), map_pass_of<double, 2, kParameters, Loss>()},
          {sum_pass_of<float, kParameters, Loss>(), sum_pass_of<double, kParameters, Loss>()},
          binary_rule<kParameters>(rule_name, cost, rule)};
}
constexpr LossKernel with_batchmean(LossKernel kernel) {
  kernel.by_batch = true;
  return kernel;
}
constexpr LossKernel checked(LossKernel kernel) {
  kernel.checked = true;
  return kernel;
}
constexpr LossKernel if_positive(LossKernel kernel) {
  kernel.accepts = is_positive;
  return kernel;
}

// As PyTorch: the logarithm of a probability of 0 counts as -100, and p * (1 - p) as at least
// 1e-12.
template <typename V>
EX_INLINE V bounded_log(V logarithm) {
  return maximum(logarithm, V(-100));
}

// The rule of a loss of the difference.
template <typename V>
EX_INLINE Two<V> opposite(V gradient) {
  return {gradient, -gradient};
}

template <typename V>
EX_INLINE V held(V x, V bound) {
  return minimum(maximum(x, -bound), bound);
}

constexpr LossKernel kLosses[] = {
    loss<0>(
        "mse_loss", "mse_loss_backward", Cost::light,
        [](auto p, auto t) { return (p - t) * (p - t); },
        [](auto g, auto p, auto t) { return opposite(chain(g, decltype(p)(2) * (p - t))); }),
    loss<0>(
        "l1_loss", "l1_loss_backward", Cost::light, [](auto p, auto t) { return abs(p - t); },
        [](auto g, auto p, auto t) { return opposite(chain(g, sign(p - t))); }),
    // With beta 0 it is l1_loss, which is left to Python.
    if_positive(loss<1>(
        "smooth_l1_loss", "smooth_l1_loss_backward", Cost::light,
        [](auto p, auto t, auto beta) {
          using V = decltype(p);
          const V size = abs(p - t);
          return select(size < beta, V(0.5) * size * (size / beta), size - V(0.5) * beta);
        },
        [](auto g, auto p, auto t, auto beta) {
          return opposite(chain(g, held((p - t) / beta, decltype(p)(1))));
        })),
    if_positive(loss<1>(
        "huber_loss", "huber_loss_backward", Cost::light,
        [](auto p, auto t, auto delta) {
          using V = decltype(p);
          const V size = abs(p - t);
          return select(size <= delta, V(0.5) * size * size, delta * (size - V(0.5) * delta));
        },
        [](auto g, auto p, auto t, auto delta) { return opposite(chain(g, held(p - t, delta))); })),
    loss<0>(
        "hinge_loss", "hinge_loss_backward", Cost::light,
        [](auto p, auto t) {
          using V = decltype(p);
          return maximum(V(1) - t * p, V(0));
        },
        [](auto g, auto p, auto t) {
          using V = decltype(p);
          const V each = select(t * p < V(1), -g, V(0));
          return Two{chain(each, t), chain(each, p)};
        }),
    with_batchmean(loss<1>(
        "kl_div", "kl_div_backward", Cost::medium,
        // Whether the target is given as logarithms is the same in every lane.
        [](auto x, auto t, auto log_target) {
          return log_target[0] != 0 ? chain(exp(t), t - x) : chain(t, log(t) - x);
        },
        [](auto g, auto x, auto t, auto log_target) {
          using V = decltype(x);
          if (log_target[0] == 0) return Two{chain(g, -t), chain(g, log(t) - x + V(1))};
          return Two{chain(g, -exp(t)), chain(g, chain(exp(t), t - x + V(1)))};
        })),
    checked(loss<0, 1>(
        "binary_cross_entropy", "binary_cross_entropy_backward", Cost::heavy,
        [](auto p, auto t) {
          using V = decltype(p);
          return V(0) - t * bounded_log(log(p)) - (V(1) - t) * bounded_log(log1p(-p));
        },
        [](auto g, auto p, auto t) {
          using V = decltype(p);
          const V denominator = lifted(p * (V(1) - p), V(1e-12));
          return Two{chain_over(chain(g, p - t), denominator),
                     chain(g, bounded_log(log1p(-p)) - bounded_log(log(p)))};
        })),
    loss<0, 2>(
        "binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits_backward",
        Cost::heavy,
        [](auto x, auto t) {
          using V = decltype(x);
          const V tail = log1p(exp(-abs(x)));
          return chain(t, maximum(-x, V(0)) + tail) + chain(V(1) - t, maximum(x, V(0)) + tail);
        },
        [](auto g, auto x, auto t) {
          using V = decltype(x);
          return Two{chain(g, (V(1) - t) * sigmoid(x) - t * sigmoid(-x)), chain(g, -x)};
        }),
};

}  // namespace

std::span<const LossKernel> losses() { return kLosses; }

}  // namespace extensor::EX_ISA
