#pragma once

#include "../tables.h"

namespace extensor::EX_ISA {

std::span<const ExtremeRule> extreme_rules();
SearchKernel search_kernel();

}  // namespace extensor::EX_ISA
