// Matrix products for kernels that are made of them, in the types that kernels compute in.
#pragma once

#include "../kernels/tables.h"
#include "../runtime/threads.h"

namespace extensor {

template <typename T>
struct Computed;
template <>
struct Computed<float> {
  static constexpr int element = static_cast<int>(Element::float32);
  static GemmKernel<float> gemm() { return kernels().gemm_float32; }
};
template <>
struct Computed<double> {
  static constexpr int element = static_cast<int>(Element::float64);
  static GemmKernel<double> gemm() { return kernels().gemm_float64; }
};

// Rows of contiguous elements, `step` apart; `transposed` reads them as columns.
template <typename T>
struct Factor {
  const T* data;
  int64_t step;
  bool transposed = false;
};

// out = a @ b, (m, k) by (k, n), the rows of `out` `step` apart.
template <typename T>
Gemm<T> product(int64_t m, int64_t k, int64_t n, Factor<T> a, Factor<T> b, T* out, int64_t step) {
  Gemm<T> problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.a = a.data;
  problem.a_row = a.transposed ? 1 : a.step;
  problem.a_column = a.transposed ? a.step : 1;
  problem.b = b.data;
  problem.b_row = b.transposed ? 1 : b.step;
  problem.b_column = b.transposed ? b.step : 1;
  problem.c = out;
  problem.c_row = step;
  return problem;
}

// On the calling thread alone: for use inside tasks.
template <typename T>
void run_alone(const Gemm<T>& problem) {
  Computed<T>::gemm()(problem, {});
}

// The pool, if it would be done with so many multiplications sooner than the calling thread alone.
inline Workers pool_workers(int64_t multiplications) {
  constexpr int64_t kPerNanosecond = 40;
  if (!worth_threads(multiplications / kPerNanosecond)) return {};
  const ParallelFor run = [](int64_t tasks, void (*body)(void*, int64_t), void* context) {
    parallel_for(tasks, body, context);
  };
  return {num_threads(), run};
}

template <typename T>
void run_with_threads(const Gemm<T>& problem) {
  Computed<T>::gemm()(problem, pool_workers(problem.m * problem.n * problem.k * problem.batch));
}

}  // namespace extensor
