#pragma once

#include "kernel.h"

namespace extensor {
inline namespace legacy {

// The shape of x reduced over the marked axes: returns its number of axes.
int reduced_shape(PyArrayObject* x, const bool* reduced, bool keepdims, npy_intp* shape);

// The sum of a C-contiguous floating array over the axes that broadcasting from `shape` added or
// stretched: a new array of that shape, or null with a Python error set.
PyObject* sum_to_shape(PyArrayObject* x, int ndim, const npy_intp* shape);

// A gradient of the output's shape summed to an input's, and None for one that is not there.
PyObject* summed_to(Reference& full, const ArrayView& input, const Shape& of_output);

// The sum of all elements of a contiguous floating array divided by a number: a 0-d array.
PyObject* sum_and_divide(PyArrayObject* x, int64_t divisor);

}  // namespace legacy
}  // namespace extensor
