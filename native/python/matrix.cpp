#include <algorithm>
#include <type_traits>

#include "../kernels/tables.h"
#include "../runtime/memory.h"
#include "../runtime/threads.h"
#include "families.h"
#include "kernel.h"
#include "legacy_copying.h"
#include "legacy_operands.h"
#include "legacy_reduction.h"
#include "products.h"

namespace extensor {
namespace {

// A matrix, or a stack of them at one distance, read in place.
struct Matrix {
  const char* data;
  int64_t rows, columns, row_stride, column_stride;  // strides in elements

  Matrix transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

int64_t element_stride(PyArrayObject* array, int axis) {
  return PyArray_STRIDE(array, axis) / PyArray_ITEMSIZE(array);
}

Matrix as_matrix(PyArrayObject* array) {
  return {static_cast<const char*>(PyArray_DATA(array)), PyArray_DIM(array, 0),
          PyArray_DIM(array, 1), element_stride(array, 0), element_stride(array, 1)};
}

// Strides must be whole elements for the GEMM to use them.
bool has_element_strides(PyArrayObject* array) {
  for (int axis = 0; axis < PyArray_NDIM(array); ++axis) {
    if (PyArray_STRIDE(array, axis) % PyArray_ITEMSIZE(array) != 0) return false;
  }
  return true;
}

bool is_matrix_operand(PyObject* object, int typenum) {
  if (!is_plain_array(object)) return false;
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
  return PyArray_TYPE(array) == typenum && has_element_strides(array);
}

// a @ b + bias for `batch` matrices at fixed distances, which count elements.
struct Product {
  Matrix a, b;
  const void* bias = nullptr;
  int64_t batch = 1, a_batch = 0, b_batch = 0;

