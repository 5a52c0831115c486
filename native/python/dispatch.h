#pragma once

#include "arrays.h"

namespace extensor {

// Somebody stands at the door and wants to see every computation: Python is to call the kernels.
bool is_observed();

// Adds Dispatcher, the callable behind every public op, to the module.
bool add_dispatcher_type(PyObject* module);

}  // namespace extensor
