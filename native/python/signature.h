// From the arguments of a call to the parameters of a signature.
#pragma once

#include "arrays.h"

namespace extensor {

// Puts `positional` arguments and then the named ones (`keywords`, a tuple of names, or null) where
// the signature has them: parameter i goes to bound[places[i]], or to bound[i] without places. All
// are borrowed. An Ellipsis among the defaults marks a required parameter. False for anything that
// needs a closer look.
inline bool bind(PyObject* names, PyObject* defaults, const int* places, PyObject* const* given,
                 Py_ssize_t positional, PyObject* keywords, PyObject** bound) {
  const auto place = [places](Py_ssize_t i) { return places == nullptr ? i : places[i]; };
  const Py_ssize_t count = PyTuple_GET_SIZE(names);
  if (positional > count) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    bound[place(i)] = i < positional ? given[i] : PyTuple_GET_ITEM(defaults, i);
  }
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  for (Py_ssize_t k = 0; k < named; ++k) {
    // Names in a source are interned; others are not worth comparing letter by letter.
    Py_ssize_t i = positional;
    while (i < count && PyTuple_GET_ITEM(names, i) != PyTuple_GET_ITEM(keywords, k)) ++i;
    if (i == count) return false;
    bound[place(i)] = given[positional + k];
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (bound[i] == Py_Ellipsis) return false;  // a required parameter that was not given
  }
  return true;
}

// Adds bind(names, defaults, args, kwargs), for the functions that Python binds.
bool add_binding(PyObject* module);

}  // namespace extensor
