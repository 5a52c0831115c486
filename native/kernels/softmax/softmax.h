#pragma once

#include "../simd/simd.h"
#include "../tables.h"

namespace extensor::EX_ISA {

std::span<const RowKernel> softmax_kernels();
LogSumExp logsumexp_kernel();

}  // namespace extensor::EX_ISA
