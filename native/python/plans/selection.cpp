// Choices by a condition: masked_fill, and the rules of where and of masked_fill.
#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "elementwise.h"
#include "families.h"
#include "integers.h"

namespace extensor {
namespace {

// The two gradients of a choice by `condition`, those that are needed, each summed to its input's
// shape.
bool plan_divided_gradient(PyObject* grad_output, PyObject* condition, const Shape& first,
                           const Shape& second, const bool* needs, Plan& plan) {
  PyObject* const arguments[] = {condition, grad_output};
  Operands operands;
  if (!read_operands(arguments, 2, true, plan, 0, operands) || operands.is_number[1]) return false;
  const Shape* const inputs[] = {&operands.layouts[0].shape, &first, &second};
  Shape of_output;
  if (!broadcast(inputs, 3, of_output) || !(operands.layouts[1].shape == of_output)) return false;
  plan_summed_gradients(kernels().where_rule, operands, 0, first, second, needs, plan);
  return true;
}

// grad_output, cond, a_shape, b_shape, needs
bool plan_where_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  Shape a, b;
  bool needs[2];
  return count == 5 && read_shape(arguments[2], a) && read_shape(arguments[3], b) &&
         read_either(arguments[4], needs) &&
         plan_divided_gradient(arguments[0], arguments[1], a, b, needs, plan);
}

// x, mask, value
bool plan_masked_fill(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                      Plan& plan) {
  const Elementwise& where = *static_cast<const Elementwise*>(definition);
  Operands operands;
  if (count != 3) return false;
  PyObject* const inputs[] = {arguments[1], arguments[2], arguments[0]};
  if (holds_integers(arguments[0])) {
    return !PyArray_Check(arguments[2]) &&
           plan_integers(*find_integer_kernel("where"), inputs, 3, plan);
  }
  if (!read_operands(inputs, 3, true, plan, 0, operands) || operands.is_number[2] ||
      !operands.is_number[1]) {
    return false;
  }
  PassProblem& problem = plan.call.solved_by<run_pass_call>();
  plan_pass(where.pass[operands.storage.index()], where.cost, operands, 1, false, 0, problem);
  plan.call.add_fresh(operands.storage.dtype, operands.shape);
  plan.call.nanoseconds = problem.pieces.nanoseconds;
  return true;
}

// grad_output, x_shape, mask; the second gradient of a choice alone
bool plan_masked_fill_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  constexpr bool kNeeds[] = {false, true};
  Shape x;
  if (count != 3 || !read_shape(arguments[1], x) ||
      !plan_divided_gradient(arguments[0], arguments[2], x, x, kNeeds, plan)) {
    return false;
  }
  plan.call.output(0).returned = false;
  plan.call.several = false;
  return true;
}

}  // namespace

bool add_selection_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "where_backward", plan_where_rule, nullptr) &&
         add_kernel(kernels_by_name, "masked_fill", plan_masked_fill, &find_elementwise("where")) &&
         add_kernel(kernels_by_name, "masked_fill_backward", plan_masked_fill_rule, nullptr);
}

}  // namespace extensor
