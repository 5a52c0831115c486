// The rules of binary functions, and of the choice between two inputs.
#include "rules.h"

#include "../math/math.h"
#include "../simd/pass.h"
#include "../simd/steps.h"

namespace extensor::EX_ISA {
namespace {

// b * a^(b - 1), with `a` lifted to eps where it is a denominator. A zero under a fractional
// exponent is lifted to +eps, as a negative number has no root.
template <typename V>
EX_INLINE V power_slope(V a, V b, V eps) {
  const V zero(0), one(1);
  const auto lifts = (b < one) & (eps > zero);
  V base = select(lifts, lifted(a, eps), a);
  base = select(lifts & (a == zero) & (floor(b) != b), eps, base);
  return select(b == zero, zero, b * pow(base, b - one));
}

template <typename V>
EX_INLINE V exponent_slope(V a, V b) {
  const V zero(0);
  return select((a == zero) & (b >= zero), zero, pow(a, b) * log(a));
}

constexpr BinaryRule kRules[] = {
    binary_rule<1>("power_backward", Cost::heavy,
                   [](auto g, auto a, auto b, auto eps) {
                     return Two{times(g, power_slope(a, b, eps), eps),
                                times(g, exponent_slope(a, b), eps)};
                   }),
    // Scaled by the larger side, so that no square overflows or vanishes.
    binary_rule<0>("atan2_backward", Cost::light,
                   [](auto g, auto a, auto b) {
                     using V = decltype(g);
                     const V larger = maximum(abs(a), abs(b));
                     const auto origin = larger == V(0);
                     const V scale = select(origin, V(1), larger);
                     const V height = chain_over(a, scale), width = chain_over(b, scale);
                     const V squares = select(origin, V(1), height * height + width * width);
                     const V slope = chain_over(chain_over(g, squares), scale);
                     return Two{chain(slope, width), -chain(slope, height)};
                   }),
};

// condition, grad_output: all of the gradient to the input that was taken.
template <typename T, Wanted kWanted>
void where_pass(const void* const* inputs, void* const* outputs, int64_t n, const double*) {
  const void *const condition = inputs[0], *const gradient = inputs[1];
  void *const out_a = outputs[0], *const out_b = outputs[1];
  const Vec<T> zero(T(0));
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    const Mask<T> taken = access.load_mask(condition, i);
    const Vec<T> g = access.load(gradient, i);
    if constexpr (kWanted != Wanted::second) access.store(out_a, i, select(taken, g, zero));
    if constexpr (kWanted != Wanted::first) access.store(out_b, i, select(taken, zero, g));
  });
}

}  // namespace

std::span<const BinaryRule> function_rules() { return kRules; }

BinaryRule where_rule() {
  return {"where_backward",
          0,
          Cost::light,
          {where_pass<float, Wanted::both>, where_pass<double, Wanted::both>},
          {where_pass<float, Wanted::first>, where_pass<double, Wanted::first>},
          {where_pass<float, Wanted::second>, where_pass<double, Wanted::second>}};
}

}  // namespace extensor::EX_ISA
