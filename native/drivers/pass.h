// Passes over memory: operands of any layout, broadcast to one shape, tile by tile.
#pragma once

#include "../door/call.h"
#include "storage.h"

namespace extensor {

// Up to four inputs of a pass: arrays of one dtype, and numbers. The first may be an array of
// booleans. An operand knows where a run finds it: among the inputs or among the numbers.
struct Operands {
  int count = 0;
  bool first_is_boolean = false;
  Storage storage;
  Layout layouts[4];
  int place[4];
  bool is_number[4] = {};
  bool same_layout = true;  // all arrays C-contiguous and of one shape
  Shape shape;
};

// Elements of one tile: small enough that all buffers of a pass stay in the first-level cache.
constexpr int64_t kPassTile = 1024;

// How one input of a pass is read. A repeated one is the same for each run of the innermost loop,
// as a bias is.
struct PassSource {
  enum Kind : uint8_t { linear, constant, number, repeated, gathered } kind;
  int place;  // among the inputs or the numbers of a run
  int loop;   // among the operands of the loops
  int64_t itemsize;
};

struct PassProblem {
  Pass pass;
  Storage storage;
  int inputs, outputs;
  int parameters;  // where they begin among the numbers of a run
  bool first_is_boolean, result_is_boolean;
  bool direct;  // nothing to gather, to repeat or to widen
  PassSource sources[4];
  int64_t result_size;  // bytes of an element of the results
  int64_t tile;         // elements of a tile: whole runs where a source is repeated
  Cut pieces;
  Loops loops;
};

// Plans a pass over all elements of `operands` into C-contiguous outputs of their common shape,
// whose parameters begin at `parameters` among the numbers.
void plan_pass(Pass pass, Cost cost, const Operands& operands, int outputs, bool result_is_boolean,
               int parameters, PassProblem& problem);

// Runs it; a null output is one that nobody asked for.
void run_pass(const PassProblem& problem, char* const* inputs, char* const* outputs,
              const double* numbers);

// The same as a call of its own, with the outputs in their order.
void run_pass_call(const PassProblem& problem, const Buffers& buffers);

// Writes a number as a dtype that kernels have: an integer as it is, a float rounded as NumPy does.
void store_number(DType dtype, double number, char* target);

// Copies n elements of 1, 2, 4 or 8 bytes, `stride` bytes apart, to contiguous memory.
void copy_run(const char* source, int64_t stride, int64_t itemsize, int64_t n, char* target);

}  // namespace extensor
