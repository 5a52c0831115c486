// What a reduction does with two vectors, where it starts, and how the lanes become one number.
#pragma once

#include "simd.h"

namespace extensor::EX_ISA {

struct Sum {
  template <typename T>
  static constexpr T start() {
    return T(0);
  }
  template <typename T>
  static EX_INLINE Vec<T> combine(Vec<T> a, Vec<T> b) {
    return a + b;
  }
  template <typename T>
  static EX_INLINE T across(Vec<T> x) {
    return horizontal_sum(x);
  }
};
struct Max {
  template <typename T>
  static constexpr T start() {
    return -static_cast<T>(__builtin_inf());
  }
  template <typename T>
  static EX_INLINE Vec<T> combine(Vec<T> a, Vec<T> b) {
    return maximum(a, b);
  }
  template <typename T>
  static EX_INLINE T across(Vec<T> x) {
    return horizontal_max(x);
  }
};
struct Min {
  template <typename T>
  static constexpr T start() {
    return static_cast<T>(__builtin_inf());
  }
  template <typename T>
  static EX_INLINE Vec<T> combine(Vec<T> a, Vec<T> b) {
    return minimum(a, b);
  }
  template <typename T>
  static EX_INLINE T across(Vec<T> x) {
    return horizontal_min(x);
  }
};

}  // namespace extensor::EX_ISA
