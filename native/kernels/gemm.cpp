#include "gemm.h"

#include "gemm_micro.h"
#include "gemm_pack.h"
#include "gemv.h"

namespace extensor::EX_ISA {
namespace {

struct Range {
  int64_t begin, end;
  int64_t size() const { return end - begin; }
};

// k is summed in equal blocks of at most kMaximumDepth, each from zero, added to C in order.
EX_INLINE int64_t block_depth(int64_t k) {
  return ceil_divide(k, ceil_divide(k, kMaximumDepth));
}

// Rows of A walked per panel of B. Packed they must stay in L2 (1 MiB here, 2 on newer cores)
// beside the passing panels of B and rows of C.
inline constexpr int64_t kBlockRows = 384;

template <typename T>
inline constexpr int64_t kPackedRows = (kTileRows + kLanes<T> - 1) / kLanes<T> * kLanes<T>;

// The rows of A of one block: tile t starts at data + t * tile_stride.
template <typename T>
struct Left {
  const T* data;
  int64_t row, column;
  int64_t tile_rows_stride;  // to the next tile, per row of this one
  int64_t tile_stride;       // to the next tile, fixed part
};

template <typename T>
T* left_scratch(size_t count) {
  static thread_local Scratch scratch;
  return static_cast<T*>(scratch.get(count * sizeof(T)));
}

template <typename T>
T* right_scratch() {
  alignas(64) static thread_local T panel[kMaximumDepth * kTileColumns<T>];
  return panel;
}

// Packing reads and writes each element of A once; it pays when enough panels of B pass by.
template <typename Operand>
bool packs_left(const Gemm<Operand>& p, int64_t columns) {
  if constexpr (sizeof(Operand) == 2) return true;
  if (p.a_column == 1) return columns >= 256;
  return columns >= 64;
}

template <typename Operand, typename T>
Left<T> prepare_left(const Gemm<Operand>& p, Range rows, Range steps, bool pack) {
  const Operand* a = p.a + rows.begin * p.a_row + steps.begin * p.a_column;
  if constexpr (sizeof(Operand) == sizeof(T)) {
    if (!pack) return {a, p.a_row, p.a_column, p.a_row, 0};
  }
  constexpr int64_t width = kPackedRows<T>;
  const int64_t depth = steps.size();
  const int64_t panel_size = width * depth + 64 / sizeof(T);  // panels must not share cache sets
  T* packed = left_scratch<T>((rows.size() / 4 + 2) * panel_size);
  T* target = packed;
  for (int64_t row = 0; row < rows.size();) {
    int64_t offsets[kPanelGroup];
    int panels = 0;
    for (; panels < kPanelGroup && row < rows.size(); ++panels) {
      offsets[panels] = row;
      row += tile_height(rows.size() - row);
    }
    Lines<Operand> lines{a, p.a_row, p.a_column, p.m - rows.begin, p.k - steps.begin};
    pack_panels(lines, depth, offsets, panels, target, panel_size, width);
    target += panels * panel_size;
  }
  return {packed, 1, width, 0, panel_size};
}

// One panel of columns against all rows of the block. When B can be read as it lies, the first tile
// packs it in passing.
template <typename Operand, typename T>
void multiply_column(const Gemm<Operand>& p, Range rows, Range steps, int64_t column,
                     int64_t columns, const Left<T>& left, const Finish<T>& finish) {
  const int64_t vectors = ceil_divide(columns, kLanes<T>);
  const int64_t width = vectors * kLanes<T>;
  const Operand* b = p.b + steps.begin * p.b_row + column * p.b_column;
  T* packed = right_scratch<T>();
  Tile<T> tile{steps.size(), left.data, left.row, left.column, packed, width, packed,
               p.c + rows.begin * p.c_row + column, p.c_row, columns, finish};
  bool pack_in_passing = false;
  if constexpr (sizeof(Operand) == sizeof(T)) {
    pack_in_passing = p.b_column == 1 && columns == width;
    if (pack_in_passing) {
      tile.b = b;
      tile.b_row = p.b_row;
    }
  }
  if (!pack_in_passing) {
    const Lines<Operand> lines{b, p.b_column, p.b_row, p.n - column, p.k - steps.begin};
    const int64_t offset = 0;
    pack_panels(lines, steps.size(), &offset, 1, packed, 0, width);
  }
  for (int64_t row = 0; row < rows.size();) {
    int64_t height = tile_height(rows.size() - row);
    bool more = height < rows.size() - row;
    tile_function<T>(height, vectors, pack_in_passing && more)(tile);
    tile.a += height * left.tile_rows_stride + left.tile_stride;
    tile.c += height * p.c_row;
    tile.b = packed;
    tile.b_row = width;
    pack_in_passing = false;
    row += height;
  }
}

template <typename Operand, typename T = typename Gemm<Operand>::Result>
void multiply_tiles(const Gemm<Operand>& p, Range rows, Range columns) {
  const int64_t step_depth = block_depth(p.k);
  const int64_t chunks = ceil_divide(rows.size(), kBlockRows);
  const int64_t chunk_rows = round_up(ceil_divide(rows.size(), chunks), kTileRows);
  const bool pack = packs_left(p, columns.size());
  for (int64_t row = rows.begin; row < rows.end; row += chunk_rows) {
    Range chunk{row, minimum(row + chunk_rows, rows.end)};
    for (int64_t step = 0; step < p.k; step += step_depth) {
      Range steps{step, minimum(step + step_depth, p.k)};
      const bool last = steps.end == p.k;
      Left<T> left = prepare_left<Operand, T>(p, chunk, steps, pack);
      for (int64_t column = columns.begin; column < columns.end; column += kTileColumns<T>) {
        int64_t count = minimum<int64_t>(columns.end - column, kTileColumns<T>);
        Finish<T> finish{p.accumulate || step > 0, last && p.bias ? p.bias + column : nullptr,
                         last ? p.epilogue : Epilogue::none};
        multiply_column(p, chunk, steps, column, count, left, finish);
      }
    }
  }
}

template <typename Operand>
VectorMatrix<Operand> as_vector_matrix(const Gemm<Operand>& p, Range rows, Range columns) {
  if (p.m == 1) {
    return {columns.size(), p.k, p.a, p.a_column, p.b + columns.begin * p.b_column, p.b_column,
            p.b_row, p.c + columns.begin, 1, p.bias ? p.bias + columns.begin : nullptr, 1,
            p.accumulate, p.epilogue};
  }
  return {rows.size(), p.k, p.b, p.b_row, p.a + rows.begin * p.a_row, p.a_row, p.a_column,
          p.c + rows.begin * p.c_row, p.c_row, p.bias, 0, p.accumulate, p.epilogue};
}

template <typename T>
T finish_scalar(const Finish<T>& finish, T old, T sum) {
  T value = finish.accumulate ? old + sum : sum;
  if (finish.bias) value += *finish.bias;
  return finish.epilogue == Epilogue::relu && value < T{0} ? T{0} : value;
}

template <typename Operand, typename T = typename Gemm<Operand>::Result>
void multiply_dot(const Gemm<Operand>& p) {
  const int64_t step_depth = block_depth(p.k);
  T total = p.accumulate ? *p.c : T{0};
  for (int64_t step = 0; step < p.k; step += step_depth) {
    int64_t depth = minimum(step_depth, p.k - step);
    T sum = dot_block(p.a + step * p.a_column, p.a_column, p.b + step * p.b_row, p.b_row, depth);
    total = p.accumulate || step > 0 ? total + sum : sum;
  }
  *p.c = finish_scalar<T>({false, p.bias, p.epilogue}, T{0}, total);
}

template <typename Operand>
void multiply_range(const Gemm<Operand>& p, Range rows, Range columns) {
  if (p.m == 1 && p.n == 1) return multiply_dot(p);
  if (p.m == 1 || p.n == 1) {
    VectorMatrix<Operand> vector_matrix = as_vector_matrix(p, rows, columns);
    if (runs_as_vector_matrix(vector_matrix)) {
      return multiply_vector_matrix(vector_matrix, block_depth(p.k));
    }
  }
  multiply_tiles(p, rows, columns);
}

// A product without a sum: only accumulate, bias and epilogue remain.
template <typename Operand, typename T = typename Gemm<Operand>::Result>
void finish_without_sum(const Gemm<Operand>& p) {
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      T* c = p.c + i * p.c_row + j;
      *c = finish_scalar<T>({p.accumulate, p.bias ? p.bias + j : nullptr, p.epilogue}, *c, T{0});
    }
  }
}

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
  bool one_a = p.a_batch == p.m * p.a_row && p.c_batch == p.m * p.c_row;
  if (p.batch <= 1 || p.b_batch != 0 || !one_a || p.n == 1 || p.m == 0) return p;
  Gemm<Operand> one = p;
  one.m *= p.batch;
  one.batch = 1;
  return one;
}

