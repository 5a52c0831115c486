#include <algorithm>
#include <cstring>

#include "families.h"
#include "recurrent_problem.h"

namespace extensor {
namespace {

// x, h0, c0, w_ih, w_hh, b_ih, b_hh; returns hidden, the last cell, gates and cells
template <typename T>
PyObject* lstm(const Size& size, const Inputs& in) {
  const int64_t n = size.units, width = size.width(), plane = size.batch * n;
  Reference hidden(new_sequence(in.typenum, size, n)), cells(new_steps(in.typenum, size, n));
  Reference gates(new_steps(in.typenum, size, width));
  Reference last(new_matrix(in.typenum, size.batch, n));
  const StateWeight<T> weight(size, in.data<T>(4));
  TemporaryBlock bias(width * sizeof(T));
  if (!hidden || !cells || !gates || !last) return nullptr;
  if (!weight.has_memory() || bias.data() == nullptr) return PyErr_NoMemory();
  T *const h = data_of<T>(hidden), *const c = data_of<T>(cells), *const g = data_of<T>(gates);
  {
    Unlocked unlocked(nanoseconds(size));
    T* const total = reinterpret_cast<T*>(bias.data());
    add_biases(width, in.data<T>(5), in.data<T>(6), total);
    multiply_inputs(size, in.data<T>(0), in.data<T>(3), total, g);
    weight.lay_out();
    for_blocks(size, [&](int64_t first, int64_t rows) {
      const T *before = in.data<T>(1) + first * n, *cell_before = in.data<T>(2) + first * n;
      for (int64_t t = 0; t < size.steps; ++t) {
        const int64_t at = t * plane + first * n, gate = (t * size.batch + first) * width;
        Gemm<T> problem = product<T>(rows, n, width, {before, n}, weight.factor(), g + gate, width);
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

// grad_hidden, x, h0, c0, w_ih, w_hh, b_ih, b_hh, gates, cells, grad_c; needs
template <typename T>
PyObject* lstm_rule(const Size& size, const Inputs& in, PyObject* needs) {
  const int64_t n = size.units, width = size.width(), plane = size.batch * n;
  Reference gradient(new_steps(in.typenum, size, width));
  Reference grad_h(new_matrix(in.typenum, size.batch, n));
  Reference grad_c(new_matrix(in.typenum, size.batch, n));
  TemporaryBlock hidden(size.rows() * n * sizeof(T));
  if (!gradient || !grad_h || !grad_c) return nullptr;
  if (hidden.data() == nullptr) return PyErr_NoMemory();
  T* const before = reinterpret_cast<T*>(hidden.data());
  T *const d = data_of<T>(gradient), *const carried = data_of<T>(grad_h);
  T* const of_cell = data_of<T>(grad_c);
  const Gradients make(size, in.typenum, needs);
  const bool first_wanted = make.wants(1);
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
        if (t == 0 && !first_wanted) break;
        run_alone(product<T>(rows, width, n, {d + gate, width}, {in.data<T>(5), n},
                             carried + first * n, n));
      }
    });
  }
  Reference x(if_wanted(make.wants(0), [&] { return make.of_x(gradient, in.data<T>(4)); }));
  Reference h0(if_wanted(first_wanted, [&] { return Py_NewRef(grad_h.get()); }));
  Reference w_ih(if_wanted(make.wants(3),
                           [&] { return make.of_weight(gradient, in.data<T>(1), size.inputs); }));
  Reference w_hh(if_wanted(make.wants(4), [&] { return make.of_weight(gradient, before, n); }));
  Reference b_ih(if_wanted(make.wants(5), [&] { return make.of_bias(gradient); }));
  Reference b_hh(if_wanted(make.wants(6), [&] { return make.of_other_bias(b_ih, gradient); }));
  if (!x || !w_ih || !w_hh || !b_ih || !b_hh) return nullptr;
  return PyTuple_Pack(7, x.get(), h0.get(), grad_c.get(), w_ih.get(), w_hh.get(), b_ih.get(),
                      b_hh.get());
}

PyObject* call_lstm(const void* cell, PyObject* const* arguments, Py_ssize_t count) {
  Inputs in;
  if (count != 7 || !in.read(arguments, 7)) return declined();
  const Size size = in.size(0, 1, 4, cell != nullptr);
  if (is_empty(size) || !in.is_sequence(0, size, size.inputs) ||
      !in.has_shape(1, {size.batch, size.units}) || !in.has_shape(2, {size.batch, size.units}) ||
      !weights_fit(in, 3, size)) {
    return not_implemented();
  }
  return in.typenum == NPY_FLOAT32 ? lstm<float>(size, in) : lstm<double>(size, in);
}

// [grad_hidden, grad_c], x, h0, c0, w_ih, w_hh, b_ih, b_hh, gates, cells, needs
PyObject* call_lstm_rule(const void* cell, PyObject* const* arguments, Py_ssize_t count) {
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
  const Size size = in.size(1, 2, 4, cell != nullptr);
  if (is_empty(size) || !in.is_sequence(1, size, size.inputs) ||
      !in.is_sequence(0, size, size.units) || !in.has_shape(2, {size.batch, size.units}) ||
      !in.has_shape(3, {size.batch, size.units}) || !weights_fit(in, 4, size) ||
      !in.has_shape(8, {size.steps, size.batch, size.width()}) ||
      !in.has_shape(9, {size.steps, size.batch, size.units}) ||
      !in.has_shape(10, {size.batch, size.units})) {
    return not_implemented();
  }
  PyObject* needs = arguments[10];
  return in.typenum == NPY_FLOAT32 ? lstm_rule<float>(size, in, needs)
                                   : lstm_rule<double>(size, in, needs);
}

}  // namespace

bool add_lstm_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "lstm", call_lstm, nullptr) &&
         add_kernel(kernels_by_name, "lstm_backward", call_lstm_rule, nullptr) &&
         add_kernel(kernels_by_name, "lstm_cell", call_lstm, kCell) &&
         add_kernel(kernels_by_name, "lstm_cell_backward", call_lstm_rule, kCell);
}

}  // namespace extensor
