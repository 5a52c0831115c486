#include "indexing.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "copying.h"

namespace extensor {
namespace {

constexpr int64_t kParts = 8;        // of the target's rows, each one task's
constexpr int64_t kLeastWidth = 32;  // narrower rows are not worth reading all positions again
// A random access counts as so many elements in a row: one to a slice, one to an element.
constexpr int64_t kSliceCost = 16, kElementCost = 4;

// Negative indices count from `negative`.
template <typename Index>
bool resolve(const void* source, int64_t begin, int64_t end, int64_t size, int64_t negative,
             int64_t* target) {
  bool inside = true;
  for (int64_t i = begin; i < end; ++i) {
    const Index given = read_once<Index>(static_cast<const Index*>(source) + i);
    // An unsigned number too large for int64 becomes negative, and stays outside.
    int64_t position = static_cast<int64_t>(given);
    if constexpr (Index(-1) < Index(0)) position += position < 0 ? negative : 0;
    inside &= position >= 0 && position < size;
    target[i] = position;
  }
  return inside;
}

using Resolve = bool (*)(const void*, int64_t, int64_t, int64_t, int64_t, int64_t*);

Resolve resolver(DType dtype) {
  constexpr Resolve kResolvers[] = {resolve<int8_t>,   resolve<int16_t>, resolve<int32_t>,
                                    resolve<int64_t>,  resolve<uint8_t>, resolve<uint16_t>,
                                    resolve<uint32_t>, resolve<uint64_t>};
  return kResolvers[static_cast<int>(dtype) - static_cast<int>(DType::int8)];
}

// Indices from -size, or from 0, to size - 1 as positions from 0 on, copied as they are checked.
class Positions {
 public:
  Positions(const Layout& indices, const char* data, int64_t size, bool from_end = true)
      : block_(indices.size * sizeof(int64_t)) {
    const Contiguous source(indices, data);
    const Resolve run = resolver(indices.dtype);
    int64_t* const target = reinterpret_cast<int64_t*>(block_.data());
    std::atomic<bool> inside = true;
    parallel_chunks(cut(indices.size, Cost::medium), [&](int64_t begin, int64_t end) {
      if (!run(source.data(), begin, end, size, from_end ? size : 0, target)) inside = false;
    });
    if (!inside) throw Declined();
  }
  const int64_t* data() const { return reinterpret_cast<const int64_t*>(block_.data()); }

 private:
  TemporaryBlock block_;
};

template <typename Item>
void copy_items(const char* source, const int64_t* positions, int64_t n, char* target) {
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(target + i * sizeof(Item), source + positions[i] * sizeof(Item), sizeof(Item));
  }
}

void copy_rows(const char* source, const int64_t* positions, int64_t n, int64_t bytes,
               char* target) {
  if (bytes == 4) return copy_items<uint32_t>(source, positions, n, target);
  if (bytes == 8) return copy_items<uint64_t>(source, positions, n, target);
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(target + i * bytes, source + positions[i] * bytes, bytes);
  }
}

template <typename Item>
void gather_rows(const char* source, const int64_t* positions, int64_t rows, int64_t width,
                 char* target) {
  Item* out = reinterpret_cast<Item*>(target);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t j = 0; j < width; ++j) {
      const int64_t i = row * width + j;
      std::memcpy(out + i, source + (positions[i] * width + j) * sizeof(Item), sizeof(Item));
    }
  }
}

using GatherRows = void (*)(const char*, const int64_t*, int64_t, int64_t, char*);

GatherRows gather_of(int64_t itemsize) {
  if (itemsize == 4) return gather_rows<uint32_t>;
  if (itemsize == 8) return gather_rows<uint64_t>;
  return itemsize == 2 ? gather_rows<uint16_t> : gather_rows<uint8_t>;
}

// The memory that is added to: the output, or a wider one for the time of a run.
class Sums {
 public:
  Sums(const AddProblem& problem, char* output)
      : problem_(problem), itemsize_(problem.storage.wide_itemsize()), output_(output) {
    if (problem.storage.half != nullptr) wide_.emplace(problem.size * itemsize_);
  }

  char* data() const { return wide_ ? wide_->data() : output_; }
  int64_t itemsize() const { return itemsize_; }

  // Begins with x, or with zeros.
  void begin(char* const* inputs) const {
    if (problem_.to_zeros) {
      std::memset(data(), 0, problem_.size * itemsize_);
    } else if (wide_) {
      const Contiguous x(problem_.x, inputs[2]);
      convert_all(problem_.storage.dtype, DType::float32, x.data(), data(), problem_.size);
    } else {
      copy_contiguous(problem_.x, inputs[2], data());
    }
  }

  // Rounds to the dtype of the output.
  void finish() const {
    if (wide_) {
      convert_all(DType::float32, problem_.storage.dtype, data(), output_, problem_.size);
    }
  }

 private:
  const AddProblem& problem_;
  int64_t itemsize_;
  char* output_;
  std::optional<TemporaryBlock> wide_;
};

}  // namespace

