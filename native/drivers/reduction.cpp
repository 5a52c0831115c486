#include "reduction.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "../runtime/memory.h"
#include "copying.h"
#include "elementwise.h"

namespace extensor {
namespace {

constexpr int64_t kRowPiece = 65536;    // elements of a row that one task reduces
constexpr int64_t kRowsPerPiece = 256;  // rows that one task adds into one
constexpr int64_t kColumnsPerTask = 4096;
constexpr int64_t kEnoughTasks = 8;  // beyond this many columns' tasks, rows are not cut as well

// One step: (outer, r, inner) to (outer, inner), all contiguous.
struct Step {
  const Reduction& reduction;
  Element element;
  int64_t itemsize;
  int64_t outer, r, inner;
};

void reduce_rows(const Step& step, const char* x, char* out) {
  const auto rows = step.reduction.rows[static_cast<int>(step.element)];
  const int64_t pieces = (step.r + kRowPiece - 1) / kRowPiece;
  if (pieces <= 1) {
    parallel_chunks(cut(step.outer, Cost::light, step.r), [&](int64_t begin, int64_t end) {
      rows(x + begin * step.r * step.itemsize, end - begin, step.r, out + begin * step.itemsize);
    });
    return;
  }
  TemporaryBlock partial(step.outer * pieces * step.itemsize);
  parallel_chunks(
      cut(step.outer * pieces, Cost::light, kRowPiece), [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t row = task / pieces, from = task % pieces * kRowPiece;
          rows(x + (row * step.r + from) * step.itemsize, 1, std::min(kRowPiece, step.r - from),
               partial.data() + task * step.itemsize);
        }
      });
  const auto join = find_reduction(step.reduction.joined_by).rows[static_cast<int>(step.element)];
  join(partial.data(), step.outer, pieces, out);
}

void reduce_columns(const Step& step, const char* x, char* out) {
  const auto columns = step.reduction.columns[static_cast<int>(step.element)];
  const int64_t tiles = (step.inner + kColumnsPerTask - 1) / kColumnsPerTask;
  const int64_t rows_per_piece = step.outer * tiles >= kEnoughTasks ? step.r : kRowsPerPiece;
  const int64_t pieces = (step.r + rows_per_piece - 1) / rows_per_piece;
  TemporaryBlock partial(pieces == 1 ? 0 : step.outer * pieces * step.inner * step.itemsize);
  char* target = pieces == 1 ? out : partial.data();
  const int64_t per_task = rows_per_piece * std::min(step.inner, kColumnsPerTask);
  parallel_chunks(
      cut(step.outer * pieces * tiles, Cost::light, per_task), [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t tile = task % tiles, piece = task / tiles % pieces;
          const int64_t block = task / tiles / pieces;
          const int64_t from = piece * rows_per_piece, column = tile * kColumnsPerTask;
          columns(x + ((block * step.r + from) * step.inner + column) * step.itemsize,
                  std::min(rows_per_piece, step.r - from), step.inner,
                  std::min(kColumnsPerTask, step.inner - column),
                  target + ((block * pieces + piece) * step.inner + column) * step.itemsize);
        }
      });
  if (pieces > 1) {
    const int64_t block_size = step.inner * step.itemsize;
    const Reduction& join = find_reduction(step.reduction.joined_by);
    for (int64_t block = 0; block < step.outer; ++block) {
      join.columns[static_cast<int>(step.element)](partial.data() + block * pieces * block_size,
                                                   pieces, step.inner, step.inner,
                                                   out + block * block_size);
    }
  }
}

void reduce_step(const Step& step, const char* x, char* out) {
  step.inner == 1 ? reduce_rows(step, x, out) : reduce_columns(step, x, out);
}

int64_t product(const AxisGroups& groups, int begin, int end) {
  int64_t size = 1;
  for (int i = begin; i < end; ++i) size *= groups.sizes[i];
  return size;
}

// The innermost group that is reduced; -1 if there is none.
int last_reduced(const AxisGroups& groups) {
  int at = groups.count - 1;
  while (at >= 0 && !groups.reduced[at]) --at;
  return at;
}

void divide(auto* values, int64_t n, int64_t divisor) {
  using T = std::remove_pointer_t<decltype(values)>;
  for (int64_t i = 0; divisor > 1 && i < n; ++i) values[i] /= static_cast<T>(divisor);
}

// From sums of squares to norms. Squares that overflow or lose digits are left to the formula.
template <typename T>
void take_roots(T* values, int64_t n) {
  using Limits = std::numeric_limits<T>;
  const T least = Limits::min() / Limits::epsilon() / Limits::epsilon();
  bool good = true;
  for (int64_t i = 0; i < n; ++i) good &= (values[i] > least) & (values[i] <= Limits::max());
  if (!good) throw Declined();
  static const Elementwise& root = find_elementwise("sqrt");
  const void* const inputs[] = {values};
  void* const outputs[] = {values};
  root.pass[sizeof(T) == sizeof(double)](inputs, outputs, n, nullptr);
}

