// The steps that rules share, as in src/extensor/ops/chain.py: a gradient of zero stays zero even
// where the derivative is infinite or NaN.
#pragma once

#include "simd.h"

namespace extensor::EX_ISA {

template <typename V>
struct Two {
  V first, second;
};
template <typename V>
Two(V, V) -> Two<V>;  // Clang before 17 deduces no aggregates

template <typename T>
EX_INLINE Vec<T> chain(Vec<T> gradient, Vec<T> derivative) {
  return select(gradient == Vec<T>(T(0)), Vec<T>(T(0)), gradient * derivative);
}
template <typename T>
EX_INLINE Vec<T> chain_over(Vec<T> gradient, Vec<T> denominator) {
  return select(gradient == Vec<T>(T(0)), Vec<T>(T(0)), gradient / denominator);
}
// A magnitude below `least` raised to it, sign kept.
template <typename T>
EX_INLINE Vec<T> lifted(Vec<T> x, Vec<T> least) {
  return select(abs(x) < least, copysign(least, x), x);
}
// With eps 0 a rule gives plain IEEE results, 0 / 0 included. eps is the same in every lane.
template <typename T>
EX_INLINE Vec<T> over(Vec<T> gradient, Vec<T> denominator, Vec<T> eps) {
  Vec<T> quotient = gradient / lifted(denominator, eps);
  return select((gradient == Vec<T>(T(0))) & (eps > Vec<T>(T(0))), Vec<T>(T(0)), quotient);
}
template <typename T>
EX_INLINE Vec<T> times(Vec<T> gradient, Vec<T> derivative, Vec<T> eps) {
  Vec<T> product = gradient * derivative;
  return select((gradient == Vec<T>(T(0))) & (eps > Vec<T>(T(0))), Vec<T>(T(0)), product);
}
template <typename T>
EX_INLINE Vec<T> sign(Vec<T> x) {
  Vec<T> zero(T(0));
  return select(x > zero, T(1), select(x < zero, T(-1), select(x == zero, zero, x)));
}
// The part of a binary maximum's gradient that goes to the winner: all, or half of a tie.
template <typename T>
EX_INLINE Vec<T> share(Mask<T> wins, Mask<T> ties) {
  return select(wins, Vec<T>(T(1)), select(ties, Vec<T>(T(0.5)), Vec<T>(T(0))));
}

}  // namespace extensor::EX_ISA
