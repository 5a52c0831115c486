#include "normalization.h"

#include <algorithm>
#include <cstring>

#include "normalization_problem.h"

namespace extensor {
namespace {

using namespace normalization;

constexpr int64_t kPartialSums = 32;  // rows of partial sums for the gradients of weights, at most

// The normalized x, and its statistics for each group unless they are null.
PyObject* normalize(const Problem& problem, Moments* statistics) {
  PyArrayObject* x = problem.x.array();
  Reference result(new_array(problem.storage.typenum, PyArray_NDIM(x), PyArray_DIMS(x)));
  if (!result) return nullptr;
  const auto run = kernels().normalization.normalize[problem.element()];
  const Cut pieces = problem.pieces();
  Unlocked unlocked(pieces.nanoseconds);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Moments moments = problem.moments_of(i);
      if (statistics != nullptr) statistics[i] = moments;
      run(problem.group_data(i), problem.layout.group, moments, problem.affine_of(i),
          data_of(result) + problem.layout.offset(i) * problem.storage.itemsize);
    }
  });
  return result.release();
}

// Partial sums in rows, added into the first of them in their order.
template <typename T>
void add_rows(char* rows, int64_t count, int64_t n) {
  T* total = reinterpret_cast<T*>(rows);
  for (int64_t row = 1; row < count; ++row) {
    for (int64_t i = 0; i < n; ++i) total[i] += total[row * n + i];
  }
}

// What the rule of a weight for each channel gathers: a sum for each segment.
template <typename T>
void sum_segments(const Layout& layout, const double* sums, char* target) {
  T* total = reinterpret_cast<T*>(target);
  for (int64_t channel = 0; channel < layout.channels; ++channel) {
    // Across the batch the segments of a channel are neighbours, else a sample apart.
    const int64_t samples = layout.groups * layout.group.count / layout.channels;
    const int64_t first = layout.across_batch ? channel * samples : channel;
    const int64_t step = layout.across_batch ? 1 : layout.channels;
    double sum = 0;
    for (int64_t i = 0; i < samples; ++i) sum += sums[first + i * step];
    total[channel] = static_cast<T>(sum);
  }
}

// The gradients of x, the weight and the bias, those that are needed.
class Rule {
 public:
  Rule(const Problem& problem, PyArrayObject* gradient, const bool* needs)
      : problem_(problem),
        layout_(problem.layout),
        gradient_(static_cast<const char*>(PyArray_DATA(gradient))),
        pieces_(problem.pieces()) {
    std::copy_n(needs, 3, needs_);
    // Few enough rows of partial sums, whatever the number of groups.
    const int64_t chunk = (layout_.groups + kPartialSums - 1) / kPartialSums;
    pieces_.chunk = std::max(pieces_.chunk, chunk);
    pieces_.tasks = (layout_.groups + pieces_.chunk - 1) / pieces_.chunk;
  }

