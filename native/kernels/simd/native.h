// What GCC's vector extensions lack (fma, sqrt, rounding, widening, a mask test), as overloads on
// raw registers: intrinsics for the widths the target has, half by half for wider vectors, plain
// loops elsewhere.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#ifndef EX_ISA
#if defined(__AVX512F__)
#define EX_ISA v4
#elif defined(__AVX2__)
#define EX_ISA v3
#elif defined(__SSE4_2__)
#define EX_ISA v2
#else
#define EX_ISA baseline
#endif
#endif

#ifndef EX_VECTOR_BYTES
#if defined(__AVX512F__)
#define EX_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define EX_VECTOR_BYTES 32
#else
#define EX_VECTOR_BYTES 16
#endif
#endif

#define EX_INLINE inline __attribute__((always_inline))
#define EX_LAMBDA __attribute__((always_inline))

// Vectors wider than the registers of the target are passed by always-inlined functions only, so
// their calling convention never matters.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace extensor::EX_ISA {

inline constexpr int kVectorBytes = EX_VECTOR_BYTES;

template <typename T, int kBytes>
  requires(!__is_enum(T))  // Clang has no vectors of them
struct RawVector {
  typedef T type __attribute__((vector_size(kBytes)));
};
template <typename T, int kBytes>
using Raw = typename RawVector<T, kBytes>::type;

template <typename T>
using SignedOf =
    std::conditional_t<sizeof(T) == 8, int64_t,
                       std::conditional_t<sizeof(T) == 4, int32_t,
                                          std::conditional_t<sizeof(T) == 2, int16_t, int8_t>>>;

namespace native {

template <typename R, size_t... I>
EX_INLINE auto take(R value, size_t first, std::index_sequence<I...>) {
  return first == 0 ? __builtin_shufflevector(value, value, static_cast<int>(I)...)
                    : __builtin_shufflevector(value, value, static_cast<int>(I + sizeof...(I))...);
}
template <typename R>
using LaneOf = std::remove_cvref_t<decltype(std::declval<R>()[0])>;
template <typename R>
inline constexpr size_t kLanes = sizeof(R) / sizeof(LaneOf<R>);

template <typename R>
EX_INLINE auto low_half(R value) {
  return take(value, 0, std::make_index_sequence<kLanes<R> / 2>{});
}
template <typename R>
EX_INLINE auto high_half(R value) {
  return take(value, 1, std::make_index_sequence<kLanes<R> / 2>{});
}
template <typename R, size_t... I>
EX_INLINE auto join_lanes(R low, R high, std::index_sequence<I...>) {
  return __builtin_shufflevector(low, high, static_cast<int>(I)...);
}
template <typename R>
EX_INLINE auto join(R low, R high) {
  return join_lanes(low, high, std::make_index_sequence<2 * kLanes<R>>{});
}

using Float16Bytes = Raw<float, 16>;
using Double16Bytes = Raw<double, 16>;
using Float32Bytes = Raw<float, 32>;
using Double32Bytes = Raw<double, 32>;
using Float64Bytes = Raw<float, 64>;
using Double64Bytes = Raw<double, 64>;

// Declares `name` for each register width the target has; wider vectors go half by half.
#if defined(__SSE4_1__)
#define EX_UNARY_16(name, ps, pd)                                          \
  EX_INLINE Float16Bytes name(Float16Bytes x) { return (Float16Bytes)ps; } \
  EX_INLINE Double16Bytes name(Double16Bytes x) { return (Double16Bytes)pd; }
EX_UNARY_16(sqrt, _mm_sqrt_ps(x), _mm_sqrt_pd(x))
EX_UNARY_16(rint, _mm_round_ps(x, _MM_FROUND_CUR_DIRECTION),
            _mm_round_pd(x, _MM_FROUND_CUR_DIRECTION))
EX_UNARY_16(floor, _mm_floor_ps(x), _mm_floor_pd(x))
EX_UNARY_16(ceil, _mm_ceil_ps(x), _mm_ceil_pd(x))
EX_UNARY_16(trunc, _mm_round_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC),
            _mm_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC))
