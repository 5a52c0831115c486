#pragma once

#include <new>

#include "../../runtime/memory.h"
#include "../matrix/gemm_vector.h"
#include "shape.h"

namespace extensor::EX_ISA {
namespace {

// Temporary memory of the pool.
template <typename T>
class Block {
 public:
  explicit Block(int64_t count) : data_(static_cast<T*>(allocate_block(count * sizeof(T)))) {
    if (!data_) throw std::bad_alloc();
  }
  ~Block() { release_block(data_); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  T* get() const { return data_; }

 private:
  T* data_;
};

template <typename T>
EX_INLINE constexpr T maximum(T a, T b) {
  return a < b ? b : a;
}

// One axis of a correlation: output i reads `taps` source positions, `spacing` apart, the lowest of
// which is i * step + first. Tap t is element kernel_first + t * kernel_spacing of the kernel; it
// meets the positions in this order or in reverse.
struct CorrelationAxis {
  int64_t source, out;
  int64_t step, taps, first, spacing;
  int64_t kernel_first = 0, kernel_spacing = 1;
  bool reversed = false;

  int64_t position(int64_t tap) const { return (reversed ? taps - 1 - tap : tap) * spacing; }
  int64_t element(int64_t tap) const { return kernel_first + tap * kernel_spacing; }

  // Source positions from the first to the last one that `count` outputs read.
  int64_t reach(int64_t count) const { return (count - 1) * step + (taps - 1) * spacing + 1; }
};

// What the output and the gradient of x have in common. For each group, image and output m:
//   out[m, i, j] = bias[m] + sum over c, s, t of weight[m, c, s, t] * source[c, y(i, s), x(j, t)].
template <typename T>
struct Correlation {
  int64_t batch, groups, channels, outputs;  // channels and outputs of one group
  CorrelationAxis y, x;
  const T* source;
  const T* weight;
  int64_t weight_group, weight_output, weight_channel, weight_row;  // strides
  int64_t kernel_size;
  const T* bias;
  T* out;
  int64_t out_plane, out_row, out_column;  // strides

  int64_t taps() const { return y.taps * x.taps; }
  int64_t depth() const { return channels * taps(); }
  int64_t cost() const { return batch * groups * outputs * y.out * x.out * depth(); }
  // Whether the weights of an output are one run of memory, in the order of the steps of its sum.
  bool weights_lie_in_order() const {
    return taps() == kernel_size && weight_channel == kernel_size;
  }
  const T* weight_of(int64_t group, int64_t output) const {
    return weight + group * weight_group + output * weight_output;
  }
  const T* image(int64_t index, int64_t group) const {
    return source + (index * groups + group) * channels * y.source * x.source;
  }
  T* output(int64_t index, int64_t group) const {
    return out + (index * groups + group) * outputs * out_plane;
  }
};

// A block of a correlation: some whole images, or some output rows of one.
struct Blocks {
  int64_t images, rows;
  int64_t per_image;  // blocks of rows
  int64_t count;

  int64_t first_image(int64_t block) const { return block / per_image * images; }
  int64_t first_row(int64_t block) const { return block % per_image * rows; }

  struct Item {
    int64_t block, group;
  };
  // Item i of the blocks of all groups, in the order of memory.
  Item item(int64_t i, int64_t groups) const {
    const int64_t first = i / per_image;
    return {first / groups * per_image + i % per_image, first % groups};
  }
};

// Blocks of about `positions` outputs of each channel, whose sources have at most `elements`.
template <typename T>
Blocks cut_into_blocks(const Correlation<T>& p, int64_t positions, int64_t elements) {
  const int64_t width = p.channels * p.x.reach(p.x.out);
  int64_t rows = minimum(p.y.out, maximum<int64_t>(positions / p.x.out, 1));
  while (rows > 1 && width * p.y.reach(rows) > elements) rows = ceil_divide(rows, 2);
  const int64_t per_image = ceil_divide(p.y.out, rows);
  rows = ceil_divide(p.y.out, per_image);
  int64_t images = 1;
  if (per_image == 1) {
    images = minimum(positions / (rows * p.x.out), elements / (width * p.y.reach(rows)));
    images = maximum<int64_t>(minimum(images, p.batch), 1);
  }
  return {images, rows, per_image, ceil_divide(p.batch, images) * per_image};
}

// How the source of a block lies in temporary memory: with the zeros around it, so that nothing
// more has to be asked when it is read. The element that output position i and step k of a sum
// meet in is at offset(i) + offset(k): the matrix "im2col" without its copies.
//
// `phases` splits rows by position modulo that number, so that a vector of outputs reads adjacent
// elements whatever the step. `spare` are zeros at the end of each phase.
struct Window {
  int64_t rows, width;        // of the source that are kept
  int64_t phases, phase;      // number and distance
  int64_t row, plane, image;  // distances

