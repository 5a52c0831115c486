// Convolutions with few outputs for many weights, as in the late layers of a single image: the
// windows are written out, and the weights are read once, where they are, as the left side of a
// product. Packing or transforming the weights would take longer than the product.
#pragma once

#include "channels.h"
#include "pointwise.h"

namespace extensor::EX_ISA {
namespace {

// Outputs of each channel up to which this is faster than to transform the weights as Winograd.
inline constexpr int64_t kMostInsteadOfWinograd = 128;

// Writing out the windows takes as long as packing the weights if there are as many outputs of a
// channel as channels of outputs; packed weights are then read through tables. Measured.
template <typename T>
bool is_worth_im2col(const Correlation<T>& p, bool is_winograd) {
  const int64_t positions = p.batch * p.y.out * p.x.out;
  if (!p.weights_lie_in_order() || p.out_column != 1 || p.out_row != p.x.out) return false;
  return p.channels >= 32 && p.outputs >= 32 && positions >= 8 && positions <= 2 * p.outputs &&
         (!is_winograd || positions <= kMostInsteadOfWinograd);
}

// All images are one block. Rows of the source are split by position modulo the step, so that the
// elements that the outputs of a row meet are adjacent.
template <typename T>
class Im2colCorrelation {
 public:
  explicit Im2colCorrelation(const Correlation<T>& p)
      : p_(p),
        plane_(p.y.out * p.x.out),
        positions_(p.batch * plane_),
        blocks_{p.batch, p.y.out, 1, 1},
        window_(p, blocks_, p.x.step, 0),
        steps_(p.depth()),
        windows_(p.depth() * positions_),
        sums_(p.batch == 1 ? 0 : p.outputs * positions_) {
    fill_step_offsets(p, window_, steps_.get());
  }

  void run(const Workers& workers) const {
    if (p_.bias) fill_with_bias(p_, workers.run);
    BlockSource<T> source(p_, blocks_, window_);
    const int64_t tasks = wanted_tasks(4 * p_.depth() * positions_);
    for (int64_t group = 0; group < p_.groups; ++group) {
      source.copy(0, group);
      for_each_item(workers.run, p_.depth(), tasks, [&](int64_t begin, int64_t end) {
        for (int64_t step = begin; step < end; ++step) write_windows(source.get(), step);
      });
      multiply(group, workers);
      if (p_.batch == 1) continue;
      for_each_item(workers.run, p_.batch, tasks, [&](int64_t begin, int64_t end) {
        for (int64_t image = begin; image < end; ++image) store_image(image, group);
      });
    }
  }

 private:
  // What all outputs meet at one step of their sums, side by side.
  void write_windows(const T* source, int64_t step) const {
    T* target = windows_.get() + step * positions_;
    for (int64_t image = 0; image < p_.batch; ++image) {
      const T* from = source + image * window_.image + steps_.get()[step];
      for (int64_t i = 0; i < p_.y.out; ++i, target += p_.x.out) {
        copy_elements(from + i * p_.y.step * window_.row, target, p_.x.out);
      }
    }
  }

  // A single image has its outputs where the product can leave them; it adds them to the bias.
  void multiply(int64_t group, const Workers& workers) const {
    Gemm<T> product;
    product.m = p_.outputs;
    product.k = p_.depth();
    product.n = positions_;
    product.a = p_.weight_of(group, 0);
    product.a_row = p_.weight_output;
    product.b = windows_.get();
    product.b_row = positions_;
    product.c = p_.batch == 1 ? p_.output(0, group) : sums_.get();
    product.c_row = p_.batch == 1 ? p_.out_plane : positions_;
    product.accumulate = p_.batch == 1 && p_.bias;
    gemm(product, workers);
  }

  void store_image(int64_t image, int64_t group) const {
    for (int64_t m = 0; m < p_.outputs; ++m) {
      const T* from = sums_.get() + m * positions_ + image * plane_;
      T* target = p_.output(image, group) + m * p_.out_plane;
      for (int64_t i = 0; i < plane_; ++i) target[i] = p_.bias ? target[i] + from[i] : from[i];
    }
  }

  const Correlation<T>& p_;
  const int64_t plane_, positions_;
  const Blocks blocks_;
  const Window window_;
  const Block<int32_t> steps_;
  const Block<T> windows_, sums_;
};

}  // namespace
}  // namespace extensor::EX_ISA
