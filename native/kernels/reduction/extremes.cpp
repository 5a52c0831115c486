// The rules of max and min along an axis: the gradient goes to the best elements, shared equally.
// The best of a slice with NaN is NaN, and then its NaNs win. And where the first of them is.
#include "extremes.h"

#include <algorithm>

#include "../simd/steps.h"
#include "kinds.h"
#include "row_reductions.h"

namespace extensor::EX_ISA {
namespace {

constexpr int64_t kTileWidth = 256;  // columns whose counts stay in the first-level cache

template <typename T>
EX_INLINE Mask<T> wins(Vec<T> x, Vec<T> best) {
  return (x == best) | isnan(x);
}

// How many elements win, at most 2^24 so that float32 counts them.
template <typename T>
EX_INLINE T winners(const T* x, int64_t n, T best) {
  return row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
    return access.or_zero(
        select(wins(access.load(x, i), Vec<T>(best)), Vec<T>(T(1)), Vec<T>(T(0))));
  });
}

// What a winner and a loser get of `gradient`; a loser's share is 0 times it, so NaN stays NaN.
template <typename T>
EX_INLINE Two<Vec<T>> shares(Vec<T> gradient, Vec<T> count) {
  return {chain(gradient, Vec<T>(T(1)) / count), chain(gradient, Vec<T>(T(0)))};
}

template <typename T>
EX_INLINE void share_row(const T* x, int64_t n, T best, T gradient, T count, T* out) {
  const auto [won, lost] = shares(Vec<T>(gradient), Vec<T>(count));
  for_each_vector<T>(n, [&, won = won, lost = lost](auto access, int64_t i) {
    access.store(out, i, select(wins(access.load(x, i), Vec<T>(best)), won, lost));
  });
}

template <typename Kind, typename T>
void rows(const void* gradient, const void* x, int64_t count, int64_t n, void* out) {
  for (int64_t row = 0; row < count; ++row) {
    const T* source = static_cast<const T*>(x) + row * n;
    const T best = reduce_row<T>(
        n, Kind::template start<T>(),
        [&](auto access, int64_t i, Vec<T> fill) { return access.load_or(source, i, fill); },
        [](Vec<T> a, Vec<T> b) { return Kind::combine(a, b); },
        [](Vec<T> v) { return Kind::across(v); });
    share_row(source, n, best, static_cast<const T*>(gradient)[row], winners(source, n, best),
              static_cast<T*>(out) + row * n);
  }
}

// Row by row over a tile of columns: rows a power of two apart would push each other out of the
// cache if a column were read from top to bottom.
template <typename Kind, typename T>
void share_tile(const T* gradient, const T* x, int64_t n, int64_t stride, int64_t width, T* out) {
  T best[kTileWidth], count[kTileWidth], won[kTileWidth], lost[kTileWidth];
  std::fill_n(best, width, Kind::template start<T>());
  std::fill_n(count, width, T(0));
  for (int64_t row = 0; row < n; ++row) {
    for_each_vector<T>(width, [&](auto access, int64_t j) {
      access.store(best, j, Kind::combine(access.load(best, j), access.load(x + row * stride, j)));
    });
  }
  for (int64_t row = 0; row < n; ++row) {
    for_each_vector<T>(width, [&](auto access, int64_t j) {
      const Mask<T> winning = wins(access.load(x + row * stride, j), access.load(best, j));
      access.store(count, j, access.load(count, j) + select(winning, Vec<T>(T(1)), Vec<T>(T(0))));
    });
  }
  for_each_vector<T>(width, [&](auto access, int64_t j) {
    const auto [to_winner, to_loser] = shares(access.load(gradient, j), access.load(count, j));
    access.store(won, j, to_winner);
    access.store(lost, j, to_loser);
  });
  for (int64_t row = 0; row < n; ++row) {
    for_each_vector<T>(width, [&](auto access, int64_t j) {
      const Mask<T> winning = wins(access.load(x + row * stride, j), access.load(best, j));
      access.store(out + row * stride, j,
                   select(winning, access.load(won, j), access.load(lost, j)));
    });
  }
}

template <typename Kind, typename T>
void columns(const void* gradient, const void* x, int64_t n, int64_t stride, int64_t width,
             void* out) {
  for (int64_t j = 0; j < width; j += kTileWidth) {
    share_tile<Kind>(static_cast<const T*>(gradient) + j, static_cast<const T*>(x) + j, n, stride,
                     std::min(kTileWidth, width - j), static_cast<T*>(out) + j);
  }
}

template <typename T>
int64_t count_winners(const void* x, int64_t n, double best) {
  return static_cast<int64_t>(winners(static_cast<const T*>(x), n, static_cast<T>(best)));
}
template <typename T>
void share_piece(const void* x, int64_t n, double best, double gradient, int64_t count, void* out) {
  share_row(static_cast<const T*>(x), n, static_cast<T>(best), static_cast<T>(gradient),
            static_cast<T>(count), static_cast<T*>(out));
}

template <typename T>
int64_t first_winner(const void* source, int64_t n, double best) {
  constexpr int64_t size = Vec<T>::size;
  const T* x = static_cast<const T*>(source);
  const Vec<T> wanted(static_cast<T>(best));
  int64_t i = 0;
  for (; i + 4 * size <= n; i += 4 * size) {
    Mask<T> found = wins(Vec<T>::load(x + i), wanted);
#pragma GCC unroll 3
    for (int k = 1; k < 4; ++k) found = found | wins(Vec<T>::load(x + i + k * size), wanted);
    if (any(found)) break;
  }
  while (i < n && !(x[i] == wanted[0] || x[i] != x[i])) ++i;
  return i;
}

template <typename Kind>
constexpr ExtremeRule extreme_rule(const char* name, const char* reduction) {
  return {name,
          reduction,
          {{rows<Kind, float>, rows<Kind, double>}, {columns<Kind, float>, columns<Kind, double>}},
          {count_winners<float>, count_winners<double>},
          {share_piece<float>, share_piece<double>}};
}

constexpr ExtremeRule kRules[] = {extreme_rule<Max>("max_reduce_backward", "max_reduce"),
                                  extreme_rule<Min>("min_reduce_backward", "min_reduce")};

}  // namespace

std::span<const ExtremeRule> extreme_rules() { return kRules; }

SearchKernel search_kernel() { return {{first_winner<float>, first_winner<double>}}; }

}  // namespace extensor::EX_ISA
