#include <algorithm>

#include "arguments.h"
#include "families.h"
#include "kernel.h"
#include "legacy_copying.h"
#include "legacy_operands.h"

namespace extensor {
namespace {

constexpr int64_t kColumnsPerTask = 256;  // of running sums down columns

// One or two arrays of one shape, then the axis: the last one, where rows are contiguous.
PyObject* call_rows(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const RowKernel& kernel = *static_cast<const RowKernel*>(definition);
  if (count != kernel.inputs + 1) return not_implemented();
  Reference sources[2];
  PyObject* arrays[2];
  for (int i = 0; i < kernel.inputs; ++i) {
    if (!is_movable_array(arguments[i])) return not_implemented();
    sources[i].reset(contiguous(reinterpret_cast<PyArrayObject*>(arguments[i])));
    if (!sources[i]) return nullptr;
    arrays[i] = sources[i].get();
  }
  Operands operands;
  int axis;
  if (!operands.read(arrays, kernel.inputs) || !operands.same_layout ||
      operands.storage.half != nullptr ||
      !read_axis(arguments[kernel.inputs], operands.shape.ndim, axis) ||
      axis != operands.shape.ndim - 1) {
    return not_implemented();
  }
  npy_intp shape[kMaxDimensions];
  int64_t rows = 1;
  for (int i = 0; i < operands.shape.ndim; ++i) {
    shape[i] = operands.shape.lengths[i];
    if (i != axis) rows *= shape[i];
  }
  const int64_t n = shape[axis];
  Reference result(new_array(operands.storage.typenum, operands.shape.ndim, shape));
  if (!result || rows * n == 0) return result.release();
  const auto run = kernel.rows[static_cast<int>(operands.storage.element)];
  char* out = static_cast<char*>(PyArray_DATA(result.array()));
  const int64_t row_bytes = n * operands.storage.itemsize;
  const Cut pieces = cut_reduced_rows(rows, n);
  Unlocked unlocked(pieces.nanoseconds);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    const void* inputs[2];
    for (int i = 0; i < kernel.inputs; ++i) inputs[i] = operands.views[i].data + begin * row_bytes;
    run(inputs, out + begin * row_bytes, end - begin, n);
  });
  return result.release();
}

// x, axis
PyObject* call_cumulative(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const Cumulative& kernel = *static_cast<const Cumulative*>(definition);
  Storage storage;
  int axis;
  if (count != 2 || !is_plain_array(arguments[0])) return not_implemented();
  PyArrayObject* x = reinterpret_cast<PyArrayObject*>(arguments[0]);
  const int ndim = PyArray_NDIM(x);
  if (!find_storage(PyArray_TYPE(x), storage) || storage.half != nullptr ||
      !read_axis(arguments[1], ndim, axis)) {
    return not_implemented();
  }
  Reference source(contiguous(x));
  Reference result(new_array(storage.typenum, ndim, PyArray_DIMS(x)));
  if (!source || !result) return nullptr;
  const int64_t size = PyArray_SIZE(x), n = PyArray_DIM(x, axis);
  if (size == 0) return result.release();
  const int64_t inner = PyArray_MultiplyList(PyArray_DIMS(x) + axis + 1, ndim - axis - 1);
  const int64_t block = n * inner, itemsize = storage.itemsize;
  const char* const data = PyArray_BYTES(source.array());
  char* const out = PyArray_BYTES(result.array());
  const int element = static_cast<int>(storage.element);
  const int64_t tile = inner == 1 ? 1 : kColumnsPerTask, tiles = (inner + tile - 1) / tile;
  const Cut pieces = cut(size / block * tiles, Cost::light, n * std::min(inner, tile));
  Unlocked unlocked(pieces.nanoseconds);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    if (inner == 1) {
      const int64_t at = begin * block * itemsize;
      return kernel.rows[element](data + at, end - begin, n, out + at);
    }
    for (int64_t task = begin; task < end; ++task) {
      const int64_t column = task % tiles * tile;
      const int64_t at = (task / tiles * block + column) * itemsize;
      kernel.columns[element](data + at, n, inner, std::min(tile, inner - column), out + at);
    }
  });
  return result.release();
}

// x, axis, keepdims: the axis, or all axes, to one number for each row.
PyObject* call_logsumexp(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Storage storage;
  bool reduced[kMaxDimensions];
  if (count != 3 || !is_plain_array(arguments[0]) || !PyBool_Check(arguments[2])) {
    return not_implemented();
  }
  PyArrayObject* x = reinterpret_cast<PyArrayObject*>(arguments[0]);
  const int ndim = PyArray_NDIM(x);
  if (!find_storage(PyArray_TYPE(x), storage) || storage.half != nullptr || PyArray_SIZE(x) == 0 ||
      !read_axes(arguments[1], ndim, reduced) || !std::is_sorted(reduced, reduced + ndim)) {
    return not_implemented();
  }
  const int kept = static_cast<int>(std::find(reduced, reduced + ndim, true) - reduced);
  npy_intp shape[kMaxDimensions];
  std::copy_n(PyArray_DIMS(x), kept, shape);
  std::fill(shape + kept, shape + ndim, 1);
  Reference source(contiguous(x));
  Reference result(new_array(storage.typenum, arguments[2] == Py_True ? ndim : kept, shape));
  if (!source || !result) return nullptr;
  const int64_t rows = PyArray_SIZE(result.array()), n = PyArray_SIZE(x) / rows;
  const auto run = kernels().logsumexp.rows[static_cast<int>(storage.element)];
  const char* const data = PyArray_BYTES(source.array());
  char* const out = PyArray_BYTES(result.array());
  const Cut pieces = cut_reduced_rows(rows, n);
  Unlocked unlocked(pieces.nanoseconds);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    run(data + begin * n * storage.itemsize, end - begin, n, out + begin * storage.itemsize);
  });
  return result.release();
}

}  // namespace

bool add_row_kernels(PyObject* kernels_by_name) {
  for (const RowKernel& kernel : kernels().softmaxes) {
    if (!add_kernel(kernels_by_name, kernel.name, call_rows, &kernel)) return false;
  }
  for (const Cumulative& kernel : kernels().cumulatives) {
    if (!add_kernel(kernels_by_name, kernel.name, call_cumulative, &kernel)) return false;
  }
  return add_kernel(kernels_by_name, "logsumexp", call_logsumexp, nullptr);
}

}  // namespace extensor
