// Normalization of the columns of a matrix, and its rule. A few vectors of columns go through all
// passes before the next ones: their constants stay in registers, their rows in a cache.
#include <algorithm>
#include <array>
#include <cmath>

#include "../simd/pass.h"
#include "normalization.h"

namespace extensor::EX_ISA {
namespace {

constexpr int kTileVectors = 4;
constexpr int64_t kRowsPerBlock = 64;  // rows added before they join the totals, which are double

// The columns from `first` on that are worked on together, in kVectors vectors.
template <typename T, int kVectors, typename Access>
struct Tile {
  static constexpr int kCount = kVectors;
  static constexpr int64_t size = Vec<T>::size;
  static constexpr int64_t width = kVectors * size;
  using Numbers = std::array<double, width>;
  using Vectors = std::array<Vec<T>, kVectors>;

  Access access;
  int64_t first, count;
  Panel panel;

  EX_INLINE Vec<T> load(const T* matrix, int64_t row, int k) const {
    return access.load(matrix + row * panel.stride + first, k * size);
  }
  EX_INLINE void store(T* matrix, int64_t row, int k, Vec<T> x) const {
    access.store(matrix + row * panel.stride + first, k * size, x);
  }
  // One number for each column, of an array with one for all columns of the matrix.
  Vectors spread(const void* array, T otherwise) const {
    Vectors result;
    for (int k = 0; k < kVectors; ++k) {
      result[k] = array == nullptr ? Vec<T>(otherwise)
                                   : access.load(static_cast<const T*>(array) + first, k * size);
    }
    return result;
  }
  template <typename Number>
  static Vectors spread(Number number) {
    T numbers[width];
    for (int64_t j = 0; j < width; ++j) numbers[j] = static_cast<T>(number(j));
    Vectors result;
    for (int k = 0; k < kVectors; ++k) result[k] = Vec<T>::load(numbers + k * size);
    return result;
  }
  void write(const Numbers& numbers, void* array) const {
    if (array == nullptr) return;
    for (int64_t j = 0; j < count; ++j) {
      static_cast<T*>(array)[first + j] = static_cast<T>(numbers[j]);
    }
  }

  // The sums over the rows of what term(row, k) gives: kSums vectors.
  template <size_t kSums, typename Term>
  EX_INLINE std::array<Numbers, kSums> sum(Term term) const {
    std::array<Numbers, kSums> totals{};
    for (int64_t begin = 0; begin < panel.rows; begin += kRowsPerBlock) {
      const int64_t end = std::min(begin + kRowsPerBlock, panel.rows);
      Vec<T> partial[kSums][kVectors];
      for (auto& vectors : partial) std::fill_n(vectors, kVectors, Vec<T>(T(0)));
      for (int64_t row = begin; row < end; ++row) {
#pragma GCC unroll 4
        for (int k = 0; k < kVectors; ++k) {
          const std::array<Vec<T>, kSums> terms = term(row, k);
          for (size_t s = 0; s < kSums; ++s) partial[s][k] += terms[s];
        }
      }
      for (size_t s = 0; s < kSums; ++s) {
        T flat[width];
        for (int k = 0; k < kVectors; ++k) partial[s][k].store(flat + k * size);
        for (int64_t j = 0; j < width; ++j) totals[s][j] += flat[j];
      }
    }
    return totals;
  }
};

// body(tile) for all columns: full tiles, then single vectors, then what is left.
template <typename T, typename Body>
EX_INLINE void for_each_tile(const Panel& panel, Body body) {
  constexpr int64_t size = Vec<T>::size;
  using Full = Access<T, true>;
  using Part = Access<T, false>;
  int64_t j = 0;
  for (; j + kTileVectors * size <= panel.width; j += kTileVectors * size) {
    body(Tile<T, kTileVectors, Full>{{size}, j, kTileVectors * size, panel});
  }
  for (; j + size <= panel.width; j += size) {
    body(Tile<T, 1, Full>{{size}, j, size, panel});
  }
  const int64_t rest = panel.width - j;
  if (rest > 0) body(Tile<T, 1, Part>{{rest}, j, rest, panel});
}

// The moments of a tile's columns as vectors; see Centred of the groups.
template <typename T, typename Tile>
struct TileMoments {
  typename Tile::Vectors first, shift, scale;

