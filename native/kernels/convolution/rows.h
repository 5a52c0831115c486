// Convolutions with the positions of an output row in the lanes of vectors, for few channels:
// depthwise ones, and the first and last of a network.
#pragma once

#include <algorithm>

#include "../matrix/gemm_plan.h"
#include "unrolled.h"

namespace extensor::EX_ISA {
namespace {

// Bytes of source per block: half of a small L2.
inline constexpr int64_t kRowSourceBytes = 128 << 10;
// Memory makes a product here about this much dearer than one of a large matrix.
inline constexpr int64_t kRowCost = 4;
// The most outputs and vectors of a row that are summed at once.
inline constexpr int kRowOutputs = 3, kRowVectors = 4;

// Rows of several outputs side by side: each position adds weights[k] * source[steps[k]], from its
// place in the source on.
template <typename T>
struct RowTile {
  int64_t depth;
  const T* source;
  int64_t source_row;
  const int32_t* steps;
  const T* weights;  // `depth` for each output
  const T* bias;     // one for each output, or null
  T* out;
  int64_t out_plane, out_row, out_column;
  int64_t columns;
};

// Out of line, as it would cost the loop over the steps its registers.
template <typename T>
[[gnu::noinline]] void store_some(const RowTile<T>& tile, int64_t outputs, int64_t rows,
                                  int64_t width, const T* sums) {
  for (int64_t m = 0; m < outputs; ++m) {
    for (int64_t r = 0; r < rows; ++r, sums += width) {
      T* out = tile.out + m * tile.out_plane + r * tile.out_row;
      if (tile.out_column == 1) {
        copy_elements(sums, out, tile.columns);
      } else {
        for (int64_t j = 0; j < tile.columns; ++j) out[j * tile.out_column] = sums[j];
      }
    }
  }
}

template <typename T, int Outputs, int Rows, int Vectors>
void compute_row_tile(const RowTile<T>& tile) {
  constexpr int lanes = kLanes<T>;
  const T* rows[Rows];
  for (int r = 0; r < Rows; ++r) rows[r] = tile.source + r * tile.source_row;
  // The last vector ends with the last column.
  const int64_t last = tile.columns < lanes ? 0 : tile.columns - lanes;
  const auto column = [&](int v) { return v < Vectors - 1 ? v * lanes : last; };
  const T* weights[Outputs];
  for (int m = 0; m < Outputs; ++m) weights[m] = tile.weights + m * tile.depth;
  Vector<T> sums[Outputs][Rows][Vectors];
  auto each = [&](auto change) __attribute__((always_inline)) {
#pragma GCC unroll 3
    for (int m = 0; m < Outputs; ++m) {
#pragma GCC unroll 8
      for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; ++v) change(sums[m][r][v], m, r, v);
      }
    }
  };
  each([&](auto& sum, int m, int, int) {
    sum = tile.bias ? broadcast<T>(tile.bias[m]) : Vector<T>{};
  });
  for (int64_t k = 0; k < tile.depth; ++k) {
    const int64_t offset = tile.steps[k];
    Vector<T> weight[Outputs];
#pragma GCC unroll 3
    for (int m = 0; m < Outputs; ++m) weight[m] = broadcast<T>(weights[m][k]);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) {
        const Vector<T> x = load(rows[r] + offset + column(v));
#pragma GCC unroll 3
        for (int m = 0; m < Outputs; ++m) sums[m][r][v] += weight[m] * x;
      }
    }
  }
  if (tile.out_column == 1 && tile.columns >= lanes) {
    each([&](auto& sum, int m, int r, int v) {
      store(tile.out + m * tile.out_plane + r * tile.out_row + column(v), sum);
    });
    return;
  }
  T spilled[Outputs * Rows * Vectors * lanes];
  each([&](auto& sum, int m, int r, int v) {
    store(spilled + (m * Rows + r) * Vectors * lanes + column(v), sum);
  });
  store_some(tile, Outputs, Rows, Vectors * lanes, spilled);
}

// So many rows at once that their sums hide the latency of FMA and fit into 16 registers.
constexpr int rows_together(int outputs, int vectors) {
  return maximum(1, (outputs == 1 ? 8 : 12) / (outputs * vectors));
}

template <typename T, int Outputs, int Vectors>
void compute_rows(RowTile<T> tile, int64_t rows) {
  constexpr int64_t height = rows_together(Outputs, Vectors);
  const bool single = rows < height;
  const T* source = tile.source;
  T* out = tile.out;
  // The last rows may be computed twice.
  for (int64_t row = 0; row < rows; row += single ? 1 : height) {
    const int64_t first = single ? row : minimum(row, rows - height);
    tile.source = source + first * tile.source_row;
    tile.out = out + first * tile.out_row;
    if (single) {
      compute_row_tile<T, Outputs, 1, Vectors>(tile);
    } else {
      compute_row_tile<T, Outputs, height, Vectors>(tile);
    }
  }
}

