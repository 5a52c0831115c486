// Vec<T>: one hardware register of T, with arithmetic, comparisons and conversions.
//
// Every kernel source is compiled once per instruction set with EX_ISA naming the namespace, so
// that no inline function of one build can be picked by the linker for another. GCC's vector
// extensions carry almost everything; the few intrinsics are in simd_native.h and simd_half.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "native.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace extensor::EX_ISA {

// All bits of a lane set where true, none where false.
template <typename T>
struct Mask {
  using RawType = Raw<SignedOf<T>, kVectorBytes>;
  RawType raw;

  friend EX_INLINE Mask operator&(Mask a, Mask b) { return {a.raw & b.raw}; }
  friend EX_INLINE Mask operator|(Mask a, Mask b) { return {a.raw | b.raw}; }
  friend EX_INLINE Mask operator^(Mask a, Mask b) { return {a.raw ^ b.raw}; }
  friend EX_INLINE Mask operator~(Mask a) { return {~a.raw}; }
  EX_INLINE bool operator[](int lane) const { return raw[lane] != 0; }
};

template <typename T>
EX_INLINE bool any(Mask<T> mask) {
  return native::any_bit((Raw<int64_t, kVectorBytes>)mask.raw);
}
template <typename T>
EX_INLINE bool all(Mask<T> mask) {
  return !any(~mask);
}

template <typename T>
struct Vec {
  using Element = T;
  using RawType = Raw<T, kVectorBytes>;
  static constexpr int size = kVectorBytes / static_cast<int>(sizeof(T));

  RawType raw;

  Vec() = default;
  EX_INLINE explicit Vec(RawType value) : raw(value) {}
  // `value - 0` rather than `value + 0`: the latter would turn -0.0 into 0.0.
  EX_INLINE Vec(T value) : raw(value - RawType{}) {}

  static EX_INLINE Vec load(const T* source) {
    Vec result;
    std::memcpy(&result.raw, source, sizeof(RawType));
    return result;
  }
  // Reads `count` (0..size) elements, the remaining lanes hold `fill`.
  static EX_INLINE Vec load_partial(const T* source, ptrdiff_t count, T fill = T(0)) {
    using Places = Vec<SignedOf<T>>;
    const auto read = Places::iota().raw < static_cast<SignedOf<T>>(count);
    return Vec(read ? native::load_lanes(source, read) : Vec(fill).raw);
  }
  EX_INLINE void store(T* target) const { std::memcpy(target, &raw, sizeof(RawType)); }
  EX_INLINE void store_partial(T* target, ptrdiff_t count) const {
    alignas(kVectorBytes) T lanes[size];
    store(lanes);
    // By halving moves of fixed size: masked stores are microcoded on Zen.
    ptrdiff_t done = 0;
#pragma GCC unroll 6
    for (int part = size; part > 0; part /= 2) {
      if (count & part) {
        std::memcpy(target + done, lanes + done, part * sizeof(T));
        done += part;
      }
    }
  }
  // first, first + 1, first + 2, ...
  static EX_INLINE Vec iota(T first = T(0)) {
    Vec result;
    for (int i = 0; i < size; ++i) result.raw[i] = first + static_cast<T>(i);
    return result;
  }
  EX_INLINE T operator[](int lane) const { return raw[lane]; }

  friend EX_INLINE Vec operator+(Vec a, Vec b) { return Vec(a.raw + b.raw); }
  friend EX_INLINE Vec operator-(Vec a, Vec b) { return Vec(a.raw - b.raw); }
  friend EX_INLINE Vec operator*(Vec a, Vec b) { return Vec(a.raw * b.raw); }
  friend EX_INLINE Vec operator/(Vec a, Vec b) { return Vec(a.raw / b.raw); }
  friend EX_INLINE Vec operator-(Vec a) { return Vec(-a.raw); }
  EX_INLINE Vec& operator+=(Vec b) { return *this = *this + b; }
  EX_INLINE Vec& operator-=(Vec b) { return *this = *this - b; }
  EX_INLINE Vec& operator*=(Vec b) { return *this = *this * b; }
  EX_INLINE Vec& operator/=(Vec b) { return *this = *this / b; }

