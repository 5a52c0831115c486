// exp, exp2, expm1 and the reduction they share with the hyperbolic and normal functions.
#pragma once

#include <array>
#include <bit>

#include "../simd/simd.h"
#include "coefficients.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace extensor::EX_ISA {

// Horner's scheme: the fewest operations, for short polynomials in float.
template <typename T, size_t kCount>
EX_INLINE Vec<T> horner(Vec<T> x, const T (&coefficients)[kCount]) {
  Vec<T> sum = coefficients[kCount - 1];
  for (size_t i = kCount - 1; i-- > 0;) sum = fma(sum, x, coefficients[i]);
  return sum;
}

// Estrin's scheme on 2^level coefficients from `kFirst` on: both halves at once, then low + x^n
// high. Many short chains instead of Horner's one long, which would leave the arithmetic units
// waiting.
template <int kFirst, int kWidth, typename T, size_t kCount, size_t kLevels>
EX_INLINE Vec<T> estrin(const std::array<Vec<T>, kLevels>& powers,
                        const T (&coefficients)[kCount]) {
  if constexpr (kWidth == 1) {
    return coefficients[kFirst];
  } else {
    constexpr int half = kWidth / 2;
    Vec<T> low = estrin<kFirst, half>(powers, coefficients);
    if constexpr (kFirst + half >= static_cast<int>(kCount)) {
      return low;
    } else {
      Vec<T> high = estrin<kFirst + half, half>(powers, coefficients);
      return fma(high, powers[std::bit_width(unsigned{half}) - 1], low);
    }
  }
}

// Coefficients from the lowest power up.
template <typename T, size_t kCount>
EX_INLINE Vec<T> polynomial(Vec<T> x, const T (&coefficients)[kCount]) {
  constexpr int levels = std::bit_width(kCount - 1);
  std::array<Vec<T>, levels> powers;
  powers[0] = x;
  for (int i = 1; i < levels; ++i) powers[i] = powers[i - 1] * powers[i - 1];
  return estrin<0, 1 << levels>(powers, coefficients);
}

// Horner's scheme on blocks of 2, 3 or 4 coefficients, then on the blocks: nearly as short a chain
// as Estrin's, with fewer instructions. The coefficients before `kSingly` follow one by one, where
// the roundings count most.
template <size_t kBlock, size_t kSingly = 0, typename T, size_t kCount>
EX_INLINE Vec<T> in_blocks(Vec<T> x, const T (&coefficients)[kCount]) {
  Vec<T> power = x * x;
  if constexpr (kBlock == 3) power = power * x;
  if constexpr (kBlock == 4) power = power * power;
  Vec<T> sum = T(0);
  for (size_t end = kCount; end > kSingly;) {
    size_t first = kSingly + (end - kSingly - 1) / kBlock * kBlock;
    Vec<T> part = coefficients[end - 1];
    for (size_t i = end - 1; i-- > first;) part = fma(part, x, coefficients[i]);
    sum = end == kCount ? part : fma(sum, power, part);
    end = first;
  }
  for (size_t i = kSingly; i-- > 0;) sum = fma(sum, x, coefficients[i]);
  return sum;
}

template <typename T>
struct Format;

// Adding `round_to_integer` leaves the nearest integer in the low bits of the sum. `ln2_high` has
// enough trailing zeros that its product with any exponent is exact even without an fma.
template <>
struct Format<float> {
  using Bits = int32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr int bias = 127;
  static constexpr float round_to_integer = 0x1.8p23f;
  static constexpr float log2_e = 0x1.715476p0f;
  static constexpr float ln2_high = 0x1.62e4p-1f;
  static constexpr float ln2_low = 0x1.7f7d1cp-20f;
  static constexpr float smallest_normal = 0x1p-126f;
  static constexpr float infinity = __builtin_inff();
  static constexpr float nan = __builtin_nanf("");
  // Inside, exp is a normal number; beyond the outer limits it is 0 or infinity.
  static constexpr float exp_normal_limit = 87.0f;
  static constexpr float exp_lowest = -104.5f;
  static constexpr float exp_highest = 89.0f;
};
template <>
struct Format<double> {
  using Bits = int64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr int bias = 1023;
  static constexpr double round_to_integer = 0x1.8p52;
  static constexpr double log2_e = 0x1.71547652b82fep0;
  static constexpr double ln2_high = 0x1.62e42fefap-1;
  static constexpr double ln2_low = 0x1.cf79abc9e3b3ap-40;
  static constexpr double smallest_normal = 0x1p-1022;
  static constexpr double infinity = __builtin_inf();
  static constexpr double nan = __builtin_nan("");
  static constexpr double exp_normal_limit = 708.0;
  static constexpr double exp_lowest = -746.0;
  static constexpr double exp_highest = 710.0;
};

