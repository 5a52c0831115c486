#include "operands.h"

#include <algorithm>
#include <cstring>

namespace extensor {

bool add_array(PyObject* object, Plan& plan, Layout& layout) {
  if (!is_plain_array(object)) return false;
  plan.add(object, layout);
  return true;
}

bool read_number(PyObject* object, double& value) {
  if (PyFloat_CheckExact(object)) {
    value = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (PyBool_Check(object)) {
    value = object == Py_True;
    return true;
  }
  if (!PyLong_CheckExact(object)) return false;
  value = PyLong_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    return false;
  }
  return true;
}

bool read_operands(PyObject* const* arguments, int inputs, bool starts_with_booleans, Plan& plan,
                   int first_number, Operands& operands) {
  operands.count = inputs;
  operands.first_is_boolean = starts_with_booleans;
  int first_array = -1;
  for (int i = 0; i < inputs; ++i) {
    const bool boolean = i == 0 && starts_with_booleans;
    Layout& layout = operands.layouts[i];
    if (is_plain_array(arguments[i])) {
      operands.place[i] = plan.add(arguments[i], layout);
      if (boolean) {
        if (layout.dtype != DType::boolean) return false;
      } else if (operands.storage.dtype == DType::other) {
        if (!find_storage(layout.dtype, operands.storage)) return false;
      } else if (layout.dtype != operands.storage.dtype) {
        return false;
      }
      if (first_array == -1) {
        first_array = i;
        operands.same_layout = layout.c_contiguous;
      } else {
        operands.same_layout = operands.same_layout && layout.c_contiguous &&
                               layout.shape == operands.layouts[first_array].shape;
      }
    } else if (!boolean && read_number(arguments[i], plan.call.numbers[first_number + i])) {
      operands.place[i] = first_number + i;
      operands.is_number[i] = true;
    } else {
      return false;
    }
  }
  if (operands.storage.dtype == DType::other) return false;
  if (operands.same_layout) {
    const Shape& shape = operands.layouts[first_array].shape;
    operands.shape.ndim = shape.ndim;
    std::copy_n(shape.lengths, shape.ndim, operands.shape.lengths);
    return true;
  }
  const Shape* shapes[4];
  int array_count = 0;
  for (int i = 0; i < inputs; ++i) {
    if (!operands.is_number[i]) shapes[array_count++] = &operands.layouts[i].shape;
  }
  return broadcast(shapes, array_count, operands.shape);
}

bool read_apart(PyObject* const* arguments, int count, Plan& plan, Operands& operands) {
  operands.count = count;
  operands.same_layout = false;
  for (int i = 0; i < count; ++i) {
    Layout& layout = operands.layouts[i];
    operands.place[i] = plan.input_count();
    if (!add_array(arguments[i], plan, layout) ||
        (i > 0 && layout.dtype != operands.storage.dtype)) {
      return false;
    }
    if (i == 0 && !find_storage(layout.dtype, operands.storage)) return false;
  }
  return true;
}

bool read_parameters(PyObject* const* arguments, int count, Plan& plan, int first_number) {
  for (int i = 0; i < count; ++i) {
    if (!read_number(arguments[i], plan.call.numbers[first_number + i])) return false;
  }
  return true;
}

}  // namespace extensor
