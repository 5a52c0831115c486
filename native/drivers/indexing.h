// Reading and adding at indices along an axis, whole slices or single elements, and setting what a
// view shows.
#pragma once

#include "../door/call.h"
#include "storage.h"

namespace extensor {

inline bool is_index(DType dtype) { return dtype >= DType::int8 && dtype <= DType::uint64; }

// An array's axes before, at and after one axis, as three.
struct Block {
  int64_t outer = 1, length = 1, inner = 1;
};
Block block_of(const Shape& shape, int axis);

// Inputs: x, indices. A run throws Declined for an index outside of the axis.
struct ReadProblem {
  Block block;  // of x
  Layout x, indices;
  bool from_end = true;  // whether negative indices count from the end
};

// Whole slices of x, one for each index.
void run_take(const ReadProblem& problem, const Buffers& buffers);

// Single elements of x, one for each index: indices and x agree but for the axis.
void run_gather(const ReadProblem& problem, const Buffers& buffers);

// About how long they take for a result of so many elements.
int64_t nanoseconds_of(const ReadProblem& problem, int64_t results);

// Inputs: updates, indices, and x where there is one. What is added to is x, or zeros. A run throws
// Declined for an index outside of the axis.
struct AddProblem {
  Storage storage;
  Block block;   // of the result
  int64_t size;  // of the result
  bool to_zeros = true;
  Layout updates, indices, x;
};

// Adds the slices of the updates at the indices, in their order.
void run_add_slices(const AddProblem& problem, const Buffers& buffers);

// Adds the elements of the updates at the indices, in their order.
void run_add_elements(const AddProblem& problem, const Buffers& buffers);

int64_t nanoseconds_of(const AddProblem& problem);

// Zeros but for a part, which is x.
struct PlaceProblem {
  Layout x, part;
  int64_t offset;  // bytes before the part
  int64_t bytes;   // of the result
};
void run_place(const PlaceProblem& problem, const Buffers& buffers);

}  // namespace extensor
