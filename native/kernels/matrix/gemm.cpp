#include "gemm_bfloat16.h"
#include "gemm_run.h"

namespace extensor::EX_ISA {

EXTENSOR_DEFINE_GEMM(float)
EXTENSOR_DEFINE_GEMM(double)
EXTENSOR_DEFINE_GEMM(BFloat16)

}  // namespace extensor::EX_ISA
