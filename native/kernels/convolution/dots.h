// The gradient of a weight with positions in the lanes of vectors, for few channels: each weight's
// is a dot product of the gradient and the source it has met.
#pragma once

#include "rows.h"

namespace extensor::EX_ISA {
namespace {

// Steps whose products with one gradient are summed side by side.
inline constexpr int64_t kDotSteps = 9;

template <typename T>
struct RowDots {
  const T* gradient;  // rows of whole vectors, with zeros beyond the last column
  const T* source;
  int64_t rows, columns, source_row;
  const int32_t* steps;
  T* sums;  // a vector for each step
};

template <typename T, int Steps>
void add_row_dots(const RowDots<T>& dots) {
  constexpr int lanes = kLanes<T>;
  int64_t steps[Steps];
  for (int k = 0; k < Steps; ++k) steps[k] = dots.steps[k];
  Vector<T> sums[Steps] = {};
  const T* gradient = dots.gradient;
  const int64_t vectors = dots.columns / lanes, rest = dots.columns % lanes;
  const LaneMask<T> mask(rest);
  for (int64_t row = 0; row < dots.rows; ++row) {
    const T* source = dots.source + row * dots.source_row;
    for (int64_t v = 0; v < vectors; ++v, gradient += lanes, source += lanes) {
      const Vector<T> g = load(gradient);
#pragma GCC unroll 9
      for (int k = 0; k < Steps; ++k) sums[k] += g * load(source + steps[k]);
    }
    if (rest == 0) continue;
    // Beyond the last column both factors are zero: an infinity there must not be met by one.
    const Vector<T> g = load(gradient);
#pragma GCC unroll 9
    for (int k = 0; k < Steps; ++k) sums[k] += g * mask.keep(load(source + steps[k]));
    gradient += lanes;
  }
#pragma GCC unroll 9
  for (int k = 0; k < Steps; ++k) {
    store(dots.sums + k * lanes, load(dots.sums + k * lanes) + sums[k]);
  }
}

template <typename T, size_t... Step>
constexpr auto row_dots_table(std::index_sequence<Step...>) {
  struct Table {
    void (*functions[kDotSteps])(const RowDots<T>&);
  };
  return Table{{add_row_dots<T, Step + 1>...}};
}

template <typename T>
void add_all_dots(RowDots<T> dots, int64_t depth) {
  static constexpr auto table = row_dots_table<T>(std::make_index_sequence<kDotSteps>{});
  const int64_t passes = ceil_divide(depth, kDotSteps);
  for (int64_t pass = 0; pass < passes; ++pass) {
    const int64_t begin = depth * pass / passes, count = depth * (pass + 1) / passes - begin;
    RowDots<T> part = dots;
    part.steps += begin;
    part.sums += begin * kLanes<T>;
    table.functions[count - 1](part);
  }
}

// Blocks are summed in several runs, as those of ChannelGradWeight are.
template <typename T>
class RowGradWeight {
 public:
  RowGradWeight(const Correlation<T>& p, const T* gradient, T* out)
      : p_(p),
        gradient_(gradient),
        out_(out),
        depth_(p.depth()),
        unrolled_(is_unrolled(p)),
        width_(round_up(p.x.out, kLanes<T>)),
        wanted_(wanted_tasks(kRowCost * p.cost())),
        blocks_(cut_into_row_blocks(p, unrolled_)),
        window_(p, blocks_, p.x.step, width_ - p.x.out),
        unrolled_shape_(p, window_),
        steps_(depth_),
        size_(p.groups * p.outputs * depth_),
        runs_(maximum<int64_t>(minimum(wanted_ / p.groups, blocks_.count), 1)),
        sums_(runs_ * size_) {
    fill_step_offsets(p, window_, steps_.get());
  }

