#pragma once

#include "arrays.h"

namespace extensor {

// Add the recurrences over whole sequences, their cells and the rules of both.
bool add_rnn_kernels(PyObject* kernels_by_name);
bool add_lstm_kernels(PyObject* kernels_by_name);
bool add_gru_kernels(PyObject* kernels_by_name);

}  // namespace extensor
