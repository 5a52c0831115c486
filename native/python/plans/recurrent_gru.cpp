#include "../arguments.h"
#include "../kernel.h"
#include "families.h"
#include "recurrent.h"

namespace extensor {
namespace {

// x, h0, w_ih, w_hh, b_ih, b_hh; gives hidden and gates
bool plan_gru(const void* definition, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  RecurrentProblem& problem = plan.call.solved_by<run_gru>();
  RecurrentPlan gru(plan, problem, definition);
  if (count != 6 || !gru.read_arrays(arguments, 6) || !gru.find_size(0, 3) || !gru.weights_fit(2) ||
      !gru.biases_fit(4)) {
    return false;
  }
  gru.add_sequence(problem.size.units);
  gru.add_steps(4 * problem.size.units);
  plan.call.several = true;
  return true;
}

// grad_output, x, h0, w_ih, w_hh, b_ih, b_hh, output, gates, needs
bool plan_gru_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                   Plan& plan) {
  RecurrentProblem& problem = plan.call.solved_by<run_gru_rule>();
  const RecurrentSize& size = problem.size;
  RecurrentPlan gru(plan, problem, definition);
  bool needs[6];
  if (count != 10 || !read_needs(arguments[9], 6, needs) || !gru.read_arrays(arguments, 9) ||
      !gru.find_size(1, 3) || !gru.is_sequence(0, size.units) || !gru.weights_fit(3) ||
      !gru.biases_fit(5) || !gru.is_sequence(7, size.units) ||
      !gru.has_shape(8, {size.steps, size.batch, 4 * size.units})) {
    return false;
  }
  gru.add_gradients(needs, false);
  return true;
}

}  // namespace

bool add_gru_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "gru", plan_gru, nullptr) &&
         add_kernel(kernels_by_name, "gru_backward", plan_gru_rule, nullptr) &&
         add_kernel(kernels_by_name, "gru_cell", plan_gru, kCell) &&
         add_kernel(kernels_by_name, "gru_cell_backward", plan_gru_rule, kCell);
}

}  // namespace extensor
