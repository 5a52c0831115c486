// Normalization of groups of elements by their mean and variance, and its rules.
#pragma once

#include "../door/call.h"
#include "storage.h"

namespace extensor {

// How an array falls into groups. Across the batch a group is a channel, with a segment in every
// sample; else it is a run of memory, and the groups follow each other.
struct NormalizationGroups {
  int64_t count;
  Segments group;
  bool across_batch = false;
  bool by_row = false;  // a weight for each element of a group, else for each segment
  int weight_axis = 1, weight_axes = 1;  // the axes of x that a weight has
  int64_t channels;                      // numbers in a weight

  int64_t offset(int64_t index) const {
    return index * (across_batch ? group.length : group.count * group.length);
  }
  int64_t first_channel(int64_t index) const {
    return across_batch ? index : index * group.count % channels;
  }
  int64_t channel_step() const { return across_batch ? 0 : 1; }
  int64_t size() const { return group.count * group.length; }
  // The elements of a group without regard to channels.
  Segments run() const { return across_batch ? group : Segments{1, size(), size()}; }
  // Groups of single elements: the columns of a matrix.
  bool by_column() const { return across_batch && group.length == 1; }

  // A group is the last axes of x, which is not empty.
  void take_last_axes(const Layout& x, int axes);
  // The channels of axis 1 in as many groups of one sample as given; each alone for 0. False if x
  // cannot be divided so.
  bool take_groups(const Layout& x, int64_t groups);
  // A group is a channel of the whole batch. False if x has no channels.
  bool take_channels(const Layout& x);
};

struct NormalizationProblem {
  // Places among the numbers of a run.
  static constexpr int kEps = 0, kMomentum = 1;

  struct Input {
    int place = -1;  // among the inputs of a run; -1 for one that is not given
    Layout layout;
  };

  Storage storage;
  NormalizationGroups groups;
  bool around_mean = true;
  bool own = true;     // by the statistics of x, else by the running ones
  bool moves = false;  // the running statistics, towards those of x
  Input x, gradient, weight, bias, running[2];
};

// The normalized x and, where they move, the running mean and variance after it.
void run_normalization(const NormalizationProblem& problem, const Buffers& buffers);

// The gradients of x, the weight and the bias, those that are needed.
void run_normalization_rule(const NormalizationProblem& problem, const Buffers& buffers);

}  // namespace extensor
