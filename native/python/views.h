#pragma once

#include "arrays.h"

namespace extensor {

// Adds the kernels that give another view of the same memory: reshape, transpose, broadcast_to, and
// the rules of sum and mean, which are broadcasts.
bool add_view_kernels(PyObject* kernels);

}  // namespace extensor
