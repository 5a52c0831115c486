// Convolutions, the gradients of their inputs and weights, and all gradients of one at once.
#pragma once

#include "../door/call.h"
#include "reduction.h"

namespace extensor {

// A convolution of two arrays, with or without a bias for each channel of the result.
struct ConvolutionProblem {
  Convolution shape;
  bool has_bias;
  Layout first, second, bias;  // float32 or float64, all of one dtype
};

// x, weight, bias
void run_convolution(const ConvolutionProblem& problem, const Buffers& buffers);
// gradient, weight, bias
void run_convolution_grad_x(const ConvolutionProblem& problem, const Buffers& buffers);
// gradient, x
void run_convolution_grad_weight(const ConvolutionProblem& problem, const Buffers& buffers);

// The gradients of x, weight and bias that are asked for. Where the convolution is transposed,
// `shape` is that of the one whose input the gradient is and whose output x is.
struct ConvolutionRuleProblem {
  Convolution shape;
  Layout gradient, x, weight;  // float32 or float64, all of one dtype
  ReductionProblem bias;       // of the gradient in C order
};

// gradient, x, weight
void run_convolution_rule(const ConvolutionRuleProblem& problem, const Buffers& buffers);
void run_transposed_convolution_rule(const ConvolutionRuleProblem& problem, const Buffers& buffers);

// About how long one of the products takes.
int64_t nanoseconds_of(const Convolution& shape);

}  // namespace extensor
