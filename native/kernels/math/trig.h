// sin, cos, tan.
#pragma once

#include <cmath>

#include "exp.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace extensor::EX_ISA {

// x = n pi/2 + high + low, |high| <= pi/4; the low bits of `shifted` hold n.
struct ReducedAngle {
  Vec<double> high, low, shifted;
};

// What sin, cos and tan of one angle have in common: the reduced angle's own sine and cosine.
struct SineCosine {
  Vec<double> sine, cosine;
  Vec<int64_t> quadrant;
};

EX_INLINE Vec<int64_t> quadrant_of(Vec<double> shifted) { return bit_cast<int64_t>(shifted); }

// For float arguments: pi/2 in three parts of 27 bits, so that n times each is exact below 2^26 and
// the reduced angle good to 2^-53 of itself. sin and cos are good to 2^-27.9 of themselves.
inline constexpr float kMixedAngleLimit = 0x1p26f;

EX_INLINE SineCosine sine_cosine_mixed(Vec<double> x) {
  constexpr double rounder = Format<double>::round_to_integer;
  Vec<double> shifted = fma(x, 0x1.45f306dc9c883p-1, rounder);
  Vec<double> n = shifted - rounder;
  Vec<double> r = fma(n, -0x1.921fb54p0, x);
  r = fma(n, -0x1.10b461p-30, r);
  r = fma(n, -0x1.a62633145c06ep-58, r);
  Vec<double> square = r * r;
  // A product, not a sum with r, so that sin(-0) = -0.
  Vec<double> sine = r * fma(square, polynomial(square, kSinMixed), 1.0);
  Vec<double> cosine = fma(square, fma(square, polynomial(square, kCosMixed), -0.5), 1.0);
  return {sine, cosine, quadrant_of(shifted)};
}

// For double arguments: three parts of 33, 33 and 53 bits, n below 2^19, the angle as a pair good
// to 2^-100. Angles that cancel below 2^-30 leave too few bits and go to the fallback.
inline constexpr double kDoubleAngleLimit = 0x1p19;

EX_INLINE ReducedAngle reduce_angle(Vec<double> x) {
  constexpr double rounder = Format<double>::round_to_integer;
  Vec<double> shifted = fma(x, 0x1.45f306dc9c883p-1, rounder);
  Vec<double> n = shifted - rounder;
  Vec<double> first = fma(n, -0x1.921fb544p0, x);
  Vec<double> product = n * 0x1.0b4611a6p-34;
  Vec<double> second = first - product;
  Vec<double> undone = second - first;
  Vec<double> error = (first - (second - undone)) - (product + undone);
  error = fma(n, -0x1.3198a2e037073p-69, error);
  Vec<double> high = second + error;
  return {high, (second - high) + error, shifted};
}

EX_INLINE SineCosine sine_cosine(Vec<double> x) {
  ReducedAngle angle = reduce_angle(x);
  Vec<double> r = angle.high, square = r * r;
  // sin(r + l) = sin r + l cos r, cos r = 1 - r^2/2 in so small a term.
  Vec<double> tail =
      fma(square * r, polynomial(square, kSinDouble), fma(angle.low * square, -0.5, angle.low));
  Vec<double> sine = r + tail;
  // cos(r + l) = cos r - l sin r; 1 - r^2/2 is kept as a pair.
  Vec<double> half_square = square * 0.5;
  Vec<double> base = 1.0 - half_square;
  Vec<double> base_low = (1.0 - base) - half_square;
  Vec<double> cosine_tail =
      fma(square * square, polynomial(square, kCosDouble), fma(-r, angle.low, base_low));
  return {select(x == 0.0, x, sine), base + cosine_tail, quadrant_of(angle.shifted)};
}

EX_INLINE Mask<double> is_odd(Vec<int64_t> n) {
  return mask_cast<double>((n & int64_t{1}) != int64_t{0});
}
EX_INLINE Vec<double> flip_by_second_bit(Vec<double> x, Vec<int64_t> quadrant) {
  return bit_cast<double>(bit_cast<int64_t>(x) ^ ((quadrant & int64_t{2}) << 62));
}
EX_INLINE Vec<double> sine_of(SineCosine s) {
  return flip_by_second_bit(select(is_odd(s.quadrant), s.cosine, s.sine), s.quadrant);
}
EX_INLINE Vec<double> cosine_of(SineCosine s) {
  return flip_by_second_bit(select(is_odd(s.quadrant), s.sine, s.cosine), s.quadrant + int64_t{1});
}
EX_INLINE Vec<double> tangent_of(SineCosine s) {
  Mask<double> odd = is_odd(s.quadrant);
  return select(odd, -s.cosine, s.sine) / select(odd, s.sine, s.cosine);
}

