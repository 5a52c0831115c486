#pragma once

#include "arrays.h"

namespace extensor {

// Adds max_pool, avg_pool and adaptive_avg_pool along one and two axes, and the rules along two.
bool add_pooling_kernels(PyObject* kernels);

}  // namespace extensor
