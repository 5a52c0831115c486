// Normalization of the rows of a matrix with a weight for each column, and its rule. A few rows go
// through all passes together: they stay in a cache, their sums do not wait for each other, and the
// columns' weights, and the sums of their gradients, are read once for all of them.
#include <cmath>

#include "tile.h"

namespace extensor::EX_ISA {
namespace {

constexpr int kTileRows = 4;
// Bytes, beyond which a row goes alone: memory likes one stream.
constexpr int64_t kShortRow = 1024;

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
    auto [sums] = tile.template sum<1>([&](auto access, int64_t i, int k, auto& sums) {
      sums[0] += access.or_zero(access.load(x + k * tile.stride, i) - first[k]);
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
    const auto [squares] = tile.template sum<1>([&](auto access, int64_t i, int k, auto& sums) {
      const Vec<T> x_k = access.load(x + k * tile.stride, i);
      const Vec<T> distance = access.or_zero(moments.centred(x_k, k));
      sums[0] = fma(distance, distance, sums[0]);
    });
    moments.set_scale(squares, tile.n, eps);
    for_each_vector<T>(tile.n, [&](auto access, int64_t i) {
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

// The rule of the rows of a tile. Without a weight the compiler leaves out what it would do.
template <typename T, int kRows, bool kWeighted>
struct RowRule {
  using Tile = RowTile<T, kRows>;
  using Numbers = typename Tile::Numbers;

  Tile tile;
  const T *g, *x;
  const void* weight;
  T* out;
  void *to_weight, *to_bias;

  // The sums of the squared distances, of the gradients of the normalized elements, and of those
  // times the elements; the scale is 1 where there is no guard.
  template <bool kGuarded>
  EX_INLINE auto sum(const RowMoments<T, kRows>& moments) const {
    return tile.template sum<3>([&](auto access, int64_t i, int k, auto& sums) {
      const Vec<T> x_k = access.load(x + k * tile.stride, i);
      const Vec<T> distance = access.or_zero(moments.centred(x_k, k));
      Vec<T> inner = access.load(g + k * tile.stride, i);
      if constexpr (kWeighted) inner = chain_guarded<kGuarded>(inner, access.load(weight, i));
      sums[0] = fma(distance, distance, sums[0]);
      sums[1] += inner;
      sums[2] =
          plus_chained<kGuarded>(sums[2], inner, kGuarded ? distance * moments.scale[k] : distance);
    });
  }

  template <bool kGuarded>
  void write(const RowMoments<T, kRows>& found, const Numbers& mean_plain,
             const Numbers& mean_along) const {
    // Copies, which no store through a pointer can change.
    const RowMoments<T, kRows> moments = found;
    const RowRule own = *this;
    const int64_t stride = own.tile.stride;
    const auto shift = Tile::spread(mean_plain), stretch = Tile::spread(mean_along);
    const auto add = [](auto access, void* sums, int64_t i, Vec<T> term) {
      access.store(sums, i, access.load(sums, i) + term);
    };
    for_each_vector<T>(own.tile.n, [&](auto access, int64_t i) {
      Vec<T> of_weight(T(0)), of_bias(T(0));
#pragma GCC unroll 4
      for (int k = 0; k < kRows; ++k) {
        const Vec<T> given = access.load(own.g + k * stride, i), scale = moments.scale[k];
        const Vec<T> unit = moments.centred(access.load(own.x + k * stride, i), k) * scale;
        of_weight = plus_chained<kGuarded>(of_weight, given, unit);
        of_bias += given;
        if (own.out == nullptr) continue;
        Vec<T> inner = given;
        if constexpr (kWeighted) inner = chain_guarded<kGuarded>(given, access.load(own.weight, i));
        const Vec<T> rest = plus_chained<kGuarded>(inner - shift[k], -stretch[k], unit);
        access.store(own.out + k * stride, i, chain_guarded<kGuarded>(rest, scale));
      }
      if (own.to_weight != nullptr) add(access, own.to_weight, i, of_weight);
      if (own.to_bias != nullptr) add(access, own.to_bias, i, of_bias);
    });
  }

  void run(bool around_mean, double eps) const {
    RowMoments<T, kRows> moments(tile, x, around_mean);
    auto [squares, plain, along] = sum<false>(moments);
    const Numbers scale = moments.set_scale(squares, tile.n, eps);
    const double n = static_cast<double>(tile.n);
    bool finite = true;
    for (int k = 0; k < kRows; ++k) {
      along[k] *= scale[k];
      finite &= std::isfinite(along[k]) && std::isfinite(plain[k]) && std::isfinite(scale[k]);
    }
    if (!finite) {
      // An infinite scale comes before the sum, as in the formula: 0 times it is not 0.
      const auto guarded = sum<true>(moments);
      for (int k = 0; k < kRows; ++k) {
        if (std::isfinite(along[k]) && std::isfinite(plain[k]) && std::isfinite(scale[k])) continue;
        plain[k] = guarded[1][k];
        along[k] = guarded[2][k];
      }
    }
    for (int k = 0; k < kRows; ++k) {
      plain[k] = around_mean ? plain[k] / n : 0;
      along[k] /= n;
    }
    finite ? write<false>(moments, plain, along) : write<true>(moments, plain, along);
  }
};

template <typename T, bool kWeighted>
void run_rule(const void* gradient, const void* source, const Panel& panel, bool around_mean,
              double eps, const void* weight, void* target, void* to_weight, void* to_bias) {
  for_each_tile<T>(panel, [&](const auto& tile, int64_t row) {
    constexpr int kRows = std::remove_cvref_t<decltype(tile)>::kCount;
    const T* g = static_cast<const T*>(gradient) + row * tile.stride;
    const T* x = static_cast<const T*>(source) + row * tile.stride;
    T* out = target == nullptr ? nullptr : static_cast<T*>(target) + row * tile.stride;
    RowRule<T, kRows, kWeighted>{tile, g, x, weight, out, to_weight, to_bias}.run(around_mean, eps);
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
