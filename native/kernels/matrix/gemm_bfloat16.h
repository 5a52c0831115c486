// How bfloat16 operands are packed and multiplied.
//
// Processors with AVX512-BF16 multiply pairs: a panel then holds, for every two steps of k, both
// numbers of a line in 32 bits, the earlier one in the lower half. All others multiply floats:
// widened on the way into the panel, a bfloat16 costs no more than the float32 that it becomes.
#pragma once

#include "gemm_micro.h"
#include "gemm_pack.h"

namespace extensor::EX_ISA {
namespace {

// Two bfloat16 of one line.
using Pair = uint32_t;

EX_INLINE Vector<float> earlier(Vector<Pair> pairs) {
  return reinterpret_cast<Vector<float>>(pairs << 16);
}
EX_INLINE Vector<float> later(Vector<Pair> pairs) {
  return reinterpret_cast<Vector<float>>(pairs & 0xffff0000);
}

// EX_TEST_PAIRS computes with pairs where the instruction does not exist, to test all that is
// around it.
#if defined(__AVX512BF16__) || defined(EX_TEST_PAIRS)

template <>
struct Packing<BFloat16> {
  using Element = Pair;
  static int64_t rows(int64_t steps) { return ceil_divide(steps, 2); }
};

// The instruction rounds each of the two sums to nearest even (the products are exact), but takes
// subnormal operands for zero and makes subnormal sums zero.
template <>
struct Products<Pair> {
  using Sum = float;
  EX_INLINE static void add(Vector<float>& sum, Vector<Pair> left, Vector<Pair> right) {
#if defined(__AVX512BF16__)
    sum = reinterpret_cast<Vector<float>>(_mm512_dpbf16_ps(reinterpret_cast<__m512>(sum),
                                                           reinterpret_cast<__m512bh>(left),
                                                           reinterpret_cast<__m512bh>(right)));
#else
    sum += later(left) * later(right);
    sum += earlier(left) * earlier(right);
#endif
  }
};

// The next two steps of a vector of lines, at the end of a panel that grows.
struct PanelEnd {
  Pair* target;
  int64_t width;

  EX_INLINE void append(Vector<Pair> pairs) {
    store(target, pairs);
    target += width;
  }
  EX_INLINE void append(Vector<float> earlier, Vector<float> later) {
    append(reinterpret_cast<Vector<Pair>>(earlier) >> 16 | reinterpret_cast<Vector<Pair>>(later));
  }
};

#else

// Steps come in twos here too; an odd one is followed by zeros.
template <>
struct Packing<BFloat16> {
  using Element = float;
  static int64_t rows(int64_t steps) { return round_up(steps, 2); }
};

struct PanelEnd {
  float* target;
  int64_t width;

  EX_INLINE void append(Vector<float> earlier, Vector<float> later) {
    store(target, earlier);
    store(target + width, later);
    target += 2 * width;
  }
  EX_INLINE void append(Vector<Pair> pairs) { append(earlier(pairs), later(pairs)); }
};

#endif

// Lines at any stride, from `step` on. line(i) points to the first step of line i.
template <typename Pointers>
void append_strided(const Pointers& line, int64_t stride, int64_t step, int64_t depth,
                    PanelEnd end) {
  for (; step < depth; step += 2) {
    float values[2][kLanes<float>] = {};
    for (int i = 0; i < kLanes<float>; ++i) {
      values[0][i] = widen(line(i)[step * stride]);
      if (step + 1 < depth) values[1][i] = widen(line(i)[(step + 1) * stride]);
    }
    end.append(load(values[0]), load(values[1]));
  }
}

// Lines that run through memory are already made of pairs.
template <typename Pointers>
EX_INLINE void append_running(const Pointers& line, int64_t depth, PanelEnd end) {
  constexpr int quad = kQuadLanes<Pair>;
  int64_t step = 0;
  for (; step + 2 * quad <= depth; step += 2 * quad) {
    Vector<Pair> rows[quad], out[quad];
#pragma GCC unroll 4
    for (int i = 0; i < quad; ++i) {
      rows[i] = join_quads<Pair>(
          [&](int lane) { return load_as<Quad<Pair>>(line(lane * quad + i) + step); });
    }
    transpose_quads<Pair>(rows, out);
#pragma GCC unroll 4
    for (int i = 0; i < quad; ++i) end.append(out[i]);
  }
  append_strided(line, 1, step, depth, end);
}

// Adjacent lines: each row of the source is a row of the panels.
template <typename T>
void pack_adjacent_pairs(const Lines<BFloat16>& from, int64_t depth, const int64_t* offsets,
                         int64_t panels, T* target, int64_t panel_size, int64_t width) {
  const Lines<BFloat16> last{from.data, 1, from.step_stride, from.count - offsets[panels - 1],
                             from.steps};
  const int64_t easy = minimum(depth, readable_steps(last, round_up(width, kLanes<float>)));
  auto append = [&](int64_t step, auto row) __attribute__((always_inline)) {
    T* rows = target + Packing<BFloat16>::rows(step) * width;
    for (int64_t i = 0; i < panels; ++i) {
      for (int64_t line = 0; line < width; line += kLanes<float>) {
        PanelEnd{rows + i * panel_size + line, width}.append(row(step, offsets[i] + line),
                                                             row(step + 1, offsets[i] + line));
      }
    }
  };
  int64_t step = 0;
  for (; step + 2 <= easy; step += 2) {
    append(step, [&](int64_t step, int64_t line) {
      return load(from.data + step * from.step_stride + line);
    });
  }
  for (; step < depth; step += 2) {
    append(step, [&](int64_t step, int64_t line) {
      const int64_t count = step < depth ? from.count - line : 0;
      return count > 0 ? load_first(from.data + step * from.step_stride + line, count)
                       : Vector<float>{};
    });
  }
}

// Panel i begins with line offsets[i] and is written to target + i * panel_size. Kept out of line:
// inside, the address of a thread's own panel would be asked for at every step.
template <typename T>
[[gnu::noinline]] void pack_panels(const Lines<BFloat16>& from, int64_t depth,
                                   const int64_t* offsets, int64_t panels, T* target,
                                   int64_t panel_size, int64_t width) {
  const int64_t stride = from.line_stride;
  if (stride == 1) {
    return pack_adjacent_pairs(from, depth, offsets, panels, target, panel_size, width);
  }
  for (int64_t i = 0; i < panels; ++i) {
    for (int64_t first = 0; first < width; first += kLanes<float>) {
      const BFloat16* data = from.data + (offsets[i] + first) * stride;
      const int64_t last = from.count - offsets[i] - first - 1;
      const PanelEnd end{target + i * panel_size + first, width};
      auto line = [&](int i) { return data + i * stride; };
      auto clipped = [&](int i) { return data + minimum<int64_t>(i, last) * stride; };
      if (from.step_stride != 1) {
        append_strided(clipped, from.step_stride, 0, depth, end);
      } else if (last >= kLanes<float> - 1) {
        append_running(line, depth, end);
      } else {
        append_running(clipped, depth, end);
      }
    }
  }
}

}  // namespace
}  // namespace extensor::EX_ISA
