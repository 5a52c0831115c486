#include "logic.h"

namespace extensor {
namespace {

template <typename Function>
void combine(const char* a, int64_t a_stride, const char* b, int64_t b_stride, int64_t n, char* out,
             Function function) {
  if (a_stride == 1 && b_stride == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = function(a[i] != 0, b[i] != 0);
    return;
  }
  for (int64_t i = 0; i < n; ++i) out[i] = function(a[i * a_stride] != 0, b[i * b_stride] != 0);
}

}  // namespace

void logical_and(const char* a, int64_t a_stride, const char* b, int64_t b_stride, int64_t n,
                 char* out) {
  combine(a, a_stride, b, b_stride, n, out, [](bool x, bool y) { return x & y; });
}

void logical_or(const char* a, int64_t a_stride, const char* b, int64_t b_stride, int64_t n,
                char* out) {
  combine(a, a_stride, b, b_stride, n, out, [](bool x, bool y) { return x | y; });
}

void logical_xor(const char* a, int64_t a_stride, const char* b, int64_t b_stride, int64_t n,
                 char* out) {
  combine(a, a_stride, b, b_stride, n, out, [](bool x, bool y) { return x ^ y; });
}

void logical_not(const char* a, int64_t a_stride, const char* b, int64_t b_stride, int64_t n,
                 char* out) {
  combine(a, a_stride, b, b_stride, n, out, [](bool x, bool) { return !x; });
}

void plan_logic(Logic logic, const Shape& shape, const Layout& a, const Layout& b,
                LogicProblem& problem) {
  const Layout* const inputs[] = {&a, &b};
  Loops& loops = problem.loops;
  problem.logic = logic;
  make_loops(shape, inputs, 2, loops);
  coalesce(loops);
  const int64_t n = loops.shape[loops.ndim - 1];
  problem.pieces = loops.ndim == 1 ? cut(n, Cost::light) : cut(loops.size / n, Cost::light, n);
}

void run_logic(const LogicProblem& problem, const Buffers& buffers) {
  const Loops& loops = problem.loops;
  const char* const inputs[] = {buffers.inputs[0], buffers.inputs[problem.second]};
  char* const out = buffers.outputs[0];
  const int last = loops.ndim - 1;
  const int64_t n = loops.shape[last];
  const int64_t steps[] = {loops.strides[0][last], loops.strides[1][last]};
  parallel_chunks(problem.pieces, [&](int64_t begin, int64_t end) {
    if (loops.ndim == 1) {
      problem.logic(inputs[0] + begin * steps[0], steps[0], inputs[1] + begin * steps[1], steps[1],
                    end - begin, out + begin);
      return;
    }
    for (int64_t row = begin; row < end; ++row) {
      const char* position[] = {inputs[0], inputs[1]};
      for (int64_t axis = last - 1, rest = row; axis >= 0; --axis) {
        for (int i = 0; i < 2; ++i) {
          position[i] += rest % loops.shape[axis] * loops.strides[i][axis];
        }
        rest /= loops.shape[axis];
      }
      problem.logic(position[0], steps[0], position[1], steps[1], n, out + row * n);
    }
  });
}

}  // namespace extensor
