#pragma once

#include "gemm_micro.h"
#include "gemm_pack.h"

namespace extensor::EX_ISA {
namespace {

// y = x M, where line j of M makes y[j]. Both a one-row and a one-column product take this form.
// Each matrix element is used once, so all that counts is reading M at the speed of memory.
template <typename Operand>
struct VectorMatrix {
  using T = typename Gemm<Operand>::Result;

  int64_t lines, depth;
  const Operand* x;
  int64_t x_stride;
  const Operand* matrix;
  int64_t line_stride, step_stride;
  T* y;
  int64_t y_stride;
  const T* bias;
  int64_t bias_stride;
  bool accumulate;
  Epilogue epilogue;
};

// Lines summed at a time: rows of the matrix are read in runs this long, which must satisfy the
// prefetcher, while the sums stay in L1.
inline constexpr int64_t kStripLines = 2048;
// Steps of running lines summed at a time, so that x stays in L1.
inline constexpr int64_t kVectorDepth = 2048;

// Adjacent lines (and scattered ones, which are made adjacent) are summed exactly as the tiles of a
// larger product are. Lines that run through memory would have to be transposed for that, at half
// the speed of memory: they keep one partial sum per lane instead.
inline int64_t vector_block_depth(int64_t depth, int64_t line_stride, int64_t step_stride) {
  return line_stride != 1 && step_stride == 1 ? kVectorDepth : block_depth(depth);
}

template <int Steps, typename T, typename Operand>
void add_steps(const Operand* matrix, int64_t step_stride, const T* x, int64_t lines, T* sums) {
  constexpr int lanes = kLanes<T>;
  Vector<T> factors[Steps];
#pragma GCC unroll 8
  for (int s = 0; s < Steps; ++s) factors[s] = broadcast<T>(x[s]);
  auto add = [&](int64_t line, auto values) __attribute__((always_inline)) {
    Vector<T> sum = load(sums + line);
#pragma GCC unroll 8
    for (int s = 0; s < Steps; ++s) sum += factors[s] * values(matrix + s * step_stride + line);
    store(sums + line, sum);
  };
  int64_t line = 0;
  for (; line + lanes <= lines; line += lanes) {
    add(line, [](const Operand* source) { return load(source); });
  }
  if (line == lines) return;
  add(line, [&](const Operand* source) { return load_first(source, lines - line); });
}

template <typename T, typename Operand>
void sum_adjacent_lines(const Operand* matrix, int64_t step_stride, const T* x, int64_t depth,
                        int64_t lines, T* sums) {
  constexpr int group = 8;
  memset(sums, 0, round_up(lines, kLanes<T>) * sizeof(T));
  int64_t step = 0;
  for (; step + group <= depth; step += group) {
    add_steps<group>(matrix + step * step_stride, step_stride, x + step, lines, sums);
  }
  for (; step < depth; ++step) {
    add_steps<1>(matrix + step * step_stride, step_stride, x + step, lines, sums);
  }
}

// x is padded with zeros to whole vectors.
template <typename T, typename Pointers>
EX_INLINE void sum_vector_of_lines(const Pointers& line, const T* x, int64_t depth, T* sums) {
  constexpr int lanes = kLanes<T>, quad = kQuadLanes<T>;
  Vector<T> partials[lanes] = {};
  int64_t step = 0;
  for (; step + lanes <= depth; step += lanes) {
    Vector<T> factor = load(x + step);
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) partials[i] += load(line(i) + step) * factor;
  }
  if (step < depth) {
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) {
      partials[i] += load_first(line(i) + step, depth - step) * load(x + step);
    }
  }
  Vector<T> rows[quad], parts[quad];
#pragma GCC unroll 4
  for (int i = 0; i < quad; ++i) {
    rows[i] = join_quads<T>([&](int lane) { return fold<T>(partials[lane * quad + i]); });
  }
  transpose_quads<T>(rows, parts);
  if constexpr (quad == 2) return store(sums, parts[0] + parts[1]);
  store(sums, (parts[0] + parts[2]) + (parts[1] + parts[3]));
}

template <typename T, typename Operand>
void sum_running_lines(const Operand* matrix, int64_t line_stride, const T* x, int64_t depth,
                       int64_t lines, T* sums) {
  for (int64_t first = 0; first < lines; first += kLanes<T>) {
    const Operand* data = matrix + first * line_stride;
    const int64_t last = lines - 1 - first;
    if (last >= kLanes<T> - 1) {
      auto line = [&](int i) { return data + i * line_stride; };
      sum_vector_of_lines(line, x, depth, sums + first);
    } else {
      auto clipped = [&](int i) { return data + minimum<int64_t>(i, last) * line_stride; };
      sum_vector_of_lines(clipped, x, depth, sums + first);
    }
  }
}

