// Losses of class indices, of logits and of log-probabilities, and their rules. Every run looks at
// the classes first, and throws Declined if one is none of the matrix or if all are ignored.
#pragma once

#include "../door/call.h"
#include "../kernels/tables.h"
#include "copying.h"
#include "storage.h"

namespace extensor {

// A class for each row of a matrix, and how the losses of the rows are reduced: a mean of those
// that are not ignored, or a sum.
struct ClassTargets {
  int64_t rows, classes, ignored;
  bool mean;
  Layout layout;
  int weight = -1;  // the input that has a weight for each class, in C order; -1 for none
};

// x and targets to a number. The share of equal probabilities in the targets is the first number of
// a run.
struct ClassLossProblem {
  std::remove_extent_t<decltype(CrossEntropy::losses)> losses;  // of rows
  bool of_logits;
  Storage storage;
  Cut pieces;
  ClassTargets targets;
  Layout x;
};
void run_class_loss(const ClassLossProblem& problem, const Buffers& buffers);

// A gradient, logits and targets to the gradient of the logits.
struct CrossEntropyRuleProblem {
  Storage storage;
  Cut pieces;
  ClassTargets targets;
  Layout logits;
};
void run_cross_entropy_rule(const CrossEntropyRuleProblem& problem, const Buffers& buffers);

// A gradient and targets to the gradient of the log-probabilities.
struct NegativeLogRuleProblem {
  Storage storage;
  ClassTargets targets;
};
void run_negative_log_rule(const NegativeLogRuleProblem& problem, const Buffers& buffers);

}  // namespace extensor
