#pragma once

#include "arrays.h"

namespace extensor {

// Adds plan(kernel, *arguments), which gives a call as an object of Python's.
bool add_planned_type(PyObject* module);

}  // namespace extensor
