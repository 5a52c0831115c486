// Plans of integers, for the families whose kernels of floats have the same names.
#pragma once

#include "../../drivers/integers.h"
#include "../plan.h"

namespace extensor {

// Whether an argument is an array of a type that integer kernels have.
bool holds_integers(PyObject* object);

// An elementwise kernel, from its inputs.
bool plan_integers(const IntegerKernel& kernel, PyObject* const* arguments, Py_ssize_t count,
                   Plan& plan);

// The reduction of this name, from x, axis and keepdims.
bool plan_integer_reduction(const char* name, PyObject* const* arguments, Plan& plan);

}  // namespace extensor
