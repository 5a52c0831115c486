// The rule of a product along an axis: an element's gradient is the product of all before it, of
// all after it, and of the result's gradient. Nothing is divided, so zeros are exact.
#include "product.h"

#include <algorithm>

#include "../simd/pass.h"

namespace extensor::EX_ISA {
namespace {

constexpr int64_t kTileWidth = 256;  // columns whose products stay in the first-level cache

template <typename T>
void rule_of_tile(const T* gradient, const T* x, int64_t n, int64_t stride, int64_t width, T* out) {
  T after[kTileWidth];
  std::copy_n(gradient, width, after);
  std::fill_n(out, width, T(1));
  for (int64_t row = 1; row < n; ++row) {
    const T *last = x + (row - 1) * stride, *before = out + (row - 1) * stride;
    for_each_vector<T>(width, [&](auto access, int64_t j) {
      access.store(out + row * stride, j, access.load(before, j) * access.load(last, j));
    });
  }
  for (int64_t row = n - 1; row >= 0; --row) {
    for_each_vector<T>(width, [&](auto access, int64_t j) {
      const Vec<T> rest = access.load(after, j);
      access.store(out + row * stride, j, access.load(out + row * stride, j) * rest);
      access.store(after, j, rest * access.load(x + row * stride, j));
    });
  }
}

template <typename T>
void columns(const void* gradient, const void* x, int64_t n, int64_t stride, int64_t width,
             void* out) {
  for (int64_t j = 0; j < width; j += kTileWidth) {
    rule_of_tile(static_cast<const T*>(gradient) + j, static_cast<const T*>(x) + j, n, stride,
                 std::min(kTileWidth, width - j), static_cast<T*>(out) + j);
  }
}

// The gradient times the products of all other lanes.
template <typename T>
EX_INLINE Vec<T> without_own_lane(Vec<T> x, T gradient) {
  constexpr int size = Vec<T>::size;
  T others[size];
  T before = gradient, after = T(1);
  for (int lane = 0; lane < size; ++lane) {
    others[lane] = before;
    before *= x[lane];
  }
  for (int lane = size - 1; lane >= 0; --lane) {
    others[lane] *= after;
    after *= x[lane];
  }
  return Vec<T>::load(others);
}

// Each lane is a column of its own.
template <typename T>
void rule_of_row(T gradient, const T* x, int64_t n, T* out) {
  constexpr int64_t size = Vec<T>::size;
  const Vec<T> one(T(1));
  Vec<T> before = one;
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    access.store(out, i, before);
    before *= access.load_or(x, i, one);
  });
  Vec<T> after = without_own_lane(before, gradient);
  const auto multiply = [&](auto access, int64_t i) {
    access.store(out, i, access.load(out, i) * after);
    after *= access.load_or(x, i, one);
  };
  const int64_t whole = n / size * size;
  if (whole < n) multiply(Access<T, false>{n - whole}, whole);
  for (int64_t i = whole - size; i >= 0; i -= size) multiply(Access<T, true>{size}, i);
}

template <typename T>
void rows(const void* gradient, const void* x, int64_t count, int64_t n, void* out) {
  for (int64_t row = 0; row < count; ++row) {
    rule_of_row(static_cast<const T*>(gradient)[row], static_cast<const T*>(x) + row * n, n,
                static_cast<T*>(out) + row * n);
  }
}

}  // namespace

AxisRule product_rule() { return {{rows<float>, rows<double>}, {columns<float>, columns<double>}}; }

}  // namespace extensor::EX_ISA
