#pragma once

#include "../simd/simd.h"
#include "../tables.h"

namespace extensor::EX_ISA {

std::span<const UpdateKernel> update_kernels();
LambKernel lamb_kernel();
NormKernel norm_kernel();

}  // namespace extensor::EX_ISA
