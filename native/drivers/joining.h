// Arrays of one dtype copied one after another along an axis.
#pragma once

#include <vector>

#include "../door/call.h"

namespace extensor {

// The inputs agree with the result but for one axis.
struct Joining {
  int count;  // of inputs
  int axis;
  Layout whole;

  // What is known of one input: its length along the axis, then its strides.
  int64_t numbers_per_input() const { return whole.ndim() + 1; }
};

// A few inputs, and any number of them.
struct JoinProblem : Joining {
  static constexpr int64_t kRoom = 512;
  int64_t inputs[kRoom];
};
struct LongJoinProblem : Joining {
  std::vector<int64_t> inputs;
};

void run_join(const JoinProblem& problem, const Buffers& buffers);
void run_long_join(const LongJoinProblem& problem, const Buffers& buffers);

}  // namespace extensor
