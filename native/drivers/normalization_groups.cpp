#include <cmath>

#include "normalization_memory.h"

namespace extensor {
namespace {

Cut group_pieces(const NormalizationGroups& groups) {
  return cut(groups.count, Cost::medium, groups.size());
}

// From a sum for each segment to the gradient of a number for each channel.
template <typename T>
void sum_segments(const NormalizationGroups& groups, const double* sums, char* target) {
  T* total = reinterpret_cast<T*>(target);
  for (int64_t channel = 0; channel < groups.channels; ++channel) {
    // Across the batch the segments of a channel are neighbours, else a sample apart.
    const int64_t samples = groups.count * groups.group.count / groups.channels;
    const int64_t first = groups.across_batch ? channel * samples : channel;
    const int64_t step = groups.across_batch ? 1 : groups.channels;
    double sum = 0;
    for (int64_t i = 0; i < samples; ++i) sum += sums[first + i * step];
    total[channel] = static_cast<T>(sum);
  }
}

class GroupRule {
 public:
  GroupRule(const NormalizationMemory& memory, char* const* gradients)
      : memory_(memory),
        groups_(memory.groups),
        gradients_(gradients),
        sums_(2 * memory.groups.count * memory.groups.group.count * sizeof(double)) {}

  void run() const {
    parallel_chunks(group_pieces(groups_), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) run_group(i);
    });
    const auto gather = is_wide() ? sum_segments<double> : sum_segments<float>;
    if (gradients_[1] != nullptr) gather(groups_, along(), gradients_[1]);
    if (gradients_[2] != nullptr) gather(groups_, plain(), gradients_[2]);
  }

 private:
  bool is_wide() const { return memory_.problem.storage.element == Element::float64; }

  // The sums of all segments.
  double* plain() const { return reinterpret_cast<double*>(sums_.data()); }
  double* along() const { return plain() + groups_.count * groups_.group.count; }

  void run_group(int64_t index) const {
    const NormalizationKernels& kernel = kernels().normalization;
    const int element = memory_.element();
    const bool own = memory_.problem.own;
    const int64_t offset = groups_.offset(index) * memory_.itemsize;
    const char *g = memory_.gradient() + offset, *x = memory_.group_data(index);
    double* own_plain = plain() + index * groups_.group.count;
    double* own_along = along() + index * groups_.group.count;
    Moments moments = memory_.mean_of(index);
    const auto sum = [&] {
      return kernel.sums[element](g, x, groups_.group, moments, own_plain, own_along);
    };
    const double variance = sum();
    if (own) {
      moments.scale = 1 / std::sqrt(variance + memory_.eps);
      for (int64_t k = 0; k < groups_.group.count; ++k) own_along[k] *= moments.scale;
      // An infinite scale comes before the sum, as in the formula: 0 times it is not 0.
      if (!std::isfinite(moments.scale)) sum();
    }
    if (gradients_[0] == nullptr) return;
    const Affine affine = memory_.affine_of(index);
    const double n = static_cast<double>(groups_.size());
    const double shift = own ? weighted(affine, own_plain, own_plain) / n : 0;
    const double stretch = own ? weighted(affine, own_along, own_plain) / n : 0;
    kernel.gradient[element](g, x, groups_.group, moments, affine, shift, stretch,
                             gradients_[0] + offset);
  }

  // The sum over the segments of a group, each with the weight of its channel. A weight of 0 leaves
  // nothing of gradients that are finite, whatever x is.
  double weighted(const Affine& affine, const double* sums, const double* gradients) const {
    double total = 0;
    for (int64_t k = 0; k < groups_.group.count; ++k) {
      const int64_t at = k * affine.step;
      double weight = 1;
      if (affine.weight != nullptr) {
        weight = is_wide() ? static_cast<const double*>(affine.weight)[at]
                           : static_cast<const float*>(affine.weight)[at];
      }
      const bool nothing = sums[k] == 0 || (weight == 0 && std::isfinite(gradients[k]));
      if (!nothing) total += sums[k] * weight;
    }
    return total;
  }

  const NormalizationMemory& memory_;
  const NormalizationGroups& groups_;
  char* const* gradients_;
  const TemporaryBlock sums_;
};

}  // namespace

void normalize_groups(const NormalizationMemory& memory, Moments* statistics, char* out) {
  const auto run = kernels().normalization.normalize[memory.element()];
  const NormalizationGroups& groups = memory.groups;
  parallel_chunks(group_pieces(groups), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Moments moments = memory.moments_of(i);
      if (statistics != nullptr) statistics[i] = moments;
      run(memory.group_data(i), groups.group, moments, memory.affine_of(i),
          out + groups.offset(i) * memory.itemsize);
    }
  });
}

void run_group_rule(const NormalizationMemory& memory, char* const* gradients) {
  GroupRule(memory, gradients).run();
}

}  // namespace extensor
