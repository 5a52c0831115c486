// Reading the attributes of a kernel call. All return false, without a Python error, for anything
// that Python itself has to look at.
#pragma once

#include <string_view>

#include "arrays.h"

namespace extensor {

bool is_text(PyObject* object, std::string_view text);

// Python numbers, at most kMaxParameters of them.
constexpr int kMaxParameters = 4;
bool read_numbers(PyObject* const* objects, int count, double* numbers);

// Which of `count` gradients are asked for, from a tuple of as many booleans.
bool read_needs(PyObject* object, int count, bool* needs);
// The same of two, at least one of them.
bool read_either(PyObject* object, bool* needs);

// A shape given as a tuple of ints.
bool read_shape(PyObject* object, Shape& shape);

// A tuple of ints.
bool read_sizes(PyObject* object, npy_intp* sizes, int& count);

// An int from `least` to 2^24 for each of `axes` axes, or a tuple of such ints.
bool read_per_axis(PyObject* object, int axes, npy_intp least, npy_intp* values);

// One axis, as a number from 0 on.
bool read_axis(PyObject* object, int ndim, int& axis);

// None (all axes), an axis or a tuple of axes, as a mark for each axis.
bool read_axes(PyObject* object, int ndim, bool* marked);

}  // namespace extensor
