// The mean of each window of a plane, and its rule: the gradient, divided by the number of elements
// that count, goes to each of them.
#include "../reduction/row_reductions.h"
#include "pooling.h"
#include "window.h"

namespace extensor::EX_ISA {
namespace {

// How many elements of window i count: those on the axis and, if it counts, in the padding.
EX_INLINE int64_t extent(const WindowAxis& axis, int64_t i, bool with_padding) {
  const int64_t beyond = with_padding ? axis.padding : 0;
  const int64_t start = i * axis.stride - axis.padding, end = start + axis.kernel;
  return (end < axis.in + beyond ? end : axis.in + beyond) - (start > -beyond ? start : -beyond);
}

// The windows whose elements all count.
Range full_windows(const WindowAxis& axis, bool with_padding) {
  const int64_t beyond = with_padding ? axis.padding : 0;
  const int64_t first = (axis.padding - beyond + axis.stride - 1) / axis.stride;
  const int64_t end = floor_divide(axis.in + beyond + axis.padding - axis.kernel, axis.stride) + 1;
  return {first < axis.out ? first : axis.out, end < axis.out ? end : axis.out};
}

// The windows from `begin` to `end` of row i: `source` divided by the number of elements that
// count.
template <typename T>
EX_INLINE void divide(const T* source, const Pooling& p, bool with_padding, Range full, int64_t i,
                      int64_t begin, int64_t end, T* target) {
  const int64_t height = extent(p.rows, i, with_padding);
  const T area = static_cast<T>(height * p.columns.kernel);
  int64_t j = begin;
  const auto one_by_one = [&](int64_t stop) {
    for (; j < stop; ++j) {
      target[j - begin] = source[j] / static_cast<T>(height * extent(p.columns, j, with_padding));
    }
  };
  one_by_one(full.first < end ? full.first : end);
  for (const int64_t stop = full.end < end ? full.end : end; j < stop; ++j) {
    target[j - begin] = source[j] / area;
  }
  one_by_one(end);
}

template <typename T>
void mean_planes(const void* x, int64_t planes, const Pooling& p, bool with_padding, void* out) {
  const Range full = full_windows(p.columns, with_padding);
  const Places places(p.columns);
  T* target = static_cast<T*>(out);
  for (int64_t plane = 0; plane < planes; ++plane) {
    accumulate(static_cast<const T*>(x) + plane * p.rows.in * p.columns.in, p, places, T(0), target,
               [](T total, T value) { return total + value; });
    for (int64_t i = 0; i < p.rows.out; ++i, target += p.columns.out) {
      divide(target, p, with_padding, full, i, 0, p.columns.out, target);
    }
  }
}

// The share of each window from `begin` to `end` to each of its elements in one line of the plane.
template <typename T>
EX_INLINE void add_shares(const T* __restrict share, const Pooling& p, const Places& places,
                          int64_t begin, int64_t end, T* __restrict line) {
  for (int64_t l = 0; l < places.count; ++l) {
    const Range some = overlap(places.of[l], begin, end);
    const int64_t shift = places.of[l].shift;
    with_stride(p.columns.stride, [&](auto stride) {
      for (int64_t j = some.first; j < some.end; ++j)
        line[(begin + j) * stride + shift] += share[j];
    });
  }
}

template <typename T>
void mean_rule(const void* gradient, int64_t planes, const Pooling& p, bool with_padding,
               void* out) {
  const Range full = full_windows(p.columns, with_padding);
  const Places places(p.columns);
  const T* incoming = static_cast<const T*>(gradient);
  T* target = static_cast<T*>(out);
  T share[kTile];
  for (int64_t plane = 0; plane < planes; ++plane, target += p.rows.in * p.columns.in) {
    fill(target, p.rows.in * p.columns.in, T(0));
    for (int64_t i = 0; i < p.rows.out; ++i, incoming += p.columns.out) {
      const Range kernel_rows = elements(p.rows, i);
      for (int64_t begin = 0; begin < p.columns.out; begin += kTile) {
        const int64_t end = begin + kTile < p.columns.out ? begin + kTile : p.columns.out;
        divide(incoming, p, with_padding, full, i, begin, end, share);
        for (int64_t k = kernel_rows.first; k < kernel_rows.end; ++k) {
          const int64_t row = i * p.rows.stride - p.rows.padding + k;
          add_shares(share, p, places, begin, end, target + row * p.columns.in);
        }
      }
    }
  }
}

// Window i of `count` that cover an axis evenly.
EX_INLINE Range part(int64_t size, int64_t count, int64_t i) {
  return {i * size / count, ((i + 1) * size - 1) / count + 1};
}

template <typename T>
EX_INLINE T sum_of(const T* x, int64_t n) {
  if (n > 64) {
    return row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) { return access.load(x, i); });
  }
  // Short as a row of a window is, the rest one by one is quicker than a vector that is half empty.
  constexpr int64_t size = Vec<T>::size;
  int64_t i = 0;
  Vec<T> lanes = T(0);
  for (; i + size <= n; i += size) lanes += Vec<T>::load(x + i);
  T total = n < size ? T(0) : horizontal_sum(lanes);
  for (; i < n; ++i) total += x[i];
  return total;
}

// Window by window over all planes of the task, whose memory stays in the cache.
template <typename T>
void adaptive_mean(const void* x, int64_t planes, int64_t height, int64_t width, int64_t rows,
                   int64_t columns, void* out) {
  for (int64_t i = 0; i < rows; ++i) {
    const Range lines = part(height, rows, i);
    for (int64_t j = 0; j < columns; ++j) {
      const Range places = part(width, columns, j);
      const int64_t count = lines.end - lines.first, length = places.end - places.first;
      // Whole lines are one run of memory.
      const int64_t runs = length == width ? 1 : count,
                    n = length == width ? count * width : length;
      const T* source = static_cast<const T*>(x) + lines.first * width + places.first;
      T* target = static_cast<T*>(out) + i * columns + j;
      for (int64_t plane = 0; plane < planes; ++plane) {
        T total = 0;
        for (int64_t k = 0; k < runs; ++k) total += sum_of(source + k * width, n);
        *target = total / static_cast<T>(count * length);
        source += height * width;
        target += rows * columns;
      }
    }
  }
}

template <typename T>
void adaptive_rule(const void* gradient, int64_t planes, int64_t height, int64_t width,
                   int64_t rows, int64_t columns, void* out) {
  fill(static_cast<T*>(out), planes * height * width, T(0));
  for (int64_t i = 0; i < rows; ++i) {
    const Range lines = part(height, rows, i);
    for (int64_t j = 0; j < columns; ++j) {
      const Range places = part(width, columns, j);
      const T area = static_cast<T>((lines.end - lines.first) * (places.end - places.first));
      const T* incoming = static_cast<const T*>(gradient) + i * columns + j;
      T* target = static_cast<T*>(out);
      for (int64_t plane = 0; plane < planes; ++plane) {
        const T share = *incoming / area;
        for (int64_t k = lines.first; k < lines.end; ++k) {
          for (int64_t l = places.first; l < places.end; ++l) target[k * width + l] += share;
        }
        incoming += rows * columns;
        target += height * width;
      }
    }
  }
}

}  // namespace

MeanPooling mean_pooling() {
  return {{mean_planes<float>, mean_planes<double>},
          {mean_rule<float>, mean_rule<double>},
          {adaptive_mean<float>, adaptive_mean<double>},
          {adaptive_rule<float>, adaptive_rule<double>}};
}

}  // namespace extensor::EX_ISA
