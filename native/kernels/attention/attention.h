#pragma once

#include "../simd/simd.h"
#include "../tables.h"

namespace extensor::EX_ISA {

AttentionKernels attention_kernels();

}  // namespace extensor::EX_ISA
