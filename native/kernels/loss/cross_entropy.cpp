// Cross-entropy of class indices, straight from logits or from log-probabilities, a row at a time,
// and its rules.
#include "cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "../math/math.h"
#include "../reduction/row_reductions.h"
#include "../simd/steps.h"

namespace extensor::EX_ISA {
namespace {

// -log_softmax(x)[target] of each row, 0 for a row that is ignored.
template <typename T>
void losses(const void* logits, const int64_t* targets, int64_t rows, int64_t n, int64_t ignored,
            void* out) {
  for (int64_t row = 0; row < rows; ++row) {
    const T* x = static_cast<const T*>(logits) + row * n;
    T loss = 0;
    if (targets[row] != ignored) {
      const T top = row_max(x, n);
      const T total = row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
        return access.or_zero(exp(access.load(x, i) - Vec<T>(top)));
      });
      loss = std::log(total) - (x[targets[row]] - top);
    }
    static_cast<T*>(out)[row] = loss;
  }
}

// scale * (softmax(x) - one_hot(target)) of each row, zeros for a row that is ignored.
template <typename T>
void gradients(const void* logits, const int64_t* targets, int64_t rows, int64_t n, int64_t ignored,
               double scale, void* out) {
  for (int64_t row = 0; row < rows; ++row) {
    const T* x = static_cast<const T*>(logits) + row * n;
    T* gradient = static_cast<T*>(out) + row * n;
    const T share = targets[row] == ignored ? T(0) : static_cast<T>(scale);
    if (share == 0) {
      std::fill(gradient, gradient + n, T(0));
      continue;
    }
    const T top = row_max(x, n);
    const T total = row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
      Vec<T> power = exp(access.load(x, i) - Vec<T>(top));
      access.store(gradient, i, power);
      return access.or_zero(power);
    });
    const Vec<T> inverse(T(1) / total), factor(share);
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      access.store(gradient, i, factor * (access.load(gradient, i) * inverse));
    });
    gradient[targets[row]] -= share;
  }
}

// Weights of classes, which are all 1 if they are null.
template <typename T>
struct ClassWeights {
  const T* weights;

  T of(int64_t target) const { return weights == nullptr ? T(1) : weights[target]; }
  template <typename Access>
  EX_INLINE Vec<T> load(const Access& access, int64_t i) const {
    return weights == nullptr ? Vec<T>(T(1)) : access.load(weights, i);
  }
};

// -sum(q * log_softmax(x)) of each row, where q is weight * ((1 - smoothing) * one_hot + smoothing
// / n).
template <typename T>
void mixed_losses(const void* logits, const int64_t* targets, int64_t rows, int64_t n,
                  int64_t ignored, const void* given, double smoothing, void* out) {
  const ClassWeights<T> weights{static_cast<const T*>(given)};
  const T rest = static_cast<T>(1 - smoothing), even = static_cast<T>(smoothing / n);
  for (int64_t row = 0; row < rows; ++row) {
    const T* x = static_cast<const T*>(logits) + row * n;
    T loss = 0;
    if (targets[row] != ignored) {
      const T top = row_max(x, n);
      const T total = row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
        return access.or_zero(exp(access.load(x, i) - Vec<T>(top)));
      });
      const T logarithm = std::log(total), own = weights.of(targets[row]);
      if (own != 0) loss = rest * (own * (logarithm - (x[targets[row]] - top)));
      if (even != 0) {
        loss += even * row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
                  const Vec<T> term = Vec<T>(logarithm) - (access.load(x, i) - Vec<T>(top));
                  return access.or_zero(chain(weights.load(access, i), term));
                });
      }
    }
    static_cast<T*>(out)[row] = loss;
  }
}

// scale * (sum(q) * softmax(x) - q) of each row, zeros for a row that is ignored.
template <typename T>
void mixed_gradients(const void* logits, const int64_t* targets, int64_t rows, int64_t n,
                     int64_t ignored, const void* given, double smoothing, double scale,
                     void* out) {
  const ClassWeights<T> weights{static_cast<const T*>(given)};
  const T rest = static_cast<T>(1 - smoothing), even = static_cast<T>(smoothing / n);
  const T whole = row_sum<T>(
      n, [&](auto access, int64_t i, Vec<T>) { return access.or_zero(weights.load(access, i)); });
  for (int64_t row = 0; row < rows; ++row) {
    const T* x = static_cast<const T*>(logits) + row * n;
    T* gradient = static_cast<T*>(out) + row * n;
    const T share = targets[row] == ignored ? T(0) : static_cast<T>(scale);
    const T own = share == 0 ? T(0) : rest * weights.of(targets[row]);
    const Vec<T> factor(share * (own + even * whole)), equal(share * even);
    if (factor[0] == 0) {
      std::fill(gradient, gradient + n, T(0));
      continue;
    }
    const T top = row_max(x, n);
    const T total = row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
      Vec<T> power = exp(access.load(x, i) - Vec<T>(top));
      access.store(gradient, i, power);
      return access.or_zero(power);
    });
    const Vec<T> inverse(T(1) / total);
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> softmax = access.load(gradient, i) * inverse;
      access.store(gradient, i, factor * softmax - equal * weights.load(access, i));
    });
    gradient[targets[row]] -= share * own;
  }
}

// -x[target] of each row, 0 for a row that is ignored.
template <typename T>
void chosen(const void* logits, const int64_t* targets, int64_t rows, int64_t n, int64_t ignored,
            void* out) {
  const T* x = static_cast<const T*>(logits);
  for (int64_t row = 0; row < rows; ++row, x += n) {
    // From 0, as -0 would print a minus.
    static_cast<T*>(out)[row] = targets[row] == ignored ? T(0) : T(0) - x[targets[row]];
  }
}

// -scale at the target of each row, else zeros.
template <typename T>
void placed(const int64_t* targets, int64_t rows, int64_t n, int64_t ignored, double scale,
            void* out) {
  T* gradient = static_cast<T*>(out);
  std::fill(gradient, gradient + rows * n, T(0));
  for (int64_t row = 0; row < rows; ++row, gradient += n) {
    if (targets[row] != ignored) gradient[targets[row]] -= static_cast<T>(scale);
  }
}

}  // namespace

CrossEntropy cross_entropy_kernels() {
  return {{losses<float>, losses<double>},
          {gradients<float>, gradients<double>},
          {chosen<float>, chosen<double>},
          {placed<float>, placed<double>},
          {mixed_losses<float>, mixed_losses<double>},
          {mixed_gradients<float>, mixed_gradients<double>}};
}

}  // namespace extensor::EX_ISA