Block block_of(const Shape& shape, int axis) {
  Block block;
  for (int i = 0; i < axis; ++i) block.outer *= shape.lengths[i];
  block.length = shape.lengths[axis];
  for (int i = axis + 1; i < shape.ndim; ++i) block.inner *= shape.lengths[i];
  return block;
}

void run_take(const ReadProblem& problem, const Buffers& buffers) {
  const Block& block = problem.block;
  const Positions positions(problem.indices, buffers.inputs[1], block.length, problem.from_end);
  const int64_t count = problem.indices.size, bytes = block.inner * problem.x.itemsize;
  if (block.outer * count * bytes == 0) return;
  const Contiguous source(problem.x, buffers.inputs[0]);
  char* const out = buffers.outputs[0];
  const Cut pieces = cut(block.outer * count, Cost::light, kSliceCost + bytes / 4);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t slice = begin / count, first = begin % count;
      const int64_t n = std::min(end - begin, count - first);
      copy_rows(source.data() + slice * block.length * bytes, positions.data() + first, n, bytes,
                out + begin * bytes);
      begin += n;
    }
  });
}

void run_gather(const ReadProblem& problem, const Buffers& buffers) {
  const Block& block = problem.block;
  const Positions positions(problem.indices, buffers.inputs[1], block.length);
  const int64_t size = problem.indices.size, itemsize = problem.x.itemsize;
  if (size == 0) return;
  const Contiguous source(problem.x, buffers.inputs[0]);
  char* const out = buffers.outputs[0];
  const int64_t rows = size / block.outer / block.inner;
  const auto run = gather_of(itemsize);
  const Cut pieces = cut(block.outer * rows, Cost::light, kElementCost * block.inner);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t slice = begin / rows, n = std::min(end - begin, rows - begin % rows);
      run(source.data() + slice * block.length * block.inner * itemsize,
          positions.data() + begin * block.inner, n, block.inner,
          out + begin * block.inner * itemsize);
      begin += n;
    }
  });
}

int64_t nanoseconds_of(const ReadProblem& problem, int64_t results) {
  const int64_t copied = problem.x.c_contiguous ? 0 : problem.x.size;
  return copied + problem.indices.size + results / 2;
}

// A task owns a part of the target's rows, so no sum depends on who adds.
void run_add_slices(const AddProblem& problem, const Buffers& buffers) {
  const Block& block = problem.block;
  const Positions positions(problem.indices, buffers.inputs[1], block.length);
  if (problem.size == 0) return;
  const Storage& storage = problem.storage;
  const Contiguous updates(problem.updates, buffers.inputs[0], storage.wide());
  const Sums sums(problem, buffers.outputs[0]);
  if (!problem.to_zeros) sums.begin(buffers.inputs);
  const auto add = kernels().indexing.add_rows[storage.index()];
  const int64_t count = problem.indices.size, row = block.inner * sums.itemsize();
  const int64_t parts = block.inner < kLeastWidth ? 1 : std::min(kParts, block.length);
  const int64_t per_task = (block.length + count) * (block.inner + 1) / parts;
  const Cut pieces = cut(block.outer * parts, Cost::light, std::max<int64_t>(per_task, 1));
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t at = task / parts, part = task % parts;
      const int64_t from = part * block.length / parts, to = (part + 1) * block.length / parts;
      char* const slice = sums.data() + at * block.length * row;
      if (problem.to_zeros) std::memset(slice + from * row, 0, (to - from) * row);
      add(updates.data() + at * count * row, positions.data(), count, block.inner, from, to, slice);
    }
  });
  sums.finish();
}

// A task owns whole slices, so no sum depends on who adds.
void run_add_elements(const AddProblem& problem, const Buffers& buffers) {
  const Block& block = problem.block;
  const Positions positions(problem.indices, buffers.inputs[1], block.length);
  const Storage& storage = problem.storage;
  const Contiguous updates(problem.updates, buffers.inputs[0], storage.wide());
  const Sums sums(problem, buffers.outputs[0]);
  sums.begin(buffers.inputs);
  if (const int64_t size = problem.updates.size; size > 0) {
    const int64_t per_slice = size / block.outer, itemsize = sums.itemsize();
    const auto add = kernels().indexing.add_elements[storage.index()];
    const Cut pieces = cut(block.outer, Cost::light, kElementCost * per_slice);
    parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
      for (int64_t slice = begin; slice < end; ++slice) {
        add(updates.data() + slice * per_slice * itemsize, positions.data() + slice * per_slice,
            per_slice / block.inner, block.inner,
            sums.data() + slice * block.length * block.inner * itemsize);
      }
    });
  }
  sums.finish();
}

int64_t nanoseconds_of(const AddProblem& problem) {
  return problem.size / 4 + problem.updates.size + problem.indices.size;
}

void run_place(const PlaceProblem& problem, const Buffers& buffers) {
  std::memset(buffers.outputs[0], 0, problem.bytes);
  copy_elements(problem.x, buffers.inputs[0], problem.part, buffers.outputs[0] + problem.offset);
}

}  // namespace extensor