// exp(x) = 2^n (1 + tail), tail = expm1(x - n ln 2). The low bits of `shifted` hold n, `tail_low`
// is what the tail's last addition rounded away.
template <typename T>
struct ReducedExp {
  Vec<T> tail, tail_low;
  Vec<T> shifted;
};

// P of exp(r) = 1 + r + r^2 P(r).
EX_INLINE Vec<float> exp_polynomial(Vec<float> r) { return in_blocks<2>(r, kExpFloat); }
EX_INLINE Vec<double> exp_polynomial(Vec<double> r) { return polynomial(r, kExpDouble); }

template <typename T>
EX_INLINE ReducedExp<T> exp_of_remainder(Vec<T> r, Vec<T> shifted) {
  Vec<T> square = r * r, curve = exp_polynomial(r);
  Vec<T> tail = fma(square, curve, r);
  return {tail, fma(square, curve, r - tail), shifted};
}

// `x_low` is a small correction to x, for arguments known to more than one word.
template <typename T>
EX_INLINE ReducedExp<T> reduce_exp(Vec<T> x, Vec<T> x_low) {
  using F = Format<T>;
  Vec<T> shifted = fma(x, F::log2_e, F::round_to_integer);
  Vec<T> n = shifted - F::round_to_integer;
  Vec<T> r = fma(n, -F::ln2_low, fma(n, -F::ln2_high, x) + x_low);
  return exp_of_remainder(r, shifted);
}
// x = n ln 2 + r.
template <typename T>
struct Remainder {
  Vec<T> r, shifted;
};
template <typename T>
EX_INLINE Remainder<T> exp_remainder(Vec<T> x) {
  using F = Format<T>;
  Vec<T> shifted = fma(x, F::log2_e, F::round_to_integer);
  Vec<T> n = shifted - F::round_to_integer;
  return {fma(n, -F::ln2_low, fma(n, -F::ln2_high, x)), shifted};
}
template <typename T>
EX_INLINE ReducedExp<T> reduce_exp(Vec<T> x) {
  Remainder<T> part = exp_remainder(x);
  return exp_of_remainder(part.r, part.shifted);
}

// exp(-x), the sign in the constants.
template <typename T>
EX_INLINE Remainder<T> minus_remainder(Vec<T> x) {
  using F = Format<T>;
  Vec<T> shifted = fma(x, -F::log2_e, F::round_to_integer);
  Vec<T> n = shifted - F::round_to_integer;
  return {fma(n, -F::ln2_low, fma(n, -F::ln2_high, -x)), shifted};
}
template <typename T>
EX_INLINE ReducedExp<T> reduce_minus(Vec<T> x) {
  Remainder<T> part = minus_remainder(x);
  return exp_of_remainder(part.r, part.shifted);
}

// The same where an error of n 2^-29 in the argument does no harm: ln 2 in one word, if its product
// with n is not rounded.
EX_INLINE ReducedExp<float> reduce_exp_roughly(Vec<float> x) {
  if constexpr (!native::kHasFma) return reduce_exp(x);
  using F = Format<float>;
  Vec<float> shifted = fma(x, F::log2_e, F::round_to_integer);
  Vec<float> r = fma(shifted - F::round_to_integer, -0x1.62e43p-1f, x);
  return exp_of_remainder(r, shifted);
}
EX_INLINE ReducedExp<double> reduce_exp_roughly(Vec<double> x) { return reduce_exp(x); }

// x 2^n where the result is a normal number.
template <typename T>
EX_INLINE Vec<T> scale_normal(Vec<T> x, Vec<T> shifted) {
  using Bits = typename Format<T>::Bits;
  Vec<Bits> exponent = bit_cast<Bits>(shifted) << Format<T>::mantissa_bits;
  return bit_cast<T>(bit_cast<Bits>(x) + exponent);
}
// 2^n for an exponent of a normal number.
template <typename T>
EX_INLINE Vec<T> power_of_two(Vec<T> shifted) {
  return scale_normal(Vec<T>(T(1)), shifted);
}
// x 2^n for |n| below twice the largest exponent. The first product is exact, so that a subnormal
// result is rounded only once.
template <typename T>
EX_INLINE Vec<T> scale(Vec<T> x, Vec<T> shifted) {
  Vec<T> n = shifted - Format<T>::round_to_integer;
  Vec<T> half = fma(n, T(0.5), Format<T>::round_to_integer);
  Vec<T> rest = (n - (half - Format<T>::round_to_integer)) + Format<T>::round_to_integer;
  return x * power_of_two(half) * power_of_two(rest);
}

// NaN passes: the comparisons are false for it.
template <typename T>
EX_INLINE Vec<T> clamp(Vec<T> x, T low, T high) {
  return select(x < low, low, select(x > high, high, x));
}

