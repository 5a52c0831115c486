#include "arguments.h"

#include <algorithm>

#include "operands.h"

namespace extensor {
namespace {

bool read_size(PyObject* object, npy_intp& size) {
  if (!PyLong_CheckExact(object)) return false;
  size = PyLong_AsSsize_t(object);
  if (size == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return false;
  }
  return true;
}

bool mark_axis(PyObject* object, int ndim, bool* marked) {
  int axis;
  if (!read_axis(object, ndim, axis) || marked[axis]) return false;
  marked[axis] = true;
  return true;
}

}  // namespace

bool is_text(PyObject* object, std::string_view text) {
  return PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, text.data()) == 0;
}

bool read_numbers(PyObject* const* objects, int count, double* numbers) {
  for (int i = 0; i < count; ++i) {
    if (!read_number(objects[i], numbers[i])) return false;
  }
  return true;
}

bool read_needs(PyObject* object, int count, bool* needs) {
  if (!PyTuple_CheckExact(object) || PyTuple_GET_SIZE(object) != count) return false;
  for (int i = 0; i < count; ++i) needs[i] = PyTuple_GET_ITEM(object, i) == Py_True;
  return true;
}

bool read_either(PyObject* object, bool* needs) {
  return read_needs(object, 2, needs) && (needs[0] || needs[1]);
}

bool read_shape(PyObject* object, Shape& shape) {
  static_assert(sizeof(npy_intp) == sizeof(int64_t));
  if (!read_sizes(object, reinterpret_cast<npy_intp*>(shape.lengths), shape.ndim)) return false;
  return std::all_of(shape.lengths, shape.lengths + shape.ndim,
                     [](int64_t size) { return size >= 0; });
}

bool read_sizes(PyObject* object, npy_intp* sizes, int& count) {
  if (!PyTuple_CheckExact(object) || PyTuple_GET_SIZE(object) > kMaxDimensions) return false;
  count = static_cast<int>(PyTuple_GET_SIZE(object));
  for (int i = 0; i < count; ++i) {
    if (!read_size(PyTuple_GET_ITEM(object, i), sizes[i])) return false;
  }
  return true;
}

bool read_per_axis(PyObject* object, int axes, npy_intp least, npy_intp* values) {
  if (PyTuple_CheckExact(object)) {
    int given;
    if (PyTuple_GET_SIZE(object) != axes || !read_sizes(object, values, given)) return false;
  } else {
    if (!read_size(object, values[0])) return false;
    std::fill(values + 1, values + axes, values[0]);
  }
  constexpr npy_intp most = npy_intp{1} << 24;
  return std::all_of(values, values + axes,
                     [=](npy_intp value) { return value >= least && value <= most; });
}

bool read_axis(PyObject* object, int ndim, int& axis) {
  npy_intp given;
  if (!read_size(object, given) || given < -ndim || given >= ndim) return false;
  axis = static_cast<int>(given < 0 ? given + ndim : given);
  return true;
}

bool read_axes(PyObject* object, int ndim, bool* marked) {
  std::fill(marked, marked + ndim, object == Py_None);
  if (object == Py_None) return true;
  if (!PyTuple_CheckExact(object)) return mark_axis(object, ndim, marked);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i) {
    if (!mark_axis(PyTuple_GET_ITEM(object, i), ndim, marked)) return false;
  }
  return true;
}

}  // namespace extensor
