// Other shapes: reshape, flatten, squeeze and the like, and their rules.
#include <algorithm>

#include "../../drivers/copying.h"
#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

// A shape of so many elements: ints, one of which may be -1.
bool read_new_shape(PyObject* object, int64_t size, Shape& shape) {
  static_assert(sizeof(npy_intp) == sizeof(int64_t));
  if (!read_sizes(object, reinterpret_cast<npy_intp*>(shape.lengths), shape.ndim)) return false;
  int64_t known = 1;
  int open = -1;
  for (int axis = 0; axis < shape.ndim; ++axis) {
    const int64_t length = shape.lengths[axis];
    if (length == -1 && open == -1) {
      open = axis;
    } else if (length < 0 || __builtin_mul_overflow(known, length, &known)) {
      return false;
    }
  }
  if (open == -1) return known == size;
  if (known == 0 || size % known != 0) return false;
  shape.lengths[open] = size / known;
  return true;
}

// The strides that show an array's elements in another shape, in C order; false if they would have
// to move.
bool strides_in_place(const Layout& x, const Shape& shape, int64_t* strides) {
  int64_t lengths[kMaxDimensions], steps[kMaxDimensions];
  int axes = 0;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (x.length(axis) == 1) continue;
    lengths[axes] = x.length(axis);
    steps[axes++] = x.strides[axis];
  }
  // Runs of old and of new axes that hold the same elements: the old ones must be walked as one.
  std::fill_n(strides, shape.ndim, x.itemsize);
  for (int from = 0, to = 0; from < axes;) {
    int64_t old_size = lengths[from++], new_size = shape.lengths[to++];
    const int first = to - 1;
    while (old_size != new_size) {
      if (new_size < old_size) {
        new_size *= shape.lengths[to++];
      } else {
        if (steps[from - 1] != lengths[from] * steps[from]) return false;
        old_size *= lengths[from++];
      }
    }
    int64_t stride = steps[from - 1];
    for (int axis = to - 1; axis >= first; --axis) {
      strides[axis] = stride;
      stride *= shape.lengths[axis];
    }
  }
  return true;
}

void contiguous_strides(int64_t itemsize, const Shape& shape, int64_t* strides) {
  int64_t stride = itemsize;
  for (int axis = shape.ndim - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= std::max<int64_t>(shape.lengths[axis], 1);
  }
}

// x, whose layout has been read, in a shape of as many elements: a view where the memory allows it.
bool plan_in_shape(const Shape& shape, CopyProblem& problem, Plan& plan) {
  const Layout& x = problem.from;
  Output& result = plan.call.add_view(0, true);
  result.dtype = problem.to = x.dtype;
  result.shape = shape;
  if (x.c_contiguous) {
    contiguous_strides(x.itemsize, shape, result.strides);
  } else if (!strides_in_place(x, shape, result.strides)) {
    result.kind = Output::Kind::fresh;
    plan.call.nanoseconds = nanoseconds_of_copy(x);
    return is_movable(x.dtype);
  }
  plan.call.computes_nothing();
  return true;
}

// x, shape (ints, one of them may be -1)
bool plan_reshape(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  CopyProblem& problem = plan.call.solved_by<run_copy>();
  Shape shape;
  return count == 2 && add_array(arguments[0], plan, problem.from) &&
         read_new_shape(arguments[1], problem.from.size, shape) &&
         plan_in_shape(shape, problem, plan);
}

void add_axis(int64_t length, Shape& shape) { shape.lengths[shape.ndim++] = length; }

Shape no_axes() {
  Shape shape;
  shape.ndim = 0;
  return shape;
}

// x
bool plan_ravel(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  CopyProblem& problem = plan.call.solved_by<run_copy>();
  if (count != 1 || !add_array(arguments[0], plan, problem.from)) return false;
  Shape shape = no_axes();
  add_axis(problem.from.size, shape);
  return plan_in_shape(shape, problem, plan);
}

// The axes of `from` with those from `first` to `last` as one; false if that would be too long.
bool join_axes(const Shape& from, int first, int last, Shape& shape) {
  shape = no_axes();
  for (int axis = 0; axis < first; ++axis) add_axis(from.lengths[axis], shape);
  int64_t length = 1;
  for (int axis = first; axis <= last && axis < from.ndim; ++axis) {
    if (__builtin_mul_overflow(length, from.lengths[axis], &length)) return false;
  }
  add_axis(length, shape);
  for (int axis = last + 1; axis < from.ndim; ++axis) add_axis(from.lengths[axis], shape);
  return true;
}

