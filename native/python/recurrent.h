#pragma once

#include "arrays.h"

namespace extensor {

// Adds the recurrences over whole sequences, lstm and gru, and their rules.
bool add_recurrent_kernels(PyObject* kernels_by_name);

}  // namespace extensor
