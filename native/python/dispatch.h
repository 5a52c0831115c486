#pragma once

#include "arrays.h"

namespace extensor {

// Adds Dispatcher, the callable behind every public op, to the module.
bool add_dispatcher_type(PyObject* module);

}  // namespace extensor