#undef EX_UNARY_16
#else
#define EX_UNARY_16(name)                                         \
  EX_INLINE Float16Bytes name(Float16Bytes x) {                   \
    for (int i = 0; i < 4; ++i) x[i] = __builtin_##name##f(x[i]); \
    return x;                                                     \
  }                                                               \
  EX_INLINE Double16Bytes name(Double16Bytes x) {                 \
    for (int i = 0; i < 2; ++i) x[i] = __builtin_##name(x[i]);    \
    return x;                                                     \
  }
EX_UNARY_16(sqrt)
EX_UNARY_16(rint)
EX_UNARY_16(floor)
EX_UNARY_16(ceil)
EX_UNARY_16(trunc)
#undef EX_UNARY_16
#endif

#if defined(__AVX__)
#define EX_UNARY_32(name, ps, pd)                                          \
  EX_INLINE Float32Bytes name(Float32Bytes x) { return (Float32Bytes)ps; } \
  EX_INLINE Double32Bytes name(Double32Bytes x) { return (Double32Bytes)pd; }
EX_UNARY_32(sqrt, _mm256_sqrt_ps(x), _mm256_sqrt_pd(x))
EX_UNARY_32(rint, _mm256_round_ps(x, _MM_FROUND_CUR_DIRECTION),
            _mm256_round_pd(x, _MM_FROUND_CUR_DIRECTION))
EX_UNARY_32(floor, _mm256_floor_ps(x), _mm256_floor_pd(x))
EX_UNARY_32(ceil, _mm256_ceil_ps(x), _mm256_ceil_pd(x))
EX_UNARY_32(trunc, _mm256_round_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC),
            _mm256_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC))
#undef EX_UNARY_32
#endif

#if defined(__AVX512F__)
#define EX_UNARY_64(name, ps, pd)                                          \
  EX_INLINE Float64Bytes name(Float64Bytes x) { return (Float64Bytes)ps; } \
  EX_INLINE Double64Bytes name(Double64Bytes x) { return (Double64Bytes)pd; }
EX_UNARY_64(sqrt, _mm512_maskz_sqrt_ps(0xffff, x), _mm512_maskz_sqrt_pd(0xff, x))
// The masked forms: the plain ones read an undefined register, which -Wall reports in GCC 12.
EX_UNARY_64(rint, _mm512_maskz_roundscale_ps(0xffff, x, _MM_FROUND_CUR_DIRECTION),
            _mm512_maskz_roundscale_pd(0xff, x, _MM_FROUND_CUR_DIRECTION))
EX_UNARY_64(floor, _mm512_maskz_roundscale_ps(0xffff, x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC),
            _mm512_maskz_roundscale_pd(0xff, x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC))
EX_UNARY_64(ceil, _mm512_maskz_roundscale_ps(0xffff, x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC),
            _mm512_maskz_roundscale_pd(0xff, x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC))
EX_UNARY_64(trunc, _mm512_maskz_roundscale_ps(0xffff, x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC),
            _mm512_maskz_roundscale_pd(0xff, x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC))
#undef EX_UNARY_64
#endif

#define EX_UNARY_WIDE(name)                             \
  template <typename R>                                 \
  EX_INLINE R name(R x) {                               \
    return join(name(low_half(x)), name(high_half(x))); \
  }
EX_UNARY_WIDE(sqrt)
EX_UNARY_WIDE(rint)
EX_UNARY_WIDE(floor)
EX_UNARY_WIDE(ceil)
EX_UNARY_WIDE(trunc)
#undef EX_UNARY_WIDE

#if defined(__FMA__) || defined(__aarch64__)
#define EX_FUSED(R, call) \
  EX_INLINE R fma(R a, R b, R c) { return (R)call; }
