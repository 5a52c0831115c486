#include <algorithm>

#include "arguments.h"
#include "families.h"
#include "recurrent_problem.h"

namespace extensor {
namespace {

// x, h0, w_ih, w_hh, b_ih, b_hh; returns the states of all steps
template <typename T>
PyObject* rnn(const Size& size, const Inputs& in, bool relu) {
  const int64_t n = size.units, plane = size.batch * n;
  Reference hidden(new_sequence(in.typenum, size, n));
  const StateWeight<T> weight(size, in.data<T>(3));
  TemporaryBlock bias(n * sizeof(T));
  if (!hidden) return nullptr;
  if (!weight.has_memory() || bias.data() == nullptr) return PyErr_NoMemory();
  T* const h = data_of<T>(hidden);
  {
    Unlocked unlocked(nanoseconds(size));
    T* const total = reinterpret_cast<T*>(bias.data());
    add_biases(n, in.data<T>(4), in.data<T>(5), total);
    multiply_inputs(size, in.data<T>(0), in.data<T>(2), total, h);
    weight.lay_out();
    for_blocks(size, [&](int64_t first, int64_t rows) {
      const T* before = in.data<T>(1) + first * n;
      for (int64_t t = 0; t < size.steps; ++t) {
        T* const state = h + t * plane + first * n;
        Gemm<T> problem = product<T>(rows, n, n, {before, n}, weight.factor(), state, n);
        problem.accumulate = true;
        run_alone(problem);
        kernels().recurrent.rnn[Computed<T>::element](state, rows * n, relu);
        before = state;
      }
    });
  }
  return hidden.release();
}

// grad_output, x, h0, w_ih, w_hh, output; needs
template <typename T>
PyObject* rnn_rule(const Size& size, const Inputs& in, bool relu, PyObject* needs) {
  const int64_t n = size.units, plane = size.batch * n;
  Reference gradient(new_steps(in.typenum, size, n));
  Reference grad_h(new_matrix(in.typenum, size.batch, n));
  TemporaryBlock states(size.rows() * n * sizeof(T));
  if (!gradient || !grad_h) return nullptr;
  if (states.data() == nullptr) return PyErr_NoMemory();
  T* const before = reinterpret_cast<T*>(states.data());
  T *const d = data_of<T>(gradient), *const carried = data_of<T>(grad_h);
  const Gradients make(size, in.typenum, needs);
  const bool first_wanted = make.wants(1);
  {
    Unlocked unlocked(nanoseconds(size));
    states_before(size, in.data<T>(2), in.data<T>(5), before);
    std::fill_n(carried, plane, T(0));
    for_blocks(size, [&](int64_t first, int64_t rows) {
      for (int64_t t = size.steps - 1; t >= 0; --t) {
        const int64_t at = t * plane + first * n;
        kernels().recurrent.rnn_rule[Computed<T>::element](
            {rows * n, in.data<T>(5) + at, in.data<T>(0) + at, carried + first * n, d + at}, relu);
        if (t == 0 && !first_wanted) break;
        run_alone(product<T>(rows, n, n, {d + at, n}, {in.data<T>(4), n}, carried + first * n, n));
      }
    });
  }
  Reference x(if_wanted(make.wants(0), [&] { return make.of_x(gradient, in.data<T>(3)); }));
  Reference h0(if_wanted(first_wanted, [&] { return Py_NewRef(grad_h.get()); }));
  Reference w_ih(if_wanted(make.wants(2),
                           [&] { return make.of_weight(gradient, in.data<T>(1), size.inputs); }));
  Reference w_hh(if_wanted(make.wants(3), [&] { return make.of_weight(gradient, before, n); }));
  Reference b_ih(if_wanted(make.wants(4), [&] { return make.of_bias(gradient); }));
  Reference b_hh(if_wanted(make.wants(5), [&] { return make.of_other_bias(b_ih, gradient); }));
  if (!x || !w_ih || !w_hh || !b_ih || !b_hh) return nullptr;
  return PyTuple_Pack(6, x.get(), h0.get(), w_ih.get(), w_hh.get(), b_ih.get(), b_hh.get());
}

// "tanh" or "relu".
bool read_nonlinearity(PyObject* object, bool& relu) {
  relu = is_text(object, "relu");
  return relu || is_text(object, "tanh");
}

// x, h0, w_ih, w_hh, b_ih, b_hh, nonlinearity
PyObject* call_rnn(const void* cell, PyObject* const* arguments, Py_ssize_t count) {
  Inputs in;
  bool relu;
  if (count != 7 || !read_nonlinearity(arguments[6], relu)) return not_implemented();
  if (!in.read(arguments, 6)) return declined();
  const Size size = in.size(0, 1, 1, cell != nullptr);
  if (is_empty(size) || !in.is_sequence(0, size, size.inputs) ||
      !in.has_shape(1, {size.batch, size.units}) || !weights_fit(in, 2, size)) {
    return not_implemented();
  }
  return in.typenum == NPY_FLOAT32 ? rnn<float>(size, in, relu) : rnn<double>(size, in, relu);
}

// grad_output, x, h0, w_ih, w_hh, output, nonlinearity, needs
PyObject* call_rnn_rule(const void* cell, PyObject* const* arguments, Py_ssize_t count) {
  Inputs in;
  bool relu;
  if (count != 8 || !are_needs(arguments[7], 6) || !read_nonlinearity(arguments[6], relu)) {
    return not_implemented();
  }
  if (!in.read(arguments, 6)) return declined();
  const Size size = in.size(1, 2, 1, cell != nullptr);
  if (is_empty(size) || !in.is_sequence(1, size, size.inputs) ||
      !in.is_sequence(0, size, size.units) || !in.has_shape(2, {size.batch, size.units}) ||
      !in.has_shape(3, {size.units, size.inputs}) || !in.has_shape(4, {size.units, size.units}) ||
      !in.is_sequence(5, size, size.units)) {
    return not_implemented();
  }
  PyObject* needs = arguments[7];
  return in.typenum == NPY_FLOAT32 ? rnn_rule<float>(size, in, relu, needs)
                                   : rnn_rule<double>(size, in, relu, needs);
}

}  // namespace

bool add_rnn_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "rnn", call_rnn, nullptr) &&
         add_kernel(kernels_by_name, "rnn_backward", call_rnn_rule, nullptr) &&
         add_kernel(kernels_by_name, "rnn_cell", call_rnn, kCell) &&
         add_kernel(kernels_by_name, "rnn_cell_backward", call_rnn_rule, kCell);
}

}  // namespace extensor
