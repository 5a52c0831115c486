// Max and mean of windows that slide over planes, and their rules. A plane is written by one task,
// element by element in a fixed order.
//
// The loops over windows, the innermost ones, have no branches: for each place in a window they go
// along those windows of a row for which that place is inside the plane.
#include "pooling.h"

#include "row_reductions.h"

namespace extensor::EX_ISA {
namespace {

constexpr int64_t kTile = 256;  // windows whose winners stay in the first-level cache

// The windows from first to end have their element k on the axis, at i * stride + shift.
struct Inside {
  int64_t first, end, shift;
};

EX_INLINE int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

EX_INLINE Inside inside(const WindowAxis& axis, int64_t k) {
  const int64_t shift = k * axis.dilation - axis.padding;
  const int64_t first = -floor_divide(shift, axis.stride);
  const int64_t end = floor_divide(axis.in - 1 - shift, axis.stride) + 1;
  return {first > 0 ? first : 0, end < axis.out ? end : axis.out, shift};
}

// Which elements of window i are on the axis.
struct Range {
  int64_t first, end;
};

EX_INLINE Range elements(const WindowAxis& axis, int64_t i) {
  const int64_t start = i * axis.stride - axis.padding;
  const int64_t first = -floor_divide(start, axis.dilation);
  const int64_t end = floor_divide(axis.in - 1 - start, axis.dilation) + 1;
  return {first > 0 ? first : 0, end < axis.kernel ? end : axis.kernel};
}

// The windows from `begin` to `end` among them, counted from `begin`.
EX_INLINE Range overlap(const Inside& windows, int64_t begin, int64_t end) {
  return {windows.first > begin ? windows.first - begin : 0,
          (windows.end < end ? windows.end : end) - begin};
}

// How many elements of window i count: those on the axis and, if it counts, in the padding.
EX_INLINE int64_t extent(const WindowAxis& axis, int64_t i, bool with_padding) {
  const int64_t beyond = with_padding ? axis.padding : 0;
  const int64_t start = i * axis.stride - axis.padding, end = start + axis.kernel;
  return (end < axis.in + beyond ? end : axis.in + beyond) - (start > -beyond ? start : -beyond);
}

// Calls step with the stride, as a constant where it is a common one.
template <typename Step>
EX_INLINE void with_stride(int64_t stride, Step step) {
  if (stride == 1) return step(std::integral_constant<int64_t, 1>{});
  if (stride == 2) return step(std::integral_constant<int64_t, 2>{});
  step(stride);
}

// NaN if either is. Two selections, as GCC makes a vector of no condition with an "or".
template <typename T>
EX_INLINE T larger(T a, T b) {
  const T number = a > b ? a : b;
  return a != a ? a : number;
}
// Whether a later element takes the place of the best one so far: NaN counts as largest.
template <typename Number>
EX_INLINE auto beats(Number later, Number best) {
  return (later > best) | ((later != later) & (best == best));
}

bool halves(const WindowAxis& axis) {
  return axis.kernel == 2 && axis.stride == 2 && axis.dilation == 1 && axis.padding == 0 &&
         2 * axis.out <= axis.in;
}

// combine(out[i], x[window element]) for every element of every window of every row of a plane.
template <typename T, typename Combine>
EX_INLINE void accumulate(const T* x, const Pooling& p, T start, T* out, Combine combine) {
  for (int64_t i = 0; i < p.rows.out; ++i) {
    T* __restrict target = out + i * p.columns.out;
    for (int64_t j = 0; j < p.columns.out; ++j) target[j] = start;
    const Range kernel_rows = elements(p.rows, i);
    for (int64_t k = kernel_rows.first; k < kernel_rows.end; ++k) {
      const int64_t row = i * p.rows.stride - p.rows.padding + k * p.rows.dilation;
      for (int64_t l = 0; l < p.columns.kernel; ++l) {
        const Inside columns = inside(p.columns, l);
        const T* __restrict line = x + row * p.columns.in;
        with_stride(p.columns.stride, [&](auto stride) {
          for (int64_t j = columns.first; j < columns.end; ++j) {
            target[j] = combine(target[j], line[j * stride + columns.shift]);
          }
        });
      }
    }
  }
}

template <typename T>
void max_planes(const void* x, int64_t planes, const Pooling& p, void* out) {
  const T* source = static_cast<const T*>(x);
  T* target = static_cast<T*>(out);
  const bool quarters = halves(p.rows) && halves(p.columns);
  for (int64_t plane = 0; plane < planes; ++plane) {
    if (quarters) {
      for (int64_t i = 0; i < p.rows.out; ++i) {
        const T* __restrict upper = source + 2 * i * p.columns.in;
        const T* __restrict lower = upper + p.columns.in;
        T* __restrict best = target + i * p.columns.out;
        for (int64_t j = 0; j < p.columns.out; ++j) {
          best[j] = larger(larger(upper[2 * j], upper[2 * j + 1]),
                           larger(lower[2 * j], lower[2 * j + 1]));
        }
      }
    } else {
      accumulate(source, p, -static_cast<T>(__builtin_inf()), target,
                 [](T best, T value) { return larger(best, value); });
    }
    source += p.rows.in * p.columns.in;
    target += p.rows.out * p.columns.out;
  }
}

template <typename T>
EX_INLINE void fill(T* target, int64_t n, T value) {
  for (int64_t i = 0; i < n; ++i) target[i] = value;
}

template <typename T>
struct EvenOdd {
  Vec<T> even, odd;
};

template <typename T, size_t... I>
EX_INLINE EvenOdd<T> load_pairs(const T* source, std::index_sequence<I...>) {
  constexpr int n = sizeof...(I);
  const auto low = Vec<T>::load(source).raw, high = Vec<T>::load(source + n).raw;
  return {Vec<T>(__builtin_shufflevector(low, high, static_cast<int>(2 * I)...)),
          Vec<T>(__builtin_shufflevector(low, high, static_cast<int>(2 * I + 1)...))};
}
template <typename T, size_t... I>
EX_INLINE void store_pairs(T* target, Vec<T> even, Vec<T> odd, std::index_sequence<I...>) {
  constexpr int n = sizeof...(I);
  Vec<T>(__builtin_shufflevector(even.raw, odd.raw, static_cast<int>(I / 2 + I % 2 * n)...))
      .store(target);
  Vec<T>(__builtin_shufflevector(even.raw, odd.raw, static_cast<int>((I + n) / 2 + I % 2 * n)...))
      .store(target + n);
}

// The gradients of as many windows of two by two, side by side, as a vector has lanes.
template <typename T>
EX_INLINE void share_quarters(const T* gradient, const T* upper, const T* lower, T* above,
                              T* below) {
  constexpr auto lanes = std::make_index_sequence<Vec<T>::size>{};
  const auto [a, b] = load_pairs(upper, lanes);
  const auto [c, d] = load_pairs(lower, lanes);
  const Mask<T> right = beats(b, a), last = beats(d, c);
  const Mask<T> under = beats(select(last, d, c), select(right, b, a));
  const Vec<T> g = Vec<T>::load(gradient), zero = T(0);
  const Vec<T> up = select(under, zero, g), down = select(under, g, zero);
  store_pairs(above, select(right, zero, up), select(right, up, zero), lanes);
  store_pairs(below, select(last, zero, down), select(last, down, zero), lanes);
}

// Every element of the plane is written once.
template <typename T>
void share_plane_of_quarters(const T* gradient, const T* x, const Pooling& p, T* out) {
  constexpr int64_t size = Vec<T>::size;
  const int64_t width = p.columns.in, windows = p.columns.out, rest = windows % size;
  T padded[9 * size] = {};  // the end of a row, for a whole vector: g, upper, lower, above, below
  for (int64_t i = 0; i < p.rows.out; ++i, gradient += windows) {
    const T *upper = x + 2 * i * width, *lower = upper + width;
    T *above = out + 2 * i * width, *below = above + width;
    int64_t j = 0;
    for (; j + size <= windows; j += size) {
      share_quarters(gradient + j, upper + 2 * j, lower + 2 * j, above + 2 * j, below + 2 * j);
    }
    if (rest > 0) {
      std::memcpy(padded, gradient + j, rest * sizeof(T));
      std::memcpy(padded + size, upper + 2 * j, 2 * rest * sizeof(T));
      std::memcpy(padded + 3 * size, lower + 2 * j, 2 * rest * sizeof(T));
      share_quarters(padded, padded + size, padded + 3 * size, padded + 5 * size,
                     padded + 7 * size);
      std::memcpy(above + 2 * j, padded + 5 * size, 2 * rest * sizeof(T));
      std::memcpy(below + 2 * j, padded + 7 * size, 2 * rest * sizeof(T));
    }
    fill(above + 2 * windows, width - 2 * windows, T(0));
    fill(below + 2 * windows, width - 2 * windows, T(0));
  }
  fill(out + 2 * p.rows.out * width, (p.rows.in - 2 * p.rows.out) * width, T(0));
}

// Of the windows from `begin` to `end` of row i: each one's winner, as a distance from the window's
// beginning, or -1 if the window sees nothing.
template <typename T, typename Offset>
void find_winners(const T* x, const Pooling& p, int64_t i, int64_t begin, int64_t end,
                  Offset* __restrict winner) {
  T best[kTile];
  fill(best, end - begin, -static_cast<T>(__builtin_inf()));
  fill(winner, end - begin, Offset(-1));
  const Range kernel_rows = elements(p.rows, i);
  for (int64_t k = kernel_rows.first; k < kernel_rows.end; ++k) {
    const int64_t row = i * p.rows.stride - p.rows.padding + k * p.rows.dilation;
    for (int64_t l = 0; l < p.columns.kernel; ++l) {
      const Inside columns = inside(p.columns, l);
      const Range some = overlap(columns, begin, end);
      const T* __restrict line = x + row * p.columns.in;
      const Offset here =
          static_cast<Offset>(k * p.rows.dilation * p.columns.in + l * p.columns.dilation);
      with_stride(p.columns.stride, [&](auto stride) {
        for (int64_t j = some.first; j < some.end; ++j) {
          const T value = line[(begin + j) * stride + columns.shift];
          const bool wins = beats(value, best[j]) | (winner[j] < 0);
          best[j] = wins ? value : best[j];
          winner[j] = wins ? here : winner[j];
        }
      });
    }
  }
}

template <typename T>
void share_windows(const T* gradient, const T* x, const Pooling& p, T* out) {
  using Offset = SignedOf<T>;  // of the size of T, so that both fill a register alike
  Offset winner[kTile];
  fill(out, p.rows.in * p.columns.in, T(0));
  for (int64_t i = 0; i < p.rows.out; ++i) {
    const int64_t row = i * p.rows.stride - p.rows.padding;
    for (int64_t begin = 0; begin < p.columns.out; begin += kTile) {
      const int64_t end = begin + kTile < p.columns.out ? begin + kTile : p.columns.out;
      find_winners(x, p, i, begin, end, winner);
      for (int64_t j = begin; j < end; ++j) {
        const int64_t start = row * p.columns.in + j * p.columns.stride - p.columns.padding;
        if (winner[j - begin] >= 0) out[start + winner[j - begin]] += gradient[j];
      }
    }
    gradient += p.columns.out;
  }
}

template <typename T>
void max_rule(const void* gradient, const void* x, int64_t planes, const Pooling& p, void* out) {
  const int64_t inputs = p.rows.in * p.columns.in, outputs = p.rows.out * p.columns.out;
  const bool quarters = halves(p.rows) && halves(p.columns);
  for (int64_t plane = 0; plane < planes; ++plane) {
    const T* incoming = static_cast<const T*>(gradient) + plane * outputs;
    const T* source = static_cast<const T*>(x) + plane * inputs;
    T* target = static_cast<T*>(out) + plane * inputs;
    quarters ? share_plane_of_quarters(incoming, source, p, target)
             : share_windows(incoming, source, p, target);
  }
}

template <typename T>
void mean_planes(const void* x, int64_t planes, const Pooling& p, bool with_padding, void* out) {
  for (int64_t plane = 0; plane < planes; ++plane) {
    T* target = static_cast<T*>(out) + plane * p.rows.out * p.columns.out;
    accumulate(static_cast<const T*>(x) + plane * p.rows.in * p.columns.in, p, T(0), target,
               [](T total, T value) { return total + value; });
    for (int64_t i = 0; i < p.rows.out; ++i) {
      const int64_t height = extent(p.rows, i, with_padding);
      for (int64_t j = 0; j < p.columns.out; ++j) {
        *target++ /= static_cast<T>(height * extent(p.columns, j, with_padding));
      }
    }
  }
}

template <typename T>
void spread_windows(const T* gradient, const Pooling& p, bool with_padding, T* out) {
  T share[kTile];
  fill(out, p.rows.in * p.columns.in, T(0));
  for (int64_t i = 0; i < p.rows.out; ++i, gradient += p.columns.out) {
    const int64_t height = extent(p.rows, i, with_padding);
    const Range kernel_rows = elements(p.rows, i);
    for (int64_t begin = 0; begin < p.columns.out; begin += kTile) {
      const int64_t end = begin + kTile < p.columns.out ? begin + kTile : p.columns.out;
      for (int64_t j = begin; j < end; ++j) {
        const int64_t area = height * extent(p.columns, j, with_padding);
        share[j - begin] = gradient[j] / static_cast<T>(area);
      }
      for (int64_t k = kernel_rows.first; k < kernel_rows.end; ++k) {
        const int64_t row = i * p.rows.stride - p.rows.padding + k * p.rows.dilation;
        T* __restrict line = out + row * p.columns.in;
        for (int64_t l = 0; l < p.columns.kernel; ++l) {
          const Inside columns = inside(p.columns, l);
          const Range some = overlap(columns, begin, end);
          with_stride(p.columns.stride, [&](auto stride) {
            for (int64_t j = some.first; j < some.end; ++j) {
              line[(begin + j) * stride + columns.shift] += share[j];
            }
          });
        }
      }
    }
  }
}

template <typename T>
void mean_rule(const void* gradient, int64_t planes, const Pooling& p, bool with_padding,
               void* out) {
  for (int64_t plane = 0; plane < planes; ++plane) {
    spread_windows(static_cast<const T*>(gradient) + plane * p.rows.out * p.columns.out, p,
                   with_padding, static_cast<T*>(out) + plane * p.rows.in * p.columns.in);
  }
}

// A short run in the plain order, which is quicker than half-empty vectors.
template <typename T>
EX_INLINE T sum_of(const T* x, int64_t n) {
  if (n > 16) {
    return row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) { return access.load(x, i); });
  }
  T total = 0;
  for (int64_t i = 0; i < n; ++i) total += x[i];
  return total;
}

