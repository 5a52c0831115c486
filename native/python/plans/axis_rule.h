#pragma once

#include "../../drivers/axis_rule.h"
#include "../plan.h"

namespace extensor {

// grad_output, x, axis, keepdims. False if they are not for kernels.
bool read_axis_rule(PyObject* const* arguments, Plan& plan, AxisRuleProblem& problem);

}  // namespace extensor
