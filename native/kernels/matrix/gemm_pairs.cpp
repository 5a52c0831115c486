// The product of bfloat16 for processors with AVX512-BF16: the only source compiled for v4bf16.
#include "gemm_bfloat16.h"
#include "gemm_run.h"

namespace extensor::EX_ISA {

EXTENSOR_DEFINE_GEMM(BFloat16)

}  // namespace extensor::EX_ISA
