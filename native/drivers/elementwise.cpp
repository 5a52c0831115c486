#include "elementwise.h"

#include <cstdlib>
#include <cstring>
#include <optional>

#include "copying.h"

namespace extensor {
namespace {

void fill_zeros(int64_t bytes, char* out) {
  parallel_chunks(cut(bytes, Cost::light),
                  [&](int64_t begin, int64_t end) { std::memset(out + begin, 0, end - begin); });
}

// -x, of contiguous elements.
void negate(const Storage& storage, int64_t size, char* x, char* out) {
  static const Elementwise& negative = find_elementwise("negative");
  Operands operands;
  operands.count = 1;
  operands.storage = storage;
  operands.place[0] = 0;
  operands.layouts[0].itemsize = storage.itemsize;
  operands.shape = {1, {size}};
  PassProblem problem;
  plan_pass(negative.pass[storage.index()], negative.cost, operands, 1, false, 0, problem);
  run_pass(problem, &x, &out, nullptr);
}

void run_share(const ShareProblem& problem, const ShareProblem::Part& part, char* gradient,
               char* out) {
  if (part.share == Share::none) return fill_zeros(part.size * problem.storage.itemsize, out);
  if (part.share == Share::all) return run_reduction(part.sum, gradient, out);
  std::optional<TemporaryBlock> sum;
  char* summed = gradient;
  if (part.summed) {
    sum.emplace(part.size * problem.storage.itemsize);
    summed = sum->data();
    run_reduction(part.sum, gradient, summed);
  } else if (!problem.gradient.c_contiguous) {
    sum.emplace(part.size * problem.storage.itemsize);
    summed = sum->data();
    copy_contiguous(problem.gradient, gradient, summed);
  }
  negate(problem.storage, part.size, summed, out);
}

}  // namespace

const Elementwise& find_elementwise(std::string_view name) {
  for (std::span<const Elementwise> family : kernels().elementwise) {
    for (const Elementwise& kernel : family) {
      if (kernel.name == name) return kernel;
    }
  }
  std::abort();  // every table has them
}

void run_binary_rule(const BinaryRuleProblem& problem, const Buffers& buffers) {
  std::optional<TemporaryBlock> whole[2];
  char* results[2];
  for (int i = 0; i < 2; ++i) {
    results[i] = buffers.outputs[i];
    if (results[i] != nullptr && problem.summed[i]) {
      results[i] = whole[i].emplace(problem.bytes).data();
    }
  }
  run_pass(problem.pass, buffers.inputs, results, buffers.numbers);
  for (int i = 0; i < 2; ++i) {
    if (whole[i]) run_reduction(problem.sums[i], results[i], buffers.outputs[i]);
  }
}

void run_shares(const ShareProblem& problem, const Buffers& buffers) {
  for (int i = 0; i < 2; ++i) {
    if (buffers.outputs[i] == nullptr) continue;
    run_share(problem, problem.parts[i], buffers.inputs[0], buffers.outputs[i]);
  }
}

}  // namespace extensor
