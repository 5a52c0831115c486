#include <algorithm>
#include <cmath>
#include <new>

#include "../kernels/tables.h"
#include "arguments.h"
#include "families.h"
#include "kernel.h"
#include "legacy_copying.h"
#include "legacy_operands.h"

namespace extensor {
namespace {

// Beyond this, offsets inside a block might not fit into 32 bits.
constexpr int64_t kMaxExtent = int64_t{1} << 24, kMaxSource = int64_t{1} << 30;

void run_tasks(int64_t tasks, void (*body)(void* context, int64_t task), void* context) {
  parallel_for(tasks, body, context);
}

// How a convolution slides along its axes, as Python was told.
struct Sliding {
  npy_intp stride[2], padding[2], dilation[2], groups;
  bool same;

  bool read(PyObject* strides, PyObject* paddings, PyObject* dilations, PyObject* group_count,
            int axes) {
    same = false;
    std::fill(padding, padding + 2, 0);
    if (PyUnicode_CheckExact(paddings)) {
      same = PyUnicode_CompareWithASCIIString(paddings, "same") == 0;
      if (!same && PyUnicode_CompareWithASCIIString(paddings, "valid") != 0) return false;
    } else if (!read_per_axis(paddings, axes, 0, padding)) {
      return false;
    }
    return read_per_axis(strides, axes, 1, stride) && read_per_axis(dilations, axes, 1, dilation) &&
           read_per_axis(group_count, 1, 1, &groups) &&
           (!same || std::all_of(stride, stride + axes, [](npy_intp s) { return s == 1; }));
  }

  // False if the kernel does not fit.
  bool along(int axis, int64_t in, int64_t kernel, WindowAxis& result) const {
    if (in < 1 || kernel < 1 || in >= kMaxExtent || kernel >= kMaxExtent) return false;
    const int64_t reach = dilation[axis] * (kernel - 1);
    const int64_t before = same ? reach / 2 : padding[axis];
    const int64_t room = in + (same ? reach : 2 * padding[axis]) - reach;
    if (room < 1) return false;
    result = {in, kernel, (room - 1) / stride[axis] + 1, stride[axis], before, dilation[axis]};
    return true;
  }
};

// The shapes of x and weight; a convolution along one axis is one along two with a height of 1.
bool read_shape(const Sliding& sliding, int axes, const npy_intp* x, const npy_intp* weight,
                Convolution& shape) {
  const npy_intp groups = sliding.groups;
  shape = {x[0], groups, x[1], weight[0], {1, 1, 1, 1, 0, 1}, {}};
  if (x[1] < 1 || weight[0] < 1 || weight[0] % groups != 0 || weight[1] * groups != x[1]) {
    return false;
  }
  if (axes == 2 && !sliding.along(0, x[2], weight[2], shape.y)) return false;
  if (!sliding.along(axes - 1, x[axes + 1], weight[axes + 1], shape.x)) return false;
  const int64_t widest = std::max(shape.x.in, shape.x.out * shape.x.stride) +
                         shape.x.kernel * shape.x.dilation + shape.x.padding;
  const int64_t channels = std::max(weight[0] / groups, weight[1]);
  return channels < kMaxExtent && shape.y.kernel * shape.y.dilation < kMaxExtent &&
         channels * widest < kMaxSource / (shape.y.kernel * shape.y.dilation);
}

// A floating array of this many axes whose type has kernels; all operands must have the same.
bool is_operand(PyObject* object, int ndim, int typenum) {
  if (!is_plain_array(object)) return false;
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
  return PyArray_NDIM(array) == ndim && PyArray_TYPE(array) == typenum;
}

int floating_type(PyObject* object) {
  if (!is_plain_array(object)) return -1;
  const int typenum = PyArray_TYPE(reinterpret_cast<PyArrayObject*>(object));
  return typenum == NPY_FLOAT32 || typenum == NPY_FLOAT64 ? typenum : -1;
}

const npy_intp* shape_of(PyObject* object) {
  return PyArray_DIMS(reinterpret_cast<PyArrayObject*>(object));
}

int64_t nanoseconds(const Convolution& shape) {
  return shape.batch * shape.out_channels * shape.y.out * shape.x.out * shape.y.kernel *
         shape.x.kernel * (shape.in_channels / shape.groups) / 32;
}

// Calls `kernel`, for the type of the arrays, with contiguous memory and a new array of `out`.
template <typename Call>
PyObject* compute(int typenum, const Convolution& shape, PyObject* const* inputs, int ndim,
                  const npy_intp* out, const Call& call) {
  Reference first(contiguous(reinterpret_cast<PyArrayObject*>(inputs[0])));
  Reference second(contiguous(reinterpret_cast<PyArrayObject*>(inputs[1])));
  if (!first || !second) return nullptr;
  Reference result(new_array(typenum, ndim, out));
  if (!result) return nullptr;
  const void *a = PyArray_DATA(first.array()), *b = PyArray_DATA(second.array());
  void* target = PyArray_DATA(result.array());
  {
    Unlocked unlocked(nanoseconds(shape));
    if (typenum == NPY_FLOAT32) {
      call(kernels().convolution_float32, static_cast<const float*>(a),
           static_cast<const float*>(b), static_cast<float*>(target));
    } else {
      call(kernels().convolution_float64, static_cast<const double*>(a),
           static_cast<const double*>(b), static_cast<double*>(target));
    }
  }
  return result.release();
}

// The numbers of a bias, or null for None; false if it is none for these channels.
struct Bias {
  Reference holder;

