// reshape and transpose.
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

// x, shape (ints, one of them may be -1)
bool plan_reshape(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  CopyProblem& problem = plan.call.solved_by<run_copy>();
  const Layout& x = problem.from;
  if (count != 2 || !add_array(arguments[0], plan, problem.from)) return false;
  Output& result = plan.call.add_view(0, true);
  result.dtype = problem.to = x.dtype;
  if (!read_new_shape(arguments[1], x.size, result.shape)) return false;
  if (x.c_contiguous) {
    contiguous_strides(x.itemsize, result.shape, result.strides);
  } else if (!strides_in_place(x, result.shape, result.strides)) {
    result.kind = Output::Kind::fresh;
    plan.call.nanoseconds = nanoseconds_of_copy(x);
    return is_movable(x.dtype);
  }
  plan.call.computes_nothing();
  return true;
}

// x, axes (None reverses them)
bool plan_transpose(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  Layout x;
  if (count != 2 || !add_array(arguments[0], plan, x)) return false;
  const int ndim = x.ndim();
  npy_intp axes[kMaxDimensions];
  int given = ndim;
  if (arguments[1] == Py_None) {
    for (int i = 0; i < ndim; ++i) axes[i] = ndim - 1 - i;
  } else if (!read_sizes(arguments[1], axes, given) || given != ndim) {
    return false;
  }
  Output& view = plan.call.add_view(0, true);
  view.dtype = x.dtype;
  view.shape.ndim = ndim;
  bool seen[kMaxDimensions] = {};
  for (int i = 0; i < ndim; ++i) {
    if (axes[i] < -ndim || axes[i] >= ndim) return false;
    const npy_intp axis = axes[i] < 0 ? axes[i] + ndim : axes[i];
    if (seen[axis]) return false;
    seen[axis] = true;
    view.shape.lengths[i] = x.length(axis);
    view.strides[i] = x.strides[axis];
  }
  return true;
}

}  // namespace

bool add_movement_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "reshape", plan_reshape, nullptr) &&
         add_kernel(kernels_by_name, "transpose", plan_transpose, nullptr);
}

}  // namespace extensor
