// Where in a row an element is.
#pragma once

#include "../door/call.h"
#include "storage.h"

namespace extensor {

// The place of the first of the best elements, as `reduction` finds them, of each row of x.
struct PositionProblem {
  const Reduction* reduction;
  Storage storage;
  int64_t rows, n;
  Layout x;
};
void run_positions(const PositionProblem& problem, const Buffers& buffers);

}  // namespace extensor
