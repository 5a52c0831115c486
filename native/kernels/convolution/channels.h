// Convolutions with channels in the lanes of vectors: a matrix product whose left side, the
// windows of the source, is read in place.
#pragma once

#include "../matrix/gemm_plan.h"
#include "tile.h"

namespace extensor::EX_ISA {
namespace {

// Outputs per block: as many as keep their sums in L2 beside the source, which gets this many
// bytes, and enough of them that a panel of weights is worth its way into L1.
inline constexpr int64_t kBlockPositions = 1024, kLeastPositions = 96;
inline constexpr int64_t kSourceBytes = 384 << 10;

template <typename T>
Blocks cut_for_tasks(const Correlation<T>& p, int64_t wanted) {
  const int64_t positions = ceil_divide(p.batch * p.y.out * p.x.out * p.groups, wanted);
  return cut_into_blocks(p, minimum(maximum(positions, kLeastPositions), kBlockPositions),
                         static_cast<int64_t>(kSourceBytes / sizeof(T)));
}

// The offsets of a block's outputs.
template <typename T>
void fill_position_offsets(const Correlation<T>& p, const Blocks& blocks, const Window& window,
                           int32_t* offsets) {
  for (int64_t image = 0; image < blocks.images; ++image) {
    for (int64_t i = 0; i < blocks.rows; ++i) {
      for (int64_t j = 0; j < p.x.out; ++j) {
        *offsets++ = static_cast<int32_t>(image * window.image + i * p.y.step * window.row +
                                          window.column(j * p.x.step));
      }
    }
  }
}

// Both tables of a correlation, for whole blocks.
struct Offsets {
  Block<int32_t> positions, steps;

  template <typename T>
  Offsets(const Correlation<T>& p, const Blocks& blocks, const Window& window)
      : positions(blocks.images * blocks.rows * p.x.out), steps(p.depth()) {
    fill_position_offsets(p, blocks, window, positions.get());
    fill_step_offsets(p, window, steps.get());
  }
};

// The weights of outputs from `first` on: a row for each step, an output in each lane.
template <typename T>
void pack_weights(const Correlation<T>& p, int64_t group, int64_t first, int64_t width, T* target) {
  const int64_t depth = p.depth(), lines = minimum(p.outputs - first, width);
  if (p.weights_lie_in_order()) {
    const T* weight = p.weight_of(group, first);
    return pack_transposed(Lines<T>{weight, depth, 1, lines, depth}, depth, target, width);
  }
  Block<T> gathered(lines * depth);
  gather_weights(p, group, first, lines, gathered.get());
  pack_transposed(Lines<T>{gathered.get(), depth, 1, lines, depth}, depth, target, width);
}

// `rows` output rows of `used` channels, from sums with a row for each position.
template <typename T>
void store_outputs(const Correlation<T>& p, const T* sums, int64_t width, int64_t used,
                   int64_t rows, T* target) {
  if (p.out_column == 1 && p.out_row == p.x.out) {
    return store_transposed(sums, width, rows * p.x.out, used, target, p.out_plane);
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t m = 0; m < used; ++m) {
      T* line = target + m * p.out_plane + i * p.out_row;
      const T* from = sums + i * p.x.out * width + m;
      for (int64_t j = 0; j < p.x.out; ++j) line[j * p.out_column] = from[j * width];
    }
  }
}

// A correlation as products of the windows of a block and panels of packed weights.
template <typename T>
class ChannelCorrelation {
 public:
  ChannelCorrelation(const Correlation<T>& p, int64_t wanted_tasks)
      : p_(p),
        depth_(p.depth()),
        wanted_(wanted_tasks),
        blocks_(cut_for_tasks(p, wanted_tasks)),
        window_(p, blocks_, 1, 0),
        offsets_(p, blocks_, window_),
        panels_{p.outputs},
        weights_(p.groups * panels_.total() * depth_) {}

  void run(ParallelFor run) const {
    for_each_item(run, p_.groups * panels_.count(), wanted_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t group = i / panels_.count(), panel = i % panels_.count();
        pack_weights(p_, group, panel * kTileColumns<T>, panels_.width(panel),
                     weights(group, panel));
      }
    });
    // Each part of the panels copies the source again, so there are no more than needed.
    const int64_t parts =
        minimum(panels_.count(), maximum<int64_t>(wanted_ / (blocks_.count * p_.groups), 1));
    for_each_item(run, blocks_.count * p_.groups * parts, wanted_, [&](int64_t begin, int64_t end) {
      BlockSource<T> source(p_, blocks_, window_);
      Block<T> sums(blocks_.images * blocks_.rows * p_.x.out * kTileColumns<T>);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t part = i % parts, group = i / parts % p_.groups;
        const int64_t block = i / parts / p_.groups;
        const int64_t images = source.copy(block, group);
        for (int64_t panel = panels_.count() * part / parts;
             panel < panels_.count() * (part + 1) / parts; ++panel) {
          multiply(block, group, panel, images, source.get(), sums.get());
        }
      }
    });
  }

 private:
  T* weights(int64_t group, int64_t panel) const {
    return weights_.get() + (group * panels_.total() + panel * kTileColumns<T>)*depth_;
  }

  // One panel of outputs of a block.
  void multiply(int64_t block, int64_t group, int64_t panel, int64_t images, const T* source,
                T* sums) const {
    const int64_t width = panels_.width(panel), channel = panel * kTileColumns<T>;
    const int64_t row = blocks_.first_row(block), rows = minimum(blocks_.rows, p_.y.out - row);
    const int64_t per_image = rows * p_.x.out;
    T start[kTileColumns<T>] = {};
    if (p_.bias) {
      copy_elements(p_.bias + group * p_.outputs + channel, start, panels_.used(panel));
    }
    for (int64_t i = 0; i < images * per_image; ++i) copy_elements(start, sums + i * width, width);
    const int64_t step_depth = block_depth(depth_);
    for (int64_t step = 0; step < depth_; step += step_depth) {
      multiply_implicit(
          ImplicitTile<T>{minimum(step_depth, depth_ - step), source, offsets_.positions.get(),
                          offsets_.steps.get() + step, weights(group, panel) + step * width, sums},
          images * per_image, width);
    }
    for (int64_t i = 0; i < images; ++i) {
      T* out = p_.output(blocks_.first_image(block) + i, group);
      store_outputs(p_, sums + i * per_image * width, width, panels_.used(panel), rows,
                    out + channel * p_.out_plane + row * p_.out_row);
    }
  }

  const Correlation<T>& p_;
  const int64_t depth_, wanted_;
  const Blocks blocks_;
  const Window window_;
  const Offsets offsets_;
  const Panels<T> panels_;
  const Block<T> weights_;
};

template <typename T>
void correlate_channels(const Correlation<T>& p, ParallelFor run) {
  ChannelCorrelation<T>(p, wanted_tasks(p.cost())).run(run);
}

}  // namespace
}  // namespace extensor::EX_ISA
