// cross_entropy and nll_loss of class indices in one row, reduced to a mean or a sum.
#include "../../drivers/cross_entropy.h"

#include <algorithm>

#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

// None, or a weight of the dtype for each class, as the next input.
bool read_weight(PyObject* object, const Storage& storage, Plan& plan, ClassTargets& targets) {
  if (object == Py_None) return true;
  Layout layout;
  targets.weight = plan.input_count();
  return add_array(object, plan, layout) && layout.dtype == storage.dtype && layout.ndim() == 1 &&
         layout.length(0) == targets.classes && layout.c_contiguous;
}

// A class for each row of a matrix of `shape`, as the next input. Which classes there are is seen
// when the call runs.
bool read_targets(const Shape& shape, PyObject* target, PyObject* weight, PyObject* reduction,
                  PyObject* ignore_index, const Storage& storage, Plan& plan,
                  ClassTargets& targets) {
  targets.mean = is_text(reduction, "mean");
  int overflow = 0;
  if (!PyLong_CheckExact(ignore_index) || (!targets.mean && !is_text(reduction, "sum")) ||
      !add_array(target, plan, targets.layout) || targets.layout.dtype != DType::int64 ||
      targets.layout.ndim() != 1 || targets.layout.length(0) != shape.lengths[0]) {
    return false;
  }
  targets.rows = shape.lengths[0];
  targets.classes = shape.lengths[1];
  targets.ignored = PyLong_AsLongLongAndOverflow(ignore_index, &overflow);
  plan.call.depends_on_values = true;
  return overflow == 0 && read_weight(weight, storage, plan, targets);
}

// A matrix of logits or of log-probabilities, as the next input.
bool read_matrix(PyObject* object, Plan& plan, Storage& storage, Layout& matrix) {
  return add_array(object, plan, matrix) && is_computed(matrix.dtype) && matrix.ndim() == 2 &&
         matrix.size > 0 && find_storage(matrix.dtype, storage);
}

// A single number, of a floating type that kernels compute in, as the next input.
bool read_gradient(PyObject* object, Plan& plan, Storage& storage) {
  if (!is_plain_array(object)) return false;
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
  const DType dtype = dtype_of(PyArray_TYPE(array));
  plan.add(object);
  return PyArray_NDIM(array) == 0 && is_computed(dtype) && find_storage(dtype, storage);
}

// From 0 to 1, as the first number of the run.
bool read_smoothing(PyObject* object, Plan& plan) {
  double& smoothing = plan.call.numbers[0];
  return read_number(object, smoothing) && smoothing >= 0 && smoothing <= 1;
}

int64_t nanoseconds_of_order(const Layout& matrix) {
  return matrix.c_contiguous ? 0 : nanoseconds_of_copy(matrix);
}

// logits, target, weight, reduction, label_smoothing, ignore_index
bool plan_cross_entropy(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  ClassLossProblem& problem = plan.call.solved_by<run_class_loss>();
  if (count != 6 || !read_matrix(arguments[0], plan, problem.storage, problem.x) ||
      !read_smoothing(arguments[4], plan) ||
      !read_targets(problem.x.shape, arguments[1], arguments[2], arguments[3], arguments[5],
                    problem.storage, plan, problem.targets)) {
    return false;
  }
  problem.of_logits = true;
  problem.losses = kernels().cross_entropy.losses[problem.storage.index()];
  problem.pieces = cut_reduced_rows(problem.targets.rows, problem.targets.classes);
  plan.call.add_fresh(problem.x.dtype, 0, nullptr);
  plan.call.nanoseconds = problem.pieces.nanoseconds + nanoseconds_of_order(problem.x);
  return true;
}

// grad_output, logits, target, reduction, weight, label_smoothing, ignore_index, needs
bool plan_cross_entropy_rule(const void*, PyObject* const* arguments, Py_ssize_t count,
                             Plan& plan) {
  CrossEntropyRuleProblem& problem = plan.call.solved_by<run_cross_entropy_rule>();
  Storage of_gradient;
  if (count != 8 || !read_gradient(arguments[0], plan, of_gradient) ||
      !read_matrix(arguments[1], plan, problem.storage, problem.logits) ||
      problem.storage.dtype != of_gradient.dtype || !read_smoothing(arguments[5], plan) ||
      !read_targets(problem.logits.shape, arguments[2], arguments[4], arguments[3], arguments[6],
                    problem.storage, plan, problem.targets)) {
    return false;
  }
  problem.pieces = cut_reduced_rows(problem.targets.rows, problem.targets.classes);
  plan.call.several = true;
  plan.call.add_fresh(problem.logits.dtype, problem.logits.shape);
  plan.call.add_absent();
  plan.call.nanoseconds = problem.pieces.nanoseconds + nanoseconds_of_order(problem.logits);
  return true;
}

// x, target, weight, reduction, ignore_index
bool plan_nll_loss(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  ClassLossProblem& problem = plan.call.solved_by<run_class_loss>();
  if (count != 5 || !read_matrix(arguments[0], plan, problem.storage, problem.x) ||
      !read_targets(problem.x.shape, arguments[1], arguments[2], arguments[3], arguments[4],
                    problem.storage, plan, problem.targets)) {
    return false;
  }
  problem.of_logits = false;
  problem.losses = kernels().cross_entropy.chosen[problem.storage.index()];
  // One element of a row, but one that is not in the cache.
  problem.pieces = cut(problem.targets.rows, Cost::heavy);
  plan.call.add_fresh(problem.x.dtype, 0, nullptr);
  plan.call.nanoseconds = problem.pieces.nanoseconds + nanoseconds_of_order(problem.x);
  return true;
}

// grad_output, x_shape, target, reduction, weight, ignore_index
bool plan_nll_loss_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  NegativeLogRuleProblem& problem = plan.call.solved_by<run_negative_log_rule>();
  Shape shape;
  if (count != 6 || !read_gradient(arguments[0], plan, problem.storage) ||
      !read_shape(arguments[1], shape) || shape.ndim != 2 ||
      !read_targets(shape, arguments[2], arguments[4], arguments[3], arguments[5], problem.storage,
                    plan, problem.targets)) {
    return false;
  }
  plan.call.add_fresh(problem.storage.dtype, shape);
  // The shape comes from the caller, and may be too large for integers as it is for memory.
  const double elements =
      static_cast<double>(shape.lengths[0]) * static_cast<double>(shape.lengths[1]);
  plan.call.nanoseconds = static_cast<int64_t>(std::min(elements / 4, 1e18));
  return true;
}

}  // namespace

bool add_cross_entropy_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "cross_entropy", plan_cross_entropy, nullptr) &&
         add_kernel(kernels_by_name, "cross_entropy_backward", plan_cross_entropy_rule, nullptr) &&
         add_kernel(kernels_by_name, "nll_loss", plan_nll_loss, nullptr) &&
         add_kernel(kernels_by_name, "nll_loss_backward", plan_nll_loss_rule, nullptr);
}

}  // namespace extensor
