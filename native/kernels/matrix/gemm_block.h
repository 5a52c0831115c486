#pragma once

#include "gemm_micro.h"
#include "gemm_pack.h"
#include "gemv.h"

namespace extensor::EX_ISA {
namespace {

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// Rows of A walked per panel of B. Packed they must stay in L2 (1 MiB here, 2 on newer cores)
// beside the passing panels of B and rows of C.
inline constexpr int64_t kBlockRows = 504;

// A tile of packed A is as wide as its rows if one vector covers them: what each store writes too
// much, the next one overwrites. Narrower vectors get whole multiples.
template <typename T>
inline constexpr int64_t kPackedRows =
    kTileRows <= kLanes<T> ? kTileRows : (kTileRows + kLanes<T> - 1) / kLanes<T> * kLanes<T>;

// The rows of A of one block: tile t starts at data + t * tile_stride.
template <typename T>
struct Left {
  const T* data;
  int64_t row, column;
  int64_t tile_rows_stride;  // to the next tile, per row of this one
  int64_t tile_stride;       // to the next tile, fixed part
};

template <typename T>
T* left_scratch(size_t count) {
  return static_cast<T*>(thread_scratch(Scratch::left, count * sizeof(T)));
}

// Packing reads and writes each element of A once; it pays when many panels of B pass by, or when
// the rows of a tile lie so far from step to step that each costs a page and a cache set of its
// own.
template <typename Operand>
bool packs_left(const Gemm<Operand>& p, int64_t columns) {
  if constexpr (!std::is_same_v<Operand, typename Packing<Operand>::Element>) return true;
  constexpr int64_t far = 2048 / sizeof(Operand);
  const bool steps_are_far = p.a_column >= far || p.a_column <= -far;
  return columns >= (steps_are_far ? 64 : 512);
}

template <typename Operand, typename T = typename Packing<Operand>::Element>
Left<T> prepare_left(const Gemm<Operand>& p, Range rows, Range steps, bool pack) {
  const Operand* a = p.a + rows.begin * p.a_row + steps.begin * p.a_column;
  if constexpr (std::is_same_v<Operand, T>) {
    if (!pack) return {a, p.a_row, p.a_column, p.a_row, 0};
  }
  constexpr int64_t width = kPackedRows<T>;
  const int64_t depth = steps.size();
  // Panels must not share cache sets.
  const int64_t panel_size = width * Packing<Operand>::rows(depth) + 64 / sizeof(T);
  T* packed = left_scratch<T>((rows.size() / 4 + 2) * panel_size);
  int64_t offsets[kBlockRows / 4 + 2], panels = 0;
  for (int64_t row = 0; row < rows.size(); row += tile_height(rows.size() - row)) {
    offsets[panels++] = row;
  }
  const Lines<Operand> lines{a, p.a_row, p.a_column, p.m - rows.begin, p.k - steps.begin};
  pack_panels(lines, depth, offsets, panels, packed, panel_size, width);
  return {packed, 1, width, 0, panel_size};
}

// One panel of columns against all rows of the block. When B can be read as it lies, the first tile
// packs it in passing.
template <typename Operand, typename T>
void multiply_column(const Gemm<Operand>& p, Range rows, Range steps, int64_t column,
                     int64_t columns, const Left<T>& left, const Finish<SumOf<T>>& finish) {
  const int64_t vectors = ceil_divide(columns, kLanes<T>);
  const int64_t width = vectors * kLanes<T>;
  const Operand* b = p.b + steps.begin * p.b_row + column * p.b_column;
  T* packed = right_scratch<T>();
  Tile<T> tile{
      Packing<Operand>::rows(steps.size()), left.data, left.row, left.column, packed, width, packed,
      p.c + rows.begin * p.c_row + column,  p.c_row,   columns,  finish};
  bool pack_in_passing = false;
  if constexpr (std::is_same_v<Operand, T>) {
    pack_in_passing = p.b_column == 1 && columns == width;
    if (pack_in_passing) {
      tile.b = b;
      tile.b_row = p.b_row;
    }
  }
  if (!pack_in_passing) {
    const Lines<Operand> lines{b, p.b_column, p.b_row, p.n - column, p.k - steps.begin};
    const int64_t offset = 0;
    pack_panels(lines, steps.size(), &offset, 1, packed, 0, width);
  }
  for (int64_t row = 0; row < rows.size();) {
    int64_t height = tile_height(rows.size() - row);
    bool more = height < rows.size() - row;
    tile_function<T>(height, vectors, pack_in_passing && more)(tile);
    tile.a += height * left.tile_rows_stride + left.tile_stride;
    tile.c += height * p.c_row;
    tile.b = packed;
    tile.b_row = width;
    pack_in_passing = false;
    row += height;
  }
}

template <typename Operand, typename T = typename Packing<Operand>::Element>
void multiply_tiles(const Gemm<Operand>& p, Range rows, Range columns) {
  const int64_t step_depth = block_depth(p.k);
  const int64_t chunks = ceil_divide(rows.size(), kBlockRows);
  const int64_t chunk_rows = round_up(ceil_divide(rows.size(), chunks), kTileRows);
  const bool pack = packs_left(p, columns.size());
  for (int64_t row = rows.begin; row < rows.end; row += chunk_rows) {
    Range chunk{row, minimum(row + chunk_rows, rows.end)};
    for (int64_t step = 0; step < p.k; step += step_depth) {
      Range steps{step, minimum(step + step_depth, p.k)};
      const bool last = steps.end == p.k;
      Left<T> left = prepare_left(p, chunk, steps, pack);
      for (int64_t column = columns.begin; column < columns.end; column += kTileColumns<T>) {
        int64_t count = minimum<int64_t>(columns.end - column, kTileColumns<T>);
        Finish<SumOf<T>> finish{p.accumulate || step > 0,
                                last && p.bias ? p.bias + column : nullptr,
                                last ? p.epilogue : Epilogue::none};
        multiply_column(p, chunk, steps, column, count, left, finish);
      }
    }
  }
}

template <typename Operand>
VectorMatrix<Operand> as_vector_matrix(const Gemm<Operand>& p, Range rows, Range columns) {
  if (p.m == 1) {
    return {columns.size(),
            p.k,
            p.a,
            p.a_column,
            p.b + columns.begin * p.b_column,
            p.b_column,
            p.b_row,
            p.c + columns.begin,
            1,
            p.bias ? p.bias + columns.begin : nullptr,
            1,
            p.accumulate,
            p.epilogue};
  }
  return {rows.size(),
          p.k,
          p.b,
          p.b_row,
          p.a + rows.begin * p.a_row,
          p.a_row,
          p.a_column,
          p.c + rows.begin * p.c_row,
          p.c_row,
          p.bias,
          0,
          p.accumulate,
          p.epilogue};
}

template <typename T>
T finish_scalar(const Finish<T>& finish, T old, T sum) {
  T value = finish.accumulate ? old + sum : sum;
  if (finish.bias) value += *finish.bias;
  return finish.epilogue == Epilogue::relu && value < T{0} ? T{0} : value;
}

template <typename Operand>
void multiply_range(const Gemm<Operand>& p, Range rows, Range columns) {
  if (p.m == 1 || p.n == 1) {
    return multiply_vector_matrix(as_vector_matrix(p, rows, columns));
  }
  multiply_tiles(p, rows, columns);
}

// A product without a sum: only accumulate, bias and epilogue remain.
template <typename Operand, typename T = typename Gemm<Operand>::Result>
void finish_without_sum(const Gemm<Operand>& p) {
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      T* c = p.c + i * p.c_row + j;
      *c = finish_scalar<T>({p.accumulate, p.bias ? p.bias + j : nullptr, p.epilogue}, *c, T{0});
    }
  }
}

}  // namespace
}  // namespace extensor::EX_ISA
