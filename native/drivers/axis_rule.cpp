#include "axis_rule.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "long_row.h"
#include "reduction.h"

namespace extensor {
namespace {

constexpr int64_t kColumnsPerTask = 256;

// One row, by many tasks: what is best, how many have it, what each gets.
void share_long_row(const ExtremeRule& rule, Element element, const char* gradient, const char* x,
                    int64_t n, char* out) {
  const int type = static_cast<int>(element);
  const LongRow row(find_reduction(rule.reduction), element, x, n);
  std::vector<int64_t> counts(row.bests.size());
  row.for_each_piece([&](int64_t piece, int64_t from, int64_t length) {
    counts[piece] = rule.count[type](x + from * row.itemsize, length, row.best);
  });
  const int64_t count = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  const double incoming = value_at(element, gradient);
  row.for_each_piece([&](int64_t, int64_t from, int64_t length) {
    rule.share[type](x + from * row.itemsize, length, row.best, incoming, count,
                     out + from * row.itemsize);
  });
}

}  // namespace

bool split_axes(const bool* reduced, AxisRuleProblem& problem) {
  bool seen = false, left = false;
  for (int axis = 0; axis < problem.x.ndim(); ++axis) {
    const int64_t size = problem.x.length(axis);
    if (size == 1) continue;
    if (reduced[axis]) {
      if (left) return false;
      seen = true;
      problem.r *= size;
    } else if (seen) {
      left = true;
      problem.inner *= size;
    } else {
      problem.outer *= size;
    }
  }
  return true;
}

AxisRuleMemory::AxisRuleMemory(const AxisRuleProblem& problem, const Buffers& buffers)
    : problem_(problem),
      itemsize_(problem.storage.wide_itemsize()),
      gradient_(problem.gradient, buffers.inputs[0], problem.storage.wide()),
      x_(problem.x, buffers.inputs[1], problem.storage.wide()),
      wide_(problem.storage.half == nullptr ? 0 : problem.x.size * sizeof(float)),
      out_(buffers.outputs[0]),
      results_(problem.storage.half == nullptr ? out_ : wide_.data()) {}

void AxisRuleMemory::apply(const AxisRule& rule) const {
  const int64_t r = problem_.r, inner = problem_.inner;
  if (inner == 1) {
    return parallel_chunks(cut(problem_.outer, Cost::medium, r), [&](int64_t begin, int64_t end) {
      const int64_t at = begin * r;
      rule.rows[element()](gradient_at(begin), x_at(at), end - begin, r, out_at(at));
    });
  }
  const int64_t tiles = (inner - 1) / kColumnsPerTask + 1;
  const int64_t per_tile = r * std::min(inner, kColumnsPerTask);
  const Cut pieces = cut(problem_.outer * tiles, Cost::medium, per_tile);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t block = task / tiles, column = task % tiles * kColumnsPerTask;
      const int64_t at = block * r * inner + column;
      rule.columns[element()](gradient_at(block * inner + column), x_at(at), r, inner,
                              std::min(kColumnsPerTask, inner - column), out_at(at));
    }
  });
}

void AxisRuleMemory::finish() const {
  if (results_ == out_) return;
  convert(DType::float32, problem_.storage.dtype, results_, out_, problem_.x.size);
}

void run_product_rule(const AxisRuleProblem& problem, const Buffers& buffers) {
  const AxisRuleMemory memory(problem, buffers);
  memory.apply(kernels().product_rule);
  double largest = 0;
  kernels().norm.raise_to_largest[memory.element()](memory.out_at(0), problem.x.size, largest);
  if (!std::isfinite(largest)) throw Declined();
  memory.finish();
}

void run_extreme_rule(const ExtremeRuleProblem& problem, const Buffers& buffers) {
  const AxisRuleProblem& axes = problem.axes;
  const AxisRuleMemory memory(axes, buffers);
  if (axes.inner > 1 || axes.r <= kRowPiece) {
    memory.apply(problem.rule->whole);
  } else {
    for (int64_t row = 0; row < axes.outer; ++row) {
      const int64_t at = row * axes.r;
      share_long_row(*problem.rule, axes.storage.element, memory.gradient_at(row), memory.x_at(at),
                     axes.r, memory.out_at(at));
    }
  }
  memory.finish();
}

}  // namespace extensor
