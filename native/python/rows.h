#pragma once

#include "arrays.h"

namespace extensor {

// Adds the kernels that work on whole rows: softmax, log-softmax and their rules.
bool add_row_kernels(PyObject* kernels);

}  // namespace extensor
