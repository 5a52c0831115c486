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
  Vec<double> e = Precision::exp(-magnitude_up_to(x, Precision::exp_end)).value();
  return select(x < 0.0, e, 1.0) / (e + 1.0);
}
template <typename Precision>
EX_INLINE Vec<double> silu_formula(Vec<double> x) {
  Vec<double> t = magnitude_up_to(x, Precision::exp_end);
  typename Precision::Exp exponential = Precision::exp(-t);
  return select(x < 0.0, exponential.times(-t), x) / (exponential.value() + 1.0);
}
// sigmoid (1 + x (1 - sigmoid)): e (1 + e - t) / (1 + e)^2 at x = -t, one less that at x = t.
template <typename Precision>
EX_INLINE Vec<double> silu_derivative_formula(Vec<double> x) {
  Vec<double> t = magnitude_up_to(x, Precision::exp_end);
  typename Precision::Exp exponential = Precision::exp(-t);
  Vec<double> sum = exponential.value() + 1.0;
  Vec<double> left = exponential.times((sum - t) / (sum * sum));
  return select(x < 0.0, left, 1.0 - left);
}
// log(1 + exp(x)) = max(x, 0) + log1p(e).
template <typename Precision>
EX_INLINE Vec<double> softplus_formula(Vec<double> x) {
  Vec<double> e = Precision::exp(-magnitude_up_to(x, Precision::exp_end)).value();
  return select(x < 0.0, 0.0, x) + Precision::log1p_unit(e);
}

// tanh(softplus(x)) = 1 - rest / total on the right, e top / total on the left, both from
// tanh(log(1 + y)) = y (y + 2) / (y (y + 2) + 2).
template <typename Precision>
EX_INLINE Vec<double> mish_formula(Vec<double> x) {
  Vec<double> t = magnitude_up_to(x, Precision::exp_end);
  typename Precision::Exp exponential = Precision::exp(-t);
  Vec<double> e = exponential.value();
  Vec<double> left = exponential.times((e + 2.0) / fma(e, e + 2.0, 2.0) * -t);
  Vec<double> top = e * 2.0 + 1.0;
  return select(x < 0.0, left, x * (top / fma(e * 2.0, e, top)));
}
// q + x sigmoid(x) (1 - q) (1 + q) with q = tanh(softplus(x)).
template <typename Precision>
EX_INLINE Vec<double> mish_derivative_formula(Vec<double> x) {
  Vec<double> t = magnitude_up_to(x, Precision::exp_end);
  typename Precision::Exp exponential = Precision::exp(-t);
  Vec<double> e = exponential.value();
  Mask<double> left = x < 0.0;
  // On the left q = e ratio and x sigmoid(x) = -e t / (1 + e): e is taken out of the sum.
  Vec<double> top = select(left, e + 2.0, e * 2.0 + 1.0);
  Vec<double> rest = select(left, Vec<double>(2.0), e * e * 2.0);
  Vec<double> inverse = 1.0 / (fma(top, select(left, e, 1.0), rest));
  Vec<double> ratio = top * inverse;
  Vec<double> q = ratio * select(left, e, 1.0);
  Vec<double> slope = select(left, -t, t) / (e + 1.0) * (rest * inverse) * (q + 1.0);
  return select(left, exponential.times(ratio + slope), ratio + slope);
}

// gelu_tanh(x) = x sigmoid(y), y = 2 sqrt(2/pi) (x + 0.044715 x^3), of which t = |x| gives |y|.
template <typename Precision>
EX_INLINE Vec<double> gelu_tanh_formula(Vec<double> x) {
  Vec<double> t = magnitude_up_to(x, Precision::cubic_end);
  typename Precision::Exp exponential = Precision::exp_minus_cubic(t);
  return select(x < 0.0, exponential.times(-t), x) / (exponential.value() + 1.0);
}
// e (1 + e - t y') / (1 + e)^2 at x = -t, one less that at x = t.
template <typename Precision>
EX_INLINE Vec<double> gelu_tanh_derivative_formula(Vec<double> x) {
  Vec<double> t = magnitude_up_to(x, Precision::cubic_end);
  typename Precision::Exp exponential = Precision::exp_minus_cubic(t);
  Vec<double> slope = fma(t * t, 3.0 * kGeluCubic, kGeluLinear);
  Vec<double> sum = exponential.value() + 1.0;
  Vec<double> left = exponential.times(fma(-t, slope, sum) / (sum * sum));
  return select(x < 0.0, left, 1.0 - left);
}

