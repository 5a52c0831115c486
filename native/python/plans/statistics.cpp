// var, std, norm and their rules.
#include "../../drivers/statistics.h"

#include <cmath>

#include "../../drivers/reduction.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"
#include "reduction.h"

namespace extensor {
namespace {

struct Spread {
  const char* name;
  bool root;
};
constexpr Spread kSpreads[] = {{"var", false}, {"std", true}};

// x, axis, keepdims, ddof
bool plan_spread(const void* definition, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  SpreadProblem& problem = plan.call.solved_by<run_spread>();
  bool reduced[kMaxDimensions];
  Shape shape;
  double ddof;
  if (count != 4 ||
      !read_reduction(arguments[0], arguments[1], arguments[2], plan, problem.x, problem.storage,
                      reduced, shape) ||
      !problem.axes.find(problem.x.shape, reduced) || !read_number(arguments[3], ddof)) {
    return false;
  }
  const double n = static_cast<double>(problem.axes.size());
  problem.freedom = n > ddof ? n - ddof : 0;
  problem.root = static_cast<const Spread*>(definition)->root;
  plan.call.depends_on_values = true;
  plan.call.add_fresh(problem.x.dtype, shape);
  plan.call.nanoseconds = problem.x.size / 4;
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
  if (reduction == nullptr || !read_reduction(arguments[0], arguments[2], arguments[3], plan,
                                              problem.x, problem.storage, reduced, shape)) {
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

// An array with a number for each group, as the next input.
bool read_per_group(PyObject* object, const Shape& shape, DType dtype, Plan& plan, Layout& layout) {
  return add_array(object, plan, layout) && layout.dtype == dtype && layout.shape == shape;
}

struct SpreadRule {
  const char* name;
  bool around_mean;
  bool has_size;  // the output
  double factor;  // before the division by n - ddof, where there is one
};
constexpr SpreadRule kSpreadRules[] = {{"var_backward", true, false, 2},
                                       {"std_backward", true, true, 1}};
constexpr SpreadRule kNormRule = {"norm_backward", false, true, 1};

// The arrays of a rule, grad_output, x and the output if the rule has it, with the axes of x.
bool read_rule(const SpreadRule& rule, PyObject* const* arguments, PyObject* axes,
               PyObject* keepdims, Plan& plan, SpreadRuleProblem& problem) {
  bool reduced[kMaxDimensions];
  Shape shape;
  problem.around_mean = rule.around_mean;
  problem.has_size = rule.has_size;
  problem.factor = rule.factor;
  const Layout& x = problem.x;
  return read_reduction(arguments[1], axes, keepdims, plan, problem.x, problem.storage, reduced,
                        shape) &&
         problem.axes.find(x.shape, reduced) &&
         read_per_group(arguments[0], shape, x.dtype, plan, problem.gradient) &&
         (!rule.has_size || read_per_group(arguments[2], shape, x.dtype, plan, problem.size));
}

void plan_gradient(const SpreadRuleProblem& problem, Plan& plan) {
  plan.call.depends_on_values = true;
  plan.call.add_fresh(problem.x.dtype, problem.x.shape);
  plan.call.nanoseconds = problem.x.size / 4;
}

// grad_output, x, output if the rule has it, axis, keepdims, ddof
bool plan_spread_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                      Plan& plan) {
  const SpreadRule& rule = *static_cast<const SpreadRule*>(definition);
  PyObject* const* attributes = arguments + 2 + rule.has_size;
  SpreadRuleProblem& problem = plan.call.solved_by<run_spread_rule>();
  double ddof;
  if (count != 5 + rule.has_size ||
      !read_rule(rule, arguments, attributes[0], attributes[1], plan, problem) ||
      !read_number(attributes[2], ddof)) {
    return false;
  }
  const double freedom = static_cast<double>(problem.axes.size()) - ddof;
  if (!(freedom > 0)) return false;
  problem.factor /= freedom;
  plan_gradient(problem, plan);
  return true;
}

// grad_output, x, output, ord, axis, keepdims
bool plan_norm_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                    Plan& plan) {
  SpreadRuleProblem& problem = plan.call.solved_by<run_spread_rule>();
  double ord;
  if (count != 6 ||
      !read_rule(*static_cast<const SpreadRule*>(definition), arguments, arguments[4], arguments[5],
                 plan, problem) ||
      !read_number(arguments[3], ord) || ord != 2) {
    return false;
  }
  plan_gradient(problem, plan);
  return true;
}

}  // namespace

bool add_statistics_kernels(PyObject* kernels_by_name) {
  for (const Spread& spread : kSpreads) {
    if (!add_kernel(kernels_by_name, spread.name, plan_spread, &spread)) return false;
  }
  for (const SpreadRule& rule : kSpreadRules) {
    if (!add_kernel(kernels_by_name, rule.name, plan_spread_rule, &rule)) return false;
  }
  return add_kernel(kernels_by_name, "norm", plan_norm, nullptr) &&
         add_kernel(kernels_by_name, kNormRule.name, plan_norm_rule, &kNormRule);
}

}  // namespace extensor
