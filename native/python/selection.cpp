#include <algorithm>

#include "arguments.h"
#include "families.h"
#include "kernel.h"
#include "legacy_elementwise.h"
#include "legacy_operands.h"

namespace extensor {
namespace {

// The two gradients of a choice by `condition`, those that are needed, each summed to its input's
// shape. A new tuple, NotImplemented, or null with a Python error set.
PyObject* divide_gradient(PyObject* grad_output, PyObject* condition, const ArrayView& first,
                          const ArrayView& second, bool needs_first, bool needs_second) {
  PyObject* arguments[] = {condition, grad_output};
  Operands operands;
  if (!operands.read(arguments, 2, true) || operands.is_number[1]) return not_implemented();
  const ArrayView* inputs[] = {&operands.views[0], &first, &second};
  Shape of_output;
  if (!broadcast_shape(inputs, 3, of_output) || !has_shape(operands.views[1], of_output)) {
    return not_implemented();
  }
  return summed_gradients(kernels().where_rule, operands, nullptr, first, second, needs_first,
                          needs_second);
}

// grad_output, cond, a_shape, b_shape, needs
PyObject* call_where_rule(const void*, PyObject* const* arguments, Py_ssize_t count) {
  ArrayView a, b;
  bool needs_a, needs_b;
  if (count != 5 || !read_shape(arguments[2], a) || !read_shape(arguments[3], b) ||
      !read_needs(arguments[4], needs_a, needs_b)) {
    return not_implemented();
  }
  return divide_gradient(arguments[0], arguments[1], a, b, needs_a, needs_b);
}

// x, mask, value
PyObject* call_masked_fill(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const Elementwise& where = *static_cast<const Elementwise*>(definition);
  Operands operands;
  if (count != 3) return not_implemented();
  PyObject* inputs[] = {arguments[1], arguments[2], arguments[0]};
  if (!operands.read(inputs, 3, true) || operands.is_number[2] || !operands.is_number[1]) {
    return not_implemented();
  }
  return result_of_pass(where.pass, where.cost, operands, nullptr);
}

// grad_output, x_shape, mask
PyObject* call_masked_fill_rule(const void*, PyObject* const* arguments, Py_ssize_t count) {
  ArrayView x;
  if (count != 3 || !read_shape(arguments[1], x)) return not_implemented();
  Reference pair(divide_gradient(arguments[0], arguments[2], x, x, false, true));
  if (!pair || pair.get() == Py_NotImplemented) return pair.release();
  return Py_NewRef(PyTuple_GET_ITEM(pair.get(), 1));
}

// x or grad_output, mask, p: the mask of x's shape or, for whole channels, with axes of size 1
// after the first two.
template <bool kChannels>
PyObject* call_dropout(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const Elementwise& masked_scale = *static_cast<const Elementwise*>(definition);
  Operands operands;
  double p;
  if (count != 3) return not_implemented();
  PyObject* inputs[] = {arguments[1], arguments[0]};
  if (!operands.read(inputs, 2, true) || operands.is_number[1] || !read_number(arguments[2], p) ||
      !(p >= 0 && p <= 1)) {
    return not_implemented();
  }
  const ArrayView &mask = operands.views[0], &x = operands.views[1];
  if (mask.ndim != x.ndim || (kChannels && x.ndim < 2)) return not_implemented();
  for (int i = 0; i < x.ndim; ++i) {
    if (mask.shape[i] != (kChannels && i > 1 ? 1 : x.shape[i])) return not_implemented();
  }
  const double scale = p < 1 ? 1 / (1 - p) : 0;
  return result_of_pass(masked_scale.pass, masked_scale.cost, operands, &scale);
}

// Logic on booleans, byte by byte, and the kernel of the same name for floats.
struct Logic {
  const Elementwise& of_floats;
  void (*run)(const char* a, int64_t a_stride, const char* b, int64_t b_stride, int64_t n,
              char* out);
};

template <typename Function>
void run_logic(const char* a, int64_t a_stride, const char* b, int64_t b_stride, int64_t n,
               char* out) {
  if (a_stride == 1 && b_stride == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = Function{}(a[i] != 0, b[i] != 0);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    out[i] = Function{}(a[i * a_stride] != 0, b[i * b_stride] != 0);
  }
}

template <typename Function>
Logic logic(const Elementwise& of_floats, Function) {
  return {of_floats, run_logic<Function>};
}

bool is_boolean_array(PyObject* object) {
  return is_plain_array(object) &&
         PyArray_TYPE(reinterpret_cast<PyArrayObject*>(object)) == NPY_BOOL;
}

PyObject* call_logic(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const Logic& kernel = *static_cast<const Logic*>(definition);
  const int inputs = kernel.of_floats.inputs;
  if (count != inputs) return not_implemented();
  if (!std::all_of(arguments, arguments + count, is_boolean_array)) {
    return call_elementwise(kernel.of_floats, arguments, count);
  }
  ArrayView views[3];
  const ArrayView* pointers[] = {&views[0], &views[1], &views[2]};
  for (int i = 0; i < 2; ++i) {  // of one input, the second is the first again
    PyObject* input = arguments[std::min(i, inputs - 1)];
    fill_view(reinterpret_cast<PyArrayObject*>(input), views[i]);
  }
  Shape shape;
  if (!broadcast_shape(pointers, 2, shape)) return not_implemented();
  Reference result(new_array(NPY_BOOL, shape));
  if (!result) return nullptr;
  fill_view(result.array(), views[2]);
  LoopNest loops;
  if (views[2].size == 0) return result.release();
  if (!make_loop_nest(shape, pointers, 3, loops)) return not_implemented();
  coalesce(loops);
  const int last = loops.ndim - 1;
  const int64_t n = loops.shape[last];
  const auto step = [&](int operand) { return loops.strides[operand][last]; };
  const int64_t rows = loops.ndim == 1 ? n : views[2].size / n;
  const Cut pieces = cut(rows, Cost::light, loops.ndim == 1 ? 1 : n);
  Unlocked unlocked(pieces.nanoseconds);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    if (loops.ndim == 1) {
      kernel.run(loops.data[0] + begin * step(0), step(0), loops.data[1] + begin * step(1), step(1),
                 end - begin, loops.data[2] + begin);
      return;
    }
    for (int64_t row = begin; row < end; ++row) {
      const char* position[2] = {loops.data[0], loops.data[1]};
      for (int64_t axis = last - 1, rest = row; axis >= 0; --axis) {
        for (int i = 0; i < 2; ++i) {
          position[i] += rest % loops.shape[axis] * loops.strides[i][axis];
        }
        rest /= loops.shape[axis];
      }
      kernel.run(position[0], step(0), position[1], step(1), n, loops.data[2] + row * n);
    }
  });
  return result.release();
}

