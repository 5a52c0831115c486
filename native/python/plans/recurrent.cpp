#include "recurrent.h"

#include <algorithm>

#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {

bool RecurrentPlan::read_arrays(PyObject* const* arguments, int count) {
  if (arguments[0] == Py_None) return false;
  problem_.count = count;
  for (int i = 0; i < count; ++i) {
    problem_.input[i] = arguments[i] == Py_None ? -1 : plan_.input_count();
    if (!is_given(i)) continue;
    if (!add_array(arguments[i], plan_, problem_.arrays[i])) return false;
    if (i == 0) problem_.dtype = problem_.arrays[0].dtype;
    if (problem_.arrays[i].dtype != problem_.dtype || !is_computed(problem_.dtype)) return false;
  }
  return true;
}

bool RecurrentPlan::find_size(int x, int64_t gates) {
  RecurrentSize& size = problem_.size;
  const int batch_axis = size.cell ? 0 : 1, h0 = x + 1;
  size.steps = size.cell ? 1 : length(x, 0);
  size.batch = length(x, batch_axis);
  size.inputs = length(x, batch_axis + 1);
  size.units = length(h0, 1);
  size.gates = gates;
  if (!is_sequence(x, size.inputs) || !has_shape(h0, {size.batch, size.units})) return false;
  plan_.call.nanoseconds = nanoseconds_of(size);
  return size.steps > 0 && size.batch > 0 && size.inputs > 0 && size.units > 0;
}

bool RecurrentPlan::has_shape(int i, std::initializer_list<int64_t> shape) const {
  const Shape& given = problem_.arrays[i].shape;
  return is_given(i) && given.ndim == static_cast<int>(shape.size()) &&
         std::equal(shape.begin(), shape.end(), given.lengths);
}

bool RecurrentPlan::is_sequence(int i, int64_t width) const {
  const RecurrentSize& size = problem_.size;
  return size.cell ? has_shape(i, {size.batch, width})
                   : has_shape(i, {size.steps, size.batch, width});
}

bool RecurrentPlan::weights_fit(int at) const {
  const RecurrentSize& size = problem_.size;
  return has_shape(at, {size.width(), size.inputs}) &&
         has_shape(at + 1, {size.width(), size.units});
}

bool RecurrentPlan::biases_fit(int at) const {
  const int64_t width = problem_.size.width();
  return (!is_given(at) || has_shape(at, {width})) &&
         (!is_given(at + 1) || has_shape(at + 1, {width}));
}

void RecurrentPlan::add_sequence(int64_t width) {
  problem_.size.cell ? add({problem_.size.batch, width}) : add_steps(width);
}

void RecurrentPlan::add_steps(int64_t width) {
  add({problem_.size.steps, problem_.size.batch, width});
}

void RecurrentPlan::add_states() { add({problem_.size.batch, problem_.size.units}); }

void RecurrentPlan::add_gradients(const bool* needs, bool with_cells) {
  const RecurrentSize& size = problem_.size;
  const int64_t width = size.width();
  const auto wanted = [&] {
    if (!*needs) plan_.call.add_absent();
    return *needs++;
  };
  if (wanted()) add_sequence(size.inputs);
  if (wanted()) add_states();
  if (with_cells) {
    add_states();
    ++needs;
  }
  if (wanted()) add({width, size.inputs});
  if (wanted()) add({width, size.units});
  if (wanted()) add({width});
  if (wanted()) add({width});
  plan_.call.several = true;
  // As many products as the op, once for the inputs and once for the weights.
  plan_.call.nanoseconds = 2 * nanoseconds_of(size);
}

int64_t RecurrentPlan::length(int i, int axis) const {
  const Layout& array = problem_.arrays[i];
  return is_given(i) && axis < array.ndim() ? array.length(axis) : -1;
}

void RecurrentPlan::add(std::initializer_list<int64_t> shape) {
  plan_.call.add_fresh(problem_.dtype, static_cast<int>(shape.size()), shape.begin());
}

namespace {

// "tanh" or "relu".
bool read_nonlinearity(PyObject* object, bool& relu) {
  relu = is_text(object, "relu");
  return relu || is_text(object, "tanh");
}

// x, h0, w_ih, w_hh, b_ih, b_hh, nonlinearity
bool plan_rnn(const void* definition, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  RecurrentProblem& problem = plan.call.solved_by<run_rnn>();
  RecurrentPlan rnn(plan, problem, definition);
  if (count != 7 || !read_nonlinearity(arguments[6], problem.relu) ||
      !rnn.read_arrays(arguments, 6) || !rnn.find_size(0, 1) || !rnn.weights_fit(2) ||
      !rnn.biases_fit(4)) {
    return false;
  }
  rnn.add_sequence(problem.size.units);
  return true;
}

// grad_output, x, h0, w_ih, w_hh, output, nonlinearity, needs
bool plan_rnn_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                   Plan& plan) {
  RecurrentProblem& problem = plan.call.solved_by<run_rnn_rule>();
  RecurrentPlan rnn(plan, problem, definition);
  bool needs[6];
  if (count != 8 || !read_needs(arguments[7], 6, needs) ||
      !read_nonlinearity(arguments[6], problem.relu) || !rnn.read_arrays(arguments, 6) ||
      !rnn.find_size(1, 1) || !rnn.is_sequence(0, problem.size.units) || !rnn.weights_fit(3) ||
      !rnn.is_sequence(5, problem.size.units)) {
    return false;
  }
  rnn.add_gradients(needs, false);
  return true;
}

}  // namespace

bool add_rnn_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "rnn", plan_rnn, nullptr) &&
         add_kernel(kernels_by_name, "rnn_backward", plan_rnn_rule, nullptr) &&
         add_kernel(kernels_by_name, "rnn_cell", plan_rnn, kCell) &&
         add_kernel(kernels_by_name, "rnn_cell_backward", plan_rnn_rule, kCell);
}

}  // namespace extensor
