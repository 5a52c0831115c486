#pragma once

#include "arrays.h"

namespace extensor {

// Adds every elementwise kernel and binary rule of the chosen table to `kernels`.
bool add_elementwise_kernels(PyObject* kernels);

}  // namespace extensor
