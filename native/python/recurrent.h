#pragma once

#include "arrays.h"

namespace extensor {

// Add the recurrences over whole sequences and their rules.
bool add_lstm_kernels(PyObject* kernels_by_name);
bool add_gru_kernels(PyObject* kernels_by_name);

}  // namespace extensor
