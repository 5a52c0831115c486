// Views with axes in another order or backwards, and parts along an axis.
#include <algorithm>

#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

// x with its axes in the order of `axes`, which has each once.
void plan_in_order(const Layout& x, const npy_intp* axes, Plan& plan) {
  Output& view = plan.call.add_view(0, true);
  view.dtype = x.dtype;
  view.shape.ndim = x.ndim();
  for (int i = 0; i < x.ndim(); ++i) {
    view.shape.lengths[i] = x.length(axes[i]);
    view.strides[i] = x.strides[axes[i]];
  }
}

// The order that a tuple of ints or None (reversed) gives `ndim` axes.
bool read_order(PyObject* object, int ndim, npy_intp* axes) {
  if (object == Py_None) {
    for (int i = 0; i < ndim; ++i) axes[i] = ndim - 1 - i;
    return true;
  }
  int given = ndim;
  if (!read_sizes(object, axes, given) || given != ndim) return false;
  bool seen[kMaxDimensions] = {};
  for (int i = 0; i < ndim; ++i) {
    if (axes[i] < -ndim || axes[i] >= ndim) return false;
    if (axes[i] < 0) axes[i] += ndim;
    if (seen[axes[i]]) return false;
    seen[axes[i]] = true;
  }
  return true;
}

// x, axes (None reverses them); the rule puts them back.
template <bool kBack>
bool plan_transpose(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  Layout x;
  npy_intp axes[kMaxDimensions], order[kMaxDimensions];
  if (count != 2 || !add_array(arguments[0], plan, x) ||
      !read_order(arguments[1], x.ndim(), axes)) {
    return false;
  }
  for (int i = 0; i < x.ndim(); ++i) order[kBack ? axes[i] : i] = kBack ? i : axes[i];
  plan_in_order(x, order, plan);
  return true;
}

// x, axis1, axis2
bool plan_swapaxes(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  Layout x;
  int first, second;
  if (count != 3 || !add_array(arguments[0], plan, x) ||
      !read_axis(arguments[1], x.ndim(), first) || !read_axis(arguments[2], x.ndim(), second)) {
    return false;
  }
  npy_intp axes[kMaxDimensions];
  for (int i = 0; i < x.ndim(); ++i) axes[i] = i;
  std::swap(axes[first], axes[second]);
  plan_in_order(x, axes, plan);
  return true;
}

// An axis or a tuple of different axes, as numbers from 0 on.
bool read_axis_list(PyObject* object, int ndim, int* axes, int& count) {
  if (!PyTuple_CheckExact(object)) {
    count = 1;
    return read_axis(object, ndim, axes[0]);
  }
  if (PyTuple_GET_SIZE(object) > ndim) return false;
  count = static_cast<int>(PyTuple_GET_SIZE(object));
  for (int i = 0; i < count; ++i) {
    if (!read_axis(PyTuple_GET_ITEM(object, i), ndim, axes[i]) ||
        std::find(axes, axes + i, axes[i]) != axes + i) {
      return false;
    }
  }
  return true;
}

// x, source, destination; the rule puts the axes back.
template <bool kBack>
bool plan_moveaxis(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  Layout x;
  int from[kMaxDimensions], to[kMaxDimensions], from_count, to_count;
  if (count != 3 || !add_array(arguments[0], plan, x) ||
      !read_axis_list(arguments[kBack ? 2 : 1], x.ndim(), from, from_count) ||
      !read_axis_list(arguments[kBack ? 1 : 2], x.ndim(), to, to_count) || from_count != to_count) {
    return false;
  }
  npy_intp axes[kMaxDimensions];
  std::fill_n(axes, x.ndim(), -1);
  for (int i = 0; i < from_count; ++i) axes[to[i]] = from[i];
  for (int axis = 0, place = 0; axis < x.ndim(); ++axis) {
    if (std::find(from, from + from_count, axis) != from + from_count) continue;
    while (axes[place] != -1) ++place;
    axes[place] = axis;
  }
  plan_in_order(x, axes, plan);
  return true;
}

// x, axis (an int, a tuple, or None: all)
bool plan_flip(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  Layout x;
  bool reversed[kMaxDimensions];
  if (count != 2 || !add_array(arguments[0], plan, x) ||
      !read_axes(arguments[1], x.ndim(), reversed)) {
    return false;
  }
  Output& view = plan.call.add_view(0, true);
  view.dtype = x.dtype;
  view.shape = x.shape;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const int64_t stride = x.strides[axis];
    view.strides[axis] = reversed[axis] ? -stride : stride;
    if (reversed[axis] && x.size > 0) view.offset += (x.length(axis) - 1) * stride;
  }
  return true;
}

// x
bool plan_identity(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  if (count != 1 || !is_plain_array(arguments[0])) return false;
  plan.add(arguments[0]);
  plan.call.add_same(0);
  return true;
}

// x, sections (an int that divides the axis), axis
bool plan_split(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  Layout x;
  int axis;
  npy_intp sections;
  if (count != 3 || !add_array(arguments[0], plan, x) || !PyLong_CheckExact(arguments[1]) ||
      !read_per_axis(arguments[1], 1, 1, &sections) || sections > Call::kMaxOutputs ||
      !read_axis(arguments[2], x.ndim(), axis) || x.length(axis) == 0 ||
      x.length(axis) % sections != 0) {
    return false;
  }
  plan.call.several = true;
  const int64_t length = x.length(axis) / sections;
  for (int i = 0; i < sections; ++i) {
    Output& view = plan.call.add_view(0, true);
    view.dtype = x.dtype;
    view.shape = x.shape;
    view.shape.lengths[axis] = length;
    std::copy_n(x.strides, x.ndim(), view.strides);
    view.offset = i * length * x.strides[axis];
  }
  plan.call.computes_nothing();
  return true;
}

}  // namespace

bool add_axes_kernels(PyObject* kernels_by_name) {
  const auto add = [&](const char* name, auto plan) {
    return add_kernel(kernels_by_name, name, plan, nullptr);
  };
  return add("transpose", plan_transpose<false>) &&
         add("transpose_backward", plan_transpose<true>) && add("swapaxes", plan_swapaxes) &&
         add("moveaxis", plan_moveaxis<false>) && add("moveaxis_backward", plan_moveaxis<true>) &&
         add("flip", plan_flip) && add("identity", plan_identity) && add("split", plan_split);
}

}  // namespace extensor
