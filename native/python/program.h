#pragma once

#include "arrays.h"

namespace extensor {

// Adds the class Program to the module.
bool add_program_type(PyObject* module);

}  // namespace extensor
