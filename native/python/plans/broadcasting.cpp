// broadcast_to.
#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

// x, shape
bool plan_broadcast_to(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  Layout x;
  if (count != 2 || !add_array(arguments[0], plan, x)) return false;
  Output& view = plan.call.add_view(0, false);
  view.dtype = x.dtype;
  if (!read_shape(arguments[1], view.shape) || view.shape.ndim < x.ndim()) return false;
  const int added = view.shape.ndim - x.ndim();
  for (int axis = 0; axis < view.shape.ndim; ++axis) {
    const int64_t asked = view.shape.lengths[axis];
    const int64_t length = axis < added ? 1 : x.length(axis - added);
    if (length != 1 && length != asked) return false;
    view.strides[axis] = length == asked && axis >= added ? x.strides[axis - added] : 0;
  }
  return true;
}

}  // namespace

bool add_broadcasting_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "broadcast_to", plan_broadcast_to, nullptr);
}

}  // namespace extensor
