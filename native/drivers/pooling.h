// The largest or the mean of each window over the planes of an array, and the rules of both.
#pragma once

#include "../door/call.h"
#include "storage.h"

namespace extensor {

struct PoolingProblem {
  Storage storage;
  int64_t height, width;  // of a plane of x
  int64_t rows, columns;  // of windows over it
  Pooling windows;        // of adaptive ones there are none
  bool with_padding;      // whether what is added counts for a mean
  Cut pieces;             // of all planes
  Layout gradient, x;     // a rule may have no x, and all else has no gradient
};

// Fills in what follows from the sizes of `count` planes and the windows over them.
void plan_planes(int64_t count, PoolingProblem& problem);

// x
void run_max_pool(const PoolingProblem& problem, const Buffers& buffers);
void run_avg_pool(const PoolingProblem& problem, const Buffers& buffers);
void run_adaptive_avg_pool(const PoolingProblem& problem, const Buffers& buffers);

// gradient, and for the largest x
void run_max_pool_rule(const PoolingProblem& problem, const Buffers& buffers);
void run_avg_pool_rule(const PoolingProblem& problem, const Buffers& buffers);
void run_adaptive_avg_pool_rule(const PoolingProblem& problem, const Buffers& buffers);

}  // namespace extensor
