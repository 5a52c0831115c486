#pragma once

#include "../simd/simd.h"
#include "../tables.h"

namespace extensor::EX_ISA {

std::span<const Reduction> reductions();
std::span<const IntegerReduction> integer_reductions();
IntegerSearch integer_search();

}  // namespace extensor::EX_ISA
