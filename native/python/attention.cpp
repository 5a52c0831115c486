// Attention by blocks of queries: the scores of a block lie in memory, those of all never do.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <numeric>

#include "../runtime/memory.h"
#include "families.h"
#include "kernel.h"
#include "legacy_copying.h"
#include "legacy_operands.h"
#include "products.h"

namespace extensor {
namespace {

constexpr int64_t kBlock = 64;  // queries whose scores are computed together

// A stack of matrices (..., length, features) whose features are adjacent.
struct Stack {
  char* data = nullptr;
  int64_t length = 0, features = 0;
  int64_t step = 0;  // from row to row, in elements
  int64_t batch_strides[kMaxDimensions] = {};

  // False if the memory does not lie like that.
  bool read(PyArrayObject* array) {
    const int axes = PyArray_NDIM(array);
    const npy_intp itemsize = PyArray_ITEMSIZE(array);
    length = PyArray_DIM(array, axes - 2);
    features = PyArray_DIM(array, axes - 1);
    if (features > 1 && PyArray_STRIDE(array, axes - 1) != itemsize) return false;
    const npy_intp stride = PyArray_STRIDE(array, axes - 2);
    if (stride % itemsize != 0) return false;
    step = stride / itemsize;
    data = PyArray_BYTES(array);
    for (int axis = 0; axis < axes - 2; ++axis) batch_strides[axis] = PyArray_STRIDE(array, axis);
    return true;
  }
};

// The array if its features are adjacent, else a contiguous copy. A new reference.
PyObject* with_adjacent_features(PyArrayObject* array) {
  Stack stack;
  if (stack.read(array)) return Py_NewRef(reinterpret_cast<PyObject*>(array));
  return contiguous(array);
}

struct Problem {
  int typenum = -1, batch_axes = 0;
  int64_t batch = 1, batch_shape[kMaxDimensions];
  Stack q, k, v;
  double scale = 1;
  bool causal = false;
  // A mask broadcast to the scores, its keys adjacent; null if there is none.
  const char* mask = nullptr;
  bool mask_is_boolean = false;
  int64_t mask_query = 0, mask_batch[kMaxDimensions] = {};  // strides in bytes
  Reference held[4];

  int64_t offset(const int64_t* strides, int64_t index) const {
    int64_t result = 0;
    for (int axis = batch_axes - 1; axis >= 0; --axis) {
      result += index % batch_shape[axis] * strides[axis];
      index /= batch_shape[axis];
    }
    return result;
  }
  template <typename T>
  T* matrix(const Stack& stack, int64_t index) const {
    return reinterpret_cast<T*>(stack.data + offset(stack.batch_strides, index));
  }
  // How many keys the queries up to `end` may see at most.
  int64_t reach(int64_t end) const { return causal ? std::min(end, k.length) : k.length; }

