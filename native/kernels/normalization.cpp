// Normalization of a group of elements by its mean and variance, and its rule. A group is read
// several times; groups of usual sizes stay in a cache meanwhile, so memory sees one pass.
#include "normalization.h"

#include <algorithm>
#include <cmath>

#include "row_reductions.h"
#include "steps.h"

namespace extensor::EX_ISA {
namespace {

constexpr int64_t kBlock = 2048;  // elements whose sums are all taken while they are close by

// Calls body(segment, offset of the first element, place in the segment, elements) for all blocks.
template <typename Body>
EX_INLINE void for_each_block(const Segments& group, Body body) {
  for (int64_t segment = 0; segment < group.count; ++segment) {
    for (int64_t i = 0; i < group.length; i += kBlock) {
      body(segment, segment * group.stride + i, i, std::min(kBlock, group.length - i));
    }
  }
}

// How far the elements are from their mean, which is given as a step from the first of them: so
// equal elements have no distance at all, and far from 0 no digits are lost.
template <typename T>
struct Centred {
  Vec<T> first, shift;

  explicit Centred(const Moments& moments)
      : first(static_cast<T>(moments.first)), shift(static_cast<T>(moments.shift)) {}
  EX_INLINE Vec<T> operator()(Vec<T> x) const { return (x - first) - shift; }
};

template <typename T>
double mean_square(const T* x, const Segments& group, const Moments& moments) {
  const Centred<T> centred(moments);
  double total = 0;
  for_each_block(group, [&](int64_t, int64_t offset, int64_t, int64_t n) {
    total += row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
      const Vec<T> distance = centred(access.load(x + offset, i));
      return access.or_zero(distance * distance);
    });
  });
  return total / static_cast<double>(group.count * group.length);
}

template <typename T>
Moments find_mean(const void* source, const Segments& group) {
  const T* x = static_cast<const T*>(source);
  const Vec<T> first(x[0]);
  double total = 0;
  for_each_block(group, [&](int64_t, int64_t offset, int64_t, int64_t n) {
    total += row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
      return access.or_zero(access.load(x + offset, i) - first);
    });
  });
  const double shift = static_cast<T>(total / static_cast<double>(group.count * group.length));
  return {static_cast<double>(x[0]), shift, 0, 1};
}

template <typename T>
Moments find_moments(const void* source, const Segments& group, bool around_mean, double eps) {
  Moments moments = around_mean ? find_mean<T>(source, group) : Moments{0, 0, 0, 1};
  moments.variance = mean_square(static_cast<const T*>(source), group, moments);
  moments.scale = 1 / std::sqrt(moments.variance + eps);
  return moments;
}

// The weights and biases of one segment: a number for all its elements, or one for each.
template <typename T>
struct SegmentAffine {
  const T *weight, *bias;
  bool by_element;
  Vec<T> one_weight, one_bias;

  SegmentAffine(const Affine& affine, int64_t segment)
      : weight(static_cast<const T*>(affine.weight)),
        bias(static_cast<const T*>(affine.bias)),
        by_element(affine.by_element),
        one_weight(weight == nullptr || by_element ? T(1) : weight[segment * affine.step]),
        one_bias(bias == nullptr || by_element ? T(0) : bias[segment * affine.step]) {}
};

template <typename T>
void normalize(const void* source, const Segments& group, const Moments& moments,
               const Affine& affine, void* target) {
  const T* x = static_cast<const T*>(source);
  T* out = static_cast<T*>(target);
  const Centred<T> centred(moments);
  const Vec<T> scale(static_cast<T>(moments.scale));
  for_each_block(group, [&](int64_t segment, int64_t offset, int64_t begin, int64_t n) {
    const SegmentAffine<T> own(affine, segment);
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      Vec<T> y = centred(access.load(x + offset, i)) * scale;
      if (own.by_element) {
        if (own.weight != nullptr) y *= access.load(own.weight + begin, i);
        if (own.bias != nullptr) y += access.load(own.bias + begin, i);
      } else {
        y = y * own.one_weight + own.one_bias;
      }
      access.store(out + offset, i, y);
    });
  });
}

