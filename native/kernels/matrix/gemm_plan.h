#pragma once

#include "gemm_block.h"

namespace extensor::EX_ISA {
namespace {

// How a product is cut among threads. The cut does not change any bit of the result.
struct Plan {
  int64_t row_step, column_step;  // of the blocks of C
  int64_t row_blocks, column_blocks;
  int64_t matrices;      // of a batch, per task
  int64_t depth_blocks;  // of k per task, or 0: C is large enough to be cut itself
  int64_t tasks;
};

// About 20 us of work: waking a thread costs 5.
inline constexpr int64_t kTaskCost = 1 << 20;
// For callers who know that the threads are awake: handing over a task takes under 1 us.
inline constexpr int64_t kShortTaskCost = kTaskCost / 2;
// Beyond kUsualTasks each task repeats packing that others do too, so it must be large.
inline constexpr int64_t kUsualTasks = 16;
inline constexpr int64_t kLargeTaskCost = kTaskCost * 512;
// Where the cut may follow the threads: enough that a delayed one leaves some to the others, but
// few if each task must pack all of its operands again.
template <typename Operand>
inline constexpr int64_t kTasksPerThread =
    std::is_same_v<Operand, typename Packing<Operand>::Element> ? 4 : 1;
// A result up to the first size may be summed in parallel along k, if the sums of all blocks fit in
// the second (4 MiB of floats).
inline constexpr int64_t kSmallResult = 4096;
inline constexpr int64_t kMaximumBlockSums = 1 << 20;

// Counts multiplications, with those of tiles that are not full. A vector times a matrix waits for
// memory and takes about four times as long per multiplication.
template <typename Operand, typename T = typename Gemm<Operand>::Result>
int64_t cost_of(const Gemm<Operand>& p) {
  if (p.m == 1 || p.n == 1) return 4 * p.m * p.n * p.k;
  return p.m * round_up(p.n, kLanes<T>) * p.k;
}

EX_INLINE int64_t wanted_tasks(int64_t cost, int64_t task_cost = kTaskCost) {
  const int64_t usual = minimum(cost / task_cost, kUsualTasks), large = cost / kLargeTaskCost;
  const int64_t wanted = usual < large ? large : usual;
  return wanted < 1 ? 1 : wanted;
}

template <typename Operand, typename T = typename Gemm<Operand>::Result>
void cut_result(const Gemm<Operand>& p, int64_t wanted, Plan& plan) {
  int64_t rows = 1, columns = 1;
  const int64_t row_unit = p.n == 1 ? 64 : kTileRows;
  const int64_t column_unit = p.m == 1 ? 64 : kTileColumns<T>;
  while (rows * columns < wanted) {
    bool can_cut_rows = p.m >= 4 * rows * row_unit;
    bool can_cut_columns = p.n >= 2 * columns * column_unit;
    if (!can_cut_rows && !can_cut_columns) break;
    // Each block of columns packs A again, each block of rows packs B again, mostly in passing.
    bool cheaper_columns = 2 * columns * p.m <= rows * p.n;
    (can_cut_columns && (cheaper_columns || !can_cut_rows) ? columns : rows) *= 2;
  }
  plan.row_step = round_up(ceil_divide(p.m, rows), row_unit);
  plan.column_step = round_up(ceil_divide(p.n, columns), column_unit);
  plan.row_blocks = ceil_divide(p.m, plan.row_step);
  plan.column_blocks = ceil_divide(p.n, plan.column_step);
}

// The blocks that are summed from zero anyway, whoever sums them.
template <typename Operand>
int64_t depth_unit(const Gemm<Operand>& p) {
  if (p.m == 1) return vector_block_depth(p.k, p.b_column, p.b_row);
  if (p.n == 1) return vector_block_depth(p.k, p.a_row, p.a_column);
  return block_depth(p.k);
}

template <typename Operand>
void cut_depth(const Gemm<Operand>& p, int64_t wanted, Plan& plan) {
  const int64_t blocks = ceil_divide(p.k, depth_unit(p));
  if (p.batch > 1 || blocks < 4 || p.m * p.n > kSmallResult) return;
  if (blocks * p.m * p.n > kMaximumBlockSums) return;
  if (2 * plan.row_blocks * plan.column_blocks > wanted) return;
  plan = {p.m, p.n, 1, 1, 1, ceil_divide(blocks, wanted), 1};
}

template <typename Operand>
Plan make_plan(const Gemm<Operand>& p, int threads) {
  Plan plan{p.m, p.n, 1, 1, 1, 0, 1};
  if (p.m == 0 || p.n == 0 || p.k == 0 || p.batch == 0) return plan;
  const int64_t cost = cost_of(p);
  const int64_t wanted =
      minimum(wanted_tasks(cost, kShortTaskCost), threads * kTasksPerThread<Operand>);
  if (cost < kShortTaskCost) plan.matrices = minimum(p.batch, ceil_divide(kShortTaskCost, cost));
  if (wanted > 1) {
    cut_result(p, wanted, plan);
    cut_depth(p, wanted, plan);
  }
  plan.tasks = plan.depth_blocks > 0
                   ? ceil_divide(ceil_divide(p.k, depth_unit(p)), plan.depth_blocks)
                   : ceil_divide(p.batch, plan.matrices) * plan.row_blocks * plan.column_blocks;
  return plan;
}

}  // namespace
}  // namespace extensor::EX_ISA
