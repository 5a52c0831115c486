#pragma once

#include "arrays.h"

namespace extensor {

// Teaches prelu, glu, their rules and the rule of logsumexp how their operands lie beside each
// other; to be called after add_elementwise_kernels, which knows what they compute.
bool arrange_kernels(PyObject* kernels);

}  // namespace extensor
