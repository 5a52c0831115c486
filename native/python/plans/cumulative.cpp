// cumsum.
#include "../../drivers/cumulative.h"

#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

// x, axis
bool plan_cumulative(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                     Plan& plan) {
  CumulativeProblem& problem = plan.call.solved_by<run_cumulative>();
  const Layout& x = problem.x;
  int axis;
  if (count != 2 || !add_array(arguments[0], plan, problem.x) || !is_computed(x.dtype) ||
      !read_axis(arguments[1], x.ndim(), axis)) {
    return false;
  }
  plan.call.add_fresh(x.dtype, x.shape);
  if (x.size == 0) {
    plan.call.computes_nothing();
    return true;
  }
  plan_cumulative(*static_cast<const Cumulative*>(definition), axis, problem);
  plan.call.nanoseconds = problem.pieces.nanoseconds;
  return true;
}

}  // namespace

bool add_cumulative_kernels(PyObject* kernels_by_name) {
  for (const Cumulative& kernel : kernels().cumulatives) {
    if (!add_kernel(kernels_by_name, kernel.name, plan_cumulative, &kernel)) return false;
  }
  return true;
}

}  // namespace extensor
