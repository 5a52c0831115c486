#pragma once

#include "tables.h"

namespace extensor::EX_ISA {

PoolingKernels pooling_kernels();

}  // namespace extensor::EX_ISA
