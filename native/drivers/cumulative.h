// Running sums along an axis.
#pragma once

#include "../door/call.h"
#include "copying.h"
#include "storage.h"

namespace extensor {

struct CumulativeProblem {
  const Cumulative* kernel;
  Storage storage;
  int64_t n, inner;     // the length of the axis, and of all axes after it
  int64_t tile, tiles;  // columns of a task; tasks of a block of n rows
  Cut pieces;
  Layout x;
};

// Plans the running sums of `problem.x`, which is not empty.
void plan_cumulative(const Cumulative& kernel, int axis, CumulativeProblem& problem);
void run_cumulative(const CumulativeProblem& problem, const Buffers& buffers);

}  // namespace extensor
