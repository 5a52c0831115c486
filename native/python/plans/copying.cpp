// clone and cast.
#include "../../drivers/copying.h"

#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

// x
bool plan_clone(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  CopyProblem& problem = plan.call.solved_by<run_copy>();
  if (count != 1 || !add_array(arguments[0], plan, problem.from)) return false;
  problem.to = problem.from.dtype;
  plan.call.add_fresh(problem.to, problem.from.shape);
  plan.call.nanoseconds = nanoseconds_of_copy(problem.from);
  return is_movable(problem.to);
}

// x, dtype
bool plan_cast(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  CopyProblem& problem = plan.call.solved_by<run_copy>();
  if (count != 2 || !add_array(arguments[0], plan, problem.from) ||
      !is_movable(problem.from.dtype) || !PyArray_DescrCheck(arguments[1])) {
    return false;
  }
  PyArray_Descr* descriptor = reinterpret_cast<PyArray_Descr*>(arguments[1]);
  problem.to = dtype_of(descriptor->type_num);
  if (!PyDataType_ISNOTSWAPPED(descriptor) || !can_cast(problem.from.dtype, problem.to)) {
    return false;
  }
  plan.call.add_fresh(problem.to, problem.from.shape);
  plan.call.nanoseconds = nanoseconds_of_copy(problem.from);
  return true;
}

}  // namespace

bool add_copy_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "clone", plan_clone, nullptr) &&
         add_kernel(kernels_by_name, "cast", plan_cast, nullptr);
}

}  // namespace extensor
