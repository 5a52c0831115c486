// Vectors for products of matrices: raw ones, as packing works on 128-bit lanes and on halves,
// while Vec<T> is always a whole register.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "../simd/native.h"
#include "gemm.h"

namespace extensor::EX_ISA {
namespace {

template <typename T>
using Vector = Raw<T, kVectorBytes>;
template <typename T>
using Quad = Raw<T, 16>;  // one 128-bit lane

template <typename T>
inline constexpr int kLanes = kVectorBytes / sizeof(T);
template <typename T>
inline constexpr int kQuadLanes = 16 / sizeof(T);

template <typename T>
EX_INLINE T minimum(T a, T b) {
  return b < a ? b : a;
}

EX_INLINE int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

EX_INLINE int64_t round_up(int64_t a, int64_t b) { return ceil_divide(a, b) * b; }

template <typename T>
EX_INLINE Vector<T> broadcast(T value) {
  return value - Vector<T>{};
}

EX_INLINE float widen(float value) { return value; }
EX_INLINE double widen(double value) { return value; }
EX_INLINE float widen(BFloat16 value) {
  uint32_t bits = static_cast<uint32_t>(value) << 16;
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

template <typename Wide>
EX_INLINE Wide load_as(const void* source) {
  Wide result;
  memcpy(&result, source, sizeof result);
  return result;
}

template <typename Wide, typename T>
EX_INLINE Wide load_wide(const T* source) {
  return load_as<Wide>(source);
}
template <typename Wide>
EX_INLINE Wide load_wide(const BFloat16* source) {
  constexpr int lanes = sizeof(Wide) / sizeof(float);
  using Narrow = Raw<uint16_t, lanes * 2>;
  using Bits = Raw<uint32_t, lanes * 4>;
  const Narrow narrow = load_as<Narrow>(source);
#if defined(__AVX512F__)
  // GCC converts by halves; the instruction reads memory by itself.
  if constexpr (lanes == 16) {
    const __m512i bits = _mm512_maskz_cvtepu16_epi32(0xffff, reinterpret_cast<__m256i>(narrow));
    return reinterpret_cast<Wide>(reinterpret_cast<Bits>(bits) << 16);
  }
#endif
#if defined(__AVX2__)
  if constexpr (lanes == 8) {
    const __m256i bits = _mm256_cvtepu16_epi32(reinterpret_cast<__m128i>(narrow));
    return reinterpret_cast<Wide>(reinterpret_cast<Bits>(bits) << 16);
  }
#endif
  return reinterpret_cast<Wide>(__builtin_convertvector(narrow, Bits) << 16);
}

template <typename T>
EX_INLINE Vector<T> load(const T* source) {
  return load_as<Vector<T>>(source);
}
EX_INLINE Vector<float> load(const BFloat16* source) { return load_wide<Vector<float>>(source); }

template <typename T>
EX_INLINE void store(T* target, Vector<T> value) {
  memcpy(target, &value, sizeof value);
}

// The first `count` lanes, by halving moves of fixed size: masked stores are microcoded on Zen.
template <typename T>
EX_INLINE void store_first(T* target, Vector<T> value, int64_t count) {
  if (count >= kLanes<T>) return store(target, value);
  T lanes[kLanes<T>];
  memcpy(lanes, &value, sizeof lanes);
  int64_t done = 0;
#pragma GCC unroll 4
  for (int part = kLanes<T> / 2; part > 0; part /= 2) {
    if (count & part) {
      memcpy(target + done, lanes + done, part * sizeof(T));
      done += part;
    }
  }
}

template <typename Source, typename T = decltype(widen(Source{}))>
EX_INLINE Vector<T> load_first(const Source* source, int64_t count) {
  if (count >= kLanes<T>) return load(source);
  Source lanes[kLanes<T>] = {};
  int64_t done = 0;
#pragma GCC unroll 4
  for (int part = kLanes<T> / 2; part > 0; part /= 2) {
    if (count & part) {
      memcpy(lanes + done, source + done, part * sizeof(Source));
      done += part;
    }
  }
  return load(lanes);
}

#if defined(__AVX__)
// The intrinsic, unlike a generic shuffle, inserts straight from memory: no shuffle unit is used.
template <typename T>
EX_INLINE auto concatenate(Quad<T> low, Quad<T> high) {
  __m256 wide = _mm256_castps128_ps256(reinterpret_cast<__m128>(low));
  return reinterpret_cast<Raw<T, 32>>(
      _mm256_insertf128_ps(wide, reinterpret_cast<__m128>(high), 1));
}
#endif
// Not native::join, and below not native::low_half: with these GCC 12 makes longer code of the
// products of vectors and matrices.
template <typename V, typename Half, size_t... I>
EX_INLINE V concatenate(Half low, Half high, std::index_sequence<I...>) {
  return __builtin_shufflevector(low, high, I...);
}
template <typename T>
EX_INLINE auto concatenate(Raw<T, 32> low, Raw<T, 32> high) {
  return concatenate<Raw<T, 64>>(low, high, std::make_index_sequence<64 / sizeof(T)>{});
}

template <int First, typename V, size_t... I>
EX_INLINE auto half(V v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v, v, (First + I)...);
}

// Adds the upper half to the lower until 128 bits are left.
template <typename T, typename V>
EX_INLINE Quad<T> fold(V v) {
  if constexpr (sizeof(V) == 16) {
    return v;
  } else {
    constexpr int count = sizeof(V) / sizeof(T) / 2;
    auto indices = std::make_index_sequence<count>{};
    return fold<T>(half<0>(v, indices) + half<count>(v, indices));
  }
}

// Lane for lane of 128 bits: a0 b0 a1 b1 ... of the lower or upper halves.
template <int High, typename V, size_t... I>
EX_INLINE V interleave(V a, V b, std::index_sequence<I...>) {
  constexpr int total = sizeof...(I);
  constexpr int quad = 16 / sizeof(a[0]);
  return __builtin_shufflevector(
      a, b, (I / quad * quad + I % quad / 2 + High * quad / 2 + (I % 2) * total)...);
}
template <int High, typename T>
EX_INLINE Vector<T> interleave(Vector<T> a, Vector<T> b) {
  return interleave<High>(a, b, std::make_index_sequence<kLanes<T>>{});
}

}  // namespace
}  // namespace extensor::EX_ISA
