// conv1d, conv2d, what is transposed, and their rules.
#include "../../drivers/convolution.h"

#include <algorithm>

#include "../../drivers/windows.h"
#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

// Beyond this, offsets inside a block might not fit into 32 bits.
constexpr int64_t kMaxExtent = int64_t{1} << 24, kMaxSource = int64_t{1} << 30;

// How a convolution slides along its axes, as Python was told.
struct Sliding {
  int64_t stride[2], padding[2], dilation[2], groups;
  bool same;

  bool read(PyObject* strides, PyObject* paddings, PyObject* dilations, PyObject* group_count,
            int axes) {
    same = false;
    std::fill(padding, padding + 2, 0);
    if (PyUnicode_CheckExact(paddings)) {
      same = is_text(paddings, "same");
      if (!same && !is_text(paddings, "valid")) return false;
    } else if (!read_per_axis(paddings, axes, 0, padding)) {
      return false;
    }
    return read_per_axis(strides, axes, 1, stride) && read_per_axis(dilations, axes, 1, dilation) &&
           read_per_axis(group_count, 1, 1, &groups) &&
           (!same || std::all_of(stride, stride + axes, [](int64_t s) { return s == 1; }));
  }

  // False if the kernel does not fit.
  bool along(int axis, int64_t in, int64_t kernel, WindowAxis& windows) const {
    if (in < 1 || kernel < 1 || in >= kMaxExtent || kernel >= kMaxExtent) return false;
    const Padding added =
        same ? same_padding(dilation[axis] * (kernel - 1)) : Padding{padding[axis], padding[axis]};
    return lay_windows(in, kernel, stride[axis], added, dilation[axis], false, windows);
  }

  // The convolution of arrays of these shapes; along one axis it is one along two with a height of
  // 1.
  bool over(int axes, const int64_t* x, const int64_t* weight, Convolution& shape) const {
    shape = {x[0], groups, x[1], weight[0], {1, 1, 1, 1, 0, 1}, {}};
    if (x[1] < 1 || weight[0] < 1 || weight[0] % groups != 0 || weight[1] * groups != x[1]) {
      return false;
    }
    if (axes == 2 && !along(0, x[2], weight[2], shape.y)) return false;
    if (!along(axes - 1, x[axes + 1], weight[axes + 1], shape.x)) return false;
    const int64_t widest = std::max(shape.x.in, shape.x.out * shape.x.stride) +
                           shape.x.kernel * shape.x.dilation + shape.x.padding;
    const int64_t channels = std::max(weight[0] / groups, weight[1]);
    return channels < kMaxExtent && shape.y.kernel * shape.y.dilation < kMaxExtent &&
           channels * widest < kMaxSource / (shape.y.kernel * shape.y.dilation);
  }
};

// A floating array of this many axes, as the next input.
bool add_operand(PyObject* object, int ndim, Plan& plan, Layout& layout) {
  return add_array(object, plan, layout) && layout.ndim() == ndim && is_computed(layout.dtype);
}

// The two arrays of a convolution, of one dtype.
bool add_operands(PyObject* const* arguments, int axes, Plan& plan, ConvolutionProblem& problem) {
  problem.has_bias = false;
  return add_operand(arguments[0], axes + 2, plan, problem.first) &&
         add_operand(arguments[1], axes + 2, plan, problem.second) &&
         problem.first.dtype == problem.second.dtype;
}

// None, or a number for each of these channels.
bool add_bias(PyObject* object, int64_t channels, Plan& plan, ConvolutionProblem& problem) {
  problem.has_bias = object != Py_None;
  return !problem.has_bias ||
         (add_operand(object, 1, plan, problem.bias) && problem.bias.dtype == problem.first.dtype &&
          problem.bias.length(0) == channels);
}

const int64_t* lengths_of(const Layout& layout) { return layout.shape.lengths; }

// Whether an array of this shape is the output of a convolution.
bool is_output(int axes, const int64_t* lengths, const Convolution& shape) {
  return lengths[0] == shape.batch && lengths[1] == shape.out_channels &&
         (axes == 1 || lengths[2] == shape.y.out) && lengths[axes + 1] == shape.x.out;
}

void describe_output(int axes, const Convolution& shape, int64_t* lengths) {
  lengths[0] = shape.batch;
  lengths[1] = shape.out_channels;
  lengths[2] = shape.y.out;
  lengths[axes + 1] = shape.x.out;
}

void add_result(int ndim, const int64_t* lengths, Plan& plan, const ConvolutionProblem& problem) {
  plan.call.add_fresh(problem.first.dtype, ndim, lengths);
  plan.call.nanoseconds = nanoseconds_of(problem.shape);
}

