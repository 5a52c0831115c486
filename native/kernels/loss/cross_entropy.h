#pragma once

#include "../simd/simd.h"
#include "../tables.h"

namespace extensor::EX_ISA {

CrossEntropy cross_entropy_kernels();

}  // namespace extensor::EX_ISA