  AttentionRow row(int64_t index, int64_t query, int64_t keys) const {
    AttentionRow result = {reach(query + 1), keys, scale, nullptr, nullptr};
    if (mask != nullptr) {
      const char* const at = mask + offset(mask_batch, index) + query * mask_query;
      (mask_is_boolean ? result.shown : result.added) = at;
    }
    return result;
  }
  int64_t nanoseconds() const {
    return batch * q.length * k.length * (q.features + v.features) / 32;
  }
};

bool read_mask(PyObject* object, Problem& p) {
  if (object == Py_None) return true;
  if (!is_plain_array(object)) return false;
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
  p.mask_is_boolean = PyArray_TYPE(array) == NPY_BOOL;
  if (!p.mask_is_boolean && PyArray_TYPE(array) != p.typenum) return false;
  const int axes = PyArray_NDIM(array), all = p.batch_axes + 2;
  if (axes < 1 || axes > all || PyArray_DIM(array, axes - 1) != p.k.length ||
      PyArray_STRIDE(array, axes - 1) != PyArray_ITEMSIZE(array)) {
    return false;
  }
  p.held[3].reset(Py_NewRef(object));
  p.mask = PyArray_BYTES(array);
  for (int back = 1; back < axes; ++back) {  // 1: the queries, then the batch
    const int axis = axes - 1 - back, place = all - 1 - back;
    const int64_t wanted = back == 1 ? p.q.length : p.batch_shape[place];
    const npy_intp length = PyArray_DIM(array, axis);
    if (length != 1 && length != wanted) return false;
    const int64_t stride = length == 1 ? 0 : PyArray_STRIDE(array, axis);
    (back == 1 ? p.mask_query : p.mask_batch[place]) = stride;
  }
  return true;
}

// q, k, v, mask, causal, scale. False for what is not for kernels, or with a Python error set.
bool read_problem(PyObject* const* arrays, PyObject* mask, PyObject* causal, PyObject* scale,
                  Problem& p) {
  Stack* const stacks[] = {&p.q, &p.k, &p.v};
  for (int i = 0; i < 3; ++i) {
    if (!is_plain_array(arrays[i])) return false;
    PyArrayObject* array = reinterpret_cast<PyArrayObject*>(arrays[i]);
    if (i == 0) {
      p.typenum = PyArray_TYPE(array);
      p.batch_axes = PyArray_NDIM(array) - 2;
      if (p.typenum != NPY_FLOAT32 && p.typenum != NPY_FLOAT64) return false;
      if (p.batch_axes < 0) return false;
      for (int axis = 0; axis < p.batch_axes; ++axis) {
        p.batch_shape[axis] = PyArray_DIM(array, axis);
        p.batch *= p.batch_shape[axis];
      }
    }
    if (PyArray_TYPE(array) != p.typenum || PyArray_NDIM(array) != p.batch_axes + 2 ||
        !std::equal(p.batch_shape, p.batch_shape + p.batch_axes, PyArray_DIMS(array))) {
      return false;
    }
    p.held[i].reset(with_adjacent_features(array));
    if (!p.held[i] || !stacks[i]->read(p.held[i].array())) return false;
  }
  p.causal = causal == Py_True;
  p.scale = 1 / std::sqrt(std::max<double>(1, p.q.features));
  return p.q.features == p.k.features && p.k.length == p.v.length && p.batch > 0 &&
         p.q.length > 0 && p.k.length > 0 && p.q.features > 0 && p.v.features > 0 &&
         (causal == Py_True || causal == Py_False) &&
         (scale == Py_None || read_number(scale, p.scale)) && read_mask(mask, p);
}

// Memory for the time of a task, or std::bad_alloc.
class Scores {
 public:
  explicit Scores(size_t bytes) : block_(bytes) {
    if (block_.data() == nullptr) throw std::bad_alloc();
  }
  template <typename T>
  T* data() const {
    return reinterpret_cast<T*>(block_.data());
  }

