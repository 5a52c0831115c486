#include "loss.h"

#include <algorithm>
#include <cmath>

#include "copying.h"
#include "reduction.h"

namespace extensor {
namespace {

constexpr int64_t kPiece = 16384;  // pairs whose losses one task adds

// A number divided in the dtype, as the division of arrays would.
template <typename T>
T divided(const char* number, int64_t divisor) {
  return *reinterpret_cast<const T*>(number) / static_cast<T>(divisor);
}

template <typename T>
void finish(const LossSumProblem& problem, char* out) {
  T& sum = *reinterpret_cast<T*>(out);
  if (problem.divisor > 1) sum = divided<T>(out, problem.divisor);
  if (problem.loss->checked && std::isnan(sum)) throw Declined();
}

void add_piece(const LossSumProblem& problem, int64_t piece, const char* prediction,
               const char* target, const double* parameters, char* sums) {
  const int64_t itemsize = problem.storage.itemsize;
  const int64_t from = piece * kPiece, skipped = from * itemsize;
  const void* const inputs[] = {prediction + skipped, target + skipped};
  void* const outputs[] = {sums + piece * itemsize};
  problem.loss->sum[problem.storage.index()](
      inputs, outputs, std::min(kPiece, problem.prediction.size - from), parameters);
}

}  // namespace

void plan_loss_sum(const LossKernel& loss, int64_t divisor, int parameters,
                   LossSumProblem& problem) {
  const int64_t size = problem.prediction.size;
  problem.loss = &loss;
  problem.parameters = parameters;
  problem.divisor = divisor;
  problem.pieces = (size - 1) / kPiece + 1;
  problem.tasks = cut(problem.pieces, loss.cost, std::min(kPiece, size));
}

void run_loss_sum(const LossSumProblem& problem, const Buffers& buffers) {
  static const Reduction& sum = find_reduction("sum");
  const Storage& storage = problem.storage;
  const Contiguous prediction(problem.prediction, buffers.inputs[0]);
  const Contiguous target(problem.target, buffers.inputs[1]);
  const double* const parameters = buffers.numbers + problem.parameters;
  char* const out = buffers.outputs[0];
  if (problem.pieces == 1) {
    add_piece(problem, 0, prediction.data(), target.data(), parameters, out);
  } else {
    const TemporaryBlock sums(problem.pieces * storage.itemsize);
    parallel_chunks(problem.tasks, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        add_piece(problem, piece, prediction.data(), target.data(), parameters, sums.data());
      }
    });
    AxisGroups all;
    all.add(problem.pieces, true);
    reduce(sum, storage.element, sums.data(), all, out);
  }
  storage.element == Element::float64 ? finish<double>(problem, out) : finish<float>(problem, out);
}

void run_loss_rule(const LossRuleProblem& problem, const Buffers& buffers) {
  if (problem.divisor == 0) return run_pass_call(problem.pass, buffers);
  double wide;
  float narrow;
  char* each;
  if (problem.pass.storage.element == Element::float64) {
    wide = divided<double>(buffers.inputs[0], problem.divisor);
    each = reinterpret_cast<char*>(&wide);
  } else {
    narrow = divided<float>(buffers.inputs[0], problem.divisor);
    each = reinterpret_cast<char*>(&narrow);
  }
  char* const inputs[] = {each, buffers.inputs[1], buffers.inputs[2]};
  run_pass(problem.pass, inputs, buffers.outputs, buffers.numbers);
}

}  // namespace extensor
