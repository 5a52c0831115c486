#include "cross_entropy.h"

#include "../runtime/memory.h"
#include "reduction.h"

namespace extensor {
namespace {

// The targets of one run, all of which are classes or ignored. They are copied as they are checked:
// another thread, or another process that maps the same file, may change the input during the run.
class CheckedTargets {
 public:
  CheckedTargets(const ClassTargets& targets, const Buffers& buffers, int input, Element element)
      : block_(targets.rows * sizeof(int64_t)) {
    const char* const data = buffers.inputs[input];
    const int64_t stride = targets.layout.strides[0];
    int64_t* const copy = reinterpret_cast<int64_t*>(block_.data());
    weights_ = targets.weight < 0 ? nullptr : buffers.inputs[targets.weight];
    is_double_ = element == Element::float64;
    int64_t kept = 0;
    double total = 0;
    for (int64_t row = 0; row < targets.rows; ++row) {
      const int64_t target = read_once<int64_t>(data + row * stride);
      copy[row] = target;
      if (target == targets.ignored) continue;
      if (target < 0 || target >= targets.classes) throw Declined();
      ++kept;
      if (weights_ != nullptr) total += weight_of(target);
    }
    if (kept == 0) throw Declined();
    if (weights_ == nullptr) total = static_cast<double>(kept);
    if (targets.mean && !(total > 0)) throw Declined();
    divisor_ = targets.mean ? total : 1;
  }
  const int64_t* at(int64_t row) const {
    return reinterpret_cast<const int64_t*>(block_.data()) + row;
  }
  // Of a mean the sum of the weights of the rows that count.
  double divisor() const { return divisor_; }
  const char* weights() const { return weights_; }
  double weight_of(int64_t target) const {
    return is_double_ ? reinterpret_cast<const double*>(weights_)[target]
                      : reinterpret_cast<const float*>(weights_)[target];
  }

 private:
  TemporaryBlock block_;
  const char* weights_;
  bool is_double_;
  double divisor_;
};

template <typename T>
T number_at(const char* data) {
  return *reinterpret_cast<const T*>(data);
}

// The elements at the targets, one in each row of n, times the weights of these; all others stay.
template <typename T>
void weigh(const ClassTargets& problem, const CheckedTargets& targets, int64_t n, bool in_rows,
           T* values) {
  for (int64_t row = 0; row < problem.rows; ++row) {
    const int64_t target = *targets.at(row);
    if (target == problem.ignored) continue;
    T& value = values[row * n + (in_rows ? target : 0)];
    const T weight = static_cast<T>(targets.weight_of(target));
    value = weight == 0 ? T(0) : value * weight;  // also where it is infinite
  }
}

void weigh(const Storage& storage, const ClassTargets& problem, const CheckedTargets& targets,
           int64_t n, bool in_rows, char* values) {
  if (targets.weights() == nullptr) return;
  if (storage.element == Element::float64) {
    weigh(problem, targets, n, in_rows, reinterpret_cast<double*>(values));
  } else {
    weigh(problem, targets, n, in_rows, reinterpret_cast<float*>(values));
  }
}

}  // namespace

void run_class_loss(const ClassLossProblem& problem, const Buffers& buffers) {
  static const Reduction& sum = find_reduction("sum");
  const Storage& storage = problem.storage;
  const int64_t rows = problem.targets.rows, classes = problem.targets.classes;
  const CheckedTargets targets(problem.targets, buffers, 1, storage.element);
  const Contiguous x(problem.x, buffers.inputs[0]);
  const double smoothing = problem.of_logits ? buffers.numbers[0] : 0;
  const bool mixed = problem.of_logits && (smoothing != 0 || targets.weights() != nullptr);
  const auto mixed_losses = kernels().cross_entropy.mixed_losses[storage.index()];
  TemporaryBlock losses(rows * storage.itemsize);
  parallel_chunks(problem.pieces, [&](int64_t begin, int64_t end) {
    const char* const own = x.data() + begin * classes * storage.itemsize;
    char* const out = losses.data() + begin * storage.itemsize;
    const int64_t ignored = problem.targets.ignored;
    if (mixed) {
      mixed_losses(own, targets.at(begin), end - begin, classes, ignored, targets.weights(),
                   smoothing, out);
    } else {
      problem.losses(own, targets.at(begin), end - begin, classes, ignored, out);
    }
  });
  if (!problem.of_logits) weigh(storage, problem.targets, targets, 1, false, losses.data());
  AxisGroups groups;
  groups.add(rows, rows > 1);
  char* const out = buffers.outputs[0];
  reduce(sum, storage.element, losses.data(), groups, out);
  if (storage.element == Element::float64) {
    *reinterpret_cast<double*>(out) /= targets.divisor();
  } else {
    *reinterpret_cast<float*>(out) /= static_cast<float>(targets.divisor());
  }
}

void run_cross_entropy_rule(const CrossEntropyRuleProblem& problem, const Buffers& buffers) {
  const Storage& storage = problem.storage;
  const int64_t classes = problem.targets.classes, row_bytes = classes * storage.itemsize;
  const CheckedTargets targets(problem.targets, buffers, 2, storage.element);
  const Contiguous logits(problem.logits, buffers.inputs[1]);
  const char* const gradient = buffers.inputs[0];
  const double scale = storage.element == Element::float64
                           ? number_at<double>(gradient) / targets.divisor()
                           : number_at<float>(gradient) / static_cast<float>(targets.divisor());
  const double smoothing = buffers.numbers[0];
  const bool mixed = smoothing != 0 || targets.weights() != nullptr;
  const auto gradients = kernels().cross_entropy.gradients[storage.index()];
  const auto mixed_gradients = kernels().cross_entropy.mixed_gradients[storage.index()];
  parallel_chunks(problem.pieces, [&](int64_t begin, int64_t end) {
    const char* const own = logits.data() + begin * row_bytes;
    char* const out = buffers.outputs[0] + begin * row_bytes;
    const int64_t ignored = problem.targets.ignored;
    if (mixed) {
      mixed_gradients(own, targets.at(begin), end - begin, classes, ignored, targets.weights(),
                      smoothing, scale, out);
    } else {
      gradients(own, targets.at(begin), end - begin, classes, ignored, scale, out);
    }
  });
}

void run_negative_log_rule(const NegativeLogRuleProblem& problem, const Buffers& buffers) {
  const Storage& storage = problem.storage;
  const int64_t classes = problem.targets.classes, row_bytes = classes * storage.itemsize;
  const CheckedTargets targets(problem.targets, buffers, 1, storage.element);
  const char* const gradient = buffers.inputs[0];
  // As the formula: the share of a sample first, then times the gradient.
  const double scale = storage.element == Element::float64
                           ? 1 / targets.divisor() * number_at<double>(gradient)
                           : 1 / static_cast<float>(targets.divisor()) * number_at<float>(gradient);
  const auto placed = kernels().cross_entropy.placed[storage.index()];
  const Cut pieces = cut(problem.targets.rows, Cost::light, classes);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    placed(targets.at(begin), end - begin, classes, problem.targets.ignored, scale,
           buffers.outputs[0] + begin * row_bytes);
  });
  weigh(storage, problem.targets, targets, classes, true, buffers.outputs[0]);
}

}  // namespace extensor
