// sum, mean, prod and extremes along axes, rules of some, and sums that undo broadcasting.
#include "../../drivers/reduction.h"

#include <algorithm>

#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "axis_rule.h"
#include "families.h"
#include "integers.h"
#include "reduction.h"

namespace extensor {
namespace {

// A reduction as Python knows it: a mean is a sum divided by the number of elements.
struct AxisReduction {
  const char* name;
  const char* kind;
  bool mean;
  bool of_integers;  // whether these have it too
};
constexpr AxisReduction kAxisReductions[] = {{"sum", "sum", false, true},
                                             {"mean", "sum", true, false},
                                             {"prod", "prod", false, false},
                                             {"max_reduce", "max_reduce", false, true},
                                             {"min_reduce", "min_reduce", false, true}};

// x, axis, keepdims
bool plan_axis_reduction(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                         Plan& plan) {
  const AxisReduction& kernel = *static_cast<const AxisReduction*>(definition);
  if (kernel.of_integers && count == 3 && holds_integers(arguments[0])) {
    return plan_integer_reduction(kernel.kind, arguments, plan);
  }
  ReductionProblem& problem = plan.call.solved_by<run_reduction_call>();
  bool reduced[kMaxDimensions];
  Shape shape;
  if (count != 3 || !read_reduction(arguments[0], arguments[1], arguments[2], plan, problem.x,
                                    problem.storage, reduced, shape)) {
    return false;
  }
  plan_reduction(find_reduction(kernel.kind), reduced, problem);
  if (kernel.mean) problem.divisor = problem.x.size / problem.results;
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

// grad_output, input_shape, axis, keepdims: the gradient of a reduction seen in its input's shape.
// The mean's is divided by the number of elements first.
template <bool kMean>
bool plan_sum_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  Layout gradient;
  Shape shape;
  Storage storage;
  bool reduced[kMaxDimensions];
  int64_t strides[kMaxDimensions], divisor = 1;
  if (count != 4 || !add_array(arguments[0], plan, gradient) || !PyBool_Check(arguments[3]) ||
      !find_storage(gradient.dtype, storage) || !read_shape(arguments[1], shape) ||
      !read_axes(arguments[2], shape.ndim, reduced)) {
    return false;
  }
  const bool keepdims = arguments[3] == Py_True;
  int place = 0;
  for (int axis = 0; axis < shape.ndim; ++axis) {
    const int64_t length = shape.lengths[axis];
    strides[axis] = 0;
    if (reduced[axis] && __builtin_mul_overflow(divisor, length, &divisor)) return false;
    if (reduced[axis] && !keepdims) continue;
    const int64_t expected = reduced[axis] ? 1 : length;
    if (place >= gradient.ndim() || gradient.length(place) != expected) return false;
    if (!reduced[axis]) strides[axis] = gradient.strides[place];
    ++place;
  }
  if (place != gradient.ndim()) return false;
  if (kMean) {
    if (divisor == 0 || storage.half != nullptr || !gradient.c_contiguous) return false;
    plan.call.solved_by<run_mean_rule>() = {storage.element, gradient.size, divisor};
    plan.call.add_fresh(gradient.dtype, gradient.shape).returned = false;
    plan.call.nanoseconds = gradient.size;
  }
  Output& view = plan.call.add_view(kMean ? ~0 : 0, false);
  view.dtype = gradient.dtype;
  view.shape.ndim = shape.ndim;
  std::copy_n(shape.lengths, shape.ndim, view.shape.lengths);
  std::copy_n(strides, shape.ndim, view.strides);
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

bool read_reduction(PyObject* object, PyObject* axes, PyObject* keepdims, Plan& plan, Layout& x,
                    Storage& storage, bool* reduced, Shape& shape) {
  if (!PyBool_Check(keepdims) || !add_array(object, plan, x) || !find_storage(x.dtype, storage) ||
      x.size == 0 || !read_axes(axes, x.ndim(), reduced)) {
    return false;
  }
  reduced_shape(x.shape, reduced, keepdims == Py_True, shape);
  return true;
}

bool add_reduction_kernels(PyObject* kernels_by_name) {
  for (const AxisReduction& kernel : kAxisReductions) {
    if (!add_kernel(kernels_by_name, kernel.name, plan_axis_reduction, &kernel)) return false;
  }
  for (const ExtremeRule& rule : kernels().extreme_rules) {
    if (!add_kernel(kernels_by_name, rule.name, plan_extreme_rule, &rule)) return false;
  }
  return add_kernel(kernels_by_name, "reduce_to_shape", plan_reduce_to_shape, nullptr) &&
         add_kernel(kernels_by_name, "sum_backward", plan_sum_rule<false>, nullptr) &&
         add_kernel(kernels_by_name, "mean_backward", plan_sum_rule<true>, nullptr) &&
         add_kernel(kernels_by_name, "prod_backward", plan_product_rule, nullptr);
}

}  // namespace extensor
