// Sums, extremes and places of extremes of integers and booleans.
#pragma once

#include <string_view>

#include "../door/call.h"
#include "../kernels/tables.h"

namespace extensor {

// The type of kernels for a dtype; false where they have none.
bool find_integer(DType dtype, Integer& integer);

// A kernel of the tables by its name; null where there is none.
const IntegerKernel* find_integer_kernel(std::string_view name);
const IntegerReduction& find_integer_reduction(std::string_view name);

// x, which is not empty, as (outer, n, inner), reduced along n.
struct IntegerReductionProblem {
  const IntegerReduction* reduction;
  Integer integer;
  int64_t outer, n, inner;
  Layout x;

  DType result() const { return reduction->is_sum ? DType::int64 : x.dtype; }
};

// Plans it over the marked axes. False where they are not neighbours.
bool plan_integer_reduction(const bool* reduced, IntegerReductionProblem& problem);
void run_integer_reduction(const IntegerReductionProblem& problem, const Buffers& buffers);

// The place of the first largest or smallest element in each row.
struct IntegerPositionProblem {
  int64_t (*first)(const void* x, int64_t n);
  int64_t rows, n;
  Layout x;
};
void run_integer_positions(const IntegerPositionProblem& problem, const Buffers& buffers);

}  // namespace extensor
