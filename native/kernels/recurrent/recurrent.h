#pragma once

#include "../simd/simd.h"
#include "../tables.h"

namespace extensor::EX_ISA {

RecurrentKernels recurrent_kernels();

}  // namespace extensor::EX_ISA
