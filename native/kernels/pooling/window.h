// Windows that slide over a plane, as the innermost loops see them: without branches, for each
// place in a window along those windows of a row for which that place is inside the plane.
#pragma once

#include "../simd/simd.h"
#include "../tables.h"

namespace extensor::EX_ISA {

constexpr int64_t kTile = 256;  // windows whose gradients or winners stay in the first-level cache

EX_INLINE int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

// The windows from first to end have their element k on the axis, at i * stride + shift.
struct Inside {
  int64_t first, end, shift;
};

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

// All places of a window along its row, found once for all rows.
struct Places {
  int64_t count;
  Inside of[kMaxPooled];

  explicit Places(const WindowAxis& columns) : count(columns.kernel) {
    for (int64_t k = 0; k < count; ++k) of[k] = inside(columns, k);
  }
};

// The windows from `begin` to `end` among them, counted from `begin`.
EX_INLINE Range overlap(const Inside& windows, int64_t begin, int64_t end) {
  return {windows.first > begin ? windows.first - begin : 0,
          (windows.end < end ? windows.end : end) - begin};
}

template <int64_t kValue>
struct Constant {
  EX_INLINE constexpr operator int64_t() const { return kValue; }
};

// Calls step with the stride, as a constant where it is a common one.
template <typename Step>
EX_INLINE void with_stride(int64_t stride, Step step) {
  if (stride == 1) return step(Constant<1>{});
  if (stride == 2) return step(Constant<2>{});
  step(stride);
}

template <typename T>
EX_INLINE void fill(T* target, int64_t n, T value) {
  for (int64_t i = 0; i < n; ++i) target[i] = value;
}

// out[i] = combine(out[i], element) for every element of every window of a plane.
template <typename T, typename Combine>
EX_INLINE void accumulate(const T* x, const Pooling& p, const Places& places, T start, T* out,
                          Combine combine) {
  for (int64_t i = 0; i < p.rows.out; ++i) {
    T* __restrict target = out + i * p.columns.out;
    fill(target, p.columns.out, start);
    const Range kernel_rows = elements(p.rows, i);
    for (int64_t k = kernel_rows.first; k < kernel_rows.end; ++k) {
      const int64_t row = i * p.rows.stride - p.rows.padding + k * p.rows.dilation;
      const T* __restrict line = x + row * p.columns.in;
      for (int64_t l = 0; l < places.count; ++l) {
        const auto [first, end, shift] = places.of[l];
        with_stride(p.columns.stride, [&, first = first, end = end, shift = shift](auto stride) {
          for (int64_t j = first; j < end; ++j) {
            target[j] = combine(target[j], line[j * stride + shift]);
          }
        });
      }
    }
  }
}

}  // namespace extensor::EX_ISA
