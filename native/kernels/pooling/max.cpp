// The largest element of each window of a plane, and its rule: the gradient goes to the first of
// the largest, row by row. NaN counts as largest.
#include "pooling.h"
#include "window.h"

namespace extensor::EX_ISA {
namespace {

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

// Of `count` elements, where the vector for those from `next` on begins: the last vector ends with
// the last element, unless they are fewer than a vector has.
int64_t first_of_vector(int64_t next, int64_t count, int64_t size) {
  return next + size <= count || count < size ? next : count - size;
}

bool halves(const WindowAxis& axis) {
  return axis.kernel == 2 && axis.stride == 2 && axis.dilation == 1 && axis.padding == 0 &&
         2 * axis.out <= axis.in;
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

// The ends of what a task reads and writes. A row shorter than a vector may be read and written a
// vector at a time if that stays before them: what is written too much, the next rows overwrite.
template <typename T>
struct Ends {
  const T *inputs, *outputs;

  bool allow(const T* input, const T* output) const {
    return inputs - input >= 2 * Vec<T>::size && outputs - output >= Vec<T>::size;
  }
};

template <typename T>
EX_INLINE void max_of_pairs(const T* upper, const T* lower, T* out) {
  constexpr auto lanes = std::make_index_sequence<Vec<T>::size>{};
  const auto larger_lanes = [](Vec<T> a, Vec<T> b) __attribute__((always_inline)) {
    return select(a != a, a, select(a > b, a, b));
  };
  const auto [a, b] = load_pairs(upper, lanes);
  const auto [c, d] = load_pairs(lower, lanes);
  larger_lanes(larger_lanes(a, b), larger_lanes(c, d)).store(out);
}

template <typename T>
void max_of_quarters(const T* x, const Pooling& p, Ends<T> ends, T* out) {
  constexpr int64_t size = Vec<T>::size;
  const int64_t windows = p.columns.out;
  for (int64_t i = 0; i < p.rows.out; ++i, out += windows) {
    const T *upper = x + 2 * i * p.columns.in, *lower = upper + p.columns.in;
    if (windows < size && !ends.allow(lower, out)) {
      for (int64_t j = 0; j < windows; ++j) {
        out[j] =
            larger(larger(upper[2 * j], upper[2 * j + 1]), larger(lower[2 * j], lower[2 * j + 1]));
      }
      continue;
    }
    for (int64_t next = 0; next < windows; next += size) {
      const int64_t j = first_of_vector(next, windows, size);
      max_of_pairs(upper + 2 * j, lower + 2 * j, out + j);
    }
  }
}

template <typename T>
void max_planes(const void* x, int64_t planes, const Pooling& p, void* out) {
  const bool quarters = halves(p.rows) && halves(p.columns);
  const Places places(p.columns);
  const int64_t inputs = p.rows.in * p.columns.in, outputs = p.rows.out * p.columns.out;
  const Ends<T> ends{static_cast<const T*>(x) + planes * inputs,
                     static_cast<const T*>(out) + planes * outputs};
  for (int64_t plane = 0; plane < planes; ++plane) {
    const T* source = static_cast<const T*>(x) + plane * inputs;
    T* target = static_cast<T*>(out) + plane * outputs;
    if (quarters) {
      max_of_quarters(source, p, ends, target);
    } else {
      accumulate(source, p, places, -static_cast<T>(__builtin_inf()), target,
                 [](T best, T value) { return larger(best, value); });
    }
  }
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

template <typename T>
void share_copied_quarters(const T* g, const T* upper, const T* lower, int64_t windows, T* above,
                           T* below) {
  constexpr int64_t size = Vec<T>::size;
  T copied[9 * size] = {};  // g, upper, lower, above, below
  std::memcpy(copied, g, windows * sizeof(T));
  std::memcpy(copied + size, upper, 2 * windows * sizeof(T));
  std::memcpy(copied + 3 * size, lower, 2 * windows * sizeof(T));
  share_quarters(copied, copied + size, copied + 3 * size, copied + 5 * size, copied + 7 * size);
  std::memcpy(above, copied + 5 * size, 2 * windows * sizeof(T));
  std::memcpy(below, copied + 7 * size, 2 * windows * sizeof(T));
}

// `ends` are those of x and of the gradient; the result ends as x does.
template <typename T>
void share_plane_of_quarters(const T* gradient, const T* x, const Pooling& p, Ends<T> ends,
                             T* out) {
  constexpr int64_t size = Vec<T>::size;
  const int64_t width = p.columns.in, windows = p.columns.out;
  for (int64_t i = 0; i < p.rows.out; ++i, gradient += windows) {
    const T *upper = x + 2 * i * width, *lower = upper + width;
    T *above = out + 2 * i * width, *below = above + width;
    if (windows < size && !ends.allow(lower, gradient)) {
      share_copied_quarters(gradient, upper, lower, windows, above, below);
    } else {
      for (int64_t next = 0; next < windows; next += size) {
        const int64_t j = first_of_vector(next, windows, size);
        share_quarters(gradient + j, upper + 2 * j, lower + 2 * j, above + 2 * j, below + 2 * j);
      }
    }
    fill(above + 2 * windows, width - 2 * windows, T(0));
    fill(below + 2 * windows, width - 2 * windows, T(0));
  }
  fill(out + 2 * p.rows.out * width, (p.rows.in - 2 * p.rows.out) * width, T(0));
}

// Of the windows from `begin` to `end` of row i: each one's winner, as a place in the plane counted
// from the window's first column, or -1 if the window sees nothing.
template <typename T, typename Offset>
void find_winners(const T* x, const Pooling& p, const Places& places, int64_t i, int64_t begin,
                  int64_t end, Offset* __restrict winner) {
  T best[kTile];
  fill(best, end - begin, -static_cast<T>(__builtin_inf()));
  fill(winner, end - begin, Offset(-1));
  const Range kernel_rows = elements(p.rows, i);
  for (int64_t k = kernel_rows.first; k < kernel_rows.end; ++k) {
    const int64_t row = i * p.rows.stride - p.rows.padding + k * p.rows.dilation;
    const T* __restrict line = x + row * p.columns.in;
    for (int64_t l = 0; l < places.count; ++l) {
      const Range some = overlap(places.of[l], begin, end);
      const int64_t shift = places.of[l].shift;
      const Offset here = static_cast<Offset>(row * p.columns.in + l * p.columns.dilation);
      with_stride(p.columns.stride, [&](auto stride) {
        for (int64_t j = some.first; j < some.end; ++j) {
          const T value = line[(begin + j) * stride + shift];
          const bool wins = beats(value, best[j]) | (winner[j] < 0);
          best[j] = wins ? value : best[j];
          winner[j] = wins ? here : winner[j];
        }
      });
    }
  }
}

template <typename T>
void share_windows(const T* gradient, const T* x, const Pooling& p, const Places& places, T* out) {
  using Offset = SignedOf<T>;  // of the size of T, so that both fill a register alike
  Offset winner[kTile];
  fill(out, p.rows.in * p.columns.in, T(0));
  for (int64_t i = 0; i < p.rows.out; ++i) {
    for (int64_t begin = 0; begin < p.columns.out; begin += kTile) {
      const int64_t end = begin + kTile < p.columns.out ? begin + kTile : p.columns.out;
      find_winners(x, p, places, i, begin, end, winner);
      for (int64_t j = begin; j < end; ++j) {
        const int64_t start = j * p.columns.stride - p.columns.padding;
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
  const Places places(p.columns);
  const Ends<T> ends{static_cast<const T*>(x) + planes * inputs,
                     static_cast<const T*>(gradient) + planes * outputs};
  for (int64_t plane = 0; plane < planes; ++plane) {
    const T* incoming = static_cast<const T*>(gradient) + plane * outputs;
    const T* source = static_cast<const T*>(x) + plane * inputs;
    T* target = static_cast<T*>(out) + plane * inputs;
    quarters ? share_plane_of_quarters(incoming, source, p, ends, target)
             : share_windows(incoming, source, p, places, target);
  }
}

}  // namespace

MaxPooling max_pooling() {
  return {{max_planes<float>, max_planes<double>}, {max_rule<float>, max_rule<double>}};
}

}  // namespace extensor::EX_ISA
