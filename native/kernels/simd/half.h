// float16 and bfloat16, stored as uint16_t, to and from Vec<float>. Rounding is to nearest, ties to
// even; subnormals, infinities and signed zeros are exact; NaN stays NaN (made quiet, payload cut).
#pragma once

#include <cstdint>
#include <cstring>

#include "simd.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"

namespace extensor::EX_ISA {

namespace native {

using Half = Raw<uint16_t, kVectorBytes / 2>;

EX_INLINE Vec<int32_t> widen_bits(Half x) {
  return Vec<int32_t>(__builtin_convertvector(x, Vec<int32_t>::RawType));
}
EX_INLINE Half narrow_bits(Vec<int32_t> x) {
  using Unsigned = Raw<uint32_t, kVectorBytes>;
  return __builtin_convertvector((Unsigned)x.raw, Half);
}

// Multiplying by 2^112 rebiases the exponent and normalizes float16 subnormals in one step.
EX_INLINE Vec<float> float16_to_float32_portable(Half half) {
  Vec<int32_t> bits = widen_bits(half);
  Vec<int32_t> magnitude = bits & 0x7fff;
  Vec<float> value = bit_cast<float>(magnitude << 13) * 0x1p112f;
  Mask<int32_t> special = magnitude >= 0x7c00;
  Vec<int32_t> quiet = select(magnitude > 0x7c00, Vec<int32_t>(0x00400000), Vec<int32_t>(0));
  Vec<int32_t> special_bits = (magnitude << 13) | 0x7f800000 | quiet;
  Vec<int32_t> result = select(special, special_bits, bit_cast<int32_t>(value));
  return bit_cast<float>(result | ((bits & 0x8000) << 16));
}

// Normal results round in integers: half of the last kept bit less one, plus that bit. Subnormal
// results round by the addition of 0.5, whose last bit is the smallest float16 subnormal.
EX_INLINE Half float32_to_float16_portable(Vec<float> x) {
  Vec<int32_t> bits = bit_cast<int32_t>(x);
  Vec<int32_t> magnitude = bits & 0x7fffffff;
  Vec<int32_t> rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  Vec<int32_t> normal = (rounded - (112 << 23)) >> 13;
  Vec<int32_t> subnormal = bit_cast<int32_t>(bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  Vec<int32_t> result = select(magnitude < 0x38800000, subnormal, normal);
  result = select(magnitude >= 0x477ff000, Vec<int32_t>(0x7c00), result);
  Vec<int32_t> nan = ((magnitude >> 13) & 0x3ff) | 0x7e00;
  result = select(magnitude > 0x7f800000, nan, result);
  return narrow_bits(result | ((bits >> 16) & 0x8000));
}

#if defined(__F16C__) && EX_VECTOR_BYTES == 16
EX_INLINE Vec<float> float16_to_float32(Half x) {
  int64_t bits = __builtin_bit_cast(int64_t, x);
  return Vec<float>((Vec<float>::RawType)_mm_cvtph_ps(_mm_cvtsi64_si128(bits)));
}
EX_INLINE Half float32_to_float16(Vec<float> x) {
  __m128i bits = _mm_cvtps_ph(x.raw, _MM_FROUND_TO_NEAREST_INT);
  return __builtin_bit_cast(Half, static_cast<int64_t>(_mm_cvtsi128_si64(bits)));
}
#elif defined(__F16C__) && EX_VECTOR_BYTES == 32
EX_INLINE Vec<float> float16_to_float32(Half x) {
  return Vec<float>((Vec<float>::RawType)_mm256_cvtph_ps((__m128i)x));
}
EX_INLINE Half float32_to_float16(Vec<float> x) {
  return (Half)_mm256_cvtps_ph(x.raw, _MM_FROUND_TO_NEAREST_INT);
}
#elif defined(__AVX512F__) && EX_VECTOR_BYTES == 64
EX_INLINE Vec<float> float16_to_float32(Half x) {
  return Vec<float>((Vec<float>::RawType)_mm512_maskz_cvtph_ps(0xffff, (__m256i)x));
}
EX_INLINE Half float32_to_float16(Vec<float> x) {
  return (Half)_mm512_maskz_cvtps_ph(0xffff, x.raw, _MM_FROUND_TO_NEAREST_INT);
}
#else
EX_INLINE Vec<float> float16_to_float32(Half x) { return float16_to_float32_portable(x); }
EX_INLINE Half float32_to_float16(Vec<float> x) { return float32_to_float16_portable(x); }
#endif

EX_INLINE Vec<float> bfloat16_to_float32(Half x) {
  Vec<int32_t> bits = widen_bits(x) << 16;
  Vec<int32_t> quiet = select((bits & 0x7fffffff) > 0x7f800000, bits | 0x00400000, bits);
  return bit_cast<float>(quiet);
}
EX_INLINE Half float32_to_bfloat16(Vec<float> x) {
  Vec<int32_t> bits = bit_cast<int32_t>(x);
  Vec<int32_t> rounded = bits + 0x7fff + ((bits >> 16) & 1);
  return narrow_bits(select(mask_cast<int32_t>(isnan(x)), bits | 0x00400000, rounded) >> 16);
}

}  // namespace native

// The tags only choose the conversion; storage is uint16_t either way.
struct Float16Format {
  static EX_INLINE Vec<float> widen(native::Half x) { return native::float16_to_float32(x); }
  static EX_INLINE native::Half narrow(Vec<float> x) { return native::float32_to_float16(x); }
};
struct BFloat16Format {
  static EX_INLINE Vec<float> widen(native::Half x) { return native::bfloat16_to_float32(x); }
  static EX_INLINE native::Half narrow(Vec<float> x) { return native::float32_to_bfloat16(x); }
};

template <typename Format>
EX_INLINE Vec<float> load_half(const uint16_t* source) {
  native::Half bits;
  std::memcpy(&bits, source, sizeof(bits));
  return Format::widen(bits);
}
template <typename Format>
EX_INLINE Vec<float> load_half_partial(const uint16_t* source, ptrdiff_t count) {
  native::Half bits{};
  for (ptrdiff_t i = 0; i < count; ++i) bits[i] = source[i];
  return Format::widen(bits);
}
template <typename Format>
EX_INLINE void store_half(uint16_t* target, Vec<float> x) {
  native::Half bits = Format::narrow(x);
  std::memcpy(target, &bits, sizeof(bits));
}
template <typename Format>
EX_INLINE void store_half_partial(uint16_t* target, Vec<float> x, ptrdiff_t count) {
  native::Half bits = Format::narrow(x);
  for (ptrdiff_t i = 0; i < count; ++i) target[i] = bits[i];
}

// A tile of `count` elements, any count.
template <typename Format>
inline void half_to_float32(const uint16_t* source, float* target, ptrdiff_t count) {
  ptrdiff_t i = 0;
  for (; i + Vec<float>::size <= count; i += Vec<float>::size) {
    load_half<Format>(source + i).store(target + i);
  }
  load_half_partial<Format>(source + i, count - i).store_partial(target + i, count - i);
}
template <typename Format>
inline void float32_to_half(const float* source, uint16_t* target, ptrdiff_t count) {
  ptrdiff_t i = 0;
  for (; i + Vec<float>::size <= count; i += Vec<float>::size) {
    store_half<Format>(target + i, Vec<float>::load(source + i));
  }
  store_half_partial<Format>(target + i, Vec<float>::load_partial(source + i, count - i),
                             count - i);
}

}  // namespace extensor::EX_ISA

#pragma GCC diagnostic pop
