#pragma once

#include "arrays.h"

namespace extensor {

// Adds conv2d, its gradients conv2d_grad_x and conv2d_grad_weight, and conv1d.
bool add_convolution_kernels(PyObject* kernels);

}  // namespace extensor
