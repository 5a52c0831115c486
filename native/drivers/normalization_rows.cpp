#include <algorithm>
#include <cstring>

#include "normalization_memory.h"
#include "reduction.h"

namespace extensor {
namespace {

// Samples whose gradients of weights are added before those of other tasks; fewer where there would
// not be enough tasks.
constexpr int64_t kSamplesPerSum = 64;
constexpr int64_t kEnoughTasks = 32;

// A sample has all numbers of a weight, in as many rows as it has groups.
Cut sample_pieces(const NormalizationGroups& groups) {
  return cut(groups.count * groups.size() / groups.channels, Cost::medium, groups.channels);
}

// Calls body(skipped bytes of the array, of the weight, the panel) for the rows of samples.
template <typename Body>
void for_each_panel(const NormalizationMemory& memory, int64_t begin, int64_t end, Body body) {
  const int64_t n = memory.groups.size(), all = memory.groups.channels;
  const int64_t itemsize = memory.itemsize;
  for (int64_t channel = 0; channel < all; channel += n) {
    body((begin * all + channel) * itemsize, channel * itemsize, Panel{end - begin, n, all});
  }
}

// The sum of rows of numbers, one for each weight.
void sum_rows(const NormalizationMemory& memory, const char* rows, int64_t count, char* out) {
  static const Reduction& sum = find_reduction("sum");
  AxisGroups axes;
  axes.add(count, true);
  if (memory.groups.channels != 1) axes.add(memory.groups.channels, false);
  reduce(sum, memory.problem.storage.element, rows, axes, out);
}

}  // namespace

void normalize_rows(const NormalizationMemory& memory, char* out) {
  const auto run = kernels().row_normalization.normalize[memory.element()];
  parallel_chunks(sample_pieces(memory.groups), [&](int64_t begin, int64_t end) {
    for_each_panel(memory, begin, end, [&](int64_t skipped, int64_t channel, const Panel& panel) {
      run(memory.x() + skipped, panel, memory.problem.around_mean, memory.eps,
          memory.weight(channel), memory.bias(channel), out + skipped);
    });
  });
}

void run_row_rule(const NormalizationMemory& memory, char* const* gradients) {
  Cut pieces = sample_pieces(memory.groups);
  const int64_t chunk = (pieces.items + kEnoughTasks - 1) / kEnoughTasks;
  pieces.chunk = std::max(pieces.chunk, std::min(chunk, kSamplesPerSum));
  pieces.tasks = (pieces.items + pieces.chunk - 1) / pieces.chunk;
  // A row of sums for each task, of which a single one is the gradient itself.
  const int64_t row_bytes = memory.groups.channels * memory.itemsize;
  std::optional<TemporaryBlock> partial[3];
  char* rows[3] = {};
  for (int i = 1; i < 3; ++i) {
    rows[i] = gradients[i];
    if (gradients[i] == nullptr || pieces.tasks == 1) continue;
    rows[i] = partial[i].emplace(pieces.tasks * row_bytes).data();
  }
  const auto run = kernels().row_normalization.rule[memory.element()];
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    char* sums[3] = {};
    for (int i = 1; i < 3; ++i) {
      if (rows[i] == nullptr) continue;
      sums[i] = rows[i] + begin / pieces.chunk * row_bytes;
      std::memset(sums[i], 0, row_bytes);
    }
    for_each_panel(memory, begin, end, [&](int64_t skipped, int64_t channel, const Panel& panel) {
      const auto at = [](char* data, int64_t bytes) { return data ? data + bytes : nullptr; };
      run(memory.gradient() + skipped, memory.x() + skipped, panel, memory.problem.around_mean,
          memory.eps, memory.weight(channel), at(gradients[0], skipped), at(sums[1], channel),
          at(sums[2], channel));
    });
  });
  for (int i = 1; i < 3; ++i) {
    if (partial[i]) sum_rows(memory, rows[i], pieces.tasks, gradients[i]);
  }
}

}  // namespace extensor