// Lines that are neither adjacent nor running are made adjacent first.
template <typename T, typename Operand>
void sum_scattered_lines(const Lines<Operand>& matrix, const T* x, T* sums) {
  constexpr int64_t width = kLanes<T>;
  alignas(64) T panel[kMaximumDepth * width];
  for (int64_t first = 0; first < matrix.count; first += width) {
    Lines<Operand> from = matrix;
    from.data += first * matrix.line_stride;
    from.count -= first;
    pack_strided(from, matrix.steps, panel, width);
    const int64_t lines = minimum(width, from.count);
    sum_adjacent_lines(panel, width, x, matrix.steps, lines, sums + first);
  }
}

template <typename T>
void finish_lines(const Finish<T>& finish, const T* sums, int64_t lines, T* y, int64_t y_stride,
                  int64_t bias_stride) {
  for (int64_t i = 0; i < lines; ++i) {
    T value = finish.accumulate ? y[i * y_stride] + sums[i] : sums[i];
    if (finish.bias) value += finish.bias[i * bias_stride];
    if (finish.epilogue == Epilogue::relu) value = value < T{0} ? T{0} : value;
    y[i * y_stride] = value;
  }
}

template <typename T>
void finish_adjacent_lines(const Finish<T>& finish, const T* sums, int64_t lines, T* y) {
  for (int64_t i = 0; i < lines; i += kLanes<T>) {
    const int64_t count = lines - i;
    Vector<T> value = load(sums + i);
    if (finish.accumulate) value += load_first(y + i, count);
    if (finish.bias) value += load_first(finish.bias + i, count);
    store_first(y + i, apply<T>(finish.epilogue, value), count);
  }
}

template <typename T, typename Operand>
void copy_factors(const Operand* source, int64_t stride, int64_t depth, T* x) {
  if (sizeof(Operand) == sizeof(T) && stride == 1) {
    memcpy(x, source, depth * sizeof(T));
  } else {
    for (int64_t i = 0; i < depth; ++i) x[i] = widen(source[i * stride]);
  }
  memset(x + depth, 0, kLanes<T> * sizeof(T));
}

template <typename T, typename Operand>
void sum_lines(const Lines<Operand>& from, const T* x, T* sums) {
  if (from.line_stride == 1) {
    sum_adjacent_lines(from.data, from.step_stride, x, from.steps, from.count, sums);
  } else if (from.step_stride == 1) {
    sum_running_lines(from.data, from.line_stride, x, from.steps, from.count, sums);
  } else {
    sum_scattered_lines(from, x, sums);
  }
}

template <typename Operand, typename T = typename Gemm<Operand>::Result>
void multiply_vector_matrix(const VectorMatrix<Operand>& p) {
  alignas(64) T sums[kStripLines];
  alignas(64) T x[kVectorDepth + kLanes<T>];
  const int64_t block_depth = vector_block_depth(p.depth, p.line_stride, p.step_stride);
  for (int64_t step = 0; step < p.depth; step += block_depth) {
    const int64_t depth = minimum(block_depth, p.depth - step);
    copy_factors(p.x + step * p.x_stride, p.x_stride, depth, x);
    const bool last = step + depth == p.depth;
    for (int64_t first = 0; first < p.lines; first += kStripLines) {
      const int64_t lines = minimum(p.lines - first, kStripLines);
      const Operand* block = p.matrix + first * p.line_stride + step * p.step_stride;
      sum_lines(Lines<Operand>{block, p.line_stride, p.step_stride, lines, depth}, x, sums);
      Finish<T> finish{p.accumulate || step > 0,
                       last && p.bias ? p.bias + first * p.bias_stride : nullptr,
                       last ? p.epilogue : Epilogue::none};
      T* y = p.y + first * p.y_stride;
      if (p.y_stride == 1 && p.bias_stride == 1) {
        finish_adjacent_lines(finish, sums, lines, y);
      } else {
        finish_lines(finish, sums, lines, y, p.y_stride, p.bias_stride);
      }
    }
  }
}

}  // namespace
}  // namespace extensor::EX_ISA
