// Reading and adding at indices: slices along an axis in indexing.cpp, single elements in
// gathering.cpp.
#pragma once

#include "arrays.h"

namespace extensor {

// An array of integers.
bool is_index_array(PyObject* object);

// Indices from -size to size - 1 as positions from 0 on, in memory of their own: a 1-D array,
// NotImplemented if one is outside, or null with a Python error set.
PyObject* positions_of(PyArrayObject* indices, int64_t size);

// An array's axes before, at and after one axis, as three.
struct Block {
  int64_t outer = 1, length = 1, inner = 1;

  Block(int ndim, const npy_intp* shape, int axis) {
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    length = shape[axis];
    for (int i = axis + 1; i < ndim; ++i) inner *= shape[i];
  }
};

}  // namespace extensor
