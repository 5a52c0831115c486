#include "cumulative.h"

#include <algorithm>

namespace extensor {

void plan_cumulative(const Cumulative& kernel, int axis, CumulativeProblem& problem) {
  constexpr int64_t kColumnsPerTask = 256;
  const Layout& x = problem.x;
  find_storage(x.dtype, problem.storage);
  problem.kernel = &kernel;
  problem.n = x.length(axis);
  problem.inner = 1;
  for (int later = axis + 1; later < x.ndim(); ++later) problem.inner *= x.length(later);
  problem.tile = problem.inner == 1 ? 1 : kColumnsPerTask;
  problem.tiles = (problem.inner + problem.tile - 1) / problem.tile;
  problem.pieces = cut(x.size / (problem.n * problem.inner) * problem.tiles, Cost::light,
                       problem.n * std::min(problem.inner, problem.tile));
}

void run_cumulative(const CumulativeProblem& problem, const Buffers& buffers) {
  const Contiguous x(problem.x, buffers.inputs[0]);
  const auto rows = problem.kernel->rows[problem.storage.index()];
  const auto columns = problem.kernel->columns[problem.storage.index()];
  const int64_t n = problem.n, inner = problem.inner, tile = problem.tile;
  const int64_t itemsize = problem.storage.itemsize, block = n * inner;
  char* const out = buffers.outputs[0];
  parallel_chunks(problem.pieces, [&](int64_t begin, int64_t end) {
    if (inner == 1) {
      const int64_t at = begin * block * itemsize;
      return rows(x.data() + at, end - begin, n, out + at);
    }
    for (int64_t task = begin; task < end; ++task) {
      const int64_t column = task % problem.tiles * tile;
      const int64_t at = (task / problem.tiles * block + column) * itemsize;
      columns(x.data() + at, n, inner, std::min(tile, inner - column), out + at);
    }
  });
}

}  // namespace extensor
