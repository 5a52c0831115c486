#pragma once

#include "normalization_problem.h"

namespace extensor::normalization {

// The gradients of x, the weight and the bias, those that are needed.
struct Gradients {
  bool needs[3] = {};
  Reference found[3];

  // Room for those that are needed. False with a Python error set.
  bool make(const Problem& problem) {
    const AxisLayout& layout = problem.layout;
    for (int i = 0; i < 3; ++i) {
      if (!needs[i]) continue;
      PyArrayObject* x = problem.x.array();
      const int axis = i == 0 ? 0 : layout.weight_axis;
      const int axes = i == 0 ? PyArray_NDIM(x) : layout.weight_axes;
      found[i].reset(new_array(problem.storage.typenum, axes, PyArray_DIMS(x) + axis));
      if (!found[i]) return false;
    }
    return true;
  }
  // The gradient of input i, or null.
  char* data(int i) const { return found[i] ? data_of(found[i]) : nullptr; }

  PyObject* as_tuple(int count) {
    Reference results(PyTuple_New(count));
    for (int i = 0; results && i < count; ++i) {
      PyTuple_SET_ITEM(results.get(), i, needs[i] ? found[i].release() : Py_NewRef(Py_None));
    }
    return results.release();
  }
};

}  // namespace extensor::normalization