  TileMoments(const Tile& tile, const Moments* moments)
      : first(Tile::spread([&](int64_t j) { return at(tile, moments, j).first; })),
        shift(Tile::spread([&](int64_t j) { return at(tile, moments, j).shift; })),
        scale(Tile::spread([&](int64_t j) { return at(tile, moments, j).scale; })) {}
  // The lanes past the last column hold what the last one does.
  static const Moments& at(const Tile& tile, const Moments* moments, int64_t j) {
    return moments[tile.first + std::min(j, tile.count - 1)];
  }
  EX_INLINE Vec<T> centred(Vec<T> x, int k) const { return (x - first[k]) - shift[k]; }
};

template <typename T, typename Tile>
void find_means(const Tile& tile, const T* x, Moments* moments) {
  const auto first = tile.spread(x, T(0));
  const auto [sums] = tile.template sum<1>(
      [&](int64_t row, int k) { return std::array{tile.load(x, row, k) - first[k]}; });
  const double n = static_cast<double>(tile.panel.rows);
  for (int64_t j = tile.first; j < tile.first + tile.count; ++j) {
    moments[j] = {static_cast<double>(x[j]), static_cast<T>(sums[j - tile.first] / n), 0, 1};
  }
}

template <typename Tile>
void set_variances(const Tile& tile, const typename Tile::Numbers& squares, Moments* moments) {
  const double n = static_cast<double>(tile.panel.rows);
  for (int64_t j = 0; j < tile.count; ++j) moments[tile.first + j].variance = squares[j] / n;
}

template <typename Tile>
void set_scales(const Tile& tile, double eps, Moments* moments) {
  for (int64_t j = tile.first; j < tile.first + tile.count; ++j) {
    moments[j].scale = 1 / std::sqrt(moments[j].variance + eps);
  }
}

template <typename T, typename Tile>
void find_variances(const Tile& tile, const T* x, Moments* moments) {
  const TileMoments<T, Tile> around(tile, moments);
  const auto [squares] = tile.template sum<1>([&](int64_t row, int k) {
    const Vec<T> distance = around.centred(tile.load(x, row, k), k);
    return std::array{distance * distance};
  });
  set_variances(tile, squares, moments);
}

template <typename T>
void find_moments(const void* source, const Panel& panel, bool with_variance, Moments* moments) {
  const T* x = static_cast<const T*>(source);
  for_each_tile<T>(panel, [&](const auto& tile) {
    find_means(tile, x, moments);
    if (with_variance) find_variances(tile, x, moments);
  });
}

template <typename T>
void normalize(const void* source, const Panel& panel, bool own, double eps, Moments* moments,
               const void* weights, const void* biases, void* target) {
  const T* x = static_cast<const T*>(source);
  T* out = static_cast<T*>(target);
  for_each_tile<T>(panel, [&](const auto& tile) {
    using Tile = std::remove_cvref_t<decltype(tile)>;
    if (own) {
      find_means(tile, x, moments);
      find_variances(tile, x, moments);
      set_scales(tile, eps, moments);
    }
    const TileMoments<T, Tile> known(tile, moments);
    const auto weight = tile.spread(weights, T(1)), bias = tile.spread(biases, T(0));
    for (int64_t row = 0; row < panel.rows; ++row) {
      for (int k = 0; k < Tile::kCount; ++k) {
        const Vec<T> unit = known.centred(tile.load(x, row, k), k) * known.scale[k];
        tile.store(out, row, k, unit * weight[k] + bias[k]);
      }
    }
  });
}

// The rule of the columns of a tile.
template <typename T, typename Tile>
struct ColumnRule {
  using Numbers = typename Tile::Numbers;

  Tile tile;
  const T *g, *x;
  Moments* moments;
  T* out;

