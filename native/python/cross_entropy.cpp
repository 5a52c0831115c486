#include "../kernels/tables.h"
#include "arguments.h"
#include "families.h"
#include "kernel.h"
#include "legacy_copying.h"
#include "legacy_operands.h"
#include "legacy_reduction.h"

namespace extensor {
namespace {

// A class for each row of a matrix, and how the losses of the rows are reduced. Only the plain
// case: no weights, a mean or a sum.
struct Classes {
  Reference array;  // contiguous
  const int64_t* targets;
  int64_t rows, classes, ignored, kept;
  bool mean;

  bool read(const npy_intp* shape, PyObject* target, PyObject* weight, PyObject* reduction,
            PyObject* ignore_index);
  int64_t divisor() const { return mean ? kept : 1; }
};

bool Classes::read(const npy_intp* shape, PyObject* target, PyObject* weight, PyObject* reduction,
                   PyObject* ignore_index) {
  double ignore;
  if (!is_plain_array(target) || weight != Py_None || !read_number(ignore_index, ignore)) {
    return false;
  }
  PyArrayObject* vector = reinterpret_cast<PyArrayObject*>(target);
  mean = is_text(reduction, "mean");
  if ((!mean && !is_text(reduction, "sum")) || PyArray_TYPE(vector) != NPY_INT64 ||
      PyArray_NDIM(vector) != 1 || PyArray_DIM(vector, 0) != shape[0]) {
    return false;
  }
  array.reset(contiguous(vector));
  if (!array) return false;
  rows = shape[0];
  classes = shape[1];
  targets = reinterpret_cast<const int64_t*>(array.data());
  ignored = static_cast<int64_t>(ignore);
  kept = 0;
  for (int64_t row = 0; row < rows; ++row) {
    if (targets[row] == ignored) continue;
    if (targets[row] < 0 || targets[row] >= classes) return false;
    ++kept;
  }
  return kept > 0;
}

// A matrix of logits or of log-probabilities, contiguous.
struct Matrix {
  Storage storage;
  Reference array;

  bool read(PyObject* object);
  const npy_intp* shape() const { return PyArray_DIMS(array.array()); }
};

bool Matrix::read(PyObject* object) {
  if (!is_plain_array(object)) return false;
  PyArrayObject* matrix = reinterpret_cast<PyArrayObject*>(object);
  if (!find_storage(PyArray_TYPE(matrix), storage) || storage.half != nullptr ||
      PyArray_NDIM(matrix) != 2 || PyArray_SIZE(matrix) == 0) {
    return false;
  }
  array.reset(contiguous(matrix));
  return static_cast<bool>(array);
}

bool is_zero(PyObject* label_smoothing) {
  double smoothing;
  return read_number(label_smoothing, smoothing) && smoothing == 0;
}

using LossesOfRows = decltype(CrossEntropy::losses);

// The losses of all rows, summed or averaged.
PyObject* reduced_losses(const LossesOfRows& kernel, const Matrix& matrix, const Classes& classes,
                         const Cut& pieces) {
  const Storage& storage = matrix.storage;
  const npy_intp shape[] = {classes.rows};
  Reference losses(new_array(storage.typenum, 1, shape));
  if (!losses) return nullptr;
  const auto run = kernel[static_cast<int>(storage.element)];
  {
    Unlocked unlocked(pieces.nanoseconds);
    parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
      run(matrix.array.data() + begin * classes.classes * storage.itemsize, classes.targets + begin,
          end - begin, classes.classes, classes.ignored, losses.data() + begin * storage.itemsize);
    });
  }
  return sum_and_divide(losses.array(), classes.divisor());
}

// A single number, of a floating type that kernels compute in.
bool read_gradient(PyObject* object, Storage& storage, double& gradient) {
  if (!is_plain_array(object)) return false;
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
  if (PyArray_NDIM(array) != 0 || !find_storage(PyArray_TYPE(array), storage) ||
      storage.half != nullptr) {
    return false;
  }
  const void* data = PyArray_DATA(array);
  gradient = storage.element == Element::float64 ? *static_cast<const double*>(data)
                                                 : *static_cast<const float*>(data);
  return true;
}

