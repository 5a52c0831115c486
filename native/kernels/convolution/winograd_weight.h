// The gradient of a weight of 3 x 3 by Winograd's transforms, transposed: the source is transformed
// as for the output, the gradient of a tile of 2 x 2 outputs to that of its 16 products, and their
// products, summed over the tiles, back to the gradient of the kernel. 16 multiplications instead
// of 36, as for the output.
#pragma once

#include "weight.h"
#include "winograd.h"

namespace extensor::EX_ISA {
namespace {

// Positions from which the transforms of the kernels, once each, are worth it. Measured.
inline constexpr int64_t kLeastWeightPositions = 256;

template <typename T>
int64_t sums_of_products(const Correlation<T>& p) {
  return kWinogradProducts * p.groups * p.channels * p.outputs;
}

// Sums that leave the cache between the blocks cost more than the multiplications saved.
template <typename T>
bool is_worth_winograd_weight(const Correlation<T>& p) {
  return suits_winograd(p) && p.batch * p.y.out * p.x.out >= kLeastWeightPositions &&
         sums_of_products(p) <= kMaximumSplitSums;
}

// Runs of blocks and parts of the panels are the tasks, as in ChannelGradWeight.
template <typename T>
class WinogradGradWeight {
 public:
  // `p` is the correlation of the output, without weight and output.
  WinogradGradWeight(const Correlation<T>& p, const T* gradient, T* out, int64_t wanted_tasks)
      : p_(p),
        gradient_(gradient),
        out_(out),
        wanted_(wanted_tasks),
        tiles_(p, kWinogradPositions),
        blocks_(tiles_.blocks),
        panels_{p.outputs},
        runs_(number_of_runs(p, blocks_, sums_of_products(p), wanted_tasks)),
        sums_(runs_ * p.groups * panels_.count(), p.channels) {}

  void run(ParallelFor run) const {
    const int64_t parts = minimum(ceil_divide(panels_.count(), 4),
                                  maximum<int64_t>(wanted_ / (p_.groups * runs_), 1));
    for_each_item(run, runs_ * p_.groups * parts, wanted_, [&](int64_t begin, int64_t end) {
      WinogradSource<T> source(p_, tiles_);
      Block<T> packed(4 * tiles_.most * kTileColumns<T>);
      ProductMatrices<T> gradient(1, tiles_.most);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t part = i % parts, group = i / parts % p_.groups,
                      index = i / parts / p_.groups;
        const int64_t first = panels_.count() * part / parts;
        const int64_t last = panels_.count() * (part + 1) / parts;
        const int64_t first_block = blocks_.count * index / runs_;
        for (int64_t block = first_block; block < blocks_.count * (index + 1) / runs_; ++block) {
          const int64_t images = source.transform(block, group);
          for (int64_t panel = first; panel < last; ++panel) {
            transform_panel(block, images, group, panel, packed.get(), gradient);
            multiply(images, panel, source.get(), gradient, place(index, group, panel),
                     block > first_block);
          }
        }
      }
    });
    for_each_item(run, p_.groups * panels_.count(), wanted_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) add_runs(i / panels_.count(), i % panels_.count());
    });
  }

 private:
  int64_t place(int64_t run, int64_t group, int64_t panel) const {
    return (run * p_.groups + group) * panels_.count() + panel;
  }

  // A row for each tile.
  void transform_panel(int64_t block, int64_t images, int64_t group, int64_t panel, T* packed,
                       const ProductMatrices<T>& gradient) const {
    const int64_t width = panels_.width(panel);
    const int64_t rows = minimum(blocks_.rows, p_.y.out - blocks_.first_row(block));
    const int64_t columns = p_.x.out;
    T* target = gradient.get(0);
    pack_gradient(p_, gradient_, blocks_, block, group, panel, 0, images * rows * columns, packed);
    for (int64_t image = 0; image < images; ++image, packed += rows * columns * width) {
      for (int64_t row = 0; row < blocks_.rows; row += 2) {
        for (int64_t column = 0; column < columns; column += 2, target += width) {
          for (int64_t lane = 0; lane < width; lane += kLanes<T>) {
            Vector<T> y[2][2], m[4][4];
#pragma GCC unroll 2
            for (int i = 0; i < 2; ++i) {
#pragma GCC unroll 2
              for (int j = 0; j < 2; ++j) {
                const bool is_output = row + i < rows && column + j < columns;
                const T* from = packed + ((row + i) * columns + column + j) * width + lane;
                y[i][j] = is_output ? load(from) : Vector<T>{};
              }
            }
            transform_gradient(y, m);
#pragma GCC unroll 16
            for (int i = 0; i < kWinogradProducts; ++i) {
              store(target + i * gradient.distance() + lane, m[i / 4][i % 4]);
            }
          }
        }
      }
    }
  }

  void multiply(int64_t images, int64_t panel, const T* source, const ProductMatrices<T>& gradient,
                int64_t sums, bool accumulate) const {
    for (int64_t product = 0; product < kWinogradProducts; ++product) {
      multiply_implicit(
          ImplicitTile<T>{tiles_.count(images), source + product * tiles_.product,
                          tiles_.channel_offsets.get(), tiles_.tile_offsets.get(),
                          gradient.get(0, product), sums_.get(sums, product), accumulate},
          p_.channels, panels_.width(panel));
    }
  }

  void add_runs(int64_t group, int64_t panel) const {
    const int64_t width = panels_.width(panel), depth = p_.depth();
    Block<T> kernels(depth * width);
    for (int64_t c = 0; c < p_.channels; ++c) {
      for (int64_t lane = 0; lane < width; lane += kLanes<T>) {
        Vector<T> u[4][4], g[3][3];
        for (int i = 0; i < kWinogradProducts; ++i) {
          Vector<T> sum{};
          for (int64_t run = 0; run < runs_; ++run) {
            sum += load(sums_.get(place(run, group, panel), i) + c * width + lane);
          }
          u[i / 4][i % 4] = sum;
        }
        transform_kernel_gradient(u, g);
        for (int i = 0; i < 9; ++i) {
          store(kernels.get() + (c * 9 + i) * width + lane, g[i / 3][i % 3]);
        }
      }
    }
    store_transposed(kernels.get(), width, depth, panels_.used(panel),
                     out_ + (group * p_.outputs + panel * kTileColumns<T>)*depth, depth);
  }

  const Correlation<T>& p_;
  const T* gradient_;
  T* out_;
  const int64_t wanted_;
  const WinogradTiles<T> tiles_;
  const Blocks& blocks_;
  const Panels<T> panels_;
  const int64_t runs_;
  const ProductMatrices<T> sums_;
};

}  // namespace
}  // namespace extensor::EX_ISA
