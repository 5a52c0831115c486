// The rule of logsumexp.
#include "../drivers/pass.h"
#include "arguments.h"
#include "families.h"
#include "kernel.h"
#include "operands.h"

namespace extensor {
namespace {

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

bool add_logsumexp_kernels(PyObject* kernels_by_name) {
  const Elementwise& rule = kernels().arranged.logsumexp_rule;
  return add_kernel(kernels_by_name, rule.name, plan_logsumexp_rule, &rule);
}

}  // namespace extensor
