#pragma once

#include "gemm_block.h"
#include "gemm_plan.h"

namespace extensor::EX_ISA {
namespace {

template <typename Operand>
Gemm<Operand> matrix_of(const Gemm<Operand>& p, int64_t index) {
  Gemm<Operand> one = p;
  one.a += index * p.a_batch;
  one.b += index * p.b_batch;
  one.c += index * p.c_batch;
  one.batch = 1;
  return one;
}

// A batch whose matrices lie as further rows of one A and one C, against one B, is one product.
template <typename Operand>
Gemm<Operand> fold_batch(const Gemm<Operand>& p) {
  const bool further_rows = p.a_batch == p.m * p.a_row && p.c_batch == p.m * p.c_row;
  if (p.batch <= 1 || p.b_batch != 0 || !(p.m == 1 || further_rows)) return p;
  Gemm<Operand> one = p;
  if (p.m == 1) {
    one.a_row = p.a_batch;
    one.c_row = p.c_batch;
  }
  one.m *= p.batch;
  one.batch = 1;
  return one;
}

template <typename Operand>
void run_serially(const Gemm<Operand>& p) {
  for (int64_t i = 0; i < p.batch; ++i) {
    if (p.k == 0) {
      finish_without_sum(matrix_of(p, i));
    } else {
      multiply_range(matrix_of(p, i), Range{0, p.m}, Range{0, p.n});
    }
  }
}

template <typename Context>
void run_tasks(ParallelFor run, int64_t tasks, Context& context) {
  auto body = [](void* opaque, int64_t task) { (*static_cast<Context*>(opaque))(task); };
  run(tasks, body, &context);
}

template <typename Operand>
void run_blocks(const Gemm<Operand>& p, const Plan& plan, ParallelFor run) {
  auto task = [&](int64_t index) {
    const int64_t blocks = plan.row_blocks * plan.column_blocks;
    const int64_t first = index / blocks * plan.matrices;
    const int64_t row = index % blocks / plan.column_blocks * plan.row_step;
    const int64_t column = index % plan.column_blocks * plan.column_step;
    for (int64_t i = first; i < minimum(first + plan.matrices, p.batch); ++i) {
      multiply_range(matrix_of(p, i), Range{row, minimum(row + plan.row_step, p.m)},
                     Range{column, minimum(column + plan.column_step, p.n)});
    }
  };
  run_tasks(run, plan.tasks, task);
}

// Each block of k leaves its sums in a matrix of its own; they are then added in the order in which
// one thread would have added them.
template <typename Operand, typename T = typename Gemm<Operand>::Result>
void run_depth_blocks(const Gemm<Operand>& p, const Plan& plan, ParallelFor run) {
  const int64_t unit = depth_unit(p), blocks = ceil_divide(p.k, unit), size = p.m * p.n;
  T* sums = static_cast<T*>(thread_scratch(Scratch::sums, blocks * size * sizeof(T)));
  auto task = [&](int64_t index) {
    const int64_t first = index * plan.depth_blocks;
    for (int64_t block = first; block < minimum(first + plan.depth_blocks, blocks); ++block) {
      Gemm<Operand> part = p;
      part.k = minimum(unit, p.k - block * unit);
      part.a += block * unit * p.a_column;
      part.b += block * unit * p.b_row;
      part.c = sums + block * size;
      part.c_row = p.n;
      part.bias = nullptr;
      part.accumulate = false;
      part.epilogue = Epilogue::none;
      multiply_range(part, Range{0, p.m}, Range{0, p.n});
    }
  };
  run_tasks(run, plan.tasks, task);
  for (int64_t block = 0; block < blocks; ++block) {
    const bool last = block + 1 == blocks;
    const Finish<T> finish{p.accumulate || block > 0, last ? p.bias : nullptr,
                           last ? p.epilogue : Epilogue::none};
    for (int64_t row = 0; row < p.m; ++row) {
      finish_lines(finish, sums + block * size + row * p.n, p.n, p.c + row * p.c_row, 1, 1);
    }
  }
}

template <typename Operand>
void run_gemm(const Gemm<Operand>& problem, const Workers& workers) {
  if (problem.m == 0 || problem.n == 0) return;
  const Gemm<Operand> p = fold_batch(problem);
  if (workers.threads == 1 || p.k == 0) return run_serially(p);
  const Plan plan = make_plan(p, workers.threads);
  if (plan.tasks == 1) return run_serially(p);
  if (plan.depth_blocks > 0) return run_depth_blocks(p, plan, workers.run);
  run_blocks(p, plan, workers.run);
}

}  // namespace
}  // namespace extensor::EX_ISA

// Used inside namespace extensor::EX_ISA.
#define EXTENSOR_DEFINE_GEMM(Operand) \
  void gemm(const Gemm<Operand>& problem, const Workers& workers) { run_gemm(problem, workers); }
