#include "cross_entropy.h"

#include <string_view>

#include "../kernels/tables.h"
#include "copying.h"
#include "kernel.h"
#include "operands.h"
#include "reduction.h"

namespace extensor {
namespace {

// The arguments that forward and rule share. Only the plain case: a matrix of logits, a class for
// each row, a mean or a sum.
struct Samples {
  Storage storage;
  Reference logits, classes_of;  // contiguous
  const int64_t* targets;
  int64_t rows, classes, ignored, kept;
  bool mean;

  bool read(PyObject* logits, PyObject* target, PyObject* weight, PyObject* reduction,
            PyObject* label_smoothing, PyObject* ignore_index);
  int64_t divisor() const { return mean ? kept : 1; }
};

bool is_text(PyObject* object, std::string_view text) {
  return PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, text.data()) == 0;
}

bool Samples::read(PyObject* given_logits, PyObject* target, PyObject* weight, PyObject* reduction,
                   PyObject* label_smoothing, PyObject* ignore_index) {
  double smoothing, ignore;
  if (!is_plain_array(given_logits) || !is_plain_array(target) || weight != Py_None ||
      !read_number(label_smoothing, smoothing) || smoothing != 0 ||
      !read_number(ignore_index, ignore)) {
    return false;
  }
  PyArrayObject* matrix = reinterpret_cast<PyArrayObject*>(given_logits);
  PyArrayObject* vector = reinterpret_cast<PyArrayObject*>(target);
  mean = is_text(reduction, "mean");
  if ((!mean && !is_text(reduction, "sum")) || !find_storage(PyArray_TYPE(matrix), storage) ||
      storage.half != nullptr || PyArray_NDIM(matrix) != 2 || PyArray_SIZE(matrix) == 0 ||
      PyArray_TYPE(vector) != NPY_INT64 || PyArray_NDIM(vector) != 1 ||
      PyArray_DIM(vector, 0) != PyArray_DIM(matrix, 0)) {
    return false;
  }
  logits.reset(contiguous(matrix));
  classes_of.reset(contiguous(vector));
  if (!logits || !classes_of) {
    PyErr_Clear();
    return false;
  }
  rows = PyArray_DIM(matrix, 0);
  classes = PyArray_DIM(matrix, 1);
  targets = static_cast<const int64_t*>(PyArray_DATA(classes_of.array()));
  ignored = static_cast<int64_t>(ignore);
  kept = 0;
  for (int64_t row = 0; row < rows; ++row) {
    if (targets[row] == ignored) continue;
    if (targets[row] < 0 || targets[row] >= classes) return false;
    ++kept;
  }
  return kept > 0;
}

// logits, target, weight, reduction, label_smoothing, ignore_index
PyObject* call_cross_entropy(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Samples samples;
  if (count != 6 || !samples.read(arguments[0], arguments[1], arguments[2], arguments[3],
                                  arguments[4], arguments[5])) {
    return not_implemented();
  }
  const npy_intp shape[] = {samples.rows};
  Reference losses(new_array(samples.storage.typenum, 1, shape));
  if (!losses) return nullptr;
  const auto run = kernels().cross_entropy.losses[static_cast<int>(samples.storage.element)];
  const char* logits = static_cast<const char*>(PyArray_DATA(samples.logits.array()));
  char* out = static_cast<char*>(PyArray_DATA(losses.array()));
  const int64_t itemsize = samples.storage.itemsize;
  {
    const Cut pieces = cut_reduced_rows(samples.rows, samples.classes);
    Unlocked unlocked(pieces.nanoseconds);
    parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
      run(logits + begin * samples.classes * itemsize, samples.targets + begin, end - begin,
          samples.classes, samples.ignored, out + begin * itemsize);
    });
  }
  return sum_and_divide(losses.array(), samples.divisor());
}

// grad_output, logits, target, reduction, weight, label_smoothing, ignore_index, needs
PyObject* call_cross_entropy_backward(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Samples samples;
  if (count != 8 || !is_plain_array(arguments[0]) ||
      !samples.read(arguments[1], arguments[2], arguments[4], arguments[3], arguments[5],
                    arguments[6])) {
    return not_implemented();
  }
  PyArrayObject* gradient = reinterpret_cast<PyArrayObject*>(arguments[0]);
  if (PyArray_NDIM(gradient) != 0 || PyArray_TYPE(gradient) != samples.storage.typenum) {
    return not_implemented();
  }
  const bool wide = samples.storage.element == Element::float64;
  const double incoming = wide ? *static_cast<const double*>(PyArray_DATA(gradient))
                               : *static_cast<const float*>(PyArray_DATA(gradient));
  const double scale = wide ? incoming / static_cast<double>(samples.divisor())
                            : static_cast<float>(incoming) / static_cast<float>(samples.divisor());
  Reference result(new_array(samples.storage.typenum, 2, PyArray_DIMS(samples.logits.array())));
  if (!result) return nullptr;
  const auto run = kernels().cross_entropy.gradients[static_cast<int>(samples.storage.element)];
  const char* logits = static_cast<const char*>(PyArray_DATA(samples.logits.array()));
  char* out = static_cast<char*>(PyArray_DATA(result.array()));
  const int64_t row_bytes = samples.classes * samples.storage.itemsize;
  {
    const Cut pieces = cut_reduced_rows(samples.rows, samples.classes);
    Unlocked unlocked(pieces.nanoseconds);
    parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
      run(logits + begin * row_bytes, samples.targets + begin, end - begin, samples.classes,
          samples.ignored, scale, out + begin * row_bytes);
    });
  }
  return PyTuple_Pack(2, result.get(), Py_None);
}

}  // namespace

bool add_cross_entropy_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "cross_entropy", call_cross_entropy, nullptr) &&
         add_kernel(kernels_by_name, "cross_entropy_backward", call_cross_entropy_backward,
                    nullptr);
}

}  // namespace extensor
