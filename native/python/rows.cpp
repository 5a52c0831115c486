#include "rows.h"

#include <algorithm>

#include "arguments.h"
#include "copying.h"
#include "kernel.h"
#include "operands.h"

namespace extensor {
namespace {

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
  if (!operands.read(arrays, kernel.inputs, false) || !operands.same_layout ||
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
  const Cut pieces = cut(rows, Cost::medium, n);
  Unlocked unlocked(pieces.nanoseconds);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    const void* inputs[2];
    for (int i = 0; i < kernel.inputs; ++i) inputs[i] = operands.views[i].data + begin * row_bytes;
    run(inputs, out + begin * row_bytes, end - begin, n);
  });
  return result.release();
}

}  // namespace

bool add_row_kernels(PyObject* kernels_by_name) {
  for (const RowKernel& kernel : kernels().softmaxes) {
    if (!add_kernel(kernels_by_name, kernel.name, call_rows, &kernel)) return false;
  }
  return true;
}

}  // namespace extensor
