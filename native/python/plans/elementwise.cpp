// Every elementwise kernel and binary rule of the chosen table, and the rules that need nothing but
// the shapes.
#include "elementwise.h"

#include <string_view>
#include <vector>

#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"
#include "integers.h"

namespace extensor {
namespace {

bool have_one_shape(const Operands& operands) {
  for (int i = 0; i < operands.count; ++i) {
    if (operands.is_number[i] || !(operands.layouts[i].shape == operands.shape)) return false;
  }
  return true;
}

// Inputs, then parameters. A rule's inputs must have one shape: a grad_output that merely
// broadcasts is wrong.
template <bool kRule>
bool plan_from_table(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                     Plan& plan) {
  const Elementwise& kernel = *static_cast<const Elementwise*>(definition);
  Operands operands;
  if (count != kernel.inputs + kernel.parameters ||
      !read_operands(arguments, kernel.inputs, kernel.first_is_boolean, plan, kernel.parameters,
                     operands) ||
      (kRule && !have_one_shape(operands)) ||
      !read_parameters(arguments + kernel.inputs, kernel.parameters, plan, 0) ||
      (kernel.accepts != nullptr && !kernel.accepts(plan.call.numbers)) ||
      (kernel.is_choice && !PyBool_Check(arguments[kernel.inputs]))) {
    return false;
  }
  PassProblem& problem = plan.call.solved_by<run_pass_call>();
  plan_pass(kernel.pass[operands.storage.index()], kernel.cost, operands, 1,
            kernel.result_is_boolean, 0, problem);
  plan.call.add_fresh(kernel.result_is_boolean ? DType::boolean : operands.storage.dtype,
                      operands.shape);
  plan.call.nanoseconds = problem.pieces.nanoseconds;
  return true;
}

// A kernel that integers have too.
struct Numeric {
  const Elementwise* of_floats;
  const IntegerKernel* of_integers;
};

// Inputs, as the first of them that is an array says.
bool plan_numeric(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                  Plan& plan) {
  const Numeric& kernel = *static_cast<const Numeric*>(definition);
  Py_ssize_t first = kernel.of_integers->first_is_boolean;
  while (first < count && !PyArray_Check(arguments[first])) ++first;
  if (first < count && holds_integers(arguments[first])) {
    return plan_integers(*kernel.of_integers, arguments, count, plan);
  }
  return plan_from_table<false>(kernel.of_floats, arguments, count, plan);
}

// grad_output, a, b, parameters, needs
bool plan_binary_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                      Plan& plan) {
  const BinaryRule& rule = *static_cast<const BinaryRule*>(definition);
  Operands operands;
  if (count != 4 + rule.parameters || !read_operands(arguments, 3, false, plan, 0, operands) ||
      operands.is_number[0] || operands.is_number[1] || operands.is_number[2] ||
      !read_parameters(arguments + 3, rule.parameters, plan, 0)) {
    return false;
  }
  return plan_binary_rule(rule, operands, 0, arguments[3 + rule.parameters], plan);
}

struct ShapeRule {
  const char* name;
  Share shares[2];
};
constexpr ShapeRule kShapeRules[] = {{"add_backward", {Share::all, Share::all}},
                                     {"subtract_backward", {Share::all, Share::minus}},
                                     {"floor_divide_backward", {Share::none, Share::none}}};

// grad_output, a_shape, b_shape, needs
bool plan_shape_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                     Plan& plan) {
  const ShapeRule& rule = *static_cast<const ShapeRule*>(definition);
  ShareProblem& problem = plan.call.solved_by<run_shares>();
  Layout& gradient = problem.gradient;
  Shape inputs[2], of_output;
  bool needs[2];
  const Shape* const both[] = {&inputs[0], &inputs[1]};
  if (count != 4 || !add_array(arguments[0], plan, gradient) ||
      !read_shape(arguments[1], inputs[0]) || !read_shape(arguments[2], inputs[1]) ||
      !read_either(arguments[3], needs) || !find_storage(gradient.dtype, problem.storage) ||
      !broadcast(both, 2, of_output) || !(gradient.shape == of_output)) {
    return false;
  }
  plan.call.several = true;
  plan.call.nanoseconds = gradient.size / 4;
  for (int i = 0; i < 2; ++i) {
    ShareProblem::Part& part = problem.parts[i];
    const bool whole = inputs[i] == of_output;
    if (!needs[i]) {
      plan.call.add_absent();
    } else if (rule.shares[i] == Share::all && whole) {
      plan.call.add_same(0);
    } else {
      part.share = rule.shares[i];
      part.summed = !whole;
      part.size = inputs[i].size();
      if (!whole && rule.shares[i] != Share::none) {
        plan_sum_to_shape(gradient, inputs[i], part.sum);
      }
      plan.call.add_fresh(gradient.dtype, inputs[i]);
    }
  }
  return true;
}

}  // namespace

