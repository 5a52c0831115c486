// Elementwise kernels and the rules of binary ops, over operands of any layout.
#pragma once

#include <string_view>

#include "pass.h"
#include "reduction.h"

namespace extensor {

// A kernel of the tables by its name, which must be there.
const Elementwise& find_elementwise(std::string_view name);

// The gradients of a binary op, of which at least one is needed: computed in the output's shape and
// summed to that of the input.
struct BinaryRuleProblem {
  PassProblem pass;
  bool summed[2];
  int64_t bytes;  // of a gradient before it is summed
  ReductionProblem sums[2];
};
void run_binary_rule(const BinaryRuleProblem& problem, const Buffers& buffers);

// What an input of an op gets that needs nothing but the shapes: the gradient itself, or minus it,
// summed to the input's shape, or zeros.
enum class Share : uint8_t { all, minus, none };
struct ShareProblem {
  struct Part {
    Share share;
    bool summed;
    int64_t size;
    ReductionProblem sum;
  } parts[2];
  Storage storage;
  Layout gradient;
};
void run_shares(const ShareProblem& problem, const Buffers& buffers);

}  // namespace extensor
