// Losses of pairs of numbers: their sums without the losses in memory, and their rules.
#include "loss.h"

#include "math.h"
#include "row_reductions.h"
#include "steps.h"

namespace extensor::EX_ISA {
namespace {

template <typename T, typename Loss>
void sum_pass(const void* prediction, const void* target, int64_t n, void* out) {
  *static_cast<T*>(out) = row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
    return access.or_zero(Loss{}(access.load(prediction, i), access.load(target, i)));
  });
}

// Of `loss(prediction, target)` the sum, and of `rule(grad, prediction, target)` the two gradients.
template <typename Loss, typename Rule>
constexpr LossKernel loss(const char* name, const char* rule_name, int weights, Cost cost, Loss,
                          Rule rule) {
  return {name,
          weights,
          cost,
          {sum_pass<float, Loss>, sum_pass<double, Loss>},
          binary_rule<0>(rule_name, cost, rule)};
}

// As PyTorch: the logarithm of a probability of 0 counts as -100, and p * (1 - p) as at least
// 1e-12.
template <typename V>
EX_INLINE V bounded_log(V logarithm) {
  return maximum(logarithm, V(-100));
}

constexpr LossKernel kLosses[] = {
    loss(
        "mse_loss", "mse_loss_backward", 0, Cost::light,
        [](auto p, auto t) { return (p - t) * (p - t); },
        [](auto g, auto p, auto t) {
          auto gradient = chain(g, decltype(p)(2) * (p - t));
          return Two{gradient, -gradient};
        }),
    loss(
        "l1_loss", "l1_loss_backward", 0, Cost::light, [](auto p, auto t) { return abs(p - t); },
        [](auto g, auto p, auto t) {
          auto gradient = chain(g, sign(p - t));
          return Two{gradient, -gradient};
        }),
    loss(
        "binary_cross_entropy", "binary_cross_entropy_backward", 1, Cost::heavy,
        [](auto p, auto t) {
          using V = decltype(p);
          return V(0) - t * bounded_log(log(p)) - (V(1) - t) * bounded_log(log1p(-p));
        },
        [](auto g, auto p, auto t) {
          using V = decltype(p);
          const V denominator = lifted(p * (V(1) - p), V(1e-12));
          return Two{chain_over(chain(g, p - t), denominator),
                     chain(g, bounded_log(log1p(-p)) - bounded_log(log(p)))};
        }),
    loss(
        "binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits_backward", 2,
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
