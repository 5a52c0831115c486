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

// The transpose of `transform_products`, from the gradient of outputs to that of products. Along
// each axis: (y0, y0 + y1, y0 - y1, -y1).
template <typename V>
EX_INLINE void transform_gradient(const V y[2][2], V out[4][4]) {
  V rows[4][2];
#pragma GCC unroll 2
  for (int j = 0; j < 2; ++j) {
    rows[0][j] = y[0][j];
    rows[1][j] = y[0][j] + y[1][j];
    rows[2][j] = y[0][j] - y[1][j];
    rows[3][j] = -y[1][j];
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    out[i][0] = rows[i][0];
    out[i][1] = rows[i][0] + rows[i][1];
    out[i][2] = rows[i][0] - rows[i][1];
    out[i][3] = -rows[i][1];
  }
}

// The transpose of `transform_kernel`. Along each axis:
// (u0 + (u1 + u2) / 2, (u1 - u2) / 2, (u1 + u2) / 2 + u3).
template <typename V>
EX_INLINE void transform_kernel_gradient(const V u[4][4], V out[3][3]) {
  auto transform = [](V u0, V u1, V u2, V u3, V& o0, V& o1, V& o2) {
    const V even = (u1 + u2) / 2;
    o0 = u0 + even;
    o1 = (u1 - u2) / 2;
    o2 = even + u3;
  };
  V rows[3][4];
  for (int j = 0; j < 4; ++j) {
    transform(u[0][j], u[1][j], u[2][j], u[3][j], rows[0][j], rows[1][j], rows[2][j]);
  }
  for (int i = 0; i < 3; ++i) {
    transform(rows[i][0], rows[i][1], rows[i][2], rows[i][3], out[i][0], out[i][1], out[i][2]);
  }
}

// As for other correlations, but of an even number of rows.
template <typename T>
Blocks cut_into_tiles(const Correlation<T>& p, int64_t positions) {
  Blocks blocks = cut_into_blocks(p, positions, positions * 4 * p.channels);
  blocks.rows = round_up(blocks.rows, 2);
  blocks.per_image = ceil_divide(p.y.out, blocks.rows);
  blocks.count = ceil_divide(p.batch, blocks.images) * blocks.per_image;
  return blocks;
}

template <typename T>
bool suits_winograd(const Correlation<T>& p) {
  auto is_three = [](const CorrelationAxis& axis) {
    return axis.taps == 3 && axis.step == 1 && axis.spacing == 1;
  };
  return sizeof(T) == 4 && is_three(p.y) && is_three(p.x) && p.out_column == 1 &&
         p.channels >= 32 && p.outputs >= 32 && p.y.out >= 4 && p.x.out >= 4;
}

// The tiles of a block, and where their transform lies: for each product a line of tiles for each
// channel.
template <typename T>
struct WinogradTiles {
  Blocks blocks;
  Window window;
  int64_t columns;  // of tiles
  int64_t most;     // tiles of a block
  int64_t line;     // an odd number of cache lines, as that of a plane
  int64_t product;
  Block<int32_t> tile_offsets, channel_offsets;

  WinogradTiles(const Correlation<T>& p, int64_t positions)
      : blocks(cut_into_tiles(p, positions)),
        window(p, blocks, 2, kLanes<T>),
        columns(ceil_divide(p.x.out, 2)),
        most(count(blocks.images)),
        line((ceil_divide(most, kCacheLine) | 1) * kCacheLine),
        product(p.channels * line + kCacheLine),
        tile_offsets(most),
        channel_offsets(p.channels) {
    for (int64_t i = 0; i < most; ++i) tile_offsets.get()[i] = static_cast<int32_t>(i);
    for (int64_t c = 0; c < p.channels; ++c) {
      channel_offsets.get()[c] = static_cast<int32_t>(c * line);
    }
  }

  int64_t count(int64_t images) const { return images * blocks.rows / 2 * columns; }
};

// The transformed source of a block at a time, in memory of its own.
template <typename T>
class WinogradSource {
 public:
  WinogradSource(const Correlation<T>& p, const WinogradTiles<T>& tiles)
      : channels_(p.channels),
        tiles_(tiles),
        source_(p, tiles.blocks, tiles.window),
        transformed_(kWinogradProducts * tiles.product) {}

  const T* get() const { return transformed_.get(); }

  // Returns the number of images.
  int64_t transform(int64_t block, int64_t group) {
    const int64_t images = source_.copy(block, group);
    for (int64_t c = 0; c < channels_; ++c) {
      transform_channel(images, source_.get() + c * tiles_.window.plane,
                        transformed_.get() + c * tiles_.line);
    }
    return images;
  }

 private:
  // A vector holds adjacent tiles of a row; what the last one has too much, the next row or the
  // next channel overwrites.
  void transform_channel(int64_t images, const T* source, T* target) const {
    const Window& window = tiles_.window;
    for (int64_t image = 0; image < images; ++image) {
      for (int64_t row = 0; row < tiles_.blocks.rows; row += 2, target += tiles_.columns) {
        const T* from = source + image * window.image + row * window.row;
        for (int64_t tile = 0; tile < tiles_.columns; tile += kLanes<T>) {
          Vector<T> d[4][4];
#pragma GCC unroll 4
          for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 4
            for (int j = 0; j < 4; ++j) {
              d[i][j] = load(from + i * window.row + j % 2 * window.phase + j / 2 + tile);
            }
          }
          transform_source(d);
#pragma GCC unroll 16
          for (int i = 0; i < kWinogradProducts; ++i) {
            store(target + i * tiles_.product + tile, d[i / 4][i % 4]);
          }
        }
      }
    }
  }

  const int64_t channels_;
  const WinogradTiles<T>& tiles_;
  BlockSource<T> source_;
  const Block<T> transformed_;
};

