#pragma once

#include "arrays.h"

namespace extensor {

// Adds cross_entropy, nll_loss and their rules, for class indices without weights or smoothing.
bool add_cross_entropy_kernels(PyObject* kernels);

}  // namespace extensor