template <typename T>
void compute_rows(const RowTile<T>& tile, int64_t outputs, int64_t rows) {
  using Function = void (*)(RowTile<T>, int64_t);
  static constexpr Function functions[kRowOutputs][kRowVectors] = {
      {compute_rows<T, 1, 1>, compute_rows<T, 1, 2>, compute_rows<T, 1, 3>, compute_rows<T, 1, 4>},
      {compute_rows<T, 2, 1>, compute_rows<T, 2, 2>, compute_rows<T, 2, 3>, compute_rows<T, 2, 4>},
      {compute_rows<T, 3, 1>, compute_rows<T, 3, 2>, compute_rows<T, 3, 3>, compute_rows<T, 3, 4>}};
  functions[outputs - 1][ceil_divide(tile.columns, kLanes<T>) - 1](tile, rows);
}

template <typename T>
Blocks cut_into_row_blocks(const Correlation<T>& p, bool unrolled) {
  const int64_t bytes = unrolled ? kUnrolledSourceBytes : kRowSourceBytes;
  return cut_into_blocks(p, p.y.out * p.x.out, bytes / static_cast<int64_t>(sizeof(T)));
}

template <typename T>
class RowCorrelation {
 public:
  explicit RowCorrelation(const Correlation<T>& p)
      : p_(p),
        depth_(p.depth()),
        unrolled_(is_unrolled(p)),
        blocks_(cut_into_row_blocks(p, unrolled_)),
        window_(p, blocks_, p.x.step, 0),
        unrolled_shape_(p, window_),
        steps_(depth_),
        weights_(p.groups * p.outputs * depth_) {
    fill_step_offsets(p, window_, steps_.get());
    for (int64_t group = 0; group < p.groups; ++group) {
      gather_weights(p, group, 0, p.outputs, weights_.get() + group * p.outputs * depth_);
    }
    if (unrolled_ && p.x.reversed) {
      for (int64_t m = 0; m < p.groups * p.outputs; ++m) {
        std::reverse(weights_.get() + m * depth_, weights_.get() + (m + 1) * depth_);
      }
    }
  }

  void run(ParallelFor run) const {
    const int64_t tasks = wanted_tasks(kRowCost * p_.cost());
    for_each_item(run, blocks_.count * p_.groups, tasks, [&](int64_t begin, int64_t end) {
      BlockSource<T> source(p_, blocks_, window_);
      for (int64_t i = begin; i < end; ++i) {
        const auto [block, group] = blocks_.item(i, p_.groups);
        source.copy(block, group);
        compute(block, group, source.get());
      }
    });
  }

 private:
  void compute(int64_t block, int64_t group, const T* source) const {
    constexpr int64_t width = kRowVectors * kLanes<T>;
    const int64_t row = blocks_.first_row(block), rows = minimum(blocks_.rows, p_.y.out - row);
    T* out = p_.output(blocks_.first_image(block), group) + row * p_.out_row;
    if (unrolled_) return compute_unrolled(group, source, rows, out);
    for (int64_t m = 0; m < p_.outputs;) {
      // Four are not 3 + 1 but 2 + 2.
      const int64_t left = p_.outputs - m;
      const int64_t together = left == 4 ? 2 : minimum<int64_t>(left, kRowOutputs);
      const int64_t output = group * p_.outputs + m;
      for (int64_t column = 0; column < p_.x.out; column += width) {
        const RowTile<T> tile{depth_,
                              source + column,
                              p_.y.step * window_.row,
                              steps_.get(),
                              weights_.get() + output * depth_,
                              p_.bias ? p_.bias + output : nullptr,
                              out + m * p_.out_plane + column * p_.out_column,
                              p_.out_plane,
                              p_.out_row,
                              p_.out_column,
                              minimum(width, p_.x.out - column)};
        compute_rows(tile, together, rows);
      }
      m += together;
    }
  }

  void compute_unrolled(int64_t group, const T* source, int64_t rows, T* out) const {
    const auto correlate = p_.y.step == 1 ? correlate_unrolled<T, 1> : correlate_unrolled<T, 2>;
    for (int64_t m = 0; m < p_.outputs; ++m, out += p_.out_plane) {
      const int64_t output = group * p_.outputs + m;
      correlate(unrolled_shape_, source, rows, weights_.get() + output * depth_,
                p_.bias ? p_.bias[output] : T{0}, out, p_.out_row);
    }
  }

  const Correlation<T>& p_;
  const int64_t depth_;
  const bool unrolled_;
  const Blocks blocks_;
  const Window window_;
  const UnrolledShape unrolled_shape_;
  const Block<int32_t> steps_;
  const Block<T> weights_;
};

template <typename T>
void correlate_rows(const Correlation<T>& p, ParallelFor run) {
  RowCorrelation<T>(p).run(run);
}

}  // namespace
}  // namespace extensor::EX_ISA