  void run(ParallelFor run) const {
    for_each_item(run, runs_ * p_.groups, wanted_, [&](int64_t begin, int64_t end) {
      BlockSource<T> source(p_, blocks_, window_);
      Block<T> rows(blocks_.rows * width_), lanes(p_.outputs * depth_ * kLanes<T>);
      for (int64_t i = begin; i < end; ++i) {
        sum_blocks(i / p_.groups, i % p_.groups, source, rows.get(), lanes.get());
      }
    });
    for (int64_t i = 0; i < size_; ++i) {
      T sum = sums_.get()[i];
      for (int64_t run = 1; run < runs_; ++run) sum += sums_.get()[run * size_ + i];
      out_[i] = sum;
    }
  }

 private:
  void sum_blocks(int64_t run, int64_t group, BlockSource<T>& source, T* rows, T* lanes) const {
    const int64_t count = p_.outputs * depth_;
    memset(lanes, 0, count * kVectorBytes);
    for (int64_t block = blocks_.count * run / runs_; block < blocks_.count * (run + 1) / runs_;
         ++block) {
      source.copy(block, group);
      if (unrolled_) {
        add_unrolled(block, group, source.get(), lanes);
        continue;
      }
      for (int64_t m = 0; m < p_.outputs; ++m) {
        const int64_t height = copy_gradient(block, group * p_.outputs + m, rows);
        add_all_dots(RowDots<T>{rows, source.get(), height, p_.x.out, p_.y.step * window_.row,
                                steps_.get(), lanes + m * depth_ * kLanes<T>},
                     depth_);
      }
    }
    T* target = sums_.get() + run * size_ + group * count;
    for (int64_t i = 0; i < count; ++i) {
      const Quad<T> quad = fold<T>(load(lanes + i * kLanes<T>));
      target[i] = quad[0];
      for (int j = 1; j < kQuadLanes<T>; ++j) target[i] += quad[j];
    }
  }

  void add_unrolled(int64_t block, int64_t group, const T* source, T* lanes) const {
    const auto add_dots = p_.y.step == 1 ? add_unrolled_dots<T, 1> : add_unrolled_dots<T, 2>;
    const int64_t row = blocks_.first_row(block), rows = minimum(blocks_.rows, p_.y.out - row);
    const int64_t plane = p_.y.out * p_.x.out;
    const int64_t channel = (blocks_.first_image(block) * p_.groups + group) * p_.outputs;
    for (int64_t m = 0; m < p_.outputs; ++m, lanes += depth_ * kLanes<T>) {
      add_dots(unrolled_shape_, source, rows, gradient_ + (channel + m) * plane + row * p_.x.out,
               gradient_ + p_.batch * p_.groups * p_.outputs * plane, lanes);
    }
  }

  // The rows of one channel of a block, with zeros beyond the last column; returns their number.
  int64_t copy_gradient(int64_t block, int64_t channel, T* target) const {
    const int64_t row = blocks_.first_row(block), rows = minimum(blocks_.rows, p_.y.out - row);
    const int64_t image = blocks_.first_image(block) * p_.groups * p_.outputs;
    const T* from = gradient_ + ((image + channel) * p_.y.out + row) * p_.x.out;
    for (int64_t i = 0; i < rows; ++i, from += p_.x.out, target += width_) {
      copy_elements(from, target, p_.x.out);
      for (int64_t j = p_.x.out; j < width_; ++j) target[j] = T{0};
    }
    return rows;
  }

  const Correlation<T>& p_;
  const T* gradient_;
  T* out_;
  const int64_t depth_;
  const bool unrolled_;
  const int64_t width_, wanted_;
  const Blocks blocks_;
  const Window window_;
  const UnrolledShape unrolled_shape_;
  const Block<int32_t> steps_;
  const int64_t size_, runs_;
  const Block<T> sums_;
};

template <typename T>
void grad_weight_rows(const Correlation<T>& p, const T* gradient, T* out, ParallelFor run) {
  RowGradWeight<T>(p, gradient, out).run(run);
}

}  // namespace
}  // namespace extensor::EX_ISA
