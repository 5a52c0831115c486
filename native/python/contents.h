#pragma once

#include "arrays.h"

namespace extensor {

// Adds `contents` and `holds` to the module.
bool add_contents(PyObject* module);

}  // namespace extensor
