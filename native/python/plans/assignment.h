// Sums at an index that shows a part of an array, for the kernel that has other indices too.
#pragma once

#include "../plan.h"

namespace extensor {

// x, updates, index
bool plan_part_sum(PyObject* const* arguments, Plan& plan);

}  // namespace extensor
