#pragma once

#include "arrays.h"

namespace extensor {

// Adds concatenate and stack.
bool add_joining_kernels(PyObject* kernels);

}  // namespace extensor
