// The place of the largest or the smallest element.
#include "../../drivers/search.h"

#include "../../drivers/reduction.h"
#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"
#include "integers.h"

namespace extensor {
namespace {

struct Position {
  const char *name, *reduction;
};
constexpr Position kPositions[] = {{"argmax", "max_reduce"}, {"argmin", "min_reduce"}};

// x, axis, keepdims: all axes or the last one, in rows of n elements, with a place for each.
bool read_rows(PyObject* const* arguments, Plan& plan, Layout& x, int64_t& rows, int64_t& n) {
  if (!PyBool_Check(arguments[2]) || !add_array(arguments[0], plan, x) || x.size == 0) return false;
  const int last = x.ndim() - 1;
  int axis = last;
  bool reduced[kMaxDimensions];
  if (!read_axes(arguments[1], x.ndim(), reduced) ||
      (arguments[1] != Py_None && (!read_axis(arguments[1], x.ndim(), axis) || axis != last))) {
    return false;
  }
  Shape shape;
  reduced_shape(x.shape, reduced, arguments[2] == Py_True, shape);
  rows = shape.size();
  n = x.size / rows;
  plan.call.add_fresh(DType::int64, shape);
  plan.call.nanoseconds = x.size / 4;
  return true;
}

bool plan_integer_position(bool largest, PyObject* const* arguments, Plan& plan) {
  IntegerPositionProblem& problem = plan.call.solved_by<run_integer_positions>();
  Integer integer;
  if (!read_rows(arguments, plan, problem.x, problem.rows, problem.n) ||
      !find_integer(problem.x.dtype, integer)) {
    return false;
  }
  const IntegerSearch& search = kernels().integer_search;
  problem.first = (largest ? search.largest : search.smallest)[static_cast<int>(integer)];
  return true;
}

bool plan_position(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                   Plan& plan) {
  const Position& position = *static_cast<const Position*>(definition);
  if (count != 3) return false;
  if (holds_integers(arguments[0])) {
    return plan_integer_position(&position == &kPositions[0], arguments, plan);
  }
  PositionProblem& problem = plan.call.solved_by<run_positions>();
  problem.reduction = &find_reduction(position.reduction);
  return read_rows(arguments, plan, problem.x, problem.rows, problem.n) &&
         find_storage(problem.x.dtype, problem.storage);
}

}  // namespace

bool add_search_kernels(PyObject* kernels_by_name) {
  for (const Position& position : kPositions) {
    if (!add_kernel(kernels_by_name, position.name, plan_position, &position)) return false;
  }
  return true;
}

}  // namespace extensor