#define EX_ACTIVATION(name)                                                                     \
  EX_INLINE Vec<double> name(Vec<double> x) { return name##_formula<Full>(x); }                 \
  EX_INLINE Vec<float> name(Vec<float> x) {                                                     \
    return through_double(x, [](Vec<double> v) EX_LAMBDA { return name##_formula<Mixed>(v); }); \
  }
EX_ACTIVATION(silu_derivative)
EX_ACTIVATION(softplus)
EX_ACTIVATION(mish)
EX_ACTIVATION(mish_derivative)
EX_ACTIVATION(gelu_tanh)
EX_ACTIVATION(gelu_tanh_derivative)
#undef EX_ACTIVATION

EX_INLINE Vec<double> sigmoid(Vec<double> x) { return sigmoid_formula<Full>(x); }
EX_INLINE Vec<double> silu(Vec<double> x) { return silu_formula<Full>(x); }

// In float the quotient (high + low) / (1 + e) is formed once, then corrected by its residual; e is
// a pair, so that only exp's polynomial and the last addition round.
struct LogisticParts {
  Vec<float> e, e_low, sum, sum_low, inverse;
};
inline constexpr float kLogisticLimit = 80.0f;

EX_INLINE LogisticParts logistic_parts(Vec<float> minus_t) {
  ReducedExp<float> reduced = reduce_exp(minus_t);
  Vec<float> power = power_of_two(reduced.shifted);
  Vec<float> mantissa = reduced.tail + 1.0f;
  Vec<float> e = mantissa * power;
  Vec<float> e_low = ((reduced.tail - (mantissa - 1.0f)) + reduced.tail_low) * power;
  // 1 + e = (1 + 2^n) + 2^n tail, in two words.
  Vec<float> base = power + 1.0f;
  Vec<float> base_low = power - (base - 1.0f);
  Vec<float> sum = fma(power, reduced.tail, base);
  Vec<float> sum_low = fma(power, reduced.tail, base - sum) + base_low;
  return {e, e_low, sum, sum_low, 1.0f / sum};
}
EX_INLINE Vec<float> logistic_quotient(Vec<float> high, Vec<float> low, LogisticParts parts) {
  Vec<float> quotient = high * parts.inverse;
  Vec<float> residual = exact_fma(-quotient, parts.sum, high) + fma(-quotient, parts.sum_low, low);
  return fma(residual, parts.inverse, quotient);
}
EX_INLINE Vec<float> sigmoid(Vec<float> x) {
  Vec<float> minus_t = max(Vec<float>(-kLogisticLimit), add_sign(x, Vec<float>(-0.0f)));
  LogisticParts parts = logistic_parts(minus_t);
  Mask<float> left = x < 0.0f;
  Vec<float> high = select(left, parts.e, 1.0f), low = select(left, parts.e_low, 0.0f);
  Vec<float> result = logistic_quotient(high, low, parts);
  // Beyond the limit the denominator is 1.
  Mask<float> far = x < -kLogisticLimit;
  if (__builtin_expect(any(far), 0)) result = select(far, exp(x), result);
  return result;
}
EX_INLINE Vec<float> silu(Vec<float> x) {
  Vec<float> minus_t = max(Vec<float>(-kLogisticLimit), add_sign(x, Vec<float>(-0.0f)));
  LogisticParts parts = logistic_parts(minus_t);
  Mask<float> left = x < 0.0f;
  Vec<float> product = x * parts.e;
  Vec<float> product_low = exact_fma(x, parts.e, -product) + x * parts.e_low;
  Vec<float> high = select(left, product, x), low = select(left, product_low, 0.0f);
  Vec<float> result = logistic_quotient(high, low, parts);
  Mask<float> far = abs(x) > kLogisticLimit;
  if (__builtin_expect(any(far), 0)) {
    Vec<float> inside = max(x, -120.0f);
    ReducedExp<float> reduced = reduce_exp(min(inside, 0.0f));
    Vec<float> mantissa = reduced.tail + 1.0f;
    Vec<float> scaled = inside * mantissa;
    Vec<float> scaled_low = exact_fma(inside, mantissa, -scaled) +
                            inside * ((reduced.tail - (mantissa - 1.0f)) + reduced.tail_low);
    Vec<float> outside = select(left, scale(scaled + scaled_low, reduced.shifted), x);
    result = select(far, outside, result);
  }
  // The residual of -0 is +0.
  return add_sign(result, x);
}

}  // namespace extensor::EX_ISA

#pragma GCC diagnostic pop
