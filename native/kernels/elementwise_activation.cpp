// Activations and their rules: a line each.
#include "elementwise.h"
#include "math.h"
#include "pass.h"
#include "steps.h"

namespace extensor::EX_ISA {
namespace {

constexpr auto kGelu = [](auto x) { return gelu(x); };
constexpr auto kGeluTanh = [](auto x) { return gelu_tanh(x); };
constexpr auto kGeluRule = [](auto g, auto x) { return chain(g, gelu_derivative(x)); };
constexpr auto kGeluTanhRule = [](auto g, auto x) { return chain(g, gelu_tanh_derivative(x)); };

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
           choosing_pass<double, kInputs, Exact, Approximate>()}};
}

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
              [](auto g, auto y) { return chain(g, decltype(y)(1) - y * y); }),
    map<1, 0>("silu", Cost::medium, [](auto x) { return silu(x); }),
    map<2, 0>("silu_backward", Cost::medium,
              [](auto g, auto x) { return chain(g, silu_derivative(x)); }),
    map<1, 0>("mish", Cost::medium, [](auto x) { return mish(x); }),
    map<2, 0>("mish_backward", Cost::medium,
              [](auto g, auto x) { return chain(g, mish_derivative(x)); }),
    choice<1>("gelu", kGelu, kGeluTanh),
    choice<2>("gelu_backward", kGeluRule, kGeluTanhRule),
};

}  // namespace

std::span<const Elementwise> activation_kernels() { return kActivations; }

}  // namespace extensor::EX_ISA
