// Random numbers by Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// 2011).
//
// A block of four words is a function of its number, so any part of a fill can be made alone. Words
// are made a tile at a time, in vectors of blocks, and turned into numbers from the first-level
// cache. src/extensor/random.py holds the formulas; uniforms, integers and bits are equal to
// theirs.
#include "random.h"

#include <algorithm>

#include "../math/math.h"

namespace extensor::EX_ISA {
namespace {

using Words = Vec<uint64_t>;  // a word of a block in the lower half of each lane

constexpr int64_t kTileBytes = 4096;
constexpr int64_t kBlockBytes = 16;
constexpr double kTwoPi = 6.28318530717958647692;

template <typename Word>
struct Tile {
  static constexpr int64_t size = kTileBytes / sizeof(Word);
  static constexpr int64_t per_block = kBlockBytes / sizeof(Word);
  alignas(64) Word words[size];
};

// The 64-bit products of the lanes' lower halves. GCC 12 does not find this instruction by itself.
#if defined(__SSE2__)
EX_INLINE Raw<uint64_t, 16> multiply_words(Raw<uint64_t, 16> a, Raw<uint64_t, 16> b) {
  return (Raw<uint64_t, 16>)_mm_mul_epu32((__m128i)a, (__m128i)b);
}
#else
EX_INLINE Raw<uint64_t, 16> multiply_words(Raw<uint64_t, 16> a, Raw<uint64_t, 16> b) {
  return (a & 0xffffffff) * (b & 0xffffffff);
}
#endif
#if defined(__AVX2__)
EX_INLINE Raw<uint64_t, 32> multiply_words(Raw<uint64_t, 32> a, Raw<uint64_t, 32> b) {
  return (Raw<uint64_t, 32>)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}
#endif
#if defined(__AVX512F__)
EX_INLINE Raw<uint64_t, 64> multiply_words(Raw<uint64_t, 64> a, Raw<uint64_t, 64> b) {
  return (Raw<uint64_t, 64>)_mm512_maskz_mul_epu32(0xff, (__m512i)a, (__m512i)b);
}
#endif
template <typename R>
EX_INLINE R multiply_words(R a, R b) {
  return native::join(multiply_words(native::low_half(a), native::low_half(b)),
                      multiply_words(native::high_half(a), native::high_half(b)));
}
EX_INLINE Words multiply_words(Words a, Words b) { return Words(multiply_words(a.raw, b.raw)); }

// Ten rounds. The upper halves of the lanes hold remains that no later step reads.
EX_INLINE void philox(Words& c0, Words& c1, Words& c2, Words& c3, uint64_t seed) {
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const Words first = multiply_words(c0, Words(0xd2511f53));
    const Words second = multiply_words(c2, Words(0xcd9e8d57));
    c0 = (second >> 32) ^ c1 ^ Words(key0);
    c1 = second;
    c2 = (first >> 32) ^ c3 ^ Words(key1);
    c3 = first;
    key0 += 0x9e3779b9;
    key1 += 0xbb67ae85;
  }
}

// a[0], b[0], a[1], b[1], ...
template <size_t... I>
EX_INLINE void store_interleaved(Words a, Words b, char* target, std::index_sequence<I...>) {
  constexpr size_t n = Words::size;
  const auto low = __builtin_shufflevector(a.raw, b.raw, (I / 2 + I % 2 * n)...);
  const auto high = __builtin_shufflevector(a.raw, b.raw, (n / 2 + I / 2 + I % 2 * n)...);
  std::memcpy(target, &low, sizeof(low));
  std::memcpy(target + sizeof(low), &high, sizeof(high));
}

// Fills the beginning of a tile with at least `blocks` blocks, whole vectors of them.
template <typename Word>
EX_INLINE void make_blocks(RandomStream stream, int64_t blocks, Tile<Word>& tile) {
  char* target = reinterpret_cast<char*>(tile.words);
  for (int64_t i = 0; i < blocks; i += Words::size) {
    const Words number = Words::iota(stream.block + static_cast<uint64_t>(i));
    Words c0 = number, c1 = number >> 32, c2(stream.stream), c3(stream.stream >> 32);
    philox(c0, c1, c2, c3, stream.seed);
    const Words mask(0xffffffff);
    store_interleaved((c0 & mask) | (c1 << 32), (c2 & mask) | (c3 << 32), target + i * kBlockBytes,
                      std::make_index_sequence<Words::size>{});
  }
}

// Calls convert(tile, first, count) for each tile of words; element `first` begins the tile.
template <typename Word, typename Convert>
EX_INLINE void for_each_tile(RandomStream stream, int64_t n, Convert convert) {
  Tile<Word> tile;
  for (int64_t first = 0; first < n; first += Tile<Word>::size) {
    const int64_t count = std::min(Tile<Word>::size, n - first);
    make_blocks(stream, (count + Tile<Word>::per_block - 1) / Tile<Word>::per_block, tile);
    convert(tile, first, count);
    stream.block += Tile<Word>::size / Tile<Word>::per_block;
  }
}

void fill_bits(RandomStream stream, int64_t n, void* out) {
  for_each_tile<uint32_t>(stream, n, [&](const auto& tile, int64_t first, int64_t count) {
    std::memcpy(static_cast<uint32_t*>(out) + first, tile.words, count * sizeof(uint32_t));
  });
}

// As many bits as the type's significand has, as a fraction in [0, 1).
EX_INLINE float fraction(uint32_t word) {
  return static_cast<float>(static_cast<int32_t>(word >> 8)) * 0x1p-24f;
}
EX_INLINE double fraction(uint64_t word) {
  return static_cast<double>(static_cast<int64_t>(word >> 11)) * 0x1p-53;
}

template <typename T, typename Word>
void fill_uniform(RandomStream stream, int64_t n, void* out, UniformRange range) {
  const T low = static_cast<T>(range.low), scale = static_cast<T>(range.scale);
  const T last = static_cast<T>(range.last);
  for_each_tile<Word>(stream, n, [&](const auto& tile, int64_t first, int64_t count) {
    T* target = static_cast<T*>(out) + first;
    for (int64_t i = 0; i < count; ++i) {
      const T value = fraction(tile.words[i]) * scale + low;
      target[i] = value < last ? value : last;
    }
  });
}

void fill_bernoulli(RandomStream stream, int64_t n, void* out, uint64_t threshold, bool as_float) {
  const bool possible = threshold > 0;
  const uint32_t last = static_cast<uint32_t>(threshold - 1);
  for_each_tile<uint32_t>(stream, n, [&](const auto& tile, int64_t first, int64_t count) {
    if (as_float) {
      float* target = static_cast<float*>(out) + first;
      for (int64_t i = 0; i < count; ++i) {
        target[i] = possible && tile.words[i] <= last ? 1.0f : 0.0f;
      }
    } else {
      uint8_t* target = static_cast<uint8_t*>(out) + first;
      for (int64_t i = 0; i < count; ++i) target[i] = possible && tile.words[i] <= last;
    }
  });
}

// The draw of element k in a later attempt, for the few whose earlier ones fell into the biased
// rest.
__attribute__((noinline, cold)) uint64_t draw_again(RandomStream stream, int64_t k, uint64_t range,
                                                    uint64_t threshold) {
  Tile<uint64_t> tile;
  stream.block += static_cast<uint64_t>(k / 2);
  for (;;) {
    ++stream.stream;
    make_blocks(stream, 1, tile);
    const auto product = static_cast<unsigned __int128>(tile.words[k % 2]) * range;
    if (static_cast<uint64_t>(product) >= threshold) return static_cast<uint64_t>(product >> 64);
  }
}

// low, low + 1, ... low + span, all equally likely: Lemire's "Fast random integer generation in an
// interval" (2019), where a rejected draw is repeated in the next stream and moves no other
// element.
template <typename T>
void fill_integers(RandomStream stream, int64_t n, void* out, uint64_t low, uint64_t span) {
  const uint64_t range = span + 1;  // 0 stands for 2^64
  const uint64_t threshold = range == 0 ? 0 : -range % range;
  for_each_tile<uint64_t>(stream, n, [&](const auto& tile, int64_t first, int64_t count) {
    T* target = static_cast<T*>(out) + first;
    if (range == 0) {
      for (int64_t i = 0; i < count; ++i) target[i] = static_cast<T>(low + tile.words[i]);
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      const auto product = static_cast<unsigned __int128>(tile.words[i]) * range;
      uint64_t drawn = static_cast<uint64_t>(product >> 64);
      if (static_cast<uint64_t>(product) < threshold) [[unlikely]] {
        drawn = draw_again(stream, first + i, range, threshold);
      }
      target[i] = static_cast<T>(low + drawn);
    }
  });
}

// Box-Muller: a radius and an angle make two numbers. The uniform of the radius is never 0.
constexpr int64_t kPairs = kTileBytes / 8;

struct Pairs {
  alignas(64) double cosine[kPairs], sine[kPairs];
};

// The first `count` of cosine, sine, cosine, sine, ... times their radius, scaled and shifted.
template <typename T>
EX_INLINE void store_pairs(const Pairs& pairs, const T* radius, int64_t count, T scale, T shift,
                           T* target) {
  for (int64_t i = 0; i < count / 2; ++i) {
    target[2 * i] = static_cast<T>(pairs.cosine[i]) * radius[i] * scale + shift;
    target[2 * i + 1] = static_cast<T>(pairs.sine[i]) * radius[i] * scale + shift;
  }
  if (count % 2 == 1) {
    const int64_t i = count / 2;
    target[2 * i] = static_cast<T>(pairs.cosine[i]) * radius[i] * scale + shift;
  }
}

void fill_normal_float(RandomStream stream, int64_t n, void* out, double mean, double deviation) {
  alignas(64) float radius[kPairs];
  alignas(64) double angle[kPairs];
  Pairs pairs;
  const float shift = static_cast<float>(mean), scale = static_cast<float>(deviation);
  for_each_tile<uint32_t>(stream, n, [&](const auto& tile, int64_t first, int64_t count) {
    constexpr int64_t step = Vec<float>::size;
    const int64_t used = (count + 2 * step - 1) / (2 * step) * step;
    for (int64_t i = 0; i < used; ++i) {
      radius[i] = static_cast<float>(tile.words[2 * i]) * 0x1p-32f + 0x1p-33f;
      angle[i] = static_cast<double>(tile.words[2 * i + 1]) * (kTwoPi * 0x1p-32);
    }
    for (int64_t i = 0; i < used; i += step) {
      sqrt(log(Vec<float>::load(radius + i)) * -2.0f).store(radius + i);
    }
    for (int64_t i = 0; i < used; i += Vec<double>::size) {
      const SineCosine both = sine_cosine_mixed(Vec<double>::load(angle + i));
      cosine_of(both).store(pairs.cosine + i);
      sine_of(both).store(pairs.sine + i);
    }
    store_pairs(pairs, radius, count, scale, shift, static_cast<float*>(out) + first);
  });
}

void fill_normal_double(RandomStream stream, int64_t n, void* out, double mean, double deviation) {
  alignas(64) double radius[kPairs / 2], angle[kPairs / 2];
  Pairs pairs;
  for_each_tile<uint64_t>(stream, n, [&](const auto& tile, int64_t first, int64_t count) {
    constexpr int64_t step = Vec<double>::size;
    const int64_t used = (count + 2 * step - 1) / (2 * step) * step;
    for (int64_t i = 0; i < used; ++i) {
      radius[i] = fraction(tile.words[2 * i]) + 0x1p-53;
      angle[i] = fraction(tile.words[2 * i + 1]) * kTwoPi;
    }
    for (int64_t i = 0; i < used; i += step) {
      const Vec<double> turn = Vec<double>::load(angle + i);
      sqrt(log(Vec<double>::load(radius + i)) * -2.0).store(radius + i);
      cos(turn).store(pairs.cosine + i);
      sin(turn).store(pairs.sine + i);
    }
    store_pairs(pairs, radius, count, deviation, mean, static_cast<double*>(out) + first);
  });
}

}  // namespace

RandomFills random_fills() {
  return {fill_bits,
          fill_bernoulli,
          {fill_uniform<float, uint32_t>, fill_uniform<double, uint64_t>},
          {fill_normal_float, fill_normal_double},
          {fill_integers<uint8_t>, fill_integers<uint16_t>, fill_integers<uint32_t>,
           fill_integers<uint64_t>}};
}

}  // namespace extensor::EX_ISA