template <typename T>
struct RuleSums {
  Vec<T> square, plain, along;

  friend EX_INLINE RuleSums operator+(RuleSums a, RuleSums b) {
    return {a.square + b.square, a.plain + b.plain, a.along + b.along};
  }
};

// With a weight for each element the gradient of the normalized element is summed; with one for the
// segment, grad_output itself is.
template <typename T, bool kWeighted>
double sum_weighted(const T* g, const T* x, const Segments& group, const Moments& moments,
                    const T* weight, double* plain, double* along) {
  const Centred<T> centred(moments);
  const Vec<T> scale(static_cast<T>(moments.scale)), zero(T(0));
  double square = 0;
  std::fill_n(plain, group.count, 0.0);
  std::fill_n(along, group.count, 0.0);
  for_each_block(group, [&](int64_t segment, int64_t offset, int64_t begin, int64_t n) {
    const auto term = [&](auto access, int64_t i, const RuleSums<T>&) -> RuleSums<T> {
      const Vec<T> distance = centred(access.load(x + offset, i));
      Vec<T> inner = access.load(g + offset, i);
      if constexpr (kWeighted) inner = chain(inner, access.load(weight + begin, i));
      return {access.or_zero(distance * distance), inner, chain(inner, distance * scale)};
    };
    const RuleSums<T> sums = reduce_term_tree<T>(0, n, RuleSums<T>{zero, zero, zero}, term,
                                                 [](auto a, auto b) { return a + b; });
    square += horizontal_sum(sums.square);
    plain[segment] += horizontal_sum(sums.plain);
    along[segment] += horizontal_sum(sums.along);
  });
  return square / static_cast<double>(group.count * group.length);
}

template <typename T>
double sum_gradients(const void* gradient, const void* source, const Segments& group,
                     const Moments& moments, const Affine& affine, double* plain, double* along) {
  const T *g = static_cast<const T*>(gradient), *x = static_cast<const T*>(source);
  const T* weight = affine.by_element ? static_cast<const T*>(affine.weight) : nullptr;
  const auto sum = weight == nullptr ? sum_weighted<T, false> : sum_weighted<T, true>;
  return sum(g, x, group, moments, weight, plain, along);
}

template <typename T>
void find_gradient(const void* gradient, const void* source, const Segments& group,
                   const Moments& moments, const Affine& affine, double mean_plain,
                   double mean_along, void* target, void* to_weight, void* to_bias) {
  const T *g = static_cast<const T*>(gradient), *x = static_cast<const T*>(source);
  T* out = static_cast<T*>(target);
  const Centred<T> centred(moments);
  const Vec<T> scale(static_cast<T>(moments.scale)), shift(static_cast<T>(mean_plain));
  const Vec<T> stretch(static_cast<T>(mean_along));
  for_each_block(group, [&](int64_t segment, int64_t offset, int64_t begin, int64_t n) {
    const SegmentAffine<T> own(affine, segment);
    const bool by_element = own.by_element && own.weight != nullptr;
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> given = access.load(g + offset, i);
      const Vec<T> unit = centred(access.load(x + offset, i)) * scale;
      const auto add = [&](void* row, Vec<T> term) {
        T* sums = static_cast<T*>(row) + begin;
        access.store(sums, i, access.load(sums, i) + term);
      };
      if (to_weight != nullptr) add(to_weight, chain(given, unit));
      if (to_bias != nullptr) add(to_bias, given);
      if (out == nullptr) return;
      const Vec<T> weight = by_element ? access.load(own.weight + begin, i) : own.one_weight;
      const Vec<T> inner = chain(given, weight);
      access.store(out + offset, i, chain((inner - shift) - chain(stretch, unit), scale));
    });
  });
}

}  // namespace

NormalizationKernels normalization_kernels() {
  return {{find_moments<float>, find_moments<double>},
          {normalize<float>, normalize<double>},
          {find_mean<float>, find_mean<double>},
          {sum_gradients<float>, sum_gradients<double>},
          {find_gradient<float>, find_gradient<double>}};
}

}  // namespace extensor::EX_ISA
