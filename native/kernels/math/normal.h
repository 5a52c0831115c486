// The normal distribution and what is made of it: erf, erfc, cdf, pdf, gelu.
//
// Everything rests on Phi(-t) = exp(-t^2/2) M(t) for t >= 0, with (t + 4) M(t) a polynomial in
// u = (t - 4) / (t + 4). No digits are lost in the tail, down to underflow. Formulas are written
// once, in double, for two precisions: Full for double results, Mixed (short polynomials, no care
// for the last bits of a double) for float ones. The float functions that training waits for are in
// float throughout, and leave to Mixed the lanes they do not reach and machines without an fma.
#pragma once

#include "log.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace extensor::EX_ISA {

// y = kGeluLinear x + kGeluCubic x^3 = 2 sqrt(2/pi) (x + 0.044715 x^3), the argument of gelu_tanh.
inline constexpr double kGeluLinear = 0x1.9884533d43651p+0, kGeluLinearLow = -0x1.cbc0d30ebfd15p-54;
inline constexpr double kGeluCubic = 0x1.2444f2a4d8b4bp-4, kGeluCubicLow = -0x1.6c843a29d1c70p-61;

// exp of something negative as mantissa and power of two. `times` scales last, so that a product
// with a vanishing exponential keeps its digits for as long as it can.
struct Full {
  struct Exp {
    Vec<double> mantissa, shifted;
    EX_INLINE Vec<double> value() const { return scale(mantissa, shifted); }
    EX_INLINE Vec<double> times(Vec<double> x) const { return scale(mantissa * x, shifted); }
  };
  // Where Phi(-t), exp(-t) and exp(-y(t)) have vanished in the result's type.
  static constexpr double tail_end = 38.9, exp_end = 760.0, cubic_end = 24.0;

  static EX_INLINE Exp exp(Vec<double> x) {
    Remainder<double> part = exp_remainder(x);
    return {exp_mantissa(part.r), part.shifted};
  }
  // exp(-x^2 factor) for a factor of 1 or 1/2: the square's rounding error is given to exp.
  static EX_INLINE Exp gauss(Vec<double> x, double factor) {
    Vec<double> square = x * x;
    Vec<double> low = exact_fma(x, x, -square);
    Vec<double> argument = square * -factor;
    ReducedExp<double> reduced = reduce_exp(max(Vec<double>(-760.0), argument), low * -factor);
    return {reduced.tail + 1.0, reduced.shifted};
  }
  // log1p for e in [0, 1].
  static EX_INLINE Vec<double> log1p_unit(Vec<double> e) { return log1p(e); }
  // exp(-y(t)), y as a pair: t (linear + cubic t^2).
  static EX_INLINE Exp exp_minus_cubic(Vec<double> t) {
    Vec<double> square = t * t;
    Vec<double> square_low = exact_fma(t, t, -square);
    Vec<double> bend = square * kGeluCubic;
    Vec<double> bend_low =
        exact_fma(square, kGeluCubic, -bend) + fma(square_low, kGeluCubic, square * kGeluCubicLow);
    Vec<double> sum = bend + kGeluLinear;
    Vec<double> part = sum - bend;
    Vec<double> sum_low =
        (bend - (sum - part)) + (kGeluLinear - part) + (bend_low + kGeluLinearLow);
    Vec<double> y = t * sum;
    Vec<double> y_low = exact_fma(t, sum, -y) + t * sum_low;
    ReducedExp<double> reduced = reduce_exp(max(Vec<double>(-760.0), -y), -y_low);
    return {reduced.tail + 1.0, reduced.shifted};
  }
  // M(t) = Phi(-t) exp(t^2/2). The quotient u is good to half an ulp: at t = 0 an error in it
  // counts twice.
  static EX_INLINE Vec<double> mills(Vec<double> t) {
    Vec<double> sum = t + 4.0, difference = t - 4.0;
    Vec<double> sum_low = select(t > 4.0, 4.0 - (sum - t), t - (sum - 4.0));
    Vec<double> difference_low = select(t > 4.0, (t - difference) - 4.0, t - (difference + 4.0));
    Vec<double> inverse = 1.0 / sum;
    Vec<double> u = difference * inverse;
    Vec<double> residual = exact_fma(-u, sum, difference) + fma(-u, sum_low, difference_low);
    u = fma(residual, inverse, u);
    inverse = fma(inverse, exact_fma(-inverse, sum, 1.0) - inverse * sum_low, inverse);
    return polynomial(u, kTailDouble) * inverse;
  }
};

