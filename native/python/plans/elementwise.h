// Plans of elementwise kernels and binary rules, for the families that have some of their own.
#pragma once

#include "../../drivers/elementwise.h"
#include "../plan.h"

namespace extensor {

// A kernel of the tables, from its inputs and parameters.
bool plan_elementwise(const Elementwise& kernel, PyObject* const* arguments, Py_ssize_t count,
                      Plan& plan);

// The gradients of a binary op that are needed, each summed to its input's shape, from operands
// (grad_output or a number for all of it, a, b). The parameters begin at `parameters` among the
// numbers. False if they are not for kernels.
bool plan_binary_rule(const BinaryRule& rule, const Operands& operands, int parameters,
                      PyObject* needs, Plan& plan);

// The same for inputs of the shapes `a` and `b` that need not be operands, of operands that have
// the output's shape.
void plan_summed_gradients(const BinaryRule& rule, const Operands& operands, int parameters,
                           const Shape& a, const Shape& b, const bool* needs, Plan& plan);

}  // namespace extensor
