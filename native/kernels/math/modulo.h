// Division with a remainder on Vec<float> and Vec<double>.
#pragma once

#include <cmath>

#include "../simd/simd.h"

namespace extensor::EX_ISA {

template <typename T>
struct ModuloRange;
// Quotients below `most` are exact as whole numbers. Between `least` and `largest` no product of
// exact_fma overflows or loses its low part.
template <>
struct ModuloRange<float> {
  static constexpr float most = 0x1p22f, least = 0x1p-60f, largest = 0x1p120f;
};
template <>
struct ModuloRange<double> {
  static constexpr double most = 0x1p51, least = 0x1p-900, largest = 0x1p1000;
};

template <typename T>
__attribute__((noinline, cold)) void replace_remainders(T* result, const T* a, const T* b,
                                                        const SignedOf<T>* lanes) {
  for (int i = 0; i < Vec<T>::size; ++i) {
    if (lanes[i] != 0) result[i] = std::fmod(a[i], b[i]);
  }
}

// The remainder with the sign of `a`, which is always exact. A quotient that was rounded up to the
// next whole number leaves a remainder below 0. Lanes out of range go through the C library.
template <typename T>
EX_INLINE Vec<T> fmod(Vec<T> a, Vec<T> b) {
  using V = Vec<T>;
  using Range = ModuloRange<T>;
  const V dividend = abs(a), divisor = abs(b), quotient = dividend / divisor;
  const V whole = trunc(quotient), zero(T(0));
  V rest = exact_fma(-whole, divisor, dividend);
  rest = select(rest < zero, rest + divisor, rest);
  V result = copysign(select(whole == zero, dividend, rest), a);
  const Mask<T> slow =
      ~((quotient < V(Range::most)) & (divisor > V(Range::least)) & (dividend < V(Range::largest)));
  if (__builtin_expect(any(slow), 0)) {
    T results[V::size], first[V::size], second[V::size];
    SignedOf<T> lanes[V::size];
    result.store(results);
    a.store(first);
    b.store(second);
    std::memcpy(lanes, &slow.raw, sizeof(lanes));
    replace_remainders(results, first, second, lanes);
    result = V::load(results);
  }
  return result;
}

template <typename T>
struct Divided {
  Vec<T> quotient, remainder;
};

// floor(a / b) and the remainder with the sign of `b`: the operations of NumPy, and so its bits.
template <typename T>
EX_INLINE Divided<T> divided(Vec<T> a, Vec<T> b) {
  using V = Vec<T>;
  const V zero(T(0)), one(T(1)), ratio = a / b;
  V rest = fmod(a, b);
  V quotient = (a - rest) / b;
  const auto apart = (rest != zero) & ((b < zero) ^ (rest < zero));
  quotient = select(apart, quotient - one, quotient);
  rest = select(rest == zero, copysign(zero, b), select(apart, rest + b, rest));
  V whole = floor(quotient);
  whole = select(quotient - whole > V(T(0.5)), whole + one, whole);
  whole = select(quotient == zero, copysign(zero, ratio), whole);
  return {select(b == zero, ratio, whole), rest};
}

}  // namespace extensor::EX_ISA
