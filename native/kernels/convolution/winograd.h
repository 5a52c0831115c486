// Winograd's convolution with kernels of 3 x 3: tiles of 4 x 4 of the source and the kernels are
// transformed, multiplied element by element and transformed back to tiles of 2 x 2 of the output,
// with 16 multiplications instead of 36 (Lavin and Gray, 2016). Summed over the channels, the
// multiplications are 16 matrix products.
#pragma once

#include "channels.h"

namespace extensor::EX_ISA {
namespace {

inline constexpr int kWinogradProducts = 16;
inline constexpr int64_t kCacheLine = 16;
// Outputs per block: their 64 tiles, 16 times transformed, should fit into L2.
inline constexpr int64_t kWinogradPositions = 256;

// Along each axis: (d0 - d2, d1 + d2, d2 - d1, d1 - d3).
template <typename V>
EX_INLINE void transform_source(V d[4][4]) {
  auto transform = [](V& d0, V& d1, V& d2, V& d3) __attribute__((always_inline)) {
    const V middle = d1;
    d0 -= d2;
    d1 += d2;
    d2 -= middle;
    d3 = middle - d3;
  };
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) transform(d[0][j], d[1][j], d[2][j], d[3][j]);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) transform(d[i][0], d[i][1], d[i][2], d[i][3]);
}

// Along each axis: (g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2).
template <typename V>
EX_INLINE void transform_kernel(const V g[3][3], V out[4][4]) {
  auto transform = [](V g0, V g1, V g2, V& o0, V& o1, V& o2, V& o3) {
    o0 = g0;
    o1 = (g0 + g2 + g1) / 2;
    o2 = (g0 + g2 - g1) / 2;
    o3 = g2;
  };
  V rows[4][3];
  for (int j = 0; j < 3; ++j) {
    transform(g[0][j], g[1][j], g[2][j], rows[0][j], rows[1][j], rows[2][j], rows[3][j]);
  }
  for (int i = 0; i < 4; ++i) {
    transform(rows[i][0], rows[i][1], rows[i][2], out[i][0], out[i][1], out[i][2], out[i][3]);
  }
}

// Along each axis: (m0 + m1 + m2, m1 - m2 - m3).
template <typename V>
EX_INLINE void transform_products(const V m[4][4], V out[2][2]) {
  V rows[2][4];
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    rows[0][j] = m[0][j] + m[1][j] + m[2][j];
    rows[1][j] = m[1][j] - m[2][j] - m[3][j];
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    out[i][0] = rows[i][0] + rows[i][1] + rows[i][2];
    out[i][1] = rows[i][1] - rows[i][2] - rows[i][3];
  }
}

// As for other correlations, but of an even number of rows.
template <typename T>
Blocks cut_into_tiles(const Correlation<T>& p) {
  Blocks blocks = cut_into_blocks(p, kWinogradPositions, kWinogradPositions * 4 * p.channels);
  blocks.rows = round_up(blocks.rows, 2);
  blocks.per_image = ceil_divide(p.y.out, blocks.rows);
  blocks.count = ceil_divide(p.batch, blocks.images) * blocks.per_image;
  return blocks;
}

template <typename T>
class WinogradCorrelation {
 public:
  static bool suits(const Correlation<T>& p) {
    auto is_three = [](const CorrelationAxis& axis) {
      return axis.taps == 3 && axis.step == 1 && axis.spacing == 1;
    };
    return sizeof(T) == 4 && is_three(p.y) && is_three(p.x) && p.out_column == 1 &&
           p.channels >= 32 && p.outputs >= 32 && p.y.out >= 4 && p.x.out >= 4;
  }

