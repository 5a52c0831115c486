// sigmoid, silu, softplus, mish, gelu_tanh and their derivatives, as formulas in double for the two
// precisions of math_normal.h. All are written in e = exp(-|x|), which cannot overflow.
#pragma once

#include "hyperbolic.h"
#include "normal.h"

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
EX_ACTIVATION(mish)
EX_ACTIVATION(mish_derivative)
EX_ACTIVATION(gelu_tanh)
EX_ACTIVATION(gelu_tanh_derivative)
#undef EX_ACTIVATION

EX_INLINE Vec<double> sigmoid(Vec<double> x) { return sigmoid_formula<Full>(x); }
EX_INLINE Vec<double> silu(Vec<double> x) { return silu_formula<Full>(x); }
EX_INLINE Vec<double> silu_derivative(Vec<double> x) { return silu_derivative_formula<Full>(x); }
EX_INLINE Vec<double> softplus(Vec<double> x) { return softplus_formula<Full>(x); }

// 1 + exp(-x) in two words, and the inverse of the first. Up to 16, 1 + 2^n is exact. `lost` is
// what the exponential's last addition rounded away.
struct Logistic {
  Vec<float> sum, sum_low, lost, inverse;
};
inline constexpr float kLogisticEnd = 16.0f;

// 1 + 2^n (1 + tail) = (1 + 2^n) + 2^n tail.
EX_INLINE Logistic logistic(Vec<float> x) {
  ReducedExp<float> reduced = reduce_minus(x);
  Vec<float> power = power_of_two(reduced.shifted);
  Vec<float> base = power + 1.0f;
  Vec<float> rest = power * reduced.tail;
  Vec<float> sum = base + rest;
  return {sum, rest - (sum - base), power * reduced.tail_low, 1.0f / sum};
}
// The quotient is corrected by its residual: only exp's polynomial and the last addition round.
EX_INLINE Vec<float> sigmoid(Vec<float> x) {
  Logistic parts = logistic(x);
  Vec<float> residual = exact_fma(-parts.inverse, parts.sum, 1.0f);
  residual -= parts.inverse * parts.sum_low;
  Vec<float> result = fma(residual, parts.inverse, parts.inverse);
  auto wide = [](Vec<double> v) EX_LAMBDA { return sigmoid_formula<Mixed>(v); };
  return with_far_lanes(result, x, less(kLogisticEnd, abs(x)), wide);
}
EX_INLINE Vec<float> silu(Vec<float> x) {
  Logistic parts = logistic(x);
  Vec<float> quotient = x * parts.inverse;
  Vec<float> residual = exact_fma(-quotient, parts.sum, x);
  residual -= quotient * (parts.sum_low + parts.lost);
  // The residual of -0 is +0.
  Vec<float> result = add_sign(fma(residual, parts.inverse, quotient), x);
  auto wide = [](Vec<double> v) EX_LAMBDA { return silu_formula<Mixed>(v); };
  return with_far_lanes(result, x, less(kLogisticEnd, abs(x)), wide);
}
// s (1 + x e s) with e = exp(-x) and s = 1 / (1 + e); beyond 22 it is 1.
EX_INLINE Vec<float> silu_derivative(Vec<float> x) {
  Vec<float> inside = min(Vec<float>(22.0f), x);
  ReducedExp<float> reduced = reduce_minus(inside);
  Vec<float> e = (reduced.tail + 1.0f) * power_of_two(reduced.shifted);
  Vec<float> inverse = 1.0f / (e + 1.0f);
  Vec<float> result = fma(inside * e, inverse, 1.0f) * inverse;
  auto wide = [](Vec<double> v) EX_LAMBDA { return silu_derivative_formula<Mixed>(v); };
  return with_far_lanes(result, x, less(x, -80.0f), wide);
}
// e - e^2 / 4 in two words, for e from 0 to 1.
struct Parabola {
  Vec<float> high, low;
};
EX_INLINE Parabola falling_parabola(Vec<float> e) {
  if constexpr (native::kHasFma) {
    Vec<float> quarter = e * -0.25f, high = fma(quarter, e, e);
    return {high, fma(quarter, e, e - high)};
  } else {
    // The square of the upper half of the bits is exact.
    Vec<float> upper = bit_cast<float>(bit_cast<int32_t>(e) & ~0xfff);
    Vec<float> part = upper * upper * 0.25f, high = e - part;
    return {high, ((e - high) - part) - (e - upper) * (e + upper) * 0.25f};
  }
}
// log1p(e) = e - e^2 / 4 + e^2 P(e - 1/2), the last term below 0.06, with what the roundings of e
// and of the parabola took away. The former counts by 1 / (1 + e), for which 0.7 will do.
EX_INLINE Vec<float> softplus(Vec<float> x) {
  Remainder<float> part = minus_remainder(magnitude_up_to(x, 80.0f));
  Vec<float> r = part.r, square = r * r, curve = exp_polynomial(r);
  Vec<float> mantissa = fma(square, curve, r) + 1.0f;
  Vec<float> mantissa_low = fma(square, curve, r - (mantissa - 1.0f));
  Vec<float> e = scale_normal(mantissa, part.shifted);
  Parabola start = falling_parabola(e);
  Vec<float> rest = fma(mantissa_low, scale_normal(Vec<float>(0.7f), part.shifted), start.low);
  rest = fma(e * e, in_blocks<3>(e - 0.5f, kLog1pFloat), rest);
  Vec<float> base = max(x, 0.0f);
  Vec<float> high = base + start.high;
  Vec<float> low = min(base, start.high) - (high - max(base, start.high));
  Vec<float> result = high + (low + rest);
  auto wide = [](Vec<double> v) EX_LAMBDA { return softplus_formula<Mixed>(v); };
  return with_far_lanes(result, x, less(80.0f, abs(x)), wide);
}

