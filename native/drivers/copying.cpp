#include "copying.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "pass.h"

namespace extensor {
namespace {

constexpr int64_t kTile = 1024;          // elements converted through a buffer at a time
constexpr int64_t kLeastTransposed = 8;  // shorter rows or columns are copied as they come
constexpr int64_t kRowsPerTask = 64;     // rows of a transposed plane that one task writes

// The place of an item in the loops over some axes, moved on without divisions.
class Walk {
 public:
  Walk(const Loops& loops, const int* axes, int count, int64_t item)
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
  const Loops& loops_;
  const int* axes_;
  int count_;
  int64_t source_ = 0, target_ = 0;
  int64_t index_[kMaxDimensions];
};

// The axis along which a transposed source is contiguous; -1 if it is not one.
int contiguous_axis(const Loops& loops, int64_t itemsize) {
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

// The loops of a copy, merged where both sides allow it.
bool loops_of_copy(const Layout& from, const Layout& to, Loops& loops) {
  const Layout* layouts[] = {&from, &to};
  if (to.size == 0 || !make_loops(to.shape, layouts, 2, loops)) return false;
  coalesce(loops);
  return true;
}

template <typename Item>
void spread(const char* source, int64_t stride, int64_t n, char* target, int64_t target_stride) {
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(target + i * target_stride, source + i * stride, sizeof(Item));
  }
}

// Copies n elements to memory where they are `target_stride` bytes apart.
void spread_run(const char* source, int64_t stride, int64_t itemsize, int64_t n, char* target,
                int64_t target_stride) {
  switch (itemsize) {
    case 1:
      return spread<uint8_t>(source, stride, n, target, target_stride);
    case 2:
      return spread<uint16_t>(source, stride, n, target, target_stride);
    case 4:
      return spread<uint32_t>(source, stride, n, target, target_stride);
    default:
      return spread<uint64_t>(source, stride, n, target, target_stride);
  }
}

// Copies to every few elements of a larger array.
void spread_elements(const Loops& loops, int64_t itemsize, const char* source, char* target) {
  const int last = loops.ndim - 1;
  const int64_t length = loops.shape[last];
  const int64_t stride = loops.strides[0][last], target_stride = loops.strides[1][last];
  if (last == 0) {
    return parallel_chunks(cut(length, Cost::medium), [&](int64_t begin, int64_t end) {
      spread_run(source + begin * stride, stride, itemsize, end - begin,
                 target + begin * target_stride, target_stride);
    });
  }
  int axes[kMaxDimensions];
  for (int axis = 0; axis < last; ++axis) axes[axis] = axis;
  const Cut pieces = cut(loops.size / length, Cost::medium, length);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    Walk walk(loops, axes, last, begin);
    for (int64_t row = begin; row < end; ++row, walk.next()) {
      spread_run(source + walk.source(), stride, itemsize, length, target + walk.target(),
                 target_stride);
    }
  });
}

// The place of a dtype in CopyKernels::to_float.
int number_of(DType dtype) { return static_cast<int>(dtype); }
bool is_plain_number(DType dtype) { return number_of(dtype) < kNumbers; }

bool is_integer(DType dtype) { return dtype <= DType::uint64; }

// Integers modulo 2^32 or 2^64, and booleans: what is not 0.
template <typename To, typename From>
void convert_integers(const From* source, To* target, int64_t n) {
  for (int64_t i = 0; i < n; ++i) target[i] = static_cast<To>(source[i]);
}

template <typename To>
void convert_to_integers(DType from, const char* source, char* out, int64_t n) {
  To* const target = reinterpret_cast<To*>(out);
  const auto from_type = [&]<typename From>(From) {
    convert_integers(reinterpret_cast<const From*>(source), target, n);
  };
  switch (from) {
    case DType::boolean:
      for (int64_t i = 0; i < n; ++i) target[i] = source[i] != 0;
      return;
    case DType::int8:
      return from_type(int8_t());
    case DType::int16:
      return from_type(int16_t());
    case DType::int32:
      return from_type(int32_t());
    case DType::uint8:
      return from_type(uint8_t());
    case DType::uint16:
      return from_type(uint16_t());
    case DType::uint32:
      return from_type(uint32_t());
    case DType::uint64:
      return from_type(uint64_t());
    default:
      return from_type(int64_t());
  }
}

