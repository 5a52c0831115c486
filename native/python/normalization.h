#pragma once

#include "arrays.h"

namespace extensor {

// Adds layer_norm, rms_norm, group_norm, instance_norm and batch_norm, and their rules.
bool add_normalization_kernels(PyObject* kernels);

}  // namespace extensor
