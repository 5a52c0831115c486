#pragma once

#include "../simd/simd.h"
#include "../tables.h"

namespace extensor::EX_ISA {

std::span<const Cumulative> cumulative_kernels();

}  // namespace extensor::EX_ISA
