// rsqrt.
#pragma once

#include "exp.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace extensor::EX_ISA {

EX_INLINE Vec<double> rsqrt(Vec<double> x) { return 1.0 / sqrt(x); }

// y (1 + (1 - x y^2) / 2): the square root and the quotient have rounded twice. The residual of 0
// and of infinity is NaN.
EX_INLINE Vec<float> rsqrt_by_division(Vec<float> x) {
  Vec<float> y = 1.0f / sqrt(x), residual;
  if constexpr (native::kHasFma) {
    Vec<float> product = x * y;
    residual = fma(-product, y, 1.0f) - fma(x, y, -product) * y;
  } else {
    residual = through_double(
        x, y, [](Vec<double> a, Vec<double> b) EX_LAMBDA { return 1.0 - a * b * b; });
  }
  return select(isnan(residual), y, fma(y * 0.5f, residual, y));
}

// Without a square root or a quotient, which take longer than all the rest together: y by halving
// the exponent, a line that makes it good to 10 bits, and its upper 12 bits, whose square is exact.
// Then r = 1 - x y^2 is known to the last bit, and 1 / sqrt(x) = y / sqrt(1 - r).
EX_INLINE Vec<float> rsqrt(Vec<float> x) {
  if constexpr (!native::kHasFma) return rsqrt_by_division(x);
  Vec<int32_t> bits = bit_cast<int32_t>(x);
  Vec<float> guess = bit_cast<float>(0x5ee00000 - (bits >> 1));
  // The last factor makes up for what is cut off, half of 2^-11 on average.
  Vec<float> line = fma(x * guess * guess, -1.9910762f, 2.3785852f * (1 + 0x1p-12f));
  Vec<float> y = bit_cast<float>(bit_cast<int32_t>(guess * line) & ~0xfff);
  Vec<float> r = fma(-x, y * y, 1.0f);
  Vec<float> result = fma(y * r, fma(r, 0.375f, 0.5f), y);
  // From 2^-126 to 2^125, where the square of y is a normal number: a comparison without a sign.
  constexpr uint32_t lowest = 0x00800000, highest = 0x7e000000, sign = 0x80000000;
  constexpr int32_t start = static_cast<int32_t>(sign - lowest);
  constexpr int32_t end = static_cast<int32_t>(highest - lowest + sign);
  Less<int32_t> far = less(end, bits + start);
  return with_far_lanes(result, x, far,
                        [](Vec<float> v) EX_LAMBDA { return rsqrt_by_division(v); });
}

}  // namespace extensor::EX_ISA

#pragma GCC diagnostic pop
