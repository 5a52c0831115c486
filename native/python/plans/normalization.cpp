// layer_norm, rms_norm, group_norm, instance_norm and batch_norm, and their rules.
#include "../../drivers/normalization.h"

#include <algorithm>
#include <limits>

#include "../../drivers/copying.h"
#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

using Input = NormalizationProblem::Input;

enum class Kind { layer, rms, group, instance, batch };

// normalized_shape, an int or a tuple: the last axes of x.
bool read_last_axes(PyObject* object, const Layout& x, NormalizationGroups& groups) {
  npy_intp sizes[kMaxDimensions];
  int axes;
  if (!read_sizes(object, sizes, axes)) {
    axes = 1;
    if (!read_per_axis(object, 1, 1, sizes)) return false;
  }
  if (axes == 0 || axes > x.ndim() ||
      !std::equal(sizes, sizes + axes, x.shape.lengths + x.ndim() - axes)) {
    return false;
  }
  groups.take_last_axes(x, axes);
  return true;
}

bool read_groups(Kind kind, PyObject* attribute, const Layout& x, NormalizationGroups& groups) {
  npy_intp count = 0;
  switch (kind) {
    case Kind::layer:
    case Kind::rms:
      return read_last_axes(attribute, x, groups);
    case Kind::group:
      return read_per_axis(attribute, 1, 1, &count) && groups.take_groups(x, count);
    case Kind::instance:
      return x.ndim() > 2 && groups.take_groups(x, 0);
    case Kind::batch:
      return groups.take_channels(x);
  }
  return false;
}

bool read_input(PyObject* object, Plan& plan, Input& input) {
  input.place = plan.input_count();
  return add_array(object, plan, input.layout);
}

// x, floating and not empty, and how it falls into groups.
bool read_x(Kind kind, PyObject* object, PyObject* attribute, Plan& plan,
            NormalizationProblem& problem) {
  problem.around_mean = kind != Kind::rms;
  const Layout& x = problem.x.layout;
  return read_input(object, plan, problem.x) && is_computed(x.dtype) && x.size > 0 &&
         find_storage(x.dtype, problem.storage) && read_groups(kind, attribute, x, problem.groups);
}

// None, or an array of the dtype with a number for each channel or element.
bool read_parameter(PyObject* object, Plan& plan, const NormalizationProblem& problem,
                    Input& parameter) {
  if (object == Py_None) return true;
  if (!read_input(object, plan, parameter)) return false;
  const Layout& layout = parameter.layout;
  const int axes = problem.groups.weight_axes;
  const int64_t* sizes = problem.x.layout.shape.lengths + problem.groups.weight_axis;
  return layout.dtype == problem.storage.dtype && layout.ndim() == axes &&
         std::equal(sizes, sizes + axes, layout.shape.lengths);
}

bool read_eps(PyObject* object, const NormalizationProblem& problem, Plan& plan) {
  double& eps = plan.call.numbers[NormalizationProblem::kEps];
  if (object == Py_None && !problem.around_mean) {
    eps = problem.storage.element == Element::float64 ? std::numeric_limits<double>::epsilon()
                                                      : std::numeric_limits<float>::epsilon();
    return true;
  }
  return read_number(object, eps);
}

// The flag that chooses between the statistics of x and the running ones. One element has none.
bool read_own(PyObject* own, NormalizationProblem& problem) {
  problem.own = own == Py_True;
  return PyBool_Check(own) && !(problem.own && problem.groups.size() < 2);
}

// The running statistics, a number for each channel; both may be missing where they are not needed.
// They are inputs if they are `used`, and then move unless they are what x is normalized by.
bool read_running(PyObject* const* given, bool used, Plan& plan, NormalizationProblem& problem) {
  if (problem.own && given[0] == Py_None && given[1] == Py_None) return true;
  for (int i = 0; i < 2; ++i) {
    Layout& layout = problem.running[i].layout;
    if (!is_plain_array(given[i])) return false;
    describe(reinterpret_cast<PyArrayObject*>(given[i]), layout);
    if (layout.ndim() != 1 || layout.length(0) != problem.groups.channels ||
        !can_cast(layout.dtype, DType::float64)) {
      return false;
    }
    if (used) problem.running[i].place = plan.add(given[i]);
  }
  problem.moves = used && problem.own;
  return true;
}

// The output, and the running statistics where they move.
bool plan_outputs(const NormalizationProblem& problem, Plan& plan) {
  const Layout& x = problem.x.layout;
  plan.call.add_fresh(x.dtype, x.shape);
  for (int i = 0; problem.moves && i < 2; ++i) {
    plan.call.add_fresh(DType::float64, 1, &problem.groups.channels);
  }
  plan.call.several = problem.moves;
  plan.call.nanoseconds = cut(x.size, Cost::medium).nanoseconds;
  return true;
}