// How a product is cut: by its shape alone. Cost counts multiplications; a vector times a matrix
// waits for memory and takes about four times as long per multiplication.
struct Plan {
  int64_t row_step, column_step;  // of the blocks of C
  int64_t row_blocks, column_blocks;
  int64_t matrices;     // per task
  int64_t depth_tasks;  // when C is too small to cut: tasks over blocks of k
  int64_t tasks;
};

// About 20 us of work: waking a thread costs 5.
inline constexpr int64_t kTaskCost = 1 << 20;
// Beyond kUsualTasks each task repeats packing that others do too, so it must be large.
inline constexpr int64_t kUsualTasks = 16;
inline constexpr int64_t kLargeTaskCost = kTaskCost * 512;

template <typename Operand>
int64_t cost_of(const Gemm<Operand>& p) {
  return p.m * p.n * p.k * (p.m == 1 || p.n == 1 ? 4 : 1);
}

EX_INLINE int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

template <typename Operand, typename T = typename Gemm<Operand>::Result>
void cut_blocks(const Gemm<Operand>& p, int64_t wanted, Plan& plan) {
  int64_t rows = 1, columns = 1;
  const int64_t row_unit = p.n == 1 ? 64 : kTileRows * 2;
  const int64_t column_unit = p.m == 1 ? 64 : kTileColumns<T>;
  while (rows * columns < wanted) {
    bool can_cut_rows = p.m >= 2 * rows * row_unit;
    bool can_cut_columns = p.n >= 2 * columns * column_unit;
    if (!can_cut_rows && !can_cut_columns) break;
    // Each block of rows packs B again, each block of columns packs A again.
    bool cheaper_columns = columns * p.m <= rows * p.n;
    (can_cut_columns && (cheaper_columns || !can_cut_rows) ? columns : rows) *= 2;
  }
  plan.row_step = round_up(ceil_divide(p.m, rows), row_unit / 2);
  plan.column_step = round_up(ceil_divide(p.n, columns), column_unit);
  plan.row_blocks = ceil_divide(p.m, plan.row_step);
  plan.column_blocks = ceil_divide(p.n, plan.column_step);
}

