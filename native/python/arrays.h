// The NumPy side of the native core: arrays whose memory comes from the pool, and their layouts as
// plain numbers.
//
// Every source that touches NumPy includes this header and not NumPy's own, so that all share the
// one table of functions that import_numpy() fills.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL extensor_numpy_api
#if !defined(EXTENSOR_IMPORTS_NUMPY)
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include <cstddef>
#include <cstdint>

#include "../door/layout.h"

namespace extensor {

static_assert(kMaxDimensions == NPY_MAXDIMS);

// To be called once by the module before anything else here. Returns false with a Python error set.
bool import_numpy();

// Tells NumPy's number for ml_dtypes.bfloat16, which exists only once that package is imported.
// Returns false with a Python error set if it cannot be that.
bool set_bfloat16_typenum(int typenum);

// A C-contiguous, uninitialised array that owns a block of the pool and gives it back when it dies.
// Returns null with a Python error set if there is no memory or the shape is impossible. The
// descriptor is borrowed. Types that are not plain numbers get NumPy's own memory.
PyObject* new_array(DType dtype, int ndim, const npy_intp* shape);
PyObject* new_array(PyArray_Descr* descriptor, int ndim, const npy_intp* shape);

// Our dtype for NumPy's number of a type. Types that kernels do not know are DType::other.
DType other_dtype_of(int typenum);
inline DType dtype_of(int typenum) {
  if (typenum == NPY_FLOAT32) return DType::float32;
  return typenum == NPY_FLOAT64 ? DType::float64 : other_dtype_of(typenum);
}

// What a plan knows of an array. Shape and strides are copies: while a kernel runs without the
// interpreter's lock, another thread may assign to array.shape.
inline void describe(PyArrayObject* array, Layout& layout) {
  layout.dtype = dtype_of(PyArray_TYPE(array));
  layout.c_contiguous = PyArray_IS_C_CONTIGUOUS(array);
  layout.writeable = PyArray_ISWRITEABLE(array);
  layout.itemsize = PyArray_ITEMSIZE(array);
  layout.shape.ndim = PyArray_NDIM(array);
  layout.size = 1;
  for (int axis = 0; axis < layout.shape.ndim; ++axis) {
    layout.shape.lengths[axis] = PyArray_DIM(array, axis);
    layout.strides[axis] = PyArray_STRIDE(array, axis);
    layout.size *= layout.shape.lengths[axis];
  }
}

}  // namespace extensor
