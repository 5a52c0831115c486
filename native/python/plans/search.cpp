// The place of the largest or the smallest element.
#include "../../drivers/search.h"

#include "../../drivers/reduction.h"
#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

struct Position {
  const char *name, *reduction;
};
constexpr Position kPositions[] = {{"argmax", "max_reduce"}, {"argmin", "min_reduce"}};

// x, axis, keepdims: all axes or the last one.
bool plan_position(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                   Plan& plan) {
  const Position& position = *static_cast<const Position*>(definition);
  PositionProblem& problem = plan.call.solved_by<run_positions>();
  if (count != 3 || !PyBool_Check(arguments[2]) || !add_array(arguments[0], plan, problem.x)) {
    return false;
  }
  const int last = problem.x.ndim() - 1;
  int axis = last;
  bool reduced[kMaxDimensions];
  Shape shape;
  if (!find_storage(problem.x.dtype, problem.storage) || problem.x.size == 0 ||
      !read_axes(arguments[1], problem.x.ndim(), reduced) ||
      (arguments[1] != Py_None &&
       (!read_axis(arguments[1], problem.x.ndim(), axis) || axis != last))) {
    return false;
  }
  reduced_shape(problem.x.shape, reduced, arguments[2] == Py_True, shape);
  problem.reduction = &find_reduction(position.reduction);
  problem.rows = shape.size();
  problem.n = problem.x.size / problem.rows;
  plan.call.add_fresh(DType::int64, shape);
  plan.call.nanoseconds = problem.x.size / 4;
  return true;
}

}  // namespace

bool add_search_kernels(PyObject* kernels_by_name) {
  for (const Position& position : kPositions) {
    if (!add_kernel(kernels_by_name, position.name, plan_position, &position)) return false;
  }
  return true;
}

}  // namespace extensor
