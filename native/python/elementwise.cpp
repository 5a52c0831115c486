#include "elementwise.h"

#include <algorithm>
#include <string_view>

#include "arguments.h"
#include "kernel.h"
#include "operands.h"
#include "reduction.h"

namespace extensor {
namespace {

constexpr int kMaxParameters = 4;

bool read_parameters(PyObject* const* arguments, int count, double* parameters) {
  for (int i = 0; i < count; ++i) {
    if (!read_number(arguments[i], parameters[i])) return false;
  }
  return true;
}

PyObject* new_result(const Operands& operands, int typenum) {
  npy_intp shape[kMaxDimensions];
  for (int axis = 0; axis < operands.shape.ndim; ++axis) shape[axis] = operands.shape.lengths[axis];
  return new_array(typenum, operands.shape.ndim, shape);
}

char* data_of(const Reference& array) {
  return array ? static_cast<char*>(PyArray_DATA(array.array())) : nullptr;
}

bool has_shape(const ArrayView& view, const Shape& shape) {
  if (view.ndim != shape.ndim) return false;
  for (int axis = 0; axis < shape.ndim; ++axis) {
    if (view.shape[axis] != shape.lengths[axis]) return false;
  }
  return true;
}

bool have_one_shape(const Operands& operands) {
  for (int i = 0; i < operands.count; ++i) {
    if (operands.is_number[i] || !has_shape(operands.views[i], operands.shape)) return false;
  }
  return true;
}

// A rule's inputs must have one shape: a grad_output that merely broadcasts is wrong.
template <bool kRule>
PyObject* call_elementwise(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const Elementwise& kernel = *static_cast<const Elementwise*>(definition);
  if (count != kernel.inputs + kernel.parameters) return not_implemented();
  Operands operands;
  double parameters[kMaxParameters];
  if (!operands.read(arguments, kernel.inputs, kernel.first_is_boolean) ||
      (kRule && !have_one_shape(operands)) ||
      !read_parameters(arguments + kernel.inputs, kernel.parameters, parameters) ||
      (kernel.accepts != nullptr && !kernel.accepts(parameters))) {
    return not_implemented();
  }
  Reference result(
      new_result(operands, kernel.result_is_boolean ? NPY_BOOL : operands.storage.typenum));
  if (!result) return nullptr;
  char* outputs[] = {data_of(result)};
  run_pass(kernel.pass[static_cast<int>(operands.storage.element)], kernel.cost, operands,
           kernel.first_is_boolean, outputs, 1, kernel.result_is_boolean, parameters);
  return result.release();
}

// Which of two gradients are asked for, from a tuple of two booleans.
bool read_needs(PyObject* object, bool& first, bool& second) {
  if (!PyTuple_CheckExact(object) || PyTuple_GET_SIZE(object) != 2) return false;
  first = PyTuple_GET_ITEM(object, 0) == Py_True;
  second = PyTuple_GET_ITEM(object, 1) == Py_True;
  return first || second;
}

// The gradient of a broadcast input: summed over the axes that were added or stretched.
PyObject* reduced_to(Reference& full, const ArrayView& input, const Shape& shape) {
  if (!full) return Py_NewRef(Py_None);
  if (has_shape(input, shape)) return full.release();
  npy_intp target[kMaxDimensions];
  std::copy_n(input.shape, input.ndim, target);
  return sum_to_shape(full.array(), input.ndim, target);
}

PyObject* call_binary_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const BinaryRule& rule = *static_cast<const BinaryRule*>(definition);
  if (count != 4 + rule.parameters) return not_implemented();
  Operands operands;
  double parameters[kMaxParameters];
  bool needs_first, needs_second;
  if (!operands.read(arguments, 3, false) || operands.is_number[0] || operands.is_number[1] ||
      operands.is_number[2] || !read_parameters(arguments + 3, rule.parameters, parameters) ||
      !read_needs(arguments[3 + rule.parameters], needs_first, needs_second)) {
    return not_implemented();
  }
  const ArrayView* inputs[] = {&operands.views[1], &operands.views[2]};
  Shape of_output;
  if (!broadcast_shape(inputs, 2, of_output) || !has_shape(operands.views[0], of_output)) {
    return not_implemented();
  }
  Reference grad_a, grad_b;
  if (needs_first) grad_a.reset(new_result(operands, operands.storage.typenum));
  if (needs_second) grad_b.reset(new_result(operands, operands.storage.typenum));
  if ((needs_first && !grad_a) || (needs_second && !grad_b)) return nullptr;
  const int element = static_cast<int>(operands.storage.element);
  const Pass pass = !needs_second  ? rule.first[element]
                    : !needs_first ? rule.second[element]
                                   : rule.both[element];
  char* outputs[] = {data_of(grad_a), data_of(grad_b)};
  run_pass(pass, rule.cost, operands, false, outputs, 2, false, parameters);
  Reference first(reduced_to(grad_a, operands.views[1], operands.shape));
  Reference second(reduced_to(grad_b, operands.views[2], operands.shape));
  if (!first || !second) return nullptr;
  return PyTuple_Pack(2, first.get(), second.get());
}

// A shape given as a tuple of ints.
bool read_shape(PyObject* object, ArrayView& view) {
  npy_intp sizes[kMaxDimensions];
  if (!read_sizes(object, sizes, view.ndim)) return false;
  std::copy_n(sizes, view.ndim, view.shape);
  return std::all_of(sizes, sizes + view.ndim, [](npy_intp size) { return size >= 0; });
}

// grad_output, a_shape, b_shape, needs: the gradient itself, summed to each shape.
PyObject* call_add_backward(const void*, PyObject* const* arguments, Py_ssize_t count) {
  ArrayView gradient, inputs[2];
  Storage storage;
  if (count != 4 || !is_plain_array(arguments[0]) || !read_shape(arguments[1], inputs[0]) ||
      !read_shape(arguments[2], inputs[1]) || !PyTuple_CheckExact(arguments[3]) ||
      PyTuple_GET_SIZE(arguments[3]) != 2) {
    return not_implemented();
  }
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(arguments[0]);
  fill_view(array, gradient);
  const ArrayView* views[] = {&inputs[0], &inputs[1]};
  Shape of_output;
  if (!find_storage(gradient.typenum, storage) || !broadcast_shape(views, 2, of_output) ||
      !has_shape(gradient, of_output)) {
    return not_implemented();
  }
  Reference results[2];
  for (int i = 0; i < 2; ++i) {
    if (PyTuple_GET_ITEM(arguments[3], i) != Py_True) {
      results[i].reset(Py_NewRef(Py_None));
    } else if (has_shape(inputs[i], of_output)) {
      results[i].reset(Py_NewRef(arguments[0]));
    } else {
      npy_intp target[kMaxDimensions];
      std::copy_n(inputs[i].shape, inputs[i].ndim, target);
      results[i].reset(sum_to_shape(array, inputs[i].ndim, target));
    }
    if (!results[i]) return nullptr;
  }
  return PyTuple_Pack(2, results[0].get(), results[1].get());
}

}  // namespace

bool add_elementwise_kernels(PyObject* kernels_by_name) {
  for (std::span<const Elementwise> family : kernels().elementwise) {
    for (const Elementwise& kernel : family) {
      const KernelCall call = std::string_view(kernel.name).ends_with("_backward")
                                  ? call_elementwise<true>
                                  : call_elementwise<false>;
      if (!add_kernel(kernels_by_name, kernel.name, call, &kernel)) return false;
    }
  }
  for (std::span<const BinaryRule> family : {kernels().binary_rules, kernels().function_rules}) {
    for (const BinaryRule& rule : family) {
      if (!add_kernel(kernels_by_name, rule.name, call_binary_rule, &rule)) return false;
    }
  }
  return add_kernel(kernels_by_name, "add_backward", call_add_backward, nullptr);
}

}  // namespace extensor
