#pragma once

#include "../simd/simd.h"
#include "../tables.h"

namespace extensor::EX_ISA {

AxisRule product_rule();

}  // namespace extensor::EX_ISA
