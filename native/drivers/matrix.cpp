#include "matrix.h"

#include <optional>

#include "../runtime/memory.h"
#include "products.h"

namespace extensor {
namespace {

template <typename T>
void multiply(GemmKernel<T> kernel, const Product& product, const char* first, const char* second,
              const void* bias, void* out) {
  using Result = typename Gemm<T>::Result;
  const auto& [a, b, batch, a_batch, b_batch] = product;
  Gemm<T> problem;
  problem.m = a.rows;
  problem.n = b.columns;
  problem.k = a.columns;
  problem.a = reinterpret_cast<const T*>(first);
  problem.a_row = a.row_stride;
  problem.a_column = a.column_stride;
  problem.b = reinterpret_cast<const T*>(second);
  problem.b_row = b.row_stride;
  problem.b_column = b.column_stride;
  problem.c = static_cast<Result*>(out);
  problem.c_row = b.columns;
  problem.bias = static_cast<const Result*>(bias);
  problem.batch = batch;
  problem.a_batch = a_batch;
  problem.b_batch = b_batch;
  problem.c_batch = a.rows * b.columns;
  kernel(problem, pool_workers(problem.m * problem.n * problem.k * problem.batch));
}

void multiply_bfloat16(const Product& product, const char* a, const char* b, const char* bias,
                       char* out) {
  const int64_t columns = product.b.columns, size = product.size();
  TemporaryBlock sums(size * sizeof(float));
  TemporaryBlock wide_bias(bias == nullptr ? 0 : columns * sizeof(float));
  const HalfFormat& format = kernels().bfloat16;
  if (bias != nullptr) {
    format.widen(reinterpret_cast<const uint16_t*>(bias),
                 reinterpret_cast<float*>(wide_bias.data()), columns);
  }
  multiply(kernels().gemm_bfloat16, product, a, b, bias == nullptr ? nullptr : wide_bias.data(),
           sums.data());
  parallel_chunks(cut(size, Cost::light), [&](int64_t begin, int64_t end) {
    format.narrow(reinterpret_cast<const float*>(sums.data()) + begin,
                  reinterpret_cast<uint16_t*>(out) + begin, end - begin);
  });
}

// a @ b + bias; a bias may be null.
void multiply(DType dtype, const Product& product, const char* a, const char* b, const char* bias,
              char* out) {
  if (dtype == DType::float32) {
    multiply(kernels().gemm_float32, product, a, b, bias, out);
  } else if (dtype == DType::float64) {
    multiply(kernels().gemm_float64, product, a, b, bias, out);
  } else {
    multiply_bfloat16(product, a, b, bias, out);
  }
}

// The memory of a flattened matrix for the time of a run.
class FlattenedMemory {
 public:
  FlattenedMemory(const FlattenedMatrix& flattened, const char* data) : data_(data) {
    if (!flattened.as_it_lies) data_ = ordered_.emplace(flattened.layout, data).data();
  }
  const char* data() const { return data_; }

 private:
  std::optional<Contiguous> ordered_;
  const char* data_;
};

}  // namespace

void run_matmul(const MatmulProblem& problem, const Buffers& buffers) {
  multiply(problem.dtype, problem.product, buffers.inputs[0], buffers.inputs[1], nullptr,
           buffers.outputs[0]);
}

void run_stacked_matmul(const StackedMatmulProblem& problem, const Buffers& buffers) {
  const Loops& loops = problem.loops;
  const int last = loops.ndim - 1;
  const int64_t products = loops.size / loops.shape[last];
  const int64_t bytes = problem.product.size() * size_of(problem.dtype);
  for (int64_t index = 0; index < products; ++index) {
    int64_t rest = index, a_offset = 0, b_offset = 0;
    for (int axis = last - 1; axis >= 0; --axis) {
      a_offset += rest % loops.shape[axis] * loops.strides[0][axis];
      b_offset += rest % loops.shape[axis] * loops.strides[1][axis];
      rest /= loops.shape[axis];
    }
    multiply(problem.dtype, problem.product, buffers.inputs[0] + a_offset,
             buffers.inputs[1] + b_offset, nullptr, buffers.outputs[0] + index * bytes);
  }
}

void run_matmul_rule(const MatmulRuleProblem& problem, const Buffers& buffers) {
  const char *gradient = buffers.inputs[0], *a = buffers.inputs[1], *b = buffers.inputs[2];
  if (buffers.outputs[0] != nullptr) {
    multiply(problem.dtype, {problem.gradient, problem.b.transposed()}, gradient, b, nullptr,
             buffers.outputs[0]);
  }
  if (buffers.outputs[1] != nullptr) {
    multiply(problem.dtype, {problem.a.transposed(), problem.gradient}, a, gradient, nullptr,
             buffers.outputs[1]);
  }
}

void run_linear(const LinearProblem& problem, const Buffers& buffers) {
  const FlattenedMemory x(problem.x, buffers.inputs[0]);
  multiply(problem.dtype, {problem.x.matrix, problem.weight.transposed()}, x.data(),
           buffers.inputs[1], problem.has_bias ? buffers.inputs[2] : nullptr, buffers.outputs[0]);
}

void run_linear_rule(const LinearRuleProblem& problem, const Buffers& buffers) {
  const FlattenedMemory gradient(problem.gradient, buffers.inputs[0]);
  const FlattenedMemory x(problem.x, buffers.inputs[1]);
  if (buffers.outputs[0] != nullptr) {
    multiply(problem.dtype, {problem.gradient.matrix, problem.weight}, gradient.data(),
             buffers.inputs[2], nullptr, buffers.outputs[0]);
  }
  if (buffers.outputs[1] != nullptr) {
    multiply(problem.dtype, {problem.gradient.matrix.transposed(), problem.x.matrix},
             gradient.data(), x.data(), nullptr, buffers.outputs[1]);
  }
  if (buffers.outputs[2] != nullptr) {
    run_reduction(problem.bias, buffers.inputs[0], buffers.outputs[2]);
  }
}

}  // namespace extensor
