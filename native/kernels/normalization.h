#pragma once

#include "simd.h"
#include "tables.h"

namespace extensor::EX_ISA {

NormalizationKernels normalization_kernels();
RowNormalizationKernels row_normalization_kernels();
ColumnNormalizationKernels column_normalization_kernels();

}  // namespace extensor::EX_ISA
