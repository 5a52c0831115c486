// max_pool, avg_pool and adaptive_avg_pool along one and two axes, and their rules.
#include "../../drivers/pooling.h"

#include <algorithm>

#include "../../drivers/windows.h"
#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

constexpr int64_t kMaxPlane = int64_t{1} << 30;  // places in a plane fit into 32 bits

// (batch, channels, ...) with one or two axes of at least one element more.
struct Planes {
  int axes;
  int64_t shape[4];
  int64_t count;

  bool read(int wanted_axes, int ndim, const int64_t* lengths, PoolingProblem& problem) {
    if (ndim != wanted_axes + 2) return false;
    axes = wanted_axes;
    std::copy_n(lengths, ndim, shape);
    if (std::any_of(shape, shape + 2, [](int64_t n) { return n < 0; }) ||
        __builtin_mul_overflow(shape[0], shape[1], &count)) {
      return false;
    }
    problem.height = axes == 2 ? shape[2] : 1;
    problem.width = shape[axes + 1];
    return problem.height > 0 && problem.width > 0 && problem.height < kMaxPlane &&
           problem.width < kMaxPlane && problem.height * problem.width < kMaxPlane;
  }
  bool read(int wanted_axes, const Layout& x, PoolingProblem& problem) {
    return read(wanted_axes, x.ndim(), x.shape.lengths, problem);
  }
  // A shape as a tuple.
  bool read(int wanted_axes, PyObject* tuple, PoolingProblem& problem) {
    int64_t lengths[kMaxDimensions];
    int ndim;
    return read_sizes(tuple, lengths, ndim) && read(wanted_axes, ndim, lengths, problem);
  }

  // The shape of a number for each window.
  void of_windows(const PoolingProblem& problem, int64_t* lengths) const {
    std::copy_n(shape, 2, lengths);
    lengths[2] = problem.rows;
    lengths[axes + 1] = problem.columns;
  }
  bool is_of_windows(const Layout& layout, const PoolingProblem& problem) const {
    int64_t lengths[4];
    of_windows(problem, lengths);
    return layout.ndim() == axes + 2 &&
           std::equal(lengths, lengths + axes + 2, layout.shape.lengths);
  }

  bool finish(const int64_t* lengths, PoolingProblem& problem, Plan& plan) const {
    plan_planes(count, problem);
    plan.call.add_fresh(problem.storage.dtype, axes + 2, lengths);
    plan.call.nanoseconds = problem.pieces.nanoseconds;
    return true;
  }
  // The call gives a number for each window, or like a rule one for each element.
  bool give_windows(PoolingProblem& problem, Plan& plan) const {
    int64_t lengths[4];
    of_windows(problem, lengths);
    return finish(lengths, problem, plan);
  }
  bool give_elements(PoolingProblem& problem, Plan& plan) const {
    return finish(shape, problem, plan);
  }
};

// The windows that Python calls kernel_size, stride, padding, dilation and ceil_mode.
struct Windows {
  int64_t kernel[2], stride[2], padding[2], dilation[2] = {1, 1};
  bool rounded_up;

  // `dilations` is null where there are none.
  bool read(PyObject* const* arguments, PyObject* dilations, PyObject* ceil_mode, int axes) {
    if (!read_per_axis(arguments[0], axes, 1, kernel) ||
        !read_per_axis(arguments[1] == Py_None ? arguments[0] : arguments[1], axes, 1, stride) ||
        !read_per_axis(arguments[2], axes, 0, padding) ||
        (dilations != nullptr && !read_per_axis(dilations, axes, 1, dilation)) ||
        !PyBool_Check(ceil_mode)) {
      return false;
    }
    rounded_up = ceil_mode == Py_True;
    return true;
  }

  // False if no window fits.
  bool along(int axis, int64_t in, WindowAxis& windows) const {
    const int64_t k = kernel[axis], p = padding[axis], d = dilation[axis];
    return 2 * p <= k && k <= kMaxPlane / d &&
           lay_windows(in, k, stride[axis], {p, p}, d, rounded_up, windows);
  }

  bool over(int axes, PoolingProblem& problem) const {
    Pooling& windows = problem.windows;
    windows.rows = {1, 1, 1, 1, 0, 1};
    if ((axes == 2 && !along(0, problem.height, windows.rows)) ||
        !along(axes - 1, problem.width, windows.columns) || windows.columns.kernel > kMaxPooled) {
      return false;
    }
    problem.rows = windows.rows.out;
    problem.columns = windows.columns.out;
    return true;
  }
};

// An array of floats as the next input.
bool add_floats(PyObject* object, Plan& plan, Layout& layout, PoolingProblem& problem) {
  return add_array(object, plan, layout) && find_storage(layout.dtype, problem.storage);
}

bool read_flag(PyObject* object, bool& flag) {
  flag = object == Py_True;
  return PyBool_Check(object);
}

// x, kernel_size, stride, padding, dilation, ceil_mode
template <int kAxes>
bool plan_max_pool(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  PoolingProblem& problem = plan.call.solved_by<run_max_pool>();
  Planes planes;
  Windows windows;
  return count == 6 && add_floats(arguments[0], plan, problem.x, problem) &&
         planes.read(kAxes, problem.x, problem) &&
         windows.read(arguments + 1, arguments[4], arguments[5], kAxes) &&
         windows.over(kAxes, problem) && planes.give_windows(problem, plan);
}

