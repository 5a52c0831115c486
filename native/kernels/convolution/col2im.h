// The gradient of x for few channels and large kernels without padding, as in LeNet's second layer:
// the products of the weights and the gradient of each image are written out, one row for each
// element of a kernel, and added to the inputs that they belong to. A correlation would multiply
// the weights by the zeros around the gradient.
#pragma once

#include <algorithm>

#include "../matrix/gemm_plan.h"
#include "window.h"

namespace extensor::EX_ISA {
namespace {

// The products of an image should fit into L2.
inline constexpr int64_t kMostProducts = 1 << 17;

// Inputs from the one that the first output begins at to the one that the last does.
inline int64_t length_of_run(const Convolution& shape) {
  return (shape.y.out - 1) * shape.x.in + shape.x.out;
}

// Whether the sums over the zeros around the gradient would cost more than to write out and add the
// products, which takes as long as 8 multiplications of each. Measured.
inline bool is_worth_col2im(const Convolution& shape) {
  const auto is_plain = [](const WindowAxis& axis) {
    return axis.stride == 1 && axis.padding == 0;
  };
  const int64_t taps = shape.y.kernel * shape.x.kernel, run = length_of_run(shape);
  const int64_t channels = shape.in_channels / shape.groups;
  const int64_t outputs = shape.out_channels / shape.groups;
  return is_plain(shape.y) && is_plain(shape.x) && taps > 1 &&
         channels * taps * run <= kMostProducts &&
         4 * run * (outputs + 8) < 5 * shape.y.in * shape.x.in * outputs;
}

// Rows of the gradient end with zeros, as long as those of x. So the products of an element of the
// kernel are one run of inputs, which begins where the element is.
template <typename T>
class Col2imGradient {
 public:
  Col2imGradient(const Convolution& shape, const T* gradient, const T* weight, const T* bias,
                 T* out)
      : shape_(shape),
        channels_(shape.in_channels / shape.groups),
        outputs_(shape.out_channels / shape.groups),
        rows_(channels_ * shape.y.kernel * shape.x.kernel),
        run_(length_of_run(shape)),
        gradient_(gradient),
        weight_(weight),
        bias_(bias),
        out_(out) {}

  void run(ParallelFor run) const {
    const int64_t items = shape_.batch * shape_.groups;
    for_each_item(run, items, wanted_tasks(2 * items * rows_ * run_ * outputs_),
                  [&](int64_t begin, int64_t end) {
                    Block<T> gradient(outputs_ * run_), products(rows_ * run_);
                    std::fill_n(gradient.get(), outputs_ * run_, T{0});
                    for (int64_t i = begin; i < end; ++i) {
                      spread(i, gradient.get());
                      multiply(i % shape_.groups, gradient.get(), products.get());
                      add(i, products.get());
                    }
                  });
  }

 private:
  // `index` counts the groups of all images.
  void spread(int64_t index, T* target) const {
    const T* from = gradient_ + index * outputs_ * shape_.y.out * shape_.x.out;
    for (int64_t m = 0; m < outputs_; ++m) {
      for (int64_t i = 0; i < shape_.y.out; ++i, from += shape_.x.out) {
        copy_elements(from, target + m * run_ + i * shape_.x.in, shape_.x.out);
      }
    }
  }

  void multiply(int64_t group, const T* gradient, T* products) const {
    Gemm<T> product;
    product.m = rows_;
    product.k = outputs_;
    product.n = run_;
    product.a = weight_ + group * outputs_ * rows_;
    product.a_row = 1;
    product.a_column = rows_;
    product.b = gradient;
    product.b_row = run_;
    product.c = products;
    product.c_row = run_;
    gemm(product, Workers{});
  }

  void add(int64_t index, const T* products) const {
    const int64_t inputs = shape_.y.in * shape_.x.in;
    for (int64_t c = 0; c < channels_; ++c) {
      T* plane = out_ + (index * channels_ + c) * inputs;
      const int64_t channel = index % shape_.groups * channels_ + c;
      std::fill_n(plane, inputs, bias_ ? bias_[channel] : T{0});
      for (int64_t s = 0; s < shape_.y.kernel; ++s) {
        T* row = plane + s * shape_.y.dilation * shape_.x.in;
        for (int64_t t = 0; t < shape_.x.kernel; ++t, products += run_) {
          T* target = row + t * shape_.x.dilation;
          for (int64_t i = 0; i < run_; ++i) target[i] += products[i];
        }
      }
    }
  }

  const Convolution& shape_;
  const int64_t channels_, outputs_, rows_, run_;
  const T *gradient_, *weight_, *bias_;
  T* out_;
};

}  // namespace
}  // namespace extensor::EX_ISA
