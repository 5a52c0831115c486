// From the arguments of a call to the parameters of a signature.
#pragma once

#include "arrays.h"

namespace extensor {

// Puts `positional` arguments and then the named ones (`keywords`, a tuple of names, or null) where
// the signature has them: parameter i goes to bound[places[i]], or to bound[i] without places. All
// are borrowed. An Ellipsis among the defaults marks a required parameter. False for anything that
// needs a closer look.
bool bind(PyObject* names, PyObject* defaults, const int* places, PyObject* const* given,
          Py_ssize_t positional, PyObject* keywords, PyObject** bound);

// Adds bind(names, defaults, args, kwargs), for the functions that Python binds.
bool add_binding(PyObject* module);

}  // namespace extensor
