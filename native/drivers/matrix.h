// Products of matrices and of stacks of them, and their rules. All operands have one dtype: one
// that kernels compute in, or bfloat16, whose sums are float32 and rounded once.
#pragma once

#include <algorithm>

#include "../door/call.h"
#include "copying.h"
#include "reduction.h"

namespace extensor {

// How a matrix lies in memory, or each one of a stack. Strides count elements.
struct Matrix {
  int64_t rows, columns, row_stride, column_stride;

  Matrix transposed() const { return {columns, rows, column_stride, row_stride}; }
};

// a @ b for `batch` matrices at fixed distances, which count elements.
struct Product {
  Matrix a, b;
  int64_t batch = 1, a_batch = 0, b_batch = 0;

  int64_t size() const { return batch * a.rows * b.columns; }
  // About how long it takes. Not counted in integers: a result that is too large for memory may be
  // too large for them as well.
  int64_t nanoseconds() const {
    const double results =
        static_cast<double>(batch) * static_cast<double>(a.rows) * static_cast<double>(b.columns);
    return static_cast<int64_t>(std::min(results * static_cast<double>(a.columns) / 32, 1e18));
  }
};

struct MatmulProblem {
  DType dtype;
  Product product;
};
void run_matmul(const MatmulProblem& problem, const Buffers& buffers);

// Stacks of matrices whose batch axes broadcast. The innermost batch axis is part of the product.
struct StackedMatmulProblem {
  DType dtype;
  Product product;
  Loops loops;  // over the batch axes; the last is the product's
};
void run_stacked_matmul(const StackedMatmulProblem& problem, const Buffers& buffers);

// grad @ b.T and a.T @ grad of two matrices.
struct MatmulRuleProblem {
  DType dtype;
  Matrix gradient, a, b;
};
void run_matmul_rule(const MatmulRuleProblem& problem, const Buffers& buffers);

// An array with all axes but the last as rows of one matrix: of two axes it is read as it lies, of
// others in C order.
struct FlattenedMatrix {
  Matrix matrix;
  bool as_it_lies;
  Layout layout;  // of one that is read in C order
};

// x @ weight.T + bias
struct LinearProblem {
  DType dtype;
  bool has_bias;
  Matrix weight;
  FlattenedMatrix x;
};
void run_linear(const LinearProblem& problem, const Buffers& buffers);

// grad @ weight, grad.T @ x and the sum of grad over its rows.
struct LinearRuleProblem {
  DType dtype;
  Matrix weight;
  FlattenedMatrix gradient, x;
  ReductionProblem bias;  // where its gradient is asked for
};
void run_linear_rule(const LinearRuleProblem& problem, const Buffers& buffers);

}  // namespace extensor
