#include "convolution.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "copying.h"

namespace extensor {
namespace {

void run_tasks(int64_t tasks, void (*body)(void* context, int64_t task), void* context) {
  parallel_for(tasks, body, context);
}

Workers workers() { return {num_threads(), run_tasks}; }

template <typename T>
const ConvolutionKernel<T>& kernel();
template <>
const ConvolutionKernel<float>& kernel() {
  return kernels().convolution_float32;
}
template <>
const ConvolutionKernel<double>& kernel() {
  return kernels().convolution_float64;
}

template <typename T>
bool are_finite(const T* numbers, int64_t n) {
  double largest = 0;
  kernels().norm.raise_to_largest[sizeof(T) == sizeof(double)](numbers, n, largest);
  return std::isfinite(largest);
}

// The gradient of one plane of x, term by term: no weight meets a zero that the gradient has not.
template <typename T>
void add_terms(const Convolution& shape, const T* gradient, const T* weight, int64_t next_output,
               T* plane) {
  const WindowAxis &y = shape.y, &x = shape.x;
  for (int64_t output = 0; output < shape.out_channels / shape.groups; ++output) {
    for (int64_t tap = 0; tap < y.kernel * x.kernel; ++tap) {
      const T factor = weight[output * next_output + tap];
      const int64_t top = tap / x.kernel * y.dilation - y.padding;
      const int64_t left = tap % x.kernel * x.dilation - x.padding;
      for (int64_t i = 0; i < y.out; ++i) {
        const int64_t row = i * y.stride + top;
        if (row < 0 || row >= y.in) continue;
        for (int64_t j = 0; j < x.out; ++j) {
          const int64_t column = j * x.stride + left;
          if (column < 0 || column >= x.in) continue;
          plane[row * x.in + column] += factor * gradient[(output * y.out + i) * x.out + j];
        }
      }
    }
  }
}

// The planes of the channels that have weights which are no numbers, computed again.
template <typename T>
void correct_grad_x(const Convolution& shape, const T* gradient, const T* weight, const T* bias,
                    T* out) {
  const int64_t taps = shape.y.kernel * shape.x.kernel, size = shape.y.in * shape.x.in;
  const int64_t channels = shape.in_channels / shape.groups;
  const int64_t outputs = shape.out_channels / shape.groups;
  const int64_t next_output = channels * taps;
  parallel_for(shape.batch * shape.in_channels, [&](int64_t task) {
    const int64_t image = task / shape.in_channels, channel = task % shape.in_channels;
    const int64_t first_output = channel / channels * outputs;
    const T* weights = weight + first_output * next_output + channel % channels * taps;
    bool finite = true;
    for (int64_t output = 0; output < outputs; ++output) {
      finite = finite && are_finite(weights + output * next_output, taps);
    }
    if (finite) return;
    T* plane = out + task * size;
    std::fill_n(plane, size, T{0});
    add_terms(shape,
              gradient + (image * shape.out_channels + first_output) * shape.y.out * shape.x.out,
              weights, next_output, plane);
    for (int64_t i = 0; bias != nullptr && i < size; ++i) plane[i] += bias[channel];
  });
}

template <typename T>
void compute_grad_x(const Convolution& shape, const T* gradient, const T* weight, const T* bias,
                    T* out) {
  kernel<T>().grad_x(shape, gradient, weight, bias, out, workers());
  // The kernel multiplies weights with zeros around the gradient, which is right for numbers alone.
  const int64_t weights =
      shape.out_channels * (shape.in_channels / shape.groups) * shape.y.kernel * shape.x.kernel;
  if (!are_finite(weight, weights)) correct_grad_x(shape, gradient, weight, bias, out);
}

// Calls `compute` with a number of the type that an array has.
template <typename Compute>
void with_type(DType dtype, const Compute& compute) {
  dtype == DType::float32 ? compute(float{}) : compute(double{});
}

// Calls `compute` with the two arrays and the bias, or null, in C order, and the result.
template <typename Compute>
void run_with_bias(const ConvolutionProblem& problem, const Buffers& buffers,
                   const Compute& compute) {
  const Contiguous first(problem.first, buffers.inputs[0]);
  const Contiguous second(problem.second, buffers.inputs[1]);
  std::optional<Contiguous> bias;
  if (problem.has_bias) bias.emplace(problem.bias, buffers.inputs[2]);
  with_type(problem.first.dtype, [&](auto zero) {
    using T = decltype(zero);
    compute(first.as<T>(), second.as<T>(), bias ? bias->as<T>() : nullptr,
            reinterpret_cast<T*>(buffers.outputs[0]));
  });
}

template <typename T, bool kTransposed>
void compute_rule(const ConvolutionRuleProblem& problem, const Buffers& buffers) {
  T* const grad_x = reinterpret_cast<T*>(buffers.outputs[0]);
  T* const grad_weight = reinterpret_cast<T*>(buffers.outputs[1]);
  const Contiguous contiguous(problem.gradient, buffers.inputs[0]);
  const T* const gradient = contiguous.as<T>();
  if (grad_x != nullptr) {
    const Contiguous weight(problem.weight, buffers.inputs[2]);
    if constexpr (kTransposed) {
      kernel<T>().forward(problem.shape, gradient, weight.as<T>(), nullptr, grad_x, workers());
    } else {
      compute_grad_x<T>(problem.shape, gradient, weight.as<T>(), nullptr, grad_x);
    }
  }
  if (grad_weight != nullptr) {
    const Contiguous x(problem.x, buffers.inputs[1]);
    kernel<T>().grad_weight(problem.shape, kTransposed ? x.as<T>() : gradient,
                            kTransposed ? gradient : x.as<T>(), grad_weight, workers());
  }
  if (buffers.outputs[2] != nullptr) {
    run_reduction(problem.bias, contiguous.data(), buffers.outputs[2]);
  }
}

}  // namespace

void run_convolution(const ConvolutionProblem& problem, const Buffers& buffers) {
  run_with_bias(problem, buffers, [&](auto* x, auto* weight, auto* bias, auto* out) {
    kernel<std::remove_pointer_t<decltype(out)>>().forward(problem.shape, x, weight, bias, out,
                                                           workers());
  });
}

void run_convolution_grad_x(const ConvolutionProblem& problem, const Buffers& buffers) {
  run_with_bias(problem, buffers, [&](auto* gradient, auto* weight, auto* bias, auto* out) {
    compute_grad_x(problem.shape, gradient, weight, bias, out);
  });
}

void run_convolution_grad_weight(const ConvolutionProblem& problem, const Buffers& buffers) {
  run_with_bias(problem, buffers, [&](auto* gradient, auto* x, auto*, auto* out) {
    kernel<std::remove_pointer_t<decltype(out)>>().grad_weight(problem.shape, gradient, x, out,
                                                               workers());
  });
}

void run_convolution_rule(const ConvolutionRuleProblem& problem, const Buffers& buffers) {
  with_type(problem.gradient.dtype,
            [&](auto zero) { compute_rule<decltype(zero), false>(problem, buffers); });
}

void run_transposed_convolution_rule(const ConvolutionRuleProblem& problem,
                                     const Buffers& buffers) {
  with_type(problem.gradient.dtype,
            [&](auto zero) { compute_rule<decltype(zero), true>(problem, buffers); });
}

int64_t nanoseconds_of(const Convolution& shape) {
  return shape.batch * shape.out_channels * shape.y.out * shape.x.out * shape.y.kernel *
         shape.x.kernel * (shape.in_channels / shape.groups) / 32;
}

}  // namespace extensor
