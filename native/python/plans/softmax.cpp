// softmax, log_softmax, logsumexp and their rules.
#include "../../drivers/softmax.h"

#include <algorithm>

#include "../../drivers/pass.h"
#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

// One or two arrays of one shape, then the axis: the last one, where rows are contiguous.
bool plan_softmax(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                  Plan& plan) {
  const RowKernel& kernel = *static_cast<const RowKernel*>(definition);
  if (count != kernel.inputs + 1) return false;
  SoftmaxProblem& problem = plan.call.solved_by<run_softmax>();
  const Layout& x = problem.inputs[0];
  for (int i = 0; i < kernel.inputs; ++i) {
    const Layout& input = problem.inputs[i];
    if (!add_array(arguments[i], plan, problem.inputs[i]) || input.dtype != x.dtype ||
        !(input.shape == x.shape)) {
      return false;
    }
  }
  int axis;
  if (!is_computed(x.dtype) || !read_axis(arguments[kernel.inputs], x.ndim(), axis) ||
      axis != x.ndim() - 1) {
    return false;
  }
  plan.call.add_fresh(x.dtype, x.shape);
  if (x.size == 0) {
    plan.call.computes_nothing();
    return true;
  }
  problem.kernel = &kernel;
  find_storage(x.dtype, problem.storage);
  problem.n = x.length(axis);
  problem.pieces = cut_reduced_rows(x.size / problem.n, problem.n);
  plan.call.nanoseconds = problem.pieces.nanoseconds;
  return true;
}

// x, axis, keepdims: the last axes, or all, to one number for each row.
bool plan_logsumexp(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  LogSumExpProblem& problem = plan.call.solved_by<run_logsumexp>();
  const Layout& x = problem.x;
  bool reduced[kMaxDimensions];
  if (count != 3 || !add_array(arguments[0], plan, problem.x) || !PyBool_Check(arguments[2]) ||
      !is_computed(x.dtype) || x.size == 0 || !read_axes(arguments[1], x.ndim(), reduced) ||
      !std::is_sorted(reduced, reduced + x.ndim())) {
    return false;
  }
  find_storage(x.dtype, problem.storage);
  const int kept = static_cast<int>(std::find(reduced, reduced + x.ndim(), true) - reduced);
  Output& output = plan.call.add_fresh(x.dtype, kept, x.shape.lengths);
  const int64_t rows = output.shape.size();
  if (arguments[2] == Py_True) {
    output.shape.ndim = x.ndim();
    std::fill(output.shape.lengths + kept, output.shape.lengths + x.ndim(), 1);
  }
  problem.n = x.size / rows;
  problem.pieces = cut_reduced_rows(rows, problem.n);
  plan.call.nanoseconds = problem.pieces.nanoseconds;
  return true;
}

// Gives an array that was reduced from `x` the axes it lacks, with length 1. False if it does not
// fit.
bool spread(const Shape& x, const bool* reduced, bool keepdims, Layout& layout) {
  // From the last axis on, so that none is overwritten before it has moved.
  int from = layout.ndim();
  for (int axis = x.ndim - 1; axis >= 0; --axis) {
    const bool kept = keepdims || !reduced[axis];
    if (kept && (from == 0 || layout.length(from - 1) != (reduced[axis] ? 1 : x.lengths[axis]))) {
      return false;
    }
    from -= kept;
    layout.shape.lengths[axis] = kept ? layout.length(from) : 1;
    layout.strides[axis] = kept ? layout.strides[from] : 0;
  }
  layout.shape.ndim = x.ndim;
  return from == 0;
}

// grad_output, x, output, axis, keepdims: the first and the last along the axes that were reduced.
bool plan_logsumexp_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                         Plan& plan) {
  const Elementwise& kernel = *static_cast<const Elementwise*>(definition);
  Operands operands;
  bool reduced[kMaxDimensions];
  if (count != 5 || !read_apart(arguments, 3, plan, operands) || !PyBool_Check(arguments[4]) ||
      !read_axes(arguments[3], operands.layouts[1].ndim(), reduced)) {
    return false;
  }
  const Shape& x = operands.layouts[1].shape;
  const bool keepdims = arguments[4] == Py_True;
  if (!spread(x, reduced, keepdims, operands.layouts[0]) ||
      !spread(x, reduced, keepdims, operands.layouts[2])) {
    return false;
  }
  operands.shape.ndim = x.ndim;
  for (int axis = 0; axis < x.ndim; ++axis) operands.shape.lengths[axis] = x.lengths[axis];
  PassProblem& problem = plan.call.solved_by<run_pass_call>();
  plan_pass(kernel.pass[operands.storage.index()], kernel.cost, operands, 1, false, 0, problem);
  plan.call.add_fresh(operands.storage.dtype, operands.shape);
  plan.call.nanoseconds = problem.pieces.nanoseconds;
  return true;
}

}  // namespace

bool add_softmax_kernels(PyObject* kernels_by_name) {
  for (const RowKernel& kernel : kernels().softmaxes) {
    if (!add_kernel(kernels_by_name, kernel.name, plan_softmax, &kernel)) return false;
  }
  const Elementwise& rule = kernels().arranged.logsumexp_rule;
  return add_kernel(kernels_by_name, "logsumexp", plan_logsumexp, nullptr) &&
         add_kernel(kernels_by_name, rule.name, plan_logsumexp_rule, &rule);
}

}  // namespace extensor
