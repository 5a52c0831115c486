#include "legacy_copying.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernel.h"
#include "legacy_operands.h"

namespace extensor {
inline namespace legacy {
namespace {

constexpr int64_t kTile = 1024;          // elements converted through a buffer at a time
constexpr int64_t kLeastTransposed = 8;  // shorter rows or columns are copied as they come
constexpr int64_t kRowsPerTask = 64;     // rows of a transposed plane that one task writes

// The place of an item in the loops over some axes, moved on without divisions.
class Walk {
 public:
  Walk(const LoopNest& loops, const int* axes, int count, int64_t item)
      : loops_(loops), axes_(axes), count_(count) {
    for (int i = count - 1; i >= 0; --i) {
      index_[i] = item % loops.shape[axes[i]];
      item /= loops.shape[axes[i]];
      source_ += index_[i] * loops.strides[0][axes[i]];
      target_ += index_[i] * loops.strides[1][axes[i]];
    }
  }
  int64_t source() const { return source_; }
  int64_t target() const { return target_; }
  void next() {
    for (int i = count_ - 1; i >= 0; --i) {
      const int axis = axes_[i];
      source_ += loops_.strides[0][axis];
      target_ += loops_.strides[1][axis];
      if (++index_[i] < loops_.shape[axis]) return;
      source_ -= loops_.shape[axis] * loops_.strides[0][axis];
      target_ -= loops_.shape[axis] * loops_.strides[1][axis];
      index_[i] = 0;
    }
  }

 private:
  const LoopNest& loops_;
  const int* axes_;
  int count_;
  int64_t source_ = 0, target_ = 0;
  int64_t index_[kMaxDimensions];
};

// The axis along which a transposed source is contiguous; -1 if it is not one.
int contiguous_axis(const LoopNest& loops, int64_t itemsize) {
  const int last = loops.ndim - 1;
  if (loops.strides[0][last] == itemsize || loops.strides[0][last] == 0 ||
      loops.shape[last] < kLeastTransposed) {
    return -1;
  }
  for (int axis = 0; axis < last; ++axis) {
    if (loops.strides[0][axis] == itemsize && loops.shape[axis] >= kLeastTransposed) return axis;
  }
  return -1;
}

// The loops of a copy, merged where both sides allow it, the target adjacent along the last axis.
bool loops_of_copy(const ArrayView& from, const ArrayView& to, LoopNest& loops) {
  Shape shape;
  shape.ndim = to.ndim;
  std::copy_n(to.shape, to.ndim, shape.lengths);
  const ArrayView* views[] = {&from, &to};
  if (to.size == 0 || !make_loop_nest(shape, views, 2, loops)) return false;
  coalesce(loops);
  // Part of a larger array, of length 1 along the axis that is adjacent there: that axis was
  // dropped.
  if (loops.strides[1][loops.ndim - 1] != to.itemsize) {
    loops.shape[loops.ndim] = 1;
    loops.strides[0][loops.ndim] = loops.strides[1][loops.ndim] = to.itemsize;
    ++loops.ndim;
  }
  return true;
}
// The place of a type in CopyKernels::to_float; -1 if it is not there.
int number_of(int typenum) {
  constexpr int kTypes[kNumbers] = {NPY_BOOL,   NPY_INT8,    NPY_INT16,  NPY_INT32,
                                    NPY_INT64,  NPY_UINT8,   NPY_UINT16, NPY_UINT32,
                                    NPY_UINT64, NPY_FLOAT32, NPY_FLOAT64};
  const int* found = std::find(kTypes, kTypes + kNumbers, typenum);
  return found == kTypes + kNumbers ? -1 : static_cast<int>(found - kTypes);
}

// n elements of one type to another, by way of float32 where either has 16 bits.
void convert(int from, int to, const char* source, char* target, int64_t n) {
  const CopyKernels& copies = kernels().copies;
  Storage source_storage, target_storage;
  const HalfFormat* widening = find_storage(from, source_storage) ? source_storage.half : nullptr;
  find_storage(to, target_storage);
  const HalfFormat* narrowing = target_storage.half;
  alignas(64) float wide[kTile];
  for (int64_t begin = 0; begin < n; begin += kTile) {
    const int64_t count = std::min(kTile, n - begin);
    const void* numbers = source;
    int number = number_of(from);
    if (widening != nullptr) {
      widening->widen(reinterpret_cast<const uint16_t*>(source), wide, count);
      numbers = wide;
      number = number_of(NPY_FLOAT32);
      source += count * 2;
    } else {
      constexpr int kSizes[kNumbers] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
      source += count * kSizes[number];
    }
    if (narrowing != nullptr) {
      if (from == NPY_FLOAT64) {
        copies.to_odd(static_cast<const double*>(numbers), wide, count);
        numbers = wide;
      }
      narrowing->narrow(static_cast<const float*>(numbers), reinterpret_cast<uint16_t*>(target),
                        count);
      target += count * 2;
    } else {
      copies.to_float[static_cast<int>(target_storage.element)][number](numbers, target, count);
      target += count * target_storage.itemsize;
    }
  }
}

}  // namespace

bool is_movable_array(PyObject* object) {
  if (!is_plain_array(object)) return false;
  const int typenum = PyArray_TYPE(reinterpret_cast<PyArrayObject*>(object));
  Storage storage;
  return number_of(typenum) != -1 || find_storage(typenum, storage);
}

void copy_elements(const ArrayView& from, const ArrayView& to) {
  LoopNest loops;
  if (!loops_of_copy(from, to, loops)) return;
  const char* source = loops.data[0];
  char* target = loops.data[1];
  const int64_t itemsize = to.itemsize;
  const int last = loops.ndim - 1;
  const int64_t length = loops.shape[last], stride = loops.strides[0][last];
  const Cost cost = stride == itemsize || stride == 0 ? Cost::light : Cost::medium;
  if (loops.ndim == 1) {
    const Cut pieces = cut(length, cost);
    Unlocked unlocked(pieces.nanoseconds);
    return parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
      copy_run(source + begin * stride, stride, itemsize, end - begin, target + begin * itemsize);
    });
  }
  const int plane = contiguous_axis(loops, itemsize);
  int axes[kMaxDimensions], count = 0;
  for (int axis = 0; axis < last; ++axis) {
    if (axis != plane) axes[count++] = axis;
  }
  if (plane == -1) {
    const Cut pieces = cut(to.size / length, cost, length);
    Unlocked unlocked(pieces.nanoseconds);
    return parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
      Walk walk(loops, axes, count, begin);
      for (int64_t row = begin; row < end; ++row, walk.next()) {
        copy_run(source + walk.source(), stride, itemsize, length, target + walk.target());
      }
    });
  }
  const auto transpose = kernels().copies.transpose[std::countr_zero<uint64_t>(itemsize)];
  const int64_t rows = loops.shape[plane], tasks_per_plane = (rows - 1) / kRowsPerTask + 1;
  const int64_t planes = to.size / length / rows;
  const Cut pieces = cut(planes * tasks_per_plane, Cost::medium, kRowsPerTask * length);
  Unlocked unlocked(pieces.nanoseconds);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const Walk walk(loops, axes, count, task / tasks_per_plane);
      const int64_t row = task % tasks_per_plane * kRowsPerTask;
      transpose(source + walk.source() + row * itemsize, stride,
                target + walk.target() + row * loops.strides[1][plane], loops.strides[1][plane],
                std::min(kRowsPerTask, rows - row), length);
    }
  });
}

