// argsort and topk along the last axis.
#include "../../drivers/sorting.h"

#include <algorithm>

#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

// x, which is not empty, with its last axis as rows.
bool read_rows(PyObject* object, PyObject* axis, Plan& plan, SortProblem& problem) {
  int read;
  if (!add_array(object, plan, problem.x) || problem.x.size == 0 || problem.x.ndim() == 0 ||
      !is_sortable(problem.x.dtype) || !read_axis(axis, problem.x.ndim(), read) ||
      read != problem.x.ndim() - 1) {
    return false;
  }
  problem.n = problem.x.length(read);
  problem.rows = problem.x.size / problem.n;
  plan.call.nanoseconds = 4 * problem.x.size;
  return problem.n < kLongestSorted;
}

// x, axis, descending
bool plan_argsort(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  SortProblem& problem = plan.call.solved_by<run_argsort>();
  if (count != 3 || !PyBool_Check(arguments[2]) ||
      !read_rows(arguments[0], arguments[1], plan, problem)) {
    return false;
  }
  problem.descending = arguments[2] == Py_True;
  plan.call.add_fresh(DType::int64, problem.x.shape);
  return true;
}

// x, k, axis, largest
bool plan_topk(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  SortProblem& problem = plan.call.solved_by<run_topk>();
  double k;
  if (count != 4 || !PyBool_Check(arguments[3]) ||
      !read_rows(arguments[0], arguments[2], plan, problem) || !PyLong_CheckExact(arguments[1]) ||
      !read_number(arguments[1], k) || !(k >= 1 && k <= static_cast<double>(problem.n))) {
    return false;
  }
  problem.k = static_cast<int64_t>(k);
  problem.descending = arguments[3] == Py_True;
  Shape shape = problem.x.shape;
  shape.lengths[shape.ndim - 1] = problem.k;
  plan.call.several = true;
  plan.call.add_fresh(problem.x.dtype, shape);
  plan.call.add_fresh(DType::int64, shape);
  return true;
}

}  // namespace

bool add_sorting_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "argsort", plan_argsort, nullptr) &&
         add_kernel(kernels_by_name, "topk", plan_topk, nullptr);
}

}  // namespace extensor
