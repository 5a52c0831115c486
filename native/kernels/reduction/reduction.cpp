// Sums, products, maxima and minima of contiguous memory, or of its squares or magnitudes, in an
// order fixed by the shape.
//
// Sums are pairwise: blocks of at most kBlock elements are added by parallel lanes, and blocks by a
// balanced tree, so the error grows with the logarithm of the length.
#include "reduction.h"

#include <algorithm>

#include "kinds.h"

namespace extensor::EX_ISA {
namespace {

constexpr int64_t kBlock = 65536;      // elements of a row added without a tree
constexpr int64_t kRun = 4096;         // of those, elements added before the next level
constexpr int64_t kRowsPerBlock = 32;  // rows added into one without a tree
constexpr int64_t kTileWidth = 256;    // columns whose partial sums stay in the first-level cache

constexpr int kLanes = 8;  // vectors: enough independent chains to hide the latency of an addition

template <typename Kind, typename T>
EX_INLINE Vec<T> fold(Vec<T> (&lanes)[kLanes]) {
#pragma GCC unroll 3
  for (int width = kLanes / 2; width > 0; width /= 2) {
#pragma GCC unroll 4
    for (int j = 0; j < width; ++j) lanes[j] = Kind::combine(lanes[j], lanes[j + width]);
  }
  return lanes[0];
}

// Fewer elements than a run, lane by lane.
template <typename Kind, typename T>
EX_INLINE void reduce_rest(const T* x, int64_t n, Vec<T> (&partial)[kLanes]) {
  using V = Vec<T>;
  constexpr int64_t size = V::size;
  const T start = Kind::template start<T>();
#pragma GCC unroll 8
  for (V& p : partial) p = V(start);
  int64_t i = 0;
  for (; i + kLanes * size <= n; i += kLanes * size) {
#pragma GCC unroll 8
    for (int k = 0; k < kLanes; ++k) {
      partial[k] = Kind::combine(partial[k], Kind::term(V::load(x + i + k * size)));
    }
  }
#pragma GCC unroll 8
  for (int k = 0; k < kLanes; ++k, i += size) {
    if (i + size <= n) {
      partial[k] = Kind::combine(partial[k], Kind::term(V::load(x + i)));
    } else if (i < n) {
      partial[k] = Kind::combine(partial[k], Kind::term(V::load_partial(x + i, n - i, start)));
    }
  }
}

// One vector of partial results of a block: lanes, flushed into totals before they grow long, and
// all of it one stream, because each end of a loop costs a trip to memory.
template <typename Kind, typename T>
EX_INLINE Vec<T> reduce_block(const T* x, int64_t n) {
  using V = Vec<T>;
  constexpr int64_t size = V::size;
  V total[kLanes], partial[kLanes];
  for (V& t : total) t = V(Kind::template start<T>());
  int64_t i = 0;
  for (; i + kRun <= n; i += kRun) {
    for (int k = 0; k < kLanes; ++k) partial[k] = Kind::term(V::load(x + i + k * size));
    for (int64_t j = kLanes * size; j < kRun; j += kLanes * size) {
#pragma GCC unroll 8
      for (int k = 0; k < kLanes; ++k) {
        partial[k] = Kind::combine(partial[k], Kind::term(V::load(x + i + j + k * size)));
      }
    }
    for (int k = 0; k < kLanes; ++k) total[k] = Kind::combine(total[k], partial[k]);
  }
  reduce_rest<Kind>(x + i, n - i, partial);
  for (int k = 0; k < kLanes; ++k) total[k] = Kind::combine(total[k], partial[k]);
  return fold<Kind, T>(total);
}

template <typename Kind, typename T>
Vec<T> reduce_vector(const T* x, int64_t n) {
  if (n <= kBlock) return reduce_block<Kind>(x, n);
  const int64_t half = (n / 2 + kBlock - 1) / kBlock * kBlock;
  return Kind::combine(reduce_vector<Kind>(x, half), reduce_vector<Kind>(x + half, n - half));
}

template <typename Kind, typename T>
void reduce_rows(const void* x, int64_t count, int64_t n, void* out) {
  const T* source = static_cast<const T*>(x);
  T* target = static_cast<T*>(out);
  if (n >= kRun) {
    for (int64_t row = 0; row < count; ++row) {
      target[row] = Kind::across(reduce_vector<Kind>(source + row * n, n));
    }
    return;
  }
  // The same sums, but for the totals, which would be those of no run: they fit in registers.
  for (int64_t row = 0; row < count; ++row) {
    Vec<T> partial[kLanes];
    reduce_rest<Kind>(source + row * n, n, partial);
    target[row] = Kind::across(fold<Kind, T>(partial));
  }
}

template <typename Kind, typename T>
EX_INLINE void add_rows(const T* x, int64_t n, int64_t stride, int64_t width, T* out) {
  using V = Vec<T>;
  constexpr int64_t size = V::size;
  int64_t j = 0;
  for (; j + 4 * size <= width; j += 4 * size) {
    V total[4];
    for (V& t : total) t = V(Kind::template start<T>());
    for (int64_t row = 0; row < n; ++row) {
      const T* source = x + row * stride + j;
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k)
        total[k] = Kind::combine(total[k], Kind::term(V::load(source + k * size)));
    }
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) total[k].store(out + j + k * size);
  }
  for (; j < width; j += size) {
    const int64_t count = std::min(size, width - j);
    V total(Kind::template start<T>());
    for (int64_t row = 0; row < n; ++row) {
      total = Kind::combine(total, Kind::term(V::load_partial(x + row * stride + j, count)));
    }
    total.store_partial(out + j, count);
  }
}

