#pragma once

#include "../tables.h"

namespace extensor::EX_ISA {

std::span<const BinaryRule> function_rules();
BinaryRule where_rule();

}  // namespace extensor::EX_ISA
