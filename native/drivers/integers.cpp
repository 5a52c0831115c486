#include "integers.h"

#include <algorithm>
#include <cstdlib>

#include "copying.h"
#include "reduction.h"

namespace extensor {
namespace {

constexpr int64_t kPiece = 65536;  // elements that one task reduces to a row

}  // namespace

bool find_integer(DType dtype, Integer& integer) {
  switch (dtype) {
    case DType::boolean:
      integer = Integer::boolean;
      return true;
    case DType::int32:
      integer = Integer::int32;
      return true;
    case DType::int64:
      integer = Integer::int64;
      return true;
    default:
      return false;
  }
}

const IntegerKernel* find_integer_kernel(std::string_view name) {
  for (const IntegerKernel& kernel : kernels().integers) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

const IntegerReduction& find_integer_reduction(std::string_view name) {
  for (const IntegerReduction& reduction : kernels().integer_reductions) {
    if (reduction.name == name) return reduction;
  }
  std::abort();  // every table has them
}

bool plan_integer_reduction(const bool* reduced, IntegerReductionProblem& problem) {
  const Layout& x = problem.x;
  AxisGroups groups;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (x.length(axis) != 1) groups.add(x.length(axis), reduced[axis]);
  }
  problem.outer = problem.n = problem.inner = 1;
  int at = 0;
  if (at < groups.count && !groups.reduced[at]) problem.outer = groups.sizes[at++];
  if (at < groups.count) problem.n = groups.sizes[at++];
  if (at < groups.count) problem.inner = groups.sizes[at++];
  return at == groups.count;
}

void run_integer_reduction(const IntegerReductionProblem& problem, const Buffers& buffers) {
  const Contiguous x(problem.x, buffers.inputs[0]);
  const IntegerReduction& reduction = *problem.reduction;
  const auto columns = reduction.columns[static_cast<int>(problem.integer)];
  const int64_t outer = problem.outer, n = problem.n, inner = problem.inner;
  const int64_t row_bytes = inner * problem.x.itemsize,
                out_bytes = inner * size_of(problem.result());
  char* const out = buffers.outputs[0];
  const int64_t rows = std::clamp<int64_t>(kPiece / inner, 1, n);  // of a piece
  const int64_t pieces = (n - 1) / rows + 1;
  TemporaryBlock partial(pieces == 1 ? 0 : outer * pieces * out_bytes);
  char* const results = pieces == 1 ? out : partial.data();
  parallel_chunks(cut(outer * pieces, Cost::light, rows * inner), [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t block = task / pieces, from = task % pieces * rows;
      columns(x.data() + (block * n + from) * row_bytes, std::min(rows, n - from), inner,
              results + task * out_bytes);
    }
  });
  if (pieces == 1) return;
  const Integer joined = reduction.is_sum ? Integer::int64 : problem.integer;
  for (int64_t block = 0; block < outer; ++block) {
    reduction.columns[static_cast<int>(joined)](results + block * pieces * out_bytes, pieces, inner,
                                                out + block * out_bytes);
  }
}

void run_integer_positions(const IntegerPositionProblem& problem, const Buffers& buffers) {
  const Contiguous x(problem.x, buffers.inputs[0]);
  const int64_t row_bytes = problem.n * problem.x.itemsize;
  int64_t* const out = reinterpret_cast<int64_t*>(buffers.outputs[0]);
  parallel_chunks(cut(problem.rows, Cost::light, problem.n + 16), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      out[row] = problem.first(x.data() + row * row_bytes, problem.n);
    }
  });
}

}  // namespace extensor
