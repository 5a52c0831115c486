#pragma once

#include "../tables.h"

namespace extensor::EX_ISA {

MaxPooling max_pooling();
MeanPooling mean_pooling();

}  // namespace extensor::EX_ISA
