#include "convolution.h"

#include "channels.h"
#include "col2im.h"
#include "dots.h"
#include "im2col.h"
#include "interleaved.h"
#include "pointwise.h"
#include "rows.h"
#include "weight.h"
#include "winograd.h"
#include "winograd_weight.h"

namespace extensor::EX_ISA {
namespace {

CorrelationAxis forward_axis(const WindowAxis& axis) {
  return {axis.in, axis.out, axis.stride, axis.kernel, -axis.padding, axis.dilation};
}

// The inputs `residue`, `residue` + stride, ... of an axis, as outputs of a correlation with the
// gradient: input y meets output (y + padding - k * dilation) / stride wherever that is whole,
// which is every so many k, the later the lower.
CorrelationAxis grad_x_axis(const WindowAxis& axis, int64_t residue) {
  CorrelationAxis result{axis.out, ceil_divide(axis.in - residue, axis.stride), 1, 0, 0, 1};
  result.reversed = true;
  for (int64_t k = 0; k < axis.kernel; ++k) {
    const int64_t distance = residue + axis.padding - k * axis.dilation;
    if (distance % axis.stride != 0) continue;
    if (result.taps == 0) {
      result.kernel_first = k;
    } else if (result.taps == 1) {
      result.kernel_spacing = k - result.kernel_first;
      result.spacing = result.kernel_spacing * axis.dilation / axis.stride;
    }
    result.first = distance / axis.stride;
    ++result.taps;
  }
  return result;
}

// What sums of `depth` products cost by each way, in products: channels are transposed afterwards,
// rows read a new tile. Fitted to the times of first layers and of 1 x 1 layers with AVX2.
struct SumCost {
  int64_t by_rows, by_channels;
};
SumCost cost_of_sums(int64_t depth) { return {depth + 5, depth + 21}; }

// Whether the positions of a row in the lanes of vectors beat channels there, which may fill them
// worse.
template <typename T>
bool prefers_rows(int64_t outputs, int64_t columns, SumCost cost) {
  const int64_t lanes = kLanes<T>;
  return 8 * cost.by_channels * round_up(outputs, lanes) * columns >
         9 * cost.by_rows * outputs * round_up(columns, lanes);
}

template <typename T>
void correlate(const Correlation<T>& p, const Workers& workers) {
  if (p.batch == 0) return;
  if (is_pointwise(p) && is_worth_a_product(p)) return correlate_pointwise(p, workers);
  const bool winograd = suits_winograd(p);
  if (is_worth_im2col(p, winograd)) return Im2colCorrelation<T>(p).run(workers);
  if (prefers_rows<T>(p.outputs, p.x.out, cost_of_sums(p.depth()))) {
    return correlate_rows(p, workers.run);
  }
  if (winograd) {
    return WinogradCorrelation<T>(p, wanted_tasks(p.cost())).run(workers.run);
  }
  correlate_channels(p, workers.run);
}

template <typename T>
Correlation<T> forward_correlation(const Convolution& shape) {
  Correlation<T> p{};
  p.batch = shape.batch;
  p.groups = shape.groups;
  p.channels = shape.in_channels / shape.groups;
  p.outputs = shape.out_channels / shape.groups;
  p.y = forward_axis(shape.y);
  p.x = forward_axis(shape.x);
  p.weight_row = shape.x.kernel;
  p.kernel_size = shape.y.kernel * shape.x.kernel;
  p.weight_channel = p.kernel_size;
  p.weight_output = p.channels * p.weight_channel;
  p.weight_group = p.outputs * p.weight_output;
  p.out_plane = shape.y.out * shape.x.out;
  p.out_row = shape.x.out;
  p.out_column = 1;
  return p;
}

template <typename T>
void forward(const Convolution& shape, const T* x, const T* weight, const T* bias, T* out,
             const Workers& workers) {
  Correlation<T> p = forward_correlation<T>(shape);
  p.source = x;
  p.weight = weight;
  p.bias = bias;
  p.out = out;
  correlate(p, workers);
}

// Whether some inputs along the axis meet no output, because the stride is larger than the kernel.
bool has_gaps(const WindowAxis& axis) {
  for (int64_t residue = 0; residue < minimum(axis.stride, axis.in); ++residue) {
    if (grad_x_axis(axis, residue).taps == 0) return true;
  }
  return false;
}

// For a stride of 1 or 2.
Residues grad_x_residues(const WindowAxis& axis) {
  Residues result{axis.stride, {}};
  for (int64_t i = 0; i < result.count; ++i) result.axes[i] = grad_x_axis(axis, i);
  return result;
}

// Returns whether it could.
template <typename T>
bool correlate_interleaved(const Convolution& shape, const Correlation<T>& p,
                           const Workers& workers) {
  if (p.channels > 1 || p.outputs > 1 || shape.x.stride != 2 || shape.y.stride > 2) return false;
  const Residues y = grad_x_residues(shape.y), x = grad_x_residues(shape.x);
  if (p.batch == 0 || !InterleavedCorrelation<T>::suits(y, x)) return false;
  InterleavedCorrelation<T>(p, y, x).run(workers.run);
  return true;
}

template <typename T>
void grad_x(const Convolution& shape, const T* gradient, const T* weight, const T* bias, T* out,
            const Workers& workers) {
  Correlation<T> p = forward_correlation<T>(shape);
  p.channels = shape.out_channels / shape.groups;
  p.outputs = shape.in_channels / shape.groups;
  p.weight_channel = p.outputs * p.kernel_size;
  p.weight_output = p.kernel_size;
  p.source = gradient;
  p.weight = weight;
  p.bias = bias;
  p.out_plane = shape.y.in * shape.x.in;
  p.out = out;
  p.out_row = shape.y.stride * shape.x.in;
  p.out_column = shape.x.stride;
  p.y = grad_x_axis(shape.y, 0);
  p.x = grad_x_axis(shape.x, 0);
  if (is_worth_col2im(shape) && !suits_winograd(p)) {
    return Col2imGradient<T>(shape, gradient, weight, bias, out).run(workers.run);
  }
  if (correlate_interleaved(shape, p, workers)) return;
  if (has_gaps(shape.y) || has_gaps(shape.x)) {
    for (int64_t plane = 0; plane < shape.batch * shape.in_channels; ++plane) {
      const T value = bias ? bias[plane % shape.in_channels] : T{0};
      for (int64_t i = 0; i < p.out_plane; ++i) out[plane * p.out_plane + i] = value;
    }
  }
  for (int64_t i = 0; i < minimum(shape.y.stride, shape.y.in); ++i) {
    for (int64_t j = 0; j < minimum(shape.x.stride, shape.x.in); ++j) {
      p.y = grad_x_axis(shape.y, i);
      p.x = grad_x_axis(shape.x, j);
      p.out = out + i * shape.x.in + j;
      if (p.taps() > 0) correlate(p, workers);
    }
  }
}

template <typename T>
void grad_weight(const Convolution& shape, const T* gradient, const T* x, T* out,
                 const Workers& workers) {
  Correlation<T> p = forward_correlation<T>(shape);
  p.source = x;
  if (p.batch == 0) {
    memset(out, 0, p.groups * p.weight_group * sizeof(T));
    return;
  }
  if (prefers_rows<T>(p.outputs, p.x.out, {1, 1})) {
    return grad_weight_rows(p, gradient, out, workers.run);
  }
  if (is_worth_winograd_weight(p)) {
    return WinogradGradWeight<T>(p, gradient, out, wanted_tasks(p.cost())).run(workers.run);
  }
  grad_weight_channels(p, gradient, out, workers.run);
}

}  // namespace

ConvolutionKernel<float> convolution_float32() {
  return {forward<float>, grad_x<float>, grad_weight<float>};
}

ConvolutionKernel<double> convolution_float64() {
  return {forward<double>, grad_x<double>, grad_weight<double>};
}

}  // namespace extensor::EX_ISA
