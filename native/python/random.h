#pragma once

#include "arrays.h"

namespace extensor {

// Adds the fills with random numbers: no array in, a new one out.
bool add_random_kernels(PyObject* kernels);

}  // namespace extensor
