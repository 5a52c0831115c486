#pragma once

#include "arrays.h"

namespace extensor {

// Adds the rules of max_reduce and min_reduce.
bool add_extreme_kernels(PyObject* kernels);

}  // namespace extensor
