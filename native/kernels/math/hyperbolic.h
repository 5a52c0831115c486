// sinh, cosh, tanh and their inverses.
#pragma once

#include "log.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace extensor::EX_ISA {

// tanh(x) = x + x w P(w) for small |x|, 1 - 2 / (exp(2 |x|) + 1) above, with exp + 1 formed as
// (2^n + 1) + 2^n tail: one rounding.
template <typename T, size_t kCount>
EX_INLINE Vec<T> tanh_parts(Vec<T> x, T threshold, T saturation, const T (&coefficients)[kCount]) {
  // NaN stays: min returns its second operand then.
  Vec<T> magnitude = min(Vec<T>(saturation), abs(x));
  ReducedExp<T> reduced = reduce_exp_roughly(magnitude + magnitude);
  Vec<T> power = power_of_two(reduced.shifted);
  Vec<T> large = T(1) - T(2) / fma(power, reduced.tail, power + T(1));
  Vec<T> square = magnitude * magnitude;
  Vec<T> tail =
      std::is_same_v<T, float> ? horner(square, coefficients) : polynomial(square, coefficients);
  Vec<T> small = fma(magnitude * square, tail, magnitude);
  return add_sign(select(magnitude < threshold, small, large), x);
}
EX_INLINE Vec<float> tanh(Vec<float> x) { return tanh_parts(x, 1.0f, 9.1f, kTanhFloat); }
EX_INLINE Vec<double> tanh(Vec<double> x) { return tanh_parts(x, 0.55, 20.0, kTanhDouble); }

// exp(|x|) / 2, which is finite as long as sinh and cosh are.
EX_INLINE Vec<double> half_exp(Vec<double> magnitude) {
  ReducedExp<double> reduced = reduce_exp(min(Vec<double>(711.0), magnitude));
  return scale(reduced.tail + 1.0, reduced.shifted - 1.0);
}
EX_INLINE Vec<double> sinh(Vec<double> x) {
  Vec<double> magnitude = abs(x), square = x * x;
  Vec<double> small = fma(magnitude * square, polynomial(square, kSinhDouble), magnitude);
  Vec<double> half = half_exp(magnitude);
  return copysign(select(magnitude < 1.0, small, half - 0.25 / half), x);
}
EX_INLINE Vec<double> cosh(Vec<double> x) {
  Vec<double> half = half_exp(abs(x));
  return half + 0.25 / half;
}

// (exp(t) +- exp(-t)) / 2 for t up to kHyperbolicEnd. exp(t) / 2 is high + power low, low so small
// that little but the last addition rounds.
inline constexpr float kHyperbolicEnd = 88.0f;
struct HalfExp {
  Vec<float> high, power, low, inverse;  // high + power low, and exp(-t) / 2
  EX_INLINE Vec<float> plus(Vec<float> other) const { return high + fma(power, low, other); }
};
EX_INLINE HalfExp half_exp(Vec<float> t) {
  Remainder<float> part = exp_remainder(t);
  Vec<float> power = power_of_two(part.shifted - 1.0f), base = part.r + 1.0f;
  Vec<float> low = fma(part.r * part.r, exp_polynomial(part.r), part.r - (base - 1.0f));
  return {power * base, power, low, 0.25f / (power * (base + low))};
}
EX_INLINE Vec<float> sinh(Vec<float> x) {
  Vec<float> magnitude = min(Vec<float>(kHyperbolicEnd), abs(x)), square = magnitude * magnitude;
  Vec<float> small = fma(magnitude * square, horner(square, kSinhFloat), magnitude);
  HalfExp parts = half_exp(magnitude);
  Vec<float> large = parts.plus(-parts.inverse);
  Vec<float> result = add_sign(select(magnitude < 1.0f, small, large), x);
  auto wide = [](Vec<double> v) EX_LAMBDA { return sinh(v); };
  return with_far_lanes(result, x, less(kHyperbolicEnd, abs(x)), wide);
}
EX_INLINE Vec<float> cosh(Vec<float> x) {
  HalfExp parts = half_exp(min(Vec<float>(kHyperbolicEnd), abs(x)));
  Vec<float> result = parts.plus(parts.inverse);
  auto wide = [](Vec<double> v) EX_LAMBDA { return cosh(v); };
  return with_far_lanes(result, x, less(kHyperbolicEnd, abs(x)), wide);
}

// asinh(x) = log1p(x + x^2 / (1 + sqrt(1 + x^2))), log(2 x) where x^2 might overflow.
EX_INLINE Vec<double> asinh(Vec<double> x) {
  Vec<double> magnitude = abs(x);
  Mask<double> huge = magnitude > 0x1p60;
  Vec<double> square = magnitude * magnitude;
  Vec<double> argument = magnitude + square / (sqrt(square + 1.0) + 1.0);
  Vec<double> result = log1p(select(huge, magnitude, argument));
  result = result + select(huge, Vec<double>(0x1.62e42fefa39efp-1), 0.0);
  return copysign(result, x);
}
// acosh(x) = log1p(t + sqrt(2 t + t^2)), t = x - 1.
EX_INLINE Vec<double> acosh(Vec<double> x) {
  Mask<double> huge = x > 0x1p60;
  Vec<double> t = x - 1.0;
  Vec<double> argument = t + sqrt(fma(t, t, t + t));
  Vec<double> result = log1p(select(huge, x, argument));
  result = result + select(huge, Vec<double>(0x1.62e42fefa39efp-1), 0.0);
  return select(x < 1.0, Format<double>::nan, result);
}
// atanh(x) = log1p(2 x / (1 - x)) / 2.
EX_INLINE Vec<double> atanh(Vec<double> x) {
  Vec<double> magnitude = abs(x);
  Vec<double> result = log1p((magnitude + magnitude) / (1.0 - magnitude)) * 0.5;
  return copysign(select(magnitude > 1.0, Format<double>::nan, result), x);
}

EX_INLINE Vec<float> asinh(Vec<float> x) {
  return through_double(x, [](Vec<double> v) EX_LAMBDA { return asinh(v); });
}
EX_INLINE Vec<float> acosh(Vec<float> x) {
  return through_double(x, [](Vec<double> v) EX_LAMBDA { return acosh(v); });
}
EX_INLINE Vec<float> atanh(Vec<float> x) {
  return through_double(x, [](Vec<double> v) EX_LAMBDA { return atanh(v); });
}

}  // namespace extensor::EX_ISA

#pragma GCC diagnostic pop
