#include "layout.h"

#include <algorithm>

namespace extensor {
namespace {

bool extend(const Shape& shape, Shape& common) {
  const int offset = common.ndim - shape.ndim;
  for (int axis = 0; axis < shape.ndim; ++axis) {
    int64_t& length = common.lengths[offset + axis];
    if (length == 1) length = shape.lengths[axis];
    if (shape.lengths[axis] != 1 && shape.lengths[axis] != length) return false;
  }
  return true;
}

bool broadcast_strides(const Layout& layout, const Shape& shape, int64_t* strides) {
  const int offset = shape.ndim - layout.ndim();
  if (offset < 0) return false;
  std::fill_n(strides, offset, 0);
  for (int axis = 0; axis < layout.ndim(); ++axis) {
    const bool repeated = layout.length(axis) == 1;
    if (!repeated && layout.length(axis) != shape.lengths[offset + axis]) return false;
    strides[offset + axis] = repeated ? 0 : layout.strides[axis];
  }
  return true;
}

bool walks_as_one(const Loops& loops, int outer, int inner) {
  for (int k = 0; k < loops.operands; ++k) {
    if (loops.strides[k][outer] != loops.strides[k][inner] * loops.shape[inner]) return false;
  }
  return true;
}

void copy_axis(Loops& loops, int from, int to) {
  loops.shape[to] = loops.shape[from];
  for (int k = 0; k < loops.operands; ++k) loops.strides[k][to] = loops.strides[k][from];
}

void make_single_axis(Loops& loops) {
  loops.ndim = 1;
  loops.shape[0] = loops.size;
  for (int k = 0; k < loops.operands; ++k) loops.strides[k][0] = 0;
}

}  // namespace

bool fits_memory(const Shape& shape) {
  int64_t bytes = sizeof(double);
  return std::all_of(shape.lengths, shape.lengths + shape.ndim, [&](int64_t length) {
    return length == 0 || !__builtin_mul_overflow(bytes, length, &bytes);
  });
}

void copy_layout(const Layout& from, Layout& to) {
  to.dtype = from.dtype;
  to.c_contiguous = from.c_contiguous;
  to.writeable = from.writeable;
  to.itemsize = from.itemsize;
  to.size = from.size;
  to.shape.ndim = from.shape.ndim;
  std::copy_n(from.shape.lengths, from.shape.ndim, to.shape.lengths);
  std::copy_n(from.strides, from.shape.ndim, to.strides);
}

Layout contiguous_layout(DType dtype, const Shape& shape) {
  Layout layout;
  layout.dtype = dtype;
  layout.c_contiguous = layout.writeable = true;
  layout.itemsize = size_of(dtype);
  layout.shape.ndim = shape.ndim;
  int64_t stride = layout.itemsize;
  for (int axis = shape.ndim - 1; axis >= 0; --axis) {
    layout.shape.lengths[axis] = shape.lengths[axis];
    layout.strides[axis] = stride;
    stride *= std::max<int64_t>(shape.lengths[axis], 1);
  }
  layout.size = layout.shape.size();
  return layout;
}

bool broadcast(const Shape* const* shapes, int count, Shape& common) {
  common.ndim = 0;
  for (int i = 0; i < count; ++i) common.ndim = std::max(common.ndim, shapes[i]->ndim);
  std::fill_n(common.lengths, common.ndim, 1);
  for (int i = 0; i < count; ++i) {
    if (!extend(*shapes[i], common)) return false;
  }
  return fits_memory(common);
}

bool make_loops(const Shape& shape, const Layout* const* layouts, int count, Loops& loops) {
  loops.ndim = shape.ndim;
  loops.operands = count;
  loops.size = shape.size();
  std::copy_n(shape.lengths, shape.ndim, loops.shape);
  for (int k = 0; k < count; ++k) {
    if (!broadcast_strides(*layouts[k], shape, loops.strides[k])) return false;
  }
  return true;
}

void coalesce(Loops& loops) {
  if (loops.size <= 1) return make_single_axis(loops);
  int kept = -1;
  for (int axis = 0; axis < loops.ndim; ++axis) {
    if (loops.shape[axis] == 1) continue;
    if (kept >= 0 && walks_as_one(loops, kept, axis)) {
      const int64_t outer_length = loops.shape[kept];
      copy_axis(loops, axis, kept);
      loops.shape[kept] *= outer_length;
    } else {
      copy_axis(loops, axis, ++kept);
    }
  }
  loops.ndim = kept + 1;
}

}  // namespace extensor
