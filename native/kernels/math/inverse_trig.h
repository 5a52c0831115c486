// asin, acos, atan, atan2. The float versions go through double and are below 0.51 ulp.
#pragma once

#include "exp.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace extensor::EX_ISA {

inline constexpr double kPi = 0x1.921fb54442d18p1, kPiLow = 0x1.1a62633145c07p-53;
inline constexpr double kHalfPi = 0x1.921fb54442d18p0, kHalfPiLow = 0x1.1a62633145c07p-54;
inline constexpr double kQuarterPi = 0x1.921fb54442d18p-1, kQuarterPiLow = 0x1.1a62633145c07p-55;

// asin(sqrt(w)) / sqrt(w) - 1 for w <= 1/4.
EX_INLINE Vec<double> asin_tail(Vec<double> w) { return w * polynomial(w, kAsinDouble); }

// For |x| > 1/2 asin(|x|) = pi/2 - 2 asin(s) and acos(|x|) = 2 asin(s), s = sqrt((1 - |x|) / 2);
// `root_low` is what the square root rounded away.
struct AsinParts {
  Vec<double> magnitude, tail, root, root_low;
  Mask<double> large;
};
EX_INLINE AsinParts asin_parts(Vec<double> x) {
  Vec<double> magnitude = abs(x);
  Mask<double> large = magnitude > 0.5;
  Vec<double> w = select(large, (1.0 - magnitude) * 0.5, x * x);
  Vec<double> root = sqrt(w);
  Vec<double> root_low = exact_fma(-root, root, w) / (root + root);
  root_low = select(w == 0.0, 0.0, root_low);
  return {magnitude, asin_tail(w), root, root_low, large};
}
EX_INLINE Vec<double> asin(Vec<double> x) {
  AsinParts p = asin_parts(x);
  Vec<double> small = fma(p.magnitude, p.tail, p.magnitude);
  Vec<double> rest = fma(p.root, p.tail, p.root_low) * 2.0 - kHalfPiLow;
  Vec<double> high = kHalfPi - p.root * 2.0;
  Vec<double> high_low = (kHalfPi - high) - p.root * 2.0;
  return copysign(select(p.large, high + (high_low - rest), small), x);
}
EX_INLINE Vec<double> acos(Vec<double> x) {
  AsinParts p = asin_parts(x);
  Vec<double> twice = p.root * 2.0;
  Vec<double> rest = fma(p.root, p.tail, p.root_low) * 2.0;
  Vec<double> near_minus_one = kPi - twice;
  Vec<double> lost = (kPi - near_minus_one) - twice;
  near_minus_one = near_minus_one + (lost - (rest - kPiLow));
  Vec<double> middle = kHalfPi - x;
  Vec<double> middle_lost = (kHalfPi - middle) - x;
  middle = middle + (middle_lost - fma(x, p.tail, -kHalfPiLow));
  return select(p.large, select(x > 0.0, twice + rest, near_minus_one), middle);
}

// atan(numerator / denominator) for non-negative operands, not both infinite. The quotient is
// brought to [-tan(pi/8), tan(pi/8)] by atan(q) = pi/4 + atan((q - 1) / (q + 1)) or
// pi/2 - atan(1 / q), before the one division.
EX_INLINE Vec<double> atan_quotient(Vec<double> numerator, Vec<double> denominator) {
  constexpr double tan_eighth = 0x1.a827999fcef32p-2;
  Mask<double> small = numerator <= denominator * tan_eighth;
  Mask<double> large = numerator * tan_eighth >= denominator;
  Vec<double> top = select(small, numerator, select(large, -denominator, numerator - denominator));
  Vec<double> bottom =
      select(small, denominator, select(large, numerator, numerator + denominator));
  Vec<double> base = select(small, 0.0, select(large, Vec<double>(kHalfPi), kQuarterPi));
  Vec<double> base_low = select(small, 0.0, select(large, Vec<double>(kHalfPiLow), kQuarterPiLow));
  Vec<double> t = top / bottom;
  Vec<double> square = t * t;
  return base + (fma(t * square, polynomial(square, kAtanDouble), base_low) + t);
}
EX_INLINE Vec<double> atan(Vec<double> x) { return copysign(atan_quotient(abs(x), 1.0), x); }

EX_INLINE Vec<double> atan2(Vec<double> y, Vec<double> x) {
  constexpr double infinity = Format<double>::infinity;
  Vec<double> a = abs(y), b = abs(x);
  // Sums of very large operands must not overflow; products of very small ones must not vanish.
  Vec<double> factor = select((a > 0x1p1000) | (b > 0x1p1000), Vec<double>(0x1p-60), 1.0);
  factor = select((a < 0x1p-900) & (b < 0x1p-900), 0x1p100, factor);
  Vec<double> top = a * factor, bottom = b * factor;
  Mask<double> both_infinite = (a == infinity) & (b == infinity);
  top = select(both_infinite, 1.0, top);
  bottom = select(both_infinite | ((a == 0.0) & (b == 0.0)), 1.0, bottom);
  Vec<double> angle = atan_quotient(top, bottom);
  Vec<double> reflected = (kPi - angle) + kPiLow;
  Vec<double> result = copysign(select(signbit(x), reflected, angle), y);
  return select(isnan(x) | isnan(y), x + y, result);
}

// asin(|x|), or asin(s) where |x| > 1/2, as above, but for a float: what a square root and pi round
// away does not show.
struct ShortAsin {
  Vec<double> angle;
  Mask<double> large;
};
EX_INLINE ShortAsin short_asin(Vec<double> x) {
  const Vec<double> magnitude = abs(x);
  const Mask<double> large = magnitude > 0.5;
  const Vec<double> w = select(large, (1.0 - magnitude) * 0.5, x * x);
  const Vec<double> base = select(large, sqrt(w), magnitude);
  return {fma(base, asin_tail(w), base), large};
}
EX_INLINE Vec<float> asin(Vec<float> x) {
  return through_double(x, [](Vec<double> v) EX_LAMBDA {
    const ShortAsin p = short_asin(v);
    return copysign(select(p.large, kHalfPi - p.angle * 2.0, p.angle), v);
  });
}
EX_INLINE Vec<float> acos(Vec<float> x) {
  return through_double(x, [](Vec<double> v) EX_LAMBDA {
    const ShortAsin p = short_asin(v);
    const Vec<double> twice = p.angle * 2.0;
    const Vec<double> far = select(v > 0.0, twice, kPi - twice);
    return select(p.large, far, kHalfPi - copysign(p.angle, v));
  });
}
EX_INLINE Vec<float> atan(Vec<float> x) {
  return through_double(x, [](Vec<double> v) EX_LAMBDA { return atan(v); });
}
EX_INLINE Vec<float> atan2(Vec<float> y, Vec<float> x) {
  return through_double(y, x, [](Vec<double> v, Vec<double> w) EX_LAMBDA { return atan2(v, w); });
}

}  // namespace extensor::EX_ISA

#pragma GCC diagnostic pop
