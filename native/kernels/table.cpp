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
      .elementwise = {arithmetic_kernels(), function_kernels(), activation_kernels()},
      .integers = integer_kernels(),
      .binary_rules = binary_rules(),
      .reductions = reductions(),
      .integer_reductions = integer_reductions(),
      .integer_search = integer_search(),
      .softmaxes = softmax_kernels(),
      .cumulatives = cumulative_kernels(),
      .logsumexp = logsumexp_kernel(),
      .float16 = half_format<Float16Format>(),
      .bfloat16 = half_format<BFloat16Format>(),
      .gemm_float32 = gemm,
      .gemm_float64 = gemm,
      .gemm_bfloat16 = gemm,
      .random = random_fills(),
      .updates = update_kernels(),
      .lamb = lamb_kernel(),
      .norm = norm_kernel(),
      .cross_entropy = cross_entropy_kernels(),
      .function_rules = function_rules(),
      .where_rule = where_rule(),
      .logic = logic_kernels(),
      .arranged = arranged_kernels(),
      .extreme_rules = extreme_rules(),
      .product_rule = product_rule(),
      .search = search_kernel(),
      .losses = losses(),
      .copies = copy_kernels(),
      .indexing = index_kernels(),
      .convolution_float32 = convolution_float32(),
      .convolution_float64 = convolution_float64(),
      .max_pooling = max_pooling(),
      .mean_pooling = mean_pooling(),
      .normalization = normalization_kernels(),
      .row_normalization = row_normalization_kernels(),
      .column_normalization = column_normalization_kernels(),
      .recurrent = recurrent_kernels(),
      .attention = attention_kernels(),
  };
  return gathered;
}

}  // namespace extensor::EX_ISA