  friend EX_INLINE Mask<T> operator<(Vec a, Vec b) { return as_mask(a.raw < b.raw); }
  friend EX_INLINE Mask<T> operator<=(Vec a, Vec b) { return as_mask(a.raw <= b.raw); }
  friend EX_INLINE Mask<T> operator>(Vec a, Vec b) { return as_mask(a.raw > b.raw); }
  friend EX_INLINE Mask<T> operator>=(Vec a, Vec b) { return as_mask(a.raw >= b.raw); }
  friend EX_INLINE Mask<T> operator==(Vec a, Vec b) { return as_mask(a.raw == b.raw); }
  friend EX_INLINE Mask<T> operator!=(Vec a, Vec b) { return as_mask(a.raw != b.raw); }

  // Integer lanes only.
  friend EX_INLINE Vec operator&(Vec a, Vec b) { return Vec(a.raw & b.raw); }
  friend EX_INLINE Vec operator|(Vec a, Vec b) { return Vec(a.raw | b.raw); }
  friend EX_INLINE Vec operator^(Vec a, Vec b) { return Vec(a.raw ^ b.raw); }
  friend EX_INLINE Vec operator~(Vec a) { return Vec(~a.raw); }
  friend EX_INLINE Vec operator<<(Vec a, int bits) { return Vec(a.raw << bits); }
  // Arithmetic for signed lanes, logical for unsigned ones.
  friend EX_INLINE Vec operator>>(Vec a, int bits) { return Vec(a.raw >> bits); }

 private:
  template <typename R>
  static EX_INLINE Mask<T> as_mask(R raw) {
    return {(typename Mask<T>::RawType)raw};
  }
};

template <typename T>
EX_INLINE Vec<T> broadcast(T value) {
  return Vec<T>(value);
}

template <typename T>
EX_INLINE Vec<T> select(Mask<T> mask, Vec<T> if_true, Vec<T> if_false) {
  return Vec<T>(mask.raw ? if_true.raw : if_false.raw);
}
template <typename T>
EX_INLINE Vec<T> select(Mask<T> mask, std::type_identity_t<T> if_true, Vec<T> if_false) {
  return select(mask, Vec<T>(if_true), if_false);
}
template <typename T>
EX_INLINE Vec<T> select(Mask<T> mask, Vec<T> if_true, std::type_identity_t<T> if_false) {
  return select(mask, if_true, Vec<T>(if_false));
}

// a < b, for a branch that is rarely taken: the mask itself is only formed behind it.
template <typename T>
struct Less {
  Vec<T> a, b;
  EX_INLINE bool any() const { return native::any_less(a.raw, b.raw); }
  EX_INLINE Mask<T> mask() const { return a < b; }
};
template <typename T>
EX_INLINE Less<T> less(Vec<T> a, std::type_identity_t<T> b) {
  return {a, Vec<T>(b)};
}
template <typename T>
EX_INLINE Less<T> less(std::type_identity_t<T> a, Vec<T> b) {
  return {Vec<T>(a), b};
}

// The lanes' bits as another type of the same size.
template <typename To, typename From>
EX_INLINE Vec<To> bit_cast(Vec<From> x) {
  static_assert(sizeof(To) == sizeof(From));
  return Vec<To>((Raw<To, kVectorBytes>)x.raw);
}
// The mask of another lane type of the same size.
template <typename To, typename From>
EX_INLINE Mask<To> mask_cast(Mask<From> x) {
  static_assert(sizeof(To) == sizeof(From));
  return {(typename Mask<To>::RawType)x.raw};
}
// Value conversion between lanes of the same size; float to integer truncates and is undefined
// out of range.
template <typename To, typename From>
EX_INLINE Vec<To> convert(Vec<From> x) {
  static_assert(sizeof(To) == sizeof(From));
  return Vec<To>(__builtin_convertvector(x.raw, typename Vec<To>::RawType));
}