struct Mixed {
  struct Exp {
    Vec<double> e;
    EX_INLINE Vec<double> value() const { return e; }
    EX_INLINE Vec<double> times(Vec<double> x) const { return e * x; }
  };
  static constexpr double tail_end = 14.8, exp_end = 120.0, cubic_end = 12.0;

  // Relative error 2^-28.2 for |x| < 700.
  static EX_INLINE Exp exp(Vec<double> x) {
    using F = Format<double>;
    Vec<double> shifted = fma(x, F::log2_e, F::round_to_integer);
    Vec<double> r = fma(shifted - F::round_to_integer, -0x1.62e42fefa39efp-1, x);
    Vec<double> value = fma(fma(polynomial(r, kExpMixed), r, 1.0), r, 1.0);
    return {scale_normal(value, shifted)};
  }
  static EX_INLINE Exp gauss(Vec<double> x, double factor) { return exp(x * x * -factor); }
  // 2 atanh(e / (2 + e)).
  static EX_INLINE Vec<double> log1p_unit(Vec<double> e) {
    Vec<double> s = e / (e + 2.0);
    Vec<double> z = s * s;
    return s * fma(z, polynomial(z, kLog1pMixed), 2.0);
  }
  static EX_INLINE Exp exp_minus_cubic(Vec<double> t) {
    return exp(t * fma(t * t, -kGeluCubic, -kGeluLinear));
  }
  static EX_INLINE Vec<double> mills(Vec<double> t) {
    Vec<double> inverse = 1.0 / (t + 4.0);
    return polynomial((t - 4.0) * inverse, kTailMixed) * inverse;
  }
};

// |x| up to `end`; NaN stays.
template <typename T>
EX_INLINE Vec<T> magnitude_up_to(Vec<T> x, std::type_identity_t<T> end) {
  return min(Vec<T>(end), abs(x));
}

inline constexpr double kInverseRootTwoPi = 0x1.9884533d43651p-2;

template <typename Precision>
EX_INLINE Vec<double> normal_cdf_formula(Vec<double> x) {
  Vec<double> t = magnitude_up_to(x, Precision::tail_end);
  Vec<double> tail = Precision::gauss(t, 0.5).times(Precision::mills(t));
  return select(x < 0.0, tail, 1.0 - tail);
}
template <typename Precision>
EX_INLINE Vec<double> normal_pdf_formula(Vec<double> x) {
  Vec<double> t = magnitude_up_to(x, Precision::tail_end);
  return Precision::gauss(t, 0.5).times(kInverseRootTwoPi);
}
// x Phi(x): -t Phi(-t) for x < 0, x - t Phi(-t) above, so that a huge x stays as it is.
template <typename Precision>
EX_INLINE Vec<double> gelu_formula(Vec<double> x) {
  Vec<double> t = magnitude_up_to(x, Precision::tail_end);
  Vec<double> part = Precision::gauss(t, 0.5).times(Precision::mills(t) * t);
  return select(x < 0.0, Vec<double>(-0.0), x) - part;
}
// Phi(x) + x phi(x), by Phi(-t) - t phi(t) = exp(-t^2/2) (M(t) - t / sqrt(2 pi)).
template <typename Precision>
EX_INLINE Vec<double> gelu_derivative_formula(Vec<double> x) {
  Vec<double> t = magnitude_up_to(x, Precision::tail_end);
  Vec<double> bracket = fma(t, -kInverseRootTwoPi, Precision::mills(t));
  Vec<double> left = Precision::gauss(t, 0.5).times(bracket);
  return select(x < 0.0, left, 1.0 - left);
}
// erfc(x) = 2 Phi(-sqrt(2) x), the exponential from x itself.
template <typename Precision>
EX_INLINE Vec<double> erfc_formula(Vec<double> x) {
  constexpr double root_two = 0x1.6a09e667f3bcdp0;
  Vec<double> t = magnitude_up_to(x, Precision::tail_end / root_two);
  Vec<double> tail = Precision::gauss(t, 1.0).times(Precision::mills(t * root_two) * 2.0);
  return select(x < 0.0, 2.0 - tail, tail);
}