// x, weight, bias, stride, padding, dilation, groups
template <int kAxes>
bool plan_convolution(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  ConvolutionProblem& problem = plan.call.solved_by<run_convolution>();
  Sliding sliding;
  if (count != 7 || !add_operands(arguments, kAxes, plan, problem) ||
      !sliding.read(arguments[3], arguments[4], arguments[5], arguments[6], kAxes) ||
      !sliding.over(kAxes, lengths_of(problem.first), lengths_of(problem.second), problem.shape) ||
      !add_bias(arguments[2], problem.shape.out_channels, plan, problem)) {
    return false;
  }
  int64_t lengths[4];
  describe_output(kAxes, problem.shape, lengths);
  add_result(kAxes + 2, lengths, plan, problem);
  return true;
}

// The convolution with this output and an input of this size, whose shape it gives.
bool read_shape_of_output(int axes, const Sliding& sliding, const int64_t* output,
                          const int64_t* weight, const int64_t* size, int64_t* x,
                          Convolution& shape) {
  x[0] = output[0];
  x[1] = weight[1] * sliding.groups;
  std::copy_n(size, axes, x + 2);
  return sliding.over(axes, x, weight, shape) && is_output(axes, output, shape);
}

// The gradient and the other array, the size of what is computed, stride, padding, dilation, groups
bool read_gradient(PyObject* const* arguments, Py_ssize_t count, int64_t least_size, Plan& plan,
                   ConvolutionProblem& problem, Sliding& sliding, int64_t* size) {
  return count == 7 && add_operands(arguments, 2, plan, problem) &&
         read_per_axis(arguments[2], 2, least_size, size) &&
         sliding.read(arguments[3], arguments[4], arguments[5], arguments[6], 2);
}

// gradient, weight, size, stride, padding, dilation, groups
bool plan_grad_x(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  ConvolutionProblem& problem = plan.call.solved_by<run_convolution_grad_x>();
  Sliding sliding;
  int64_t size[2], x[4];
  if (!read_gradient(arguments, count, 0, plan, problem, sliding, size) ||
      !read_shape_of_output(2, sliding, lengths_of(problem.first), lengths_of(problem.second), size,
                            x, problem.shape)) {
    return false;
  }
  add_result(4, x, plan, problem);
  return true;
}

// gradient, x, kernel_size, stride, padding, dilation, groups
bool plan_grad_weight(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  ConvolutionProblem& problem = plan.call.solved_by<run_convolution_grad_weight>();
  Sliding sliding;
  int64_t size[2];
  if (!read_gradient(arguments, count, 1, plan, problem, sliding, size)) return false;
  const int64_t *output = lengths_of(problem.first), *x = lengths_of(problem.second);
  const int64_t weight[] = {output[1], x[1] / sliding.groups, size[0], size[1]};
  if (!sliding.over(2, x, weight, problem.shape) || !is_output(2, output, problem.shape)) {
    return false;
  }
  add_result(4, weight, plan, problem);
  return true;
}

// How a transposed convolution slides, and the size of its output.
template <int kAxes>
bool read_transposed(PyObject* const* attributes, const Layout& x, const Layout& weight,
                     Sliding& sliding, int64_t* size) {
  // stride, padding, output_padding, groups, dilation
  int64_t added[kAxes];
  if (PyUnicode_CheckExact(attributes[1]) ||
      !sliding.read(attributes[0], attributes[1], attributes[4], attributes[3], kAxes) ||
      !read_per_axis(attributes[2], kAxes, 0, added)) {
    return false;
  }
  for (int axis = 0; axis < kAxes; ++axis) {
    const int64_t in = x.length(axis + 2), kernel = weight.length(axis + 2);
    if (added[axis] >= sliding.stride[axis] || in >= kMaxExtent || kernel >= kMaxExtent) {
      return false;
    }
    size[axis] = (in - 1) * sliding.stride[axis] + sliding.dilation[axis] * (kernel - 1) + 1 -
                 2 * sliding.padding[axis] + added[axis];
  }
  return true;
}

// x, weight, bias, stride, padding, output_padding, groups, dilation
template <int kAxes>
bool plan_transposed(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  ConvolutionProblem& problem = plan.call.solved_by<run_convolution_grad_x>();
  Sliding sliding;
  int64_t size[kAxes], output[kAxes + 2];
  if (count != 8 || !add_operands(arguments, kAxes, plan, problem) ||
      !read_transposed<kAxes>(arguments + 3, problem.first, problem.second, sliding, size) ||
      !read_shape_of_output(kAxes, sliding, lengths_of(problem.first), lengths_of(problem.second),
                            size, output, problem.shape) ||
      !add_bias(arguments[2], problem.shape.in_channels, plan, problem)) {
    return false;
  }
  add_result(kAxes + 2, output, plan, problem);
  return true;
}

