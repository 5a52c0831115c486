#pragma once

#include <cstdint>

namespace extensor {

// Applied once per output element, after the bias.
enum class Epilogue : uint8_t { none, relu };

// The storage of bfloat16 operands: the upper half of a float32.
enum class BFloat16 : uint16_t {};

template <typename Operand>
struct GemmResult {
  using type = Operand;
};
template <>
struct GemmResult<BFloat16> {
  using type = float;
};

// C = epilogue((accumulate ? C : 0) + A B + bias), for `batch` matrices at fixed distances.
// Strides count elements, may be zero or negative, and describe all four transpose combinations.
// C is row-major with unit column stride and must not overlap A, B or bias. Its old content is
// read only when accumulating.
//
// The same bits for any number of threads: every element of C is summed in an order that depends on
// k alone, not on tasks, strides, m, n or the place in a batch. One exception: a single row or
// column whose other operand runs along k in memory (x W' with row-major W) has an order of its
// own, as keeping the common one would halve its speed. With AVX512-BF16 that is so of any single
// row or column of bfloat16.
template <typename Operand>
struct Gemm {
  using Result = typename GemmResult<Operand>::type;

  int64_t m = 0, n = 0, k = 0;
  const Operand* a = nullptr;
  int64_t a_row = 0, a_column = 1;
  const Operand* b = nullptr;
  int64_t b_row = 0, b_column = 1;
  Result* c = nullptr;
  int64_t c_row = 0;
  const Result* bias = nullptr;  // n values added to every row, or null
  bool accumulate = false;
  Epilogue epilogue = Epilogue::none;
  int64_t batch = 1;
  int64_t a_batch = 0, b_batch = 0, c_batch = 0;  // zero broadcasts an operand
};

// Runs body(context, task) for every task in [0, tasks) on any threads and returns when all are
// done.
using ParallelFor = void (*)(int64_t tasks, void (*body)(void* context, int64_t task),
                             void* context);

// Who computes a product. How it is cut follows the number of threads; its bits do not.
struct Workers {
  int threads = 1;
  ParallelFor run = nullptr;  // not called for one thread
};

}  // namespace extensor

#define EXTENSOR_DECLARE_GEMM(isa, Operand)                        \
  namespace extensor::isa {                                        \
  void gemm(const Gemm<Operand>& problem, const Workers& workers); \
  }
#define EXTENSOR_DECLARE_GEMM_ISA(isa) \
  EXTENSOR_DECLARE_GEMM(isa, float)    \
  EXTENSOR_DECLARE_GEMM(isa, double)   \
  EXTENSOR_DECLARE_GEMM(isa, BFloat16)

EXTENSOR_DECLARE_GEMM_ISA(baseline)
EXTENSOR_DECLARE_GEMM_ISA(v2)
EXTENSOR_DECLARE_GEMM_ISA(v3)
EXTENSOR_DECLARE_GEMM_ISA(v4)
EXTENSOR_DECLARE_GEMM(v4bf16, BFloat16)