// Real fused multiply-add where the instruction set has one, a * b + c with two roundings
// elsewhere.
template <typename T>
EX_INLINE Vec<T> fma(Vec<T> a, std::type_identity_t<Vec<T>> b, std::type_identity_t<Vec<T>> c) {
  return Vec<T>(native::fma(a.raw, b.raw, c.raw));
}
template <typename T>
EX_INLINE Vec<T> sqrt(Vec<T> x) {
  return Vec<T>(native::sqrt(x.raw));
}
// To nearest, ties to even.
template <typename T>
EX_INLINE Vec<T> rint(Vec<T> x) {
  return Vec<T>(native::rint(x.raw));
}
template <typename T>
EX_INLINE Vec<T> floor(Vec<T> x) {
  return Vec<T>(native::floor(x.raw));
}
template <typename T>
EX_INLINE Vec<T> ceil(Vec<T> x) {
  return Vec<T>(native::ceil(x.raw));
}
template <typename T>
EX_INLINE Vec<T> trunc(Vec<T> x) {
  return Vec<T>(native::trunc(x.raw));
}

template <typename T>
EX_INLINE Mask<T> isnan(Vec<T> x) {
  return x != x;
}

// One instruction each; the second operand comes back if either is NaN or both are zeros.
template <typename T>
EX_INLINE Vec<T> min(Vec<T> a, std::type_identity_t<Vec<T>> b) {
  return Vec<T>(native::min(a.raw, b.raw));
}
template <typename T>
EX_INLINE Vec<T> max(Vec<T> a, std::type_identity_t<Vec<T>> b) {
  return Vec<T>(native::max(a.raw, b.raw));
}
// NaN if either operand is NaN, as numpy.minimum and numpy.maximum.
template <typename T>
EX_INLINE Vec<T> minimum(Vec<T> a, std::type_identity_t<Vec<T>> b) {
  if constexpr (std::is_integral_v<T>) {
    return min(a, b);
  } else {
    return select(isnan(a), a, min(a, b));
  }
}
template <typename T>
EX_INLINE Vec<T> maximum(Vec<T> a, std::type_identity_t<Vec<T>> b) {
  if constexpr (std::is_integral_v<T>) {
    return max(a, b);
  } else {
    return select(isnan(a), a, max(a, b));
  }
}

template <typename T>
inline constexpr SignedOf<T> kSignBit =
    static_cast<SignedOf<T>>(SignedOf<T>(1) << (8 * sizeof(T) - 1));

template <typename T>
EX_INLINE Vec<T> sign_bit(Vec<T> x) {
  using Bits = SignedOf<T>;
  return bit_cast<T>(bit_cast<Bits>(x) & Vec<Bits>(kSignBit<T>));
}
// Flips the sign of `x` where `sign` has its sign bit set.
template <typename T>
EX_INLINE Vec<T> xor_sign(Vec<T> x, Vec<T> sign) {
  using Bits = SignedOf<T>;
  return bit_cast<T>(bit_cast<Bits>(x) ^ bit_cast<Bits>(sign_bit(sign)));
}
template <typename T>
EX_INLINE Vec<T> abs(Vec<T> x) {
  if constexpr (std::is_integral_v<T>) {
    return select(x < Vec<T>(T(0)), -x, x);
  } else {
    using Bits = SignedOf<T>;
    return bit_cast<T>(bit_cast<Bits>(x) & Vec<Bits>(~kSignBit<T>));
  }
}
template <typename T>
EX_INLINE Vec<T> copysign(Vec<T> magnitude, Vec<T> sign) {
  using Bits = SignedOf<T>;
  return bit_cast<T>(bit_cast<Bits>(abs(magnitude)) | bit_cast<Bits>(sign_bit(sign)));
}
// copysign for a magnitude known to be positive.
template <typename T>
EX_INLINE Vec<T> add_sign(Vec<T> magnitude, Vec<T> sign) {
  using Bits = SignedOf<T>;
  return bit_cast<T>(bit_cast<Bits>(magnitude) | bit_cast<Bits>(sign_bit(sign)));
}
template <typename T>
EX_INLINE Mask<T> signbit(Vec<T> x) {
  using Bits = SignedOf<T>;
  return mask_cast<T>(bit_cast<Bits>(x) < Vec<Bits>(Bits(0)));
}

