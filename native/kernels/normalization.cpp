// Normalization of a group of elements by its mean and variance, and its rule. A group is read
// several times; groups of usual sizes stay in a cache meanwhile, so memory sees one pass.
#include "normalization.h"

#include <algorithm>
#include <cmath>

#include "row_reductions.h"

namespace extensor::EX_ISA {
namespace {

constexpr int64_t kBlock = 2048;  // elements whose sums are all taken while they are close by

// Calls body(segment, offset of the first element, elements) for all blocks.
template <typename Body>
EX_INLINE void for_each_block(const Segments& group, Body body) {
  for (int64_t segment = 0; segment < group.count; ++segment) {
    for (int64_t i = 0; i < group.length; i += kBlock) {
      body(segment, segment * group.stride + i, std::min(kBlock, group.length - i));
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
  for_each_block(group, [&](int64_t, int64_t offset, int64_t n) {
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
  for_each_block(group, [&](int64_t, int64_t offset, int64_t n) {
    total += row_sum<T>(n, [&](auto access, int64_t i, Vec<T>) {
      return access.or_zero(access.load(x + offset, i) - first);
    });
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
  for_each_block(group, [&](int64_t segment, int64_t offset, int64_t n) {
    const Vec<T> weight = number_of(affine.weight, segment, affine, T(1));
    const Vec<T> bias = number_of(affine.bias, segment, affine, T(0));
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> unit = centred(access.load(x + offset, i)) * scale;
      access.store(out + offset, i, unit * weight + bias);
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

template <typename T, bool kGuarded>
RuleSums<T> sum_block(const T* g, const T* x, int64_t n, const Moments& moments) {
  const Centred<T> centred(moments);
  const Vec<T> scale(static_cast<T>(moments.scale)), zero(T(0));
  const auto term = [&](auto access, int64_t i, const RuleSums<T>&) -> RuleSums<T> {
    const Vec<T> distance = centred(access.load(x, i)), given = access.load(g, i);
    return {access.or_zero(distance * distance), given,
            chain_guarded<kGuarded>(given, distance * scale)};
  };
  return reduce_term_tree<T>(0, n, RuleSums<T>{zero, zero, zero}, term,
                             [](auto a, auto b) { return a + b; });
}

template <typename T>
double sum_gradients(const void* gradient, const void* source, const Segments& group,
                     const Moments& moments, double* plain, double* along) {
  const T *g = static_cast<const T*>(gradient), *x = static_cast<const T*>(source);
  double square = 0;
  std::fill_n(plain, group.count, 0.0);
  std::fill_n(along, group.count, 0.0);
  for_each_block(group, [&](int64_t segment, int64_t offset, int64_t n) {
    RuleSums<T> sums = sum_block<T, false>(g + offset, x + offset, n, moments);
    if (!std::isfinite(horizontal_sum(sums.along))) {
      sums = sum_block<T, true>(g + offset, x + offset, n, moments);
    }
    square += horizontal_sum(sums.square);
    plain[segment] += horizontal_sum(sums.plain);
    along[segment] += horizontal_sum(sums.along);
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
  for_each_block(group, [&](int64_t segment, int64_t offset, int64_t n) {
    const Vec<T> weight = number_of(affine.weight, segment, affine, T(1));
    const Vec<T> slope = stretch * scale * scale;
    const bool finite = std::isfinite(weight[0] * scale[0]) && std::isfinite(shift[0] + slope[0]);
    if (finite && mean_along == 0) {  // x may not be finite then, and is not needed
      for_each_vector<T>(n, [&](auto access, int64_t i) {
        access.store(out + offset, i, (access.load(g + offset, i) * weight - shift) * scale);
      });
    } else if (finite) {
      for_each_vector<T>(n, [&](auto access, int64_t i) {
        const Vec<T> rest = (access.load(g + offset, i) * weight - shift) * scale;
        access.store(out + offset, i, rest - centred(access.load(x + offset, i)) * slope);
      });
    } else {
      for_each_vector<T>(n, [&](auto access, int64_t i) {
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
