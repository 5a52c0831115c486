// Logic: on booleans here, on floats by the elementwise kernels of the same names.
#include "../../drivers/logic.h"

#include <algorithm>

#include "../kernel.h"
#include "../operands.h"
#include "elementwise.h"
#include "families.h"

namespace extensor {
namespace {

struct LogicKernel {
  const Elementwise& of_floats;
  Logic of_booleans;
};

bool is_boolean_array(PyObject* object) {
  return is_plain_array(object) &&
         PyArray_TYPE(reinterpret_cast<PyArrayObject*>(object)) == NPY_BOOL;
}

// One or two inputs.
bool plan_logic(const void* definition, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  const LogicKernel& kernel = *static_cast<const LogicKernel*>(definition);
  if (count != kernel.of_floats.inputs) return false;
  if (!std::all_of(arguments, arguments + count, is_boolean_array)) {
    return plan_elementwise(kernel.of_floats, arguments, count, plan);
  }
  Layout layouts[2];
  for (int i = 0; i < count; ++i) plan.add(arguments[i], layouts[i]);
  LogicProblem& problem = plan.call.solved_by<run_logic>();
  problem.second = static_cast<int>(count) - 1;
  const Layout &a = layouts[0], &b = layouts[problem.second];
  const Shape* const shapes[] = {&a.shape, &b.shape};
  Shape shape;
  if (!broadcast(shapes, 2, shape)) return false;
  plan.call.add_fresh(DType::boolean, shape);
  if (shape.size() == 0) {
    plan.call.computes_nothing();
    return true;
  }
  plan_logic(kernel.of_booleans, shape, a, b, problem);
  plan.call.nanoseconds = problem.pieces.nanoseconds;
  return true;
}

}  // namespace

bool add_logic_kernels(PyObject* kernels_by_name) {
  const LogicKernels& of_floats = kernels().logic;
  static const LogicKernel all[] = {
      {of_floats.logical_and, logical_and},
      {of_floats.logical_or, logical_or},
      {of_floats.logical_xor, logical_xor},
      {of_floats.logical_not, logical_not},
  };
  for (const LogicKernel& kernel : all) {
    if (!add_kernel(kernels_by_name, kernel.of_floats.name, plan_logic, &kernel)) return false;
  }
  return true;
}

}  // namespace extensor
