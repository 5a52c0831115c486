#pragma once

#include "../simd/simd.h"
#include "../simd/steps.h"
#include "../tables.h"

namespace extensor::EX_ISA {

// The rules first do without the guard of `chain`: a zero times what is not finite makes their sums
// NaN, and only then they take it.
template <bool kGuarded, typename T>
EX_INLINE Vec<T> chain_guarded(Vec<T> gradient, Vec<T> derivative) {
  return kGuarded ? chain(gradient, derivative) : gradient * derivative;
}
template <bool kGuarded, typename T>
EX_INLINE Vec<T> plus_chained(Vec<T> sum, Vec<T> gradient, Vec<T> derivative) {
  return kGuarded ? sum + chain(gradient, derivative) : fma(gradient, derivative, sum);
}

NormalizationKernels normalization_kernels();
RowNormalizationKernels row_normalization_kernels();
ColumnNormalizationKernels column_normalization_kernels();

}  // namespace extensor::EX_ISA