  // The sums of the squared distances, of the gradients, and of those times the normalized
  // elements.
  template <bool kGuarded>
  EX_INLINE auto sum() const {
    const TileMoments<T, Tile> known(tile, moments);
    return tile.template sum<3>([&](int64_t row, int k) {
      const Vec<T> given = tile.load(g, row, k);
      const Vec<T> distance = known.centred(tile.load(x, row, k), k);
      return std::array{distance * distance, given,
                        chain_guarded<kGuarded>(given, distance * known.scale[k])};
    });
  }

  template <bool kGuarded>
  void write(const typename Tile::Vectors& weight, const typename Tile::Vectors& shift,
             const typename Tile::Vectors& stretch) const {
    // Copies, which no store through a pointer can change.
    const ColumnRule own = *this;
    const auto weights = weight, shifts = shift, stretches = stretch;
    const TileMoments<T, Tile> known(tile, moments);
    for (int64_t row = 0; row < own.tile.panel.rows; ++row) {
#pragma GCC unroll 4
      for (int k = 0; k < Tile::kCount; ++k) {
        const Vec<T> unit = known.centred(own.tile.load(own.x, row, k), k) * known.scale[k];
        const Vec<T> inner = chain_guarded<kGuarded>(own.tile.load(own.g, row, k), weights[k]);
        const Vec<T> rest = plus_chained<kGuarded>(inner - shifts[k], -stretches[k], unit);
        own.tile.store(own.out, row, k, chain_guarded<kGuarded>(rest, known.scale[k]));
      }
    }
  }

  void run(bool own, double eps, const void* weights, void* to_weight, void* to_bias) const {
    if (own) find_means(tile, x, moments);
    auto [squares, plain, along] = sum<false>();
    if (own) {
      set_variances(tile, squares, moments);
      set_scales(tile, eps, moments);
    }
    const auto weight = tile.spread(weights, T(1));
    const auto weight_of = [&](int64_t j) { return weight[j / Tile::size][j % Tile::size]; };
    const auto scale_of = [&](int64_t j) { return moments[tile.first + j].scale; };
    const auto is_finite = [&](int64_t j) {
      return std::isfinite(along[j]) && std::isfinite(scale_of(j)) && std::isfinite(weight_of(j));
    };
    bool finite = true;
    for (int64_t j = 0; j < tile.count; ++j) {
      if (own) along[j] *= scale_of(j);
      finite &= is_finite(j);
    }
    if (!finite) {
      // An infinite scale comes before the sum, as in the formula: 0 times it is not 0.
      const auto guarded = sum<true>();
      for (int64_t j = 0; j < tile.count; ++j) {
        if (!is_finite(j)) along[j] = guarded[2][j];
      }
    }
    tile.write(along, to_weight);
    tile.write(plain, to_bias);
    if (out == nullptr) return;
    // A column's weight is the same for all its elements, so it comes after the sums.
    const double n = static_cast<double>(tile.panel.rows);
    const auto mean_of = [&](const Numbers& sums) {
      return Tile::spread(
          [&](int64_t j) { return own && sums[j] != 0 ? sums[j] * weight_of(j) / n : 0; });
    };
    finite ? write<false>(weight, mean_of(plain), mean_of(along))
           : write<true>(weight, mean_of(plain), mean_of(along));
  }
};

template <typename T>
void rule(const void* gradient, const void* source, const Panel& panel, bool own, double eps,
          Moments* moments, const void* weight, void* target, void* to_weight, void* to_bias) {
  const T *g = static_cast<const T*>(gradient), *x = static_cast<const T*>(source);
  for_each_tile<T>(panel, [&](const auto& tile) {
    using Tile = std::remove_cvref_t<decltype(tile)>;
    const ColumnRule<T, Tile> own_rule{tile, g, x, moments, static_cast<T*>(target)};
    own_rule.run(own, eps, weight, to_weight, to_bias);
  });
}

}  // namespace

ColumnNormalizationKernels column_normalization_kernels() {
  return {{find_moments<float>, find_moments<double>},
          {normalize<float>, normalize<double>},
          {rule<float>, rule<double>}};
}

}  // namespace extensor::EX_ISA
