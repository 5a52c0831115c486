// Elementwise kernels whose operands do not broadcast as they are given: a number for each channel,
// the two halves of an axis, a number for each reduced row.
#include <algorithm>

#include "arguments.h"
#include "families.h"
#include "kernel.h"
#include "legacy_copying.h"
#include "legacy_elementwise.h"
#include "legacy_operands.h"

namespace extensor {
namespace {

// Lays alpha, the last of the operands, along axis 1 of x, the one before it; a single number needs
// no axis. False if it does not fit.
bool lay_beside_channels(Operands& operands) {
  ArrayView& alpha = operands.views[operands.count - 1];
  const ArrayView& x = operands.views[operands.count - 2];
  const int64_t channels = alpha.size, stride = alpha.ndim == 0 ? 0 : alpha.strides[0];
  if (alpha.ndim > 1 || (channels != 1 && (x.ndim < 2 || x.shape[1] != channels))) return false;
  alpha.ndim = channels == 1 ? 0 : x.ndim - 1;
  std::fill_n(alpha.shape, alpha.ndim, 1);
  std::fill_n(alpha.strides, alpha.ndim, 0);
  if (channels != 1) {
    alpha.shape[0] = channels;
    alpha.strides[0] = stride;
  }
  operands.shape.ndim = x.ndim;
  std::copy_n(x.shape, x.ndim, operands.shape.lengths);
  return true;
}

// Reads arrays of one dtype whose shapes need not fit yet.
bool read_apart(Operands& operands, PyObject* const* arguments, int count) {
  for (int i = 0; i < count; ++i) {
    Operands single;
    if (!single.read(arguments + i, 1) ||
        (i > 0 && single.storage.typenum != operands.storage.typenum)) {
      return false;
    }
    operands.storage = single.storage;
    operands.views[i] = single.views[0];
  }
  operands.count = count;
  operands.same_layout = false;
  return true;
}

// x, alpha
PyObject* call_prelu(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const Elementwise& kernel = *static_cast<const Elementwise*>(definition);
  Operands operands;
  if (count != 2 || !read_apart(operands, arguments, 2) || !lay_beside_channels(operands)) {
    return not_implemented();
  }
  return result_of_pass(kernel.pass, kernel.cost, operands, nullptr);
}

// grad_output, x, alpha, needs. Sums of 16-bit floats are left to the formula, which rounds once.
PyObject* call_prelu_backward(const void* definition, PyObject* const* arguments,
                              Py_ssize_t count) {
  Operands operands;
  if (count != 4 || !read_apart(operands, arguments, 3) || operands.storage.half != nullptr ||
      !lay_beside_channels(operands)) {
    return not_implemented();
  }
  Reference gradients(run_binary_rule(*static_cast<const BinaryRule*>(definition), operands,
                                      nullptr, arguments[3]));
  if (!gradients || gradients.get() == Py_NotImplemented) return gradients.release();
  PyObject* to_alpha = PyTuple_GET_ITEM(gradients.get(), 1);
  if (to_alpha == Py_None) return gradients.release();
  PyArrayObject* alpha = reinterpret_cast<PyArrayObject*>(arguments[2]);
  PyArray_Dims shape = {PyArray_DIMS(alpha), PyArray_NDIM(alpha)};
  Reference shaped(
      PyArray_Newshape(reinterpret_cast<PyArrayObject*>(to_alpha), &shape, NPY_CORDER));
  if (!shaped) return nullptr;
  return PyTuple_Pack(2, PyTuple_GET_ITEM(gradients.get(), 0), shaped.get());
}

// grad_output, x, output, axis, keepdims: the first and the last along the axes that were reduced.
PyObject* call_logsumexp_backward(const void* definition, PyObject* const* arguments,
                                  Py_ssize_t count) {
  const Elementwise& kernel = *static_cast<const Elementwise*>(definition);
  Operands operands;
  bool reduced[kMaxDimensions];
  if (count != 5 || !read_apart(operands, arguments, 3) || !PyBool_Check(arguments[4]) ||
      !read_axes(arguments[3], operands.views[1].ndim, reduced)) {
    return not_implemented();
  }
  const ArrayView& x = operands.views[1];
  const bool keepdims = arguments[4] == Py_True;
  operands.shape.ndim = x.ndim;
  std::copy_n(x.shape, x.ndim, operands.shape.lengths);
  for (int i : {0, 2}) {
    const ArrayView given = operands.views[i];
    ArrayView& spread = operands.views[i];
    spread.ndim = x.ndim;
    int from = 0;
    for (int axis = 0; axis < x.ndim; ++axis) {
      const bool kept = keepdims || !reduced[axis];
      if (kept &&
          (from == given.ndim || given.shape[from] != (reduced[axis] ? 1 : x.shape[axis]))) {
        return not_implemented();
      }
      spread.shape[axis] = kept ? given.shape[from] : 1;
      spread.strides[axis] = kept ? given.strides[from] : 0;
      from += kept;
    }
    if (from != given.ndim) return not_implemented();
  }
  return result_of_pass(kernel.pass, kernel.cost, operands, nullptr);
}

constexpr int64_t kElementsPerTask = 4096;

// The halves of an axis of a contiguous array: rows of two times `n` elements.
struct Halves {
  Storage storage;
  Reference array;
  int axis;
  int64_t rows, n;

