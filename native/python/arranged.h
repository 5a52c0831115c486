#pragma once

#include "arrays.h"

namespace extensor {

// Adds prelu, glu, their rules and the rule of logsumexp.
bool add_arranged_kernels(PyObject* kernels);

}  // namespace extensor