  bool read(PyObject* object, int typenum, int64_t channels) {
    if (object == Py_None) return true;
    if (!is_operand(object, 1, typenum) || shape_of(object)[0] != channels) return false;
    holder.reset(contiguous(reinterpret_cast<PyArrayObject*>(object)));
    return static_cast<bool>(holder);
  }
  template <typename T>
  void get(const T*& numbers) const {
    numbers = holder ? static_cast<const T*>(PyArray_DATA(holder.array())) : nullptr;
  }
};

// conv1d and conv2d: (x, weight, bias, stride, padding, dilation, groups).
template <int kAxes>
PyObject* call_convolution(const void*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 7) return not_implemented();
  const int typenum = floating_type(arguments[0]);
  Sliding sliding;
  Convolution shape;
  Bias bias;
  if (!is_operand(arguments[0], kAxes + 2, typenum) ||
      !is_operand(arguments[1], kAxes + 2, typenum) ||
      !sliding.read(arguments[3], arguments[4], arguments[5], arguments[6], kAxes) ||
      !read_shape(sliding, kAxes, shape_of(arguments[0]), shape_of(arguments[1]), shape) ||
      !bias.read(arguments[2], typenum, shape.out_channels)) {
    return not_implemented();
  }
  npy_intp out[] = {shape.batch, shape.out_channels, shape.y.out, shape.x.out};
  if (kAxes == 1) out[2] = shape.x.out;
  return compute(typenum, shape, arguments, kAxes + 2, out,
                 [&](const auto& kernel, auto* x, auto* weight, auto* target) {
                   decltype(x) numbers;
                   bias.get(numbers);
                   kernel.forward(shape, x, weight, numbers, target, {num_threads(), run_tasks});
                 });
}

// The shape of a convolution with this output and an input of this size.
template <int kAxes>
bool read_shape_of_output(const Sliding& sliding, const npy_intp* output, const npy_intp* weight,
                          const npy_intp* size, npy_intp* x, Convolution& shape) {
  x[0] = output[0];
  x[1] = weight[1] * sliding.groups;
  std::copy_n(size, kAxes, x + 2);
  if (!read_shape(sliding, kAxes, x, weight, shape) || shape.out_channels != output[1]) {
    return false;
  }
  return shape.x.out == output[kAxes + 1] && (kAxes == 1 || shape.y.out == output[2]);
}

// The kernel multiplies weights with zeros around the gradient, which is right for numbers alone.
bool is_finite(PyArrayObject* array) {
  double largest = 0;
  const Element element = PyArray_TYPE(array) == NPY_FLOAT32 ? Element::float32 : Element::float64;
  kernels().norm.raise_to_largest[static_cast<int>(element)](PyArray_DATA(array),
                                                             PyArray_SIZE(array), largest);
  return std::isfinite(largest);
}

template <int kAxes>
PyObject* compute_grad_x(int typenum, const Sliding& sliding, PyObject* const* arrays,
                         const npy_intp* size, PyObject* bias_or_none) {
  npy_intp x[kAxes + 2];
  Convolution shape;
  Bias bias;
  if (!read_shape_of_output<kAxes>(sliding, shape_of(arrays[0]), shape_of(arrays[1]), size, x,
                                   shape) ||
      !bias.read(bias_or_none, typenum, shape.in_channels)) {
    return not_implemented();
  }
  Reference weight(contiguous(reinterpret_cast<PyArrayObject*>(arrays[1])));
  if (!weight) return nullptr;
  if (!is_finite(weight.array())) return not_implemented();
  PyObject* const inputs[] = {arrays[0], weight.get()};
  return compute(typenum, shape, inputs, kAxes + 2, x,
                 [&](const auto& kernel, auto* gradient, auto* filters, auto* target) {
                   decltype(gradient) numbers;
                   bias.get(numbers);
                   kernel.grad_x(shape, gradient, filters, numbers, target,
                                 {num_threads(), run_tasks});
                 });
}

// (gradient, weight or x, size of the other, stride, padding, dilation, groups).
struct GradientCall {
  int typenum;
  npy_intp size[2];
  Sliding sliding;

