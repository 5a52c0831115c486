#pragma once

#include "arrays.h"

namespace extensor {

// Adds the steps of optimizers, which change lists of arrays in place, and the norm of a list.
bool add_optimizer_kernels(PyObject* kernels);

}  // namespace extensor
