#pragma once

#include <type_traits>

#include "../../runtime/scratch.h"
#include "gemm_vector.h"

namespace extensor::EX_ISA {
namespace {

// The register tile: kTileRows x kTileVectors accumulators, plus the loaded vectors of B and one
// broadcast of A, fill the register file (16 registers, or 32 with AVX-512).
inline constexpr int kTileRows = kVectorBytes == 64 ? 12 : 6;
inline constexpr int kTileVectors = 2;
template <typename T>
inline constexpr int kTileColumns = kTileVectors * kLanes<T>;

// Steps of k summed in registers at a time. A panel of B this deep (18 KiB, or 36 with AVX-512,
// whose cores have 48) stays in L1 beside one tile's rows of A.
inline constexpr int64_t kMaximumDepth = 288;

// k is summed in about equal blocks of at most kMaximumDepth, each from zero, added to C in order.
// Whole cache lines keep a block aligned if its operand is.
EX_INLINE int64_t block_depth(int64_t k) {
  return round_up(ceil_divide(k, ceil_divide(k, kMaximumDepth)), 16);
}

// Where a panel of B is packed.
template <typename T>
T* right_scratch() {
  constexpr size_t bytes = kMaximumDepth * kTileColumns<T> * sizeof(T);
  return static_cast<T*>(thread_scratch(Scratch::right, bytes));
}

// How an operand lies in a panel and is multiplied there: as it is, one row of the panel per step.
template <typename Operand>
struct Packing {
  using Element = Operand;
  static int64_t rows(int64_t steps) { return steps; }
};

template <typename Element>
struct Products {
  using Sum = Element;
  EX_INLINE static void add(Vector<Sum>& sum, Vector<Element> left, Vector<Element> right) {
    sum += left * right;
  }
};
template <typename Element>
using SumOf = typename Products<Element>::Sum;

// What happens to a sum on its way into C. Between blocks of k it is only added.
template <typename T>
struct Finish {
  bool accumulate;
  const T* bias;  // of the first column, or null
  Epilogue epilogue;
};

template <typename T>
struct Tile {
  int64_t depth;  // rows of the panels
  const T* a;
  int64_t a_row, a_column;
  const T* b;
  int64_t b_row;
  T* packed_b;  // where the first tile of a column leaves B for the others, side by side
  SumOf<T>* c;
  int64_t c_row;
  int64_t columns;
  Finish<SumOf<T>> finish;
};

template <typename T>
EX_INLINE Vector<T> apply(Epilogue epilogue, Vector<T> value) {
  // Written so that NaN stays NaN.
  if (epilogue == Epilogue::relu) return value < Vector<T>{} ? Vector<T>{} : value;
  return value;
}

// Kept out of line: its moves of odd sizes would cost the tile loop its registers.
template <typename Element, typename T = SumOf<Element>>
[[gnu::noinline]] void finish_partial(const Tile<Element>& tile, int64_t rows, int64_t width,
                                      const T* sums) {
  const Finish<T>& finish = tile.finish;
  for (int64_t column = 0; column < tile.columns; column += kLanes<T>) {
    const int64_t count = tile.columns - column;
    Vector<T> bias = finish.bias ? load_first(finish.bias + column, count) : Vector<T>{};
    for (int64_t r = 0; r < rows; ++r) {
      T* c = tile.c + r * tile.c_row + column;
      Vector<T> sum = load(sums + r * width + column);
      if (finish.accumulate) sum += load_first(c, count);
      if (finish.bias) sum += bias;
      store_first(c, apply<T>(finish.epilogue, sum), count);
    }
  }
}

template <typename Element, int Rows, int Vectors, typename T = SumOf<Element>>
EX_INLINE void finish_whole(const Tile<Element>& tile, Vector<T> (&sums)[Rows][Vectors]) {
  constexpr int lanes = kLanes<T>;
  const Finish<T>& finish = tile.finish;
  auto each = [&](auto change) __attribute__((always_inline)) {
#pragma GCC unroll 12
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) change(sums[r][v], tile.c + r * tile.c_row, v * lanes);
    }
  };
  if (finish.accumulate) each([&](auto& sum, T* c, int column) { sum += load(c + column); });
  if (finish.bias) {
    each([&](auto& sum, T*, int column) { sum += load(finish.bias + column); });
  }
  if (finish.epilogue != Epilogue::none) {
    each([&](auto& sum, T*, int) { sum = apply<T>(finish.epilogue, sum); });
  }
  each([](auto& sum, T* c, int column) { store(c + column, sum); });
}

