// Softmax, log-softmax and log-sum-exp over contiguous rows, and the rules of the first two. A row
// is read two or three times while it is in the first-level cache, so memory sees one pass.
#include "softmax.h"

#include <algorithm>
#include <cmath>

#include "../math/math.h"
#include "../reduction/row_reductions.h"
#include "../simd/steps.h"

namespace extensor::EX_ISA {
namespace {

template <typename T>
void softmax_row(const T* x, T* out, int64_t n) {
  const Vec<T> top(row_max(x, n));
  const T total = row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
    Vec<T> power = exp(access.load(x, i) - top);
    access.store(out, i, power);
    return access.or_zero(power);
  });
  const Vec<T> scale(T(1) / total);
  for_each_vector<T>(
      n, [&](auto access, int64_t i) { access.store(out, i, access.load(out, i) * scale); });
}

template <typename T>
void log_softmax_row(const T* x, T* out, int64_t n) {
  const Vec<T> top(row_max(x, n));
  const T total = row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
    return access.or_zero(exp(access.load(x, i) - top));
  });
  const Vec<T> log_total(std::log(total));
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    access.store(out, i, (access.load(x, i) - top) - log_total);
  });
}

template <typename T>
void softmax_backward_row(const T* gradient, const T* y, T* out, int64_t n) {
  const Vec<T> mean(row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
    return access.or_zero(chain(access.load(gradient, i), access.load(y, i)));
  }));
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    access.store(out, i, chain(access.load(gradient, i) - mean, access.load(y, i)));
  });
}

template <typename T>
void log_softmax_backward_row(const T* gradient, const T* y, T* out, int64_t n) {
  const Vec<T> total(
      row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) { return access.load(gradient, i); }));
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    access.store(out, i, access.load(gradient, i) - chain(total, exp(access.load(y, i))));
  });
}

// log(sum(exp(x))), a number for each row.
template <typename T>
void logsumexp_rows(const void* data, int64_t rows, int64_t n, void* out) {
  for (int64_t row = 0; row < rows; ++row) {
    const T* x = static_cast<const T*>(data) + row * n;
    const T top = row_max(x, n), shift = std::isfinite(top) ? top : T(0);
    const T total = row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
      return access.or_zero(exp(access.load(x, i) - Vec<T>(shift)));
    });
    static_cast<T*>(out)[row] = std::log(total) + shift;
  }
}

template <typename T, void (*kRow)(const T*, T*, int64_t)>
void forward_rows(const void* const* inputs, void* out, int64_t rows, int64_t n) {
  for (int64_t row = 0; row < rows; ++row) {
    kRow(static_cast<const T*>(inputs[0]) + row * n, static_cast<T*>(out) + row * n, n);
  }
}
template <typename T, void (*kRow)(const T*, const T*, T*, int64_t)>
void backward_rows(const void* const* inputs, void* out, int64_t rows, int64_t n) {
  for (int64_t row = 0; row < rows; ++row) {
    kRow(static_cast<const T*>(inputs[0]) + row * n, static_cast<const T*>(inputs[1]) + row * n,
         static_cast<T*>(out) + row * n, n);
  }
}

constexpr RowKernel kKernels[] = {
    {"softmax", 1, {forward_rows<float, softmax_row>, forward_rows<double, softmax_row>}},
    {"log_softmax",
     1,
     {forward_rows<float, log_softmax_row>, forward_rows<double, log_softmax_row>}},
    {"softmax_backward",
     2,
     {backward_rows<float, softmax_backward_row>, backward_rows<double, softmax_backward_row>}},
    {"log_softmax_backward",
     2,
     {backward_rows<float, log_softmax_backward_row>,
      backward_rows<double, log_softmax_backward_row>}},
};

}  // namespace

std::span<const RowKernel> softmax_kernels() { return kKernels; }
LogSumExp logsumexp_kernel() { return {{logsumexp_rows<float>, logsumexp_rows<double>}}; }

}  // namespace extensor::EX_ISA
