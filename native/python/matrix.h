#pragma once

#include "arrays.h"

namespace extensor {

// A matrix read in place. Strides are in elements.
struct Matrix {
  const char* data;
  int64_t rows, columns, row_stride, column_stride;

  Matrix transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

// out = a @ b + bias, or added to what `out` holds; float32 or float64, `out` without gaps.
void product_into(int typenum, const Matrix& a, const Matrix& b, char* out,
                  const void* bias = nullptr, bool accumulate = false);

// Adds the matrix products: matmul, linear and their rules.
bool add_matrix_kernels(PyObject* kernels);

}  // namespace extensor
