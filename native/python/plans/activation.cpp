// Activations whose operands do not broadcast as they are given: a number for each channel, the two
// halves of an axis.
#include "../../drivers/activation.h"

#include <algorithm>

#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "elementwise.h"
#include "families.h"

namespace extensor {
namespace {

// Lays alpha, the last of the operands, along axis 1 of x, the one before it; a single number needs
// no axis. False if it does not fit.
bool lay_beside_channels(Operands& operands) {
  Layout& alpha = operands.layouts[operands.count - 1];
  const Shape& x = operands.layouts[operands.count - 2].shape;
  const int64_t channels = alpha.size, stride = alpha.ndim() == 0 ? 0 : alpha.strides[0];
  if (alpha.ndim() > 1 || (channels != 1 && (x.ndim < 2 || x.lengths[1] != channels))) return false;
  alpha.shape.ndim = channels == 1 ? 0 : x.ndim - 1;
  std::fill_n(alpha.shape.lengths, alpha.ndim(), 1);
  std::fill_n(alpha.strides, alpha.ndim(), 0);
  if (channels != 1) {
    alpha.shape.lengths[0] = channels;
    alpha.strides[0] = stride;
  }
  operands.shape.ndim = x.ndim;
  std::copy_n(x.lengths, x.ndim, operands.shape.lengths);
  return true;
}

// x, alpha
bool plan_prelu(const void* definition, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  const Elementwise& kernel = *static_cast<const Elementwise*>(definition);
  Operands operands;
  if (count != 2 || !read_apart(arguments, 2, plan, operands) || !lay_beside_channels(operands)) {
    return false;
  }
  PassProblem& problem = plan.call.solved_by<run_pass_call>();
  plan_pass(kernel.pass[operands.storage.index()], kernel.cost, operands, 1, false, 0, problem);
  plan.call.add_fresh(operands.storage.dtype, operands.shape);
  plan.call.nanoseconds = problem.pieces.nanoseconds;
  return true;
}

// grad_output, x, alpha, needs. Sums of 16-bit floats are left to the formula, which rounds once.
bool plan_prelu_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                     Plan& plan) {
  Operands operands;
  if (count != 4 || !read_apart(arguments, 3, plan, operands) || operands.storage.half != nullptr) {
    return false;
  }
  const int alpha_axes = operands.layouts[2].ndim();
  if (!lay_beside_channels(operands) ||
      !plan_binary_rule(*static_cast<const BinaryRule*>(definition), operands, 0, arguments[3],
                        plan)) {
    return false;
  }
  // It has as many elements as alpha, whose shape it gets.
  Shape& to_alpha = plan.call.output(1).shape;
  to_alpha.ndim = alpha_axes;
  to_alpha.lengths[0] = operands.layouts[2].size;
  return true;
}

bool has_halves(const Layout& x, PyObject* given_axis, int& axis) {
  return is_computed(x.dtype) && read_axis(given_axis, x.ndim(), axis) && x.length(axis) % 2 == 0;
}

// x, axis
bool plan_glu(const void* definition, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  const Elementwise& kernel = *static_cast<const Elementwise*>(definition);
  HalvesProblem& problem = plan.call.solved_by<run_halves>();
  Storage storage;
  int axis;
  if (count != 2 || !add_array(arguments[0], plan, problem.x) ||
      !has_halves(problem.x, arguments[1], axis)) {
    return false;
  }
  find_storage(problem.x.dtype, storage);
  plan_halves(kernel.pass[storage.index()], kernel.cost, axis, problem);
  plan.call.add_fresh(storage.dtype, problem.x.shape).shape.lengths[axis] /= 2;
  plan.call.nanoseconds = problem.tasks.nanoseconds;
  return true;
}

// grad_output, x, axis
bool plan_glu_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                   Plan& plan) {
  const BinaryRule& rule = *static_cast<const BinaryRule*>(definition);
  HalvesProblem& problem = plan.call.solved_by<run_halves_rule>();
  const Layout &gradient = problem.gradient, &x = problem.x;
  Storage storage;
  int axis;
  if (count != 3 || !add_array(arguments[0], plan, problem.gradient) ||
      !add_array(arguments[1], plan, problem.x) || !has_halves(x, arguments[2], axis) ||
      gradient.dtype != x.dtype || gradient.ndim() != x.ndim()) {
    return false;
  }
  for (int i = 0; i < x.ndim(); ++i) {
    if (gradient.length(i) != x.length(i) / (i == axis ? 2 : 1)) return false;
  }
  find_storage(x.dtype, storage);
  plan_halves(rule.pass(storage.element, true, true), rule.cost, axis, problem);
  plan.call.add_fresh(storage.dtype, x.shape);
  plan.call.nanoseconds = problem.tasks.nanoseconds;
  return true;
}

}  // namespace

bool add_activation_kernels(PyObject* kernels_by_name) {
  const ArrangedKernels& arranged = kernels().arranged;
  const auto add = [&](const auto& kernel, PlanFunction plan) {
    return add_kernel(kernels_by_name, kernel.name, plan, &kernel);
  };
  return add(arranged.prelu, plan_prelu) && add(arranged.prelu_rule, plan_prelu_rule) &&
         add(arranged.glu, plan_glu) && add(arranged.glu_rule, plan_glu_rule);
}

}  // namespace extensor
