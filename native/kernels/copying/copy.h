#pragma once

#include "../tables.h"

namespace extensor::EX_ISA {

CopyKernels copy_kernels();

}  // namespace extensor::EX_ISA
