// What a plan knows of an array: its dtype, shape and strides, and how several arrays are walked
// together. Nothing here knows Python, and nothing holds memory.
#pragma once

#include <cstdint>

namespace extensor {

constexpr int kMaxDimensions = 64;  // NumPy's
constexpr int kMaxOperands = 8;

// The plain numbers come first, in the order of CopyKernels.
enum class DType : int8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  float16,
  bfloat16,
  other,
};

// Bytes of an element; 0 for `other`, which kernels do not touch.
constexpr int64_t size_of(DType dtype) {
  constexpr int8_t kSizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 2, 2, 0};
  return kSizes[static_cast<int>(dtype)];
}

struct Shape {
  int ndim;
  int64_t lengths[kMaxDimensions];

  int64_t size() const {
    int64_t product = 1;
    for (int axis = 0; axis < ndim; ++axis) product *= lengths[axis];
    return product;
  }
};

inline bool operator==(const Shape& a, const Shape& b) {
  if (a.ndim != b.ndim) return false;
  for (int axis = 0; axis < a.ndim; ++axis) {
    if (a.lengths[axis] != b.lengths[axis]) return false;
  }
  return true;
}

// Whether there can be an array of this shape at all: one whose elements can be counted.
bool fits_memory(const Shape& shape);

// Strides are in bytes.
struct Layout {
  DType dtype;
  bool c_contiguous;
  bool writeable;
  int64_t itemsize;
  int64_t size;  // number of elements
  Shape shape;
  int64_t strides[kMaxDimensions];

  int ndim() const { return shape.ndim; }
  int64_t length(int axis) const { return shape.lengths[axis]; }
};

// Copies what there is of a layout, and not the room for 64 axes.
void copy_layout(const Layout& from, Layout& to);

// An array of this shape in C order.
Layout contiguous_layout(DType dtype, const Shape& shape);

// The common shape under NumPy's broadcasting rules; false if there is none that fits memory.
bool broadcast(const Shape* const* shapes, int count, Shape& common);

// A nest of loops that walks several operands in step: operand k moves by strides[k][axis] bytes
// per iteration of an axis. Axis 0 is the outermost.
struct Loops {
  int ndim;
  int operands;
  int64_t size;
  int64_t shape[kMaxDimensions];
  int64_t strides[kMaxOperands][kMaxDimensions];
};

// Loops over `shape` with every array broadcast to it (stride 0 along repeated axes); false if one
// does not broadcast to that shape.
bool make_loops(const Shape& shape, const Layout* const* layouts, int count, Loops& loops);

// Drops axes of length 1 and merges neighbouring axes that every operand walks as one. All operands
// contiguous gives one axis. The order of elements stays. At least one axis remains, of length 1
// for a scalar; empty loops become one axis of length 0.
void coalesce(Loops& loops);

}  // namespace extensor
