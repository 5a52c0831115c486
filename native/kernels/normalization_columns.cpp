// Normalization of the columns of a matrix, and its rule. A few vectors of columns go through all
// passes before the next ones: their constants stay in registers, their rows in a cache.
#include <algorithm>
#include <array>
#include <cmath>

#include "normalization.h"
#include "pass.h"
#include "steps.h"

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
  const Panel& panel;

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
void set_variances(const Tile& tile, const typename Tile::Numbers& squares, double eps,
                   Moments* moments) {
  for (int64_t j = 0; j < tile.count; ++j) {
    Moments& own = moments[tile.first + j];
    own.variance = squares[j] / static_cast<double>(tile.panel.rows);
    own.scale = 1 / std::sqrt(own.variance + eps);
  }
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
      const TileMoments<T, Tile> around(tile, moments);
      const auto [squares] = tile.template sum<1>([&](int64_t row, int k) {
        const Vec<T> distance = around.centred(tile.load(x, row, k), k);
        return std::array{distance * distance};
      });
      set_variances(tile, squares, eps, moments);
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

// The sums of the squared distances, of the gradients, and of those times the normalized elements.
template <typename T, typename Tile>
auto sum_gradients(const Tile& tile, const T* g, const T* x, const Moments* moments) {
  const TileMoments<T, Tile> known(tile, moments);
  return tile.template sum<3>([&](int64_t row, int k) {
    const Vec<T> given = tile.load(g, row, k);
    const Vec<T> distance = known.centred(tile.load(x, row, k), k);
    return std::array{distance * distance, given, chain(given, distance * known.scale[k])};
  });
}

// The sums along the distances made those along the normalized elements. A scale that is infinite
// comes before the sum, as in the formula: what is 0 after it is not what was 0 before it.
template <typename T, typename Tile>
void scale_sums(const Tile& tile, const T* g, const T* x, const Moments* moments,
                typename Tile::Numbers& along) {
  bool finite = true;
  for (int64_t j = 0; j < tile.count; ++j) {
    const double scale = moments[tile.first + j].scale;
    finite &= std::isfinite(scale);
    along[j] *= scale;
  }
  if (finite) return;
  const auto again = std::get<2>(sum_gradients<T>(tile, g, x, moments));
  for (int64_t j = 0; j < tile.count; ++j) {
    if (!std::isfinite(moments[tile.first + j].scale)) along[j] = again[j];
  }
}

template <typename T>
void run_rule(const void* gradient, const void* source, const Panel& panel, bool own, double eps,
              Moments* moments, const void* weights, void* target, void* to_weight, void* to_bias) {
  const T *g = static_cast<const T*>(gradient), *x = static_cast<const T*>(source);
  T* out = static_cast<T*>(target);
  for_each_tile<T>(panel, [&](const auto& tile) {
    using Tile = std::remove_cvref_t<decltype(tile)>;
    if (own) find_means(tile, x, moments);
    auto [squares, plain, along] = sum_gradients<T>(tile, g, x, moments);
    if (own) {
      set_variances(tile, squares, eps, moments);
      scale_sums<T>(tile, g, x, moments, along);
    }
    tile.write(along, to_weight);
    tile.write(plain, to_bias);
    if (out == nullptr) return;
    const TileMoments<T, Tile> known(tile, moments);
    const auto weight = tile.spread(weights, T(1));
    const double n = static_cast<double>(panel.rows);
    // A column's weight is the same for all its elements, so it comes after the sums.
    const auto mean_of = [&](const typename Tile::Numbers& sums) {
      return Tile::spread([&](int64_t j) {
        const double factor = weight[j / Tile::size][j % Tile::size];
        return own && sums[j] != 0 ? sums[j] * factor / n : 0;
      });
    };
    const auto shift = mean_of(plain), stretch = mean_of(along);
    for (int64_t row = 0; row < panel.rows; ++row) {
      for (int k = 0; k < Tile::kCount; ++k) {
        const Vec<T> inner = chain(tile.load(g, row, k), weight[k]);
        const Vec<T> unit = known.centred(tile.load(x, row, k), k) * known.scale[k];
        const Vec<T> rest = (inner - shift[k]) - chain(stretch[k], unit);
        tile.store(out, row, k, chain(rest, known.scale[k]));
      }
    }
  });
}

}  // namespace

ColumnNormalizationKernels column_normalization_kernels() {
  return {{normalize<float>, normalize<double>}, {run_rule<float>, run_rule<double>}};
}

}  // namespace extensor::EX_ISA
