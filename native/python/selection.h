#pragma once

#include "arrays.h"

namespace extensor {

// Adds the rule of where, masked_fill and its rule, and logic on booleans; to be called after
// add_elementwise_kernels, as logic on floats is found there.
bool add_selection_kernels(PyObject* kernels);

}  // namespace extensor
