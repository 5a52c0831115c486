// Reductions along axes: sums, products, extremes, norms.
#pragma once

#include <string_view>

#include "../door/call.h"
#include "storage.h"

namespace extensor {

// A reduction of the tables by its name, which must be there.
const Reduction& find_reduction(std::string_view name);

// Neighbouring axes that are all kept or all reduced, as one.
struct AxisGroups {
  int count = 0;
  int64_t sizes[kMaxDimensions];
  bool reduced[kMaxDimensions];

  void add(int64_t size, bool is_reduced) {
    if (count > 0 && reduced[count - 1] == is_reduced) {
      sizes[count - 1] *= size;
    } else {
      sizes[count] = size;
      reduced[count++] = is_reduced;
    }
  }
};

// Reduces contiguous memory of the type that kernels compute in, the innermost group of reduced
// axes first.
void reduce(const Reduction& reduction, Element element, const char* x, const AxisGroups& groups,
            char* out);

struct ReductionProblem {
  const Reduction* reduction;
  Storage storage;
  AxisGroups groups;
  int64_t results;      // how many there are
  int64_t divisor = 1;  // of the results: a mean is a sum divided by the number of elements
  bool root = false;    // of the results: a norm is the root of a sum of squares
  Layout x;
};

// Plans the reduction of `problem.x`, whose dtype has kernels, over the marked axes.
void plan_reduction(const Reduction& reduction, const bool* reduced, ReductionProblem& problem);

// Plans the sum of an array over the axes that broadcasting from `shape` added or stretched. The
// array may be `problem.x` itself, or one in C order of which only dtype and shape are given.
void plan_sum_to_shape(const Layout& x, const Shape& shape, ReductionProblem& problem);
void plan_sum_to_shape(DType dtype, const Shape& of_x, const Shape& shape,
                       ReductionProblem& problem);

// Throws Declined for squares that overflow or lose digits.
void run_reduction(const ReductionProblem& problem, const char* x, char* out);
void run_reduction_call(const ReductionProblem& problem, const Buffers& buffers);

// The gradient of a mean as that of each element: divided by the number of elements. C order, and a
// type that kernels compute in.
struct MeanRuleProblem {
  Element element;
  int64_t size, divisor;
};
void run_mean_rule(const MeanRuleProblem& problem, const Buffers& buffers);

// The shape of `x` reduced over the marked axes.
void reduced_shape(const Shape& x, const bool* reduced, bool keepdims, Shape& shape);

// About how long it takes.
inline int64_t nanoseconds_of(const ReductionProblem& problem) { return problem.x.size / 4; }

}  // namespace extensor
