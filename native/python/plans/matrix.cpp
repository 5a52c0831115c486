// matmul and linear.
#include "../../drivers/matrix.h"

#include <algorithm>

#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

PyArrayObject* array_of(PyObject* object) { return reinterpret_cast<PyArrayObject*>(object); }

// The type of all operands of a product. These are read without a Layout, as products of small
// matrices are over sooner than two layouts are described.
class OperandType {
 public:
  // Takes the type of the first operand. False if that is none of products.
  bool read(PyObject* object) {
    if (!is_plain_array(object)) return false;
    typenum_ = PyArray_TYPE(array_of(object));
    dtype_ = dtype_of(typenum_);
    shift_ = dtype_ == DType::float64 ? 3 : dtype_ == DType::float32 ? 2 : 1;
    return (shift_ > 1 || dtype_ == DType::bfloat16) && has_whole_strides(object);
  }

  // Whether another operand has this type too.
  bool has(PyObject* object) const {
    return is_plain_array(object) && PyArray_TYPE(array_of(object)) == typenum_ &&
           has_whole_strides(object);
  }

  // The matrix in an axis and the one after it.
  Matrix matrix(PyArrayObject* array, int axis) const {
    const npy_intp* const shape = PyArray_DIMS(array) + axis;
    const npy_intp* const strides = PyArray_STRIDES(array) + axis;
    return {shape[0], shape[1], strides[0] >> shift_, strides[1] >> shift_};
  }

  // An array that is not empty and has at least one axis.
  void flatten(PyArrayObject* array, FlattenedMatrix& flattened) const {
    const int ndim = PyArray_NDIM(array);
    flattened.as_it_lies = ndim == 2;
    if (flattened.as_it_lies) {
      flattened.matrix = matrix(array, 0);
      return;
    }
    Layout& layout = flattened.layout;
    describe(array, layout);
    const int64_t columns = layout.length(ndim - 1);
    flattened.matrix = {layout.size / columns, columns, columns, 1};
  }

  DType dtype() const { return dtype_; }
  int64_t itemsize() const { return int64_t{1} << shift_; }

 private:
  // Kernels count strides in elements.
  bool has_whole_strides(PyObject* object) const {
    const npy_intp* const strides = PyArray_STRIDES(array_of(object));
    npy_intp bits = 0;
    for (int axis = 0; axis < PyArray_NDIM(array_of(object)); ++axis) bits |= strides[axis];
    return (bits & (itemsize() - 1)) == 0;
  }

  int typenum_;
  int shift_;  // an element has 1 << shift_ bytes
  DType dtype_;
};

// What it costs to read a flattened matrix that does not lie as it is read.
int64_t nanoseconds_of_order(const FlattenedMatrix& flattened) {
  const bool in_order = flattened.as_it_lies || flattened.layout.c_contiguous;
  return in_order ? 0 : nanoseconds_of_copy(flattened.layout);
}

// The result of a @ b as the next output.
void add_result(const Product& product, DType dtype, Plan& plan) {
  const int64_t shape[] = {product.a.rows, product.b.columns};
  plan.call.add_fresh(dtype, 2, shape);
}

bool plan_stacked_matmul(const OperandType& type, PyObject* const* arguments, Plan& plan) {
  StackedMatmulProblem& problem = plan.call.solved_by<run_stacked_matmul>();
  Layout a, b;
  plan.add(arguments[0], a);
  plan.add(arguments[1], b);
  Product& product = problem.product;
  product.a = type.matrix(array_of(arguments[0]), a.ndim() - 2);
  product.b = type.matrix(array_of(arguments[1]), b.ndim() - 2);
  a.shape.ndim -= 2;  // what is left are the batch axes
  b.shape.ndim -= 2;
  const Layout* const layouts[] = {&a, &b};
  const Shape* const shapes[] = {&a.shape, &b.shape};
  Shape shape;
  Loops& loops = problem.loops;
  if (product.a.columns != product.b.rows || !broadcast(shapes, 2, shape) ||
      shape.ndim + 2 > kMaxDimensions || !make_loops(shape, layouts, 2, loops)) {
    return false;
  }
  shape.lengths[shape.ndim++] = product.a.rows;
  shape.lengths[shape.ndim++] = product.b.columns;
  plan.call.add_fresh(type.dtype(), shape);
  if (loops.size == 0) {
    plan.call.computes_nothing();
    return true;
  }
  coalesce(loops);
  const int last = loops.ndim - 1;
  problem.dtype = type.dtype();
  product.batch = loops.size;
  plan.call.nanoseconds = product.nanoseconds();
  product.batch = loops.shape[last];
  product.a_batch = loops.strides[0][last] / type.itemsize();
  product.b_batch = loops.strides[1][last] / type.itemsize();
  return true;
}

