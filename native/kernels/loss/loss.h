#pragma once

#include "../tables.h"

namespace extensor::EX_ISA {

std::span<const LossKernel> losses();

}  // namespace extensor::EX_ISA