// For each of some panels, the matrices of its products: `rows` rows, an output in each lane. A
// cache line lies between them; at a distance of a power of two they would share the sets of the
// cache.
template <typename T>
class ProductMatrices {
 public:
  ProductMatrices(int64_t panels, int64_t rows)
      : distance_(rows * kTileColumns<T> + kCacheLine), data_(panels * size()) {}

  int64_t size() const { return kWinogradProducts * distance_; }  // of a panel
  int64_t distance() const { return distance_; }
  T* get(int64_t panel, int64_t product = 0) const {
    return data_.get() + panel * size() + product * distance_;
  }

 private:
  const int64_t distance_;
  const Block<T> data_;
};

template <typename T>
class WinogradCorrelation {
 public:
  WinogradCorrelation(const Correlation<T>& p, int64_t wanted_tasks)
      : p_(p),
        wanted_(wanted_tasks),
        tiles_(p, positions_per_block(p)),
        blocks_(tiles_.blocks),
        panels_{p.outputs},
        weights_(p.groups * panels_.count(), p.channels) {}

  void run(ParallelFor run) const {
    for_each_item(run, p_.groups * panels_.count(), wanted_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        transform_weights(i / panels_.count(), i % panels_.count());
      }
    });
    const int64_t parts = minimum(ceil_divide(panels_.count(), 4),
                                  maximum<int64_t>(wanted_ / (blocks_.count * p_.groups), 1));
    for_each_item(run, blocks_.count * p_.groups * parts, wanted_, [&](int64_t begin, int64_t end) {
      WinogradSource<T> source(p_, tiles_);
      ProductMatrices<T> products(panels_.count(), tiles_.most);
      Block<T> sums(4 * tiles_.most * kTileColumns<T>);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t part = i % parts, group = i / parts % p_.groups;
        const int64_t block = i / parts / p_.groups;
        const int64_t first = panels_.count() * part / parts;
        const int64_t last = panels_.count() * (part + 1) / parts;
        const int64_t images = source.transform(block, group);
        multiply(images, group, first, last, source.get(), products);
        for (int64_t panel = first; panel < last; ++panel) {
          store_panel(block, images, group, panel, products, sums.get());
        }
      }
    });
  }

 private:
  // Fewer where there would be few blocks, so that several threads have something to do.
  static int64_t positions_per_block(const Correlation<T>& p) {
    const bool are_few = p.batch * p.groups * p.y.out * p.x.out < 4 * kWinogradPositions;
    return are_few ? kWinogradPositions / 2 : kWinogradPositions;
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
          store(weights_.get(group * panels_.count() + panel, i) + c * width + lane,
                u[i / 4][i % 4]);
        }
      }
    }
  }

  void multiply(int64_t images, int64_t group, int64_t first, int64_t last, const T* transformed,
                const ProductMatrices<T>& products) const {
    const int64_t step_depth = block_depth(p_.channels);
    for (int64_t product = 0; product < kWinogradProducts; ++product) {
      for (int64_t panel = first; panel < last; ++panel) {
        const int64_t width = panels_.width(panel);
        const T* weights = weights_.get(group * panels_.count() + panel, product);
        for (int64_t step = 0; step < p_.channels; step += step_depth) {
          multiply_implicit(
              ImplicitTile<T>{minimum(step_depth, p_.channels - step),
                              transformed + product * tiles_.product, tiles_.tile_offsets.get(),
                              tiles_.channel_offsets.get() + step, weights + step * width,
                              products.get(panel, product), step > 0},
              tiles_.count(images), width);
        }
      }
    }
  }

  void store_panel(int64_t block, int64_t images, int64_t group, int64_t panel,
                   const ProductMatrices<T>& products, T* sums) const {
    const int64_t width = panels_.width(panel), channel = panel * kTileColumns<T>;
    const int64_t first_row = blocks_.first_row(block);
    const int64_t rows = minimum(blocks_.rows, p_.y.out - first_row);
    T start[kTileColumns<T>] = {};
    if (p_.bias) {
      copy_elements(p_.bias + group * p_.outputs + channel, start, panels_.used(panel));
    }
    for (int64_t image = 0; image < images; ++image) {
      for (int64_t lane = 0; lane < width; lane += kLanes<T>) {
        const T* from = products.get(panel) + tiles_.count(image) * width + lane;
        const Vector<T> bias = load(start + lane);
        for (int64_t row = 0; row < rows; row += 2) {
          for (int64_t column = 0; column < p_.x.out; column += 2, from += width) {
            Vector<T> m[4][4], y[2][2];
#pragma GCC unroll 16
            for (int i = 0; i < kWinogradProducts; ++i) {
              m[i / 4][i % 4] = load(from + i * products.distance());
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
  const WinogradTiles<T> tiles_;
  const Blocks& blocks_;
  const Panels<T> panels_;
  const ProductMatrices<T> weights_;
};

}  // namespace
}  // namespace extensor::EX_ISA
