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
Moments find_moments(const void* source, const Segments& group, bool around_mean, double eps) {
  const T* x = static_cast<const T*>(source);
  Moments moments{0, 0, 0, 0};
  if (around_mean) {
    moments.first = static_cast<double>(x[0]);
    const Vec<T> first(x[0]);
    double total = 0;
    for_each_block(group, [&](int64_t, int64_t offset, int64_t, int64_t n) {
      total += row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
        return access.or_zero(access.load(x + offset, i) - first);
      });
    });
    moments.shift = static_cast<T>(total / static_cast<double>(group.count * group.length));
  }
  moments.variance = mean_square(x, group, moments);
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

// The sums that the rule needs of each segment. With a weight for each element the gradient of the
// normalized element is summed; with one for the segment, grad_output itself is.
template <typename T>
void sum_gradients(const void* gradient, const void* source, const Segments& group,
                   const Moments& moments, const Affine& affine, double* plain, double* along) {
  const T *g = static_cast<const T*>(gradient), *x = static_cast<const T*>(source);
  const Centred<T> centred(moments);
  const Vec<T> scale(static_cast<T>(moments.scale));
  const T* weight = affine.by_element ? static_cast<const T*>(affine.weight) : nullptr;
  std::fill_n(plain, group.count, 0.0);
  std::fill_n(along, group.count, 0.0);
  for_each_block(group, [&](int64_t segment, int64_t offset, int64_t begin, int64_t n) {
    const auto inner = [&](auto access, int64_t i) {
      const Vec<T> given = access.load(g + offset, i);
      return weight == nullptr ? given : chain(given, access.load(weight + begin, i));
    };
    plain[segment] += row_sum<T>(
        n, [&](auto access, int64_t i, Vec<T>) { return access.or_zero(inner(access, i)); });
    along[segment] += row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
      return access.or_zero(chain(inner(access, i), centred(access.load(x + offset, i)) * scale));
    });
  });
}

template <typename T>
void find_gradient(const void* gradient, const void* source, const Segments& group,
                   const Moments& moments, const Affine& affine, double mean_plain,
                   double mean_along, void* target) {
  const T *g = static_cast<const T*>(gradient), *x = static_cast<const T*>(source);
  T* out = static_cast<T*>(target);
  const Centred<T> centred(moments);
  const Vec<T> scale(static_cast<T>(moments.scale)), shift(static_cast<T>(mean_plain));
  const Vec<T> stretch(static_cast<T>(mean_along));
  for_each_block(group, [&](int64_t segment, int64_t offset, int64_t begin, int64_t n) {
    const SegmentAffine<T> own(affine, segment);
    const bool by_element = own.by_element && own.weight != nullptr;
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> weight = by_element ? access.load(own.weight + begin, i) : own.one_weight;
      const Vec<T> inner = chain(access.load(g + offset, i), weight);
      const Vec<T> unit = centred(access.load(x + offset, i)) * scale;
      access.store(out + offset, i, chain((inner - shift) - chain(stretch, unit), scale));
    });
  });
}

template <typename T>
void add_parameter_gradients(const void* gradient, const void* source, int64_t n,
                             const Moments& moments, void* to_weight, void* to_bias) {
  const Centred<T> centred(moments);
  const Vec<T> scale(static_cast<T>(moments.scale));
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    const Vec<T> given = access.load(gradient, i);
    if (to_weight != nullptr) {
      const Vec<T> unit = centred(access.load(source, i)) * scale;
      access.store(to_weight, i, access.load(to_weight, i) + chain(given, unit));
    }
    if (to_bias != nullptr) access.store(to_bias, i, access.load(to_bias, i) + given);
  });
}

}  // namespace

NormalizationKernels normalization_kernels() {
  return {{find_moments<float>, find_moments<double>},
          {normalize<float>, normalize<double>},
          {sum_gradients<float>, sum_gradients<double>},
          {find_gradient<float>, find_gradient<double>},
          {add_parameter_gradients<float>, add_parameter_gradients<double>}};
}

}  // namespace extensor::EX_ISA
