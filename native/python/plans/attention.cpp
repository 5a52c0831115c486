#include "../../drivers/attention.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "../../drivers/storage.h"
#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

// The next input of the plan as a stack, if it has the problem's dtype and batch.
bool add_stack(PyObject* object, const AttentionProblem& p, Plan& plan, GivenStack& stack) {
  Layout& layout = stack.layout;
  stack.place = plan.input_count();
  if (!add_array(object, plan, layout) || layout.dtype != p.dtype ||
      layout.ndim() != p.batch_axes + 2 ||
      !std::equal(p.batch_shape, p.batch_shape + p.batch_axes, layout.shape.lengths)) {
    return false;
  }
  stack.read();
  return true;
}

// The dtype and the batch of all stacks are those of q.
bool read_batch(PyObject* q, AttentionProblem& p) {
  if (!is_plain_array(q)) return false;
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(q);
  p.dtype = dtype_of(PyArray_TYPE(array));
  p.batch_axes = PyArray_NDIM(array) - 2;
  p.batch = 1;
  for (int axis = 0; axis < p.batch_axes; ++axis) {
    p.batch_shape[axis] = PyArray_DIM(array, axis);
    p.batch *= p.batch_shape[axis];
  }
  return p.batch_axes >= 0 && is_computed(p.dtype);
}

bool read_mask(PyObject* object, Plan& plan, AttentionProblem& p) {
  if (object == Py_None) return true;
  Layout mask;
  p.mask = plan.input_count();
  if (!add_array(object, plan, mask)) return false;
  p.mask_is_boolean = mask.dtype == DType::boolean;
  if (!p.mask_is_boolean && mask.dtype != p.dtype) return false;
  const int axes = mask.ndim(), all = p.batch_axes + 2;
  if (axes < 1 || axes > all || mask.length(axes - 1) != p.k.length ||
      mask.strides[axes - 1] != mask.itemsize) {
    return false;
  }
  p.mask_query = 0;
  std::fill_n(p.mask_batch, p.batch_axes, 0);
  for (int back = 1; back < axes; ++back) {  // 1: the queries, then the batch
    const int axis = axes - 1 - back, place = all - 1 - back;
    const int64_t wanted = back == 1 ? p.q.length : p.batch_shape[place];
    const int64_t length = mask.length(axis);
    if (length != 1 && length != wanted) return false;
    const int64_t stride = length == 1 ? 0 : mask.strides[axis];
    (back == 1 ? p.mask_query : p.mask_batch[place]) = stride;
  }
  return true;
}

// q, k, v, mask, causal, scale
bool read_problem(PyObject* const* arrays, PyObject* mask, PyObject* causal, PyObject* scale,
                  Plan& plan, AttentionProblem& p) {
  if (!read_batch(arrays[0], p) || !add_stack(arrays[0], p, plan, p.q) ||
      !add_stack(arrays[1], p, plan, p.k) || !add_stack(arrays[2], p, plan, p.v)) {
    return false;
  }
  p.causal = causal == Py_True;
  p.scale = 0;
  plan.call.numbers[p.scale] = 1 / std::sqrt(std::max<double>(1, p.q.features));
  return p.q.features == p.k.features && p.k.length == p.v.length && p.batch > 0 &&
         p.q.length > 0 && p.k.length > 0 && p.q.features > 0 && p.v.features > 0 &&
         PyBool_Check(causal) &&
         (scale == Py_None || read_number(scale, plan.call.numbers[p.scale])) &&
         read_mask(mask, plan, p);
}