// grad_output, x, kernel_size, stride, padding, dilation, ceil_mode
bool plan_max_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  PoolingProblem& problem = plan.call.solved_by<run_max_pool_rule>();
  Planes planes;
  Windows windows;
  return count == 7 && add_floats(arguments[0], plan, problem.gradient, problem) &&
         add_array(arguments[1], plan, problem.x) && problem.x.dtype == problem.gradient.dtype &&
         planes.read(2, problem.x, problem) &&
         windows.read(arguments + 2, arguments[5], arguments[6], 2) && windows.over(2, problem) &&
         planes.is_of_windows(problem.gradient, problem) && planes.give_elements(problem, plan);
}

// x, kernel_size, stride, padding, ceil_mode, count_include_pad and, of planes, divisor_override
template <int kAxes>
bool plan_avg_pool(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  PoolingProblem& problem = plan.call.solved_by<run_avg_pool>();
  Planes planes;
  Windows windows;
  return count == (kAxes == 2 ? 7 : 6) && (kAxes == 1 || arguments[6] == Py_None) &&
         add_floats(arguments[0], plan, problem.x, problem) &&
         planes.read(kAxes, problem.x, problem) &&
         windows.read(arguments + 1, nullptr, arguments[4], kAxes) &&
         windows.over(kAxes, problem) && read_flag(arguments[5], problem.with_padding) &&
         planes.give_windows(problem, plan);
}

// grad_output, input_shape, kernel_size, stride, padding, ceil_mode, count_include_pad,
// divisor_override
bool plan_avg_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  PoolingProblem& problem = plan.call.solved_by<run_avg_pool_rule>();
  Planes planes;
  Windows windows;
  return count == 8 && arguments[7] == Py_None &&
         add_floats(arguments[0], plan, problem.gradient, problem) &&
         planes.read(2, arguments[1], problem) &&
         windows.read(arguments + 2, nullptr, arguments[5], 2) && windows.over(2, problem) &&
         read_flag(arguments[6], problem.with_padding) &&
         planes.is_of_windows(problem.gradient, problem) && planes.give_elements(problem, plan);
}

// An int or an int for each axis; None leaves an axis as it is.
bool read_output_size(PyObject* object, int axes, PoolingProblem& problem) {
  const int64_t own[] = {problem.height, problem.width};
  const int skipped = 2 - axes;
  int64_t sizes[2] = {1, 1};
  const bool each = PyTuple_CheckExact(object);
  if (each && PyTuple_GET_SIZE(object) != axes) return false;
  for (int axis = 0; axis < axes; ++axis) {
    PyObject* wanted = each ? PyTuple_GET_ITEM(object, axis) : object;
    int64_t& size = sizes[skipped + axis];
    if (wanted == Py_None) {
      size = own[skipped + axis];
    } else if (!read_per_axis(wanted, 1, 1, &size)) {
      return false;
    }
  }
  problem.rows = sizes[0];
  problem.columns = sizes[1];
  return problem.rows < kMaxPlane / problem.columns;
}

// x, output_size
template <int kAxes>
bool plan_adaptive(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  PoolingProblem& problem = plan.call.solved_by<run_adaptive_avg_pool>();
  Planes planes;
  return count == 2 && add_floats(arguments[0], plan, problem.x, problem) &&
         planes.read(kAxes, problem.x, problem) && read_output_size(arguments[1], kAxes, problem) &&
         planes.give_windows(problem, plan);
}

// grad_output, input_shape, output_size
bool plan_adaptive_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  PoolingProblem& problem = plan.call.solved_by<run_adaptive_avg_pool_rule>();
  Planes planes;
  return count == 3 && add_floats(arguments[0], plan, problem.gradient, problem) &&
         planes.read(2, arguments[1], problem) && read_output_size(arguments[2], 2, problem) &&
         planes.is_of_windows(problem.gradient, problem) && planes.give_elements(problem, plan);
}

}  // namespace

bool add_pooling_kernels(PyObject* kernels) {
  return add_kernel(kernels, "max_pool1d", plan_max_pool<1>, nullptr) &&
         add_kernel(kernels, "max_pool2d", plan_max_pool<2>, nullptr) &&
         add_kernel(kernels, "max_pool2d_backward", plan_max_rule, nullptr) &&
         add_kernel(kernels, "avg_pool1d", plan_avg_pool<1>, nullptr) &&
         add_kernel(kernels, "avg_pool2d", plan_avg_pool<2>, nullptr) &&
         add_kernel(kernels, "avg_pool2d_backward", plan_avg_rule, nullptr) &&
         add_kernel(kernels, "adaptive_avg_pool1d", plan_adaptive<1>, nullptr) &&
         add_kernel(kernels, "adaptive_avg_pool2d", plan_adaptive<2>, nullptr) &&
         add_kernel(kernels, "adaptive_avg_pool2d_backward", plan_adaptive_rule, nullptr);
}

}  // namespace extensor
