#include <algorithm>

#include "arguments.h"
#include "families.h"
#include "kernel.h"
#include "legacy_copying.h"
#include "legacy_operands.h"

namespace extensor {
namespace {

// An array of another shape and strides on the same memory.
PyObject* view_of(PyArrayObject* x, int ndim, const npy_intp* shape, const npy_intp* strides,
                  bool writeable) {
  PyArray_Descr* descriptor = PyArray_DESCR(x);
  Py_INCREF(descriptor);
  const int flags = writeable ? PyArray_FLAGS(x) & NPY_ARRAY_WRITEABLE : 0;
  Reference view(PyArray_NewFromDescr(&PyArray_Type, descriptor, ndim, shape, strides,
                                      PyArray_DATA(x), flags, nullptr));
  if (!view || PyArray_SetBaseObject(view.array(), Py_NewRef(reinterpret_cast<PyObject*>(x))) < 0) {
    return nullptr;
  }
  return view.release();
}

// The strides that show an array's elements in another shape, in C order; false if they would have
// to move.
bool strides_in_place(PyArrayObject* x, int ndim, const npy_intp* shape, npy_intp* strides) {
  npy_intp lengths[kMaxDimensions], steps[kMaxDimensions];
  int axes = 0;
  for (int axis = 0; axis < PyArray_NDIM(x); ++axis) {
    if (PyArray_DIM(x, axis) == 1) continue;
    lengths[axes] = PyArray_DIM(x, axis);
    steps[axes++] = PyArray_STRIDE(x, axis);
  }
  // Runs of old and of new axes that hold the same elements: the old ones must be walked as one.
  std::fill_n(strides, ndim, PyArray_ITEMSIZE(x));
  for (int from = 0, to = 0; from < axes;) {
    npy_intp old_size = lengths[from++], new_size = shape[to++];
    const int first = to - 1;
    while (old_size != new_size) {
      if (new_size < old_size) {
        new_size *= shape[to++];
      } else {
        if (steps[from - 1] != lengths[from] * steps[from]) return false;
        old_size *= lengths[from++];
      }
    }
    npy_intp stride = steps[from - 1];
    for (int axis = to - 1; axis >= first; --axis) {
      strides[axis] = stride;
      stride *= shape[axis];
    }
  }
  return true;
}

// x, shape (ints, one of them may be -1)
PyObject* call_reshape(const void*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !is_plain_array(arguments[0])) return not_implemented();
  PyArrayObject* x = reinterpret_cast<PyArrayObject*>(arguments[0]);
  npy_intp shape[kMaxDimensions], strides[kMaxDimensions];
  int ndim, open = -1;
  if (!read_sizes(arguments[1], shape, ndim)) return not_implemented();
  npy_intp known = 1;
  for (int axis = 0; axis < ndim; ++axis) {
    if (shape[axis] == -1 && open == -1) {
      open = axis;
    } else if (shape[axis] < 0 || __builtin_mul_overflow(known, shape[axis], &known)) {
      return not_implemented();
    }
  }
  const npy_intp size = PyArray_SIZE(x);
  if (open != -1) {
    if (known == 0 || size % known != 0) return not_implemented();
    shape[open] = size / known;
    known *= shape[open];
  }
  if (known != size) return not_implemented();
  const bool contiguous_already = PyArray_IS_C_CONTIGUOUS(x);
  if (!contiguous_already && strides_in_place(x, ndim, shape, strides)) {
    return view_of(x, ndim, shape, strides, true);
  }
  if (!contiguous_already && !is_movable_array(arguments[0])) return not_implemented();
  Reference source(contiguous(x));
  if (!source) return nullptr;
  npy_intp stride = PyArray_ITEMSIZE(x);
  for (int axis = ndim - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= std::max<npy_intp>(shape[axis], 1);
  }
  return view_of(source.array(), ndim, shape, strides, true);
}

// x, axes (None reverses them)
PyObject* call_transpose(const void*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !is_plain_array(arguments[0])) return not_implemented();
  PyArrayObject* x = reinterpret_cast<PyArrayObject*>(arguments[0]);
  const int ndim = PyArray_NDIM(x);
  npy_intp axes[kMaxDimensions], shape[kMaxDimensions], strides[kMaxDimensions];
  bool seen[kMaxDimensions] = {};
  int given = ndim;
  if (arguments[1] == Py_None) {
    for (int i = 0; i < ndim; ++i) axes[i] = ndim - 1 - i;
  } else if (!read_sizes(arguments[1], axes, given) || given != ndim) {
    return not_implemented();
  }
  for (int i = 0; i < ndim; ++i) {
    if (axes[i] < -ndim || axes[i] >= ndim) return not_implemented();
    const npy_intp axis = axes[i] < 0 ? axes[i] + ndim : axes[i];
    if (seen[axis]) return not_implemented();
    seen[axis] = true;
    shape[i] = PyArray_DIM(x, axis);
    strides[i] = PyArray_STRIDE(x, axis);
  }
  return view_of(x, ndim, shape, strides, true);
}

