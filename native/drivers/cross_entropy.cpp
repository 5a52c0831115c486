#include "cross_entropy.h"

#include "../runtime/memory.h"
#include "reduction.h"

namespace extensor {
namespace {

// The targets of one run, all of which are classes or ignored. They are copied as they are checked:
// another thread, or another process that maps the same file, may change the input during the run.
class CheckedTargets {
 public:
  CheckedTargets(const ClassTargets& targets, const char* data)
      : block_(targets.rows * sizeof(int64_t)) {
    const int64_t stride = targets.layout.strides[0];
    int64_t* const copy = reinterpret_cast<int64_t*>(block_.data());
    int64_t kept = 0;
    for (int64_t row = 0; row < targets.rows; ++row) {
      const int64_t target = read_once<int64_t>(data + row * stride);
      copy[row] = target;
      if (target == targets.ignored) continue;
      if (target < 0 || target >= targets.classes) throw Declined();
      ++kept;
    }
    if (kept == 0) throw Declined();
    divisor_ = targets.mean ? kept : 1;
  }
  const int64_t* at(int64_t row) const {
    return reinterpret_cast<const int64_t*>(block_.data()) + row;
  }
  int64_t divisor() const { return divisor_; }

 private:
  TemporaryBlock block_;
  int64_t divisor_;
};

template <typename T>
void divide(char* value, int64_t divisor) {
  if (divisor > 1) *reinterpret_cast<T*>(value) /= static_cast<T>(divisor);
}

template <typename T>
T number_at(const char* data) {
  return *reinterpret_cast<const T*>(data);
}

}  // namespace

void run_class_loss(const ClassLossProblem& problem, const Buffers& buffers) {
  static const Reduction& sum = find_reduction("sum");
  const Storage& storage = problem.storage;
  const int64_t rows = problem.targets.rows, classes = problem.targets.classes;
  const CheckedTargets targets(problem.targets, buffers.inputs[1]);
  const Contiguous x(problem.x, buffers.inputs[0]);
  TemporaryBlock losses(rows * storage.itemsize);
  parallel_chunks(problem.pieces, [&](int64_t begin, int64_t end) {
    problem.losses(x.data() + begin * classes * storage.itemsize, targets.at(begin), end - begin,
                   classes, problem.targets.ignored, losses.data() + begin * storage.itemsize);
  });
  AxisGroups groups;
  groups.add(rows, rows > 1);
  char* const out = buffers.outputs[0];
  reduce(sum, storage.element, losses.data(), groups, out);
  if (storage.element == Element::float64) {
    divide<double>(out, targets.divisor());
  } else {
    divide<float>(out, targets.divisor());
  }
}

void run_cross_entropy_rule(const CrossEntropyRuleProblem& problem, const Buffers& buffers) {
  const Storage& storage = problem.storage;
  const int64_t classes = problem.targets.classes, row_bytes = classes * storage.itemsize;
  const CheckedTargets targets(problem.targets, buffers.inputs[2]);
  const Contiguous logits(problem.logits, buffers.inputs[1]);
  const char* const gradient = buffers.inputs[0];
  const double scale = storage.element == Element::float64
                           ? number_at<double>(gradient) / static_cast<double>(targets.divisor())
                           : number_at<float>(gradient) / static_cast<float>(targets.divisor());
  const auto gradients = kernels().cross_entropy.gradients[storage.index()];
  parallel_chunks(problem.pieces, [&](int64_t begin, int64_t end) {
    gradients(logits.data() + begin * row_bytes, targets.at(begin), end - begin, classes,
              problem.targets.ignored, scale, buffers.outputs[0] + begin * row_bytes);
  });
}

void run_negative_log_rule(const NegativeLogRuleProblem& problem, const Buffers& buffers) {
  const Storage& storage = problem.storage;
  const int64_t classes = problem.targets.classes, row_bytes = classes * storage.itemsize;
  const CheckedTargets targets(problem.targets, buffers.inputs[1]);
  const char* const gradient = buffers.inputs[0];
  // As the formula: the share of a sample first, then times the gradient.
  const double scale =
      storage.element == Element::float64
          ? 1 / static_cast<double>(targets.divisor()) * number_at<double>(gradient)
          : 1 / static_cast<float>(targets.divisor()) * number_at<float>(gradient);
  const auto placed = kernels().cross_entropy.placed[storage.index()];
  const Cut pieces = cut(problem.targets.rows, Cost::light, classes);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    placed(targets.at(begin), end - begin, classes, problem.targets.ignored, scale,
           buffers.outputs[0] + begin * row_bytes);
  });
}

}  // namespace extensor
