// What a reduction takes of an element, what it does with two vectors of such terms, where it
// starts, and how the lanes become one number.
#pragma once

#include "../simd/simd.h"

namespace extensor::EX_ISA {

struct Itself {
  template <typename T>
  static EX_INLINE Vec<T> term(Vec<T> x) {
    return x;
  }
};

struct Sum : Itself {
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
struct Product : Itself {
  template <typename T>
  static constexpr T start() {
    return T(1);
  }
  template <typename T>
  static EX_INLINE Vec<T> combine(Vec<T> a, Vec<T> b) {
    return a * b;
  }
  template <typename T>
  static EX_INLINE T across(Vec<T> x) {
    return horizontal_product(x);
  }
};
struct Max : Itself {
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
struct Min : Itself {
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

struct SumOfSquares : Sum {
  template <typename T>
  static EX_INLINE Vec<T> term(Vec<T> x) {
    return x * x;
  }
};
struct SumOfMagnitudes : Sum {
  template <typename T>
  static EX_INLINE Vec<T> term(Vec<T> x) {
    return abs(x);
  }
};
struct LargestMagnitude : Max {
  template <typename T>
  static constexpr T start() {
    return T(0);
  }
  template <typename T>
  static EX_INLINE Vec<T> term(Vec<T> x) {
    return abs(x);
  }
};

}  // namespace extensor::EX_ISA
