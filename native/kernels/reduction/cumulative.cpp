// Running sums along rows or down columns, from either end. Along a row the lanes of a vector are
// summed by a tree, so that one addition, not one for each element, waits for the last.
#include "cumulative.h"

#include <algorithm>
#include <utility>

#include "../simd/pass.h"

namespace extensor::EX_ISA {
namespace {

// The lanes moved up by kStep places, or down if it is negative, with zeros behind them.
template <int kStep, typename T, size_t... I>
EX_INLINE Vec<T> moved(Vec<T> x, std::index_sequence<I...>) {
  constexpr int size = Vec<T>::size;
  constexpr auto from = [](int lane) {
    return lane - kStep < 0 || lane - kStep >= size ? size : lane - kStep;
  };
  return Vec<T>(__builtin_shufflevector(x.raw, typename Vec<T>::RawType{}, from(I)...));
}

// Each lane plus all before it, or all after it.
template <bool kReverse, int kStep = 1, typename T>
EX_INLINE Vec<T> running(Vec<T> x) {
  if constexpr (kStep == Vec<T>::size) {
    return x;
  } else {
    constexpr int step = kReverse ? -kStep : kStep;
    return running<kReverse, 2 * kStep>(x +
                                        moved<step>(x, std::make_index_sequence<Vec<T>::size>{}));
  }
}

template <typename T>
void sum_forwards(const T* x, T* out, int64_t n) {
  constexpr int64_t size = Vec<T>::size;
  Vec<T> before(T(0));
  int64_t i = 0;
  for (; i + size <= n; i += size) {
    const Vec<T> own = running<false>(Vec<T>::load(x + i));
    (own + before).store(out + i);
    before += Vec<T>(own[size - 1]);
  }
  (running<false>(Vec<T>::load_partial(x + i, n - i)) + before).store_partial(out + i, n - i);
}

template <typename T>
void sum_backwards(const T* x, T* out, int64_t n) {
  constexpr int64_t size = Vec<T>::size;
  Vec<T> after(T(0));
  int64_t end = n;
  for (; end >= size; end -= size) {
    const Vec<T> own = running<true>(Vec<T>::load(x + end - size));
    (own + after).store(out + end - size);
    after += Vec<T>(own[0]);
  }
  (running<true>(Vec<T>::load_partial(x, end)) + after).store_partial(out, end);
}

template <typename T, bool kReverse>
void rows(const void* x, int64_t count, int64_t n, void* out) {
  constexpr auto sum = kReverse ? sum_backwards<T> : sum_forwards<T>;
  for (int64_t row = 0; row < count; ++row) {
    sum(static_cast<const T*>(x) + row * n, static_cast<T*>(out) + row * n, n);
  }
}

template <typename T, bool kReverse>
void columns(const void* x, int64_t n, int64_t stride, int64_t width, void* out) {
  const int64_t first = kReverse ? n - 1 : 0, step = kReverse ? -stride : stride;
  const T* source = static_cast<const T*>(x) + first * stride;
  T* target = static_cast<T*>(out) + first * stride;
  std::copy_n(source, width, target);
  for (int64_t row = 1; row < n; ++row) {
    source += step;
    target += step;
    for_each_vector<T>(width, [&](auto access, int64_t i) {
      access.store(target, i, access.load(target - step, i) + access.load(source, i));
    });
  }
}

template <bool kReverse>
constexpr Cumulative cumulative(const char* name) {
  return {name,
          {rows<float, kReverse>, rows<double, kReverse>},
          {columns<float, kReverse>, columns<double, kReverse>}};
}

constexpr Cumulative kKernels[] = {cumulative<false>("cumsum"),
                                   cumulative<true>("cumsum_backward")};

}  // namespace

std::span<const Cumulative> cumulative_kernels() { return kKernels; }

}  // namespace extensor::EX_ISA
