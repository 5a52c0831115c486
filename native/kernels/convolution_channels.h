// Convolutions with channels in the lanes of vectors: a matrix product whose left side, the
// windows of the source, is read in place. Its transpose serves the gradient of the weight.
#pragma once

#include "convolution_tile.h"
#include "gemm_plan.h"

namespace extensor::EX_ISA {
namespace {

// Outputs per block: as many as keep their sums in L2 beside the source, which gets this many
// bytes, and enough of them that a panel of weights is worth its way into L1.
inline constexpr int64_t kBlockPositions = 1024, kLeastPositions = 96;
inline constexpr int64_t kSourceBytes = 384 << 10;
// Numbers that the runs of a gradient may fill in all before they are added.
inline constexpr int64_t kMaximumSplitSums = 1 << 21;

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

template <typename T>
void correlate_channels(const Correlation<T>& p, ParallelFor run) {
  const int64_t depth = p.depth(), step_depth = block_depth(depth);
  const int64_t wanted = wanted_tasks(p.cost());
  const Blocks blocks = cut_for_tasks(p, wanted);
  const Window window(p, blocks, 1, 0);
  const Offsets offsets(p, blocks, window);
  const Panels<T> panels{p.outputs};

  Block<T> weights(p.groups * panels.total() * depth);
  const auto panel_weights = [&](int64_t group, int64_t panel) {
    return weights.get() + (group * panels.total() + panel * kTileColumns<T>)*depth;
  };
  for_each_task(run, wanted > 1 ? p.groups * panels.count() : 1, [&](int64_t task) {
    const int64_t count = wanted > 1 ? 1 : p.groups * panels.count();
    for (int64_t i = task; i < task + count; ++i) {
      const int64_t group = i / panels.count(), panel = i % panels.count();
      pack_weights(p, group, panel * kTileColumns<T>, panels.width(panel),
                   panel_weights(group, panel));
    }
  });

  // Each part of the panels copies the source again, so there are no more than needed.
  const int64_t parts =
      minimum(panels.count(), maximum<int64_t>(wanted / (blocks.count * p.groups), 1));
  const int64_t positions = blocks.images * blocks.rows * p.x.out;
  for_each_task(run, wanted > 1 ? blocks.count * p.groups * parts : 1, [&](int64_t first) {
    BlockSource<T> source(p, blocks, window);
    Block<T> sums(positions * kTileColumns<T>);
    const int64_t count = wanted > 1 ? 1 : blocks.count * p.groups * parts;
    for (int64_t task = first; task < first + count; ++task) {
      const int64_t part = task % parts, group = task / parts % p.groups;
      const int64_t block = task / parts / p.groups;
      const int64_t row = blocks.first_row(block);
      const int64_t rows = minimum(blocks.rows, p.y.out - row);
      const int64_t images = source.copy(block, group);
      for (int64_t panel = panels.count() * part / parts;
           panel < panels.count() * (part + 1) / parts; ++panel) {
        const int64_t width = panels.width(panel), used = panels.used(panel);
        const int64_t channel = panel * kTileColumns<T>;
        T start[kTileColumns<T>] = {};
        if (p.bias) copy_elements(p.bias + group * p.outputs + channel, start, used);
        for (int64_t i = 0; i < images * rows * p.x.out; ++i) {
          copy_elements(start, sums.get() + i * width, width);
        }
        for (int64_t step = 0; step < depth; step += step_depth) {
          multiply_implicit(ImplicitTile<T>{minimum(step_depth, depth - step), source.get(),
                                            offsets.positions.get(), offsets.steps.get() + step,
                                            panel_weights(group, panel) + step * width, sums.get()},
                            images * rows * p.x.out, width);
        }
        for (int64_t i = 0; i < images; ++i) {
          store_outputs(p, sums.get() + i * rows * p.x.out * width, width, used, rows,
                        p.output(blocks.first_image(block) + i, group) + channel * p.out_plane +
                            row * p.out_row);
        }
      }
    }
  });
}

// The gradient of outputs from `first` on: a row for each of `count` positions of a block's images,
// from position `begin` of the block on, and an output in each lane.
template <typename T>
void pack_gradient(const Correlation<T>& p, const T* gradient, int64_t per_image, int64_t lines,
                   int64_t begin, int64_t count, T* target, int64_t width) {
  const int64_t plane = p.y.out * p.x.out, image = p.groups * p.outputs * plane;
  for (int64_t done = 0; done < count;) {
    const int64_t index = (begin + done) / per_image, position = (begin + done) % per_image;
    const int64_t run = minimum(count - done, per_image - position);
    const Lines<T> from{gradient + index * image + position, plane, 1, lines, run};
    pack_transposed(from, run, target + done * width, width);
    done += run;
  }
}

// The gradient of the weight of `p`, whose `out` is not used. Blocks are summed in `splits` runs,
// which are added at the end in their order: all cut by shape alone.
template <typename T>
void grad_weight_channels(const Correlation<T>& p, const T* gradient, T* out, ParallelFor run) {
  const int64_t depth = p.depth(), wanted = wanted_tasks(p.cost());
  const Blocks blocks = cut_for_tasks(p, wanted);
  const Window window(p, blocks, 1, 0);
  const Offsets offsets(p, blocks, window);
  const Panels<T> panels{p.outputs};
  const int64_t size = panels.total() * depth, plane = p.y.out * p.x.out;
  int64_t splits = minimum(wanted / p.groups, kMaximumSplitSums / (size * p.groups));
  splits = maximum<int64_t>(minimum(splits, blocks.count), 1);
  // Each part copies the source again, so that it should have several panels to multiply it with.
  const int64_t parts =
      minimum(ceil_divide(panels.count(), 4), maximum<int64_t>(wanted / (p.groups * splits), 1));

  Block<T> all_sums(splits * p.groups * size);
  for_each_task(run, splits * p.groups * parts, [&](int64_t task) {
    const int64_t part = task % parts, group = task / parts % p.groups;
    const int64_t split = task / parts / p.groups;
    const int64_t first_panel = panels.count() * part / parts;
    const int64_t last_panel = panels.count() * (part + 1) / parts;
    T* sums = all_sums.get() + (split * p.groups + group) * size;
    for (int64_t panel = first_panel; panel < last_panel; ++panel) {
      T* target = sums + panel * kTileColumns<T> * depth;
      for (int64_t i = 0; i < depth * panels.width(panel); ++i) target[i] = T{0};
    }
    BlockSource<T> source(p, blocks, window);
    for (int64_t block = blocks.count * split / splits; block < blocks.count * (split + 1) / splits;
         ++block) {
      const int64_t images = source.copy(block, group);
      const int64_t row = blocks.first_row(block);
      const int64_t per_image = minimum(blocks.rows, p.y.out - row) * p.x.out;
      const int64_t positions = images * per_image, step_depth = block_depth(positions);
      const T* block_gradient = gradient +
                                (blocks.first_image(block) * p.groups + group) * p.outputs * plane +
                                row * p.x.out;
      for (int64_t panel = first_panel; panel < last_panel; ++panel) {
        const int64_t width = panels.width(panel), channel = panel * kTileColumns<T>;
        for (int64_t step = 0; step < positions; step += step_depth) {
          const int64_t count = minimum(step_depth, positions - step);
          T* packed = right_scratch<T>();
          pack_gradient(p, block_gradient + channel * plane, per_image, p.outputs - channel, step,
                        count, packed, width);
          multiply_implicit(
              ImplicitTile<T>{count, source.get(), offsets.steps.get(),
                              offsets.positions.get() + step, packed, sums + channel * depth},
              depth, width);
        }
      }
    }
  });

  for_each_task(run, wanted > 1 ? p.groups * panels.count() : 1, [&](int64_t task) {
    const int64_t count = wanted > 1 ? 1 : p.groups * panels.count();
    for (int64_t i = task; i < task + count; ++i) {
      const int64_t group = i / panels.count(), panel = i % panels.count();
      const int64_t width = panels.width(panel), channel = panel * kTileColumns<T>;
      T* sums = all_sums.get() + group * size + channel * depth;
      for (int64_t split = 1; split < splits; ++split) {
        const T* more = sums + split * p.groups * size;
        for (int64_t j = 0; j < depth * width; j += kLanes<T>) {
          store(sums + j, load(sums + j) + load(more + j));
        }
      }
      store_transposed(sums, width, depth, panels.used(panel),
                       out + (group * p.outputs + channel) * depth, depth);
    }
  });
}

}  // namespace
}  // namespace extensor::EX_ISA
