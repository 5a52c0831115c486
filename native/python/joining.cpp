#include <algorithm>

#include "arguments.h"
#include "families.h"
#include "kernel.h"
#include "legacy_copying.h"
#include "legacy_operands.h"

namespace extensor {
namespace {

PyArrayObject* array_at(PyObject* sequence, Py_ssize_t i) {
  return reinterpret_cast<PyArrayObject*>(PySequence_Fast_GET_ITEM(sequence, i));
}

// A list or tuple of arrays of one type and rank that kernels can move.
bool is_joinable(PyObject* object) {
  if (!(PyTuple_CheckExact(object) || PyList_CheckExact(object))) return false;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!is_movable_array(PySequence_Fast_GET_ITEM(object, i)) ||
        PyArray_TYPE(array_at(object, i)) != PyArray_TYPE(array_at(object, 0)) ||
        PyArray_NDIM(array_at(object, i)) != PyArray_NDIM(array_at(object, 0))) {
      return false;
    }
  }
  return count > 0;
}

// Copies the arrays one after another along an axis of `whole`, each shown with the axes it has
// there.
void fill(const PyObject* arrays, PyArrayObject* whole, int axis, bool stacked) {
  PyObject* const sequence = const_cast<PyObject*>(arrays);
  ArrayView target;
  fill_view(whole, target);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); ++i) {
    ArrayView source;
    fill_view(array_at(sequence, i), source);
    if (stacked) {
      std::copy_backward(source.shape + axis, source.shape + source.ndim,
                         source.shape + source.ndim + 1);
      std::copy_backward(source.strides + axis, source.strides + source.ndim,
                         source.strides + source.ndim + 1);
      source.shape[axis] = 1;
      ++source.ndim;
    }
    target.shape[axis] = source.shape[axis];
    target.size = source.size;
    copy_elements(source, target);
    target.data += source.shape[axis] * target.strides[axis];
  }
}

// Whether all arrays but for one axis have the shape of the first.
bool agree_but_for(PyObject* arrays, int axis) {
  for (Py_ssize_t i = 1; i < PySequence_Fast_GET_SIZE(arrays); ++i) {
    for (int other = 0; other < PyArray_NDIM(array_at(arrays, 0)); ++other) {
      if (other != axis &&
          PyArray_DIM(array_at(arrays, i), other) != PyArray_DIM(array_at(arrays, 0), other)) {
        return false;
      }
    }
  }
  return true;
}

// arrays, axis
PyObject* call_concatenate(const void*, PyObject* const* arguments, Py_ssize_t count) {
  int axis;
  if (count != 2 || !is_joinable(arguments[0])) return not_implemented();
  PyArrayObject* const first = array_at(arguments[0], 0);
  const int ndim = PyArray_NDIM(first);
  if (!read_axis(arguments[1], ndim, axis) || !agree_but_for(arguments[0], axis)) {
    return not_implemented();
  }
  npy_intp shape[kMaxDimensions];
  std::copy_n(PyArray_DIMS(first), ndim, shape);
  shape[axis] = 0;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(arguments[0]); ++i) {
    const npy_intp length = PyArray_DIM(array_at(arguments[0], i), axis);
    if (__builtin_add_overflow(shape[axis], length, &shape[axis])) return not_implemented();
  }
  Reference result(new_array(PyArray_DESCR(first), ndim, shape));
  if (result) fill(arguments[0], result.array(), axis, false);
  return result.release();
}

// arrays, axis
PyObject* call_stack(const void*, PyObject* const* arguments, Py_ssize_t count) {
  int axis;
  if (count != 2 || !is_joinable(arguments[0])) return not_implemented();
  PyArrayObject* const first = array_at(arguments[0], 0);
  const int ndim = PyArray_NDIM(first) + 1;
  if (ndim > kMaxDimensions || !read_axis(arguments[1], ndim, axis) ||
      !agree_but_for(arguments[0], -1)) {
    return not_implemented();
  }
  npy_intp shape[kMaxDimensions];
  std::copy_n(PyArray_DIMS(first), axis, shape);
  shape[axis] = PySequence_Fast_GET_SIZE(arguments[0]);
  std::copy(PyArray_DIMS(first) + axis, PyArray_DIMS(first) + ndim - 1, shape + axis + 1);
  Reference result(new_array(PyArray_DESCR(first), ndim, shape));
  if (result) fill(arguments[0], result.array(), axis, true);
  return result.release();
}

}  // namespace

bool add_joining_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "concatenate", call_concatenate, nullptr) &&
         add_kernel(kernels_by_name, "stack", call_stack, nullptr);
}

}  // namespace extensor
