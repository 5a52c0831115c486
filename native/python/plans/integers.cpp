// Integers and booleans: elementwise kernels, sums, extremes and their places.
#include "integers.h"

#include "../../drivers/reduction.h"
#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

// x, axis, keepdims, of booleans: whether any or all are true is their largest or smallest.
struct Quantifier {
  const char *name, *reduction;
};
constexpr Quantifier kQuantifiers[] = {
    {"any", "max_reduce"}, {"all", "min_reduce"}, {"count_nonzero", "sum"}};

bool plan_quantifier(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                     Plan& plan) {
  const Quantifier& quantifier = *static_cast<const Quantifier*>(definition);
  return count == 3 && PyArray_Check(arguments[0]) &&
         PyArray_TYPE(reinterpret_cast<PyArrayObject*>(arguments[0])) == NPY_BOOL &&
         plan_integer_reduction(quantifier.reduction, arguments, plan);
}

}  // namespace

bool holds_integers(PyObject* object) {
  Integer integer;
  return is_plain_array(object) &&
         find_integer(dtype_of(PyArray_TYPE(reinterpret_cast<PyArrayObject*>(object))), integer);
}

bool plan_integers(const IntegerKernel& kernel, PyObject* const* arguments, Py_ssize_t count,
                   Plan& plan) {
  Operands operands;
  Integer integer;
  if (count != kernel.inputs ||
      !read_integer_operands(arguments, kernel.inputs, kernel.first_is_boolean, plan, operands) ||
      !find_integer(operands.storage.dtype, integer)) {
    return false;
  }
  const Pass pass = kernel.pass[static_cast<int>(integer)];
  if (pass == nullptr) return false;
  PassProblem& problem = plan.call.solved_by<run_pass_call>();
  plan_pass(pass, kernel.cost, operands, 1, kernel.result_is_boolean, 0, problem);
  plan.call.add_fresh(kernel.result_is_boolean ? DType::boolean : operands.storage.dtype,
                      operands.shape);
  plan.call.nanoseconds = problem.pieces.nanoseconds;
  return true;
}

bool plan_integer_reduction(const char* name, PyObject* const* arguments, Plan& plan) {
  IntegerReductionProblem& problem = plan.call.solved_by<run_integer_reduction>();
  bool reduced[kMaxDimensions];
  Shape shape;
  if (!PyBool_Check(arguments[2]) || !add_array(arguments[0], plan, problem.x) ||
      problem.x.size == 0 || !find_integer(problem.x.dtype, problem.integer) ||
      !read_axes(arguments[1], problem.x.ndim(), reduced)) {
    return false;
  }
  problem.reduction = &find_integer_reduction(name);
  if (!plan_integer_reduction(reduced, problem)) return false;
  reduced_shape(problem.x.shape, reduced, arguments[2] == Py_True, shape);
  plan.call.add_fresh(problem.result(), shape);
  plan.call.nanoseconds = problem.x.size / 4;
  return true;
}

bool add_integer_kernels(PyObject* kernels_by_name) {
  for (const Quantifier& quantifier : kQuantifiers) {
    if (!add_kernel(kernels_by_name, quantifier.name, plan_quantifier, &quantifier)) return false;
  }
  return true;
}

}  // namespace extensor
