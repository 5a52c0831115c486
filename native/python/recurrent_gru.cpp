#include <algorithm>

#include "families.h"
#include "recurrent_problem.h"

namespace extensor {
namespace {

// x, h0, w_ih, w_hh, b_ih, b_hh; returns hidden and gates
template <typename T>
PyObject* gru(const Size& size, const Inputs& in) {
  const int64_t n = size.units, width = size.width(), plane = size.batch * n;
  Reference hidden(new_sequence(in.typenum, size, n));
  Reference gates(new_steps(in.typenum, size, 4 * n));
  const StateWeight<T> weight(size, in.data<T>(3));
  TemporaryBlock inputs(size.rows() * width * sizeof(T));
  TemporaryBlock own(size.batch * width * sizeof(T));
  if (!hidden || !gates) return nullptr;
  if (!weight.has_memory() || inputs.data() == nullptr || own.data() == nullptr) {
    return PyErr_NoMemory();
  }
  T *const h = data_of<T>(hidden), *const g = data_of<T>(gates);
  T *const of_x = reinterpret_cast<T*>(inputs.data()), *const of_h =
                                                           reinterpret_cast<T*>(own.data());
  {
    Unlocked unlocked(nanoseconds(size));
    multiply_inputs(size, in.data<T>(0), in.data<T>(2), in.data<T>(4), of_x);
    weight.lay_out();
    for_blocks(size, [&](int64_t first, int64_t rows) {
      const T* before = in.data<T>(1) + first * n;
      for (int64_t t = 0; t < size.steps; ++t) {
        const int64_t row = t * size.batch + first;
        Gemm<T> problem =
            product<T>(rows, n, width, {before, n}, weight.factor(), of_h + first * width, width);
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

// grad_hidden, x, h0, w_ih, w_hh, b_ih, b_hh, output, gates; needs
template <typename T>
PyObject* gru_rule(const Size& size, const Inputs& in, PyObject* needs) {
  const int64_t n = size.units, width = size.width(), plane = size.batch * n;
  Reference of_inputs(new_steps(in.typenum, size, width));
  Reference of_own(new_steps(in.typenum, size, width));
  Reference grad_h(new_matrix(in.typenum, size.batch, n));
  TemporaryBlock states(size.rows() * n * sizeof(T));
  if (!of_inputs || !of_own || !grad_h) return nullptr;
  if (states.data() == nullptr) return PyErr_NoMemory();
  T* const before = reinterpret_cast<T*>(states.data());
  T *const dx = data_of<T>(of_inputs), *const dh = data_of<T>(of_own);
  T* const carried = data_of<T>(grad_h);
  const Gradients make(size, in.typenum, needs);
  const bool first_wanted = make.wants(1);
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
        if (t == 0 && !first_wanted) break;
        Gemm<T> problem = product<T>(rows, width, n, {dh + row * width, width}, {in.data<T>(4), n},
                                     carried + first * n, n);
        problem.accumulate = true;
        run_alone(problem);
      }
    });
  }
  Reference x(if_wanted(make.wants(0), [&] { return make.of_x(of_inputs, in.data<T>(3)); }));
  Reference h0(if_wanted(first_wanted, [&] { return Py_NewRef(grad_h.get()); }));
  Reference w_ih(if_wanted(make.wants(2),
                           [&] { return make.of_weight(of_inputs, in.data<T>(1), size.inputs); }));
  Reference w_hh(if_wanted(make.wants(3), [&] { return make.of_weight(of_own, before, n); }));
  Reference b_ih(if_wanted(make.wants(4), [&] { return make.of_bias(of_inputs); }));
  Reference b_hh(if_wanted(make.wants(5), [&] { return make.of_bias(of_own); }));
  if (!x || !w_ih || !w_hh || !b_ih || !b_hh) return nullptr;
  return PyTuple_Pack(6, x.get(), h0.get(), w_ih.get(), w_hh.get(), b_ih.get(), b_hh.get());
}

PyObject* call_gru(const void* cell, PyObject* const* arguments, Py_ssize_t count) {
  Inputs in;
  if (count != 6 || !in.read(arguments, 6)) return declined();
  const Size size = in.size(0, 1, 3, cell != nullptr);
  if (is_empty(size) || !in.is_sequence(0, size, size.inputs) ||
      !in.has_shape(1, {size.batch, size.units}) || !weights_fit(in, 2, size)) {
    return not_implemented();
  }
  return in.typenum == NPY_FLOAT32 ? gru<float>(size, in) : gru<double>(size, in);
}

// grad_output, x, h0, w_ih, w_hh, b_ih, b_hh, output, gates, needs
PyObject* call_gru_rule(const void* cell, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 10 || !are_needs(arguments[9], 6)) return not_implemented();
  Inputs in;
  if (!in.read(arguments, 9)) return declined();
  const Size size = in.size(1, 2, 3, cell != nullptr);
  if (is_empty(size) || !in.is_sequence(1, size, size.inputs) ||
      !in.is_sequence(0, size, size.units) || !in.has_shape(2, {size.batch, size.units}) ||
      !weights_fit(in, 3, size) || !in.is_sequence(7, size, size.units) ||
      !in.has_shape(8, {size.steps, size.batch, 4 * size.units})) {
    return not_implemented();
  }
  PyObject* needs = arguments[9];
  return in.typenum == NPY_FLOAT32 ? gru_rule<float>(size, in, needs)
                                   : gru_rule<double>(size, in, needs);
}

}  // namespace

bool add_gru_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "gru", call_gru, nullptr) &&
         add_kernel(kernels_by_name, "gru_backward", call_gru_rule, nullptr) &&
         add_kernel(kernels_by_name, "gru_cell", call_gru, kCell) &&
         add_kernel(kernels_by_name, "gru_cell_backward", call_gru_rule, kCell);
}

}  // namespace extensor
