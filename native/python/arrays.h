// The NumPy side of the native core: arrays whose memory comes from the pool, and views of arrays
// as plain numbers that kernels can use without the interpreter's lock.
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

// NumPy's number for ml_dtypes.bfloat16, which exists only once that package is imported; -1 before
// Python has told us.
int bfloat16_typenum();
void set_bfloat16_typenum(int typenum);

// A C-contiguous, uninitialised array that owns a block of the pool and gives it back when it dies.
// Returns null with a Python error set if there is no memory or the shape is impossible. The
// descriptor is borrowed. Types that are not plain numbers get NumPy's own memory.
PyObject* new_array(int typenum, int ndim, const npy_intp* shape);
PyObject* new_array(PyArray_Descr* descriptor, int ndim, const npy_intp* shape);

// What a kernel knows of an array. Strides are in bytes. Shape and strides are copies: while a
// kernel runs without the interpreter's lock, another thread may assign to array.shape.
struct ArrayView {
  char* data;
  int64_t size;  // number of elements
  int64_t itemsize;
  int typenum;
  int ndim;
  bool c_contiguous;
  bool aligned;       // every element at a multiple of its type's alignment
  bool native_order;  // not byte-swapped
  bool writeable;
  int64_t shape[kMaxDimensions];
  int64_t strides[kMaxDimensions];
};

void fill_view(PyArrayObject* array, ArrayView& view);

// The same for plans, without the memory. Types that kernels do not know are DType::other.
DType dtype_of(int typenum);
int typenum_of(DType dtype);
void describe(PyArrayObject* array, Layout& layout);

bool has_shape(const ArrayView& view, const Shape& shape);
PyObject* new_array(int typenum, const Shape& shape);

// The common shape of all views under NumPy's broadcasting rules; false if there is none.
bool broadcast_shape(const ArrayView* const* views, int count, Shape& shape);

// A nest of loops that walks several operands in step: operand k moves by strides[k][axis] bytes
// per iteration of an axis. Axis 0 is the outermost.
struct LoopNest {
  int ndim;
  int operands;
  int64_t size;
  char* data[kMaxOperands];
  int64_t shape[kMaxDimensions];
  int64_t strides[kMaxOperands][kMaxDimensions];
};

// Loops over `shape` with every view broadcast to it (stride 0 along repeated axes); false if a
// view does not broadcast to that shape or there are more than kMaxOperands.
bool make_loop_nest(const Shape& shape, const ArrayView* const* views, int count, LoopNest& loops);

// Drops axes of length 1 and merges neighbouring axes that every operand walks as one. All operands
// contiguous gives one axis. The order of elements stays. At least one axis remains, of length 1
// for a scalar; an empty nest becomes one axis of length 0.
void coalesce(LoopNest& loops);

}  // namespace extensor
