#pragma once

#include "../../drivers/storage.h"
#include "../plan.h"

namespace extensor {

// The array to reduce, which is not empty, as the next input; over which axes, each marked; and the
// shape of the result, where they stay with length 1 if `keepdims` says so. False if the arguments
// are not for kernels.
bool read_reduction(PyObject* object, PyObject* axes, PyObject* keepdims, Plan& plan, Layout& x,
                    Storage& storage, bool* reduced, Shape& shape);

}  // namespace extensor
