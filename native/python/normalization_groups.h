// Normalization where a group is a run of memory, or several, and has a weight for each channel.
#pragma once

#include <algorithm>
#include <cmath>

#include "normalization_gradients.h"

namespace extensor::normalization {

inline Cut group_pieces(const AxisLayout& layout) {
  return cut(layout.groups, Cost::medium, layout.size());
}

// The normalized x, and the statistics of each group unless they are null.
inline PyObject* normalize_groups(const Problem& problem, Moments* statistics) {
  PyArrayObject* x = problem.x.array();
  Reference result(new_array(problem.storage.typenum, PyArray_NDIM(x), PyArray_DIMS(x)));
  if (!result) return nullptr;
  const auto run = kernels().normalization.normalize[problem.element()];
  const Cut pieces = group_pieces(problem.layout);
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

// From a sum for each segment to the gradient of a number for each channel.
template <typename T>
void sum_segments(const AxisLayout& layout, const double* sums, char* target) {
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
        gradients_(gradients) {}

  // False with a Python error set.
  bool run() {
    const npy_intp sums[] = {2, layout_.groups * layout_.group.count};
    sums_.reset(new_array(NPY_FLOAT64, 2, sums));
    if (!sums_ || !gradients_.make(problem_)) return false;
    const Cut pieces = group_pieces(layout_);
    Unlocked unlocked(pieces.nanoseconds);
    parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) run_group(i);
    });
    const bool wide = problem_.storage.element == Element::float64;
    const auto gather = wide ? sum_segments<double> : sum_segments<float>;
    if (gradients_.needs[1]) gather(layout_, along(), gradients_.data(1));
    if (gradients_.needs[2]) gather(layout_, plain(), gradients_.data(2));
    return true;
  }

 private:
  // The sums of all segments.
  double* plain() const { return reinterpret_cast<double*>(data_of(sums_)); }
  double* along() const { return plain() + layout_.groups * layout_.group.count; }

  void run_group(int64_t index) const {
    const NormalizationKernels& kernel = kernels().normalization;
    const int element = problem_.element();
    const int64_t offset = layout_.offset(index) * problem_.storage.itemsize;
    const char *g = gradient_ + offset, *x = problem_.group_data(index);
    double* own_plain = plain() + index * layout_.group.count;
    double* own_along = along() + index * layout_.group.count;
    Moments moments = problem_.mean_of(index);
    const auto sum = [&] {
      return kernel.sums[element](g, x, layout_.group, moments, own_plain, own_along);
    };
    const double variance = sum();
    if (problem_.own) {
      moments.scale = 1 / std::sqrt(variance + problem_.eps);
      for (int64_t k = 0; k < layout_.group.count; ++k) own_along[k] *= moments.scale;
      // An infinite scale comes before the sum, as in the formula: 0 times it is not 0.
      if (!std::isfinite(moments.scale)) sum();
    }
    if (!gradients_.needs[0]) return;
    const Affine affine = problem_.affine_of(index);
    const double n = static_cast<double>(layout_.size());
    const double shift = problem_.own ? weighted(affine, own_plain) / n : 0;
    const double stretch = problem_.own ? weighted(affine, own_along) / n : 0;
    kernel.gradient[element](g, x, layout_.group, moments, affine, shift, stretch,
                             gradients_.data(0) + offset);
  }

  // The sum over the segments of a group, each with the weight of its channel.
  double weighted(const Affine& affine, const double* sums) const {
    double total = 0;
    for (int64_t k = 0; k < layout_.group.count; ++k) {
      const int64_t at = k * affine.step;
      double weight = 1;
      if (affine.weight != nullptr) {
        weight = problem_.storage.element == Element::float64
                     ? static_cast<const double*>(affine.weight)[at]
                     : static_cast<const float*>(affine.weight)[at];
      }
      if (sums[k] != 0) total += sums[k] * weight;
    }
    return total;
  }

  const Problem& problem_;
  const AxisLayout& layout_;
  const char* gradient_;
  Gradients& gradients_;
  Reference sums_;
};

}  // namespace extensor::normalization
