// Sums and extremes of integers and booleans. No order of them rounds, so plain loops are exact.
#include <algorithm>

#include "reduction.h"

namespace extensor::EX_ISA {
namespace {

constexpr int64_t kTile = 1024;  // columns whose results stay in the first-level cache

template <typename T>
EX_INLINE T element_of(const T* x) {
  if constexpr (std::is_same_v<T, bool>) {
    return *reinterpret_cast<const uint8_t*>(x) != 0;
  } else {
    return *x;
  }
}

struct Sum {
  template <typename T>
  using Result = int64_t;
  template <typename R>
  static EX_INLINE R combine(R a, R b) {
    return a + b;
  }
};
struct Largest {
  template <typename T>
  using Result = T;
  template <typename R>
  static EX_INLINE R combine(R a, R b) {
    return a > b ? a : b;
  }
};
struct Smallest {
  template <typename T>
  using Result = T;
  template <typename R>
  static EX_INLINE R combine(R a, R b) {
    return a < b ? a : b;
  }
};

// n rows of `width` to one, tile by tile of columns. There is at least one row.
template <typename Kind, typename T>
void reduce_columns(const void* data, int64_t n, int64_t width, void* out) {
  using R = typename Kind::template Result<T>;
  const T* const x = static_cast<const T*>(data);
  R* const results = static_cast<R*>(out);
  if (width == 1) {
    R result = element_of(x);
    for (int64_t i = 1; i < n; ++i) result = Kind::combine(result, R(element_of(x + i)));
    *results = result;
    return;
  }
  for (int64_t from = 0; from < width; from += kTile) {
    const int64_t to = std::min(from + kTile, width);
    for (int64_t j = from; j < to; ++j) results[j] = element_of(x + j);
    for (int64_t i = 1; i < n; ++i) {
      const T* const row = x + i * width;
      for (int64_t j = from; j < to; ++j) {
        results[j] = Kind::combine(results[j], R(element_of(row + j)));
      }
    }
  }
}

template <typename Kind, typename T>
int64_t first_place(const void* data, int64_t n) {
  const T* const x = static_cast<const T*>(data);
  T best;
  reduce_columns<Kind, T>(data, n, 1, &best);
  int64_t place = 0;
  while (place < n - 1 && element_of(x + place) != best) ++place;
  return place;
}

template <typename Kind>
constexpr IntegerReduction reduction(const char* name, bool is_sum) {
  return {
      name,
      is_sum,
      {reduce_columns<Kind, bool>, reduce_columns<Kind, int32_t>, reduce_columns<Kind, int64_t>}};
}

constexpr IntegerReduction kReductions[] = {
    reduction<Sum>("sum", true),
    reduction<Largest>("max_reduce", false),
    reduction<Smallest>("min_reduce", false),
};

}  // namespace

std::span<const IntegerReduction> integer_reductions() { return kReductions; }

IntegerSearch integer_search() {
  return {
      {first_place<Largest, bool>, first_place<Largest, int32_t>, first_place<Largest, int64_t>},
      {first_place<Smallest, bool>, first_place<Smallest, int32_t>,
       first_place<Smallest, int64_t>}};
}

}  // namespace extensor::EX_ISA
