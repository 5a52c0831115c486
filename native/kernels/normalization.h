#pragma once

#include "simd.h"
#include "tables.h"

namespace extensor::EX_ISA {

NormalizationKernels normalization_kernels();

}  // namespace extensor::EX_ISA