#if defined(__aarch64__)
EX_FUSED(Float16Bytes, vfmaq_f32(c, a, b))
EX_FUSED(Double16Bytes, vfmaq_f64(c, a, b))
#else
EX_FUSED(Float16Bytes, _mm_fmadd_ps(a, b, c))
EX_FUSED(Double16Bytes, _mm_fmadd_pd(a, b, c))
EX_FUSED(Float32Bytes, _mm256_fmadd_ps(a, b, c))
EX_FUSED(Double32Bytes, _mm256_fmadd_pd(a, b, c))
#endif
#if defined(__AVX512F__)
EX_FUSED(Float64Bytes, _mm512_fmadd_ps(a, b, c))
EX_FUSED(Double64Bytes, _mm512_fmadd_pd(a, b, c))
#endif
#undef EX_FUSED
inline constexpr bool kHasFma = true;
template <typename R>
EX_INLINE R fma(R a, R b, R c) {
  return join(fma(low_half(a), low_half(b), low_half(c)),
              fma(high_half(a), high_half(b), high_half(c)));
}
#else
inline constexpr bool kHasFma = false;
template <typename R>
EX_INLINE R fma(R a, R b, R c) {
  return a * b + c;
}
#endif

// a < b ? a : b and a > b ? a : b, written out because GCC 12 makes two instructions of the
// condition when an operand is constant.
#if defined(__SSE2__)
#define EX_MIN_MAX(R, minimum, maximum)                  \
  EX_INLINE R min(R a, R b) { return (R)minimum(a, b); } \
  EX_INLINE R max(R a, R b) { return (R)maximum(a, b); }
EX_MIN_MAX(Float16Bytes, _mm_min_ps, _mm_max_ps)
EX_MIN_MAX(Double16Bytes, _mm_min_pd, _mm_max_pd)
#if defined(__AVX__)
EX_MIN_MAX(Float32Bytes, _mm256_min_ps, _mm256_max_ps)
EX_MIN_MAX(Double32Bytes, _mm256_min_pd, _mm256_max_pd)
#endif
#if defined(__AVX512F__)
#define EX_ALL_LANES(call, mask) [](auto a, auto b) EX_LAMBDA { return call(mask, a, b); }
EX_MIN_MAX(Float64Bytes, EX_ALL_LANES(_mm512_maskz_min_ps, 0xffff),
           EX_ALL_LANES(_mm512_maskz_max_ps, 0xffff))
EX_MIN_MAX(Double64Bytes, EX_ALL_LANES(_mm512_maskz_min_pd, 0xff),
           EX_ALL_LANES(_mm512_maskz_max_pd, 0xff))
#undef EX_ALL_LANES
#endif
#undef EX_MIN_MAX
#endif
template <typename R>
EX_INLINE R min(R a, R b) {
  if constexpr (sizeof(R) > 32 && !std::is_integral_v<LaneOf<R>>) {
    return join(min(low_half(a), low_half(b)), min(high_half(a), high_half(b)));
  } else {
    return a < b ? a : b;
  }
}
template <typename R>
EX_INLINE R max(R a, R b) {
  if constexpr (sizeof(R) > 32 && !std::is_integral_v<LaneOf<R>>) {
    return join(max(low_half(a), low_half(b)), max(high_half(a), high_half(b)));
  } else {
    return a > b ? a : b;
  }
}

// float lanes to as many double lanes and back; GCC 12 converts 256 bits in 128-bit steps unaided.
template <typename R>
EX_INLINE auto widen(R x) {
  return __builtin_convertvector(x, Raw<double, 2 * sizeof(R)>);
}
template <typename R>
EX_INLINE auto narrow(R x) {
  return __builtin_convertvector(x, Raw<float, sizeof(R) / 2>);
}
#if defined(__AVX__)
EX_INLINE Double32Bytes widen(Float16Bytes x) { return (Double32Bytes)_mm256_cvtps_pd(x); }
EX_INLINE Float16Bytes narrow(Double32Bytes x) { return (Float16Bytes)_mm256_cvtpd_ps(x); }
#if !defined(__AVX512F__)
EX_INLINE Double64Bytes widen(Float32Bytes x) {
  return join(widen(low_half(x)), widen(high_half(x)));
}
EX_INLINE Float32Bytes narrow(Double64Bytes x) {
  return join(narrow(low_half(x)), narrow(high_half(x)));
}
#endif
#endif