inline constexpr double kSeluAlpha = 1.6732632423543772;
inline constexpr double kSeluScale = 1.0507009873554805;

EX_INLINE Vec<double> selu(Vec<double> x) {
  return select(x > 0.0, x, expm1(x) * kSeluAlpha) * kSeluScale;
}
// Left of 0 c (2^n - 1) + c 2^n (first + rest), c the product of both constants: all but the rest
// in two words, of which the second also makes up for the rounding of c. Beyond -18 it is -c.
EX_INLINE Vec<float> selu(Vec<float> x) {
  if constexpr (!native::kHasFma) {
    return through_double(x, [](Vec<double> v) EX_LAMBDA { return selu(v); });
  }
  using F = Format<float>;
  constexpr double product = kSeluScale * kSeluAlpha;
  constexpr float factor = static_cast<float>(product);
  // It counts for the result, of which `value` is more by about an eighth where that matters.
  constexpr float factor_error = static_cast<float>(0.87 * (product / factor - 1));
  Vec<float> inside = max(Vec<float>(-18.0f), x);
  Vec<float> shifted = fma(inside, F::log2_e, F::round_to_integer);
  Vec<float> n = shifted - F::round_to_integer;
  Vec<float> first = fma(n, -F::ln2_high, inside), second = n * -F::ln2_low;
  Vec<float> r = first + second;
  Vec<float> rest = fma(r * r, in_blocks<2>(r, kSeluFloat), second);
  Vec<float> power = scale_normal(Vec<float>(factor), shifted);
  Vec<float> base = power - factor, base_low = power - (base + factor);
  Vec<float> value = fma(power, first, base);
  Vec<float> value_low = fma(power, first, base - value) + base_low;
  value_low = fma(value, factor_error, value_low);
  Vec<float> left = value + fma(power, rest, value_low);
  Vec<float> right = fma(x, static_cast<float>(kSeluScale - 1), x);
  return add_sign(select(x > 0.0f, right, left), x);
}

EX_INLINE Vec<double> softsign(Vec<double> x) {
  Vec<double> limit = copysign(Vec<double>(1.0), x);
  return select(abs(x) == Format<double>::infinity, limit, x / (abs(x) + 1.0));
}
// The quotient is corrected by its residual, as that of sigmoid.
EX_INLINE Vec<float> softsign(Vec<float> x) {
  if constexpr (!native::kHasFma) {
    return through_double(x, [](Vec<double> v) EX_LAMBDA { return softsign(v); });
  }
  Vec<float> t = abs(x), sum = t + 1.0f;
  Vec<float> sum_low = min(t, 1.0f) - (sum - max(t, 1.0f));
  Vec<float> inverse = 1.0f / sum, quotient = t * inverse;
  Vec<float> residual = fma(-quotient, sum, t) - quotient * sum_low;
  Vec<float> result = fma(residual, inverse, quotient);
  return add_sign(select(t == Format<float>::infinity, 1.0f, result), x);
}

}  // namespace extensor::EX_ISA

#pragma GCC diagnostic pop
