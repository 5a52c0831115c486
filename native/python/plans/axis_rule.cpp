#include "axis_rule.h"

#include "../../drivers/reduction.h"
#include "../arguments.h"
#include "../operands.h"

namespace extensor {

bool read_axis_rule(PyObject* const* arguments, Plan& plan, AxisRuleProblem& problem) {
  bool reduced[kMaxDimensions];
  Shape shape;
  if (!add_array(arguments[0], plan, problem.gradient) ||
      !add_array(arguments[1], plan, problem.x) || !PyBool_Check(arguments[3]) ||
      !find_storage(problem.x.dtype, problem.storage) ||
      problem.gradient.dtype != problem.x.dtype || problem.x.size == 0 ||
      !read_axes(arguments[2], problem.x.ndim(), reduced)) {
    return false;
  }
  reduced_shape(problem.x.shape, reduced, arguments[3] == Py_True, shape);
  return problem.gradient.shape == shape && split_axes(reduced, problem);
}

}  // namespace extensor
