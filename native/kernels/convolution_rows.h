// Convolutions with the positions of an output row in the lanes of vectors, for few channels:
// depthwise ones, and the first and last of a network.
#pragma once

#include "convolution_window.h"
#include "gemm_plan.h"

namespace extensor::EX_ISA {
namespace {

// Bytes of source per block: half of a small L2.
inline constexpr int64_t kRowSourceBytes = 128 << 10;
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

// Tasks of equal numbers of items.
template <typename Body>
void for_each_item(ParallelFor run, int64_t items, int64_t tasks, const Body& body) {
  tasks = minimum(tasks, items);
  for_each_task(run, tasks,
                [&](int64_t task) { body(items * task / tasks, items * (task + 1) / tasks); });
}

template <typename T>
void correlate_rows(const Correlation<T>& p, ParallelFor run) {
  const int64_t depth = p.depth();
  const Blocks blocks = cut_into_blocks(p, p.y.out * p.x.out, kRowSourceBytes / sizeof(T));
  const Window window(p, blocks, p.x.step, 0);
  Block<int32_t> steps(depth);
  fill_step_offsets(p, window, steps.get());
  Block<T> weights(p.groups * p.outputs * depth);
  for (int64_t group = 0; group < p.groups; ++group) {
    gather_weights(p, group, 0, p.outputs, weights.get() + group * p.outputs * depth);
  }
  constexpr int64_t width = kRowVectors * kLanes<T>;
  for_each_item(
      run, blocks.count * p.groups, wanted_tasks(4 * p.cost()), [&](int64_t begin, int64_t end) {
        BlockSource<T> source(p, blocks, window);
        for (int64_t item = begin; item < end; ++item) {
          const int64_t block = item / p.groups, group = item % p.groups;
          const int64_t row = blocks.first_row(block), rows = minimum(blocks.rows, p.y.out - row);
          source.copy(block, group);
          for (int64_t m = 0; m < p.outputs;) {
            // Not 3 + 1 but 2 + 2.
            const int64_t left = p.outputs - m;
            const int64_t together = left == 4 ? 2 : minimum<int64_t>(left, kRowOutputs);
            const int64_t output = group * p.outputs + m;
            T* out = p.output(blocks.first_image(block), group) + m * p.out_plane + row * p.out_row;
            for (int64_t column = 0; column < p.x.out; column += width) {
              compute_rows(
                  RowTile<T>{depth, source.get() + column, p.y.step * window.row, steps.get(),
                             weights.get() + output * depth, p.bias ? p.bias + output : nullptr,
                             out + column * p.out_column, p.out_plane, p.out_row, p.out_column,
                             minimum(width, p.x.out - column)},
                  together, rows);
            }
            m += together;
          }
        }
      });
}

// Steps whose products with one gradient are summed side by side.
inline constexpr int64_t kDotSteps = 9;

template <typename T>
struct RowDots {
  const T* gradient;  // rows of whole vectors, with zeros beyond the last column
  const T* source;
  int64_t rows, vectors, source_row;
  const int32_t* steps;
  T* sums;  // a vector for each step
};

template <typename T, int Steps>
void add_row_dots(const RowDots<T>& dots) {
  constexpr int lanes = kLanes<T>;
  int64_t steps[Steps];
  for (int k = 0; k < Steps; ++k) steps[k] = dots.steps[k];
  Vector<T> sums[Steps] = {};
  const T* gradient = dots.gradient;
  for (int64_t row = 0; row < dots.rows; ++row) {
    const T* source = dots.source + row * dots.source_row;
    for (int64_t v = 0; v < dots.vectors; ++v, gradient += lanes, source += lanes) {
      const Vector<T> g = load(gradient);
#pragma GCC unroll 9
      for (int k = 0; k < Steps; ++k) sums[k] += g * load(source + steps[k]);
    }
  }
#pragma GCC unroll 9
  for (int k = 0; k < Steps; ++k)
    store(dots.sums + k * lanes, load(dots.sums + k * lanes) + sums[k]);
}

template <typename T, size_t... Step>
constexpr auto row_dots_table(std::index_sequence<Step...>) {
  struct Table {
    void (*functions[kDotSteps])(const RowDots<T>&);
  };
  return Table{{add_row_dots<T, Step + 1>...}};
}

template <typename T>
void add_all_dots(RowDots<T> dots, int64_t depth) {
  static constexpr auto table = row_dots_table<T>(std::make_index_sequence<kDotSteps>{});
  const int64_t passes = ceil_divide(depth, kDotSteps);
  for (int64_t pass = 0; pass < passes; ++pass) {
    const int64_t begin = depth * pass / passes, count = depth * (pass + 1) / passes - begin;
    RowDots<T> part = dots;
    part.steps += begin;
    part.sums += begin * kLanes<T>;
    table.functions[count - 1](part);
  }
}

// As grad_weight_channels.
template <typename T>
void grad_weight_rows(const Correlation<T>& p, const T* gradient, T* out, ParallelFor run) {
  constexpr int64_t lanes = kLanes<T>;
  const int64_t depth = p.depth(), wanted = wanted_tasks(4 * p.cost());
  const int64_t plane = p.y.out * p.x.out, width = round_up(p.x.out, lanes);
  const Blocks blocks = cut_into_blocks(p, plane, kRowSourceBytes / sizeof(T));
  const Window window(p, blocks, p.x.step, width - p.x.out);
  Block<int32_t> steps(depth);
  fill_step_offsets(p, window, steps.get());
  const int64_t splits = maximum<int64_t>(minimum(wanted / p.groups, blocks.count), 1);
  const int64_t size = p.groups * p.outputs * depth;
  Block<T> all_sums(splits * size);
  for_each_item(run, splits * p.groups, wanted, [&](int64_t begin, int64_t end) {
    BlockSource<T> source(p, blocks, window);
    Block<T> rows_of_gradient(blocks.rows * width), sums(p.outputs * depth * lanes);
    for (int64_t item = begin; item < end; ++item) {
      const int64_t split = item / p.groups, group = item % p.groups;
      for (int64_t i = 0; i < p.outputs * depth * lanes; ++i) sums.get()[i] = T{0};
      for (int64_t block = blocks.count * split / splits;
           block < blocks.count * (split + 1) / splits; ++block) {
        source.copy(block, group);
        const int64_t row = blocks.first_row(block), rows = minimum(blocks.rows, p.y.out - row);
        for (int64_t m = 0; m < p.outputs; ++m) {
          const int64_t channel = (blocks.first_image(block) * p.groups + group) * p.outputs + m;
          const T* from = gradient + channel * plane + row * p.x.out;
          for (int64_t i = 0; i < rows; ++i) {
            T* line = rows_of_gradient.get() + i * width;
            copy_elements(from + i * p.x.out, line, p.x.out);
            for (int64_t j = p.x.out; j < width; ++j) line[j] = T{0};
          }
          add_all_dots(
              RowDots<T>{rows_of_gradient.get(), source.get(), rows, width / lanes,
                         p.y.step * window.row, steps.get(), sums.get() + m * depth * lanes},
              depth);
        }
      }
      T* target = all_sums.get() + split * size + group * p.outputs * depth;
      for (int64_t i = 0; i < p.outputs * depth; ++i) {
        const Quad<T> quad = fold<T>(load(sums.get() + i * lanes));
        T sum = quad[0];
        for (int j = 1; j < kQuadLanes<T>; ++j) sum += quad[j];
        target[i] = sum;
      }
    }
  });
  for (int64_t i = 0; i < size; ++i) {
    T sum = all_sums.get()[i];
    for (int64_t split = 1; split < splits; ++split) sum += all_sums.get()[split * size + i];
    out[i] = sum;
  }
}

}  // namespace
}  // namespace extensor::EX_ISA
