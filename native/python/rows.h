#pragma once

#include "arrays.h"

namespace extensor {

// Adds the kernels that work on whole rows: softmax, log-softmax, cumsum, the rules of these, and
// logsumexp.
bool add_row_kernels(PyObject* kernels);

}  // namespace extensor
