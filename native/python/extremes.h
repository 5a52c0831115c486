#pragma once

#include "arrays.h"

namespace extensor {

// Adds the rules of max_reduce and min_reduce, argmax and argmin.
bool add_extreme_kernels(PyObject* kernels);

}  // namespace extensor
