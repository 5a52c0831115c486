// log, log2, log10, log1p.
#pragma once

#include "exp.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace extensor::EX_ISA {

// x = 2^exponent (1 + fraction) with 1 + fraction from `lowest` to twice that; the fraction is
// exact.
template <typename T>
struct SplitNumber {
  Vec<T> exponent;
  Vec<T> fraction;
};

// The bits of the square root of 1/2.
template <typename T>
inline constexpr SignedOf<T> kRootHalf =
    sizeof(T) == 4 ? SignedOf<T>(0x3f3504f3) : SignedOf<T>(0x3fe6a09e667f3bcd);

EX_INLINE SplitNumber<float> split_exponent(Vec<float> x, int32_t lowest = kRootHalf<float>) {
  Vec<int32_t> bits = bit_cast<int32_t>(x);
  Vec<int32_t> exponent = (bits - lowest) >> 23;
  Vec<float> mantissa = bit_cast<float>(bits - (exponent << 23));
  return {convert<float>(exponent), mantissa - 1.0f};
}
// Without arithmetic shifts and conversions of int64, which AVX2 lacks: the biased exponent is
// placed in the low bits of 2^52.
EX_INLINE SplitNumber<double> split_exponent(Vec<double> x, int64_t lowest = kRootHalf<double>) {
  constexpr int64_t one = 0x3ff0000000000000;
  Vec<int64_t> bits = bit_cast<int64_t>(x);
  Vec<uint64_t> biased = bit_cast<uint64_t>(bits + (one - lowest)) >> 52;
  Vec<int64_t> shifted = bit_cast<int64_t>(biased);
  Vec<double> exponent = bit_cast<double>(shifted | 0x4330000000000000) - (0x1p52 + 1023.0);
  Vec<double> mantissa = bit_cast<double>(bits - (shifted << 52) + one);
  return {exponent, mantissa - 1.0};
}

// log(1 + f) = f + log_tail(f), the tail at most a quarter of f.
EX_INLINE Vec<float> log_tail(Vec<float> f) {
  Vec<float> square = f * f;
  return fma(square, -0.5f, square * f * in_blocks<4>(f, kLogFloat));
}
// With s = f / (2 + f): log(1 + f) = 2 atanh(s) = f - (f^2/2 - s (f^2/2 + z P(z))), z = s^2.
EX_INLINE Vec<double> log_tail(Vec<double> f) {
  Vec<double> s = f / (f + 2.0);
  Vec<double> z = s * s;
  Vec<double> half_square = f * f * 0.5;
  return fma(s, fma(z, polynomial(z, kLogDouble), half_square), -half_square);
}

template <typename T>
EX_INLINE Mask<T> is_positive_normal(Vec<T> x) {
  return (x >= Format<T>::smallest_normal) & (x < Format<T>::infinity);
}

// Applies `core(SplitNumber, low)` to x, subnormals normalized, and puts in the special values:
// log(0) = -inf, log(x < 0) = NaN, log(inf) = inf.
template <typename T, typename Core>
EX_INLINE Vec<T> with_log_specials(Vec<T> x, Core core, SignedOf<T> lowest = kRootHalf<T>) {
  using F = Format<T>;
  if (__builtin_expect(any(~is_positive_normal(x)), 0)) {
    constexpr T shift = F::mantissa_bits;
    constexpr T factor = T(int64_t{1} << F::mantissa_bits);
    Mask<T> subnormal = x < F::smallest_normal;
    SplitNumber<T> split = split_exponent(select(subnormal, x * factor, x), lowest);
    split.exponent = select(subnormal, split.exponent - shift, split.exponent);
    Vec<T> result = core(split);
    result = select(x == F::infinity, F::infinity, result);
    result = select(x == T(0), -F::infinity, result);
    return select((x < T(0)) | isnan(x), F::nan, result);
  }
  return core(split_exponent(x, lowest));
}

// e ln 2 + f is kept as a pair: e ln2_high is exact, and for e = 0 so is the sum.
template <typename T>
EX_INLINE Vec<T> log(Vec<T> x) {
  return with_log_specials(x, [](SplitNumber<T> split) EX_LAMBDA {
    Vec<T> base = split.exponent * Format<T>::ln2_high;
    Vec<T> high = base + split.fraction;
    Vec<T> low = split.fraction - (high - base);
    Vec<T> tail = fma(split.exponent, Format<T>::ln2_low, log_tail(split.fraction));
    return high + (low + tail);
  });
}

