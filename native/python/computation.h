#pragma once

#include "arrays.h"

namespace extensor {

// Adds Computation, the callable that computes by a kernel where there is one for the arguments,
// and else by a formula.
bool add_computation_type(PyObject* module);

}  // namespace extensor