// The gradients of x, the weight and the bias, `count` of them, where `needed` says so.
bool plan_gradients(PyObject* gradient, PyObject* needed, int count, NormalizationProblem& problem,
                    Plan& plan) {
  const Layout& x = problem.x.layout;
  bool needs[3];
  if (!read_input(gradient, plan, problem.gradient) ||
      problem.gradient.layout.dtype != problem.storage.dtype ||
      !(problem.gradient.layout.shape == x.shape) || !read_needs(needed, count, needs)) {
    return false;
  }
  const NormalizationGroups& groups = problem.groups;
  for (int i = 0; i < count; ++i) {
    if (!needs[i]) {
      plan.call.add_absent();
    } else if (i == 0) {
      plan.call.add_fresh(x.dtype, x.shape);
    } else {
      plan.call.add_fresh(x.dtype, groups.weight_axes, x.shape.lengths + groups.weight_axis);
    }
  }
  plan.call.several = true;
  plan.call.nanoseconds = cut(x.size, Cost::medium).nanoseconds;
  return true;
}

// layer_norm: x, weight, bias, normalized_shape, eps. rms_norm: the same without a bias.
// group_norm: the same with num_groups.
template <Kind kKind>
bool plan_own(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  constexpr int kParameters = kKind == Kind::rms ? 1 : 2;
  NormalizationProblem& problem = plan.call.solved_by<run_normalization>();
  return count == kParameters + 3 &&
         read_x(kKind, arguments[0], arguments[kParameters + 1], plan, problem) &&
         read_parameter(arguments[1], plan, problem, problem.weight) &&
         (kParameters == 1 || read_parameter(arguments[2], plan, problem, problem.bias)) &&
         read_eps(arguments[kParameters + 2], problem, plan) && plan_outputs(problem, plan);
}

// grad_output, x, normalized_shape or num_groups, weight, eps, needs
template <Kind kKind>
bool plan_own_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  NormalizationProblem& problem = plan.call.solved_by<run_normalization_rule>();
  return count == 6 && read_x(kKind, arguments[1], arguments[2], plan, problem) &&
         read_parameter(arguments[3], plan, problem, problem.weight) &&
         read_eps(arguments[4], problem, plan) &&
         plan_gradients(arguments[0], arguments[5], kKind == Kind::rms ? 2 : 3, problem, plan);
}

// x, running_mean, running_var, weight, bias, training or use_input_stats, momentum, eps
template <Kind kKind>
bool plan_running(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  NormalizationProblem& problem = plan.call.solved_by<run_normalization>();
  return count == 8 && read_x(kKind, arguments[0], nullptr, plan, problem) &&
         read_parameter(arguments[3], plan, problem, problem.weight) &&
         read_parameter(arguments[4], plan, problem, problem.bias) &&
         read_own(arguments[5], problem) && read_running(arguments + 1, true, plan, problem) &&
         read_number(arguments[6], plan.call.numbers[NormalizationProblem::kMomentum]) &&
         read_eps(arguments[7], problem, plan) && plan_outputs(problem, plan);
}

// grad_output, x, running_mean, running_var, weight, training or use_input_stats, eps, needs
template <Kind kKind>
bool plan_running_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  NormalizationProblem& problem = plan.call.solved_by<run_normalization_rule>();
  return count == 8 && read_x(kKind, arguments[1], nullptr, plan, problem) &&
         read_parameter(arguments[4], plan, problem, problem.weight) &&
         read_own(arguments[5], problem) &&
         read_running(arguments + 2, !problem.own, plan, problem) &&
         read_eps(arguments[6], problem, plan) &&
         plan_gradients(arguments[0], arguments[7], 3, problem, plan);
}

}  // namespace

bool add_normalization_kernels(PyObject* kernels_by_name) {
  const struct {
    const char* name;
    PlanFunction plan;
  } plans[] = {
      {"layer_norm", plan_own<Kind::layer>},
      {"layer_norm_backward", plan_own_rule<Kind::layer>},
      {"rms_norm", plan_own<Kind::rms>},
      {"rms_norm_backward", plan_own_rule<Kind::rms>},
      {"group_norm", plan_own<Kind::group>},
      {"group_norm_backward", plan_own_rule<Kind::group>},
      {"instance_norm", plan_running<Kind::instance>},
      {"instance_norm_backward", plan_running_rule<Kind::instance>},
      {"batch_norm", plan_running<Kind::batch>},
      {"batch_norm_backward", plan_running_rule<Kind::batch>},
  };
  for (const auto& [name, plan] : plans) {
    if (!add_kernel(kernels_by_name, name, plan, nullptr)) return false;
  }
  return true;
}

}  // namespace extensor