  template <typename T>
  Window(const Correlation<T>& p, const Blocks& blocks, int64_t phases, int64_t spare)
      : rows(p.y.reach(blocks.rows)), width(p.x.reach(p.x.out)), phases(phases) {
    phase = ceil_divide(width, phases) + spare;
    row = phases * phase;
    // An odd number of cache lines, so that the planes do not all meet in one set of the cache.
    constexpr int64_t line = 64 / sizeof(T);
    plane = (ceil_divide(rows * row, line) | 1) * line;
    image = p.channels * plane;
  }

  int64_t column(int64_t position) const { return position % phases * phase + position / phases; }
};

template <typename T>
EX_INLINE void copy_elements(const T* source, T* target, int64_t count) {
  constexpr int64_t lanes = kLanes<T>;
  if (count < lanes) {
    for (int64_t i = 0; i < count; ++i) target[i] = source[i];
    return;
  }
  for (int64_t i = 0; i < count - lanes; i += lanes) store(target + i, load(source + i));
  store(target + count - lanes, load(source + count - lanes));
}

template <int First, typename V, size_t... I>
EX_INLINE V every_second(V a, V b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (First + 2 * I)...);
}

// Elements 0, 2, ... of `count` pairs, and 1, 3, ...
template <typename T>
EX_INLINE void separate_pairs(const T* source, int64_t count, T* even, T* odd) {
  constexpr int64_t lanes = kLanes<T>;
  if (count < lanes) {
    for (int64_t i = 0; i < count; ++i) {
      even[i] = source[2 * i];
      odd[i] = source[2 * i + 1];
    }
    return;
  }
  constexpr auto indices = std::make_index_sequence<lanes>{};
  for (int64_t next = 0; next < count; next += lanes) {
    const int64_t i = minimum(next, count - lanes);
    const Vector<T> a = load(source + 2 * i), b = load(source + 2 * i + lanes);
    store(even + i, every_second<0>(a, b, indices));
    store(odd + i, every_second<1>(a, b, indices));
  }
}

// Positions from `begin` to `end` of `count` rows; `source` and `target` are what position 0 of the
// first would be.
template <typename T>
struct RowCopy {
  const T* source;
  int64_t source_row;
  int64_t count, begin, end;
  T* target;
};

// Each way to copy is a function of its own, so that its loop has the registers it needs.
template <typename T>
[[gnu::noinline]] void copy_plain_rows(RowCopy<T> p, int64_t row) {
  for (int64_t i = 0; i < p.count; ++i, p.source += p.source_row, p.target += row) {
    copy_elements(p.source + p.begin, p.target + p.begin, p.end - p.begin);
  }
}

// `offsets` are those of positions `begin` and `begin` + 1.
template <typename T>
[[gnu::noinline]] void copy_separated_rows(RowCopy<T> p, int64_t row, const int64_t (&offsets)[2]) {
  const int64_t pairs = (p.end - p.begin) / 2;
  T *first = p.target + offsets[0], *second = p.target + offsets[1];
  for (int64_t i = 0; i < p.count; ++i, p.source += p.source_row, first += row, second += row) {
    separate_pairs(p.source + p.begin, pairs, first, second);
    if ((p.end - p.begin) % 2 == 1) first[pairs] = p.source[p.end - 1];
  }
}

template <typename T>
void copy_rows(RowCopy<T> p, const Window& window) {
  if (window.phases == 1) return copy_plain_rows(p, window.row);
  if (window.phases == 2) {
    return copy_separated_rows(p, window.row, {window.column(p.begin), window.column(p.begin + 1)});
  }
  for (int64_t i = 0; i < p.count; ++i, p.source += p.source_row, p.target += window.row) {
    for (int64_t j = p.begin; j < p.end; ++j) p.target[window.column(j)] = p.source[j];
  }
}

// The windows of a block at a time, in memory of their own.
template <typename T>
class BlockSource {
 public:
  BlockSource(const Correlation<T>& p, const Blocks& blocks, const Window& window)
      : p_(p),
        blocks_(blocks),
        window_(window),
        size_(blocks.images * window.image + kLanes<T>),  // a vector may reach beyond its row
        memory_(size_) {
    clear();
  }

