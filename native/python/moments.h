#pragma once

#include "arrays.h"

namespace extensor {

// Adds var and std, their rules, and the rule of norm.
bool add_moment_kernels(PyObject* kernels);

}  // namespace extensor
