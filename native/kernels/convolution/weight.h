// The gradient of a weight with output channels in the lanes of vectors: a product of the transpose
// of the windows, which is the same source with the tables of offsets exchanged, and the gradient.
#pragma once

#include "channels.h"

namespace extensor::EX_ISA {
namespace {

// Numbers that the runs of a sum may fill in all before they are added.
inline constexpr int64_t kMaximumSplitSums = 1 << 21;

// In how many runs the blocks are summed, for as many tasks; each run has `size` sums.
template <typename T>
int64_t number_of_runs(const Correlation<T>& p, const Blocks& blocks, int64_t size,
                       int64_t wanted_tasks) {
  const int64_t most = minimum(wanted_tasks / p.groups, kMaximumSplitSums / size);
  return maximum<int64_t>(minimum(most, blocks.count), 1);
}

// `count` positions of a block from `begin` on: a row for each, an output of a panel in each lane.
template <typename T>
void pack_gradient(const Correlation<T>& p, const T* gradient, const Blocks& blocks, int64_t block,
                   int64_t group, int64_t panel, int64_t begin, int64_t count, T* target) {
  const Panels<T> panels{p.outputs};
  const int64_t row = blocks.first_row(block), channel = panel * kTileColumns<T>;
  const int64_t plane = p.y.out * p.x.out;
  const int64_t per_image = minimum(blocks.rows, p.y.out - row) * p.x.out;
  for (int64_t done = 0; done < count;) {
    const int64_t image = blocks.first_image(block) + (begin + done) / per_image;
    const int64_t position = (begin + done) % per_image;
    const int64_t length = minimum(count - done, per_image - position);
    const T* from = gradient + ((image * p.groups + group) * p.outputs + channel) * plane +
                    row * p.x.out + position;
    pack_transposed(Lines<T>{from, plane, 1, panels.used(panel), length}, length,
                    target + done * panels.width(panel), panels.width(panel));
    done += length;
  }
}

// Blocks are summed in several runs, which are added at the end in their order; runs and panels are
// the tasks, cut by shape alone.
template <typename T>
class ChannelGradWeight {
 public:
  // `p` is the correlation of the output, without weight and output.
  ChannelGradWeight(const Correlation<T>& p, const T* gradient, T* out, int64_t wanted_tasks)
      : p_(p),
        gradient_(gradient),
        out_(out),
        depth_(p.depth()),
        wanted_(wanted_tasks),
        blocks_(cut_for_tasks(p, wanted_tasks)),
        window_(p, blocks_, 1, 0),
        offsets_(p, blocks_, window_),
        panels_{p.outputs},
        size_(p.groups * panels_.total() * depth_),
        runs_(number_of_runs(p, blocks_, size_, wanted_tasks)),
        sums_(runs_ * size_) {}

  void run(ParallelFor run) const {
    // Each part copies the source again, so that it should have several panels to multiply it with.
    const int64_t parts = minimum(ceil_divide(panels_.count(), 4),
                                  maximum<int64_t>(wanted_ / (p_.groups * runs_), 1));
    for_each_item(run, runs_ * p_.groups * parts, wanted_, [&](int64_t begin, int64_t end) {
      BlockSource<T> source(p_, blocks_, window_);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t part = i % parts;
        sum_blocks(i / parts / p_.groups, i / parts % p_.groups, panels_.count() * part / parts,
                   panels_.count() * (part + 1) / parts, source);
      }
    });
    for_each_item(run, p_.groups * panels_.count(), wanted_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) add_runs(i / panels_.count(), i % panels_.count());
    });
  }

 private:
  // A row for each step, an output in each lane.
  T* sums(int64_t run, int64_t group, int64_t panel) const {
    return sums_.get() + run * size_ + (group * panels_.total() + panel * kTileColumns<T>)*depth_;
  }

  void sum_blocks(int64_t run, int64_t group, int64_t first_panel, int64_t last_panel,
                  BlockSource<T>& source) const {
    for (int64_t panel = first_panel; panel < last_panel; ++panel) {
      memset(sums(run, group, panel), 0, depth_ * panels_.width(panel) * sizeof(T));
    }
    for (int64_t block = blocks_.count * run / runs_; block < blocks_.count * (run + 1) / runs_;
         ++block) {
      const int64_t images = source.copy(block, group);
      for (int64_t panel = first_panel; panel < last_panel; ++panel) {
        multiply(block, group, panel, images, source.get(), sums(run, group, panel));
      }
    }
  }

  void multiply(int64_t block, int64_t group, int64_t panel, int64_t images, const T* source,
                T* sums) const {
    const int64_t row = blocks_.first_row(block), width = panels_.width(panel);
    const int64_t positions = images * minimum(blocks_.rows, p_.y.out - row) * p_.x.out;
    const int64_t step_depth = block_depth(positions);
    T* packed = right_scratch<T>();
    for (int64_t step = 0; step < positions; step += step_depth) {
      const int64_t count = minimum(step_depth, positions - step);
      pack_gradient(p_, gradient_, blocks_, block, group, panel, step, count, packed);
      multiply_implicit(ImplicitTile<T>{count, source, offsets_.steps.get(),
                                        offsets_.positions.get() + step, packed, sums},
                        depth_, width);
    }
  }

  void add_runs(int64_t group, int64_t panel) const {
    const int64_t width = panels_.width(panel), channel = panel * kTileColumns<T>;
    T* total = sums(0, group, panel);
    for (int64_t run = 1; run < runs_; ++run) {
      const T* more = sums(run, group, panel);
      for (int64_t i = 0; i < depth_ * width; i += kLanes<T>) {
        store(total + i, load(total + i) + load(more + i));
      }
    }
    store_transposed(total, width, depth_, panels_.used(panel),
                     out_ + (group * p_.outputs + channel) * depth_, depth_);
  }

  const Correlation<T>& p_;
  const T* gradient_;
  T* out_;
  const int64_t depth_, wanted_;
  const Blocks blocks_;
  const Window window_;
  const Offsets offsets_;
  const Panels<T> panels_;
  const int64_t size_, runs_;
  const Block<T> sums_;
};

template <typename T>
void grad_weight_channels(const Correlation<T>& p, const T* gradient, T* out, ParallelFor run) {
  ChannelGradWeight<T>(p, gradient, out, wanted_tasks(p.cost())).run(run);
}

}  // namespace
}  // namespace extensor::EX_ISA
