// Recurrences over whole sequences. What does not depend on the last state is one product for all
// steps; the rest runs step by step for a block of the batch, whose sequences know nothing of the
// others, so that threads need not meet at every step.
#pragma once

#include <algorithm>
#include <bit>

#include "../kernels/tables.h"
#include "../runtime/memory.h"
#include "../runtime/threads.h"
#include "copying.h"
#include "kernel.h"
#include "operands.h"
#include "products.h"
#include "reduction.h"

namespace extensor {

// Fewer sequences would read the weights at every step for too few products.
inline constexpr int64_t kLeastRows = 16;

// Steps, sequences, inputs and units, and how many gates a unit has.
struct Size {
  int64_t steps, batch, inputs, units, gates;

  int64_t rows() const { return steps * batch; }
  int64_t width() const { return gates * units; }
};

// Calls body(first row, rows) for each block of the batch, one per thread. How it is cut changes no
// bit: a row's sums do not depend on the rows beside it.
template <typename Body>
void for_blocks(const Size& size, Body&& body) {
  const int64_t share = (size.batch + num_threads() - 1) / num_threads();
  const int64_t rows = std::max(kLeastRows, share), tasks = (size.batch + rows - 1) / rows;
  parallel_for(tasks, [&](int64_t task) {
    const int64_t first = task * rows;
    body(first, std::min(rows, size.batch - first));
  });
}

// The arguments that are arrays, contiguous and of one floating dtype; null for None.
class Inputs {
 public:
  // False for what is not for kernels, with a Python error set if there is no memory.
  bool read(PyObject* const* arguments, int count) {
    for (int i = 0; i < count; ++i) {
      if (arguments[i] == Py_None) continue;
      if (!is_plain_array(arguments[i])) return false;
      PyArrayObject* array = reinterpret_cast<PyArrayObject*>(arguments[i]);
      if (i == 0) typenum = PyArray_TYPE(array);
      if (PyArray_TYPE(array) != typenum || !is_computed(typenum)) return false;
      held_[i].reset(contiguous(array));
      if (!held_[i]) return false;
    }
    return true;
  }

  // Whether argument i is an array of this shape.
  bool has_shape(int i, std::initializer_list<int64_t> shape) const {
    return held_[i] && PyArray_NDIM(held_[i].array()) == static_cast<int>(shape.size()) &&
           std::equal(shape.begin(), shape.end(), PyArray_DIMS(held_[i].array()));
  }
  bool is_none_or_has_shape(int i, std::initializer_list<int64_t> shape) const {
    return !held_[i] || has_shape(i, shape);
  }
  int64_t length(int i, int axis) const {
    return held_[i] && axis < PyArray_NDIM(held_[i].array()) ? PyArray_DIM(held_[i].array(), axis)
                                                             : -1;
  }
  template <typename T>
  T* data(int i) const {
    return held_[i] ? static_cast<T*>(PyArray_DATA(held_[i].array())) : nullptr;
  }

  int typenum = -1;

 private:
  static bool is_computed(int typenum) { return typenum == NPY_FLOAT32 || typenum == NPY_FLOAT64; }

  Reference held_[12];
};

template <typename T>
T* data_of(const Reference& array) {
  return static_cast<T*>(PyArray_DATA(array.array()));
}

inline PyObject* new_sequence(int typenum, const Size& size, int64_t width) {
  const npy_intp shape[] = {size.steps, size.batch, width};
  return new_array(typenum, 3, shape);
}
inline PyObject* new_matrix(int typenum, int64_t rows, int64_t columns) {
  const npy_intp shape[] = {rows, columns};
  return new_array(typenum, 2, shape);
}

// x @ w_ih.T + bias for all steps.
template <typename T>
void multiply_inputs(const Size& size, const T* x, const T* w_ih, const T* bias, T* out) {
  Gemm<T> problem = product<T>(size.rows(), size.inputs, size.width(), {x, size.inputs},
                               {w_ih, size.inputs, true}, out, size.width());
  problem.bias = bias;
  run_with_threads(problem);
}

// w_hh.T, which every step multiplies with: lying this way it need not be rearranged each time.
template <typename T>
void transpose_weight(const Size& size, const T* w_hh, char* out) {
  kernels().copies.transpose[std::countr_zero(sizeof(T))](
      reinterpret_cast<const char*>(w_hh), size.units * sizeof(T), out, size.width() * sizeof(T),
      size.units, size.width());
}

// About what the products take, for the interpreter's lock.
inline int64_t nanoseconds(const Size& size) {
  return size.rows() * size.width() * (size.inputs + size.units) / 32;
}

// The gradients that one product over all steps gives, None where nobody needs them.
class Gradients {
 public:
  Gradients(const Size& size, int typenum, PyObject* needs)
      : size_(size), typenum_(typenum), needs_(needs) {}

  bool wants(int i) const { return PyTuple_GET_ITEM(needs_, i) == Py_True; }

  // gradient @ w_ih
  template <typename T>
  PyObject* of_x(const Reference& gradient, const T* w_ih) const {
    Reference result(new_sequence(typenum_, size_, size_.inputs));
    if (result) {
      Unlocked unlocked(nanoseconds(size_));
      run_with_threads(product<T>(size_.rows(), size_.width(), size_.inputs,
                                  {data_of<T>(gradient), size_.width()}, {w_ih, size_.inputs},
                                  data_of<T>(result), size_.inputs));
    }
    return result.release();
  }

  // gradient.T @ other, `other` being (steps, batch, columns)
  template <typename T>
  PyObject* of_weight(const Reference& gradient, const T* other, int64_t columns) const {
    Reference result(new_matrix(typenum_, size_.width(), columns));
    if (result) {
      Unlocked unlocked(nanoseconds(size_));
      run_with_threads(product<T>(size_.width(), size_.rows(), columns,
                                  {data_of<T>(gradient), size_.width(), true}, {other, columns},
                                  data_of<T>(result), columns));
    }
    return result.release();
  }

  PyObject* of_bias(const Reference& gradient) const {
    const npy_intp width = size_.width();
    return sum_to_shape(gradient.array(), 1, &width);
  }

 private:
  const Size& size_;
  int typenum_;
  PyObject* needs_;
};

// make() if wanted, else None.
template <typename Make>
PyObject* if_wanted(bool wanted, Make make) {
  return wanted ? make() : Py_NewRef(Py_None);
}

inline bool is_empty(const Size& s) {
  return s.steps <= 0 || s.batch <= 0 || s.inputs <= 0 || s.units <= 0;
}

// Whether the weights from argument `at` on (w_ih, w_hh, b_ih, b_hh) have the sizes they must.
inline bool weights_fit(const Inputs& in, int at, const Size& size) {
  return in.has_shape(at, {size.width(), size.inputs}) &&
         in.has_shape(at + 1, {size.width(), size.units}) &&
         in.is_none_or_has_shape(at + 2, {size.width()}) &&
         in.is_none_or_has_shape(at + 3, {size.width()});
}

// NotImplemented, unless an error is set.
inline PyObject* declined() { return PyErr_Occurred() ? nullptr : not_implemented(); }

inline bool are_needs(PyObject* object, Py_ssize_t count) {
  return PyTuple_CheckExact(object) && PyTuple_GET_SIZE(object) == count;
}

}  // namespace extensor
