#pragma once

#include "tables.h"

namespace extensor::EX_ISA {

std::span<const ExtremeRule> extreme_rules();

}  // namespace extensor::EX_ISA
