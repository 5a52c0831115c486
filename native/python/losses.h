#pragma once

#include "arrays.h"

namespace extensor {

// Adds the losses of pairs of numbers, for the reductions mean and sum, and their rules.
bool add_loss_kernels(PyObject* kernels);

}  // namespace extensor