template <typename Kind, typename T>
void reduce_tile(const T* x, int64_t n, int64_t stride, int64_t width, T* out) {
  if (n <= kRowsPerBlock) return add_rows<Kind>(x, n, stride, width, out);
  const int64_t half = (n / 2 + kRowsPerBlock - 1) / kRowsPerBlock * kRowsPerBlock;
  T second[kTileWidth];
  reduce_tile<Kind>(x, half, stride, width, out);
  reduce_tile<Kind>(x + half * stride, n - half, stride, width, second);
  for (int64_t j = 0; j < width; j += Vec<T>::size) {
    const int64_t count = std::min<int64_t>(Vec<T>::size, width - j);
    Kind::combine(Vec<T>::load_partial(out + j, count), Vec<T>::load_partial(second + j, count))
        .store_partial(out + j, count);
  }
}

template <typename Kind, typename T>
void reduce_columns(const void* x, int64_t n, int64_t stride, int64_t width, void* out) {
  for (int64_t j = 0; j < width; j += kTileWidth) {
    reduce_tile<Kind>(static_cast<const T*>(x) + j, n, stride, std::min(kTileWidth, width - j),
                      static_cast<T*>(out) + j);
  }
}

template <typename Kind>
constexpr Reduction reduction(const char* name, const char* joined_by) {
  return {name,
          joined_by,
          {reduce_rows<Kind, float>, reduce_rows<Kind, double>},
          {reduce_columns<Kind, float>, reduce_columns<Kind, double>}};
}

constexpr Reduction kReductions[] = {
    reduction<Sum>("sum", "sum"),
    reduction<Product>("prod", "prod"),
    reduction<Max>("max_reduce", "max_reduce"),
    reduction<Min>("min_reduce", "min_reduce"),
    reduction<SumOfSquares>("sum_of_squares", "sum"),
    reduction<SumOfMagnitudes>("sum_of_magnitudes", "sum"),
    reduction<LargestMagnitude>("largest_magnitude", "max_reduce"),
};

}  // namespace

std::span<const Reduction> reductions() { return kReductions; }

}  // namespace extensor::EX_ISA
