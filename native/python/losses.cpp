#include "losses.h"

#include <algorithm>

#include "copying.h"
#include "kernel.h"
#include "operands.h"
#include "reduction.h"

namespace extensor {
namespace {

constexpr int64_t kPiece = 16384;  // pairs whose losses one task adds

// What the sum is divided by; 0 for a reduction that is not for kernels.
int64_t read_divisor(PyObject* reduction, int64_t size) {
  if (!PyUnicode_CheckExact(reduction)) return 0;
  if (PyUnicode_CompareWithASCIIString(reduction, "mean") == 0) return size;
  return PyUnicode_CompareWithASCIIString(reduction, "sum") == 0 ? 1 : 0;
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

// prediction, target, weights (all None), reduction
PyObject* call_loss(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const LossKernel& loss = *static_cast<const LossKernel*>(definition);
  Storage storage;
  if (count != 3 + loss.weights || !are_pair(arguments[0], arguments[1], storage) ||
      !all_none(arguments + 2, loss.weights)) {
    return not_implemented();
  }
  Reference a(contiguous(reinterpret_cast<PyArrayObject*>(arguments[0])));
  Reference b(a ? contiguous(reinterpret_cast<PyArrayObject*>(arguments[1])) : nullptr);
  if (!b) return nullptr;
  const int64_t size = PyArray_SIZE(a.array());
  const int64_t divisor = read_divisor(arguments[2 + loss.weights], size);
  if (divisor == 0 || PyArray_SIZE(b.array()) != size) return not_implemented();
  const npy_intp pieces = (size - 1) / kPiece + 1;
  Reference sums(new_array(storage.typenum, 1, &pieces));
  if (!sums) return nullptr;
  const auto sum = loss.sum[static_cast<int>(storage.element)];
  const char* first = static_cast<const char*>(PyArray_DATA(a.array()));
  const char* second = static_cast<const char*>(PyArray_DATA(b.array()));
  char* out = static_cast<char*>(PyArray_DATA(sums.array()));
  {
    const Cut tasks = cut(pieces, loss.cost, std::min(kPiece, size));
    Unlocked unlocked(tasks.nanoseconds);
    parallel_chunks(tasks, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        const int64_t from = piece * kPiece;
        sum(first + from * storage.itemsize, second + from * storage.itemsize,
            std::min(kPiece, size - from), out + piece * storage.itemsize);
      }
    });
  }
  return sum_and_divide(sums.array(), divisor);
}

// The gradient of one loss, rounded to the dtype as the division of arrays would.
PyObject* gradient_of_each(PyArrayObject* grad_output, const Storage& storage, int64_t divisor) {
  const void* data = PyArray_DATA(grad_output);
  if (storage.element == Element::float64) {
    return PyFloat_FromDouble(*static_cast<const double*>(data) / static_cast<double>(divisor));
  }
  return PyFloat_FromDouble(*static_cast<const float*>(data) / static_cast<float>(divisor));
}

// grad_output, prediction, target, reduction, weights (all None), needs
PyObject* call_loss_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const LossKernel& loss = *static_cast<const LossKernel*>(definition);
  Storage storage;
  if (count != 5 + loss.weights || !is_plain_array(arguments[0]) ||
      !are_pair(arguments[1], arguments[2], storage) || !all_none(arguments + 4, loss.weights)) {
    return not_implemented();
  }
  PyArrayObject* gradient = reinterpret_cast<PyArrayObject*>(arguments[0]);
  PyArrayObject* prediction = reinterpret_cast<PyArrayObject*>(arguments[1]);
  const int64_t divisor = read_divisor(arguments[3], PyArray_SIZE(prediction));
  PyObject* needs = arguments[4 + loss.weights];
  if (PyArray_NDIM(gradient) != 0 || PyArray_TYPE(gradient) != storage.typenum || divisor == 0 ||
      !PyTuple_CheckExact(needs) || PyTuple_GET_SIZE(needs) != 2) {
    return not_implemented();
  }
  const bool needs_first = PyTuple_GET_ITEM(needs, 0) == Py_True;
  const bool needs_second = PyTuple_GET_ITEM(needs, 1) == Py_True;
  Reference each(gradient_of_each(gradient, storage, divisor));
  if (!each) return nullptr;
  PyObject* inputs[] = {each.get(), arguments[1], arguments[2]};
  Operands operands;
  if (!(needs_first || needs_second) || !operands.read(inputs, 3, false)) return not_implemented();
  npy_intp shape[kMaxDimensions];
  std::copy_n(operands.shape.lengths, operands.shape.ndim, shape);
  Reference results[2];
  char* outputs[2] = {};
  for (int i = 0; i < 2; ++i) {
    const bool needed = i == 0 ? needs_first : needs_second;
    results[i].reset(needed ? new_array(storage.typenum, operands.shape.ndim, shape)
                            : Py_NewRef(Py_None));
    if (!results[i]) return nullptr;
    if (needed) outputs[i] = static_cast<char*>(PyArray_DATA(results[i].array()));
  }
  const int element = static_cast<int>(storage.element);
  const Pass pass = !needs_second  ? loss.rule.first[element]
                    : !needs_first ? loss.rule.second[element]
                                   : loss.rule.both[element];
  run_pass(pass, loss.rule.cost, operands, false, outputs, 2, false, nullptr);
  return PyTuple_Pack(2, results[0].get(), results[1].get());
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