  bool read(PyObject* const* arguments, Py_ssize_t count, npy_intp least_size) {
    if (count != 7) return false;
    typenum = floating_type(arguments[0]);
    return is_operand(arguments[0], 4, typenum) && is_operand(arguments[1], 4, typenum) &&
           read_per_axis(arguments[2], 2, least_size, size) &&
           sliding.read(arguments[3], arguments[4], arguments[5], arguments[6], 2);
  }
};

PyObject* call_grad_x(const void*, PyObject* const* arguments, Py_ssize_t count) {
  GradientCall call;
  if (!call.read(arguments, count, 0)) return not_implemented();
  return compute_grad_x<2>(call.typenum, call.sliding, arguments, call.size, Py_None);
}

PyObject* call_grad_weight(const void*, PyObject* const* arguments, Py_ssize_t count) {
  GradientCall call;
  if (!call.read(arguments, count, 1)) return not_implemented();
  const npy_intp *output = shape_of(arguments[0]), *x = shape_of(arguments[1]);
  const npy_intp weight[] = {output[1], x[1] / call.sliding.groups, call.size[0], call.size[1]};
  Convolution shape;
  npy_intp expected[4];
  if (!read_shape_of_output<2>(call.sliding, output, weight, x + 2, expected, shape) ||
      !std::equal(expected, expected + 4, x)) {
    return not_implemented();
  }
  return compute(call.typenum, shape, arguments, 4, weight,
                 [&](const auto& kernel, auto* gradient, auto* image, auto* target) {
                   kernel.grad_weight(shape, gradient, image, target, {num_threads(), run_tasks});
                 });
}

// (x, weight, bias, stride, padding, output_padding, groups, dilation).
template <int kAxes>
PyObject* call_transposed(const void*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 8) return not_implemented();
  const int typenum = floating_type(arguments[0]);
  Sliding sliding;
  npy_intp added[kAxes], size[kAxes];
  if (!is_operand(arguments[0], kAxes + 2, typenum) ||
      !is_operand(arguments[1], kAxes + 2, typenum) || PyUnicode_CheckExact(arguments[4]) ||
      !sliding.read(arguments[3], arguments[4], arguments[7], arguments[6], kAxes) ||
      !read_per_axis(arguments[5], kAxes, 0, added)) {
    return not_implemented();
  }
  for (int axis = 0; axis < kAxes; ++axis) {
    const npy_intp in = shape_of(arguments[0])[axis + 2], kernel = shape_of(arguments[1])[axis + 2];
    if (added[axis] >= sliding.stride[axis] || in >= kMaxExtent || kernel >= kMaxExtent) {
      return not_implemented();
    }
    size[axis] = (in - 1) * sliding.stride[axis] + sliding.dilation[axis] * (kernel - 1) + 1 -
                 2 * sliding.padding[axis] + added[axis];
  }
  return compute_grad_x<kAxes>(typenum, sliding, arguments, size, arguments[2]);
}

}  // namespace

bool add_convolution_kernels(PyObject* kernels) {
  return add_kernel(kernels, "conv2d", call_convolution<2>, nullptr) &&
         add_kernel(kernels, "conv2d_grad_x", call_grad_x, nullptr) &&
         add_kernel(kernels, "conv2d_grad_weight", call_grad_weight, nullptr) &&
         add_kernel(kernels, "conv1d", call_convolution<1>, nullptr) &&
         add_kernel(kernels, "conv_transpose2d", call_transposed<2>, nullptr) &&
         add_kernel(kernels, "conv_transpose1d", call_transposed<1>, nullptr);
}

}  // namespace extensor
