#pragma once

#include "arrays.h"

namespace extensor {

// Adds scaled_dot_product_attention and its rule.
bool add_attention_kernels(PyObject* kernels_by_name);

}  // namespace extensor
