#pragma once

#include "../simd/simd.h"
#include "../tables.h"

namespace extensor::EX_ISA {

std::span<const Reduction> reductions();

}  // namespace extensor::EX_ISA
