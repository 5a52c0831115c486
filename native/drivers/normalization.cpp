#include "normalization.h"

#include "normalization_memory.h"

namespace extensor {
namespace {

// (1 - momentum) * running + momentum * own, where a channel's own is the mean over its groups.
void move_running(const NormalizationMemory& memory, const Moments* statistics, double momentum,
                  int which, char* target) {
  const NormalizationGroups& groups = memory.groups;
  const int64_t channels = groups.channels, samples = groups.count / channels;
  const double n = static_cast<double>(groups.size());
  const double* before = memory.running(which);
  double* out = reinterpret_cast<double*>(target);
  for (int64_t channel = 0; channel < channels; ++channel) {
    double total = 0;
    for (int64_t i = 0; i < samples; ++i) {
      const Moments& own = statistics[i * channels + channel];
      total += which == 0 ? own.first + own.shift : own.variance * (n / (n - 1));
    }
    out[channel] =
        (1 - momentum) * before[channel] + momentum * (total / static_cast<double>(samples));
  }
}

}  // namespace

void NormalizationGroups::take_last_axes(const Layout& x, int axes) {
  weight_axes = axes;
  weight_axis = x.ndim() - axes;
  channels = 1;
  for (int axis = weight_axis; axis < x.ndim(); ++axis) channels *= x.length(axis);
  count = x.size / channels;
  group = {1, channels, channels};
  by_row = true;
}

bool NormalizationGroups::take_groups(const Layout& x, int64_t groups) {
  if (x.ndim() < 2) return false;
  channels = x.length(1);
  const int64_t places = x.size / (x.length(0) * channels);
  by_row = groups != 0 && places == 1;
  if (groups == 0) groups = channels;
  if (channels % groups != 0) return false;
  count = x.length(0) * groups;
  group = {channels / groups, places, places};
  if (by_row) group = run();
  return true;
}

bool NormalizationGroups::take_channels(const Layout& x) {
  if (x.ndim() < 2) return false;
  channels = count = x.length(1);
  const int64_t places = x.size / (x.length(0) * channels);
  group = {x.length(0), places, channels * places};
  across_batch = true;
  return true;
}

void run_normalization(const NormalizationProblem& problem, const Buffers& buffers) {
  const NormalizationMemory memory(problem, buffers);
  const NormalizationGroups& groups = problem.groups;
  char* const out = buffers.outputs[0];
  if (groups.by_row) return normalize_rows(memory, out);
  if (!groups.by_column() && !problem.moves) return normalize_groups(memory, nullptr, out);
  const TemporaryBlock block(groups.count * sizeof(Moments));
  Moments* const statistics = reinterpret_cast<Moments*>(block.data());
  (groups.by_column() ? normalize_columns : normalize_groups)(memory, statistics, out);
  for (int i = 0; problem.moves && i < 2; ++i) {
    move_running(memory, statistics, buffers.numbers[NormalizationProblem::kMomentum], i,
                 buffers.outputs[1 + i]);
  }
}

void run_normalization_rule(const NormalizationProblem& problem, const Buffers& buffers) {
  const NormalizationMemory memory(problem, buffers);
  const NormalizationGroups& groups = problem.groups;
  const auto run = groups.by_row        ? run_row_rule
                   : groups.by_column() ? run_column_rule
                                        : run_group_rule;
  // A mean square alone goes without a bias.
  char* const* found = buffers.outputs;
  char* const gradients[] = {found[0], found[1], problem.around_mean ? found[2] : nullptr};
  run(memory, gradients);
}

}  // namespace extensor