// log(1 + f) c + e d with constants of two words each, for the other bases. It starts with the pair
// f c + e d.
template <typename T>
struct LogBase {
  T c, c_low, d, d_low;
};
template <typename T>
struct LogPair {
  Vec<T> high, low;
};
template <typename T>
EX_INLINE LogPair<T> log_start(SplitNumber<T> split, LogBase<T> base) {
  Vec<T> product = split.fraction * base.c;
  Vec<T> product_low = fma(split.fraction, base.c_low, exact_fma(split.fraction, base.c, -product));
  Vec<T> integer = split.exponent * base.d;
  Vec<T> high = integer + product;
  Vec<T> low = product - (high - integer);
  return {high, low + fma(split.exponent, base.d_low, product_low)};
}
EX_INLINE Vec<double> log_in_base(SplitNumber<double> split, LogBase<double> base) {
  LogPair<double> start = log_start(split, base);
  return start.high + fma(log_tail(split.fraction), base.c, start.low);
}
// f^2 in two words: the factor c makes its error weigh half as much again in log2.
template <size_t kCount>
EX_INLINE Vec<float> log_in_base(SplitNumber<float> split, LogBase<float> base,
                                 const float (&coefficients)[kCount]) {
  LogPair<float> start = log_start(split, base);
  Vec<float> f = split.fraction, square = f * f;
  Vec<float> low = fma(exact_fma(f, f, -square), base.c * -0.5f, start.low);
  Vec<float> rest = fma(square, base.c * -0.5f, low);
  return start.high + fma(square * f * in_blocks<4>(f, coefficients), base.c, rest);
}

EX_INLINE Vec<double> log2(Vec<double> x) {
  return with_log_specials(x, [](SplitNumber<double> split) EX_LAMBDA {
    return log_in_base(split, {0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56, 1.0, 0.0});
  });
}
EX_INLINE Vec<double> log10(Vec<double> x) {
  return with_log_specials(x, [](SplitNumber<double> split) EX_LAMBDA {
    return log_in_base(split, {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57, 0x1.34413509f7800p-2,
                               0x1.fef311f12b358p-46});
  });
}
// 1 + f from 2/3: an f above 1/3 would cost log2 its last bit.
EX_INLINE Vec<float> log2(Vec<float> x) {
  if constexpr (!native::kHasFma) {
    return through_double(x, [](Vec<double> v) EX_LAMBDA { return log2(v); });
  }
  auto core = [](SplitNumber<float> split) EX_LAMBDA {
    return log_in_base(split, {0x1.715476p0f, 0x1.4ae0cp-26f, 1.0f, 0.0f}, kLogThirdFloat);
  };
  return with_log_specials(x, core, 0x3f2aaaab);
}
EX_INLINE Vec<float> log10(Vec<float> x) {
  if constexpr (!native::kHasFma) {
    return through_double(x, [](Vec<double> v) EX_LAMBDA { return log10(v); });
  }
  return with_log_specials(x, [](SplitNumber<float> split) EX_LAMBDA {
    return log_in_base(split, {0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.3440p-2f, 0x1.35093ep-18f},
                       kLogFloat);
  });
}

// log(1 + x): u = 1 + x rounds, what it lost comes back as (x - (u - 1)) / u.
EX_INLINE Vec<double> log1p(Vec<double> x) {
  using F = Format<double>;
  Vec<double> u = x + 1.0;
  Vec<double> lost = select(x < 1.0, x - (u - 1.0), 1.0 - (u - x));
  lost = select(x < 0x1p54, lost / u, 0.0);
  SplitNumber<double> split = split_exponent(u);
  // Near zero 1 + x need not be formed at all.
  Mask<double> near = (x > -0.29) & (x < 0.41);
  Vec<double> f = select(near, x, split.fraction);
  Vec<double> exponent = select(near, 0.0, split.exponent);
  Vec<double> base = exponent * F::ln2_high;
  Vec<double> high = base + f;
  Vec<double> low = f - (high - base);
  Vec<double> tail = fma(exponent, F::ln2_low, log_tail(f)) + select(near, 0.0, lost);
  Vec<double> result = high + (low + tail);
  result = select(abs(x) < 0x1p-54, x, result);
  result = select(x == F::infinity, F::infinity, result);
  result = select(x == -1.0, -F::infinity, result);
  return select((x < -1.0) | isnan(x), F::nan, result);
}

// 1 + x = 2^e (1 + f), f = (2^-e - 1) + 2^-e x as a pair. Near zero e is 0 and f is x itself.
EX_INLINE Vec<float> log1p(Vec<float> x) {
  if constexpr (!native::kHasFma) {
    return through_double(x, [](Vec<double> v) EX_LAMBDA { return log1p(v); });
  }
  using F = Format<float>;
  Vec<int32_t> exponent = (bit_cast<int32_t>(x + 1.0f) - 0x3f3504f3) >> 23;
  Vec<float> factor = bit_cast<float>(0x3f800000 - (exponent << 23));
  Vec<float> start = factor - 1.0f;
  Vec<float> f = fma(x, factor, start);
  Vec<float> f_low = fma(x, factor, start - f);
  Vec<float> e = convert<float>(exponent);
  Vec<float> base = e * F::ln2_high;
  Vec<float> high = base + f;
  // f_low / (1 + f), of which f_low (1 - f) is near enough.
  Vec<float> low = (f - (high - base)) + fma(-f, f_low, f_low);
  Vec<float> result = high + (low + fma(e, F::ln2_low, log_tail(f)));
  Mask<float> special = ~((x > -1.0f) & (x < 0x1p60f));
  if (__builtin_expect(any(special), 0)) result = select(special, log(x + 1.0f), result);
  return add_sign(result, x);
}

}  // namespace extensor::EX_ISA

#pragma GCC diagnostic pop