  PyObject* run(int count) {
    if (!prepare()) return nullptr;
    {
      Unlocked unlocked(pieces_.nanoseconds);
      parallel_chunks(pieces_, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) run_group(i, begin / pieces_.chunk);
      });
      gather();
    }
    Reference results(PyTuple_New(count));
    for (int i = 0; results && i < count; ++i) {
      PyObject* found = needs_[i] ? found_[i].release() : Py_NewRef(Py_None);
      PyTuple_SET_ITEM(results.get(), i, found);
    }
    return results.release();
  }

 private:
  bool prepare() {
    PyArrayObject* x = problem_.x.array();
    const int typenum = problem_.storage.typenum;
    const npy_intp* sizes = PyArray_DIMS(x);
    if (needs_[0]) found_[0].reset(new_array(typenum, PyArray_NDIM(x), sizes));
    sizes += layout_.by_element ? PyArray_NDIM(x) - layout_.weight_axes : 1;
    const npy_intp partial[] = {pieces_.tasks, layout_.channels};
    const npy_intp sums[] = {2, layout_.groups * layout_.group.count};
    sums_.reset(new_array(NPY_FLOAT64, 2, sums));
    for (int i = 1; i < 3; ++i) {
      if (!needs_[i]) continue;
      found_[i].reset(new_array(typenum, layout_.weight_axes, sizes));
      if (!layout_.by_element) continue;
      partial_[i].reset(new_array(typenum, 2, partial));
      if (!partial_[i]) return false;
      std::memset(data_of(partial_[i]), 0, PyArray_NBYTES(partial_[i].array()));
    }
    return sums_ && (!needs_[0] || found_[0]) && (!needs_[1] || found_[1]) &&
           (!needs_[2] || found_[2]);
  }

  void run_group(int64_t index, int64_t task) {
    const NormalizationKernels& kernel = kernels().normalization;
    const int element = problem_.element();
    const int64_t itemsize = problem_.storage.itemsize, offset = layout_.offset(index) * itemsize;
    const Moments moments = problem_.moments_of(index);
    const Affine affine = problem_.affine_of(index);
    const char *g = gradient_ + offset, *x = problem_.group_data(index);
    double* plain = reinterpret_cast<double*>(data_of(sums_)) + index * layout_.group.count;
    double* along = plain + layout_.groups * layout_.group.count;
    kernel.sums[element](g, x, layout_.group, moments, affine, plain, along);
    if (needs_[0]) {
      const double n = static_cast<double>(layout_.size());
      const double shift = problem_.own && problem_.around_mean ? weighted(affine, plain) / n : 0;
      const double stretch = problem_.own ? weighted(affine, along) / n : 0;
      kernel.gradient[element](g, x, layout_.group, moments, affine, shift, stretch,
                               data_of(found_[0]) + offset);
    }
    if (layout_.by_element && (needs_[1] || needs_[2])) {
      char* rows[3] = {};
      for (int i = 1; i < 3; ++i) {
        if (needs_[i]) rows[i] = data_of(partial_[i]) + task * layout_.channels * itemsize;
      }
      kernel.parameters[element](g, x, layout_.channels, moments, rows[1], rows[2]);
    }
  }

  // The sum over the segments of a group, each with the weight of its channel.
  double weighted(const Affine& affine, const double* sums) const {
    double total = 0;
    for (int64_t k = 0; k < layout_.group.count; ++k) {
      const int64_t at = k * affine.step;
      double weight = 1;
      if (affine.weight != nullptr && !affine.by_element) {
        weight = problem_.storage.element == Element::float64
                     ? static_cast<const double*>(affine.weight)[at]
                     : static_cast<const float*>(affine.weight)[at];
      }
      if (sums[k] != 0) total += sums[k] * weight;
    }
    return total;
  }

  void gather() {
    const bool wide = problem_.storage.element == Element::float64;
    const double* sums = reinterpret_cast<const double*>(data_of(sums_));
    for (int i = 1; i < 3; ++i) {
      if (!needs_[i]) continue;
      if (layout_.by_element) {
        (wide ? add_rows<double> : add_rows<float>)(data_of(partial_[i]), pieces_.tasks,
                                                    layout_.channels);
        std::memcpy(data_of(found_[i]), data_of(partial_[i]), PyArray_NBYTES(found_[i].array()));
      } else {
        const double* own = i == 2 ? sums : sums + layout_.groups * layout_.group.count;
        (wide ? sum_segments<double> : sum_segments<float>)(layout_, own, data_of(found_[i]));
      }
    }
  }

  const Problem& problem_;
  const Layout& layout_;
  const char* gradient_;
  Cut pieces_;
  bool needs_[3];
  Reference found_[3], partial_[3], sums_;
};

PyObject* run_rule(const Problem& problem, PyObject* gradient, PyObject* needed, int count) {
  PyArrayObject* given = as_array(gradient);
  PyArrayObject* x = problem.x.array();
  if (PyArray_TYPE(given) != problem.storage.typenum || PyArray_NDIM(given) != PyArray_NDIM(x) ||
      !PyArray_CompareLists(PyArray_DIMS(given), PyArray_DIMS(x), PyArray_NDIM(x)) ||
      !PyTuple_CheckExact(needed) || PyTuple_GET_SIZE(needed) != count) {
    return not_implemented();
  }
  bool needs[3] = {};
  for (int i = 0; i < count; ++i) needs[i] = PyTuple_GET_ITEM(needed, i) == Py_True;
  Reference plain(contiguous(given));
  return plain ? Rule(problem, plain.array(), needs).run(count) : nullptr;
}

enum class Kind { layer, rms, group, instance, batch };

bool read_layout(Kind kind, PyArrayObject* x, PyObject* attribute, Layout& layout) {
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
  return normalize(problem, nullptr);
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
  const Layout& layout = problem.layout;
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
  if (!running || !problem.own) return normalize(problem, nullptr);
  const npy_intp shape[] = {problem.layout.groups, sizeof(Moments) / sizeof(double)};
  Reference statistics(new_array(NPY_FLOAT64, 2, shape));
  if (!statistics) return nullptr;
  Moments* moments = reinterpret_cast<Moments*>(data_of(statistics));
  Reference output(normalize(problem, moments));
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
