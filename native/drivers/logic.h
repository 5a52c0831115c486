// Logic on booleans, byte by byte.
#pragma once

#include "../door/call.h"
#include "../runtime/threads.h"

namespace extensor {

// n booleans of each input, so many bytes apart, to n adjacent ones.
using Logic = void (*)(const char* a, int64_t a_stride, const char* b, int64_t b_stride, int64_t n,
                       char* out);

void logical_and(const char* a, int64_t a_stride, const char* b, int64_t b_stride, int64_t n,
                 char* out);
void logical_or(const char* a, int64_t a_stride, const char* b, int64_t b_stride, int64_t n,
                char* out);
void logical_xor(const char* a, int64_t a_stride, const char* b, int64_t b_stride, int64_t n,
                 char* out);
// Of `a` alone.
void logical_not(const char* a, int64_t a_stride, const char* b, int64_t b_stride, int64_t n,
                 char* out);

struct LogicProblem {
  Logic logic;
  int second;  // the place of the second input; of one input, it is the first again
  Cut pieces;
  Loops loops;
};

// Plans it for inputs that are broadcast to `shape`, which is not empty.
void plan_logic(Logic logic, const Shape& shape, const Layout& a, const Layout& b,
                LogicProblem& problem);
void run_logic(const LogicProblem& problem, const Buffers& buffers);

}  // namespace extensor
