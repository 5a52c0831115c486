#pragma once

#include "arrays.h"

namespace extensor {

// Adds rnn, lstm and gru, their cells, and the rules of all.
bool add_recurrent_kernels(PyObject* kernels);

}  // namespace extensor