template <typename T, int Rows, int Vectors, bool Pack>
void compute_tile(const Tile<T>& tile) {
  constexpr int lanes = kLanes<T>;
  constexpr int stride = 3;  // rows per base pointer: reachable as base + {0, 1, 2} * a_row
  constexpr int bases = (Rows + stride - 1) / stride;
  const T* a[bases];
  const int64_t a_row = tile.a_row, a_column = tile.a_column, b_row = tile.b_row;
  for (int i = 0; i < bases; ++i) a[i] = tile.a + i * stride * a_row;
  const T* b = tile.b;
  T* packed = tile.packed_b;
  Vector<SumOf<T>> sums[Rows][Vectors] = {};
  for (int r = 0; r < Rows; ++r) __builtin_prefetch(tile.c + r * tile.c_row, 1);
#pragma GCC unroll 2
  for (int64_t step = tile.depth; step > 0; --step) {
    Vector<T> right[Vectors];
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) {
      right[v] = load(b + v * lanes);
      if constexpr (Pack) {
        __builtin_prefetch(b + (Vectors + v) * lanes, 0, 2);  // the next panel, into L2
        store(packed + v * lanes, right[v]);
      }
    }
#pragma GCC unroll 12
    for (int r = 0; r < Rows; ++r) {
      Vector<T> left = broadcast<T>(a[r / stride][r % stride * a_row]);
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) Products<T>::add(sums[r][v], left, right[v]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < bases; ++i) a[i] += a_column;
    b += b_row;
    if constexpr (Pack) packed += Vectors * lanes;
  }
  if (tile.columns >= Vectors * lanes) return finish_whole(tile, sums);
  SumOf<T> spilled[Rows * Vectors * lanes];
#pragma GCC unroll 12
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) store(spilled + (r * Vectors + v) * lanes, sums[r][v]);
  }
  finish_partial(tile, Rows, Vectors * lanes, spilled);
}

template <typename T>
using TileFunction = void (*)(const Tile<T>&);

// Pairs are made before the first tile.
template <typename T>
inline constexpr bool kMayPack = std::is_same_v<T, SumOf<T>>;

// Indexed by rows - 1, then vectors - 1, then whether B is packed on the way.
template <typename T, size_t... Row>
constexpr auto tile_table(std::index_sequence<Row...>) {
  struct Table {
    TileFunction<T> functions[kTileRows][kTileVectors][2];
  };
  return Table{
      {{{compute_tile<T, Row + 1, 1, false>, compute_tile<T, Row + 1, 1, kMayPack<T>>},
        {compute_tile<T, Row + 1, 2, false>, compute_tile<T, Row + 1, 2, kMayPack<T>>}}...}};
}

template <typename T>
EX_INLINE TileFunction<T> tile_function(int64_t rows, int64_t vectors, bool pack) {
  static constexpr auto table = tile_table<T>(std::make_index_sequence<kTileRows>{});
  return table.functions[rows - 1][vectors - 1][pack];
}

// The height of the next tile of a column with `left` rows. A remainder below four rows has too few
// accumulators to hide the latency of FMA, so it shares with the tile before it.
EX_INLINE int64_t tile_height(int64_t left) {
  if (left <= kTileRows) return left;
  return left < kTileRows + 4 ? ceil_divide(left, 2) : kTileRows;
}

}  // namespace
}  // namespace extensor::EX_ISA