// x, shape
PyObject* call_broadcast_to(const void*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !is_plain_array(arguments[0])) return not_implemented();
  PyArrayObject* x = reinterpret_cast<PyArrayObject*>(arguments[0]);
  npy_intp shape[kMaxDimensions], strides[kMaxDimensions];
  int ndim;
  if (!read_sizes(arguments[1], shape, ndim) || ndim < PyArray_NDIM(x)) return not_implemented();
  const int added = ndim - PyArray_NDIM(x);
  for (int axis = 0; axis < ndim; ++axis) {
    const npy_intp length = axis < added ? 1 : PyArray_DIM(x, axis - added);
    if (shape[axis] < 0 || (length != 1 && length != shape[axis])) return not_implemented();
    strides[axis] = length == shape[axis] && axis >= added ? PyArray_STRIDE(x, axis - added) : 0;
  }
  return view_of(x, ndim, shape, strides, false);
}

// grad_output, input_shape, axis, keepdims: the gradient of a reduction seen in its input's shape.
// The mean's is divided by the number of elements first.
PyObject* call_reduction_rule(const void* is_mean, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 4 || !is_plain_array(arguments[0]) || !PyBool_Check(arguments[3])) {
    return not_implemented();
  }
  PyArrayObject* gradient = reinterpret_cast<PyArrayObject*>(arguments[0]);
  npy_intp shape[kMaxDimensions], strides[kMaxDimensions];
  bool reduced[kMaxDimensions];
  int ndim;
  Storage storage;
  if (!find_storage(PyArray_TYPE(gradient), storage) || !read_sizes(arguments[1], shape, ndim) ||
      !read_axes(arguments[2], ndim, reduced)) {
    return not_implemented();
  }
  const bool keepdims = arguments[3] == Py_True;
  npy_intp divisor = 1;
  int place = 0;
  for (int axis = 0; axis < ndim; ++axis) {
    if (shape[axis] < 0) return not_implemented();
    strides[axis] = 0;
    if (reduced[axis] && __builtin_mul_overflow(divisor, shape[axis], &divisor)) {
      return not_implemented();
    }
    if (reduced[axis] && !keepdims) continue;
    const npy_intp expected = reduced[axis] ? 1 : shape[axis];
    if (place >= PyArray_NDIM(gradient) || PyArray_DIM(gradient, place) != expected) {
      return not_implemented();
    }
    if (!reduced[axis]) strides[axis] = PyArray_STRIDE(gradient, place);
    ++place;
  }
  if (place != PyArray_NDIM(gradient)) return not_implemented();
  if (is_mean == nullptr) return view_of(gradient, ndim, shape, strides, false);
  if (divisor == 0 || storage.half != nullptr || !PyArray_IS_C_CONTIGUOUS(gradient)) {
    return not_implemented();
  }
  Reference share(new_array(storage.typenum, PyArray_NDIM(gradient), PyArray_DIMS(gradient)));
  if (!share) return nullptr;
  const npy_intp n = PyArray_SIZE(gradient);
  for (npy_intp i = 0; i < n; ++i) {
    if (storage.element == Element::float64) {
      static_cast<double*>(PyArray_DATA(share.array()))[i] =
          static_cast<const double*>(PyArray_DATA(gradient))[i] / static_cast<double>(divisor);
    } else {
      static_cast<float*>(PyArray_DATA(share.array()))[i] =
          static_cast<const float*>(PyArray_DATA(gradient))[i] / static_cast<float>(divisor);
    }
  }
  return view_of(share.array(), ndim, shape, strides, false);
}

}  // namespace

bool add_view_kernels(PyObject* kernels_by_name) {
  static constexpr char kMean = 1;
  return add_kernel(kernels_by_name, "reshape", call_reshape, nullptr) &&
         add_kernel(kernels_by_name, "transpose", call_transpose, nullptr) &&
         add_kernel(kernels_by_name, "broadcast_to", call_broadcast_to, nullptr) &&
         add_kernel(kernels_by_name, "sum_backward", call_reduction_rule, nullptr) &&
         add_kernel(kernels_by_name, "mean_backward", call_reduction_rule, &kMean);
}

}  // namespace extensor