PyObject* copy_of(PyArrayObject* x) {
  Reference result(new_array(PyArray_DESCR(x), PyArray_NDIM(x), PyArray_DIMS(x)));
  if (!result) return nullptr;
  ArrayView from, to;
  fill_view(x, from);
  fill_view(result.array(), to);
  copy_elements(from, to);
  return result.release();
}

PyObject* contiguous(PyArrayObject* x) {
  if (PyArray_IS_C_CONTIGUOUS(x)) return Py_NewRef(reinterpret_cast<PyObject*>(x));
  return copy_of(x);
}

bool can_cast(int from, int to) {
  Storage source, target;
  if (from == to) return true;
  const bool from_float = find_storage(from, source);
  // A float64 to bfloat16 is left to ml_dtypes, and integers to 16 bits to NumPy: they round twice.
  return find_storage(to, target) &&
         (target.half == nullptr ? number_of(from) != -1 || from_float
                                 : from_float && (from != NPY_FLOAT64 || to == NPY_HALF));
}

PyObject* contiguous_as(PyArrayObject* x, int typenum) {
  const int from = PyArray_TYPE(x);
  if (from == typenum) return contiguous(x);
  Reference source(contiguous(x));
  if (!source) return nullptr;
  Reference result(new_array(typenum, PyArray_NDIM(x), PyArray_DIMS(x)));
  if (!result) return nullptr;
  const char* data = static_cast<const char*>(PyArray_DATA(source.array()));
  char* target = static_cast<char*>(PyArray_DATA(result.array()));
  const int64_t from_size = PyArray_ITEMSIZE(source.array());
  const int64_t to_size = PyArray_ITEMSIZE(result.array());
  const Cut pieces = cut(PyArray_SIZE(source.array()), Cost::light);
  Unlocked unlocked(pieces.nanoseconds);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    convert(from, typenum, data + begin * from_size, target + begin * to_size, end - begin);
  });
  return result.release();
}

}  // namespace legacy
}  // namespace extensor
