// Normalization of a group of elements by its mean and variance, and its rule. A group is read
// several times; groups of usual sizes stay in a cache meanwhile, so memory sees one pass.
#include <cmath>

#include "tile.h"

namespace extensor::EX_ISA {
namespace {

// Calls body(segment, offset of its first element) for all segments.
template <typename Body>
EX_INLINE void for_each_segment(const Segments& group, Body body) {
  for (int64_t segment = 0; segment < group.count; ++segment) {
    body(segment, segment * group.stride);
  }
}

// The sums over a segment to which add_terms(access, i, sums) adds.
template <typename T, size_t kSums, typename AddTerms>
EX_INLINE std::array<double, kSums> sum_segment(const Segments& group, AddTerms add_terms) {
  const auto sums = RowTile<T, 1>{group.length, group.length}.template sum<kSums>(
      [&](auto access, int64_t i, int, auto& sums) { add_terms(access, i, sums); });
  std::array<double, kSums> result;
  for (size_t s = 0; s < kSums; ++s) result[s] = sums[s][0];
  return result;
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
  for_each_segment(group, [&](int64_t, int64_t offset) {
    total += sum_segment<T, 1>(group, [&](auto access, int64_t i, auto& sums) {
      const Vec<T> distance = access.or_zero(centred(access.load(x + offset, i)));
      sums[0] = fma(distance, distance, sums[0]);
    })[0];
  });
  return total / static_cast<double>(group.count * group.length);
}

template <typename T>
Moments find_mean(const void* source, const Segments& group) {
  const T* x = static_cast<const T*>(source);
  const Vec<T> first(x[0]);
  double total = 0;
  for_each_segment(group, [&](int64_t, int64_t offset) {
    total += sum_segment<T, 1>(group, [&](auto access, int64_t i, auto& sums) {
      sums[0] += access.or_zero(access.load(x + offset, i) - first);
    })[0];
  });
  const double shift = static_cast<T>(total / static_cast<double>(group.count * group.length));
  return {static_cast<double>(x[0]), shift, 0, 1};
}

template <typename T>
Moments find_moments(const void* source, const Segments& group, double eps) {
  Moments moments = find_mean<T>(source, group);
  moments.variance = mean_square(static_cast<const T*>(source), group, moments);
  moments.scale = 1 / std::sqrt(moments.variance + eps);
  return moments;
}

// The number of a segment, of a weight or a bias.
template <typename T>
Vec<T> number_of(const void* numbers, int64_t segment, const Affine& affine, T otherwise) {
  if (numbers == nullptr) return Vec<T>(otherwise);
  return Vec<T>(static_cast<const T*>(numbers)[segment * affine.step]);
}

template <typename T>
void normalize(const void* source, const Segments& group, const Moments& moments,
               const Affine& affine, void* target) {
  const T* x = static_cast<const T*>(source);
  T* out = static_cast<T*>(target);
  const Centred<T> centred(moments);
  const Vec<T> scale(static_cast<T>(moments.scale));
  for_each_segment(group, [&](int64_t segment, int64_t offset) {
    const Vec<T> weight = number_of(affine.weight, segment, affine, T(1));
    const Vec<T> bias = number_of(affine.bias, segment, affine, T(0));
    for_each_vector<T>(group.length, [&](auto access, int64_t i) {
      const Vec<T> unit = centred(access.load(x + offset, i)) * scale;
      access.store(out + offset, i, unit * weight + bias);
    });
  });
}

// The sums over a segment of the squared distances, of the gradients, and of those times the
// normalized elements.
template <bool kGuarded, typename T>
std::array<double, 3> sum_gradient(const T* g, const T* x, const Segments& group,
                                   const Moments& moments) {
  const Centred<T> centred(moments);
  const Vec<T> scale(static_cast<T>(moments.scale));
  return sum_segment<T, 3>(group, [&](auto access, int64_t i, auto& sums) {
    const Vec<T> distance = access.or_zero(centred(access.load(x, i))), given = access.load(g, i);
    sums[0] = fma(distance, distance, sums[0]);
    sums[1] += given;
    sums[2] = plus_chained<kGuarded>(sums[2], given, distance * scale);
  });
}

template <typename T>
double sum_gradients(const void* gradient, const void* source, const Segments& group,
                     const Moments& moments, double* plain, double* along) {
  const T *g = static_cast<const T*>(gradient), *x = static_cast<const T*>(source);
  double square = 0;
  for_each_segment(group, [&](int64_t segment, int64_t offset) {
    auto sums = sum_gradient<false>(g + offset, x + offset, group, moments);
    if (!std::isfinite(sums[2])) sums = sum_gradient<true>(g + offset, x + offset, group, moments);
    square += sums[0];
    plain[segment] = sums[1];
    along[segment] = sums[2];
  });
  return square / static_cast<double>(group.count * group.length);
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
  for_each_segment(group, [&](int64_t segment, int64_t offset) {
    const Vec<T> weight = number_of(affine.weight, segment, affine, T(1));
    const Vec<T> slope = stretch * scale * scale;
    const bool finite = std::isfinite(weight[0] * scale[0]) && std::isfinite(shift[0] + slope[0]);
    if (finite && mean_along == 0) {  // x may not be finite then, and is not needed
      for_each_vector<T>(group.length, [&](auto access, int64_t i) {
        access.store(out + offset, i, (access.load(g + offset, i) * weight - shift) * scale);
      });
    } else if (finite) {
      for_each_vector<T>(group.length, [&](auto access, int64_t i) {
        const Vec<T> rest = (access.load(g + offset, i) * weight - shift) * scale;
        access.store(out + offset, i, rest - centred(access.load(x + offset, i)) * slope);
      });
    } else {
      for_each_vector<T>(group.length, [&](auto access, int64_t i) {
        const Vec<T> inner = chain(access.load(g + offset, i), weight);
        const Vec<T> unit = centred(access.load(x + offset, i)) * scale;
        access.store(out + offset, i, chain((inner - shift) - chain(stretch, unit), scale));
      });
    }
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
