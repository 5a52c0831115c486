#include "elementwise.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "arguments.h"
#include "kernel.h"
#include "operands.h"
#include "reduction.h"

namespace extensor {
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

// grad_output, a, b, parameters, needs
PyObject* call_binary_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const BinaryRule& rule = *static_cast<const BinaryRule*>(definition);
  Operands operands;
  double parameters[kMaxParameters];
  if (count != 4 + rule.parameters || !operands.read(arguments, 3) || operands.is_number[0] ||
      operands.is_number[1] || operands.is_number[2] ||
      !read_numbers(arguments + 3, rule.parameters, parameters)) {
    return not_implemented();
  }
  return run_binary_rule(rule, operands, parameters, arguments[3 + rule.parameters]);
}

// What an input of an op gets that needs nothing but the shapes: the gradient itself, or minus it,
// summed to the input's shape, or zeros.
enum class Share { all, minus, none };

struct ShapeRule {
  const char* name;
  Share shares[2];
};
constexpr ShapeRule kShapeRules[] = {{"add_backward", {Share::all, Share::all}},
                                     {"subtract_backward", {Share::all, Share::minus}},
                                     {"floor_divide_backward", {Share::none, Share::none}}};

PyObject* zeros(int typenum, int ndim, const npy_intp* shape) {
  Reference result(new_array(typenum, ndim, shape));
  if (!result) return nullptr;
  const int64_t itemsize = PyArray_ITEMSIZE(result.array());
  const Cut pieces = cut(PyArray_SIZE(result.array()), Cost::light);
  Unlocked unlocked(pieces.nanoseconds);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    std::memset(result.data() + begin * itemsize, 0, (end - begin) * itemsize);
  });
  return result.release();
}

PyObject* negated(PyObject* x) {
  static const Elementwise& negative = find_elementwise("negative");
  return call_elementwise(negative, &x, 1);
}

PyObject* share_of(Share share, PyArrayObject* gradient, const ArrayView& input,
                   const Shape& of_output) {
  npy_intp shape[kMaxDimensions];
  std::copy_n(input.shape, input.ndim, shape);
  if (share == Share::none) return zeros(PyArray_TYPE(gradient), input.ndim, shape);
  Reference summed(has_shape(input, of_output) ? Py_NewRef(reinterpret_cast<PyObject*>(gradient))
                                               : sum_to_shape(gradient, input.ndim, shape));
  if (!summed || share == Share::all) return summed.release();
  return negated(summed.get());
}

// grad_output, a_shape, b_shape, needs
PyObject* call_shape_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const ShapeRule& rule = *static_cast<const ShapeRule*>(definition);
  ArrayView gradient, inputs[2];
  Storage storage;
  bool needs[2];
  if (count != 4 || !is_plain_array(arguments[0]) || !read_shape(arguments[1], inputs[0]) ||
      !read_shape(arguments[2], inputs[1]) || !read_needs(arguments[3], needs[0], needs[1])) {
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
    results[i].reset(needs[i] ? share_of(rule.shares[i], array, inputs[i], of_output)
                              : Py_NewRef(Py_None));
    if (!results[i]) return nullptr;
  }
  return PyTuple_Pack(2, results[0].get(), results[1].get());
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

bool add_elementwise_kernels(PyObject* kernels_by_name) {
  for (std::span<const Elementwise> family : kernels().elementwise) {
    for (const Elementwise& kernel : family) {
      const KernelCall call = std::string_view(kernel.name).ends_with("_backward")
                                  ? call_from_table<true>
                                  : call_from_table<false>;
      if (!add_kernel(kernels_by_name, kernel.name, call, &kernel)) return false;
    }
  }
  for (std::span<const BinaryRule> family : {kernels().binary_rules, kernels().function_rules}) {
    for (const BinaryRule& rule : family) {
      if (!add_kernel(kernels_by_name, rule.name, call_binary_rule, &rule)) return false;
    }
  }
  for (const ShapeRule& rule : kShapeRules) {
    if (!add_kernel(kernels_by_name, rule.name, call_shape_rule, &rule)) return false;
  }
  return true;
}

}  // namespace extensor