void plan_sum(const Shape& of_x, const Shape& shape, ReductionProblem& problem) {
  static const Reduction& sum = find_reduction("sum");
  problem.reduction = &sum;
  find_storage(problem.x.dtype, problem.storage);
  problem.results = shape.size();
  const int added = of_x.ndim - shape.ndim;
  for (int axis = 0; axis < of_x.ndim; ++axis) {
    const int64_t length = of_x.lengths[axis];
    if (length != 1) problem.groups.add(length, axis < added || shape.lengths[axis - added] == 1);
  }
}

template <typename T>
void finish(const ReductionProblem& problem, T* values) {
  if (problem.root) return take_roots(values, problem.results);
  divide(values, problem.results, problem.divisor);
}

}  // namespace

const Reduction& find_reduction(std::string_view name) {
  for (const Reduction& reduction : kernels().reductions) {
    if (name == reduction.name) return reduction;
  }
  std::abort();  // every table has them
}

void reduce(const Reduction& reduction, Element element, const char* x, const AxisGroups& groups,
            char* out) {
  const int64_t itemsize = element == Element::float64 ? 8 : 4;
  const int at = last_reduced(groups);
  if (at < 0) {
    std::memcpy(out, x, product(groups, 0, groups.count) * itemsize);
    return;
  }
  const Step step = {reduction,        element,
                     itemsize,         product(groups, 0, at),
                     groups.sizes[at], product(groups, at + 1, groups.count)};
  AxisGroups rest = groups;
  std::copy(groups.sizes + at + 1, groups.sizes + groups.count, rest.sizes + at);
  std::copy(groups.reduced + at + 1, groups.reduced + groups.count, rest.reduced + at);
  --rest.count;
  if (last_reduced(rest) < 0) return reduce_step(step, x, out);
  TemporaryBlock partial(step.outer * step.inner * itemsize);
  reduce_step(step, x, partial.data());
  reduce(find_reduction(reduction.joined_by), element, partial.data(), rest, out);
}

void plan_reduction(const Reduction& reduction, const bool* reduced, ReductionProblem& problem) {
  const Layout& x = problem.x;
  problem.reduction = &reduction;
  find_storage(x.dtype, problem.storage);
  problem.results = 1;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    const int64_t length = x.length(axis);
    if (!reduced[axis]) problem.results *= length;
    if (length != 1) problem.groups.add(length, reduced[axis]);
  }
}

void plan_sum_to_shape(const Layout& x, const Shape& shape, ReductionProblem& problem) {
  if (&x != &problem.x) copy_layout(x, problem.x);
  plan_sum(x.shape, shape, problem);
}

void plan_sum_to_shape(DType dtype, const Shape& of_x, const Shape& shape,
                       ReductionProblem& problem) {
  problem.x.dtype = dtype;
  problem.x.c_contiguous = true;
  problem.x.itemsize = size_of(dtype);
  problem.x.size = of_x.size();
  plan_sum(of_x, shape, problem);
}

void run_reduction(const ReductionProblem& problem, const char* x, char* out) {
  const Storage& storage = problem.storage;
  if (problem.x.size == 0) {
    std::memset(out, 0, problem.results * storage.itemsize);
    return;
  }
  const Contiguous source(problem.x, x, storage.wide());
  const bool narrowed = storage.half != nullptr;
  TemporaryBlock wide(narrowed ? problem.results * sizeof(float) : 0);
  char* const results = narrowed ? wide.data() : out;
  reduce(*problem.reduction, storage.element, source.data(), problem.groups, results);
  if (storage.element == Element::float64) {
    finish(problem, reinterpret_cast<double*>(results));
  } else {
    finish(problem, reinterpret_cast<float*>(results));
  }
  if (narrowed) convert(DType::float32, storage.dtype, results, out, problem.results);
}

void run_reduction_call(const ReductionProblem& problem, const Buffers& buffers) {
  run_reduction(problem, buffers.inputs[0], buffers.outputs[0]);
}

void run_mean_rule(const MeanRuleProblem& problem, const Buffers& buffers) {
  const auto divide_all = [&]<typename T>(const T* gradient, T* share) {
    for (int64_t i = 0; i < problem.size; ++i) {
      share[i] = gradient[i] / static_cast<T>(problem.divisor);
    }
  };
  const char* const gradient = buffers.inputs[0];
  char* const share = buffers.outputs[0];
  if (problem.element == Element::float64) {
    divide_all(reinterpret_cast<const double*>(gradient), reinterpret_cast<double*>(share));
  } else {
    divide_all(reinterpret_cast<const float*>(gradient), reinterpret_cast<float*>(share));
  }
}

void reduced_shape(const Shape& x, const bool* reduced, bool keepdims, Shape& shape) {
  shape.ndim = 0;
  for (int axis = 0; axis < x.ndim; ++axis) {
    if (!reduced[axis]) shape.lengths[shape.ndim++] = x.lengths[axis];
    if (reduced[axis] && keepdims) shape.lengths[shape.ndim++] = 1;
  }
}

}  // namespace extensor
