#pragma once

#include "simd.h"
#include "tables.h"

namespace extensor::EX_ISA {

std::span<const RowKernel> softmax_kernels();

}  // namespace extensor::EX_ISA
