// A rule along neighbouring axes: from a gradient for each row or column to one for each element.
#pragma once

#include "../door/call.h"
#include "copying.h"
#include "storage.h"

namespace extensor {

struct AxisRuleProblem {
  Storage storage;
  int64_t outer = 1, r = 1, inner = 1;  // the axes of x; those in the middle are reduced
  Layout gradient, x;
};

// Splits the axes of `problem.x`. False if the reduced ones are not next to each other.
bool split_axes(const bool* reduced, AxisRuleProblem& problem);

// The memory of one run: contiguous, in the type that kernels compute in.
class AxisRuleMemory {
 public:
  AxisRuleMemory(const AxisRuleProblem& problem, const Buffers& buffers);

  int element() const { return problem_.storage.index(); }
  const char* gradient_at(int64_t i) const { return gradient_.data() + i * itemsize_; }
  const char* x_at(int64_t i) const { return x_.data() + i * itemsize_; }
  char* out_at(int64_t i) const { return results_ + i * itemsize_; }

  void apply(const AxisRule& rule) const;
  // Rounds the results to the dtype of the output.
  void finish() const;

 private:
  const AxisRuleProblem& problem_;
  int64_t itemsize_;
  Contiguous gradient_, x_;
  TemporaryBlock wide_;
  char *out_, *results_;
};

// The rule of prod. Throws Declined where a gradient is not finite: a zero stays zero on its way.
void run_product_rule(const AxisRuleProblem& problem, const Buffers& buffers);

// The rule of max or min: the gradient is shared among the winners.
struct ExtremeRuleProblem {
  const ExtremeRule* rule;
  AxisRuleProblem axes;
};
constexpr int64_t kLongestColumn = 1 << 24;  // float32 counts the winners of a column up to here
void run_extreme_rule(const ExtremeRuleProblem& problem, const Buffers& buffers);

}  // namespace extensor