// Lanes outside of the fast reduction one by one through the C library, in double: it reduces by as
// many bits of pi as the argument asks for. The other lanes keep their bits.
template <typename T>
__attribute__((noinline, cold)) void replace_lanes(T* result, const T* x, const SignedOf<T>* lanes,
                                                   double (*function)(double)) {
  for (int i = 0; i < Vec<T>::size; ++i) {
    if (lanes[i] != 0) result[i] = static_cast<T>(function(static_cast<double>(x[i])));
  }
}
template <typename T>
EX_INLINE Vec<T> with_slow_lanes(Vec<T> result, Vec<T> x, Mask<T> slow,
                                 double (*function)(double)) {
  if (__builtin_expect(any(slow), 0)) {
    // Copies, so that the vectors themselves need not live in memory.
    T results[Vec<T>::size], inputs[Vec<T>::size];
    SignedOf<T> lanes[Vec<T>::size];
    result.store(results);
    x.store(inputs);
    std::memcpy(lanes, &slow.raw, sizeof(lanes));
    replace_lanes(results, inputs, lanes, function);
    return Vec<T>::load(results);
  }
  return result;
}

template <typename Fast>
EX_INLINE Vec<float> trigonometric(Vec<float> x, Fast fast, double (*slow)(double)) {
  Vec<float> result =
      through_double(x, [&](Vec<double> v) EX_LAMBDA { return fast(sine_cosine_mixed(v)); });
  return with_slow_lanes(result, x, ~(abs(x) <= kMixedAngleLimit), slow);
}
template <typename Fast>
EX_INLINE Vec<double> trigonometric(Vec<double> x, Fast fast, double (*slow)(double)) {
  SineCosine parts = sine_cosine(x);
  Mask<double> cancelled = (abs(parts.sine) < 0x1p-30) & (abs(x) > 0.5);
  return with_slow_lanes(fast(parts), x, ~(abs(x) <= kDoubleAngleLimit) | cancelled, slow);
}

EX_INLINE Vec<double> sin(Vec<double> x) {
  return trigonometric(x, [](SineCosine s) EX_LAMBDA { return sine_of(s); }, std::sin);
}
EX_INLINE Vec<double> cos(Vec<double> x) {
  return trigonometric(x, [](SineCosine s) EX_LAMBDA { return cosine_of(s); }, std::cos);
}
template <typename T>
EX_INLINE Vec<T> tan(Vec<T> x) {
  return trigonometric(x, [](SineCosine s) EX_LAMBDA { return tangent_of(s); }, std::tan);
}

// All in float where an fma makes the reduction exact: pi/2 in three words, |x| - n pi/2 as a pair.
struct SineCosineFloat {
  Vec<float> sine, cosine;
  Vec<int32_t> quadrant;
};
inline constexpr float kFloatAngleLimit = 0x1p15f;

EX_INLINE SineCosineFloat sine_cosine(Vec<float> magnitude) {
  constexpr float rounder = Format<float>::round_to_integer;
  Vec<float> shifted = fma(magnitude, 0x1.45f306p-1f, rounder);
  Vec<float> n = shifted - rounder;
  Vec<float> first = fma(n, -0x1.921fb60000000p+0f, magnitude);
  Vec<float> second = n * 0x1.777a5cp-25f;
  Vec<float> second_low = exact_fma(n, 0x1.777a5cp-25f, -second);
  Vec<float> r = first + second;
  Vec<float> low = ((first - r) + second) + fma(n, 0x1.ee59dap-50f, second_low);
  Vec<float> square = r * r;
  Vec<float> sine = r + fma(r * square, horner(square, kSinFloat), low);
  Vec<float> base = fma(square, -0.5f, 1.0f);
  Vec<float> base_low = fma(square, -0.5f, 1.0f - base);
  Vec<float> tail = fma(square * square, horner(square, kCosFloat), fma(-r, low, base_low));
  return {sine, base + tail, bit_cast<int32_t>(shifted)};
}
EX_INLINE Vec<float> pick_quadrant(SineCosineFloat s, Vec<int32_t> quadrant, Vec<int32_t> sign) {
  Mask<float> odd = mask_cast<float>((quadrant & 1) != 0);
  Vec<int32_t> flip = ((quadrant << 30) ^ sign) & kSignBit<float>;
  return bit_cast<float>(bit_cast<int32_t>(select(odd, s.cosine, s.sine)) ^ flip);
}
EX_INLINE Vec<float> sin(Vec<float> x) {
  auto wide = [x]() EX_LAMBDA {
    return trigonometric(x, [](SineCosine s) EX_LAMBDA { return sine_of(s); }, std::sin);
  };
  if constexpr (!native::kHasFma) return wide();
  SineCosineFloat parts = sine_cosine(abs(x));
  Vec<float> result = pick_quadrant(parts, parts.quadrant, bit_cast<int32_t>(x));
  Mask<float> large = ~(abs(x) <= kFloatAngleLimit);
  if (__builtin_expect(any(large), 0)) result = select(large, wide(), result);
  return result;
}
EX_INLINE Vec<float> cos(Vec<float> x) {
  auto wide = [x]() EX_LAMBDA {
    return trigonometric(x, [](SineCosine s) EX_LAMBDA { return cosine_of(s); }, std::cos);
  };
  if constexpr (!native::kHasFma) return wide();
  SineCosineFloat parts = sine_cosine(abs(x));
  Vec<float> result = pick_quadrant(parts, parts.quadrant + 1, 0);
  Mask<float> large = ~(abs(x) <= kFloatAngleLimit);
  if (__builtin_expect(any(large), 0)) result = select(large, wide(), result);
  return result;
}

}  // namespace extensor::EX_ISA

#pragma GCC diagnostic pop
