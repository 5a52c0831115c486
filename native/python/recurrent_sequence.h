// The inputs of a recurrence, checked and held, and the arrays it makes.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "../kernels/tables.h"
#include "copying.h"
#include "kernel.h"
#include "matrix.h"
#include "operands.h"

namespace extensor::recurrent {

constexpr int kMaxInputs = 7;

inline PyArrayObject* as_array(PyObject* object) {
  return reinterpret_cast<PyArrayObject*>(object);
}
inline char* data_of(const Reference& array) {
  return static_cast<char*>(PyArray_DATA(array.array()));
}

inline bool has_shape(PyArrayObject* array, std::initializer_list<npy_intp> shape) {
  return PyArray_NDIM(array) == static_cast<int>(shape.size()) &&
         std::equal(shape.begin(), shape.end(), PyArray_DIMS(array));
}

// The inputs of a recurrence: x, its states, w_ih, w_hh, b_ih and b_hh. A cell is a sequence of one
// step whose x has no axis for it.
struct Sequence {
  int gates = 1, states = 1;
  bool is_cell = false;
  Storage storage;
  npy_intp steps = 1, batch = 0, inputs = 0, hidden = 0;
  Reference held[kMaxInputs];  // null where the bias is None

  bool read(PyObject* const* arguments, bool cell) {
    is_cell = cell;
    const int count = states + 5;
    for (int i = 0; i < count; ++i) {
      const bool bias = i >= count - 2;
      if (bias && arguments[i] == Py_None) continue;
      if (!is_plain_array(arguments[i])) return false;
    }
    PyArrayObject* x = as_array(arguments[0]);
    PyArrayObject* w_hh = as_array(arguments[states + 2]);
    if (!find_storage(PyArray_TYPE(x), storage) || storage.half != nullptr ||
        PyArray_NDIM(x) != (cell ? 2 : 3) || PyArray_NDIM(w_hh) != 2 || PyArray_SIZE(x) == 0) {
      return false;
    }
    if (!cell) steps = PyArray_DIM(x, 0);
    batch = PyArray_DIM(x, cell ? 0 : 1);
    inputs = PyArray_DIM(x, cell ? 1 : 2);
    hidden = PyArray_DIM(w_hh, 1);
    const npy_intp rows = gates * hidden;
    bool fits = hidden > 0 && has_shape(w_hh, {rows, hidden}) &&
                has_shape(as_array(arguments[states + 1]), {rows, inputs});
    for (int i = 1; i <= states; ++i) fits &= has_shape(as_array(arguments[i]), {batch, hidden});
    for (int i = states + 3; i < count; ++i) {
      fits &= arguments[i] == Py_None || has_shape(as_array(arguments[i]), {rows});
    }
    for (int i = 0; i < count; ++i) {
      fits &= arguments[i] == Py_None || PyArray_TYPE(as_array(arguments[i])) == storage.typenum;
    }
    return fits;
  }
  // False with a Python error set.
  bool hold(PyObject* const* arguments) {
    for (int i = 0; i < states + 5; ++i) {
      if (arguments[i] == Py_None) continue;
      held[i].reset(contiguous(as_array(arguments[i])));
      if (!held[i]) return false;
    }
    return true;
  }

  int element() const { return static_cast<int>(storage.element); }
  int64_t itemsize() const { return storage.itemsize; }
  int64_t state_size() const { return batch * hidden; }
  const char* state(int index) const { return data_of(held[1 + index]); }
  const void* bias(int index) const {
    const Reference& array = held[states + 3 + index];
    return array ? data_of(array) : nullptr;
  }
  Matrix matrix(const char* data, int64_t rows, int64_t columns) const {
    return {data, rows, columns, columns, 1};
  }
  Matrix x() const { return matrix(data_of(held[0]), steps * batch, inputs); }
  Matrix w_ih() const { return matrix(data_of(held[states + 1]), gates * hidden, inputs); }
  Matrix w_hh() const { return matrix(data_of(held[states + 2]), gates * hidden, hidden); }
  // (steps, batch, width), or without steps for what a cell gives.
  PyObject* new_steps(int64_t width, bool is_result) const {
    const npy_intp shape[] = {steps, batch, width};
    const bool flat = is_result && is_cell;
    return new_array(storage.typenum, flat ? 2 : 3, flat ? shape + 1 : shape);
  }
  PyObject* new_state() const {
    const npy_intp shape[] = {batch, hidden};
    return new_array(storage.typenum, 2, shape);
  }
  // A step of the gates, which costs some exponentials for each element of a state.
  template <typename Body>
  void for_rows(Body body) const {
    const Cut pieces = cut(batch, Cost::heavy, 2 * hidden);
    Unlocked unlocked(pieces.nanoseconds);
    parallel_chunks(pieces, body);
  }
};

}  // namespace extensor::recurrent
