// The kernels of one instruction set, gathered.
#include "attention/attention.h"
#include "convolution/convolution.h"
#include "copying/copy.h"
#include "elementwise/elementwise.h"
#include "elementwise/rules.h"
#include "indexing/indexing.h"
#include "loss/cross_entropy.h"
#include "loss/loss.h"
#include "normalization/normalization.h"
#include "optimizer/optimizer.h"
#include "pooling/pooling.h"
#include "random/random.h"
#include "recurrent/recurrent.h"
#include "reduction/cumulative.h"
#include "reduction/extremes.h"
#include "reduction/product.h"
#include "reduction/reduction.h"
#include "simd/half.h"
#include "softmax/softmax.h"

namespace extensor::EX_ISA {

namespace {

template <typename Format>
constexpr HalfFormat half_format() {
  return {[](const uint16_t* source, float* target, int64_t n) {
            half_to_float32<Format>(source, target, n);
          },
          [](const float* source, uint16_t* target, int64_t n) {
            float32_to_half<Format>(source, target, n);
          }};
}

}  // namespace

const KernelTable& table() {
  static const KernelTable gathered = {
      {arithmetic_kernels(), function_kernels(), activation_kernels()},
      binary_rules(),
      reductions(),
      softmax_kernels(),
      cumulative_kernels(),
      logsumexp_kernel(),
      half_format<Float16Format>(),
      half_format<BFloat16Format>(),
      gemm,
      gemm,
      gemm,
      random_fills(),
      update_kernels(),
      lamb_kernel(),
      norm_kernel(),
      cross_entropy_kernels(),
      function_rules(),
      where_rule(),
      logic_kernels(),
      arranged_kernels(),
      extreme_rules(),
      product_rule(),
      search_kernel(),
      losses(),
      copy_kernels(),
      index_kernels(),
      convolution_float32(),
      convolution_float64(),
      max_pooling(),
      mean_pooling(),
      normalization_kernels(),
      row_normalization_kernels(),
      column_normalization_kernels(),
      recurrent_kernels(),
      attention_kernels(),
  };
  return gathered;
}

}  // namespace extensor::EX_ISA
