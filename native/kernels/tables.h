// What the kernels of one instruction set offer to the drivers: tables of functions over plain,
// contiguous memory. Nothing here knows Python.
#pragma once

#include <cstdint>
#include <span>

#include "../runtime/threads.h"
#include "gemm.h"

namespace extensor {

// One pass over memory: n elements of every input to n elements of every output.
using Pass = void (*)(const void* const* inputs, void* const* outputs, int64_t n,
                      const double* parameters);

// Which type an elementwise kernel is compiled for; the 16-bit floats go through float32.
enum class Element : uint8_t { float32, float64 };
constexpr int kElements = 2;

// out = f(inputs...; parameters...). A boolean input or output is a byte, 0 or 1.
struct Elementwise {
  const char* name;
  int inputs;
  int parameters;
  bool first_is_boolean;
  bool result_is_boolean;
  Cost cost;
  Pass pass[kElements];
};

// The two gradients of a binary op from (grad_output, a, b; parameters...), together or alone.
struct BinaryRule {
  const char* name;
  int parameters;
  Cost cost;
  Pass both[kElements], first[kElements], second[kElements];
};

// A reduction of contiguous memory. `rows` reduces each of `count` rows of n elements to one;
// `columns` reduces n rows of `width` elements, `stride` apart, to one row.
struct Reduction {
  const char* name;
  void (*rows[kElements])(const void* x, int64_t count, int64_t n, void* out);
  void (*columns[kElements])(const void* x, int64_t n, int64_t stride, int64_t width, void* out);
};

// Conversions of n elements between float32 and the 16-bit floats.
struct HalfFormat {
  void (*widen)(const uint16_t* source, float* target, int64_t n);
  void (*narrow)(const float* source, uint16_t* target, int64_t n);
};

template <typename Operand>
struct GemmKernel {
  void (*run)(const Gemm<Operand>& problem, ParallelFor threads);
  int64_t (*tasks)(const Gemm<Operand>& problem);
};

struct KernelTable {
  std::span<const Elementwise> elementwise[3];
  std::span<const BinaryRule> binary_rules;
  std::span<const Reduction> reductions;
  HalfFormat float16, bfloat16;
  GemmKernel<float> gemm_float32;
  GemmKernel<double> gemm_float64;
  GemmKernel<BFloat16> gemm_bfloat16;
};

// The table for the instruction set of this machine.
const KernelTable& kernels();

namespace v2 {
const KernelTable& table();
}
namespace v3 {
const KernelTable& table();
}
namespace v4 {
const KernelTable& table();
}
namespace baseline {
const KernelTable& table();
}

}  // namespace extensor
