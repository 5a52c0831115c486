// rsqrt.
#pragma once

#include "../simd/simd.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace extensor::EX_ISA {

EX_INLINE Vec<double> rsqrt(Vec<double> x) { return 1.0 / sqrt(x); }

// y (1 + (1 - x y^2) / 2): the square root and the quotient have rounded twice. The residual of 0
// and of infinity is NaN.
EX_INLINE Vec<float> rsqrt(Vec<float> x) {
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

}  // namespace extensor::EX_ISA

#pragma GCC diagnostic pop
