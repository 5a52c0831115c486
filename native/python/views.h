#pragma once

#include "arrays.h"

namespace extensor {

// Adds the kernels that give another view of the same memory: reshape (which copies first where it
// must), transpose, broadcast_to, and the rules of sum and mean, which are broadcasts.
bool add_view_kernels(PyObject* kernels);

}  // namespace extensor
