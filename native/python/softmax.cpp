// softmax and log_softmax, and logsumexp.
#include "../drivers/softmax.h"

#include <algorithm>

#include "arguments.h"
#include "families.h"
#include "kernel.h"
#include "operands.h"

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

}  // namespace

bool add_softmax_kernels(PyObject* kernels_by_name) {
  for (const RowKernel& kernel : kernels().softmaxes) {
    if (!add_kernel(kernels_by_name, kernel.name, plan_softmax, &kernel)) return false;
  }
  return add_kernel(kernels_by_name, "logsumexp", plan_logsumexp, nullptr);
}

}  // namespace extensor