// Whether integers are converted to this dtype without floats between.
bool is_integer_target(DType dtype) {
  return dtype == DType::boolean || dtype == DType::int32 || dtype == DType::int64;
}

void convert_integers(DType from, DType to, const char* source, char* target, int64_t n) {
  if (to == DType::boolean) return convert_to_integers<bool>(from, source, target, n);
  if (to == DType::int32) return convert_to_integers<int32_t>(from, source, target, n);
  convert_to_integers<int64_t>(from, source, target, n);
}

}  // namespace

void copy_elements(const Layout& from, const char* source, const Layout& to, char* target) {
  Loops loops;
  if (!loops_of_copy(from, to, loops)) return;
  const int64_t itemsize = to.itemsize;
  const int last = loops.ndim - 1;
  const int64_t length = loops.shape[last], stride = loops.strides[0][last];
  if (loops.strides[1][last] != itemsize) return spread_elements(loops, itemsize, source, target);
  const Cost cost = stride == itemsize || stride == 0 ? Cost::light : Cost::medium;
  if (loops.ndim == 1) {
    const Cut pieces = cut(length, cost);
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

void copy_contiguous(const Layout& from, const char* source, char* target) {
  copy_elements(from, source, contiguous_layout(from.dtype, from.shape), target);
}

bool can_cast(DType from, DType to) {
  Storage source, target;
  if (from == to || (is_integer(from) && is_integer_target(to))) return true;
  const bool from_float = find_storage(from, source);
  // A float64 to bfloat16 is left to ml_dtypes, and integers to 16 bits to NumPy: they round twice.
  return find_storage(to, target) &&
         (target.half == nullptr ? is_plain_number(from) || from_float
                                 : from_float && (from != DType::float64 || to == DType::float16));
}

void convert(DType from, DType to, const char* source, char* target, int64_t n) {
  if (is_integer_target(to)) return convert_integers(from, to, source, target, n);
  const CopyKernels& copies = kernels().copies;
  Storage source_storage, target_storage;
  const HalfFormat* widening = find_storage(from, source_storage) ? source_storage.half : nullptr;
  find_storage(to, target_storage);
  const HalfFormat* narrowing = target_storage.half;
  alignas(64) float wide[kTile];
  for (int64_t begin = 0; begin < n; begin += kTile) {
    const int64_t count = std::min(kTile, n - begin);
    const void* numbers = source;
    DType stored = from;
    source += count * size_of(from);
    if (widening != nullptr) {
      widening->widen(static_cast<const uint16_t*>(numbers), wide, count);
      numbers = wide;
      stored = DType::float32;
    }
    if (narrowing != nullptr) {
      if (from == DType::float64) {
        copies.to_odd(static_cast<const double*>(numbers), wide, count);
        numbers = wide;
      }
      narrowing->narrow(static_cast<const float*>(numbers), reinterpret_cast<uint16_t*>(target),
                        count);
    } else {
      copies.to_float[target_storage.index()][number_of(stored)](numbers, target, count);
    }
    target += count * size_of(to);
  }
}

void convert_all(DType from, DType to, const char* source, char* target, int64_t n) {
  const int64_t from_size = size_of(from), to_size = size_of(to);
  parallel_chunks(cut(n, Cost::light), [&](int64_t begin, int64_t end) {
    convert(from, to, source + begin * from_size, target + begin * to_size, end - begin);
  });
}

Contiguous::Contiguous(const Layout& layout, const char* data, DType dtype) : data_(data) {
  if (!layout.c_contiguous) {
    ordered_.emplace(layout.size * layout.itemsize);
    copy_contiguous(layout, data, ordered_->data());
    data_ = ordered_->data();
  }
  if (dtype != layout.dtype) {
    converted_.emplace(layout.size * size_of(dtype));
    convert_all(layout.dtype, dtype, data_, converted_->data(), layout.size);
    data_ = converted_->data();
  }
}

void run_copy(const CopyProblem& problem, const Buffers& buffers) {
  const Layout& from = problem.from;
  if (from.dtype == problem.to) return copy_contiguous(from, buffers.inputs[0], buffers.outputs[0]);
  const Contiguous source(from, buffers.inputs[0]);
  convert_all(from.dtype, problem.to, source.data(), buffers.outputs[0], from.size);
}

}  // namespace extensor
