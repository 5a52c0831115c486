#include "families.h"
#include "normalization_columns.h"
#include "normalization_groups.h"
#include "normalization_rows.h"

namespace extensor {
namespace {

using namespace normalization;

PyObject* run_rule(const Problem& problem, PyObject* gradient, PyObject* needed, int count) {
  PyArrayObject* given = as_array(gradient);
  PyArrayObject* x = problem.x.array();
  if (PyArray_TYPE(given) != problem.storage.typenum || PyArray_NDIM(given) != PyArray_NDIM(x) ||
      !PyArray_CompareLists(PyArray_DIMS(given), PyArray_DIMS(x), PyArray_NDIM(x)) ||
      !PyTuple_CheckExact(needed) || PyTuple_GET_SIZE(needed) != count) {
    return not_implemented();
  }
  Gradients gradients;
  for (int i = 0; i < count; ++i) gradients.needs[i] = PyTuple_GET_ITEM(needed, i) == Py_True;
  Reference plain(contiguous(given));
  if (!plain) return nullptr;
  const bool found = problem.layout.by_row ? run_row_rule(problem, plain.array(), gradients)
                     : problem.layout.by_column()
                         ? run_column_rule(problem, plain.array(), gradients)
                         : GroupRule(problem, plain.array(), gradients).run();
  return found ? gradients.as_tuple(count) : nullptr;
}

enum class Kind { layer, rms, group, instance, batch };

bool read_layout(Kind kind, PyArrayObject* x, PyObject* attribute, AxisLayout& layout) {
  npy_intp groups = 0;
  switch (kind) {
    case Kind::layer:
    case Kind::rms:
      return layout.read_last_axes(x, attribute);
    case Kind::group:
      return read_per_axis(attribute, 1, 1, &groups) && layout.read_groups(x, groups);
    case Kind::instance:
      return PyArray_NDIM(x) > 2 && layout.read_groups(x, 0);
    case Kind::batch:
      return layout.read_channels(x);
  }
  return false;
}

// layer_norm: x, weight, bias, normalized_shape, eps. rms_norm: the same without a bias.
// group_norm: the same with num_groups.
template <Kind kKind>
PyObject* call_own(const void*, PyObject* const* arguments, Py_ssize_t count) {
  constexpr int kParameters = kKind == Kind::rms ? 1 : 2;
  Problem problem;
  problem.around_mean = kKind != Kind::rms;
  if (count != kParameters + 3 || !problem.accepts(arguments[0])) return not_implemented();
  PyArrayObject* x = as_array(arguments[0]);
  PyObject* bias = kParameters > 1 ? arguments[2] : Py_None;
  if (!read_layout(kKind, x, arguments[kParameters + 1], problem.layout) ||
      !problem.is_parameter(arguments[1], x) || !problem.is_parameter(bias, x) ||
      !problem.read_eps(arguments[kParameters + 2])) {
    return not_implemented();
  }
  if (!problem.hold(arguments[0], arguments[1], bias, nullptr)) return nullptr;
  return problem.layout.by_row ? normalize_rows(problem) : normalize_groups(problem, nullptr);
}

// grad_output, x, normalized_shape or num_groups, weight, eps, needs
template <Kind kKind>
PyObject* call_own_rule(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Problem problem;
  problem.around_mean = kKind != Kind::rms;
  if (count != 6 || !is_plain_array(arguments[0]) || !problem.accepts(arguments[1])) {
    return not_implemented();
  }
  PyArrayObject* x = as_array(arguments[1]);
  if (!read_layout(kKind, x, arguments[2], problem.layout) ||
      !problem.is_parameter(arguments[3], x) || !problem.read_eps(arguments[4])) {
    return not_implemented();
  }
  if (!problem.hold(arguments[1], arguments[3], Py_None, nullptr)) return nullptr;
  return run_rule(problem, arguments[0], arguments[5], kKind == Kind::rms ? 2 : 3);
}

// `own` is the flag that chooses between the statistics of x and the running ones, if they are
// there. False for what Python has to look at.
bool read_statistics(Problem& problem, PyObject* const* running, PyObject* own) {
  if (!PyBool_Check(own)) return false;
  problem.own = own == Py_True;
  if (problem.own && problem.layout.size() < 2) return false;
  if (problem.own && running[0] == Py_None && running[1] == Py_None) return true;
  return problem.has_statistics(running);
}

// (1 - momentum) * running + momentum * own, where a channel's own is the mean over its groups.
PyObject* moved(const Problem& problem, const Moments* statistics, double momentum, int which) {
  const AxisLayout& layout = problem.layout;
  const npy_intp channels = layout.channels;
  Reference result(new_array(NPY_FLOAT64, 1, &channels));
  if (!result) return nullptr;
  const double n = static_cast<double>(layout.size());
  const int64_t samples = layout.groups / layout.channels;
  double* out = reinterpret_cast<double*>(data_of(result));
  const double* before = reinterpret_cast<const double*>(data_of(problem.running[which]));
  for (int64_t channel = 0; channel < channels; ++channel) {
    double total = 0;
    for (int64_t i = 0; i < samples; ++i) {
      const Moments& own = statistics[i * channels + channel];
      total += which == 0 ? own.first + own.shift : own.variance * (n / (n - 1));
    }
    out[channel] =
        (1 - momentum) * before[channel] + momentum * (total / static_cast<double>(samples));
  }
  return result.release();
}

// x, running_mean, running_var, weight, bias, training or use_input_stats, momentum, eps
template <Kind kKind>
PyObject* call_running(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Problem problem;
  double momentum;
  if (count != 8 || !problem.accepts(arguments[0])) return not_implemented();
  PyArrayObject* x = as_array(arguments[0]);
  if (!read_layout(kKind, x, nullptr, problem.layout) || !problem.is_parameter(arguments[3], x) ||
      !problem.is_parameter(arguments[4], x) ||
      !read_statistics(problem, arguments + 1, arguments[5]) ||
      !read_number(arguments[6], momentum) || !problem.read_eps(arguments[7])) {
    return not_implemented();
  }
  const bool running = arguments[1] != Py_None;
  if (!problem.hold(arguments[0], arguments[3], arguments[4], running ? arguments + 1 : nullptr)) {
    return nullptr;
  }
  TemporaryBlock statistics(problem.layout.groups * sizeof(Moments));
  if (statistics.data() == nullptr) return PyErr_NoMemory();
  Moments* moments = reinterpret_cast<Moments*>(statistics.data());
  Reference output(problem.layout.by_column() ? normalize_columns(problem, moments)
                                              : normalize_groups(problem, moments));
  if (!running || !problem.own) return output.release();
  Reference mean(output ? moved(problem, moments, momentum, 0) : nullptr);
  Reference variance(mean ? moved(problem, moments, momentum, 1) : nullptr);
  return variance ? PyTuple_Pack(3, output.get(), mean.get(), variance.get()) : nullptr;
}

// grad_output, x, running_mean, running_var, weight, training or use_input_stats, eps, needs
template <Kind kKind>
PyObject* call_running_rule(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Problem problem;
  if (count != 8 || !is_plain_array(arguments[0]) || !problem.accepts(arguments[1])) {
    return not_implemented();
  }
  PyArrayObject* x = as_array(arguments[1]);
  if (!read_layout(kKind, x, nullptr, problem.layout) || !problem.is_parameter(arguments[4], x) ||
      !read_statistics(problem, arguments + 2, arguments[5]) || !problem.read_eps(arguments[6])) {
    return not_implemented();
  }
  if (!problem.hold(arguments[1], arguments[4], Py_None, problem.own ? nullptr : arguments + 2)) {
    return nullptr;
  }
  return run_rule(problem, arguments[0], arguments[7], 3);
}

}  // namespace

bool add_normalization_kernels(PyObject* kernels_by_name) {
  const struct {
    const char* name;
    KernelCall call;
  } calls[] = {
      {"layer_norm", call_own<Kind::layer>},
      {"layer_norm_backward", call_own_rule<Kind::layer>},
      {"rms_norm", call_own<Kind::rms>},
      {"rms_norm_backward", call_own_rule<Kind::rms>},
      {"group_norm", call_own<Kind::group>},
      {"group_norm_backward", call_own_rule<Kind::group>},
      {"instance_norm", call_running<Kind::instance>},
      {"instance_norm_backward", call_running_rule<Kind::instance>},
      {"batch_norm", call_running<Kind::batch>},
      {"batch_norm_backward", call_running_rule<Kind::batch>},
  };
  for (const auto& [name, call] : calls) {
    if (!add_kernel(kernels_by_name, name, call, nullptr)) return false;
  }
  return true;
}

}  // namespace extensor
