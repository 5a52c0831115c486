#pragma once

#include "arrays.h"

namespace extensor {

// Adds the matrix products: matmul, linear and their rules.
bool add_matrix_kernels(PyObject* kernels);

}  // namespace extensor
