// Activations and their rules: a line each.
#include "../math/math.h"
#include "../simd/pass.h"
#include "../simd/steps.h"
#include "elementwise.h"

namespace extensor::EX_ISA {
namespace {

constexpr auto kGelu = [](auto x) { return gelu(x); };
constexpr auto kGeluTanh = [](auto x) { return gelu_tanh(x); };
constexpr auto kGeluRule = [](auto g, auto x) { return chain(g, gelu_derivative(x)); };
constexpr auto kGeluTanhRule = [](auto g, auto x) { return chain(g, gelu_tanh_derivative(x)); };

template <typename V>
EX_INLINE V exponential_unit(V x, V alpha) {
  return select(x > V(0), x, alpha * expm1(x));
}
template <typename V>
EX_INLINE V exponential_slope(V x, V alpha) {
  return select(x > V(0), V(1), alpha * exp(x));
}
template <typename V>
EX_INLINE V clamped(V x, int low, int high) {
  return minimum(maximum(x, V(low)), V(high));
}
// The gradient where low < x < high, else 0.
template <typename V>
EX_INLINE V between(V gradient, V x, V low, V high) {
  return select((x > low) & (x < high), gradient, V(0));
}

constexpr bool are_apart(const double* bounds) { return bounds[0] < bounds[1]; }

// A kernel of one parameter that chooses between two functions: gelu(x, approximate).
template <typename T, size_t kInputs, typename Exact, typename Approximate>
constexpr Pass choosing_pass() {
  return [](const void* const* in, void* const* out, int64_t n, const double* parameters) {
    if (parameters[0] == 0) {
      map_pass_of<T, kInputs, 0, Exact>()(in, out, n, parameters);
    } else {
      map_pass_of<T, kInputs, 0, Approximate>()(in, out, n, parameters);
    }
  };
}
template <size_t kInputs, typename Exact, typename Approximate>
constexpr Elementwise choice(const char* name, Exact, Approximate) {
  return {name,
          kInputs,
          1,
          false,
          false,
          Cost::medium,
          {choosing_pass<float, kInputs, Exact, Approximate>(),
           choosing_pass<double, kInputs, Exact, Approximate>()},
          nullptr,
          true};
}

// softplus(beta x) / beta, which for a beta of 1 needs neither product nor quotient.
constexpr auto kSoftplus = [](auto x) { return softplus(x); };
constexpr auto kScaledSoftplus = [](auto x, auto beta) { return softplus(x * beta) / beta; };

template <typename T>
constexpr Pass softplus_pass() {
  return [](const void* const* in, void* const* out, int64_t n, const double* beta) {
    if (*beta == 1) {
      map_pass_of<T, 1, 0, decltype(kSoftplus)>()(in, out, n, beta);
    } else {
      map_pass_of<T, 1, 1, decltype(kScaledSoftplus)>()(in, out, n, beta);
    }
  };
}
constexpr Elementwise kSoftplusKernel = {
    "softplus", 1, 1, false, false, Cost::medium, {softplus_pass<float>(), softplus_pass<double>()},
    is_positive};

constexpr Elementwise kActivations[] = {
    map<1, 0>("relu", Cost::light, [](auto x) { return maximum(x, decltype(x)(0)); }),
    map<2, 0>("relu_backward", Cost::light,
              [](auto g, auto x) { return select(x > decltype(x)(0), g, decltype(g)(0)); }),
    map<1, 1>("leaky_relu", Cost::light,
              [](auto x, auto alpha) { return select(x > decltype(x)(0), x, x * alpha); }),
    map<2, 1>("leaky_relu_backward", Cost::light,
              [](auto g, auto x, auto alpha) { return select(x > decltype(x)(0), g, g * alpha); }),
    map<1, 0>("sigmoid", Cost::medium, [](auto x) { return sigmoid(x); }),
    map<2, 0>("sigmoid_backward", Cost::light,
              [](auto g, auto y) { return chain(g, y * (decltype(y)(1) - y)); }),
    map<1, 0>("tanh", Cost::medium, [](auto x) { return tanh(x); }),
    map<2, 0>("tanh_backward", Cost::light,
              [](auto g, auto y) { return chain(g, (decltype(y)(1) - y) * (decltype(y)(1) + y)); }),
    map<1, 0>("silu", Cost::medium, [](auto x) { return silu(x); }),
    map<2, 0>("silu_backward", Cost::medium,
              [](auto g, auto x) { return chain(g, silu_derivative(x)); }),
    map<1, 0>("mish", Cost::medium, [](auto x) { return mish(x); }),
    map<2, 0>("mish_backward", Cost::medium,
              [](auto g, auto x) { return chain(g, mish_derivative(x)); }),
    map<1, 1>("elu", Cost::medium, [](auto x, auto alpha) { return exponential_unit(x, alpha); }),
    map<2, 1>("elu_backward", Cost::medium,
              [](auto g, auto x, auto alpha) { return chain(g, exponential_slope(x, alpha)); }),
    map<1, 0>("selu", Cost::medium, [](auto x) { return selu(x); }),
    map<2, 0>("selu_backward", Cost::medium,
              [](auto g, auto x) {
                using V = decltype(x);
                return chain(g, V(kSeluScale) * exponential_slope(x, V(kSeluAlpha)));
              }),
    kSoftplusKernel,
    accepting(is_positive,
              map<2, 1>("softplus_backward", Cost::medium,
                        [](auto g, auto x, auto beta) { return chain(g, sigmoid(x * beta)); })),
    map<1, 0>("softsign", Cost::light, [](auto x) { return softsign(x); }),
    map<2, 0>("softsign_backward", Cost::light,
              [](auto g, auto x) {
                auto size = decltype(x)(1) + abs(x);
                return chain_over(chain_over(g, size), size);
              }),
    map<1, 0>("relu6", Cost::light, [](auto x) { return clamped(x, 0, 6); }),
    map<2, 0>("relu6_backward", Cost::light,
              [](auto g, auto x) { return between(g, x, decltype(x)(0), decltype(x)(6)); }),
    map<1, 0>("hard_sigmoid", Cost::light,
              [](auto x) { return clamped(x + decltype(x)(3), 0, 6) / decltype(x)(6); }),
    map<2, 0>("hard_sigmoid_backward", Cost::light,
              [](auto g, auto x) {
                using V = decltype(x);
                return between(g / V(6), x, V(-3), V(3));
              }),
    map<1, 0>("hard_swish", Cost::light,
              [](auto x) {
                using V = decltype(x);
                return select(x <= V(-3), V(0), x * (clamped(x + V(3), 0, 6) / V(6)));
              }),
    map<2, 0>("hard_swish_backward", Cost::light,
              [](auto g, auto x) {
                using V = decltype(x);
                V slope = select(x < V(3), (V(2) * x + V(3)) / V(6), V(1));
                return chain(g, select(x <= V(-3), V(0), slope));
              }),
    accepting(are_apart, map<1, 2>("hard_tanh", Cost::light,
                                   [](auto x, auto low, auto high) {
                                     return minimum(maximum(x, low), high);
                                   })),
    accepting(are_apart, map<2, 2>("hard_tanh_backward", Cost::light,
                                   [](auto g, auto x, auto low, auto high) {
                                     return between(g, x, low, high);
                                   })),
    choice<1>("gelu", kGelu, kGeluTanh),
    choice<2>("gelu_backward", kGeluRule, kGeluTanhRule),
};

}  // namespace

std::span<const Elementwise> activation_kernels() { return kActivations; }

}  // namespace extensor::EX_ISA