 private:
  TemporaryBlock block_;
};

template <typename T>
void attend(const Problem& p, const Stack& output, double* logarithms) {
  const auto& kernel = kernels().attention;
  const int64_t blocks = (p.q.length + kBlock - 1) / kBlock, width = p.v.features;
  parallel_for(p.batch * blocks, [&](int64_t task) {
    const int64_t index = task / blocks, first = task % blocks * kBlock;
    const int64_t rows = std::min(kBlock, p.q.length - first), keys = p.reach(first + rows);
    const Scores scratch(rows * keys * sizeof(T));
    T* const scores = scratch.data<T>();
    run_alone(product<T>(rows, p.q.features, keys,
                         {p.matrix<T>(p.q, index) + first * p.q.step, p.q.step},
                         {p.matrix<T>(p.k, index), p.k.step, true}, scores, keys));
    double totals[kBlock];
    for (int64_t i = 0; i < rows; ++i) {
      double shift;
      kernel.weights[Computed<T>::element](p.row(index, first + i, keys), scores + i * keys,
                                           totals[i], shift);
      logarithms[index * p.q.length + first + i] = std::log(static_cast<T>(totals[i])) + shift;
    }
    T* const out = p.matrix<T>(output, index) + first * output.step;
    run_alone(product<T>(rows, keys, width, {scores, keys}, {p.matrix<T>(p.v, index), p.v.step},
                         out, output.step));
    for (int64_t i = 0; i < rows; ++i) {
      if (totals[i] == 0) continue;
      kernel.divide[Computed<T>::element](out + i * output.step, width, totals[i]);
    }
  });
}

// A new stack of the problem's batch whose memory is ordered as that of `model`: what merely split
// or transposed axes to get there is undone without a copy. Null with a Python error set.
PyObject* new_stack(const Problem& p, PyArrayObject* model, int64_t length, int64_t features) {
  const int axes = p.batch_axes + 2;
  npy_intp shape[kMaxDimensions], ordered[kMaxDimensions], places[kMaxDimensions];
  std::copy_n(p.batch_shape, p.batch_axes, shape);
  shape[axes - 2] = length;
  shape[axes - 1] = features;
  if (PyArray_IS_C_CONTIGUOUS(model)) return new_array(p.typenum, axes, shape);
  int order[kMaxDimensions];
  std::iota(order, order + axes, 0);
  std::stable_sort(order, order + axes - 1, [&](int a, int b) {
    return std::abs(PyArray_STRIDE(model, a)) > std::abs(PyArray_STRIDE(model, b));
  });
  for (int i = 0; i < axes; ++i) {
    ordered[i] = shape[order[i]];
    places[order[i]] = i;
  }
  Reference memory(new_array(p.typenum, axes, ordered));
  PyArray_Dims permutation = {places, axes};
  return memory ? PyArray_Transpose(memory.array(), &permutation) : nullptr;
}

// q, k, v, mask, causal, scale; returns the output and the logarithms of the sums
PyObject* call_attention(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Problem p;
  if (count != 6 || !read_problem(arguments, arguments[3], arguments[4], arguments[5], p)) {
    return PyErr_Occurred() ? nullptr : not_implemented();
  }
  npy_intp shape[kMaxDimensions];
  std::copy_n(p.batch_shape, p.batch_axes, shape);
  shape[p.batch_axes] = p.q.length;
  shape[p.batch_axes + 1] = 1;
  Reference logarithms(new_array(NPY_FLOAT64, p.batch_axes + 2, shape));
  Reference output(new_stack(p, p.held[0].array(), p.q.length, p.v.features));
  Stack out;
  if (!output || !logarithms || !out.read(output.array())) return nullptr;
  double* const logs = static_cast<double*>(PyArray_DATA(logarithms.array()));
  try {
    Unlocked unlocked(p.nanoseconds());
    if (p.typenum == NPY_FLOAT32) {
      attend<float>(p, out, logs);
    } else {
      attend<double>(p, out, logs);
    }
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
  return PyTuple_Pack(2, output.get(), logarithms.get());
}

// What the rule is given besides the inputs, and what it writes.
struct Known {
  Stack gradient, output;
  const double* logarithms;
};
struct Gradients {
  Stack q, k, v;
};

template <typename T>
void clear(T* matrix, const Stack& stack) {
  for (int64_t row = 0; row < stack.length; ++row) {
    std::fill_n(matrix + row * stack.step, stack.features, T(0));
  }
}

// The gradients of q, k and v, those of k and v summed block by block in order.
template <typename T>
void attend_backward(const Problem& p, const Known& known, const Gradients& to) {
  const auto& kernel = kernels().attention;
  const int64_t depth = p.q.features, width = p.v.features;
  parallel_for(p.batch, [&](int64_t index) {
    const T *const k = p.matrix<T>(p.k, index), *const v = p.matrix<T>(p.v, index);
    T *const to_k = p.matrix<T>(to.k, index), *const to_v = p.matrix<T>(to.v, index);
    clear(to_k, to.k);
    clear(to_v, to.v);
    const Scores memory(2 * std::min(kBlock, p.q.length) * p.k.length * sizeof(T));
    for (int64_t first = 0; first < p.q.length; first += kBlock) {
      const int64_t rows = std::min(kBlock, p.q.length - first), keys = p.reach(first + rows);
      T *const scores = memory.data<T>(), *const inner = scores + rows * keys;
      const T* const q = p.matrix<T>(p.q, index) + first * p.q.step;
      const Factor<T> gradient = {p.matrix<T>(known.gradient, index) + first * known.gradient.step,
                                  known.gradient.step};
      const T* const output = p.matrix<T>(known.output, index) + first * known.output.step;
      const double* const logarithms = known.logarithms + index * p.q.length + first;
      run_alone(product<T>(rows, depth, keys, {q, p.q.step}, {k, p.k.step, true}, scores, keys));
      run_alone(product<T>(rows, width, keys, gradient, {v, p.v.step, true}, inner, keys));
      for (int64_t i = 0; i < rows; ++i) {
        const double along = kernel.chained_sum[Computed<T>::element](
            gradient.data + i * gradient.step, output + i * known.output.step, width);
        kernel.rule[Computed<T>::element](p.row(index, first + i, keys), logarithms[i], along,
                                          scores + i * keys, inner + i * keys);
      }
      run_alone(product<T>(rows, keys, depth, {inner, keys}, {k, p.k.step},
                           p.matrix<T>(to.q, index) + first * to.q.step, to.q.step));
      Gemm<T> into_k =
          product<T>(keys, rows, depth, {inner, keys, true}, {q, p.q.step}, to_k, to.k.step);
      Gemm<T> into_v =
          product<T>(keys, rows, width, {scores, keys, true}, gradient, to_v, to.v.step);
      into_k.accumulate = into_v.accumulate = true;
      run_alone(into_k);
      run_alone(into_v);
    }
  });
}

// The array with adjacent features, if it has the problem's dtype and batch and these last axes.
bool read_known(PyObject* object, const Problem& p, int typenum, int64_t columns, Reference& held) {
  if (!is_plain_array(object)) return false;
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
  if (PyArray_TYPE(array) != typenum || PyArray_NDIM(array) != p.batch_axes + 2 ||
      !std::equal(p.batch_shape, p.batch_shape + p.batch_axes, PyArray_DIMS(array)) ||
      PyArray_DIM(array, p.batch_axes) != p.q.length ||
      PyArray_DIM(array, p.batch_axes + 1) != columns) {
    return false;
  }
  held.reset(with_adjacent_features(array));
  return static_cast<bool>(held);
}

// grad_output, q, k, v, mask, output, logarithms, causal, scale, needs; a mask's gradient is left
// to the formula
PyObject* call_attention_rule(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Problem p;
  Reference gradient, output, logarithms;
  if (count != 10 || !PyTuple_CheckExact(arguments[9]) || PyTuple_GET_SIZE(arguments[9]) != 4 ||
      !read_problem(arguments + 1, arguments[4], arguments[7], arguments[8], p) ||
      (p.mask != nullptr && !p.mask_is_boolean && PyTuple_GET_ITEM(arguments[9], 3) == Py_True) ||
      !read_known(arguments[0], p, p.typenum, p.v.features, gradient) ||
      !read_known(arguments[5], p, p.typenum, p.v.features, output) ||
      !read_known(arguments[6], p, NPY_FLOAT64, 1, logarithms)) {
    return PyErr_Occurred() ? nullptr : not_implemented();
  }
  logarithms.reset(contiguous(logarithms.array()));
  Reference grad_q(new_stack(p, p.held[0].array(), p.q.length, p.q.features));
  Reference grad_k(new_stack(p, p.held[1].array(), p.k.length, p.k.features));
  Reference grad_v(new_stack(p, p.held[2].array(), p.v.length, p.v.features));
  if (!logarithms || !grad_q || !grad_k || !grad_v) return nullptr;
  Known known;
  Gradients to;
  known.logarithms = static_cast<double*>(PyArray_DATA(logarithms.array()));
  if (!known.gradient.read(gradient.array()) || !known.output.read(output.array()) ||
      !to.q.read(grad_q.array()) || !to.k.read(grad_k.array()) || !to.v.read(grad_v.array())) {
    return not_implemented();
  }
  try {
    Unlocked unlocked(2 * p.nanoseconds());
    if (p.typenum == NPY_FLOAT32) {
      attend_backward<float>(p, known, to);
    } else {
      attend_backward<double>(p, known, to);
    }
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
  return PyTuple_Pack(4, grad_q.get(), grad_k.get(), grad_v.get(), Py_None);
}

}  // namespace

bool add_attention_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "scaled_dot_product_attention", call_attention, nullptr) &&
         add_kernel(kernels_by_name, "scaled_dot_product_attention_backward", call_attention_rule,
                    nullptr);
}

}  // namespace extensor
