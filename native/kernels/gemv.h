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

// Lines summed at a time: their sums stay in L1 while long runs of the matrix stream by.
inline constexpr int64_t kStripLines = 512;

// Adds `Steps` steps to the sums of adjacent lines; each sum adds them one after another.
template <int Steps, typename T, typename Operand>
void add_steps(const Operand* matrix, int64_t step_stride, const T* x, int64_t lines, bool fresh,
               T* sums) {
  int64_t line = 0;
  for (; line + kLanes<T> <= lines; line += kLanes<T>) {
    Vector<T> sum = fresh ? Vector<T>{} : load(sums + line);
#pragma GCC unroll 8
    for (int s = 0; s < Steps; ++s) {
      sum += broadcast<T>(x[s]) * load(matrix + s * step_stride + line);
    }
    store(sums + line, sum);
  }
  for (; line < lines; ++line) {
    T sum = fresh ? T{0} : sums[line];
    for (int s = 0; s < Steps; ++s) sum += x[s] * widen(matrix[s * step_stride + line]);
    sums[line] = sum;
  }
}

template <typename T, typename Operand>
void sum_adjacent_lines(const Operand* matrix, int64_t step_stride, const T* x, int64_t depth,
                        int64_t lines, T* sums) {
  int64_t step = 0;
  for (; step + 8 <= depth; step += 8) {
    add_steps<8>(matrix + step * step_stride, step_stride, x + step, lines, step == 0, sums);
  }
  for (; step < depth; ++step) {
    add_steps<1>(matrix + step * step_stride, step_stride, x + step, lines, step == 0, sums);
  }
}

// Lines that each run through memory are transposed in registers, so that their sums keep the same
// order as those of adjacent lines. `Groups` independent vectors of lines hide the latency of FMA.
template <int Groups, typename T, typename Pointers>
EX_INLINE void sum_running_group(const Pointers& line, const T* x, int64_t depth, T* sums) {
  constexpr int quad = kQuadLanes<T>;
  Vector<T> sum[Groups] = {};
  int64_t step = 0;
  for (; step + quad <= depth; step += quad) {
#pragma GCC unroll 4
    for (int g = 0; g < Groups; ++g) {
      Vector<T> values[quad];
      transpose_quads<T>([&](int i) { return line(g * kLanes<T> + i) + step; }, values);
#pragma GCC unroll 4
      for (int i = 0; i < quad; ++i) sum[g] += broadcast<T>(x[step + i]) * values[i];
    }
  }
  for (; step < depth; ++step) {
    for (int g = 0; g < Groups; ++g) {
      T values[kLanes<T>];
      for (int i = 0; i < kLanes<T>; ++i) values[i] = widen(line(g * kLanes<T> + i)[step]);
      sum[g] += broadcast<T>(x[step]) * load(values);
    }
  }
  for (int g = 0; g < Groups; ++g) store(sums + g * kLanes<T>, sum[g]);
}

template <typename T, typename Operand>
void sum_running_lines(const Operand* matrix, int64_t line_stride, const T* x, int64_t depth,
                       int64_t lines, T* sums) {
  constexpr int groups = 4;
  constexpr int width = groups * kLanes<T>;
  int64_t first = 0;
  for (; first + width <= lines; first += width) {
    const Operand* data = matrix + first * line_stride;
    sum_running_group<groups>([&](int i) { return data + i * line_stride; }, x, depth,
                              sums + first);
  }
  for (; first < lines; first += kLanes<T>) {
    const Operand* data = matrix + first * line_stride;
    const int64_t last = lines - 1 - first;
    auto clipped = [&](int i) { return data + minimum<int64_t>(i, last) * line_stride; };
    sum_running_group<1>(clipped, x, depth, sums + first);
  }
}

template <typename Operand, typename T = typename Gemm<Operand>::Result>
void finish_lines(const VectorMatrix<Operand>& p, int64_t first, int64_t lines, bool accumulate,
                  bool last, const T* sums) {
  for (int64_t i = 0; i < lines; ++i) {
    T* y = p.y + (first + i) * p.y_stride;
    T value = accumulate ? *y + sums[i] : sums[i];
    if (last && p.bias) value += p.bias[(first + i) * p.bias_stride];
    if (last && p.epilogue == Epilogue::relu) value = value < T{0} ? T{0} : value;
    *y = value;
  }
}

template <typename Operand>
EX_INLINE bool runs_as_vector_matrix(const VectorMatrix<Operand>& p) {
  return p.line_stride == 1 || p.step_stride == 1;
}

template <typename Operand, typename T = typename Gemm<Operand>::Result>
void multiply_vector_matrix(const VectorMatrix<Operand>& p, int64_t block_depth) {
  alignas(64) T sums[kStripLines];
  alignas(64) T x[kMaximumDepth];
  for (int64_t first = 0; first < p.lines; first += kStripLines) {
    int64_t lines = minimum(p.lines - first, kStripLines);
    const Operand* strip = p.matrix + first * p.line_stride;
    for (int64_t step = 0; step < p.depth; step += block_depth) {
      int64_t depth = minimum(block_depth, p.depth - step);
      for (int64_t i = 0; i < depth; ++i) x[i] = widen(p.x[(step + i) * p.x_stride]);
      const Operand* block = strip + step * p.step_stride;
      if (p.line_stride == 1) {
        sum_adjacent_lines(block, p.step_stride, x, depth, lines, sums);
      } else {
        sum_running_lines(block, p.line_stride, x, depth, lines, sums);
      }
      finish_lines(p, first, lines, p.accumulate || step > 0, step + depth == p.depth, sums);
    }
  }
}

// A single sum of products has no neighbours to fill a vector with, so its order is another one:
// 4 vectors of partial sums per block, added pairwise.
template <typename Operand, typename T = typename Gemm<Operand>::Result>
T dot_block(const Operand* a, int64_t a_stride, const Operand* b, int64_t b_stride, int64_t depth) {
  constexpr int vectors = 4;
  constexpr int width = vectors * kLanes<T>;
  Vector<T> sums[vectors] = {};
  auto gather = [&](const Operand* source, int64_t stride, int64_t count, T* target) {
    for (int64_t i = 0; i < count; ++i) target[i] = widen(source[i * stride]);
  };
  for (int64_t step = 0; step < depth; step += width) {
    T left[width] = {}, right[width] = {};
    int64_t count = minimum<int64_t>(width, depth - step);
    bool direct = count == width && a_stride == 1 && b_stride == 1;
    if (!direct) {
      gather(a + step * a_stride, a_stride, count, left);
      gather(b + step * b_stride, b_stride, count, right);
    }
    for (int v = 0; v < vectors; ++v) {
      int offset = v * kLanes<T>;
      if (direct) {
        sums[v] += load(a + step + offset) * load(b + step + offset);
      } else {
        sums[v] += load(left + offset) * load(right + offset);
      }
    }
  }
  Vector<T> sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  T lanes[kLanes<T>];
  store(lanes, sum);
  for (int half = kLanes<T> / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

}  // namespace
}  // namespace extensor::EX_ISA
