// Losses of pairs of numbers: their sums without the losses in memory, and their rules.
#pragma once

#include "pass.h"

namespace extensor {

// The sum of the losses of all pairs, divided.
struct LossSumProblem {
  const LossKernel* loss;
  Storage storage;
  int parameters;  // where they begin among the numbers of a run
  int64_t pieces;  // of pairs, whose losses are added apart
  int64_t divisor;
  Cut tasks;
  Layout prediction, target;
};

// Plans it for a prediction and a target of one shape and dtype, which are not empty.
void plan_loss_sum(const LossKernel& loss, int64_t divisor, int parameters,
                   LossSumProblem& problem);

// Throws Declined where Python refuses inputs whose losses are NaN, and the sum is NaN.
void run_loss_sum(const LossSumProblem& problem, const Buffers& buffers);

// The gradients of a loss from (grad_output, prediction, target), where grad_output is that of each
// loss, or a single number that is divided first.
struct LossRuleProblem {
  PassProblem pass;
  int64_t divisor;  // 0 if there is a gradient for each loss
};
void run_loss_rule(const LossRuleProblem& problem, const Buffers& buffers);

}  // namespace extensor