// logits, target, weight, reduction, label_smoothing, ignore_index
PyObject* call_cross_entropy(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Matrix logits;
  Classes classes;
  if (count != 6 || !logits.read(arguments[0]) || !is_zero(arguments[4]) ||
      !classes.read(logits.shape(), arguments[1], arguments[2], arguments[3], arguments[5])) {
    return not_implemented();
  }
  return reduced_losses(kernels().cross_entropy.losses, logits, classes,
                        cut_reduced_rows(classes.rows, classes.classes));
}

// grad_output, logits, target, reduction, weight, label_smoothing, ignore_index, needs
PyObject* call_cross_entropy_backward(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Storage storage;
  double gradient;
  Matrix logits;
  Classes classes;
  if (count != 8 || !read_gradient(arguments[0], storage, gradient) || !logits.read(arguments[1]) ||
      logits.storage.typenum != storage.typenum || !is_zero(arguments[5]) ||
      !classes.read(logits.shape(), arguments[2], arguments[4], arguments[3], arguments[6])) {
    return not_implemented();
  }
  const bool wide = storage.element == Element::float64;
  const double scale = wide ? gradient / static_cast<double>(classes.divisor())
                            : static_cast<float>(gradient) / static_cast<float>(classes.divisor());
  Reference result(new_array(storage.typenum, 2, logits.shape()));
  if (!result) return nullptr;
  const auto run = kernels().cross_entropy.gradients[static_cast<int>(storage.element)];
  const int64_t row_bytes = classes.classes * storage.itemsize;
  {
    const Cut pieces = cut_reduced_rows(classes.rows, classes.classes);
    Unlocked unlocked(pieces.nanoseconds);
    parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
      run(logits.array.data() + begin * row_bytes, classes.targets + begin, end - begin,
          classes.classes, classes.ignored, scale, result.data() + begin * row_bytes);
    });
  }
  return PyTuple_Pack(2, result.get(), Py_None);
}

// x, target, weight, reduction, ignore_index
PyObject* call_nll_loss(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Matrix x;
  Classes classes;
  if (count != 5 || !x.read(arguments[0]) ||
      !classes.read(x.shape(), arguments[1], arguments[2], arguments[3], arguments[4])) {
    return not_implemented();
  }
  // One element of a row, but one that is not in the cache.
  return reduced_losses(kernels().cross_entropy.chosen, x, classes, cut(classes.rows, Cost::heavy));
}

// grad_output, x_shape, target, reduction, weight, ignore_index
PyObject* call_nll_loss_backward(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Storage storage;
  double gradient;
  npy_intp shape[kMaxDimensions];
  int ndim;
  Classes classes;
  if (count != 6 || !read_gradient(arguments[0], storage, gradient) ||
      !read_sizes(arguments[1], shape, ndim) || ndim != 2 ||
      !classes.read(shape, arguments[2], arguments[4], arguments[3], arguments[5])) {
    return not_implemented();
  }
  // As the formula: the share of a sample first, then times the gradient.
  const bool wide = storage.element == Element::float64;
  const double scale =
      wide ? 1 / static_cast<double>(classes.divisor()) * gradient
           : 1 / static_cast<float>(classes.divisor()) * static_cast<float>(gradient);
  Reference result(new_array(storage.typenum, 2, shape));
  if (!result) return nullptr;
  const auto run = kernels().cross_entropy.placed[static_cast<int>(storage.element)];
  const int64_t row_bytes = classes.classes * storage.itemsize;
  const Cut pieces = cut(classes.rows, Cost::light, classes.classes);
  Unlocked unlocked(pieces.nanoseconds);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    run(classes.targets + begin, end - begin, classes.classes, classes.ignored, scale,
        result.data() + begin * row_bytes);
  });
  return result.release();
}

}  // namespace

bool add_cross_entropy_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "cross_entropy", call_cross_entropy, nullptr) &&
         add_kernel(kernels_by_name, "cross_entropy_backward", call_cross_entropy_backward,
                    nullptr) &&
         add_kernel(kernels_by_name, "nll_loss", call_nll_loss, nullptr) &&
         add_kernel(kernels_by_name, "nll_loss_backward", call_nll_loss_backward, nullptr);
}

}  // namespace extensor