bool plan_elementwise(const Elementwise& kernel, PyObject* const* arguments, Py_ssize_t count,
                      Plan& plan) {
  return plan_from_table<false>(&kernel, arguments, count, plan);
}

bool plan_binary_rule(const BinaryRule& rule, const Operands& operands, int parameters,
                      PyObject* needs, Plan& plan) {
  const Shape &a = operands.layouts[1].shape, &b = operands.layouts[2].shape;
  const Shape* inputs[] = {&a, &b};
  bool needed[2];
  Shape of_output;
  if (!read_either(needs, needed) || !broadcast(inputs, 2, of_output) ||
      !(operands.is_number[0] || operands.layouts[0].shape == of_output)) {
    return false;
  }
  // Terms of 16 bits would be rounded before they are added, and only their sum may be.
  if (operands.storage.half != nullptr &&
      ((needed[0] && !(a == of_output)) || (needed[1] && !(b == of_output)))) {
    return false;
  }
  plan_summed_gradients(rule, operands, parameters, a, b, needed, plan);
  return true;
}

void plan_summed_gradients(const BinaryRule& rule, const Operands& operands, int parameters,
                           const Shape& a, const Shape& b, const bool* needs, Plan& plan) {
  const Storage& storage = operands.storage;
  BinaryRuleProblem& problem = plan.call.solved_by<run_binary_rule>();
  plan_pass(rule.pass(storage.element, needs[0], needs[1]), rule.cost, operands, 2, false,
            parameters, problem.pass);
  const int64_t size = operands.shape.size();
  problem.bytes = size * storage.itemsize;
  plan.call.several = true;
  plan.call.nanoseconds = problem.pass.pieces.nanoseconds;
  for (int i = 0; i < 2; ++i) {
    const Shape& input = i == 0 ? a : b;
    problem.summed[i] = !(input == operands.shape);
    if (!needs[i]) {
      plan.call.add_absent();
      continue;
    }
    if (problem.summed[i]) plan_sum_to_shape(storage.dtype, operands.shape, input, problem.sums[i]);
    plan.call.add_fresh(storage.dtype, input);
  }
}

bool add_elementwise_kernels(PyObject* kernels_by_name) {
  static std::vector<Numeric> numeric;
  numeric.reserve(kernels().integers.size());  // kernels keep the addresses of their rows
  for (std::span<const Elementwise> family : kernels().elementwise) {
    for (const Elementwise& kernel : family) {
      if (const IntegerKernel* of_integers = find_integer_kernel(kernel.name)) {
        numeric.push_back({&kernel, of_integers});
        if (!add_kernel(kernels_by_name, kernel.name, plan_numeric, &numeric.back())) return false;
        continue;
      }
      const PlanFunction plan = std::string_view(kernel.name).ends_with("_backward")
                                    ? plan_from_table<true>
                                    : plan_from_table<false>;
      if (!add_kernel(kernels_by_name, kernel.name, plan, &kernel)) return false;
    }
  }
  for (std::span<const BinaryRule> family : {kernels().binary_rules, kernels().function_rules}) {
    for (const BinaryRule& rule : family) {
      if (!add_kernel(kernels_by_name, rule.name, plan_binary_rule, &rule)) return false;
    }
  }
  for (const ShapeRule& rule : kShapeRules) {
    if (!add_kernel(kernels_by_name, rule.name, plan_shape_rule, &rule)) return false;
  }
  return true;
}

}  // namespace extensor
