// The rules of normalizations: the gradients of x, the weight and the bias, those that are needed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "normalization_problem.h"
#include "reduction.h"

namespace extensor::normalization {

// Groups whose gradients of weights are added before those of other tasks; fewer where there would
// not be enough tasks.
constexpr int64_t kGroupsPerSum = 64;
constexpr int64_t kEnoughTasks = 32;

struct Gradients {
  bool needs[3] = {};
  Reference found[3];

  // Room for the gradient of input i, as large as these axes of x.
  bool make(int i, const Problem& problem, int axis, int axes) {
    const npy_intp* sizes = PyArray_DIMS(problem.x.array()) + axis;
    found[i].reset(new_array(problem.storage.typenum, axes, sizes));
    return static_cast<bool>(found[i]);
  }
  bool make_x(const Problem& problem) {
    return !needs[0] || make(0, problem, 0, PyArray_NDIM(problem.x.array()));
  }
  bool make_parameter(int i, const Problem& problem) {
    return !needs[i] || make(i, problem, problem.layout.weight_axis, problem.layout.weight_axes);
  }
  // The gradient of input i, or null.
  char* data(int i) const { return found[i] ? data_of(found[i]) : nullptr; }

  PyObject* as_tuple(int count) {
    Reference results(PyTuple_New(count));
    for (int i = 0; results && i < count; ++i) {
      PyTuple_SET_ITEM(results.get(), i, needs[i] ? found[i].release() : Py_NewRef(Py_None));
    }
    return results.release();
  }
};

// From a sum for each segment to the gradient of a number for each channel.
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

class GroupRule {
 public:
  GroupRule(const Problem& problem, PyArrayObject* gradient, Gradients& gradients)
      : problem_(problem),
        layout_(problem.layout),
        gradient_(static_cast<const char*>(PyArray_DATA(gradient))),
        gradients_(gradients),
        pieces_(problem.pieces()) {
    const int64_t chunk = (layout_.groups + kEnoughTasks - 1) / kEnoughTasks;
    pieces_.chunk = std::max(pieces_.chunk, std::min(chunk, kGroupsPerSum));
    pieces_.tasks = (layout_.groups + pieces_.chunk - 1) / pieces_.chunk;
  }

  // False with a Python error set.
  bool run() {
    if (!prepare()) return false;
    {
      Unlocked unlocked(pieces_.nanoseconds);
      parallel_chunks(pieces_, [&](int64_t begin, int64_t end) {
        char *to_weight = clear_row(1, begin), *to_bias = clear_row(2, begin);
        for (int64_t i = begin; i < end; ++i) run_group(i, to_weight, to_bias);
      });
    }
    return gather(1) && gather(2);
  }

 private:
  bool prepare() {
    const npy_intp sums[] = {2, layout_.groups * layout_.group.count};
    sums_.reset(new_array(NPY_FLOAT64, 2, sums));
    if (!sums_ || !gradients_.make_x(problem_)) return false;
    npy_intp partial[kMaxDimensions + 1] = {pieces_.tasks};
    const npy_intp* sizes = PyArray_DIMS(problem_.x.array()) + layout_.weight_axis;
    std::copy_n(sizes, layout_.weight_axes, partial + 1);
    for (int i = 1; layout_.by_element && i < 3; ++i) {
      if (!gradients_.needs[i]) continue;
      partial_[i].reset(new_array(problem_.storage.typenum, layout_.weight_axes + 1, partial));
      if (!partial_[i]) return false;
    }
    return true;
  }

  // The partial sums of the task that begins with this group, at 0; null if there are none.
  char* clear_row(int i, int64_t begin) const {
    if (!partial_[i]) return nullptr;
    const int64_t bytes = layout_.channels * problem_.storage.itemsize;
    char* row = data_of(partial_[i]) + begin / pieces_.chunk * bytes;
    std::memset(row, 0, bytes);
    return row;
  }

  void run_group(int64_t index, char* to_weight, char* to_bias) const {
    const NormalizationKernels& kernel = kernels().normalization;
    const int element = problem_.element();
    const int64_t itemsize = problem_.storage.itemsize, offset = layout_.offset(index) * itemsize;
    const char *g = gradient_ + offset, *x = problem_.group_data(index);
    const Affine affine = problem_.affine_of(index);
    double* plain = reinterpret_cast<double*>(data_of(sums_)) + index * layout_.group.count;
    double* along = plain + layout_.groups * layout_.group.count;
    Moments moments = problem_.mean_of(index);
    const auto sum = [&] {
      return kernel.sums[element](g, x, layout_.group, moments, affine, plain, along);
    };
    const double variance = sum();
    if (problem_.own) {
      moments.scale = 1 / std::sqrt(variance + problem_.eps);
      for (int64_t k = 0; k < layout_.group.count; ++k) along[k] *= moments.scale;
      // An infinite scale comes before the sum, as in the formula: 0 times it is not 0.
      if (!std::isfinite(moments.scale)) sum();
    }
    char* const out = gradients_.data(0);
    if (out == nullptr && to_weight == nullptr && to_bias == nullptr) return;
    const double n = static_cast<double>(layout_.size());
    const double shift = problem_.own && problem_.around_mean ? weighted(affine, plain) / n : 0;
    const double stretch = problem_.own ? weighted(affine, along) / n : 0;
    const auto at = [](char* array, int64_t bytes) { return array ? array + bytes : nullptr; };
    const int64_t skipped = layout_.first_channel(index) * itemsize;
    kernel.gradient[element](g, x, layout_.group, moments, affine, shift, stretch, at(out, offset),
                             at(to_weight, skipped), at(to_bias, skipped));
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

  // From the sums of tasks or of segments to the gradient of a parameter.
  bool gather(int i) {
    if (!gradients_.needs[i]) return true;
    if (layout_.by_element) {
      const npy_intp* sizes = PyArray_DIMS(problem_.x.array()) + layout_.weight_axis;
      gradients_.found[i].reset(sum_to_shape(partial_[i].array(), layout_.weight_axes, sizes));
      return static_cast<bool>(gradients_.found[i]);
    }
    if (!gradients_.make_parameter(i, problem_)) return false;
    const double* plain = reinterpret_cast<const double*>(data_of(sums_));
    const double* sums = i == 2 ? plain : plain + layout_.groups * layout_.group.count;
    const bool wide = problem_.storage.element == Element::float64;
    (wide ? sum_segments<double> : sum_segments<float>)(layout_, sums, gradients_.data(i));
    return true;
  }

  const Problem& problem_;
  const Layout& layout_;
  const char* gradient_;
  Gradients& gradients_;
  Cut pieces_;
  Reference partial_[3], sums_;
};

}  // namespace extensor::normalization
