#include "softmax.h"

#include <optional>

namespace extensor {

void run_softmax(const SoftmaxProblem& problem, const Buffers& buffers) {
  const int count = problem.kernel->inputs;
  std::optional<Contiguous> sources[2];
  for (int i = 0; i < count; ++i) sources[i].emplace(problem.inputs[i], buffers.inputs[i]);
  const auto rows = problem.kernel->rows[problem.storage.index()];
  const int64_t row_bytes = problem.n * problem.storage.itemsize;
  parallel_chunks(problem.pieces, [&](int64_t begin, int64_t end) {
    const void* inputs[2];
    for (int i = 0; i < count; ++i) inputs[i] = sources[i]->data() + begin * row_bytes;
    rows(inputs, buffers.outputs[0] + begin * row_bytes, end - begin, problem.n);
  });
}

void run_logsumexp(const LogSumExpProblem& problem, const Buffers& buffers) {
  const Contiguous x(problem.x, buffers.inputs[0]);
  const auto rows = kernels().logsumexp.rows[problem.storage.index()];
  const int64_t n = problem.n, itemsize = problem.storage.itemsize;
  parallel_chunks(problem.pieces, [&](int64_t begin, int64_t end) {
    rows(x.data() + begin * n * itemsize, end - begin, n, buffers.outputs[0] + begin * itemsize);
  });
}

}  // namespace extensor
