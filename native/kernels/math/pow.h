// pow with the special cases of C's pow.
#pragma once

#include "log.h"
#include "normal.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace extensor::EX_ISA {

struct Pair {
  Vec<double> high, low;
};
// Needs |a| >= |b| or a = 0.
EX_INLINE Pair fast_two_sum(Vec<double> a, Vec<double> b) {
  Vec<double> sum = a + b;
  return {sum, b - (sum - a)};
}
EX_INLINE Pair two_product(Vec<double> a, Vec<double> b) {
  Vec<double> product = a * b;
  return {product, exact_fma(a, b, -product)};
}

// log(x) to about 2^-65 of itself, for x > 0 and normal: y log(x) reaches 745, and every bit lost
// there is lost in the power. 2 atanh(s) = 2 s + s z (2/3 + z R(z)) with s and 2/3 s z as pairs.
EX_INLINE Pair log_pair(SplitNumber<double> split) {
  using F = Format<double>;
  Vec<double> f = split.fraction;
  Pair divisor = fast_two_sum(Vec<double>(2.0), f);
  Vec<double> inverse = 1.0 / divisor.high;
  Vec<double> s = f * inverse;
  Vec<double> s_low = (exact_fma(-s, divisor.high, f) - s * divisor.low) * inverse;
  Pair z = two_product(s, s);
  z.low = fma(s + s, s_low, z.low);
  constexpr double two_thirds = 0x1.5555555555555p-1, two_thirds_low = 0x1.5555555555555p-55;
  Vec<double> rest = fma(z.high, polynomial(z.high, kPowDouble), two_thirds_low);
  Pair bracket = fast_two_sum(Vec<double>(two_thirds), rest);
  Pair cubic = two_product(z.high, bracket.high);
  cubic.low = cubic.low + fma(z.high, bracket.low, z.low * bracket.high);
  Pair product = two_product(s, cubic.high);
  product.low = product.low + fma(s, cubic.low, s_low * cubic.high);
  // e ln 2 + 2 s + product, largest first.
  Vec<double> base = split.exponent * F::ln2_high;
  Pair sum = fast_two_sum(base, s + s);
  Pair total = fast_two_sum(sum.high, product.high);
  // ln2_low's own rounding, 2^-93, is far below.
  Vec<double> low = fma(split.exponent, F::ln2_low, s_low + s_low) + product.low;
  low = (sum.low + total.low) + low;
  return fast_two_sum(total.high, low);
}

// Special values shared by both types: `value` is |x|^y as computed for finite |x| > 0.
template <typename T>
EX_INLINE Vec<T> with_pow_specials(Vec<T> value, Vec<T> x, Vec<T> y) {
  using F = Format<T>;
  Vec<T> magnitude = abs(x);
  Mask<T> integer = rint(y) == y;
  // Above 2^mantissa_bits+1 every number is even, infinity too.
  Mask<T> odd =
      integer & (abs(y) < T(int64_t{2} << F::mantissa_bits)) & (rint(y * T(0.5)) != y * T(0.5));
  Mask<T> grows = (magnitude > T(1)) ^ (y < T(0));
  Mask<T> extreme = (magnitude == T(0)) | (magnitude == F::infinity) | (abs(y) == F::infinity);
  value = select(extreme, select(grows, Vec<T>(F::infinity), T(0)), value);
  value = select((x < T(0)) & ~integer & (magnitude != F::infinity), F::nan, value);
  value = select(odd, xor_sign(value, x), value);
  value = select(isnan(x) | isnan(y), F::nan, value);
  Mask<T> one = (y == T(0)) | (x == T(1)) | ((magnitude == T(1)) & (abs(y) == F::infinity));
  return select(one, T(1), value);
}

EX_INLINE SplitNumber<double> split_magnitude(Vec<double> magnitude) {
  Mask<double> subnormal = magnitude < 0x1p-1022;
  SplitNumber<double> split = split_exponent(select(subnormal, magnitude * 0x1p52, magnitude));
  split.exponent = select(subnormal, split.exponent - 52.0, split.exponent);
  return split;
}

// Within 1 ulp or so: exp of a pair.
EX_INLINE Vec<double> pow(Vec<double> x, Vec<double> y) {
  Pair logarithm = log_pair(split_magnitude(abs(x)));
  // An exponent beyond 2^70 gives 0, 1 or infinity as well as any other; it must not overflow.
  Vec<double> exponent = clamp(y, -0x1p70, 0x1p70);
  Pair product = two_product(exponent, logarithm.high);
  product.low = fma(exponent, logarithm.low, product.low);
  Vec<double> inside = clamp(product.high, -746.0, 710.0);
  product.low = select(inside == product.high, product.low, 0.0);
  ReducedExp<double> reduced = reduce_exp(inside, product.low);
  return with_pow_specials(scale(reduced.tail + 1.0, reduced.shifted), x, y);
}

// In double the plain logarithm is enough: 104 x 2^-52 is far below half a float ulp.
EX_INLINE Vec<float> pow(Vec<float> x, Vec<float> y) {
  Vec<float> value = through_double(abs(x), y, [](Vec<double> a, Vec<double> b) EX_LAMBDA {
    // Floats are never subnormal doubles; zero and infinity are put in afterwards.
    SplitNumber<double> split = split_exponent(a);
    Vec<double> logarithm =
        fma(split.exponent, 0x1.62e42fefa39efp-1, split.fraction + log_tail(split.fraction));
    return Mixed::exp(clamp(b * logarithm, -200.0, 200.0)).value();
  });
  return with_pow_specials(value, x, y);
}

}  // namespace extensor::EX_ISA

#pragma GCC diagnostic pop
