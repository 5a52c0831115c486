#include "pooling.h"

#include <algorithm>
#include <optional>

#include "copying.h"

namespace extensor {
namespace {

// One input, whose planes have `size` elements each, in the type that kernels compute in.
class Source {
 public:
  Source(const PoolingProblem& problem, const Layout& layout, const char* data, int64_t size)
      : memory_(layout, data, problem.storage.wide()),
        bytes_(size * problem.storage.wide_itemsize()) {}
  const char* at(int64_t number) const { return memory_.data() + number * bytes_; }

 private:
  Contiguous memory_;
  int64_t bytes_;
};

int64_t size_of_plane(const PoolingProblem& problem) { return problem.height * problem.width; }
int64_t windows_of_plane(const PoolingProblem& problem) { return problem.rows * problem.columns; }

Source planes_of_x(const PoolingProblem& problem, const char* data) {
  return {problem, problem.x, data, size_of_plane(problem)};
}
Source planes_of_gradient(const PoolingProblem& problem, const char* data) {
  return {problem, problem.gradient, data, windows_of_plane(problem)};
}

// Runs work(first plane, number of planes, memory of the result) over all planes, in tasks; those
// of the result have `size` elements each.
template <typename Work>
void over_planes(const PoolingProblem& problem, int64_t size, char* out, const Work& work) {
  const Storage& storage = problem.storage;
  const bool narrowed = storage.half != nullptr;
  std::optional<TemporaryBlock> wide;
  if (narrowed) wide.emplace(problem.pieces.items * size * storage.wide_itemsize());
  char* const results = narrowed ? wide->data() : out;
  parallel_chunks(problem.pieces, [&](int64_t begin, int64_t end) {
    char* const result = results + begin * size * storage.wide_itemsize();
    work(begin, end - begin, result);
    if (!narrowed) return;
    convert(storage.wide(), storage.dtype, result, out + begin * size * storage.itemsize,
            (end - begin) * size);
  });
}

}  // namespace

void plan_planes(int64_t count, PoolingProblem& problem) {
  const int64_t elements = std::max(size_of_plane(problem), windows_of_plane(problem));
  problem.pieces = cut(count, Cost::medium, elements);
}

void run_max_pool(const PoolingProblem& problem, const Buffers& buffers) {
  const Source x = planes_of_x(problem, buffers.inputs[0]);
  const auto kernel = kernels().max_pooling.planes[problem.storage.index()];
  over_planes(
      problem, windows_of_plane(problem), buffers.outputs[0],
      [&](int64_t first, int64_t n, char* out) { kernel(x.at(first), n, problem.windows, out); });
}

void run_max_pool_rule(const PoolingProblem& problem, const Buffers& buffers) {
  const Source gradient = planes_of_gradient(problem, buffers.inputs[0]);
  const Source x = planes_of_x(problem, buffers.inputs[1]);
  const auto kernel = kernels().max_pooling.rule[problem.storage.index()];
  over_planes(problem, size_of_plane(problem), buffers.outputs[0],
              [&](int64_t first, int64_t n, char* out) {
                kernel(gradient.at(first), x.at(first), n, problem.windows, out);
              });
}

void run_avg_pool(const PoolingProblem& problem, const Buffers& buffers) {
  const Source x = planes_of_x(problem, buffers.inputs[0]);
  const auto kernel = kernels().mean_pooling.planes[problem.storage.index()];
  over_planes(problem, windows_of_plane(problem), buffers.outputs[0],
              [&](int64_t first, int64_t n, char* out) {
                kernel(x.at(first), n, problem.windows, problem.with_padding, out);
              });
}

void run_avg_pool_rule(const PoolingProblem& problem, const Buffers& buffers) {
  const Source gradient = planes_of_gradient(problem, buffers.inputs[0]);
  const auto kernel = kernels().mean_pooling.rule[problem.storage.index()];
  over_planes(problem, size_of_plane(problem), buffers.outputs[0],
              [&](int64_t first, int64_t n, char* out) {
                kernel(gradient.at(first), n, problem.windows, problem.with_padding, out);
              });
}

void run_adaptive_avg_pool(const PoolingProblem& problem, const Buffers& buffers) {
  const Source x = planes_of_x(problem, buffers.inputs[0]);
  const auto kernel = kernels().mean_pooling.adaptive[problem.storage.index()];
  over_planes(problem, windows_of_plane(problem), buffers.outputs[0],
              [&](int64_t first, int64_t n, char* out) {
                kernel(x.at(first), n, problem.height, problem.width, problem.rows, problem.columns,
                       out);
              });
}

void run_adaptive_avg_pool_rule(const PoolingProblem& problem, const Buffers& buffers) {
  const Source gradient = planes_of_gradient(problem, buffers.inputs[0]);
  const auto kernel = kernels().mean_pooling.adaptive_rule[problem.storage.index()];
  over_planes(problem, size_of_plane(problem), buffers.outputs[0],
              [&](int64_t first, int64_t n, char* out) {
                kernel(gradient.at(first), n, problem.height, problem.width, problem.rows,
                       problem.columns, out);
              });
}

}  // namespace extensor
