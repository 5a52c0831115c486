#pragma once

#include "../simd/simd.h"
#include "../tables.h"

namespace extensor::EX_ISA {

RandomFills random_fills();

}  // namespace extensor::EX_ISA