// 1 + r + r^2 P(r), with what 1 + r rounds away added to the small last term. exp: below 0.82 ulp.
template <typename T>
EX_INLINE Vec<T> exp_mantissa(Vec<T> r) {
  Vec<T> base = r + T(1);
  Vec<T> base_low = r - (base - T(1));
  return base + fma(r * r, exp_polynomial(r), base_low);
}
template <typename T>
EX_INLINE Vec<T> exp(Vec<T> x) {
  using F = Format<T>;
  if (__builtin_expect(any(~(abs(x) <= F::exp_normal_limit)), 0)) {
    Remainder<T> part = exp_remainder(clamp(x, F::exp_lowest, F::exp_highest));
    return select(isnan(x), x, scale(exp_mantissa(part.r), part.shifted));
  }
  Remainder<T> part = exp_remainder(x);
  return scale_normal(exp_mantissa(part.r), part.shifted);
}

// 2^x = 2^n exp((x - n) ln 2), x - n exact.
EX_INLINE Vec<double> exp2(Vec<double> x) {
  using F = Format<double>;
  Vec<double> inside = clamp(x, -1076.0, 1025.0);
  Vec<double> shifted = inside + F::round_to_integer;
  Vec<double> r = (inside - (shifted - F::round_to_integer)) * 0x1.62e42fefa39efp-1;
  Vec<double> tail = fma(r * r, exp_polynomial(r), r);
  return select(isnan(x), x, scale(tail + 1.0, shifted));
}
EX_INLINE Vec<float> exp2(Vec<float> x) {
  return through_double(x, [](Vec<double> v) EX_LAMBDA { return exp2(v); });
}

// expm1(x) = 2 (2^(n-1) tail + (2^(n-1) - 1/2)): halved so that n = 1024 does not overflow early.
EX_INLINE Vec<double> expm1(Vec<double> x) {
  Vec<double> inside = clamp(x, -40.0, 710.0);
  ReducedExp<double> reduced = reduce_exp(inside);
  Vec<double> half = power_of_two(reduced.shifted - 1.0);
  Vec<double> result = fma(half, reduced.tail, half - 0.5) * 2.0;
  // No reduction took place: keep the relative accuracy, and the sign of zero.
  Mask<double> small = abs(x) < 0.34;
  result = select(small, fma(x * x, exp_polynomial(x), x), result);
  return select(isnan(x) | (x == 0.0), x, result);
}
// n is 0 up to 1/2, so that 2^n - 1 and 2^n tail do not cancel.
EX_INLINE Vec<float> expm1(Vec<float> x) {
  using F = Format<float>;
  if constexpr (!native::kHasFma) {
    return through_double(x, [](Vec<double> v) EX_LAMBDA { return expm1(v); });
  }
  // NaN stays.
  Vec<float> inside = max(Vec<float>(-18.0f), min(Vec<float>(88.5f), x));
  Vec<float> shifted = fma(inside, F::log2_e, F::round_to_integer);
  shifted = select(abs(x) < 0.5f, F::round_to_integer, shifted);
  Vec<float> n = shifted - F::round_to_integer;
  // r = first + second, of which the first is exact. expm1(r) = r + (r^2 / 2 + r^3 P(r)).
  Vec<float> first = fma(n, -F::ln2_high, inside), second = n * -F::ln2_low;
  Vec<float> r = first + second, square = r * r;
  Vec<float> rest = fma(square * r, in_blocks<2>(r, kExpm1Float), fma(square, 0.5f, second));
  Vec<float> tail = first + rest;
  Vec<float> power = power_of_two(shifted);
  Vec<float> result = fma(power, tail, power - 1.0f);
  Mask<float> large = x > 16.5f;
  if (__builtin_expect(any(large), 0)) {
    // 2^n - 1 is no longer exact: exp with 2^-n taken from the low part.
    Vec<float> inverse = bit_cast<float>(0x7f000000 - bit_cast<int32_t>(power));
    Vec<float> base = first + 1.0f;
    Vec<float> beyond = base + (((first - (base - 1.0f)) - inverse) + rest);
    result = select(large, select(x > 88.0f, exp(x), beyond * power), result);
  }
  return add_sign(result, x);
}

// The lanes that a formula in float does not reach, by another one, through double if it is one in
// double. Out of line, so that it takes no registers from the loop.
template <typename Function>
__attribute__((noinline)) void apply_out_of_line(const float* x, float* result, Function function) {
  Vec<float> input = Vec<float>::load(x);
  if constexpr (std::is_invocable_v<Function, Vec<float>>) {
    function(input).store(result);
  } else {
    through_double(input, function).store(result);
  }
}
template <typename T, typename Function>
EX_INLINE Vec<float> with_far_lanes(Vec<float> result, Vec<float> x, Less<T> far,
                                    Function function) {
  if (__builtin_expect(far.any(), 0)) {
    float inputs[Vec<float>::size], results[Vec<float>::size];
    x.store(inputs);
    apply_out_of_line(inputs, results, function);
    result = select(mask_cast<float>(far.mask()), Vec<float>::load(results), result);
  }
  return result;
}

}  // namespace extensor::EX_ISA

#pragma GCC diagnostic pop
