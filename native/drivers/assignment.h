// Writing to the part of an array that a view shows: in place, or in a copy.
#pragma once

#include "pass.h"

namespace extensor {

struct AssignmentProblem {
  Layout part;      // what is written to, of the array or of its copy in C order
  int64_t offset;   // bytes before it
  int value;        // the input that is written, which broadcasts to the part; -1 for a number
  Layout layout;    // of that input
  Layout x;         // of the first input
  PassProblem sum;  // of part and value, where these are added
};

// Writes into the first input.
void run_assignment(const AssignmentProblem& problem, const Buffers& buffers);

// A copy of the first input with the part written, or with the value added to it.
void run_copy_with_part(const AssignmentProblem& problem, const Buffers& buffers);
void run_copy_with_sum(const AssignmentProblem& problem, const Buffers& buffers);

}  // namespace extensor