bool add_logic(PyObject* kernels_by_name) {
  const LogicKernels& of_floats = kernels().logic;
  static const Logic all[] = {
      logic(of_floats.logical_and, [](bool a, bool b) { return a & b; }),
      logic(of_floats.logical_or, [](bool a, bool b) { return a | b; }),
      logic(of_floats.logical_xor, [](bool a, bool b) { return a ^ b; }),
      logic(of_floats.logical_not, [](bool a, bool) { return !a; }),
  };
  for (const Logic& kernel : all) {
    if (!add_kernel(kernels_by_name, kernel.of_floats.name, call_logic, &kernel)) return false;
  }
  return true;
}

}  // namespace

bool add_selection_kernels(PyObject* kernels_by_name) {
  const Elementwise* masked_scale = &find_elementwise("masked_scale");
  return add_logic(kernels_by_name) &&
         add_kernel(kernels_by_name, "where_backward", call_where_rule, nullptr) &&
         add_kernel(kernels_by_name, "masked_fill", call_masked_fill, &find_elementwise("where")) &&
         add_kernel(kernels_by_name, "masked_fill_backward", call_masked_fill_rule, nullptr) &&
         add_kernel(kernels_by_name, "dropout", call_dropout<false>, masked_scale) &&
         add_kernel(kernels_by_name, "dropout_backward", call_dropout<false>, masked_scale) &&
         add_kernel(kernels_by_name, "dropout2d", call_dropout<true>, masked_scale) &&
         add_kernel(kernels_by_name, "dropout2d_backward", call_dropout<true>, masked_scale);
}

}  // namespace extensor
