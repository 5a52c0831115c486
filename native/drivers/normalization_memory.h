// What the ways to normalize share: the memory of one run, group by group.
#pragma once

#include <cmath>
#include <optional>

#include "copying.h"
#include "normalization.h"

namespace extensor {

class NormalizationMemory {
 public:
  NormalizationMemory(const NormalizationProblem& problem, const Buffers& buffers)
      : problem(problem),
        groups(problem.groups),
        itemsize(problem.storage.itemsize),
        eps(buffers.numbers[NormalizationProblem::kEps]),
        x_(problem.x, buffers, problem.storage.dtype),
        gradient_(problem.gradient, buffers, problem.storage.dtype),
        weight_(problem.weight, buffers, problem.storage.dtype),
        bias_(problem.bias, buffers, problem.storage.dtype),
        mean_(problem.running[0], buffers, DType::float64),
        variance_(problem.running[1], buffers, DType::float64) {}

  const NormalizationProblem& problem;
  const NormalizationGroups& groups;
  const int64_t itemsize;
  const double eps;

  int element() const { return problem.storage.index(); }
  const char* x() const { return x_.data(); }
  const char* gradient() const { return gradient_.data(); }
  // From a place on; null where there is none.
  const char* weight(int64_t skipped_bytes) const { return weight_.from(skipped_bytes); }
  const char* bias(int64_t skipped_bytes) const { return bias_.from(skipped_bytes); }
  const double* running(int which) const {
    return reinterpret_cast<const double*>((which == 0 ? mean_ : variance_).data());
  }

  const char* group_data(int64_t index) const { return x() + groups.offset(index) * itemsize; }
  Affine affine_of(int64_t index) const {
    const int64_t skipped = groups.first_channel(index) * itemsize;
    return {weight(skipped), bias(skipped), groups.channel_step()};
  }
  Moments moments_of(int64_t index) const {
    if (!problem.own) return running_of(index);
    return kernels().normalization.moments[element()](group_data(index), groups.run(), eps);
  }
  // Without the variance, where it is found on the way.
  Moments mean_of(int64_t index) const {
    if (!problem.own) return running_of(index);
    return kernels().normalization.mean[element()](group_data(index), groups.run());
  }
  Moments running_of(int64_t index) const {
    const int64_t channel = groups.first_channel(index);
    const double variance = running(1)[channel];
    return {running(0)[channel], 0, variance, 1 / std::sqrt(variance + eps)};
  }

 private:
  // An input in C order and of a dtype, if it is given.
  class Input {
   public:
    Input(const NormalizationProblem::Input& input, const Buffers& buffers, DType dtype) {
      if (input.place >= 0) memory_.emplace(input.layout, buffers.inputs[input.place], dtype);
    }
    const char* data() const { return memory_->data(); }
    const char* from(int64_t skipped_bytes) const {
      return memory_ ? memory_->data() + skipped_bytes : nullptr;
    }

   private:
    std::optional<Contiguous> memory_;
  };

  const Input x_, gradient_, weight_, bias_, mean_, variance_;
};

// Where a group is a row with a weight for each element: the last axes of x, or its channels with
// nothing behind them. The gradients are those of x, the weight and the bias; null for one that is
// not needed.
void normalize_rows(const NormalizationMemory& memory, char* out);
void run_row_rule(const NormalizationMemory& memory, char* const* gradients);

// Where a group is a column of a matrix: (batch, channels), and nothing behind them. Gives the
// statistics of each column as well.
void normalize_columns(const NormalizationMemory& memory, Moments* statistics, char* out);
void run_column_rule(const NormalizationMemory& memory, char* const* gradients);

// Where a group is a run of memory, or several, and has a weight for each channel. Gives the
// statistics of each group as well, unless they are null.
void normalize_groups(const NormalizationMemory& memory, Moments* statistics, char* out);
void run_group_rule(const NormalizationMemory& memory, char* const* gradients);

}  // namespace extensor
