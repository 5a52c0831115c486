// Activations that are gated: the halves of an axis.
#pragma once

#include "copying.h"

namespace extensor {

// The halves of an axis of x: rows of two times `n` elements. The rule has a gradient of half the
// size besides, and gives both halves.
struct HalvesProblem {
  Pass pass;
  int64_t itemsize, rows, n;
  int64_t length, pieces;  // of a row, so many elements at a time
  Cut tasks;
  Layout x, gradient;
};

// Plans a pass over the halves of an axis of `problem.x`.
void plan_halves(Pass pass, Cost cost, int axis, HalvesProblem& problem);

// x to one result for each pair, and (grad_output, x) to the gradient of x.
void run_halves(const HalvesProblem& problem, const Buffers& buffers);
void run_halves_rule(const HalvesProblem& problem, const Buffers& buffers);

}  // namespace extensor
