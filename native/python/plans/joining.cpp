// concatenate and stack.
#include "../../drivers/joining.h"

#include <algorithm>

#include "../../drivers/copying.h"
#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

// Shows an array with an axis more, of length 1.
void add_axis(int axis, Layout& x) {
  const int ndim = x.shape.ndim++;
  int64_t* const lengths = x.shape.lengths;
  std::copy_backward(lengths + axis, lengths + ndim, lengths + ndim + 1);
  std::copy_backward(x.strides + axis, x.strides + ndim, x.strides + ndim + 1);
  lengths[axis] = 1;
  x.strides[axis] = x.itemsize;
}

// Whether two shapes of as many axes agree but for one of them.
bool agree_but_for(int axis, const Shape& a, const Shape& b) {
  for (int other = 0; other < a.ndim; ++other) {
    if (other != axis && a.lengths[other] != b.lengths[other]) return false;
  }
  return true;
}

// Adds the arrays, with what the problem knows of each in `inputs`, and describes the result.
bool plan_inputs(PyObject* arrays, bool stacked, int ndim, int axis, Joining& problem,
                 int64_t* inputs, Plan& plan) {
  problem.count = static_cast<int>(PyTuple_GET_SIZE(arrays));
  problem.axis = axis;
  DType dtype = DType::other;
  Shape shape;
  Layout x;
  for (int i = 0; i < problem.count; ++i) {
    if (!add_array(PyTuple_GET_ITEM(arrays, i), plan, x) || !is_movable(x.dtype) ||
        x.ndim() + stacked != ndim) {
      return false;
    }
    if (stacked) add_axis(axis, x);
    if (i == 0) {
      dtype = x.dtype;
      shape.ndim = ndim;
      std::copy_n(x.shape.lengths, ndim, shape.lengths);
      shape.lengths[axis] = 0;
    }
    if (x.dtype != dtype || !agree_but_for(axis, x.shape, shape) ||
        __builtin_add_overflow(shape.lengths[axis], x.length(axis), &shape.lengths[axis])) {
      return false;
    }
    *inputs++ = x.length(axis);
    inputs = std::copy_n(x.strides, ndim, inputs);
  }
  if (!fits_memory(shape)) return false;
  copy_layout(contiguous_layout(dtype, shape), problem.whole);
  plan.call.add_fresh(dtype, shape);
  plan.call.nanoseconds = nanoseconds_of_copy(problem.whole);
  return true;
}

// arrays, axis
template <bool kStacked>
bool plan_join(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  PyObject* arrays = count == 2 ? read_arrays(arguments[0], plan) : nullptr;
  if (arrays == nullptr || !is_plain_array(PyTuple_GET_ITEM(arrays, 0))) return false;
  const PyArrayObject* first = reinterpret_cast<PyArrayObject*>(PyTuple_GET_ITEM(arrays, 0));
  const int ndim = PyArray_NDIM(first) + kStacked;
  int axis;
  if (ndim > kMaxDimensions || !read_axis(arguments[1], ndim, axis)) return false;
  const int64_t numbers = PyTuple_GET_SIZE(arrays) * (ndim + 1);
  if (numbers <= JoinProblem::kRoom) {
    JoinProblem& problem = plan.call.solved_by<run_join>();
    return plan_inputs(arrays, kStacked, ndim, axis, problem, problem.inputs, plan);
  }
  LongJoinProblem& problem = plan.call.solved_by_shared<run_long_join>();
  problem.inputs.resize(numbers);
  return plan_inputs(arrays, kStacked, ndim, axis, problem, problem.inputs.data(), plan);
}

}  // namespace

bool add_joining_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "concatenate", plan_join<false>, nullptr) &&
         add_kernel(kernels_by_name, "stack", plan_join<true>, nullptr);
}

}  // namespace extensor
