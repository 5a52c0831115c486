#include <algorithm>
#include <cmath>

#include "arguments.h"
#include "families.h"
#include "kernel.h"
#include "legacy_copying.h"
#include "legacy_elementwise.h"
#include "legacy_operands.h"
#include "legacy_reduction.h"

namespace extensor {
namespace {

constexpr int64_t kPiece = 16384;  // pairs whose losses one task adds

// What the sum of the losses is divided by, or one of these.
constexpr int64_t kNoSum = 0, kNotForKernels = -1;

int64_t read_divisor(PyObject* reduction, const LossKernel& loss, PyArrayObject* prediction) {
  if (is_text(reduction, "mean")) return PyArray_SIZE(prediction);
  if (is_text(reduction, "sum")) return 1;
  if (is_text(reduction, "none")) return kNoSum;
  const bool by_batch = loss.by_batch && PyArray_NDIM(prediction) > 0;
  return by_batch && is_text(reduction, "batchmean") ? PyArray_DIM(prediction, 0) : kNotForKernels;
}

bool read_parameters(const LossKernel& loss, PyObject* const* arguments, double* parameters) {
  return read_numbers(arguments, loss.parameters, parameters) &&
         (loss.accepts == nullptr || loss.accepts(parameters));
}

bool all_none(PyObject* const* arguments, int count) {
  return std::all_of(arguments, arguments + count, [](PyObject* x) { return x == Py_None; });
}

bool are_pair(PyObject* first, PyObject* second, Storage& storage) {
  if (!is_plain_array(first) || !is_plain_array(second)) return false;
  PyArrayObject* a = reinterpret_cast<PyArrayObject*>(first);
  PyArrayObject* b = reinterpret_cast<PyArrayObject*>(second);
  return find_storage(PyArray_TYPE(a), storage) && storage.half == nullptr &&
         PyArray_TYPE(b) == storage.typenum && PyArray_SIZE(a) > 0 &&
         PyArray_NDIM(a) == PyArray_NDIM(b) &&
         PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a));
}

// The loss of each pair.
PyObject* each_loss(const LossKernel& loss, PyObject* const* pair, const double* parameters) {
  Operands operands;
  if (loss.checked || !operands.read(pair, 2)) return not_implemented();
  return result_of_pass(loss.each, loss.cost, operands, parameters);
}

// The sums of the losses of all pieces.
PyObject* sums_of_pieces(const LossKernel& loss, const Storage& storage, PyArrayObject* prediction,
                         PyArrayObject* target, const double* parameters) {
  Reference a(contiguous(prediction));
  Reference b(a ? contiguous(target) : nullptr);
  if (!b) return nullptr;
  const int64_t size = PyArray_SIZE(a.array());
  if (PyArray_SIZE(b.array()) != size) return not_implemented();
  const npy_intp pieces = (size - 1) / kPiece + 1;
  Reference sums(new_array(storage.typenum, 1, &pieces));
  if (!sums) return nullptr;
  const Pass sum = loss.sum[static_cast<int>(storage.element)];
  const Cut tasks = cut(pieces, loss.cost, std::min(kPiece, size));
  Unlocked unlocked(tasks.nanoseconds);
  parallel_chunks(tasks, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t from = piece * kPiece, skipped = from * storage.itemsize;
      const void* inputs[] = {a.data() + skipped, b.data() + skipped};
      void* outputs[] = {sums.data() + piece * storage.itemsize};
      sum(inputs, outputs, std::min(kPiece, size - from), parameters);
    }
  });
  return sums.release();
}

// A number in an array of the dtype `storage`.
double number_at(const void* data, const Storage& storage) {
  return storage.element == Element::float64 ? *static_cast<const double*>(data)
                                             : *static_cast<const float*>(data);
}

// prediction, target, weights (all None), reduction, parameters
PyObject* call_loss(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const LossKernel& loss = *static_cast<const LossKernel*>(definition);
  Storage storage;
  double parameters[kMaxParameters];
  if (count != 3 + loss.weights + loss.parameters ||
      !are_pair(arguments[0], arguments[1], storage) || !all_none(arguments + 2, loss.weights) ||
      !read_parameters(loss, arguments + 3 + loss.weights, parameters)) {
    return not_implemented();
  }
  PyArrayObject* prediction = reinterpret_cast<PyArrayObject*>(arguments[0]);
  PyArrayObject* target = reinterpret_cast<PyArrayObject*>(arguments[1]);
  const int64_t divisor = read_divisor(arguments[2 + loss.weights], loss, prediction);
  if (divisor == kNotForKernels) return not_implemented();
  if (divisor == kNoSum) return each_loss(loss, arguments, parameters);
  Reference sums(sums_of_pieces(loss, storage, prediction, target, parameters));
  if (!sums || sums.get() == Py_NotImplemented) return sums.release();
  Reference result(sum_and_divide(sums.array(), divisor));
  if (!result || !loss.checked || !std::isnan(number_at(result.data(), storage))) {
    return result.release();
  }
  return not_implemented();
}

// The gradient of one loss, rounded to the dtype as the division of arrays would.
PyObject* gradient_of_each(PyArrayObject* grad_output, const Storage& storage, int64_t divisor) {
  const double gradient = number_at(PyArray_DATA(grad_output), storage);
  return PyFloat_FromDouble(storage.element == Element::float64
                                ? gradient / static_cast<double>(divisor)
                                : static_cast<float>(gradient) / static_cast<float>(divisor));
}

// grad_output, prediction, target, reduction, weights (all None), parameters, needs
PyObject* call_loss_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const LossKernel& loss = *static_cast<const LossKernel*>(definition);
  Storage storage;
  double parameters[kMaxParameters];
  if (count != 5 + loss.weights + loss.parameters || !is_plain_array(arguments[0]) ||
      !are_pair(arguments[1], arguments[2], storage) || !all_none(arguments + 4, loss.weights) ||
      !read_parameters(loss, arguments + 4 + loss.weights, parameters)) {
    return not_implemented();
  }
  PyArrayObject* gradient = reinterpret_cast<PyArrayObject*>(arguments[0]);
  PyArrayObject* prediction = reinterpret_cast<PyArrayObject*>(arguments[1]);
  const int64_t divisor = read_divisor(arguments[3], loss, prediction);
  if (PyArray_TYPE(gradient) != storage.typenum || divisor == kNotForKernels ||
      PyArray_NDIM(gradient) != (divisor == kNoSum ? PyArray_NDIM(prediction) : 0)) {
    return not_implemented();
  }
  Reference each(divisor == kNoSum ? Py_NewRef(arguments[0])
                                   : gradient_of_each(gradient, storage, divisor));
  if (!each) return nullptr;
  PyObject* inputs[] = {each.get(), arguments[1], arguments[2]};
  Operands operands;
  if (!operands.read(inputs, 3)) return not_implemented();
  return run_binary_rule(loss.rule, operands, parameters, arguments[count - 1]);
}

}  // namespace

bool add_loss_kernels(PyObject* kernels_by_name) {
  for (const LossKernel& loss : kernels().losses) {
    if (!add_kernel(kernels_by_name, loss.name, call_loss, &loss) ||
        !add_kernel(kernels_by_name, loss.rule.name, call_loss_rule, &loss)) {
      return false;
    }
  }
  return true;
}

}  // namespace extensor