// Window i of `count` that cover an axis evenly.
EX_INLINE Range part(int64_t size, int64_t count, int64_t i) {
  return {i * size / count, ((i + 1) * size - 1) / count + 1};
}

template <typename T>
void adaptive_mean(const void* x, int64_t planes, int64_t height, int64_t width, int64_t rows,
                   int64_t columns, void* out) {
  const T* source = static_cast<const T*>(x);
  T* target = static_cast<T*>(out);
  for (int64_t plane = 0; plane < planes; ++plane, source += height * width) {
    for (int64_t i = 0; i < rows; ++i) {
      const Range lines = part(height, rows, i);
      for (int64_t j = 0; j < columns; ++j) {
        const Range places = part(width, columns, j);
        const int64_t length = places.end - places.first, count = lines.end - lines.first;
        // Whole lines are one run of memory.
        const int64_t runs = columns == 1 ? 1 : count, n = columns == 1 ? count * width : length;
        T total = 0;
        for (int64_t k = 0; k < runs; ++k) {
          const T* run = source + (lines.first + k) * width + places.first;
          total +=
              row_sum<T>(n, [&](auto access, int64_t at, Vec<T>) { return access.load(run, at); });
        }
        *target++ = total / static_cast<T>(count * length);
      }
    }
  }
}

