// The families of elementwise kernels of one instruction set.
#pragma once

#include "../simd/simd.h"
#include "../tables.h"

namespace extensor::EX_ISA {

std::span<const Elementwise> arithmetic_kernels();
std::span<const Elementwise> function_kernels();
std::span<const Elementwise> activation_kernels();
std::span<const IntegerKernel> integer_kernels();
std::span<const BinaryRule> binary_rules();
const LogicKernels& logic_kernels();
const ArrangedKernels& arranged_kernels();

}  // namespace extensor::EX_ISA
