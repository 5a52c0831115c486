#pragma once

#include "../tables.h"

namespace extensor::EX_ISA {

IndexKernels index_kernels();

}  // namespace extensor::EX_ISA
