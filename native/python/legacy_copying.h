// Copies of arrays in memory of the pool, and the kernels clone and cast.
#pragma once

#include "arrays.h"

namespace extensor {
inline namespace legacy {

// An array of plain numbers that kernels can move without knowing what they are.
bool is_movable_array(PyObject* object);

// Copies elements between arrays of one shape and type, which must be movable.
void copy_elements(const ArrayView& from, const ArrayView& to);

// A C-contiguous copy. A new reference, or null with a Python error set.
PyObject* copy_of(PyArrayObject* x);

// The array itself if it is C-contiguous, else a copy that is. A new reference, or null with a
// Python error set.
PyObject* contiguous(PyArrayObject* x);

// The same with elements of another type, which must be one that `can_cast` accepts.
bool can_cast(int from, int to);
PyObject* contiguous_as(PyArrayObject* x, int typenum);

}  // namespace legacy
}  // namespace extensor