// x, start_axis, end_axis
bool plan_flatten(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  CopyProblem& problem = plan.call.solved_by<run_copy>();
  if (count != 3 || !add_array(arguments[0], plan, problem.from)) return false;
  const int ndim = std::max(problem.from.ndim(), 1);
  int first, last;
  Shape shape;
  return read_axis(arguments[1], ndim, first) && read_axis(arguments[2], ndim, last) &&
         first <= last && join_axes(problem.from.shape, first, last, shape) &&
         plan_in_shape(shape, problem, plan);
}

// grad_output, input_shape: grad_output has some neighbouring axes as one.
bool plan_flatten_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  CopyProblem& problem = plan.call.solved_by<run_copy>();
  Shape shape;
  if (count != 2 || !add_array(arguments[0], plan, problem.from) ||
      !read_shape(arguments[1], shape)) {
    return false;
  }
  const int fewer = shape.ndim - problem.from.ndim();
  for (int first = 0; fewer >= 0 && first + fewer < shape.ndim; ++first) {
    Shape possible;
    if (join_axes(shape, first, first + fewer, possible) && possible == problem.from.shape) {
      return plan_in_shape(shape, problem, plan);
    }
  }
  return false;
}

// grad_output, input_shape
bool plan_ravel_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                     Plan& plan) {
  return count == 2 && PyArray_Check(arguments[0]) &&
         PyArray_NDIM(reinterpret_cast<PyArrayObject*>(arguments[0])) == 1 &&
         plan_reshape(definition, arguments, count, plan);
}

// x, axis (an int, a tuple, or None: all axes of length 1)
bool plan_squeeze(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  CopyProblem& problem = plan.call.solved_by<run_copy>();
  const Layout& x = problem.from;
  bool leaves[kMaxDimensions];
  if (count != 2 || !add_array(arguments[0], plan, problem.from) ||
      !read_axes(arguments[1], x.ndim(), leaves)) {
    return false;
  }
  Shape shape = no_axes();
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (x.length(axis) != 1 && leaves[axis] && arguments[1] != Py_None) return false;
    if (x.length(axis) != 1 || !leaves[axis]) add_axis(x.length(axis), shape);
  }
  return plan_in_shape(shape, problem, plan);
}

// x, axis (an int)
bool plan_unsqueeze(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  CopyProblem& problem = plan.call.solved_by<run_copy>();
  const Layout& x = problem.from;
  int added;
  if (count != 2 || !add_array(arguments[0], plan, problem.from) || x.ndim() == kMaxDimensions ||
      !read_axis(arguments[1], x.ndim() + 1, added)) {
    return false;
  }
  Shape shape = no_axes();
  for (int axis = 0; axis <= x.ndim(); ++axis) {
    add_axis(axis == added ? 1 : x.length(axis - (axis > added)), shape);
  }
  return plan_in_shape(shape, problem, plan);
}

Shape without_ones(const Shape& from) {
  Shape shape = no_axes();
  for (int axis = 0; axis < from.ndim; ++axis) {
    if (from.lengths[axis] != 1) add_axis(from.lengths[axis], shape);
  }
  return shape;
}

// grad_output, input_shape: the same but for axes of length 1.
bool plan_ones_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  CopyProblem& problem = plan.call.solved_by<run_copy>();
  Shape shape;
  return count == 2 && add_array(arguments[0], plan, problem.from) &&
         read_shape(arguments[1], shape) &&
         without_ones(shape) == without_ones(problem.from.shape) &&
         plan_in_shape(shape, problem, plan);
}

}  // namespace

bool add_movement_kernels(PyObject* kernels_by_name) {
  const auto add = [&](const char* name, auto plan) {
    return add_kernel(kernels_by_name, name, plan, nullptr);
  };
  return add("reshape", plan_reshape) && add("ravel", plan_ravel) &&
         add("ravel_backward", plan_ravel_rule) && add("flatten", plan_flatten) &&
         add("flatten_backward", plan_flatten_rule) && add("squeeze", plan_squeeze) &&
         add("unsqueeze", plan_unsqueeze) && add("ones_backward", plan_ones_rule);
}

}  // namespace extensor
