// Normalization of the rows of a matrix with a weight for each column, and its rule. A few rows go
// through all passes together: they stay in a cache, their sums do not wait for each other, and the
// columns' weights, and the sums of their gradients, are read once for all of them.
#include <algorithm>
#include <array>
#include <cmath>

#include "normalization.h"
#include "pass.h"
#include "steps.h"

namespace extensor::EX_ISA {
namespace {

constexpr int kTileRows = 4;
constexpr int64_t kShortRow =
    1024;                           // bytes, beyond which a row goes alone: memory likes one stream
constexpr int kSumsAtOnce = 4;      // that do not wait for each other
constexpr int64_t kSumBlock = 512;  // elements added before they join the total, which is double

// kRows rows, from the one that the pointers point at.
template <typename T, int kRows>
struct RowTile {
  using Numbers = std::array<double, kRows>;
  using Vectors = std::array<Vec<T>, kRows>;
  static constexpr int kCount = kRows;
  static constexpr int kWays = kSumsAtOnce / kRows;  // parts of a row
  static constexpr int64_t size = Vec<T>::size;

  int64_t n, stride;

  static Vectors spread(const Numbers& numbers) {
    Vectors result;
    for (int k = 0; k < kRows; ++k) result[k] = Vec<T>(static_cast<T>(numbers[k]));
    return result;
  }
  // The sums over each row of what term(access, column, row) gives: kSums vectors.
  template <size_t kSums, typename Term>
  EX_INLINE std::array<Numbers, kSums> sum(Term term) const {
    std::array<Numbers, kSums> totals{};
    for (int64_t begin = 0; begin < n; begin += kSumBlock) {
      const int64_t end = std::min(begin + kSumBlock, n);
      Vec<T> partial[kSums][kSumsAtOnce];
      for (auto& vectors : partial) std::fill_n(vectors, kSumsAtOnce, Vec<T>(T(0)));
      const auto add = [&](auto access, int64_t i, int way) {
#pragma GCC unroll 4
        for (int k = 0; k < kRows; ++k) {
          const std::array<Vec<T>, kSums> terms = term(access, i, k);
          for (size_t s = 0; s < kSums; ++s) partial[s][way * kRows + k] += terms[s];
        }
      };
      int64_t i = begin;
      for (; i + kWays * size <= end; i += kWays * size) {
#pragma GCC unroll 4
        for (int way = 0; way < kWays; ++way) add(Access<T, true>{size}, i + way * size, way);
      }
      for (; i + size <= end; i += size) add(Access<T, true>{size}, i, 0);
      if (i < end) add(Access<T, false>{end - i}, i, 0);
      for (size_t s = 0; s < kSums; ++s) {
        for (int k = 0; k < kRows; ++k) {
          Vec<T> all = partial[s][k];
          for (int way = 1; way < kWays; ++way) all += partial[s][way * kRows + k];
          totals[s][k] += horizontal_sum(all);
        }
      }
    }
    return totals;
  }
  // body(access, column) for all columns.
  template <typename Body>
  EX_INLINE void for_each_column(Body body) const {
    for_each_vector<T>(n, body);
  }
};

// Where the rows of a tile are centred, as a step from their first elements (see the groups), and
// by how much they are scaled.
template <typename T, int kRows>
struct RowMoments {
  using Tile = RowTile<T, kRows>;

  typename Tile::Vectors first, shift, scale;

