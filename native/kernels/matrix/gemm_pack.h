#pragma once

#include "gemm_vector.h"

namespace extensor::EX_ISA {
namespace {

// A panel holds `width` lines (rows of A or columns of B) side by side: panel[step * width + line].
// Lines beyond the last are padded with anything: their products are never stored.
template <typename Source>
struct Lines {
  const Source* data;
  int64_t line_stride, step_stride;
  int64_t count;  // lines from here to the end of the operand
  int64_t steps;  // steps from here to the end of the operand
};

// Of adjacent lines, the steps at which `width` of them can be read even if fewer exist: the read
// then ends in a later step, still inside the operand.
template <typename Source>
int64_t readable_steps(const Lines<Source>& from, int64_t width) {
  if (from.count >= width) return from.steps;
  if (from.step_stride <= 0) return 0;
  return from.steps - ceil_divide(width - from.count, from.step_stride);
}

// A vector of the quads at(0), at(1), ..., one per 128-bit lane.
template <typename T, typename Quads>
EX_INLINE Vector<T> join_quads(const Quads& at) {
  if constexpr (kVectorBytes == 16) {
    return at(0);
  } else if constexpr (kVectorBytes == 32) {
    return concatenate<T>(at(0), at(1));
  } else {
    return concatenate<T>(concatenate<T>(at(0), at(1)), concatenate<T>(at(2), at(3)));
  }
}

// Rows hold lines quad by quad: line r + l * kQuadLanes in lane l of row r. Afterwards out[i] holds
// element i of every line, in order. No shuffle crosses a lane.
template <typename T>
EX_INLINE void transpose_quads(const Vector<T> (&rows)[kQuadLanes<T>],
                               Vector<T> (&out)[kQuadLanes<T>]) {
  if constexpr (kQuadLanes<T> == 2) {
    out[0] = interleave<0, T>(rows[0], rows[1]);
    out[1] = interleave<1, T>(rows[0], rows[1]);
  } else {
    Vector<T> even_low = interleave<0, T>(rows[0], rows[2]);
    Vector<T> even_high = interleave<1, T>(rows[0], rows[2]);
    Vector<T> odd_low = interleave<0, T>(rows[1], rows[3]);
    Vector<T> odd_high = interleave<1, T>(rows[1], rows[3]);
    out[0] = interleave<0, T>(even_low, odd_low);
    out[1] = interleave<1, T>(even_low, odd_low);
    out[2] = interleave<0, T>(even_high, odd_high);
    out[3] = interleave<1, T>(even_high, odd_high);
  }
}

template <typename T, typename Pointers>
EX_INLINE void pack_vector_of_lines(const Pointers& line, int64_t depth, T* panel, int64_t width) {
  constexpr int quad = kQuadLanes<T>;
  int64_t step = 0;
  for (; step + quad <= depth; step += quad) {
    Vector<T> rows[quad], out[quad];
#pragma GCC unroll 4
    for (int i = 0; i < quad; ++i) {
      rows[i] =
          join_quads<T>([&](int lane) { return load_wide<Quad<T>>(line(lane * quad + i) + step); });
    }
    transpose_quads<T>(rows, out);
#pragma GCC unroll 4
    for (int i = 0; i < quad; ++i) store(panel + (step + i) * width, out[i]);
  }
  for (; step < depth; ++step) {
    for (int i = 0; i < kLanes<T>; ++i) panel[step * width + i] = widen(line(i)[step]);
  }
}

template <typename T, typename Source>
void pack_transposed(const Lines<Source>& from, int64_t depth, T* panel, int64_t width) {
  for (int64_t first = 0; first < width; first += kLanes<T>) {
    const Source* data = from.data + first * from.line_stride;
    const int64_t stride = from.line_stride, last = from.count - 1 - first;
    if (last >= kLanes<T> - 1) {
      pack_vector_of_lines([&](int i) { return data + i * stride; }, depth, panel + first, width);
    } else {
      auto clipped = [&](int i) { return data + minimum<int64_t>(i, last) * stride; };
      pack_vector_of_lines(clipped, depth, panel + first, width);
    }
  }
}

// Adjacent lines, a few steps at a time for all panels: the source is read along its lines, a few
// streams side by side, and each panel is written for more than a cache line.
inline constexpr int kPackedSteps = 4;

template <typename T, typename Source>
void pack_adjacent(const Lines<Source>& from, int64_t depth, const int64_t* offsets, int64_t panels,
                   T* target, int64_t panel_size, int64_t width) {
  const int64_t last_lines = from.count - offsets[panels - 1];
  Lines<Source> last{from.data + offsets[panels - 1], 1, from.step_stride, last_lines, from.steps};
  const int64_t easy = minimum(depth, readable_steps(last, round_up(width, kLanes<T>)));
  int64_t step = 0;
  for (; step + kPackedSteps <= easy; step += kPackedSteps) {
    for (int64_t i = 0; i < panels; ++i) {
      const Source* source = from.data + step * from.step_stride + offsets[i];
      T* panel = target + i * panel_size + step * width;
      for (int64_t line = 0; line < width; line += kLanes<T>) {
#pragma GCC unroll 4
        for (int s = 0; s < kPackedSteps; ++s) {
          store(panel + s * width + line, load(source + s * from.step_stride + line));
        }
      }
    }
  }
  for (; step < depth; ++step) {
    for (int64_t i = 0; i < panels; ++i) {
      const Source* source = from.data + step * from.step_stride + offsets[i];
      for (int64_t line = 0; line < width; line += kLanes<T>) {
        const int64_t count = step < easy ? kLanes<T> : from.count - offsets[i] - line;
        store(target + i * panel_size + step * width + line,
              load_first(source + line, count < 0 ? 0 : count));
      }
    }
  }
}

template <typename T, typename Source>
void pack_strided(const Lines<Source>& from, int64_t depth, T* panel, int64_t width) {
  for (int64_t line = 0; line < width; ++line) {
    const Source* source = from.data + minimum(line, from.count - 1) * from.line_stride;
    for (int64_t step = 0; step < depth; ++step) {
      panel[step * width + line] = widen(source[step * from.step_stride]);
    }
  }
}

// Panel i begins with line offsets[i] and is written to target + i * panel_size.
template <typename T, typename Source>
void pack_panels(const Lines<Source>& from, int64_t depth, const int64_t* offsets, int64_t panels,
                 T* target, int64_t panel_size, int64_t width) {
  if (from.line_stride == 1) {
    return pack_adjacent(from, depth, offsets, panels, target, panel_size, width);
  }
  for (int64_t i = 0; i < panels; ++i) {
    Lines<Source> lines = from;
    lines.data += offsets[i] * from.line_stride;
    lines.count -= offsets[i];
    T* panel = target + i * panel_size;
    if (from.step_stride == 1) {
      pack_transposed(lines, depth, panel, width);
    } else {
      pack_strided(lines, depth, panel, width);
    }
  }
}

}  // namespace
}  // namespace extensor::EX_ISA
