// Kernels of 3 x 3 over one channel, unrolled: the weights, or the sums of their gradients, stay in
// registers, and a tile of output rows reads each element of the source once for each column of the
// kernel.
#pragma once

#include "window.h"

namespace extensor::EX_ISA {
namespace {

inline constexpr int kUnrolledSize = 3;
// Bytes of source per block: a quarter of L1, beside what is read and written.
inline constexpr int64_t kUnrolledSourceBytes = 8 << 10;
// Rows of a tile: with nine weights and an element of the source they fill 14 of 16 registers.
inline constexpr int kUnrolledRows = 4;

// Whether a correlation has such kernels; columns may be spaced and stepped over at will, as
// copying the source puts those that a vector reads side by side.
template <typename T>
bool is_unrolled(const Correlation<T>& p) {
  return p.channels == 1 && p.y.taps == kUnrolledSize && p.x.taps == kUnrolledSize &&
         p.y.spacing == 1 && p.y.step <= 2 && p.out_column == 1;
}

// Where the outputs of one channel read the source of a block.
struct UnrolledShape {
  int64_t columns;  // of the output
  int64_t source_row;
  int64_t offsets[kUnrolledSize];  // of the columns of the kernel

  template <typename T>
  UnrolledShape(const Correlation<T>& p, const Window& window)
      : columns(p.x.out), source_row(window.row) {
    for (int t = 0; t < kUnrolledSize; ++t) offsets[t] = window.column(t * p.x.spacing);
  }
};

// Calls use(i, s, t, x) for output row i, element (s, t) of the kernel and the vector they meet.
template <typename T, int Step, int Rows, typename Use>
EX_INLINE void for_each_product(const UnrolledShape& shape, const T* source, Use use) {
#pragma GCC unroll 16
  for (int r = 0; r < (Rows - 1) * Step + kUnrolledSize; ++r, source += shape.source_row) {
#pragma GCC unroll 4
    for (int t = 0; t < kUnrolledSize; ++t) {
      const Vector<T> x = load(source + shape.offsets[t]);
#pragma GCC unroll 4
      for (int s = 0; s < kUnrolledSize; ++s) {
        if (r >= s && (r - s) % Step == 0 && (r - s) / Step < Rows) use((r - s) / Step, s, t, x);
      }
    }
  }
}

// Calls tile(rows, row) for tiles of rows, then for the rows that are left.
template <typename Tile>
EX_INLINE void for_each_row_tile(int64_t rows, Tile tile) {
  int64_t row = 0;
  for (; row + kUnrolledRows <= rows; row += kUnrolledRows) {
    tile(std::integral_constant<int, kUnrolledRows>{}, row);
  }
  for (; row < rows; ++row) tile(std::integral_constant<int, 1>{}, row);
}

// Out of line, as it would cost wider rows their registers.
template <typename T>
[[gnu::noinline]] void store_narrow(T* target, Vector<T> value, int64_t count) {
  store_first(target, value, count);
}

// `rows` rows of an output; `weights` are in the order of what they meet.
template <typename T, int Step>
void correlate_unrolled(const UnrolledShape shape, const T* source, int64_t rows, const T* weights,
                        T bias, T* out, int64_t out_row) {
  Vector<T> weight[kUnrolledSize][kUnrolledSize];
#pragma GCC unroll 4
  for (int s = 0; s < kUnrolledSize; ++s) {
#pragma GCC unroll 4
    for (int t = 0; t < kUnrolledSize; ++t) {
      weight[s][t] = broadcast<T>(weights[s * kUnrolledSize + t]);
    }
  }
  const int64_t width = minimum<int64_t>(kLanes<T>, shape.columns);
  for_each_row_tile(rows, [&](auto height, int64_t row) __attribute__((always_inline)) {
    constexpr int count = height;
    for (int64_t next = 0; next < shape.columns; next += width) {
      // The last vector ends with the last column.
      const int64_t column = minimum(next, shape.columns - width);
      Vector<T> sums[count];
#pragma GCC unroll 4
      for (int i = 0; i < count; ++i) sums[i] = broadcast<T>(bias);
      for_each_product<T, Step, count>(
          shape, source + row * Step * shape.source_row + column,
          [&](int i, int s, int t, Vector<T> x)
              __attribute__((always_inline)) { sums[i] += weight[s][t] * x; });
      T* target = out + row * out_row + column;
#pragma GCC unroll 4
      for (int i = 0; i < count; ++i, target += out_row) {
        if (shape.columns < kLanes<T>) {
          store_narrow<T>(target, sums[i], shape.columns);
        } else {
          store(target, sums[i]);
        }
      }
    }
  });
}

// Keeps the first `count` lanes of a vector and clears the others.
template <typename T>
class LaneMask {
 public:
  EX_INLINE explicit LaneMask(int64_t count) {
    Bits lanes;
    for (int i = 0; i < kLanes<T>; ++i) lanes[i] = i;
    bits_ = lanes < static_cast<Lane>(minimum<int64_t>(count, kLanes<T>));
  }
  EX_INLINE Vector<T> keep(Vector<T> v) const {
    return reinterpret_cast<Vector<T>>(reinterpret_cast<Bits>(v) & bits_);
  }

 private:
  using Lane = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  using Bits = Raw<Lane, kVectorBytes>;
  Bits bits_;
};

// Adds to `sums`, a vector for each element of the kernel, its products with `rows` rows of a
// gradient, which lies in memory that ends at `end`.
template <typename T, int Step>
void add_unrolled_dots(const UnrolledShape shape, const T* source, int64_t rows, const T* gradient,
                       const T* end, T* sums) {
  Vector<T> sum[kUnrolledSize][kUnrolledSize] = {};
  for_each_row_tile(rows, [&](auto height, int64_t row) __attribute__((always_inline)) {
    constexpr int count = height;
    for (int64_t column = 0; column < shape.columns; column += kLanes<T>) {
      // Beyond the last column both factors become zero: an infinity there must not be met by one.
      const LaneMask<T> mask(shape.columns - column);
      Vector<T> g[count];
#pragma GCC unroll 4
      for (int i = 0; i < count; ++i) {
        const T* from = gradient + (row + i) * shape.columns + column;
        g[i] = mask.keep(end - from < kLanes<T> ? load_first(from, end - from) : load(from));
      }
      for_each_product<T, Step, count>(
          shape, source + row * Step * shape.source_row + column,
          [&](int i, int s, int t, Vector<T> x)
              __attribute__((always_inline)) { sum[s][t] += g[i] * mask.keep(x); });
    }
  });
#pragma GCC unroll 4
  for (int s = 0; s < kUnrolledSize; ++s) {
#pragma GCC unroll 4
    for (int t = 0; t < kUnrolledSize; ++t) {
      T* target = sums + (s * kUnrolledSize + t) * kLanes<T>;
      store(target, load(target) + sum[s][t]);
    }
  }
}

}  // namespace
}  // namespace extensor::EX_ISA