// grad_output, x and weight, of one dtype.
bool add_operands(PyObject* const* arguments, int axes, Plan& plan,
                  ConvolutionRuleProblem& problem) {
  return add_operand(arguments[0], axes + 2, plan, problem.gradient) &&
         add_operand(arguments[1], axes + 2, plan, problem.x) &&
         add_operand(arguments[2], axes + 2, plan, problem.weight) &&
         problem.x.dtype == problem.gradient.dtype && problem.weight.dtype == problem.x.dtype;
}

// The gradients of x, weight and bias, None where nobody needs one.
bool add_gradients(PyObject* needed, Plan& plan, ConvolutionRuleProblem& problem) {
  bool needs[3];
  if (!read_needs(needed, 3, needs)) return false;
  const DType dtype = problem.gradient.dtype;
  plan.call.several = true;
  const Layout* const inputs[] = {&problem.x, &problem.weight};
  for (int i = 0; i < 2; ++i) {
    if (!needs[i]) {
      plan.call.add_absent();
      continue;
    }
    plan.call.add_fresh(dtype, inputs[i]->shape);
    plan.call.nanoseconds += nanoseconds_of(problem.shape);
  }
  if (needs[2]) {
    const int64_t channels = problem.gradient.length(1);
    Shape of_bias;
    of_bias.ndim = problem.gradient.ndim() - 1;
    std::fill_n(of_bias.lengths, of_bias.ndim, 1);
    of_bias.lengths[0] = channels;
    plan_sum_to_shape(dtype, problem.gradient.shape, of_bias, problem.bias);
    plan.call.add_fresh(dtype, 1, &channels);
    plan.call.nanoseconds += nanoseconds_of(problem.bias);
  } else {
    plan.call.add_absent();
  }
  return true;
}

// grad_output, x, weight, stride, padding, dilation, groups, needs
template <int kAxes>
bool plan_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  ConvolutionRuleProblem& problem = plan.call.solved_by<run_convolution_rule>();
  Sliding sliding;
  return count == 8 && add_operands(arguments, kAxes, plan, problem) &&
         sliding.read(arguments[3], arguments[4], arguments[5], arguments[6], kAxes) &&
         sliding.over(kAxes, lengths_of(problem.x), lengths_of(problem.weight), problem.shape) &&
         is_output(kAxes, lengths_of(problem.gradient), problem.shape) &&
         add_gradients(arguments[7], plan, problem);
}

// grad_output, x, weight, stride, padding, output_padding, groups, dilation, needs
template <int kAxes>
bool plan_transposed_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  ConvolutionRuleProblem& problem = plan.call.solved_by<run_transposed_convolution_rule>();
  Sliding sliding;
  int64_t size[kAxes], output[kAxes + 2];
  return count == 9 && add_operands(arguments, kAxes, plan, problem) &&
         read_transposed<kAxes>(arguments + 3, problem.x, problem.weight, sliding, size) &&
         read_shape_of_output(kAxes, sliding, lengths_of(problem.x), lengths_of(problem.weight),
                              size, output, problem.shape) &&
         std::equal(output, output + kAxes + 2, lengths_of(problem.gradient)) &&
         add_gradients(arguments[8], plan, problem);
}

}  // namespace

bool add_convolution_kernels(PyObject* kernels) {
  return add_kernel(kernels, "conv1d", plan_convolution<1>, nullptr) &&
         add_kernel(kernels, "conv1d_backward", plan_rule<1>, nullptr) &&
         add_kernel(kernels, "conv2d", plan_convolution<2>, nullptr) &&
         add_kernel(kernels, "conv2d_backward", plan_rule<2>, nullptr) &&
         add_kernel(kernels, "conv2d_grad_x", plan_grad_x, nullptr) &&
         add_kernel(kernels, "conv2d_grad_weight", plan_grad_weight, nullptr) &&
         add_kernel(kernels, "conv_transpose1d", plan_transposed<1>, nullptr) &&
         add_kernel(kernels, "conv_transpose1d_backward", plan_transposed_rule<1>, nullptr) &&
         add_kernel(kernels, "conv_transpose2d", plan_transposed<2>, nullptr) &&
         add_kernel(kernels, "conv_transpose2d_backward", plan_transposed_rule<2>, nullptr);
}

}  // namespace extensor
