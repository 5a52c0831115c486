// Normalization where a group is a row with a weight for each element: the last axes of x, or its
// channels with nothing behind them.
#pragma once

#include <algorithm>
#include <cstring>

#include "legacy_reduction.h"
#include "normalization_gradients.h"

namespace extensor::normalization {

// Samples whose gradients of weights are added before those of other tasks; fewer where there would
// not be enough tasks.
constexpr int64_t kSamplesPerSum = 64;
constexpr int64_t kEnoughTasks = 32;

// A sample has all numbers of a weight, in as many rows as it has groups.
inline Cut sample_pieces(const AxisLayout& layout) {
  return cut(layout.groups * layout.size() / layout.channels, Cost::medium, layout.channels);
}

// Calls body(skipped bytes of the array, of the weight, the panel) for the rows of samples.
template <typename Body>
void for_each_panel(const Problem& problem, int64_t begin, int64_t end, Body body) {
  const int64_t n = problem.layout.size(), all = problem.layout.channels;
  const int64_t itemsize = problem.storage.itemsize;
  for (int64_t channel = 0; channel < all; channel += n) {
    body((begin * all + channel) * itemsize, channel * itemsize, Panel{end - begin, n, all});
  }
}

inline PyObject* normalize_rows(const Problem& problem) {
  PyArrayObject* x = problem.x.array();
  Reference result(new_array(problem.storage.typenum, PyArray_NDIM(x), PyArray_DIMS(x)));
  if (!result) return nullptr;
  const auto run = kernels().row_normalization.normalize[problem.element()];
  const Cut pieces = sample_pieces(problem.layout);
  Unlocked unlocked(pieces.nanoseconds);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    for_each_panel(problem, begin, end, [&](int64_t skipped, int64_t channel, const Panel& panel) {
      run(data_of(problem.x) + skipped, panel, problem.around_mean, problem.eps,
          problem.parameter(0, channel), problem.parameter(1, channel), data_of(result) + skipped);
    });
  });
  return result.release();
}

// False with a Python error set.
inline bool run_row_rule(const Problem& problem, PyArrayObject* gradient, Gradients& gradients) {
  const AxisLayout& layout = problem.layout;
  Cut pieces = sample_pieces(layout);
  const int64_t chunk = (pieces.items + kEnoughTasks - 1) / kEnoughTasks;
  pieces.chunk = std::max(pieces.chunk, std::min(chunk, kSamplesPerSum));
  pieces.tasks = (pieces.items + pieces.chunk - 1) / pieces.chunk;
  if (!gradients.make(problem)) return false;
  // A row of sums for each task.
  const npy_intp* sizes = PyArray_DIMS(problem.x.array()) + layout.weight_axis;
  npy_intp shape[kMaxDimensions + 1] = {pieces.tasks};
  std::copy_n(sizes, layout.weight_axes, shape + 1);
  Reference partial[3];
  for (int i = 1; i < 3; ++i) {
    if (!gradients.needs[i]) continue;
    partial[i].reset(new_array(problem.storage.typenum, layout.weight_axes + 1, shape));
    if (!partial[i]) return false;
  }
  {
    const auto run = kernels().row_normalization.rule[problem.element()];
    const char* g = static_cast<const char*>(PyArray_DATA(gradient));
    char* out = gradients.data(0);
    const int64_t row_bytes = layout.channels * problem.storage.itemsize;
    Unlocked unlocked(pieces.nanoseconds);
    parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
      char* sums[3] = {};
      for (int i = 1; i < 3; ++i) {
        if (!partial[i]) continue;
        sums[i] = data_of(partial[i]) + begin / pieces.chunk * row_bytes;
        std::memset(sums[i], 0, row_bytes);
      }
      for_each_panel(
          problem, begin, end, [&](int64_t skipped, int64_t channel, const Panel& panel) {
            const auto at = [](char* data, int64_t bytes) { return data ? data + bytes : nullptr; };
            run(g + skipped, data_of(problem.x) + skipped, panel, problem.around_mean, problem.eps,
                problem.parameter(0, channel), at(out, skipped), at(sums[1], channel),
                at(sums[2], channel));
          });
    });
  }
  for (int i = 1; i < 3; ++i) {
    if (!gradients.needs[i]) continue;
    gradients.found[i].reset(sum_to_shape(partial[i].array(), layout.weight_axes, sizes));
    if (!gradients.found[i]) return false;
  }
  return true;
}

}  // namespace extensor::normalization