template <typename T>
void adaptive_rule(const void* gradient, int64_t planes, int64_t height, int64_t width,
                   int64_t rows, int64_t columns, void* out) {
  const T* incoming = static_cast<const T*>(gradient);
  T* target = static_cast<T*>(out);
  for (int64_t plane = 0; plane < planes; ++plane, target += height * width) {
    fill(target, height * width, T(0));
    for (int64_t i = 0; i < rows; ++i) {
      const Range lines = part(height, rows, i);
      for (int64_t j = 0; j < columns; ++j) {
        const Range places = part(width, columns, j);
        const T share =
            *incoming++ / static_cast<T>((lines.end - lines.first) * (places.end - places.first));
        for (int64_t k = lines.first; k < lines.end; ++k) {
          T* __restrict line = target + k * width;
          for (int64_t l = places.first; l < places.end; ++l) line[l] += share;
        }
      }
    }
  }
}

}  // namespace

PoolingKernels pooling_kernels() {
  return {
      {max_planes<float>, max_planes<double>},       {max_rule<float>, max_rule<double>},
      {mean_planes<float>, mean_planes<double>},     {mean_rule<float>, mean_rule<double>},
      {adaptive_mean<float>, adaptive_mean<double>}, {adaptive_rule<float>, adaptive_rule<double>}};
}

}  // namespace extensor::EX_ISA
