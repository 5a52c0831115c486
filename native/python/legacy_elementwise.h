#pragma once

#include <string_view>

#include "legacy_operands.h"

namespace extensor {
inline namespace legacy {

// Calls a kernel with inputs that broadcast and its parameters.
PyObject* call_elementwise(const Elementwise& kernel, PyObject* const* arguments, Py_ssize_t count);

// A kernel of the tables by its name, which must be there.
const Elementwise& find_elementwise(std::string_view name);

// The gradients of a binary op that are needed, each summed to its input's shape, from operands
// (grad_output or a number for all of it, a, b): a new tuple, NotImplemented, or null with a Python
// error set.
PyObject* run_binary_rule(const BinaryRule& rule, const Operands& operands,
                          const double* parameters, PyObject* needs);

// The same for inputs `a` and `b` that need not be operands, of operands that have the output's
// shape: a new tuple, or null with a Python error set.
PyObject* summed_gradients(const BinaryRule& rule, const Operands& operands,
                           const double* parameters, const ArrayView& a, const ArrayView& b,
                           bool needs_a, bool needs_b);

}  // namespace legacy
}  // namespace extensor