  int64_t size() const { return batch * a.rows * b.columns; }
};

template <typename T>
void multiply(GemmKernel<T> kernel, const Product& product, void* out, const void* bias) {
  using Result = typename Gemm<T>::Result;
  const auto& [a, b, _, batch, a_batch, b_batch] = product;
  Gemm<T> problem;
  problem.m = a.rows;
  problem.n = b.columns;
  problem.k = a.columns;
  problem.a = reinterpret_cast<const T*>(a.data);
  problem.a_row = a.row_stride;
  problem.a_column = a.column_stride;
  problem.b = reinterpret_cast<const T*>(b.data);
  problem.b_row = b.row_stride;
  problem.b_column = b.column_stride;
  problem.c = static_cast<Result*>(out);
  problem.c_row = b.columns;
  problem.bias = static_cast<const Result*>(bias);
  problem.batch = batch;
  problem.a_batch = a_batch;
  problem.b_batch = b_batch;
  problem.c_batch = a.rows * b.columns;
  const int64_t multiplications = problem.m * problem.n * problem.k * problem.batch;
  Unlocked unlocked(multiplications / 32);
  kernel(problem, pool_workers(multiplications));
}

// Sums of bfloat16 are float32, and rounded once. False if there is no memory for them.
bool multiply_bfloat16(const Product& product, char* out) {
  const int64_t columns = product.b.columns, size = product.size();
  TemporaryBlock sums(size * sizeof(float)), bias(columns * sizeof(float));
  if (sums.data() == nullptr || bias.data() == nullptr) return false;
  const HalfFormat& format = kernels().bfloat16;
  float* wide_bias = nullptr;
  if (product.bias != nullptr) {
    wide_bias = reinterpret_cast<float*>(bias.data());
    format.widen(static_cast<const uint16_t*>(product.bias), wide_bias, columns);
  }
  multiply(kernels().gemm_bfloat16, product, sums.data(), wide_bias);
  parallel_chunks(cut(size, Cost::light), [&](int64_t begin, int64_t end) {
    format.narrow(reinterpret_cast<const float*>(sums.data()) + begin,
                  reinterpret_cast<uint16_t*>(out) + begin, end - begin);
  });
  return true;
}

// False with a Python error set.
bool product_into(int typenum, const Product& product, PyArrayObject* result, int64_t offset = 0) {
  char* out = PyArray_BYTES(result) + offset * PyArray_ITEMSIZE(result);
  if (typenum == NPY_FLOAT32) {
    multiply(kernels().gemm_float32, product, out, product.bias);
  } else if (typenum == NPY_FLOAT64) {
    multiply(kernels().gemm_float64, product, out, product.bias);
  } else if (!multiply_bfloat16(product, out)) {
    PyErr_NoMemory();
    return false;
  }
  return true;
}

// a @ b as a new array.
PyObject* product(int typenum, const Matrix& a, const Matrix& b) {
  const npy_intp shape[] = {a.rows, b.columns};
  Reference result(new_array(typenum, 2, shape));
  if (!result || !product_into(typenum, {a, b}, result.array())) return nullptr;
  return result.release();
}

bool is_matrix_dtype(PyObject* object, int& typenum) {
  if (!is_plain_array(object)) return false;
  typenum = PyArray_TYPE(reinterpret_cast<PyArrayObject*>(object));
  return typenum == NPY_FLOAT32 || typenum == NPY_FLOAT64 || typenum == bfloat16_typenum();
}

PyArrayObject* array_of(PyObject* object) { return reinterpret_cast<PyArrayObject*>(object); }

// The matrix in the last two axes, at the start of the stack.
Matrix last_matrix(PyArrayObject* array) {
  const int n = PyArray_NDIM(array);
  return {static_cast<const char*>(PyArray_DATA(array)), PyArray_DIM(array, n - 2),
          PyArray_DIM(array, n - 1), element_stride(array, n - 2), element_stride(array, n - 1)};
}

// The view of an array's batch axes alone.
ArrayView batch_view(PyArrayObject* array) {
  ArrayView view;
  fill_view(array, view);
  view.ndim -= 2;
  return view;
}

PyObject* batched_product(int typenum, PyArrayObject* a, PyArrayObject* b) {
  Matrix first = last_matrix(a), second = last_matrix(b);
  if (first.columns != second.rows) return not_implemented();
  const ArrayView a_view = batch_view(a), b_view = batch_view(b);
  const ArrayView* views[] = {&a_view, &b_view};
  Shape batch;
  LoopNest loops;
  if (!broadcast_shape(views, 2, batch) || batch.ndim + 2 > kMaxDimensions ||
      !make_loop_nest(batch, views, 2, loops)) {
    return not_implemented();
  }
  npy_intp shape[kMaxDimensions];
  int64_t count = 1;
  for (int axis = 0; axis < batch.ndim; ++axis) {
    shape[axis] = batch.lengths[axis];
    count *= batch.lengths[axis];
  }
  shape[batch.ndim] = first.rows;
  shape[batch.ndim + 1] = second.columns;
  Reference result(new_array(typenum, batch.ndim + 2, shape));
  if (!result || count == 0) return result.release();
  coalesce(loops);
  // The innermost batch axis is one call; the others are walked here.
  const int last = loops.ndim - 1;
  const int64_t inner = loops.shape[last], itemsize = PyArray_ITEMSIZE(a);
  for (int64_t index = 0; index < count / inner; ++index) {
    int64_t rest = index, a_offset = 0, b_offset = 0;
    for (int axis = last - 1; axis >= 0; --axis) {
      a_offset += rest % loops.shape[axis] * loops.strides[0][axis];
      b_offset += rest % loops.shape[axis] * loops.strides[1][axis];
      rest /= loops.shape[axis];
    }
    first.data = loops.data[0] + a_offset;
    second.data = loops.data[1] + b_offset;
    const Product product = {first,
                             second,
                             nullptr,
                             inner,
                             loops.strides[0][last] / itemsize,
                             loops.strides[1][last] / itemsize};
    if (!product_into(typenum, product, result.array(), index * product.size())) return nullptr;
  }
  return result.release();
}

// a @ b of two matrices, or of stacks of matrices whose batch axes broadcast.
PyObject* call_matmul(const void*, PyObject* const* arguments, Py_ssize_t count) {
  int typenum;
  if (count != 2 || !is_matrix_dtype(arguments[0], typenum) ||
      !is_matrix_operand(arguments[0], typenum) || !is_matrix_operand(arguments[1], typenum)) {
    return not_implemented();
  }
  PyArrayObject *a = array_of(arguments[0]), *b = array_of(arguments[1]);
  if (PyArray_NDIM(a) < 2 || PyArray_NDIM(b) < 2) return not_implemented();
  if (PyArray_NDIM(a) > 2 || PyArray_NDIM(b) > 2) return batched_product(typenum, a, b);
  const Matrix first = as_matrix(a), second = as_matrix(b);
  if (first.columns != second.rows) return not_implemented();
  return product(typenum, first, second);
}

// Gradients of two matrices: grad @ b.T and a.T @ grad. Stacks go by the formula.
PyObject* call_matmul_backward(const void*, PyObject* const* arguments, Py_ssize_t count) {
  int typenum;
  if (count != 4 || !is_matrix_dtype(arguments[0], typenum)) return not_implemented();
  for (int i = 0; i < 3; ++i) {
    if (!is_matrix_operand(arguments[i], typenum) || PyArray_NDIM(array_of(arguments[i])) != 2) {
      return not_implemented();
    }
  }
  const Matrix gradient = as_matrix(array_of(arguments[0]));
  const Matrix a = as_matrix(array_of(arguments[1])), b = as_matrix(array_of(arguments[2]));
  if (a.columns != b.rows || gradient.rows != a.rows || gradient.columns != b.columns ||
      !PyTuple_CheckExact(arguments[3]) || PyTuple_GET_SIZE(arguments[3]) != 2) {
    return not_implemented();
  }
  const bool needs_a = PyTuple_GET_ITEM(arguments[3], 0) == Py_True;
  const bool needs_b = PyTuple_GET_ITEM(arguments[3], 1) == Py_True;
  Reference grad_a(needs_a ? product(typenum, gradient, b.transposed()) : Py_NewRef(Py_None));
  Reference grad_b(needs_b ? product(typenum, a.transposed(), gradient) : Py_NewRef(Py_None));
  if (!grad_a || !grad_b) return nullptr;
  return PyTuple_Pack(2, grad_a.get(), grad_b.get());
}

// All axes but the last as rows of one matrix, copied into `holder` where the memory does not allow
// it. Null data means a Python error is set.
Matrix flattened(PyArrayObject* array, Reference& holder) {
  const int n = PyArray_NDIM(array);
  if (n == 2) return as_matrix(array);
  holder.reset(contiguous(array));
  if (!holder) return {};
  const int64_t columns = PyArray_DIM(array, n - 1);
  return {static_cast<const char*>(PyArray_DATA(holder.array())), PyArray_SIZE(array) / columns,
          columns, columns, 1};
}

// x @ weight.T + bias, weight being (out, in).
PyObject* call_linear(const void*, PyObject* const* arguments, Py_ssize_t count) {
  int typenum;
  if (count != 3 || !is_matrix_dtype(arguments[0], typenum) ||
      !is_matrix_operand(arguments[0], typenum) || !is_matrix_operand(arguments[1], typenum)) {
    return not_implemented();
  }
  PyArrayObject *x = array_of(arguments[0]), *weight = array_of(arguments[1]);
  if (PyArray_NDIM(weight) != 2 || PyArray_SIZE(x) == 0 || PyArray_NDIM(x) == 0) {
    return not_implemented();
  }
  Reference contiguous_x;
  const Matrix rows = flattened(x, contiguous_x);
  if (rows.data == nullptr) return nullptr;
  const Matrix columns = as_matrix(weight).transposed();
  const void* bias = nullptr;
  if (arguments[2] != Py_None) {
    if (!is_matrix_operand(arguments[2], typenum)) return not_implemented();
    PyArrayObject* given = array_of(arguments[2]);
    if (PyArray_NDIM(given) != 1 || PyArray_DIM(given, 0) != columns.columns ||
        !PyArray_IS_C_CONTIGUOUS(given)) {
      return not_implemented();
    }
    bias = PyArray_DATA(given);
  }
  if (rows.columns != columns.rows) return not_implemented();
  npy_intp shape[kMaxDimensions];
  const int ndim = PyArray_NDIM(x);
  std::copy_n(PyArray_DIMS(x), ndim - 1, shape);
  shape[ndim - 1] = columns.columns;
  Reference result(new_array(typenum, ndim, shape));
  if (!result || !product_into(typenum, {rows, columns, bias}, result.array())) return nullptr;
  return result.release();
}

// grad @ weight, grad.T @ x and the sum of grad over its rows.
PyObject* call_linear_backward(const void*, PyObject* const* arguments, Py_ssize_t count) {
  int typenum;
  if (count != 4 || !is_matrix_dtype(arguments[0], typenum)) return not_implemented();
  for (int i = 0; i < 3; ++i) {
    if (!is_matrix_operand(arguments[i], typenum)) return not_implemented();
  }
  PyArrayObject *grad = array_of(arguments[0]), *x = array_of(arguments[1]);
  PyArrayObject* weight = array_of(arguments[2]);
  if (PyArray_NDIM(weight) != 2 || PyArray_SIZE(x) == 0 || PyArray_SIZE(grad) == 0 ||
      PyArray_NDIM(x) == 0 || PyArray_NDIM(grad) != PyArray_NDIM(x) ||
      !PyTuple_CheckExact(arguments[3]) || PyTuple_GET_SIZE(arguments[3]) != 3) {
    return not_implemented();
  }
  Reference contiguous_gradient, contiguous_x;
  const Matrix gradient = flattened(grad, contiguous_gradient);
  const Matrix rows = flattened(x, contiguous_x);
  if (gradient.data == nullptr || rows.data == nullptr) return nullptr;
  const Matrix out_by_in = as_matrix(weight);
  const int ndim = PyArray_NDIM(x);
  if (gradient.rows != rows.rows || gradient.columns != out_by_in.rows ||
      rows.columns != out_by_in.columns ||
      !std::equal(PyArray_DIMS(x), PyArray_DIMS(x) + ndim - 1, PyArray_DIMS(grad))) {
    return not_implemented();
  }
  const npy_intp out_features = gradient.columns;
  PyObject* const* needs = &PyTuple_GET_ITEM(arguments[3], 0);
  Reference grad_x(Py_NewRef(Py_None)), grad_weight(Py_NewRef(Py_None));
  Reference grad_bias(Py_NewRef(Py_None));
  if (needs[0] == Py_True) {
    grad_x.reset(new_array(typenum, ndim, PyArray_DIMS(x)));
    if (!grad_x || !product_into(typenum, {gradient, out_by_in}, grad_x.array())) return nullptr;
  }
  if (needs[1] == Py_True) grad_weight.reset(product(typenum, gradient.transposed(), rows));
  if (needs[2] == Py_True) grad_bias.reset(sum_to_shape(grad, 1, &out_features));
  if (!grad_weight || !grad_bias) return nullptr;
  return PyTuple_Pack(3, grad_x.get(), grad_weight.get(), grad_bias.get());
}

}  // namespace

bool add_matrix_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "matmul", call_matmul, nullptr) &&
         add_kernel(kernels_by_name, "matmul_backward", call_matmul_backward, nullptr) &&
         add_kernel(kernels_by_name, "linear", call_linear, nullptr) &&
         add_kernel(kernels_by_name, "linear_backward", call_linear_backward, nullptr);
}

}  // namespace extensor
