// The arguments of a pass: arrays of one dtype and Python numbers.
#pragma once

#include "../drivers/pass.h"
#include "plan.h"

namespace extensor {

// An array that kernels can read as it is: aligned, in native byte order, no subclass.
inline bool is_plain_array(PyObject* object) {
  if (!PyArray_CheckExact(object)) return false;
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
  return PyArray_ISALIGNED(array) && PyArray_ISNOTSWAPPED(array);
}

// The next input of a plan if it is a plain array, described.
bool add_array(PyObject* object, Plan& plan, Layout& layout);

// Several arrays, a tuple of at least one; null for anything else. A list may be changed meanwhile
// by another thread, so its items are held.
PyObject* read_arrays(PyObject* object, Plan& plan);

// A Python int, float or bool.
bool read_number(PyObject* object, double& value);

// A number as an array of this dtype can hold it: an integer as it is, a float rounded once.
bool read_number_of(DType dtype, PyObject* object, double& value);

// The operands of a pass, as inputs and numbers of the plan from `first_number` on. False if the
// arguments are not for kernels.
bool read_operands(PyObject* const* arguments, int inputs, bool starts_with_booleans, Plan& plan,
                   int first_number, Operands& operands);

// The same for integers or booleans, with numbers that their dtype has.
bool read_integer_operands(PyObject* const* arguments, int inputs, bool starts_with_booleans,
                           Plan& plan, Operands& operands);

// Arrays alone, of one dtype, as operands whose shapes need not fit yet: the caller lays them out
// and says which shape they have together.
bool read_apart(PyObject* const* arguments, int count, Plan& plan, Operands& operands);

// The parameters of a pass, as numbers of the plan from `first_number` on.
bool read_parameters(PyObject* const* arguments, int count, Plan& plan, int first_number);

}  // namespace extensor
