// Indices that show part of an array without moving an element.
#pragma once

#include "../arrays.h"

namespace extensor {

// Shape, strides and first byte of what an index of ints, slices, None and at most one ... shows of
// an array. False for any other index, and where NumPy has an error, which Python explains better;
// with a Python error set if there is no memory.
bool read_view_index(PyObject* index, const Layout& x, Shape& shape, int64_t* strides,
                     int64_t& offset);

}  // namespace extensor
