// What attention does to the scores of one query, between the products.
#include "attention.h"

#include <cmath>

#include "../math/math.h"
#include "../reduction/row_reductions.h"
#include "../simd/steps.h"

namespace extensor::EX_ISA {
namespace {

template <typename T, typename A>
EX_INLINE Vec<T> masked(const AttentionRow& row, A access, int64_t i, Vec<T> score) {
  score = score * Vec<T>(static_cast<T>(row.scale));
  const Vec<T> never(-static_cast<T>(__builtin_inf()));
  if (row.shown != nullptr) score = select(access.load_mask(row.shown, i), score, never);
  if (row.added != nullptr) score = score + access.load(row.added, i);
  return score;
}

template <typename T>
void clear_unseen(const AttentionRow& row, T* scores) {
  for (int64_t i = row.visible; i < row.keys; ++i) scores[i] = T(0);
}

template <typename T>
void weights(const AttentionRow& row, void* data, double& total, double& shift) {
  T* const scores = static_cast<T*>(data);
  for_each_vector<T>(row.visible, [&](auto access, int64_t i) {
    access.store(scores, i, masked<T>(row, access, i, access.load(scores, i)));
  });
  const T top = row.visible > 0 ? row_max(scores, row.visible) : T(0);
  shift = std::isfinite(top) ? top : T(0);
  const Vec<T> subtracted(static_cast<T>(shift));
  total = row_sum<T>(row.visible, [&](auto access, int64_t i, Vec<T>) {
    const Vec<T> power = exp(access.load(scores, i) - subtracted);
    access.store(scores, i, power);
    return access.or_zero(power);
  });
  clear_unseen(row, scores);
}

template <typename T>
void rule(const AttentionRow& row, double logarithm, double along, void* data, void* gradients) {
  T *const scores = static_cast<T*>(data), *const gradient = static_cast<T*>(gradients);
  const Vec<T> subtracted(logarithm == -__builtin_inf() ? T(0) : static_cast<T>(logarithm));
  const Vec<T> mean(static_cast<T>(along)), scale(static_cast<T>(row.scale));
  for_each_vector<T>(row.visible, [&](auto access, int64_t i) {
    const Vec<T> weight = exp(masked<T>(row, access, i, access.load(scores, i)) - subtracted);
    access.store(scores, i, weight);
    access.store(gradient, i, chain(access.load(gradient, i) - mean, weight) * scale);
  });
  clear_unseen(row, scores);
  clear_unseen(row, gradient);
}

template <typename T>
double chained_sum(const void* a, const void* b, int64_t n) {
  return row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
    return access.or_zero(chain(access.load(a, i), access.load(b, i)));
  });
}

template <typename T>
void divide(void* data, int64_t n, double divisor) {
  const Vec<T> by(static_cast<T>(divisor));
  for_each_vector<T>(
      n, [&](auto access, int64_t i) { access.store(data, i, access.load(data, i) / by); });
}

}  // namespace

AttentionKernels attention_kernels() {
  return {{weights<float>, weights<double>},
          {rule<float>, rule<double>},
          {chained_sum<float>, chained_sum<double>},
          {divide<float>, divide<double>}};
}

}  // namespace extensor::EX_ISA
