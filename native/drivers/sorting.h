// The order of the elements of rows, and the first of each. Equal elements stay in their order, and
// NaN counts as the largest.
#pragma once

#include "../door/call.h"
#include "storage.h"

namespace extensor {

// Whether elements of a dtype are ordered here.
bool is_sortable(DType dtype);

// Places are counted in 32 bits.
constexpr int64_t kLongestSorted = int64_t{1} << 32;

struct SortProblem {
  int64_t rows, n;
  int64_t k;  // of a selection: how many are taken
  bool descending;
  Layout x;
};

// The places of the elements in their order.
void run_argsort(const SortProblem& problem, const Buffers& buffers);

// The first k elements in their order, and their places.
void run_topk(const SortProblem& problem, const Buffers& buffers);

}  // namespace extensor
