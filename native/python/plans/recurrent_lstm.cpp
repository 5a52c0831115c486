#include <algorithm>

#include "../arguments.h"
#include "../kernel.h"
#include "families.h"
#include "recurrent.h"

namespace extensor {
namespace {

// x, h0, c0, w_ih, w_hh, b_ih, b_hh; gives hidden, the last cell, gates and cells
bool plan_lstm(const void* definition, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  RecurrentProblem& problem = plan.call.solved_by<run_lstm>();
  const RecurrentSize& size = problem.size;
  RecurrentPlan lstm(plan, problem, definition);
  if (count != 7 || !lstm.read_arrays(arguments, 7) || !lstm.find_size(0, 4) ||
      !lstm.has_shape(2, {size.batch, size.units}) || !lstm.weights_fit(3) || !lstm.biases_fit(5)) {
    return false;
  }
  lstm.add_sequence(size.units);
  lstm.add_states();
  lstm.add_steps(size.width());
  lstm.add_steps(size.units);
  plan.call.several = true;
  return true;
}

// [grad_hidden, grad_c], x, h0, c0, w_ih, w_hh, b_ih, b_hh, gates, cells, needs
bool plan_lstm_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                    Plan& plan) {
  RecurrentProblem& problem = plan.call.solved_by<run_lstm_rule>();
  const RecurrentSize& size = problem.size;
  RecurrentPlan lstm(plan, problem, definition);
  bool needs[7];
  if (count != 11 || !PyList_CheckExact(arguments[0]) || PyList_GET_SIZE(arguments[0]) != 2 ||
      !read_needs(arguments[10], 7, needs)) {
    return false;
  }
  PyObject* const gradients = PyList_AsTuple(arguments[0]);
  if (gradients == nullptr) return false;
  plan.hold(gradients);
  PyObject* arrays[11];
  std::copy_n(arguments, 10, arrays);
  arrays[0] = PyTuple_GET_ITEM(gradients, 0);
  arrays[10] = PyTuple_GET_ITEM(gradients, 1);
  if (!lstm.read_arrays(arrays, 11) || !lstm.find_size(1, 4) || !lstm.is_sequence(0, size.units) ||
      !lstm.has_shape(3, {size.batch, size.units}) || !lstm.weights_fit(4) || !lstm.biases_fit(6) ||
      !lstm.has_shape(8, {size.steps, size.batch, size.width()}) ||
      !lstm.has_shape(9, {size.steps, size.batch, size.units}) ||
      !lstm.has_shape(10, {size.batch, size.units})) {
    return false;
  }
  lstm.add_gradients(needs, true);
  return true;
}

}  // namespace

bool add_lstm_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "lstm", plan_lstm, nullptr) &&
         add_kernel(kernels_by_name, "lstm_backward", plan_lstm_rule, nullptr) &&
         add_kernel(kernels_by_name, "lstm_cell", plan_lstm, kCell) &&
         add_kernel(kernels_by_name, "lstm_cell_backward", plan_lstm_rule, kCell);
}

}  // namespace extensor
