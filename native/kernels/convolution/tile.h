#pragma once

#include "../matrix/gemm_micro.h"
#include "../matrix/gemm_pack.h"
#include "window.h"

namespace extensor::EX_ISA {
namespace {

// A tile of the product of an implicit matrix and a packed panel, as of GEMM. Element (row, step)
// of the matrix is source[rows[row] + steps[step]]; nothing of it is ever copied.
template <typename T>
struct ImplicitTile {
  int64_t depth;
  const T* source;
  const int32_t* rows;
  const int32_t* steps;
  const T* panel;
  T* sums;                 // as wide as the panel
  bool accumulate = true;  // whether the products are added to the sums
};

template <typename T, int Rows, int Vectors>
void compute_implicit_tile(const ImplicitTile<T>& tile) {
  constexpr int lanes = kLanes<T>;
  const T* rows[Rows];
  for (int r = 0; r < Rows; ++r) rows[r] = tile.source + tile.rows[r];
  const int32_t* steps = tile.steps;
  const T* panel = tile.panel;
  Vector<T> sums[Rows][Vectors] = {};
#pragma GCC unroll 2
  for (int64_t step = 0; step < tile.depth; ++step) {
    const int64_t offset = steps[step];
    Vector<T> right[Vectors];
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) right[v] = load(panel + v * lanes);
#pragma GCC unroll 12
    for (int r = 0; r < Rows; ++r) {
      Vector<T> left = broadcast<T>(rows[r][offset]);
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) sums[r][v] += left * right[v];
    }
    panel += Vectors * lanes;
  }
#pragma GCC unroll 12
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) {
      T* target = tile.sums + (r * Vectors + v) * lanes;
      store(target, tile.accumulate ? load(target) + sums[r][v] : sums[r][v]);
    }
  }
}

template <typename T, size_t... Row>
constexpr auto implicit_tile_table(std::index_sequence<Row...>) {
  struct Table {
    void (*functions[kTileRows][kTileVectors])(const ImplicitTile<T>&);
  };
  return Table{{{compute_implicit_tile<T, Row + 1, 1>, compute_implicit_tile<T, Row + 1, 2>}...}};
}

// The products of `count` rows, for as many rows of sums.
template <typename T>
void multiply_implicit(ImplicitTile<T> tile, int64_t count, int64_t width) {
  static constexpr auto table = implicit_tile_table<T>(std::make_index_sequence<kTileRows>{});
  for (int64_t row = 0; row < count;) {
    const int64_t height = tile_height(count - row);
    table.functions[height - 1][width / kLanes<T> - 1](tile);
    tile.rows += height;
    tile.sums += height * width;
    row += height;
  }
}

// Channels are cut into panels as wide as a tile; the last may be one vector wide.
template <typename T>
struct Panels {
  int64_t channels;

  int64_t count() const { return ceil_divide(channels, kTileColumns<T>); }
  int64_t used(int64_t panel) const {
    return minimum<int64_t>(channels - panel * kTileColumns<T>, kTileColumns<T>);
  }
  int64_t width(int64_t panel) const { return round_up(used(panel), kLanes<T>); }
  int64_t total() const { return round_up(channels, kLanes<T>); }
};

// Element (row, column) of `rows` rows, `width` wide, to target[column * stride + row].
template <typename T>
void store_transposed(const T* sums, int64_t width, int64_t rows, int64_t columns, T* target,
                      int64_t stride) {
  int64_t row = 0;
  for (; row + kLanes<T> <= rows; row += kLanes<T>) {
    const T* lines = sums + row * width;
    pack_vector_of_lines([&](int i) { return lines + i * width; }, columns, target + row, stride);
  }
  for (; row < rows; ++row) {
    for (int64_t c = 0; c < columns; ++c) target[c * stride + row] = sums[row * width + c];
  }
}

}  // namespace
}  // namespace extensor::EX_ISA