#define EX_NORMAL_FUNCTION(name)                                                                \
  EX_INLINE Vec<double> name(Vec<double> x) { return name##_formula<Full>(x); }                 \
  EX_INLINE Vec<float> name(Vec<float> x) {                                                     \
    return through_double(x, [](Vec<double> v) EX_LAMBDA { return name##_formula<Mixed>(v); }); \
  }
EX_NORMAL_FUNCTION(normal_pdf)
EX_NORMAL_FUNCTION(erfc)
#undef EX_NORMAL_FUNCTION

EX_INLINE Vec<double> normal_cdf(Vec<double> x) { return normal_cdf_formula<Full>(x); }
EX_INLINE Vec<double> gelu(Vec<double> x) { return gelu_formula<Full>(x); }
EX_INLINE Vec<double> gelu_derivative(Vec<double> x) { return gelu_derivative_formula<Full>(x); }

// In float, where an fma gives the low half of a product: 2 Phi(-t) is exp of a parabola and of
// what is left, below 0.042, so that only the parabola needs two words. Phi(-t) = (1 + r + bend)
// power for t up to 4.5.
struct NormalTail {
  Vec<float> power, r, bend;
  EX_INLINE Vec<float> tail() const { return r + bend; }
};
inline constexpr float kNormalTailEnd = -4.5f;

// Added to a number, it leaves the bits of 2^n, n the nearest integer, but for a shift.
inline constexpr float kRoundToBiased = Format<float>::round_to_integer + Format<float>::bias;
EX_INLINE Vec<float> power_of_biased(Vec<float> shifted) {
  return bit_cast<float>(bit_cast<int32_t>(shifted) << Format<float>::mantissa_bits);
}

// exp(base - rest) = 1 + r + bend; r is base - rest but for `low`.
EX_INLINE NormalTail normal_tail_of(Vec<float> power, Vec<float> base, Vec<float> rest) {
  Vec<float> r = base - rest, low = (base - r) - rest;
  return {power, r, fma(r * r, in_blocks<2>(r, kExpWideFloat), fma(r, low, low))};
}
EX_INLINE NormalTail normal_tail(Vec<float> t) {
  using F = Format<float>;
  constexpr float bend = 7.0f / 16, slope = 1405905.0f / (1 << 21), center = 127.0f / 64;
  constexpr float round_to_half = kRoundToBiased - 1;  // the 1/2 of Phi(0)
  Vec<float> sum = fma(t, bend, slope);
  Vec<float> sum_low = fma(t, bend, slope - sum);
  Vec<float> parabola = t * sum;
  Vec<float> shifted = fma(parabola, -F::log2_e, round_to_half);
  Vec<float> n = shifted - round_to_half;
  Vec<float> low = fma(n, F::ln2_low, fma(t, sum_low, fma(t, sum, -parabola)));
  Vec<float> s = t - center;
  Vec<float> rest = fma(s, in_blocks<4>(s, kGeluExponentFloat), low);
  return normal_tail_of(power_of_biased(shifted), fma(n, -F::ln2_high, -parabola), rest);
}

// Beyond 5.6 Phi(-x) is nothing beside 1.
EX_INLINE Vec<float> normal_cdf(Vec<float> x) {
  auto wide = [](Vec<double> v) EX_LAMBDA { return normal_cdf_formula<Mixed>(v); };
  if constexpr (!native::kHasFma) return through_double(x, wide);
  NormalTail parts = normal_tail(magnitude_up_to(x, 5.6f));
  Vec<float> left = fma(parts.power, parts.tail(), parts.power);
  Vec<float> right = fma(-parts.power, parts.tail(), 1.0f - parts.power);
  return with_far_lanes(select(x < 0.0f, left, right), x, less(x, kNormalTailEnd), wide);
}
// -t Phi(-t) = -exp(-t^2/2 - 29/32 - P) for t from 4.5 on.
EX_INLINE Vec<float> gelu_far(Vec<float> x) {
  using F = Format<float>;
  Vec<float> half = x * 0.5f;
  Vec<float> square = half * x;
  Vec<float> shifted = fma(square + 0.94f, -F::log2_e, kRoundToBiased);
  Vec<float> n = shifted - kRoundToBiased;
  Vec<float> low = fma(n, F::ln2_low, fma(half, x, -square));
  Vec<float> rest = low + horner(1.0f / square, kGeluFarFloat);
  Vec<float> base = fma(n, -F::ln2_high, -square) - 29.0f / 32;
  NormalTail parts = normal_tail_of(power_of_biased(shifted), base, rest);
  Vec<float> result = -fma(parts.power, parts.tail(), parts.power);
  // The power of two is a normal number down to here.
  return with_far_lanes(result, x, less(x, -13.0f),
                        [](Vec<double> v) EX_LAMBDA { return gelu_formula<Mixed>(v); });
}
// gelu(x) = max(-0, x) - t Phi(-t), t = |x|, of which a table has the value, the slope and a
// polynomial for what is left at 32 nodes. The slopes are exact: only the last sum and the one
// before it round. Looking up takes none of the units' time that multiply.
EX_INLINE Vec<float> gelu_by_table(Vec<float> x) {
  constexpr int value = 1, value_low = 2, slope = 3, first = 4, last = 8;  // rows
  Vec<float> t = magnitude_up_to(x, 5.9f);
  Vec<float> shifted = fma(t, 16.0f / 3, Format<float>::round_to_integer);
  const auto row = [places = bit_cast<int32_t>(shifted).raw](int number) EX_LAMBDA {
    return Vec<float>(native::look_up(kGeluTable + 32 * number, places));
  };
  Vec<float> d = t - row(0), curve = row(last);
  for (int number = last - 1; number >= first; --number) curve = fma(curve, d, row(number));
  Vec<float> left = row(value) + fma(d, row(slope), fma(d * d, curve, row(value_low)));
  return max(Vec<float>(-0.0f), x) - left;  // in this order a NaN and the signs of 0 stay
}
// Without such tables: x Phi(x) = x power (1 + 2 tail) on the left, x (1 - power) - 2 x tail power
// on the right, where Phi(-t) = power exp(2 r) and r + r_low = n ln 2 / 2 less half a parabola and
// less what is left. The parabola of the upper bits of t is exact, as is its sum with n ln 2:
// kGeluHalfFloat takes up the error of a ln 2 of one word. 2 power t is formed in the exponent:
// where t may be 0, n is.
EX_INLINE Vec<float> gelu_by_parabola(Vec<float> x) {
  using F = Format<float>;
  constexpr float bend = -7.0f / 32, slope = -343.0f / 1024, center = 0x1.0087c2p1f;
  constexpr float cut = 0x1.8p15f;  // added and taken away, it leaves eight bits behind the point
  constexpr int32_t end = std::bit_cast<int32_t>(5.6f), half = std::bit_cast<int32_t>(0.5f);
  Vec<int32_t> bits = min(bit_cast<int32_t>(abs(x)), Vec<int32_t>(end));
  Vec<float> t = bit_cast<float>(bits), s = t - center;
  Vec<float> upper = (t + cut) - cut;
  Vec<float> parabola = upper * fma(upper, bend, slope);
  Vec<float> parabola_low = (t - upper) * fma(t + upper, bend, slope);
  Vec<float> shifted = fma(parabola, 2 * F::log2_e, F::round_to_integer);
  Vec<float> base = fma(shifted - F::round_to_integer, -0x1.62e43p-2f, parabola);
  Vec<float> rest = fma(s, in_blocks<4>(s, kGeluHalfFloat), parabola_low);
  Vec<float> r = base + rest, r_low = (base - r) + rest;
  Vec<float> curve = fma(r * r, in_blocks<2>(r, kExpHalfFloat), fma(r, r_low + r_low, r_low));
  Vec<int32_t> exponent = bit_cast<int32_t>(shifted) << F::mantissa_bits;
  Vec<float> part = bit_cast<float>(bits + exponent), power = bit_cast<float>(exponent + half);
  Vec<float> factor = xor_sign(0.5f - power, x) + 0.5f;
  // -0 stays: r at 0 is not below 0.
  return fma(x, factor, -fma(part, r, part * curve));
}
EX_INLINE Vec<float> gelu(Vec<float> x) {
  if constexpr (!native::kHasFma) {
    return through_double(x, [](Vec<double> v) EX_LAMBDA { return gelu_formula<Mixed>(v); });
  }
  Vec<float> result = native::kHasTables ? gelu_by_table(x) : gelu_by_parabola(x);
  return with_far_lanes(result, x, less(x, kNormalTailEnd),
                        [](Vec<float> v) EX_LAMBDA { return gelu_far(v); });
}

// exp(-t^2/2) (1/2 - t L) on the left, with L a polynomial in (t - 3) / (t + 3), one less that on
// the right: no digit is better than those of the 1/2.
EX_INLINE Vec<float> gelu_derivative(Vec<float> x) {
  auto wide = [](Vec<double> v) EX_LAMBDA { return gelu_derivative_formula<Mixed>(v); };
  if constexpr (!native::kHasFma) return through_double(x, wide);
  constexpr float end = 13.0f;
  Vec<float> t = magnitude_up_to(x, end);
  Vec<float> u = (t - 3.0f) / (t + 3.0f);
  Vec<float> bracket = fma(-t, in_blocks<4>(u, kGeluBendFloat), 0.5f);
  Vec<float> half = t * -0.5f;
  Vec<float> exponent = half * t;
  ReducedExp<float> reduced = reduce_exp(exponent, fma(half, t, -exponent));
  Vec<float> part = bracket * power_of_two(reduced.shifted);
  Vec<float> left = fma(part, reduced.tail, part);
  return with_far_lanes(select(x < 0.0f, left, 1.0f - left), x, less(x, -end), wide);
}

// x + x P(x^2) below 0.92, 1 - exp(P(x)) above with 1 - exp formed as (1 - 2^n) - 2^n tail.
EX_INLINE Vec<float> erf(Vec<float> x) {
  Vec<float> magnitude = magnitude_up_to(x, 4.0f);
  ReducedExp<float> reduced = reduce_exp_roughly(in_blocks<3, 3>(magnitude, kLogErfcFloat));
  Vec<float> power = power_of_two(reduced.shifted);
  Vec<float> large = fma(-power, reduced.tail, 1.0f - power);
  Vec<float> small = fma(magnitude, horner(magnitude * magnitude, kErfFloat), magnitude);
  return add_sign(select(magnitude < 0.92f, small, large), x);
}
EX_INLINE Vec<double> erf(Vec<double> x) {
  Vec<double> magnitude = magnitude_up_to(x, 6.5);
  Vec<double> small = fma(magnitude, polynomial(x * x, kErfDouble), magnitude);
  Vec<double> large = 1.0 - erfc_formula<Full>(magnitude);
  return copysign(select(magnitude < 1.0, small, large), x);
}

}  // namespace extensor::EX_ISA

#pragma GCC diagnostic pop
