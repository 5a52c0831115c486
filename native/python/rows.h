#pragma once

#include "arrays.h"

namespace extensor {

// Adds `copy_rows` to the module.
bool add_rows(PyObject* module);

}  // namespace extensor
