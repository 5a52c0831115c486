#pragma once

#include <cstdint>

#include "../matrix/gemm.h"
#include "../window.h"

namespace extensor {

// Contiguous arrays: x is (batch, in_channels, y.in, x.in), weight (out_channels, in_channels /
// groups, y.kernel, x.kernel), the output (batch, out_channels, y.out, x.out). No extent is zero
// save that of the batch.
struct Convolution {
  int64_t batch, groups, in_channels, out_channels;
  WindowAxis y, x;
};

// The output, and from its gradient those of x and of the weight. The bias, or null, is added to
// each channel: also to the gradient of x, which is a layer of its own where convolutions are
// transposed. Results have the same bits for any number of threads.
template <typename T>
struct ConvolutionKernel {
  void (*forward)(const Convolution& shape, const T* x, const T* weight, const T* bias, T* out,
                  const Workers& workers);
  void (*grad_x)(const Convolution& shape, const T* gradient, const T* weight, const T* bias,
                 T* out, const Workers& workers);
  void (*grad_weight)(const Convolution& shape, const T* gradient, const T* x, T* out,
                      const Workers& workers);
};

}  // namespace extensor
