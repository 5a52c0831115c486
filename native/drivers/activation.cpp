#include "activation.h"

#include <algorithm>

namespace extensor {
namespace {

constexpr int64_t kElementsPerTask = 4096;

// Calls run(row, from, count) for the elements of all rows.
template <typename Run>
void for_each_part(const HalvesProblem& problem, const Run& run) {
  parallel_chunks(problem.tasks, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t from = task % problem.pieces * problem.length;
      run(task / problem.pieces, from, std::min(problem.length, problem.n - from));
    }
  });
}

}  // namespace

void plan_halves(Pass pass, Cost cost, int axis, HalvesProblem& problem) {
  const Shape& shape = problem.x.shape;
  problem.pass = pass;
  problem.itemsize = problem.x.itemsize;
  problem.rows = 1;
  problem.n = 1;
  for (int i = 0; i < shape.ndim; ++i) (i < axis ? problem.rows : problem.n) *= shape.lengths[i];
  problem.n /= 2;
  problem.length = std::clamp<int64_t>(problem.n, 1, kElementsPerTask);
  problem.pieces = (problem.n + problem.length - 1) / problem.length;
  problem.tasks = cut(problem.rows * problem.pieces, cost, problem.length);
}

void run_halves(const HalvesProblem& problem, const Buffers& buffers) {
  const Contiguous x(problem.x, buffers.inputs[0]);
  const int64_t itemsize = problem.itemsize, half = problem.n * itemsize;
  for_each_part(problem, [&](int64_t row, int64_t from, int64_t elements) {
    const char* const first = x.data() + row * 2 * half + from * itemsize;
    const void* const inputs[] = {first, first + half};
    void* const outputs[] = {buffers.outputs[0] + row * half + from * itemsize};
    problem.pass(inputs, outputs, elements, nullptr);
  });
}

void run_halves_rule(const HalvesProblem& problem, const Buffers& buffers) {
  const Contiguous gradient(problem.gradient, buffers.inputs[0]);
  const Contiguous x(problem.x, buffers.inputs[1]);
  const int64_t itemsize = problem.itemsize, half = problem.n * itemsize;
  for_each_part(problem, [&](int64_t row, int64_t from, int64_t elements) {
    const int64_t at = row * 2 * half + from * itemsize;
    const char* const first = x.data() + at;
    char* const out = buffers.outputs[0] + at;
    const void* const inputs[] = {gradient.data() + row * half + from * itemsize, first,
                                  first + half};
    void* const outputs[] = {out, out + half};
    problem.pass(inputs, outputs, elements, nullptr);
  });
}

}  // namespace extensor
