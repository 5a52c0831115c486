#pragma once

#include "shape.h"

namespace extensor::EX_ISA {

ConvolutionKernel<float> convolution_float32();
ConvolutionKernel<double> convolution_float64();

}  // namespace extensor::EX_ISA