  WinogradCorrelation(const Correlation<T>& p, int64_t wanted_tasks)
      : p_(p),
        wanted_(wanted_tasks),
        blocks_(cut_into_tiles(p)),
        window_(p, blocks_, 2, kLanes<T>),
        panels_{p.outputs},
        tile_columns_(ceil_divide(p.x.out, 2)),
        tiles_(blocks_.images * blocks_.rows / 2 * tile_columns_),
        group_(p.channels * kLanes<T> + kCacheLine),
        product_(ceil_divide(tiles_, kLanes<T>) * group_ + kCacheLine),
        tile_offsets_(tiles_),
        channel_offsets_(p.channels),
        weights_(kWinogradProducts * p.groups * panels_.total() * p.channels) {
    constexpr int64_t lanes = kLanes<T>;
    for (int64_t i = 0; i < tiles_; ++i) {
      tile_offsets_.get()[i] = static_cast<int32_t>(i / lanes * group_ + i % lanes);
    }
    for (int64_t c = 0; c < p.channels; ++c) {
      channel_offsets_.get()[c] = static_cast<int32_t>(c * lanes);
    }
  }

  void run(ParallelFor run) const {
    for_each_item(run, p_.groups * panels_.count(), wanted_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        transform_weights(i / panels_.count(), i % panels_.count());
      }
    });
    const int64_t parts = minimum(ceil_divide(panels_.count(), 4),
                                  maximum<int64_t>(wanted_ / (blocks_.count * p_.groups), 1));
    for_each_item(run, blocks_.count * p_.groups * parts, wanted_, [&](int64_t begin, int64_t end) {
      BlockSource<T> source(p_, blocks_, window_);
      Block<T> line(kWinogradProducts * line_length());
      Block<T> transformed(kWinogradProducts * product_);
      Block<T> products(kWinogradProducts * tiles_ * panels_.total());
      Block<T> sums(4 * tiles_ * kTileColumns<T>);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t part = i % parts, group = i / parts % p_.groups;
        const int64_t block = i / parts / p_.groups;
        const int64_t first = panels_.count() * part / parts;
        const int64_t last = panels_.count() * (part + 1) / parts;
        const int64_t images = source.copy(block, group);
        transform_block(images, source.get(), line.get(), transformed.get());
        multiply(images, group, first, last, transformed.get(), products.get());
        for (int64_t panel = first; panel < last; ++panel) {
          store_panel(block, images, group, panel, products.get(), sums.get());
        }
      }
    });
  }

 private:
  int64_t line_length() const { return round_up(tiles_, kLanes<T>) + kLanes<T>; }

  int64_t tiles(int64_t images) const { return images * blocks_.rows / 2 * tile_columns_; }

  T* weights(int64_t group, int64_t panel, int64_t product) const {
    const int64_t before = group * panels_.total() + panel * kTileColumns<T>;
    return weights_.get() +
           (before * kWinogradProducts + product * panels_.width(panel)) * p_.channels;
  }

  void transform_weights(int64_t group, int64_t panel) const {
    const int64_t width = panels_.width(panel);
    Block<T> packed(p_.depth() * width);
    pack_weights(p_, group, panel * kTileColumns<T>, width, packed.get());
    for (int64_t c = 0; c < p_.channels; ++c) {
      for (int64_t lane = 0; lane < width; lane += kLanes<T>) {
        Vector<T> g[3][3], u[4][4];
        for (int s = 0; s < 3; ++s) {
          for (int t = 0; t < 3; ++t) {
            g[p_.y.position(s)][p_.x.position(t)] =
                load(packed.get() + (c * 9 + s * 3 + t) * width + lane);
          }
        }
        transform_kernel(g, u);
        for (int i = 0; i < kWinogradProducts; ++i) {
          store(weights(group, panel, i) + c * width + lane, u[i / 4][i % 4]);
        }
      }
    }
  }

  // For each product a vector of tiles for each channel, then the next tiles: so the products read
  // memory in its order.
  void transform_block(int64_t images, const T* source, T* line, T* transformed) const {
    constexpr int64_t lanes = kLanes<T>;
    for (int64_t c = 0; c < p_.channels; ++c) {
      transform_channel(images, source + c * window_.plane, line);
      for (int64_t i = 0; i < kWinogradProducts; ++i) {
        T* target = transformed + i * product_ + c * lanes;
        for (int64_t tile = 0; tile < tiles(images); tile += lanes, target += group_) {
          store(target, load(line + i * line_length() + tile));
        }
      }
    }
  }

  // A vector holds adjacent tiles of a row; what the last one has too much, the next row
  // overwrites.
  void transform_channel(int64_t images, const T* source, T* target) const {
    for (int64_t image = 0; image < images; ++image) {
      for (int64_t row = 0; row < blocks_.rows; row += 2, target += tile_columns_) {
        const T* from = source + image * window_.image + row * window_.row;
        for (int64_t tile = 0; tile < tile_columns_; tile += kLanes<T>) {
          Vector<T> d[4][4];
#pragma GCC unroll 4
          for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 4
            for (int j = 0; j < 4; ++j) {
              d[i][j] = load(from + i * window_.row + j % 2 * window_.phase + j / 2 + tile);
            }
          }
          transform_source(d);
#pragma GCC unroll 16
          for (int i = 0; i < kWinogradProducts; ++i) {
            store(target + i * line_length() + tile, d[i / 4][i % 4]);
          }
        }
      }
    }
  }

  T* products_of(T* products, int64_t panel, int64_t product) const {
    return products +
           (panel * kTileColumns<T> * kWinogradProducts + product * panels_.width(panel)) * tiles_;
  }

  void multiply(int64_t images, int64_t group, int64_t first, int64_t last, const T* transformed,
                T* products) const {
    const int64_t step_depth = block_depth(p_.channels);
    for (int64_t product = 0; product < kWinogradProducts; ++product) {
      for (int64_t panel = first; panel < last; ++panel) {
        const int64_t width = panels_.width(panel);
        T* target = products_of(products, panel, product);
        memset(target, 0, tiles(images) * width * sizeof(T));
        for (int64_t step = 0; step < p_.channels; step += step_depth) {
          multiply_implicit(ImplicitTile<T>{minimum(step_depth, p_.channels - step),
                                            transformed + product * product_, tile_offsets_.get(),
                                            channel_offsets_.get() + step,
                                            weights(group, panel, product) + step * width, target},
                            tiles(images), width);
        }
      }
    }
  }

  void store_panel(int64_t block, int64_t images, int64_t group, int64_t panel, T* products,
                   T* sums) const {
    const int64_t width = panels_.width(panel), channel = panel * kTileColumns<T>;
    const int64_t first_row = blocks_.first_row(block);
    const int64_t rows = minimum(blocks_.rows, p_.y.out - first_row);
    T start[kTileColumns<T>] = {};
    if (p_.bias) {
      copy_elements(p_.bias + group * p_.outputs + channel, start, panels_.used(panel));
    }
    for (int64_t image = 0; image < images; ++image) {
      for (int64_t lane = 0; lane < width; lane += kLanes<T>) {
        const T* from = products_of(products, panel, 0) + tiles(image) * width + lane;
        const Vector<T> bias = load(start + lane);
        for (int64_t row = 0; row < rows; row += 2) {
          for (int64_t column = 0; column < p_.x.out; column += 2, from += width) {
            Vector<T> m[4][4], y[2][2];
#pragma GCC unroll 16
            for (int i = 0; i < kWinogradProducts; ++i) {
              m[i / 4][i % 4] = load(from + i * tiles_ * width);
            }
            transform_products(m, y);
            for (int64_t i = 0; i < minimum<int64_t>(2, rows - row); ++i) {
              for (int64_t j = 0; j < minimum<int64_t>(2, p_.x.out - column); ++j) {
                store(sums + ((row + i) * p_.x.out + column + j) * width + lane, y[i][j] + bias);
              }
            }
          }
        }
      }
      T* out = p_.output(blocks_.first_image(block) + image, group);
      store_outputs(p_, sums, width, panels_.used(panel), rows,
                    out + channel * p_.out_plane + first_row * p_.out_row);
    }
  }

  const Correlation<T>& p_;
  const int64_t wanted_;
  const Blocks blocks_;
  const Window window_;
  const Panels<T> panels_;
  const int64_t tile_columns_, tiles_;
  const int64_t group_, product_;  // distances in the transformed source
  const Block<int32_t> tile_offsets_, channel_offsets_;
  const Block<T> weights_;
};

}  // namespace
}  // namespace extensor::EX_ISA