  const T* get() const { return memory_.get(); }

  // Returns the number of images.
  int64_t copy(int64_t block, int64_t group) {
    const int64_t first = blocks_.first_image(block);
    const int64_t images = minimum(blocks_.images, p_.batch - first);
    for (int64_t i = 0; i < images; ++i) {
      copy_image(p_.image(first + i, group), blocks_.first_row(block),
                 memory_.get() + i * window_.image);
    }
    return images;
  }

 private:
  void clear() {
    for (int64_t i = 0; i < size_; ++i) memory_.get()[i] = T{0};
  }

  // The rows of the next channel are far away, so that the processor would not ask for them itself.
  static void prefetch(const T* source, int64_t count) {
    for (int64_t i = 0; i < count; i += 64 / sizeof(T)) __builtin_prefetch(source + i);
  }

  // Beside the source, the zeros of the beginning stay; above and below it they may have to return.
  void copy_image(const T* source, int64_t output_row, T* target) const {
    const int64_t y = output_row * p_.y.step + p_.y.first, x = p_.x.first;
    const int64_t begin = maximum<int64_t>(-x, 0), end = minimum(window_.width, p_.x.source - x);
    if (begin >= end) return;
    const int64_t top = minimum(maximum<int64_t>(-y, 0), window_.rows);
    const int64_t bottom = maximum(minimum(window_.rows, p_.y.source - y), top);
    for (int64_t channel = 0; channel < p_.channels; ++channel) {
      const T* plane = source + (channel * p_.y.source + y) * p_.x.source + x;
      T* rows = target + channel * window_.plane;
      prefetch(plane + p_.y.source * p_.x.source + top * p_.x.source, (bottom - top) * p_.x.source);
      memset(rows, 0, top * window_.row * sizeof(T));
      copy_rows(RowCopy<T>{plane + top * p_.x.source, p_.x.source, bottom - top, begin, end,
                           rows + top * window_.row},
                window_);
      memset(rows + bottom * window_.row, 0, (window_.rows - bottom) * window_.row * sizeof(T));
    }
  }

  const Correlation<T>& p_;
  const Blocks& blocks_;
  const Window& window_;
  int64_t size_;
  Block<T> memory_;
};

// The offsets of the steps of a sum: channels, rows of the kernel, its columns.
template <typename T>
void fill_step_offsets(const Correlation<T>& p, const Window& window, int32_t* offsets) {
  for (int64_t c = 0; c < p.channels; ++c) {
    for (int64_t s = 0; s < p.y.taps; ++s) {
      for (int64_t t = 0; t < p.x.taps; ++t) {
        *offsets++ = static_cast<int32_t>(c * window.plane + p.y.position(s) * window.row +
                                          window.column(p.x.position(t)));
      }
    }
  }
}

// The weights of outputs from `first` on, each a row in the order of the steps.
template <typename T>
void gather_weights(const Correlation<T>& p, int64_t group, int64_t first, int64_t outputs,
                    T* target) {
  for (int64_t m = first; m < first + outputs; ++m) {
    for (int64_t c = 0; c < p.channels; ++c) {
      const T* kernel = p.weight_of(group, m) + c * p.weight_channel;
      if (p.taps() == p.kernel_size) {
        copy_elements(kernel, target, p.taps());
        target += p.taps();
        continue;
      }
      for (int64_t s = 0; s < p.y.taps; ++s) {
        const T* row = kernel + p.y.element(s) * p.weight_row;
        for (int64_t t = 0; t < p.x.taps; ++t) *target++ = row[p.x.element(t)];
      }
    }
  }
}

// Runs body(begin, end) for ranges of `items` items, in at most `tasks` tasks.
template <typename Body>
void for_each_item(ParallelFor run, int64_t items, int64_t tasks, const Body& body) {
  struct Context {
    int64_t items, tasks;
    const Body& body;
  } context{items, minimum(tasks, items), body};
  const auto run_task = [](void* opaque, int64_t task) {
    const Context& c = *static_cast<const Context*>(opaque);
    c.body(c.items * task / c.tasks, c.items * (task + 1) / c.tasks);
  };
  run(context.tasks, run_task, &context);
}

}  // namespace
}  // namespace extensor::EX_ISA