// Horizontal reductions fold the upper half onto the lower one until one lane is left: the order is
// fixed by the vector width alone.
template <typename R, typename Combine>
EX_INLINE auto fold_lanes(R x, Combine combine) {
  if constexpr (native::kLanes<R> == 2) {
    return combine(x[0], x[1]);
  } else if constexpr (sizeof(R) > 16) {
    return fold_lanes(combine(native::low_half(x), native::high_half(x)), combine);
  } else {
    std::array<std::remove_cvref_t<decltype(x[0])>, native::kLanes<R>> lanes;
    std::memcpy(lanes.data(), &x, sizeof(R));
    for (size_t width = lanes.size() / 2; width > 0; width /= 2) {
      for (size_t i = 0; i < width; ++i) lanes[i] = combine(lanes[i], lanes[i + width]);
    }
    return lanes[0];
  }
}
template <typename T>
EX_INLINE T horizontal_sum(Vec<T> x) {
  return fold_lanes(x.raw, [](auto a, auto b) { return a + b; });
}
template <typename T>
EX_INLINE T horizontal_product(Vec<T> x) {
  return fold_lanes(x.raw, [](auto a, auto b) { return a * b; });
}
// NaN if any lane is NaN.
template <typename T>
EX_INLINE T horizontal_max(Vec<T> x) {
  return fold_lanes(x.raw, [](auto a, auto b) { return ((a > b) | (a != a)) ? a : b; });
}
template <typename T>
EX_INLINE T horizontal_min(Vec<T> x) {
  return fold_lanes(x.raw, [](auto a, auto b) { return ((a < b) | (a != a)) ? a : b; });
}

// A float vector widened to double: the lower lanes, then the upper ones.
struct DoublePair {
  Vec<double> low, high;
};
EX_INLINE DoublePair to_double(Vec<float> x) {
  return {Vec<double>(native::widen(native::low_half(x.raw))),
          Vec<double>(native::widen(native::high_half(x.raw)))};
}
EX_INLINE Vec<float> to_float(DoublePair x) {
  return Vec<float>(native::join(native::narrow(x.low.raw), native::narrow(x.high.raw)));
}
// Applies a function of Vec<double> to float lanes.
template <typename Function>
EX_INLINE Vec<float> through_double(Vec<float> x, Function function) {
  DoublePair wide = to_double(x);
  return to_float({function(wide.low), function(wide.high)});
}
template <typename Function>
EX_INLINE Vec<float> through_double(Vec<float> a, Vec<float> b, Function function) {
  DoublePair wide_a = to_double(a), wide_b = to_double(b);
  return to_float({function(wide_a.low, wide_b.low), function(wide_a.high, wide_b.high)});
}

// a * b + c with (almost) one rounding on every instruction set. Without an fma instruction float
// goes through double, where the product is exact, and double through Dekker's product, which holds
// while a * b neither overflows nor has a subnormal low part.
EX_INLINE Vec<float> exact_fma(Vec<float> a, Vec<float> b, Vec<float> c) {
  if constexpr (native::kHasFma) {
    return fma(a, b, c);
  } else {
    DoublePair wide_a = to_double(a), wide_b = to_double(b), wide_c = to_double(c);
    return to_float(
        {wide_a.low * wide_b.low + wide_c.low, wide_a.high * wide_b.high + wide_c.high});
  }
}
EX_INLINE Vec<double> exact_fma(Vec<double> a, Vec<double> b, Vec<double> c) {
  if constexpr (native::kHasFma) {
    return fma(a, b, c);
  } else {
    // The upper 26 bits of a factor, so that all partial products are exact.
    auto upper = [](Vec<double> x) {
      return bit_cast<double>(bit_cast<int64_t>(x) & Vec<int64_t>(int64_t{-1} << 27));
    };
    Vec<double> a_high = upper(a), a_low = a - a_high, b_high = upper(b), b_low = b - b_high;
    Vec<double> product = a * b;
    Vec<double> error =
        ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    Vec<double> sum = product + c;
    Vec<double> shift = sum - product;
    Vec<double> sum_error = (product - (sum - shift)) + (c - shift);
    return sum + (sum_error + error);
  }
}

}  // namespace extensor::EX_ISA

#pragma GCC diagnostic pop

#include "half.h"
