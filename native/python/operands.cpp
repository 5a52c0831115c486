#include "operands.h"

#include <algorithm>
#include <limits>

#include "../drivers/integers.h"

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

PyObject* read_arrays(PyObject* object, Plan& plan) {
  if (PyList_CheckExact(object)) {
    object = PyList_AsTuple(object);
    if (object == nullptr) return nullptr;
    plan.hold(object);
  }
  return PyTuple_CheckExact(object) && PyTuple_GET_SIZE(object) > 0 ? object : nullptr;
}

namespace {

// The operands of a pass whose dtypes have a storage by `find`.
template <typename Find>
bool read_stored(PyObject* const* arguments, int inputs, bool starts_with_booleans, Plan& plan,
                 int first_number, const Find& find, Operands& operands) {
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
        if (!find(layout.dtype, operands.storage)) return false;
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

bool find_integer_storage(DType dtype, Storage& storage) {
  storage.dtype = dtype;
  storage.itemsize = size_of(dtype);
  Integer integer;
  return find_integer(dtype, integer);
}

// Whether a dtype of integers has this number, and a double too, as which a call holds it.
bool is_integer_of(DType dtype, PyObject* number) {
  if (PyBool_Check(number)) return true;
  if (dtype == DType::boolean || !PyLong_CheckExact(number)) return false;
  const long long limit = dtype == DType::int32 ? std::numeric_limits<int32_t>::max() : 1LL << 53;
  int overflow;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  return overflow == 0 && -limit <= value && value <= limit;
}

}  // namespace

bool read_number_of(DType dtype, PyObject* object, double& value) {
  Integer integer;
  if (find_integer(dtype, integer) && !is_integer_of(dtype, object)) return false;
  // By way of float32 a number of 16 bits would be rounded twice.
  return (is_computed(dtype) || find_integer(dtype, integer)) && read_number(object, value);
}

bool read_operands(PyObject* const* arguments, int inputs, bool starts_with_booleans, Plan& plan,
                   int first_number, Operands& operands) {
  return read_stored(arguments, inputs, starts_with_booleans, plan, first_number, find_storage,
                     operands);
}

bool read_integer_operands(PyObject* const* arguments, int inputs, bool starts_with_booleans,
                           Plan& plan, Operands& operands) {
  if (!read_stored(arguments, inputs, starts_with_booleans, plan, 0, find_integer_storage,
                   operands)) {
    return false;
  }
  for (int i = 0; i < inputs; ++i) {
    if (operands.is_number[i] && !is_integer_of(operands.storage.dtype, arguments[i])) return false;
  }
  return true;
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
