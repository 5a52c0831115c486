#pragma once

#include <cstdlib>
#include <new>

#include "gemm_vector.h"

namespace extensor::EX_ISA {
namespace {

// Memory for packed operands: grows, is kept by its thread, so steady training allocates nothing.
class Scratch {
 public:
  ~Scratch() { std::free(memory_); }

  void* get(size_t bytes) {
    if (bytes > size_) grow(bytes);
    return memory_;
  }

 private:
  void grow(size_t bytes) {
    std::free(memory_);
    size_ = (bytes + 4095) / 4096 * 4096;
    memory_ = std::aligned_alloc(4096, size_);
    if (!memory_) {
      size_ = 0;
      throw std::bad_alloc();
    }
  }

  void* memory_ = nullptr;
  size_t size_ = 0;
};

// A panel holds `Width` lines (rows of A or columns of B) side by side: panel[step * Width + line].
// Lines beyond the last are padded with anything: their products are never stored.
template <typename Source>
struct Lines {
  const Source* data;
  int64_t line_stride, step_stride;
  int64_t count;  // lines that may be read
};

// One vector of lines over as many steps as a 128-bit lane holds: each lane gathers its own lines,
// so the transpose needs no shuffle across lanes.
template <typename T, typename Source>
EX_INLINE Vector<T> gather_quads(const Source* const* lines, int64_t step, int offset) {
  constexpr int quad = kQuadLanes<T>;
  auto at = [&](int lane) { return load_wide<Quad<T>>(lines[lane * quad + offset] + step); };
  if constexpr (kVectorBytes == 16) {
    return at(0);
  } else if constexpr (kVectorBytes == 32) {
    return concatenate<T, 16>(at(0), at(1));
  } else {
    return concatenate<T, 32>(concatenate<T, 16>(at(0), at(1)), concatenate<T, 16>(at(2), at(3)));
  }
}

template <typename T, typename Source>
EX_INLINE void transpose_quads(const Source* const* lines, int64_t step,
                               Vector<T> (&out)[kQuadLanes<T>]) {
  Vector<T> rows[kQuadLanes<T>];
#pragma GCC unroll 4
  for (int r = 0; r < kQuadLanes<T>; ++r) rows[r] = gather_quads<T>(lines, step, r);
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

template <typename T, typename Source>
void pack_transposed(const Lines<Source>& from, int64_t depth, T* panel, int64_t width) {
  constexpr int quad = kQuadLanes<T>;
  for (int64_t first = 0; first < width; first += kLanes<T>) {
    const Source* lines[kLanes<T>];
    for (int i = 0; i < kLanes<T>; ++i) {
      lines[i] = from.data + minimum(first + i, from.count - 1) * from.line_stride;
    }
    T* target = panel + first;
    int64_t step = 0;
    for (; step + quad <= depth; step += quad) {
      Vector<T> out[quad];
      transpose_quads<T>(lines, step, out);
#pragma GCC unroll 4
      for (int i = 0; i < quad; ++i) store(target + (step + i) * width, out[i]);
    }
    for (; step < depth; ++step) {
      for (int i = 0; i < kLanes<T>; ++i) target[step * width + i] = widen(lines[i][step]);
    }
  }
}

template <typename T, typename Source>
void pack_straight(const Lines<Source>& from, int64_t depth, T* panel, int64_t width) {
  for (int64_t first = 0; first < width; first += kLanes<T>) {
    int64_t count = minimum<int64_t>(from.count - first, kLanes<T>);
    const Source* source = from.data + first;
    T* target = panel + first;
    if (count == kLanes<T>) {
      for (int64_t step = 0; step < depth; ++step) {
        store(target + step * width, load(source + step * from.step_stride));
      }
    } else {
      for (int64_t step = 0; step < depth; ++step) {
        store(target + step * width,
              load_first(source + step * from.step_stride, count < 0 ? 0 : count));
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

template <typename T, typename Source>
void pack_panel(const Lines<Source>& from, int64_t depth, T* panel, int64_t width) {
  if (from.line_stride == 1) return pack_straight(from, depth, panel, width);
  if (from.step_stride == 1) return pack_transposed(from, depth, panel, width);
  pack_strided(from, depth, panel, width);
}

}  // namespace
}  // namespace extensor::EX_ISA
