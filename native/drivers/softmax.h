// softmax and log_softmax of rows, their rules, and logsumexp.
#pragma once

#include "../door/call.h"
#include "copying.h"
#include "storage.h"

namespace extensor {

// One or two arrays of one shape, whose last axis are the rows, to an array of that shape.
struct SoftmaxProblem {
  const RowKernel* kernel;
  Storage storage;
  int64_t n;  // elements of a row
  Cut pieces;
  Layout inputs[2];
};
void run_softmax(const SoftmaxProblem& problem, const Buffers& buffers);

// Rows to a number each.
struct LogSumExpProblem {
  Storage storage;
  int64_t n;
  Cut pieces;
  Layout x;
};
void run_logsumexp(const LogSumExpProblem& problem, const Buffers& buffers);

}  // namespace extensor