// The lanes of memory whose mask is set, 0 in the others, whose memory is not touched.
#if defined(__AVX512DQ__)
EX_INLINE Float64Bytes load_lanes(const float* source, Raw<int32_t, 64> mask) {
  return (Float64Bytes)_mm512_maskz_loadu_ps(_mm512_movepi32_mask((__m512i)mask), source);
}
EX_INLINE Double64Bytes load_lanes(const double* source, Raw<int64_t, 64> mask) {
  return (Double64Bytes)_mm512_maskz_loadu_pd(_mm512_movepi64_mask((__m512i)mask), source);
}
#endif
#if defined(__AVX2__)
EX_INLINE Float32Bytes load_lanes(const float* source, Raw<int32_t, 32> mask) {
  return (Float32Bytes)_mm256_maskload_ps(source, (__m256i)mask);
}
EX_INLINE Double32Bytes load_lanes(const double* source, Raw<int64_t, 32> mask) {
  return (Double32Bytes)_mm256_maskload_pd(source, (__m256i)mask);
}
#endif
template <typename T, typename M>
EX_INLINE auto load_lanes(const T* source, M mask) {
  Raw<T, sizeof(M)> result;
  for (size_t i = 0; i < kLanes<M>; ++i) result[i] = mask[i] ? source[i] : T(0);
  return result;
}

// Lanes from a table of 32, by the low five bits of each: where two registers can be one table,
// that is one instruction.
#if defined(__AVX512F__)
inline constexpr bool kHasTables = kVectorBytes == 64;
EX_INLINE Float64Bytes look_up(const float* table, Raw<int32_t, 64> places) {
  return (Float64Bytes)_mm512_permutex2var_ps(_mm512_load_ps(table), (__m512i)places,
                                              _mm512_load_ps(table + 16));
}
#else
inline constexpr bool kHasTables = false;
#endif
template <typename R>
EX_INLINE auto look_up(const float* table, R places) {
  Raw<float, sizeof(R)> result;
  for (size_t i = 0; i < kLanes<R>; ++i) result[i] = table[places[i] & 31];
  return result;
}

// True if a lane of a mask is set. Taking the sign bits is cheaper than vptest.
#if defined(__SSE4_1__)
EX_INLINE bool any_bit(Raw<int64_t, 16> x) { return !_mm_testz_si128((__m128i)x, (__m128i)x); }
#else
EX_INLINE bool any_bit(Raw<int64_t, 16> x) { return (x[0] | x[1]) != 0; }
#endif
#if defined(__AVX__)
EX_INLINE bool any_bit(Raw<int64_t, 32> x) { return _mm256_movemask_epi8((__m256i)x) != 0; }
#endif
#if defined(__AVX512F__)
EX_INLINE bool any_bit(Raw<int64_t, 64> x) {
  return _mm512_test_epi64_mask((__m512i)x, (__m512i)x) != 0;
}
#endif
template <typename R>
EX_INLINE bool any_bit(R x) {
  return any_bit(low_half(x) | high_half(x));
}

// True if a lane of a is below that of b: where comparisons fill mask registers, without a vector
// of their results.
#if defined(__AVX512F__)
EX_INLINE bool any_less(Float64Bytes a, Float64Bytes b) {
  return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ) != 0;
}
EX_INLINE bool any_less(Raw<int32_t, 64> a, Raw<int32_t, 64> b) {
  return _mm512_cmp_epi32_mask((__m512i)a, (__m512i)b, _MM_CMPINT_LT) != 0;
}
#endif
template <typename R>
EX_INLINE bool any_less(R a, R b) {
  return any_bit((Raw<int64_t, sizeof(R)>)(a < b));
}

}  // namespace native

}  // namespace extensor::EX_ISA

#pragma GCC diagnostic pop
