// sum, mean, prod, extremes and norms along axes, and sums that undo broadcasting.
#include "../drivers/reduction.h"

#include <cmath>

#include "arguments.h"
#include "axis_rule.h"
#include "families.h"
#include "kernel.h"
#include "operands.h"

namespace extensor {
namespace {

// A reduction as Python knows it: a mean is a sum divided by the number of elements.
struct AxisReduction {
  const char* name;
  const char* kind;
  bool mean;
};
constexpr AxisReduction kAxisReductions[] = {{"sum", "sum", false},
                                             {"mean", "sum", true},
                                             {"prod", "prod", false},
                                             {"max_reduce", "max_reduce", false},
                                             {"min_reduce", "min_reduce", false}};

// The array to reduce, which axes, and whether they stay with length 1.
bool read_reduction(PyObject* x, PyObject* axes, PyObject* keepdims, Plan& plan,
                    ReductionProblem& problem, bool* reduced, Shape& shape) {
  if (!PyBool_Check(keepdims) || !add_array(x, plan, problem.x) ||
      !find_storage(problem.x.dtype, problem.storage) || problem.x.size == 0 ||
      !read_axes(axes, problem.x.ndim(), reduced)) {
    return false;
  }
  reduced_shape(problem.x.shape, reduced, keepdims == Py_True, shape);
  return true;
}

// x, axis, keepdims
bool plan_axis_reduction(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                         Plan& plan) {
  const AxisReduction& kernel = *static_cast<const AxisReduction*>(definition);
  ReductionProblem& problem = plan.call.solved_by<run_reduction_call>();
  bool reduced[kMaxDimensions];
  Shape shape;
  if (count != 3 ||
      !read_reduction(arguments[0], arguments[1], arguments[2], plan, problem, reduced, shape)) {
    return false;
  }
  plan_reduction(find_reduction(kernel.kind), reduced, problem);
  if (kernel.mean) problem.divisor = problem.x.size / problem.results;
  plan.call.add_fresh(problem.x.dtype, shape);
  plan.call.nanoseconds = nanoseconds_of(problem);
  return true;
}

// The reduction that a norm begins with; null for an order that is not for kernels.
const Reduction* reduction_of_norm(PyObject* ord) {
  double order;
  if (!read_number(ord, order)) return nullptr;
  if (order == 2) return &find_reduction("sum_of_squares");
  if (order == 1) return &find_reduction("sum_of_magnitudes");
  return order == HUGE_VAL ? &find_reduction("largest_magnitude") : nullptr;
}

// x, ord, axis, keepdims
bool plan_norm(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  ReductionProblem& problem = plan.call.solved_by<run_reduction_call>();
  bool reduced[kMaxDimensions];
  Shape shape;
  const Reduction* reduction = count == 4 ? reduction_of_norm(arguments[1]) : nullptr;
  if (reduction == nullptr ||
      !read_reduction(arguments[0], arguments[2], arguments[3], plan, problem, reduced, shape)) {
    return false;
  }
  plan_reduction(*reduction, reduced, problem);
  if (problem.results == problem.x.size) return false;
  problem.root = reduction == &find_reduction("sum_of_squares");
  plan.call.depends_on_values = problem.root;
  plan.call.add_fresh(problem.x.dtype, shape);
  plan.call.nanoseconds = nanoseconds_of(problem);
  return true;
}

// grad_output, x, axis, keepdims
bool plan_product_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  AxisRuleProblem& problem = plan.call.solved_by<run_product_rule>();
  if (count != 4 || !read_axis_rule(arguments, plan, problem)) return false;
  plan.call.depends_on_values = true;
  plan.call.add_fresh(problem.x.dtype, problem.x.shape);
  plan.call.nanoseconds = problem.x.size;
  return true;
}

// grad_output, x, axis, keepdims
bool plan_extreme_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                       Plan& plan) {
  ExtremeRuleProblem& problem = plan.call.solved_by<run_extreme_rule>();
  AxisRuleProblem& axes = problem.axes;
  if (count != 4 || !read_axis_rule(arguments, plan, axes) ||
      (axes.inner > 1 && axes.r > kLongestColumn)) {
    return false;
  }
  problem.rule = static_cast<const ExtremeRule*>(definition);
  plan.call.add_fresh(axes.x.dtype, axes.x.shape);
  plan.call.nanoseconds = axes.x.size;
  return true;
}

// x, shape
bool plan_reduce_to_shape(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  ReductionProblem& problem = plan.call.solved_by<run_reduction_call>();
  Shape shape;
  if (count != 2 || !add_array(arguments[0], plan, problem.x) || !read_shape(arguments[1], shape) ||
      shape.ndim > problem.x.ndim()) {
    return false;
  }
  if (shape == problem.x.shape) {
    plan.call.computes_nothing();
    plan.call.add_same(0);
    return true;
  }
  const int added = problem.x.ndim() - shape.ndim;
  for (int axis = 0; axis < shape.ndim; ++axis) {
    const int64_t length = shape.lengths[axis];
    if (length != 1 && length != problem.x.length(added + axis)) return false;
  }
  if (!find_storage(problem.x.dtype, problem.storage) || problem.x.size == 0) return false;
  plan_sum_to_shape(problem.x, shape, problem);
  plan.call.add_fresh(problem.x.dtype, shape);
  plan.call.nanoseconds = nanoseconds_of(problem);
  return true;
}

}  // namespace

bool add_reduction_kernels(PyObject* kernels_by_name) {
  for (const AxisReduction& kernel : kAxisReductions) {
    if (!add_kernel(kernels_by_name, kernel.name, plan_axis_reduction, &kernel)) return false;
  }
  for (const ExtremeRule& rule : kernels().extreme_rules) {
    if (!add_kernel(kernels_by_name, rule.name, plan_extreme_rule, &rule)) return false;
  }
  return add_kernel(kernels_by_name, "reduce_to_shape", plan_reduce_to_shape, nullptr) &&
         add_kernel(kernels_by_name, "norm", plan_norm, nullptr) &&
         add_kernel(kernels_by_name, "prod_backward", plan_product_rule, nullptr);
}

}  // namespace extensor