// a, b: two matrices, or stacks of matrices whose batch axes broadcast.
bool plan_matmul(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  OperandType type;
  if (count != 2 || !type.read(arguments[0]) || !type.has(arguments[1])) return false;
  PyArrayObject *a = array_of(arguments[0]), *b = array_of(arguments[1]);
  if (PyArray_NDIM(a) < 2 || PyArray_NDIM(b) < 2) return false;
  if (PyArray_NDIM(a) > 2 || PyArray_NDIM(b) > 2) return plan_stacked_matmul(type, arguments, plan);
  MatmulProblem& problem = plan.call.solved_by<run_matmul>();
  Product& product = problem.product;
  problem.dtype = type.dtype();
  product.a = type.matrix(a, 0);
  product.b = type.matrix(b, 0);
  if (product.a.columns != product.b.rows) return false;
  plan.add(arguments[0]);
  plan.add(arguments[1]);
  add_result(product, type.dtype(), plan);
  plan.call.nanoseconds = product.nanoseconds();
  return true;
}

// grad_output, a, b, needs. Stacks go by the formula.
bool plan_matmul_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  OperandType type;
  bool needs[2];
  if (count != 4 || !type.read(arguments[0]) || !type.has(arguments[1]) ||
      !type.has(arguments[2])) {
    return false;
  }
  for (int i = 0; i < 3; ++i) {
    if (PyArray_NDIM(array_of(arguments[i])) != 2) return false;
    plan.add(arguments[i]);
  }
  MatmulRuleProblem& problem = plan.call.solved_by<run_matmul_rule>();
  problem.dtype = type.dtype();
  Matrix &gradient = problem.gradient, &a = problem.a, &b = problem.b;
  gradient = type.matrix(array_of(arguments[0]), 0);
  a = type.matrix(array_of(arguments[1]), 0);
  b = type.matrix(array_of(arguments[2]), 0);
  if (a.columns != b.rows || gradient.rows != a.rows || gradient.columns != b.columns ||
      !read_needs(arguments[3], 2, needs)) {
    return false;
  }
  const Product products[] = {{gradient, b.transposed()}, {a.transposed(), gradient}};
  int64_t nanoseconds = 0;
  for (int i = 0; i < 2; ++i) {
    if (!needs[i]) {
      plan.call.add_absent();
      continue;
    }
    add_result(products[i], type.dtype(), plan);
    nanoseconds += products[i].nanoseconds();
  }
  plan.call.several = true;
  plan.call.nanoseconds = nanoseconds;
  return true;
}

// A bias for so many columns, in C order.
bool is_bias(PyObject* object, const OperandType& type, int64_t columns) {
  if (!type.has(object)) return false;
  PyArrayObject* bias = array_of(object);
  return PyArray_NDIM(bias) == 1 && PyArray_DIM(bias, 0) == columns &&
         PyArray_IS_C_CONTIGUOUS(bias);
}

// The shape of an array with another last axis as the next output.
void add_with_columns(PyArrayObject* array, int64_t columns, DType dtype, Plan& plan) {
  Output& output = plan.call.add(Output::Kind::fresh);
  output.dtype = dtype;
  output.shape.ndim = PyArray_NDIM(array);
  std::copy_n(PyArray_DIMS(array), output.shape.ndim - 1, output.shape.lengths);
  output.shape.lengths[output.shape.ndim - 1] = columns;
}

