// sigmoid, silu, softplus, mish, gelu_tanh and their derivatives, as formulas in double for the two
// precisions of math_normal.h. All are written in e = exp(-|x|), which cannot overflow.
#pragma once

#include "math_hyperbolic.h"
#include "math_normal.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace extensor::EX_ISA {

// sigmoid(x) = 1 / (1 + e) on the right, e / (1 + e) on the left.
template <typename Precision>
EX_INLINE Vec<double> sigmoid_formula(Vec<double> x) {
  Vec<double> e = Precision::exp(-magnitude_up_to(x, Precision::exp_end));
  return select(x < 0.0, e, 1.0) / (e + 1.0);
}
template <typename Precision>
EX_INLINE Vec<double> silu_formula(Vec<double> x) {
  Vec<double> t = magnitude_up_to(x, Precision::exp_end);
  Vec<double> e = Precision::exp(-t);
  return select(x < 0.0, e * -t, x) / (e + 1.0);
}
// sigmoid (1 + x (1 - sigmoid)): e (1 + e - t) / (1 + e)^2 at x = -t, one less that at x = t.
template <typename Precision>
EX_INLINE Vec<double> silu_derivative_formula(Vec<double> x) {
  Vec<double> t = magnitude_up_to(x, Precision::exp_end);
  Vec<double> e = Precision::exp(-t);
  Vec<double> sum = e + 1.0;
  Vec<double> left = e * (sum - t) / (sum * sum);
  return select(x < 0.0, left, 1.0 - left);
}
// log(1 + exp(x)) = max(x, 0) + log1p(e).
template <typename Precision>
EX_INLINE Vec<double> softplus_formula(Vec<double> x) {
  Vec<double> e = Precision::exp(-magnitude_up_to(x, Precision::exp_end));
  return select(x < 0.0, 0.0, x) + Precision::log1p_unit(e);
}

// tanh(softplus(x)) = top / (top + rest), from tanh(log(1 + y)) = y (y + 2) / (y (y + 2) + 2).
struct MishRatio {
  Vec<double> top, rest;
};
EX_INLINE MishRatio mish_ratio(Vec<double> x, Vec<double> e) {
  Mask<double> left = x < 0.0;
  return {select(left, e * (e + 2.0), e * 2.0 + 1.0), select(left, Vec<double>(2.0), e * e * 2.0)};
}
template <typename Precision>
EX_INLINE Vec<double> mish_formula(Vec<double> x) {
  Vec<double> t = magnitude_up_to(x, Precision::exp_end);
  MishRatio ratio = mish_ratio(x, Precision::exp(-t));
  return select(x < 0.0, -t, x) * (ratio.top / (ratio.top + ratio.rest));
}
// q + x sigmoid(x) (1 - q^2) with q = tanh(softplus(x)).
template <typename Precision>
EX_INLINE Vec<double> mish_derivative_formula(Vec<double> x) {
  Vec<double> t = magnitude_up_to(x, Precision::exp_end);
  Vec<double> e = Precision::exp(-t);
  MishRatio ratio = mish_ratio(x, e);
  Vec<double> inverse = 1.0 / (ratio.top + ratio.rest);
  Vec<double> q = ratio.top * inverse;
  Vec<double> silu = select(x < 0.0, e * -t, t) / (e + 1.0);
  return fma(silu * (ratio.rest * inverse), q + 1.0, q);
}

// gelu_tanh(x) = x sigmoid(y), y = 2 sqrt(2/pi) (x + 0.044715 x^3), of which t = |x| gives |y|.
template <typename Precision>
EX_INLINE Vec<double> gelu_tanh_formula(Vec<double> x) {
  Vec<double> t = magnitude_up_to(x, Precision::cubic_end);
  Vec<double> e = Precision::exp_minus_cubic(t);
  return select(x < 0.0, e * -t, x) / (e + 1.0);
}
// e (1 + e - t y') / (1 + e)^2 at x = -t, one less that at x = t.
template <typename Precision>
EX_INLINE Vec<double> gelu_tanh_derivative_formula(Vec<double> x) {
  Vec<double> t = magnitude_up_to(x, Precision::cubic_end);
  Vec<double> e = Precision::exp_minus_cubic(t);
  Vec<double> slope = fma(t * t, 3.0 * kGeluCubic, kGeluLinear);
  Vec<double> sum = e + 1.0;
  Vec<double> left = e * fma(-t, slope, sum) / (sum * sum);
  return select(x < 0.0, left, 1.0 - left);
}

#define EX_ACTIVATION(name)                                                           \
  EX_INLINE Vec<double> name(Vec<double> x) { return name##_formula<Full>(x); }       \
  EX_INLINE Vec<float> name(Vec<float> x) {                                           \
    return through_double(x, [](Vec<double> v) { return name##_formula<Mixed>(v); }); \
  }
EX_ACTIVATION(sigmoid)
EX_ACTIVATION(silu)
EX_ACTIVATION(silu_derivative)
EX_ACTIVATION(softplus)
EX_ACTIVATION(mish)
EX_ACTIVATION(mish_derivative)
EX_ACTIVATION(gelu_tanh)
EX_ACTIVATION(gelu_tanh_derivative)
#undef EX_ACTIVATION

}  // namespace extensor::EX_ISA

#pragma GCC diagnostic pop