// A new stack of the problem's batch whose memory is ordered as that of `model`: what merely split
// or transposed axes to get there is undone without a copy.
void add_result(const AttentionProblem& p, const GivenStack& model, int64_t length,
                int64_t features, Plan& plan, MatrixStack& stack) {
  const int axes = p.batch_axes + 2;
  int64_t shape[kMaxDimensions], ordered[kMaxDimensions];
  int order[kMaxDimensions];
  std::copy_n(p.batch_shape, p.batch_axes, shape);
  shape[axes - 2] = length;
  shape[axes - 1] = features;
  for (int axis = 0; axis < axes; ++axis) order[axis] = axis;
  const bool transposed = !model.copied && !model.layout.c_contiguous;
  const auto distance = [&](int axis) { return std::abs(model.layout.strides[axis]); };
  for (int i = 1; transposed && i < axes - 1; ++i) {
    int* const place = std::upper_bound(order, order + i, i,
                                        [&](int a, int b) { return distance(a) > distance(b); });
    std::rotate(place, order + i, order + i + 1);
  }
  for (int i = 0; i < axes; ++i) ordered[i] = shape[order[i]];
  stack.place = plan.call.output_count();
  stack.length = length;
  stack.features = features;
  plan.call.add_fresh(p.dtype, axes, ordered).returned = !transposed;

  int64_t strides[kMaxDimensions], stride = size_of(p.dtype);
  for (int i = axes - 1; i >= 0; --i) {
    strides[order[i]] = stride;
    stride *= ordered[i];
  }
  stack.step = strides[axes - 2] / size_of(p.dtype);
  std::copy_n(strides, p.batch_axes, stack.batch_strides);
  if (!transposed) return;
  Output& view = plan.call.add_view(~stack.place, true);
  view.shape.ndim = axes;
  std::copy_n(shape, axes, view.shape.lengths);
  std::copy_n(strides, axes, view.strides);
}

// q, k, v, mask, causal, scale, enable_gqa; gives the output and the logarithms of the sums. Heads
// that share keys are left to the formula, which comes back with the keys repeated.
bool plan_attention(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  AttentionProblem& p = plan.call.solved_by<run_attention>();
  if (count != 7 || arguments[6] != Py_False ||
      !read_problem(arguments, arguments[3], arguments[4], arguments[5], plan, p)) {
    return false;
  }
  add_result(p, p.q, p.q.length, p.v.features, plan, p.output);
  p.logarithms = plan.call.output_count();
  Shape& shape = plan.call.add_fresh(DType::float64, p.batch_axes, p.batch_shape).shape;
  shape.lengths[shape.ndim++] = p.q.length;
  shape.lengths[shape.ndim++] = 1;
  plan.call.several = true;
  plan.call.nanoseconds = p.nanoseconds();
  return true;
}

// Whether an array has the shape of the problem's queries with so many columns.
bool has_columns(const Layout& layout, const AttentionProblem& p, int64_t columns) {
  return layout.ndim() == p.batch_axes + 2 &&
         std::equal(p.batch_shape, p.batch_shape + p.batch_axes, layout.shape.lengths) &&
         layout.length(p.batch_axes) == p.q.length && layout.length(p.batch_axes + 1) == columns;
}

// grad_output, q, k, v, mask, output, logarithms, causal, scale, enable_gqa, needs; a mask's
// gradient is left to the formula
bool plan_attention_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  AttentionRuleProblem& problem = plan.call.solved_by<run_attention_rule>();
  AttentionProblem& p = problem.attention;
  bool needs[4];
  if (count != 11 || arguments[9] != Py_False || !read_needs(arguments[10], 4, needs) ||
      !read_problem(arguments + 1, arguments[4], arguments[7], arguments[8], plan, p) ||
      (p.mask >= 0 && !p.mask_is_boolean && needs[3]) ||
      !add_stack(arguments[0], p, plan, problem.gradient) ||
      !has_columns(problem.gradient.layout, p, p.v.features) ||
      !add_stack(arguments[5], p, plan, problem.output) ||
      !has_columns(problem.output.layout, p, p.v.features)) {
    return false;
  }
  problem.logarithms_place = plan.input_count();
  if (!add_array(arguments[6], plan, problem.logarithms) ||
      problem.logarithms.dtype != DType::float64 || !has_columns(problem.logarithms, p, 1)) {
    return false;
  }
  add_result(p, p.q, p.q.length, p.q.features, plan, problem.to_q);
  add_result(p, p.k, p.k.length, p.k.features, plan, problem.to_k);
  add_result(p, p.v, p.v.length, p.v.features, plan, problem.to_v);
  plan.call.add_absent();
  plan.call.several = true;
  plan.call.nanoseconds = 2 * p.nanoseconds();
  return true;
}

}  // namespace

bool add_attention_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "scaled_dot_product_attention", plan_attention, nullptr) &&
         add_kernel(kernels_by_name, "scaled_dot_product_attention_backward", plan_attention_rule,
                    nullptr);
}

}  // namespace extensor
