// Recurrences over whole sequences. What does not depend on the last state is one product for all
// steps; the rest runs step by step for a block of the batch, whose sequences know nothing of the
// others, so that threads need not meet at every step.
#include "recurrent.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "../kernels/tables.h"
#include "../runtime/memory.h"
#include "../runtime/threads.h"
#include "copying.h"
#include "kernel.h"
#include "operands.h"
#include "products.h"
#include "reduction.h"

namespace extensor {
namespace {

// Fewer sequences would read the weights at every step for too few products.
constexpr int64_t kLeastRows = 16;

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

PyObject* new_sequence(int typenum, const Size& size, int64_t width) {
  const npy_intp shape[] = {size.steps, size.batch, width};
  return new_array(typenum, 3, shape);
}
PyObject* new_matrix(int typenum, int64_t rows, int64_t columns) {
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
int64_t nanoseconds(const Size& size) {
  return size.rows() * size.width() * (size.inputs + size.units) / 32;
}

// x, h0, c0, w_ih, w_hh, b_ih, b_hh; returns hidden, the last cell, gates and cells
template <typename T>
PyObject* lstm(const Size& size, const Inputs& in) {
  const int64_t n = size.units, width = size.width(), plane = size.batch * n;
  Reference hidden(new_sequence(in.typenum, size, n)), cells(new_sequence(in.typenum, size, n));
  Reference gates(new_sequence(in.typenum, size, width));
  Reference last(new_matrix(in.typenum, size.batch, n));
  TemporaryBlock weight(n * width * sizeof(T)), bias(width * sizeof(T));
  if (!hidden || !cells || !gates || !last) return nullptr;
  if (weight.data() == nullptr || bias.data() == nullptr) return PyErr_NoMemory();
  T *const h = data_of<T>(hidden), *const c = data_of<T>(cells), *const g = data_of<T>(gates);
  {
    Unlocked unlocked(nanoseconds(size));
    T* const total = reinterpret_cast<T*>(bias.data());
    std::fill_n(total, width, T(0));
    for (const int i : {5, 6}) {
      const T* const part = in.data<T>(i);
      for (int64_t j = 0; part != nullptr && j < width; ++j) total[j] += part[j];
    }
    multiply_inputs(size, in.data<T>(0), in.data<T>(3), total, g);
    transpose_weight(size, in.data<T>(4), weight.data());
    for_blocks(size, [&](int64_t first, int64_t rows) {
      const T *before = in.data<T>(1) + first * n, *cell_before = in.data<T>(2) + first * n;
      for (int64_t t = 0; t < size.steps; ++t) {
        const int64_t at = t * plane + first * n, gate = (t * size.batch + first) * width;
        Gemm<T> problem =
            product<T>(rows, n, width, {before, n},
                       {reinterpret_cast<const T*>(weight.data()), width}, g + gate, width);
        problem.accumulate = true;
        run_alone(problem);
        kernels().recurrent.lstm[Computed<T>::element](
            {rows, n, g + gate, cell_before, c + at, h + at});
        before = h + at;
        cell_before = c + at;
      }
    });
    std::memcpy(PyArray_DATA(last.array()), c + (size.steps - 1) * plane, plane * sizeof(T));
  }
  return PyTuple_Pack(4, hidden.get(), last.get(), gates.get(), cells.get());
}

// x, h0, w_ih, w_hh, b_ih, b_hh; returns hidden and gates
template <typename T>
PyObject* gru(const Size& size, const Inputs& in) {
  const int64_t n = size.units, width = size.width(), plane = size.batch * n;
  Reference hidden(new_sequence(in.typenum, size, n));
  Reference gates(new_sequence(in.typenum, size, 4 * n));
  TemporaryBlock weight(n * width * sizeof(T)), inputs(size.rows() * width * sizeof(T));
  TemporaryBlock own(size.batch * width * sizeof(T));
  if (!hidden || !gates) return nullptr;
  if (weight.data() == nullptr || inputs.data() == nullptr || own.data() == nullptr) {
    return PyErr_NoMemory();
  }
  T *const h = data_of<T>(hidden), *const g = data_of<T>(gates);
  T *const of_x = reinterpret_cast<T*>(inputs.data()), *const of_h =
                                                           reinterpret_cast<T*>(own.data());
  {
    Unlocked unlocked(nanoseconds(size));
    multiply_inputs(size, in.data<T>(0), in.data<T>(2), in.data<T>(4), of_x);
    transpose_weight(size, in.data<T>(3), weight.data());
    for_blocks(size, [&](int64_t first, int64_t rows) {
      const T* before = in.data<T>(1) + first * n;
      for (int64_t t = 0; t < size.steps; ++t) {
        const int64_t row = t * size.batch + first;
        Gemm<T> problem = product<T>(rows, n, width, {before, n},
                                     {reinterpret_cast<const T*>(weight.data()), width},
                                     of_h + first * width, width);
        problem.bias = in.data<T>(5);
        run_alone(problem);
        T* const state = h + t * plane + first * n;
        kernels().recurrent.gru[Computed<T>::element](
            {rows, n, of_x + row * width, of_h + first * width, before, g + row * 4 * n, state});
        before = state;
      }
    });
  }
  return PyTuple_Pack(2, hidden.get(), gates.get());
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

// The state before each step: the first one, then those of all steps but the last.
template <typename T>
void states_before(const Size& size, const T* first, const T* states, T* out) {
  const int64_t plane = size.batch * size.units;
  std::memcpy(out, first, plane * sizeof(T));
  std::memcpy(out + plane, states, (size.steps - 1) * plane * sizeof(T));
}

// make() if wanted, else None.
template <typename Make>
PyObject* if_wanted(bool wanted, Make make) {
  return wanted ? make() : Py_NewRef(Py_None);
}

// grad_hidden, x, h0, c0, w_ih, w_hh, b_ih, b_hh, gates, cells, grad_c; needs
template <typename T>
PyObject* lstm_rule(const Size& size, const Inputs& in, PyObject* needs) {
  const int64_t n = size.units, width = size.width(), plane = size.batch * n;
  Reference gradient(new_sequence(in.typenum, size, width));
  Reference grad_h(new_matrix(in.typenum, size.batch, n));
  Reference grad_c(new_matrix(in.typenum, size.batch, n));
  TemporaryBlock hidden(size.rows() * n * sizeof(T));
  if (!gradient || !grad_h || !grad_c) return nullptr;
  if (hidden.data() == nullptr) return PyErr_NoMemory();
  T* const before = reinterpret_cast<T*>(hidden.data());
  T *const d = data_of<T>(gradient), *const carried = data_of<T>(grad_h);
  T* const of_cell = data_of<T>(grad_c);
  {
    Unlocked unlocked(nanoseconds(size));
    std::memcpy(before, in.data<T>(2), plane * sizeof(T));
    std::memcpy(of_cell, in.data<T>(10), plane * sizeof(T));
    std::fill_n(carried, plane, T(0));
    const T *const c = in.data<T>(9), *const g = in.data<T>(8);
    for_blocks(size, [&](int64_t first, int64_t rows) {
      for (int64_t t = size.steps - 1; t >= 0; --t) {
        const int64_t at = t * plane + first * n, gate = (t * size.batch + first) * width;
        const T* const cell_before = t > 0 ? c + at - plane : in.data<T>(3) + first * n;
        T* const state = t + 1 < size.steps ? before + at + plane : nullptr;
        kernels().recurrent.lstm_rule[Computed<T>::element](
            {rows, n, g + gate, cell_before, c + at, in.data<T>(0) + at, carried + first * n,
             of_cell + first * n, d + gate, state});
        run_alone(product<T>(rows, width, n, {d + gate, width}, {in.data<T>(5), n},
                             carried + first * n, n));
      }
    });
  }
  const Gradients make(size, in.typenum, needs);
  Reference x(if_wanted(make.wants(0), [&] { return make.of_x(gradient, in.data<T>(4)); }));
  Reference w_ih(if_wanted(make.wants(3),
                           [&] { return make.of_weight(gradient, in.data<T>(1), size.inputs); }));
  Reference w_hh(if_wanted(make.wants(4), [&] { return make.of_weight(gradient, before, n); }));
  Reference b_ih(if_wanted(make.wants(5), [&] { return make.of_bias(gradient); }));
  // Both are added to the same sum, so their gradients are equal.
  Reference b_hh(if_wanted(make.wants(6), [&] {
    return b_ih && b_ih.get() != Py_None ? copy_of(b_ih.array()) : make.of_bias(gradient);
  }));
  if (!x || !w_ih || !w_hh || !b_ih || !b_hh) return nullptr;
  return PyTuple_Pack(7, x.get(), grad_h.get(), grad_c.get(), w_ih.get(), w_hh.get(), b_ih.get(),
                      b_hh.get());
}

// grad_hidden, x, h0, w_ih, w_hh, b_ih, b_hh, output, gates; needs
template <typename T>
PyObject* gru_rule(const Size& size, const Inputs& in, PyObject* needs) {
  const int64_t n = size.units, width = size.width(), plane = size.batch * n;
  Reference of_inputs(new_sequence(in.typenum, size, width));
  Reference of_own(new_sequence(in.typenum, size, width));
  Reference grad_h(new_matrix(in.typenum, size.batch, n));
  TemporaryBlock states(size.rows() * n * sizeof(T));
  if (!of_inputs || !of_own || !grad_h) return nullptr;
  if (states.data() == nullptr) return PyErr_NoMemory();
  T* const before = reinterpret_cast<T*>(states.data());
  T *const dx = data_of<T>(of_inputs), *const dh = data_of<T>(of_own);
  T* const carried = data_of<T>(grad_h);
  {
    Unlocked unlocked(nanoseconds(size));
    states_before(size, in.data<T>(2), in.data<T>(7), before);
    std::fill_n(carried, plane, T(0));
    for_blocks(size, [&](int64_t first, int64_t rows) {
      for (int64_t t = size.steps - 1; t >= 0; --t) {
        const int64_t at = t * plane + first * n, row = t * size.batch + first;
        kernels().recurrent.gru_rule[Computed<T>::element](
            {rows, n, in.data<T>(8) + row * 4 * n, before + at, in.data<T>(0) + at,
             carried + first * n, dx + row * width, dh + row * width});
        Gemm<T> problem = product<T>(rows, width, n, {dh + row * width, width}, {in.data<T>(4), n},
                                     carried + first * n, n);
        problem.accumulate = true;
        run_alone(problem);
      }
    });
  }
  const Gradients make(size, in.typenum, needs);
  Reference x(if_wanted(make.wants(0), [&] { return make.of_x(of_inputs, in.data<T>(3)); }));
  Reference w_ih(if_wanted(make.wants(2),
                           [&] { return make.of_weight(of_inputs, in.data<T>(1), size.inputs); }));
  Reference w_hh(if_wanted(make.wants(3), [&] { return make.of_weight(of_own, before, n); }));
  Reference b_ih(if_wanted(make.wants(4), [&] { return make.of_bias(of_inputs); }));
  Reference b_hh(if_wanted(make.wants(5), [&] { return make.of_bias(of_own); }));
  if (!x || !w_ih || !w_hh || !b_ih || !b_hh) return nullptr;
  return PyTuple_Pack(6, x.get(), grad_h.get(), w_ih.get(), w_hh.get(), b_ih.get(), b_hh.get());
}

bool is_empty(const Size& s) {
  return s.steps <= 0 || s.batch <= 0 || s.inputs <= 0 || s.units <= 0;
}

// Whether the weights from argument `at` on (w_ih, w_hh, b_ih, b_hh) have the sizes they must.
bool weights_fit(const Inputs& in, int at, const Size& size) {
  return in.has_shape(at, {size.width(), size.inputs}) &&
         in.has_shape(at + 1, {size.width(), size.units}) &&
         in.is_none_or_has_shape(at + 2, {size.width()}) &&
         in.is_none_or_has_shape(at + 3, {size.width()});
}

// NotImplemented, unless an error is set.
PyObject* declined() { return PyErr_Occurred() ? nullptr : not_implemented(); }

PyObject* call_lstm(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Inputs in;
  if (count != 7 || !in.read(arguments, 7)) return declined();
  const Size size = {in.length(0, 0), in.length(0, 1), in.length(0, 2), in.length(1, 1), 4};
  if (is_empty(size) || !in.has_shape(0, {size.steps, size.batch, size.inputs}) ||
      !in.has_shape(1, {size.batch, size.units}) || !in.has_shape(2, {size.batch, size.units}) ||
      !weights_fit(in, 3, size)) {
    return not_implemented();
  }
  return in.typenum == NPY_FLOAT32 ? lstm<float>(size, in) : lstm<double>(size, in);
}

PyObject* call_gru(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Inputs in;
  if (count != 6 || !in.read(arguments, 6)) return declined();
  const Size size = {in.length(0, 0), in.length(0, 1), in.length(0, 2), in.length(1, 1), 3};
  if (is_empty(size) || !in.has_shape(0, {size.steps, size.batch, size.inputs}) ||
      !in.has_shape(1, {size.batch, size.units}) || !weights_fit(in, 2, size)) {
    return not_implemented();
  }
  return in.typenum == NPY_FLOAT32 ? gru<float>(size, in) : gru<double>(size, in);
}

bool are_needs(PyObject* object, Py_ssize_t count) {
  return PyTuple_CheckExact(object) && PyTuple_GET_SIZE(object) == count;
}

// [grad_hidden, grad_c], x, h0, c0, w_ih, w_hh, b_ih, b_hh, gates, cells, needs
PyObject* call_lstm_rule(const void*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 11 || !PyList_CheckExact(arguments[0]) || PyList_GET_SIZE(arguments[0]) != 2 ||
      !are_needs(arguments[10], 7)) {
    return not_implemented();
  }
  PyObject* arrays[11];
  std::copy_n(arguments, 10, arrays);
  arrays[0] = PyList_GET_ITEM(arguments[0], 0);
  arrays[10] = PyList_GET_ITEM(arguments[0], 1);
  Inputs in;
  if (!in.read(arrays, 11)) return declined();
  const Size size = {in.length(1, 0), in.length(1, 1), in.length(1, 2), in.length(2, 1), 4};
  if (is_empty(size) || !in.has_shape(1, {size.steps, size.batch, size.inputs}) ||
      !in.has_shape(0, {size.steps, size.batch, size.units}) ||
      !in.has_shape(2, {size.batch, size.units}) || !in.has_shape(3, {size.batch, size.units}) ||
      !weights_fit(in, 4, size) || !in.has_shape(8, {size.steps, size.batch, size.width()}) ||
      !in.has_shape(9, {size.steps, size.batch, size.units}) ||
      !in.has_shape(10, {size.batch, size.units})) {
    return not_implemented();
  }
  PyObject* needs = arguments[10];
  return in.typenum == NPY_FLOAT32 ? lstm_rule<float>(size, in, needs)
                                   : lstm_rule<double>(size, in, needs);
}

// grad_output, x, h0, w_ih, w_hh, b_ih, b_hh, output, gates, needs
PyObject* call_gru_rule(const void*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 10 || !are_needs(arguments[9], 6)) return not_implemented();
  Inputs in;
  if (!in.read(arguments, 9)) return declined();
  const Size size = {in.length(1, 0), in.length(1, 1), in.length(1, 2), in.length(2, 1), 3};
  if (is_empty(size) || !in.has_shape(1, {size.steps, size.batch, size.inputs}) ||
      !in.has_shape(0, {size.steps, size.batch, size.units}) ||
      !in.has_shape(2, {size.batch, size.units}) || !weights_fit(in, 3, size) ||
      !in.has_shape(7, {size.steps, size.batch, size.units}) ||
      !in.has_shape(8, {size.steps, size.batch, 4 * size.units})) {
    return not_implemented();
  }
  PyObject* needs = arguments[9];
  return in.typenum == NPY_FLOAT32 ? gru_rule<float>(size, in, needs)
                                   : gru_rule<double>(size, in, needs);
}

}  // namespace

bool add_recurrent_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "lstm", call_lstm, nullptr) &&
         add_kernel(kernels_by_name, "lstm_backward", call_lstm_rule, nullptr) &&
         add_kernel(kernels_by_name, "gru", call_gru, nullptr) &&
         add_kernel(kernels_by_name, "gru_backward", call_gru_rule, nullptr);
}

}  // namespace extensor
