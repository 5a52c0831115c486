#include "legacy_elementwise.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "arguments.h"
#include "kernel.h"
#include "legacy_operands.h"
#include "legacy_reduction.h"

namespace extensor {
inline namespace legacy {
namespace {

bool have_one_shape(const Operands& operands) {
  for (int i = 0; i < operands.count; ++i) {
    if (operands.is_number[i] || !has_shape(operands.views[i], operands.shape)) return false;
  }
  return true;
}

// A rule's inputs must have one shape: a grad_output that merely broadcasts is wrong.
template <bool kRule>
PyObject* call_from_table(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const Elementwise& kernel = *static_cast<const Elementwise*>(definition);
  if (count != kernel.inputs + kernel.parameters) return not_implemented();
  Operands operands;
  double parameters[kMaxParameters];
  if (!operands.read(arguments, kernel.inputs, kernel.first_is_boolean) ||
      (kRule && !have_one_shape(operands)) ||
      !read_numbers(arguments + kernel.inputs, kernel.parameters, parameters) ||
      (kernel.accepts != nullptr && !kernel.accepts(parameters)) ||
      (kernel.is_choice && !PyBool_Check(arguments[kernel.inputs]))) {
    return not_implemented();
  }
  return result_of_pass(kernel.pass, kernel.cost, operands, parameters, kernel.result_is_boolean);
}

}  // namespace

PyObject* call_elementwise(const Elementwise& kernel, PyObject* const* arguments,
                           Py_ssize_t count) {
  return call_from_table<false>(&kernel, arguments, count);
}

const Elementwise& find_elementwise(std::string_view name) {
  for (std::span<const Elementwise> family : kernels().elementwise) {
    for (const Elementwise& kernel : family) {
      if (kernel.name == name) return kernel;
    }
  }
  std::abort();
}

PyObject* run_binary_rule(const BinaryRule& rule, const Operands& operands,
                          const double* parameters, PyObject* needs) {
  const ArrayView &a = operands.views[1], &b = operands.views[2];
  const ArrayView* inputs[] = {&a, &b};
  bool needs_a, needs_b;
  Shape of_output;
  if (!read_needs(needs, needs_a, needs_b) || !broadcast_shape(inputs, 2, of_output) ||
      !(operands.is_number[0] || has_shape(operands.views[0], of_output))) {
    return not_implemented();
  }
  // Terms of 16 bits would be rounded before they are added, and only their sum may be.
  if (operands.storage.half != nullptr &&
      ((needs_a && !has_shape(a, of_output)) || (needs_b && !has_shape(b, of_output)))) {
    return not_implemented();
  }
  return summed_gradients(rule, operands, parameters, a, b, needs_a, needs_b);
}

PyObject* summed_gradients(const BinaryRule& rule, const Operands& operands,
                           const double* parameters, const ArrayView& a, const ArrayView& b,
                           bool needs_a, bool needs_b) {
  const Storage& storage = operands.storage;
  Reference grad_a(needs_a ? new_array(storage.typenum, operands.shape) : nullptr);
  Reference grad_b(needs_b ? new_array(storage.typenum, operands.shape) : nullptr);
  if ((needs_a && !grad_a) || (needs_b && !grad_b)) return nullptr;
  char* outputs[] = {grad_a.data(), grad_b.data()};
  run_pass(rule.pass(storage.element, needs_a, needs_b), rule.cost, operands, outputs, 2, false,
           parameters);
  Reference summed_a(summed_to(grad_a, a, operands.shape));
  Reference summed_b(summed_a ? summed_to(grad_b, b, operands.shape) : nullptr);
  if (!summed_b) return nullptr;
  return PyTuple_Pack(2, summed_a.get(), summed_b.get());
}

}  // namespace legacy
}  // namespace extensor
