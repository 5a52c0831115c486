#include "statistics.h"

#include <atomic>
#include <cmath>
#include <optional>
#include <utility>

#include "copying.h"
#include "statistics_groups.h"

namespace extensor {
namespace {

// The results in the type that is computed in: the output itself, or memory that is rounded to it
// at the end.
class WideOutput {
 public:
  WideOutput(const Storage& storage, int64_t size, char* out)
      : storage_(storage), size_(size), out_(out) {
    if (storage.half != nullptr) wide_.emplace(size * storage.wide_itemsize());
  }
  char* data() const { return wide_ ? wide_->data() : out_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data());
  }

  void finish() const {
    if (!wide_) return;
    const int64_t from_size = storage_.wide_itemsize(), to_size = storage_.itemsize;
    parallel_chunks(cut(size_, Cost::light), [&](int64_t begin, int64_t end) {
      convert(storage_.wide(), storage_.dtype, data() + begin * from_size, out_ + begin * to_size,
              end - begin);
    });
  }

 private:
  const Storage& storage_;
  int64_t size_;
  char* out_;
  std::optional<TemporaryBlock> wide_;
};

using Wanted = SpreadGroups::Wanted;

bool is_wide(const Storage& storage) { return storage.element == Element::float64; }

// Variances, or their roots. What is not finite is left to the formula: false.
template <typename T>
bool write_spreads(const SpreadProblem& problem, const Moments* found, int64_t count, T* out) {
  const double n = static_cast<double>(problem.axes.size());
  bool finite = true;
  for (int64_t i = 0; i < count; ++i) {
    const double variance = found[i].variance * n / problem.freedom;
    finite &= std::isfinite(found[i].variance);
    out[i] = static_cast<T>(problem.root ? std::sqrt(variance) : variance);
  }
  return finite;
}

// The scale of each group is its gradient times the factor, over its size; 0 where that is 0. False
// for what is left to the formula.
template <typename T>
bool set_scales(const T* gradients, const T* sizes, double factor, int64_t count, Moments* found) {
  bool good = true;
  for (int64_t i = 0; i < count; ++i) {
    const double size = sizes == nullptr ? 1 : sizes[i];
    const bool zero = gradients[i] == 0 || size == 0;
    found[i].scale = zero ? 0 : gradients[i] * factor / size;
    good &= std::isfinite(found[i].first + found[i].shift + size) &&
            (zero || std::isnormal(static_cast<T>(found[i].scale)));
  }
  return good;
}

}  // namespace

bool SpreadAxes::find(const Shape& shape, const bool* reduced) {
  int64_t* const sizes[] = {&outer, &segments, &inner, &length};
  int place = 0;
  for (int axis = 0; axis < shape.ndim; ++axis) {
    if (shape.lengths[axis] == 1) continue;
    if (reduced[axis] != (place % 2 == 1)) ++place;
    if (place > 3) return false;
    *sizes[place] *= shape.lengths[axis];
  }
  if (inner == 1) std::swap(segments, length);
  return true;
}

void run_spread(const SpreadProblem& problem, const Buffers& buffers) {
  const Storage& storage = problem.storage;
  const Contiguous x(problem.x, buffers.inputs[0], storage.wide());
  const WideOutput out(storage, problem.axes.groups(), buffers.outputs[0]);
  std::atomic<bool> finite = true;
  SpreadGroups(problem.axes, storage, x.data())
      .find(Wanted::variance, [&](int64_t first, int64_t count, const Moments* found) {
        const bool well = is_wide(storage)
                              ? write_spreads(problem, found, count, out.as<double>() + first)
                              : write_spreads(problem, found, count, out.as<float>() + first);
        if (!well) finite.store(false, std::memory_order_relaxed);
      });
  if (!finite) throw Declined();
  out.finish();
}

void run_spread_rule(const SpreadRuleProblem& problem, const Buffers& buffers) {
  const Storage& storage = problem.storage;
  const Contiguous x(problem.x, buffers.inputs[0], storage.wide());
  const Contiguous gradient(problem.gradient, buffers.inputs[1], storage.wide());
  std::optional<Contiguous> size;
  if (problem.has_size) size.emplace(problem.size, buffers.inputs[2], storage.wide());
  const WideOutput out(storage, problem.x.size, buffers.outputs[0]);
  const auto set = [&]<typename T>(T, int64_t first, int64_t count, Moments* found) {
    return set_scales(gradient.as<T>() + first, size ? size->as<T>() + first : nullptr,
                      problem.factor, count, found);
  };
  std::atomic<bool> good = true;
  SpreadGroups(problem.axes, storage, x.data())
      .find_and_scale(problem.around_mean ? Wanted::mean : Wanted::nothing, out.data(),
                      [&](int64_t first, int64_t count, Moments* found) {
                        const bool well = is_wide(storage) ? set(0.0, first, count, found)
                                                           : set(0.0f, first, count, found);
                        if (!well) good.store(false, std::memory_order_relaxed);
                      });
  if (!good) throw Declined();
  out.finish();
}

}  // namespace extensor
