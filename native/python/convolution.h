#pragma once

#include "arrays.h"

namespace extensor {

// Adds the convolutions, plain and transposed, and the gradients of conv2d.
bool add_convolution_kernels(PyObject* kernels);

}  // namespace extensor
