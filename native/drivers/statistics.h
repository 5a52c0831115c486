// Variances and standard deviations along axes, their rules, and the rule of a norm.
#pragma once

#include "../door/call.h"
#include "storage.h"

namespace extensor {

// An array as (outer, segments, inner, length): the segments and what they hold are reduced.
struct SpreadAxes {
  int64_t outer = 1, segments = 1, inner = 1, length = 1;

  // False if the reduced axes are in more than two places.
  bool find(const Shape& shape, const bool* reduced);
  int64_t groups() const { return outer * inner; }
  int64_t size() const { return segments * length; }
  bool by_column() const { return inner > 1 && length == 1; }
  bool by_row() const { return segments == 1; }
};

struct SpreadProblem {
  Storage storage;
  SpreadAxes axes;
  double freedom;  // what the sum of squares is divided by
  bool root;       // of the variances
  Layout x;
};

// Throws Declined for variances that are not finite.
void run_spread(const SpreadProblem& problem, const Buffers& buffers);

// A rule whose gradient is (x - centre) * factor * grad_output / size, with a size for each group.
// The inputs are x, grad_output and, if the rule has it, the size.
struct SpreadRuleProblem {
  Storage storage;
  SpreadAxes axes;
  double factor;
  bool around_mean;  // else around 0
  bool has_size;
  Layout x, gradient, size;
};

// Throws Declined for means that are not finite, and for multiples of a group that are not, or have
// lost digits.
void run_spread_rule(const SpreadRuleProblem& problem, const Buffers& buffers);

}  // namespace extensor