template <typename Operand>
Plan make_plan(const Gemm<Operand>& p) {
  Plan plan{p.m, p.n, 1, 1, 1, 1, 1};
  if (p.m == 0 || p.n == 0 || p.k == 0 || p.batch == 0) return plan;
  const int64_t cost = cost_of(p);
  if (cost < kTaskCost) plan.matrices = minimum(p.batch, ceil_divide(kTaskCost, cost));
  int64_t wanted = clamp(cost / kTaskCost, 1, kUsualTasks);
  if (cost / kLargeTaskCost > wanted) wanted = cost / kLargeTaskCost;
  if (plan.matrices == 1) cut_blocks(p, wanted, plan);
  plan.tasks = ceil_divide(p.batch, plan.matrices) * plan.row_blocks * plan.column_blocks;
  return plan;
}

template <typename Operand>
void run_task(const Gemm<Operand>& p, const Plan& plan, int64_t task) {
  const int64_t blocks = plan.row_blocks * plan.column_blocks;
  const int64_t first = task / blocks * plan.matrices;
  const int64_t row = task % blocks / plan.column_blocks * plan.row_step;
  const int64_t column = task % plan.column_blocks * plan.column_step;
  for (int64_t i = first; i < minimum(first + plan.matrices, p.batch); ++i) {
    multiply_range(matrix_of(p, i), Range{row, minimum(row + plan.row_step, p.m)},
                   Range{column, minimum(column + plan.column_step, p.n)});
  }
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

template <typename Operand>
void run_gemm(const Gemm<Operand>& problem, ParallelFor run) {
  if (problem.m == 0 || problem.n == 0) return;
  const Gemm<Operand> folded = fold_batch(problem);
  if (!run || folded.k == 0) return run_serially(folded);
  const Plan plan = make_plan(folded);
  if (plan.tasks == 1) return run_serially(folded);
  struct Context {
    const Gemm<Operand>& problem;
    const Plan& plan;
  } context{folded, plan};
  auto body = [](void* opaque, int64_t task) {
    const Context& c = *static_cast<Context*>(opaque);
    run_task(c.problem, c.plan, task);
  };
  run(plan.tasks, body, &context);
}

}  // namespace

#define EXTENSOR_DEFINE_GEMM(Operand)                   \
  int64_t gemm_tasks(const Gemm<Operand>& problem) {    \
    return make_plan(fold_batch(problem)).tasks;        \
  }                                                     \
  void gemm(const Gemm<Operand>& problem, ParallelFor run) { run_gemm(problem, run); }

EXTENSOR_DEFINE_GEMM(float)
EXTENSOR_DEFINE_GEMM(double)
EXTENSOR_DEFINE_GEMM(BFloat16)

}  // namespace extensor::EX_ISA
