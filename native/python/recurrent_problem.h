// Recurrences over whole sequences, and cells, which are sequences of one step. What does not
// depend on the last state is one product for all steps; the rest runs step by step for a block of
// the batch, whose sequences know nothing of the others, so that threads need not meet at every
// step.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "../kernels/tables.h"
#include "../runtime/memory.h"
#include "../runtime/threads.h"
#include "kernel.h"
#include "legacy_copying.h"
#include "legacy_operands.h"
#include "legacy_reduction.h"
#include "products.h"

namespace extensor {

// Fewer sequences would read the weights at every step for too few products.
inline constexpr int64_t kLeastRows = 16;

// Steps, sequences, inputs and units, and how many gates a unit has. What a cell is given and
// returns has no axis for its one step.
struct Size {
  int64_t steps, batch, inputs, units, gates;
  bool cell;

  int64_t rows() const { return steps * batch; }
  int64_t width() const { return gates * units; }
};

// About what the products take.
inline int64_t nanoseconds(const Size& size) {
  return size.rows() * size.width() * (size.inputs + size.units) / 32;
}

// The definition of a kernel that is a cell; that of a sequence is null.
inline constexpr const char* kCell = "cell";

// Calls body(first row, rows) for each block of the batch, one per thread. How it is cut changes no
// bit: a row's sums do not depend on the rows beside it.
template <typename Body>
void for_blocks(const Size& size, Body&& body) {
  if (!worth_threads(nanoseconds(size))) return body(0, size.batch);
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
  bool is_sequence(int i, const Size& size, int64_t width) const {
    return size.cell ? has_shape(i, {size.batch, width})
                     : has_shape(i, {size.steps, size.batch, width});
  }
  // From x, the array of hidden states, and whether it is a cell.
  Size size(int x, int h, int64_t gates, bool cell) const {
    const int batch_axis = cell ? 0 : 1;
    const int64_t steps = cell ? 1 : length(x, 0);
    return {steps, length(x, batch_axis), length(x, batch_axis + 1), length(h, 1), gates, cell};
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

// With an axis of steps, also for a cell.
inline PyObject* new_steps(int typenum, const Size& size, int64_t width) {
  const npy_intp shape[] = {size.steps, size.batch, width};
  return new_array(typenum, 3, shape);
}
inline PyObject* new_sequence(int typenum, const Size& size, int64_t width) {
  const npy_intp shape[] = {size.batch, width};
  return size.cell ? new_array(typenum, 2, shape) : new_steps(typenum, size, width);
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

// w_hh.T, which every step multiplies with. For more than one step it is laid out so that it need
// not be rearranged each time.
template <typename T>
class StateWeight {
 public:
  StateWeight(const Size& size, const T* w_hh)
      : size_(size),
        w_hh_(w_hh),
        memory_(size.steps > 1 ? size.units * size.width() * sizeof(T) : sizeof(T)) {}

  bool has_memory() const { return memory_.data() != nullptr; }
  void lay_out() const {
    if (size_.steps == 1) return;
    kernels().copies.transpose[std::countr_zero(sizeof(T))](
        reinterpret_cast<const char*>(w_hh_), size_.units * sizeof(T), memory_.data(),
        size_.width() * sizeof(T), size_.units, size_.width());
  }
  Factor<T> factor() const {
    if (size_.steps == 1) return {w_hh_, size_.units, true};
    return {reinterpret_cast<const T*>(memory_.data()), size_.width()};
  }

 private:
  const Size& size_;
  const T* w_hh_;
  TemporaryBlock memory_;
};

// The sum of two vectors, each of which may be null.
template <typename T>
void add_biases(int64_t width, const T* b_ih, const T* b_hh, T* out) {
  std::fill_n(out, width, T(0));
  for (const T* part : {b_ih, b_hh}) {
    for (int64_t i = 0; part != nullptr && i < width; ++i) out[i] += part[i];
  }
}

// The state before each step: the first one, then those of all steps but the last.
template <typename T>
void states_before(const Size& size, const T* first, const T* states, T* out) {
  const int64_t plane = size.batch * size.units;
  std::memcpy(out, first, plane * sizeof(T));
  std::memcpy(out + plane, states, (size.steps - 1) * plane * sizeof(T));
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

  // The same for the second bias of a sum, `first` being what the first one got, or None.
  PyObject* of_other_bias(const Reference& first, const Reference& gradient) const {
    return first && first.get() != Py_None ? copy_of(first.array()) : of_bias(gradient);
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