// x, weight (out, in), bias
bool plan_linear(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  OperandType type;
  if (count != 3 || !type.read(arguments[0]) || !type.has(arguments[1])) return false;
  PyArrayObject *x = array_of(arguments[0]), *weight = array_of(arguments[1]);
  if (PyArray_NDIM(weight) != 2 || PyArray_NDIM(x) == 0 || PyArray_SIZE(x) == 0) return false;
  LinearProblem& problem = plan.call.solved_by<run_linear>();
  problem.dtype = type.dtype();
  problem.has_bias = arguments[2] != Py_None;
  problem.weight = type.matrix(weight, 0);
  type.flatten(x, problem.x);
  if (problem.x.matrix.columns != problem.weight.columns ||
      (problem.has_bias && !is_bias(arguments[2], type, problem.weight.rows))) {
    return false;
  }
  plan.add(arguments[0]);
  plan.add(arguments[1]);
  if (problem.has_bias) plan.add(arguments[2]);
  add_with_columns(x, problem.weight.rows, type.dtype(), plan);
  const Product product = {problem.x.matrix, problem.weight.transposed()};
  plan.call.nanoseconds = product.nanoseconds() + nanoseconds_of_order(problem.x);
  return true;
}

// grad_output, x, weight, needs
bool plan_linear_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  OperandType type;
  bool needs[3];
  if (count != 4 || !type.read(arguments[0]) || !type.has(arguments[1]) ||
      !type.has(arguments[2])) {
    return false;
  }
  for (int i = 0; i < 3; ++i) plan.add(arguments[i]);
  PyArrayObject *grad = array_of(arguments[0]), *x = array_of(arguments[1]);
  const int ndim = PyArray_NDIM(x);
  if (PyArray_NDIM(array_of(arguments[2])) != 2 || PyArray_SIZE(x) == 0 ||
      PyArray_SIZE(grad) == 0 || ndim == 0 || PyArray_NDIM(grad) != ndim ||
      !std::equal(PyArray_DIMS(x), PyArray_DIMS(x) + ndim - 1, PyArray_DIMS(grad)) ||
      !read_needs(arguments[3], 3, needs)) {
    return false;
  }
  LinearRuleProblem& problem = plan.call.solved_by<run_linear_rule>();
  problem.dtype = type.dtype();
  problem.weight = type.matrix(array_of(arguments[2]), 0);
  type.flatten(grad, problem.gradient);
  type.flatten(x, problem.x);
  const Matrix &gradient = problem.gradient.matrix, &rows = problem.x.matrix;
  if (gradient.columns != problem.weight.rows || rows.columns != problem.weight.columns) {
    return false;
  }
  int64_t nanoseconds = nanoseconds_of_order(problem.gradient) + nanoseconds_of_order(problem.x);
  if (needs[0]) {
    add_with_columns(x, rows.columns, type.dtype(), plan);
    nanoseconds += Product{gradient, problem.weight}.nanoseconds();
  } else {
    plan.call.add_absent();
  }
  if (needs[1]) {
    const Product product = {gradient.transposed(), rows};
    add_result(product, type.dtype(), plan);
    nanoseconds += product.nanoseconds();
  } else {
    plan.call.add_absent();
  }
  if (needs[2]) {
    Output& bias = plan.call.add_fresh(type.dtype(), 1, &gradient.columns);
    describe(grad, problem.bias.x);
    plan_sum_to_shape(problem.bias.x, bias.shape, problem.bias);
    nanoseconds += nanoseconds_of(problem.bias);
  } else {
    plan.call.add_absent();
  }
  plan.call.several = true;
  plan.call.nanoseconds = nanoseconds;
  return true;
}

}  // namespace

bool add_matrix_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "matmul", plan_matmul, nullptr) &&
         add_kernel(kernels_by_name, "matmul_backward", plan_matmul_rule, nullptr) &&
         add_kernel(kernels_by_name, "linear", plan_linear, nullptr) &&
         add_kernel(kernels_by_name, "linear_backward", plan_linear_rule, nullptr);
}

}  // namespace extensor