  bool read(PyObject* x, PyObject* given_axis);
  // Calls run(row, from, count) for the elements of all rows.
  template <typename Run>
  void for_each(Cost cost, Run run) const;
};

bool Halves::read(PyObject* x, PyObject* given_axis) {
  if (!is_plain_array(x)) return false;
  PyArrayObject* given = reinterpret_cast<PyArrayObject*>(x);
  const int ndim = PyArray_NDIM(given);
  if (!find_storage(PyArray_TYPE(given), storage) || storage.half != nullptr ||
      !read_axis(given_axis, ndim, axis) || PyArray_DIM(given, axis) % 2 != 0) {
    return false;
  }
  array.reset(contiguous(given));
  if (!array) return false;
  const npy_intp* shape = PyArray_DIMS(array.array());
  rows = PyArray_MultiplyList(shape, axis);
  n = PyArray_MultiplyList(shape + axis, ndim - axis) / 2;
  return true;
}

template <typename Run>
void Halves::for_each(Cost cost, Run run) const {
  if (rows * n == 0) return;
  const int64_t length = std::min(n, kElementsPerTask), pieces = (n - 1) / length + 1;
  const Cut tasks = cut(rows * pieces, cost, length);
  Unlocked unlocked(tasks.nanoseconds);
  parallel_chunks(tasks, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t from = task % pieces * length;
      run(task / pieces, from, std::min(length, n - from));
    }
  });
}

// x, axis
PyObject* call_glu(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const Elementwise& kernel = *static_cast<const Elementwise*>(definition);
  Halves x;
  if (count != 2 || !x.read(arguments[0], arguments[1])) return not_implemented();
  const int ndim = PyArray_NDIM(x.array.array());
  npy_intp shape[kMaxDimensions];
  std::copy_n(PyArray_DIMS(x.array.array()), ndim, shape);
  shape[x.axis] /= 2;
  Reference result(new_array(x.storage.typenum, ndim, shape));
  if (!result) return nullptr;
  const Pass pass = kernel.pass[static_cast<int>(x.storage.element)];
  const int64_t itemsize = x.storage.itemsize, half = x.n * itemsize;
  x.for_each(kernel.cost, [&](int64_t row, int64_t from, int64_t elements) {
    const char* first = x.array.data() + row * 2 * half + from * itemsize;
    const void* inputs[] = {first, first + half};
    void* outputs[] = {result.data() + row * half + from * itemsize};
    pass(inputs, outputs, elements, nullptr);
  });
  return result.release();
}

// grad_output, x, axis
PyObject* call_glu_backward(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const BinaryRule& rule = *static_cast<const BinaryRule*>(definition);
  Halves x;
  if (count != 3 || !is_plain_array(arguments[0]) || !x.read(arguments[1], arguments[2])) {
    return not_implemented();
  }
  PyArrayObject* given = reinterpret_cast<PyArrayObject*>(arguments[0]);
  const int ndim = PyArray_NDIM(x.array.array());
  const npy_intp* shape = PyArray_DIMS(x.array.array());
  if (PyArray_TYPE(given) != x.storage.typenum || PyArray_NDIM(given) != ndim) {
    return not_implemented();
  }
  for (int axis = 0; axis < ndim; ++axis) {
    if (PyArray_DIM(given, axis) != shape[axis] / (axis == x.axis ? 2 : 1)) {
      return not_implemented();
    }
  }
  Reference gradient(contiguous(given));
  Reference result(gradient ? new_array(x.storage.typenum, ndim, shape) : nullptr);
  if (!result) return nullptr;
  const Pass pass = rule.pass(x.storage.element, true, true);
  const int64_t itemsize = x.storage.itemsize, half = x.n * itemsize;
  x.for_each(rule.cost, [&](int64_t row, int64_t from, int64_t elements) {
    const int64_t at = row * 2 * half + from * itemsize;
    const char* first = x.array.data() + at;
    const void* inputs[] = {gradient.data() + row * half + from * itemsize, first, first + half};
    void* outputs[] = {result.data() + at, result.data() + at + half};
    pass(inputs, outputs, elements, nullptr);
  });
  return result.release();
}

}  // namespace

bool add_arranged_kernels(PyObject* kernels_by_name) {
  const ArrangedKernels& arranged = kernels().arranged;
  const auto add = [&](const auto& kernel, KernelCall call) {
    return add_kernel(kernels_by_name, kernel.name, call, &kernel);
  };
  return add(arranged.prelu, call_prelu) && add(arranged.prelu_rule, call_prelu_backward) &&
         add(arranged.glu, call_glu) && add(arranged.glu_rule, call_glu_backward) &&
         add(arranged.logsumexp_rule, call_logsumexp_backward);
}

}  // namespace extensor