  RowMoments(const Tile& tile, const T* x, bool around_mean) {
    first = shift = Tile::spread({});
    scale = Tile::spread(filled(1));
    if (!around_mean) return;
    for (int k = 0; k < kRows; ++k) first[k] = Vec<T>(x[k * tile.stride]);
    auto [sums] = tile.template sum<1>([&](auto access, int64_t i, int k) {
      return std::array{access.or_zero(access.load(x + k * tile.stride, i) - first[k])};
    });
    for (double& sum : sums) sum /= static_cast<double>(tile.n);
    shift = Tile::spread(sums);
  }
  static typename Tile::Numbers filled(double number) {
    typename Tile::Numbers numbers;
    numbers.fill(number);
    return numbers;
  }
  // Takes the scales from the sums of squared distances, and returns them.
  typename Tile::Numbers set_scale(const typename Tile::Numbers& squares, int64_t n, double eps) {
    typename Tile::Numbers found;
    for (int k = 0; k < kRows; ++k) {
      found[k] = 1 / std::sqrt(squares[k] / static_cast<double>(n) + eps);
    }
    scale = Tile::spread(found);
    return found;
  }
  EX_INLINE Vec<T> centred(Vec<T> x, int k) const { return (x - first[k]) - shift[k]; }
};

// body(tile, row) for all rows.
template <typename T, typename Body>
EX_INLINE void for_each_tile(const Panel& panel, Body body) {
  int64_t row = 0;
  if (panel.width * static_cast<int64_t>(sizeof(T)) <= kShortRow) {
    for (; row + kTileRows <= panel.rows; row += kTileRows) {
      body(RowTile<T, kTileRows>{panel.width, panel.stride}, row);
    }
  }
  for (; row < panel.rows; ++row) body(RowTile<T, 1>{panel.width, panel.stride}, row);
}

template <typename T>
void normalize(const void* source, const Panel& panel, bool around_mean, double eps,
               const void* weight, const void* bias, void* target) {
  for_each_tile<T>(panel, [&](const auto& tile, int64_t row) {
    constexpr int kRows = std::remove_cvref_t<decltype(tile)>::kCount;
    const T* x = static_cast<const T*>(source) + row * tile.stride;
    T* out = static_cast<T*>(target) + row * tile.stride;
    RowMoments<T, kRows> moments(tile, x, around_mean);
    const auto [squares] = tile.template sum<1>([&](auto access, int64_t i, int k) {
      const Vec<T> distance = moments.centred(access.load(x + k * tile.stride, i), k);
      return std::array{access.or_zero(distance * distance)};
    });
    moments.set_scale(squares, tile.n, eps);
    tile.for_each_column([&](auto access, int64_t i) {
      const Vec<T> factor = weight == nullptr ? Vec<T>(T(1)) : access.load(weight, i);
      const Vec<T> added = bias == nullptr ? Vec<T>(T(0)) : access.load(bias, i);
#pragma GCC unroll 4
      for (int k = 0; k < kRows; ++k) {
        const Vec<T> distance = moments.centred(access.load(x + k * tile.stride, i), k);
        access.store(out + k * tile.stride, i, distance * moments.scale[k] * factor + added);
      }
    });
  });
}

// The sums of the squared distances, of the gradients of the normalized elements, and of those
// times the elements.
template <typename T, int kRows, bool kWeighted>
EX_INLINE auto sum_gradients(const RowTile<T, kRows>& tile, const T* g, const T* x,
                             const void* weight, const RowMoments<T, kRows>& moments) {
  return tile.template sum<3>([&](auto access, int64_t i, int k) {
    const Vec<T> distance = moments.centred(access.load(x + k * tile.stride, i), k);
    Vec<T> inner = access.load(g + k * tile.stride, i);
    if constexpr (kWeighted) inner = chain(inner, access.load(weight, i));
    return std::array{access.or_zero(distance * distance), inner,
                      chain(inner, distance * moments.scale[k])};
  });
}

template <typename T, bool kWeighted>
void run_rule(const void* gradient, const void* source, const Panel& panel, bool around_mean,
              double eps, const void* weight, void* target, void* to_weight, void* to_bias) {
  for_each_tile<T>(panel, [&](const auto& tile, int64_t row) {
    using Tile = std::remove_cvref_t<decltype(tile)>;
    constexpr int kRows = Tile::kCount;
    const T* g = static_cast<const T*>(gradient) + row * tile.stride;
    const T* x = static_cast<const T*>(source) + row * tile.stride;
    T* out = target == nullptr ? nullptr : static_cast<T*>(target) + row * tile.stride;
    RowMoments<T, kRows> moments(tile, x, around_mean);
    const auto sums = [&] {
      return sum_gradients<T, kRows, kWeighted>(tile, g, x, weight, moments);
    };
    auto [squares, plain, along] = sums();
    const auto scale = moments.set_scale(squares, tile.n, eps);
    const double n = static_cast<double>(tile.n);
    for (int k = 0; k < kRows; ++k) {
      // An infinite scale comes before the sum, as in the formula: 0 times it is not 0.
      along[k] = (std::isfinite(scale[k]) ? along[k] * scale[k] : sums()[2][k]) / n;
      plain[k] = around_mean ? plain[k] / n : 0;
    }
    const auto shift = Tile::spread(plain), stretch = Tile::spread(along);
    const auto add = [](auto access, void* sums, int64_t i, Vec<T> term) {
      access.store(sums, i, access.load(sums, i) + term);
    };
    tile.for_each_column([&](auto access, int64_t i) {
      Vec<T> of_weight(T(0)), of_bias(T(0));
      const Vec<T> factor = kWeighted ? access.load(weight, i) : Vec<T>(T(1));
#pragma GCC unroll 4
      for (int k = 0; k < kRows; ++k) {
        const Vec<T> given = access.load(g + k * tile.stride, i);
        const Vec<T> unit =
            moments.centred(access.load(x + k * tile.stride, i), k) * moments.scale[k];
        of_weight += chain(given, unit);
        of_bias += given;
        if (out == nullptr) continue;
        const Vec<T> inner = kWeighted ? chain(given, factor) : given;
        const Vec<T> rest = (inner - shift[k]) - chain(stretch[k], unit);
        access.store(out + k * tile.stride, i, chain(rest, moments.scale[k]));
      }
      if (to_weight != nullptr) add(access, to_weight, i, of_weight);
      if (to_bias != nullptr) add(access, to_bias, i, of_bias);
    });
  });
}

template <typename T>
void rule(const void* gradient, const void* x, const Panel& panel, bool around_mean, double eps,
          const void* weight, void* out, void* to_weight, void* to_bias) {
  const auto run = weight == nullptr ? run_rule<T, false> : run_rule<T, true>;
  run(gradient, x, panel, around_mean, eps, weight, out, to_weight, to_bias);
}

}  // namespace

RowNormalizationKernels row_normalization_kernels() {
  return {{normalize<float>, normalize<double>}, {rule<float>, rule<double>}};
}

}  // namespace extensor::EX_ISA
