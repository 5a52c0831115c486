// From a function of vectors to a pass over memory: the loop, its tail and the parameters, once for
// all elementwise kernels. The tail runs the same vector code on a padded vector, so an element's
// bits do not depend on its place.
#pragma once

#include <utility>

#include "../tables.h"
#include "simd.h"

namespace extensor::EX_ISA {

template <typename T>
using Bytes = Raw<uint8_t, Vec<T>::size>;

template <typename T>
EX_INLINE Mask<T> load_boolean(const uint8_t* source, int64_t count) {
  Bytes<T> bytes{};
  std::memcpy(&bytes, source, count);
  return {__builtin_convertvector(bytes, typename Mask<T>::RawType) != 0};
}

template <typename T>
EX_INLINE void store_boolean(uint8_t* target, Mask<T> mask, int64_t count) {
  Bytes<T> bytes = __builtin_convertvector(mask.raw & 1, Bytes<T>);
  std::memcpy(target, &bytes, count);
}

// Reads and writes `count` elements; full vectors are told apart at compile time.
template <typename T, bool kFull>
struct Access {
  int64_t count;

  EX_INLINE Vec<T> load(const void* source, int64_t i) const {
    const T* p = static_cast<const T*>(source) + i;
    if constexpr (kFull) return Vec<T>::load(p);
    return Vec<T>::load_partial(p, count);
  }
  // With `fill` in the lanes past the end.
  EX_INLINE Vec<T> load_or(const void* source, int64_t i, Vec<T> fill) const {
    if constexpr (kFull) return load(source, i);
    return Vec<T>::load_partial(static_cast<const T*>(source) + i, count, fill[0]);
  }
  // The same with 0 there, for a vector that was computed.
  EX_INLINE Vec<T> or_zero(Vec<T> x) const {
    if constexpr (kFull) return x;
    return select(Vec<T>::iota() < Vec<T>(static_cast<T>(count)), x, Vec<T>(T(0)));
  }
  EX_INLINE void store(void* target, int64_t i, Vec<T> x) const {
    T* p = static_cast<T*>(target) + i;
    if constexpr (kFull) {
      x.store(p);
    } else {
      x.store_partial(p, count);
    }
  }
  EX_INLINE void store(void* target, int64_t i, Mask<T> x) const {
    store_boolean<T>(static_cast<uint8_t*>(target) + i, x, kFull ? Vec<T>::size : count);
  }
  EX_INLINE Mask<T> load_mask(const void* source, int64_t i) const {
    return load_boolean<T>(static_cast<const uint8_t*>(source) + i, kFull ? Vec<T>::size : count);
  }
};

template <typename T, typename Step>
EX_INLINE void for_each_vector(int64_t n, Step step) {
  constexpr int64_t size = Vec<T>::size;
  int64_t i = 0;
#pragma GCC unroll 4
  for (; i + size <= n; i += size) step(Access<T, true>{size}, i);
  if (i < n) step(Access<T, false>{n - i}, i);
}

template <typename T, size_t kInputs, typename Function, size_t... kParameter>
void map_pass(const void* const* inputs, void* const* outputs, int64_t n, const double* parameters,
              std::index_sequence<kParameter...>) {
  [[maybe_unused]] const Vec<T> constants[sizeof...(kParameter) + 1] = {
      Vec<T>(static_cast<T>(parameters[kParameter]))...};
  const void* const in0 = inputs[0];
  const void* const in1 = kInputs > 1 ? inputs[1] : nullptr;
  const void* const in2 = kInputs > 2 ? inputs[2] : nullptr;
  void* const out = outputs[0];
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    if constexpr (kInputs == 1) {
      access.store(out, i, Function{}(access.load(in0, i), constants[kParameter]...));
    } else if constexpr (kInputs == 2) {
      access.store(out, i,
                   Function{}(access.load(in0, i), access.load(in1, i), constants[kParameter]...));
    } else {
      access.store(out, i,
                   Function{}(access.load(in0, i), access.load(in1, i), access.load(in2, i),
                              constants[kParameter]...));
    }
  });
}

template <typename T, size_t kInputs, size_t kParameters, typename Function>
constexpr Pass map_pass_of() {
  return [](const void* const* in, void* const* out, int64_t n, const double* p) {
    map_pass<T, kInputs, Function>(in, out, n, p, std::make_index_sequence<kParameters>{});
  };
}

// out = function(inputs..., parameters...), where the function is a lambda without captures.
template <size_t kInputs, size_t kParameters, typename F>
constexpr Elementwise map(const char* name, Cost cost, F, bool boolean = false) {
  return {name,
          kInputs,
          kParameters,
          false,
          boolean,
          cost,
          {map_pass_of<float, kInputs, kParameters, F>(),
           map_pass_of<double, kInputs, kParameters, F>()}};
}

// A kernel that takes only some parameters.
constexpr Elementwise accepting(bool (*accepts)(const double* parameters), Elementwise kernel) {
  kernel.accepts = accepts;
  return kernel;
}
constexpr bool is_positive(const double* parameters) { return parameters[0] > 0; }
constexpr bool are_ordered(const double* bounds) { return bounds[0] <= bounds[1]; }

enum class Wanted { both, first, second };

template <typename T, Wanted kWanted, typename Function, size_t... kParameter>
void rule_pass(const void* const* inputs, void* const* outputs, int64_t n, const double* parameters,
               std::index_sequence<kParameter...>) {
  [[maybe_unused]] const Vec<T> constants[sizeof...(kParameter) + 1] = {
      Vec<T>(static_cast<T>(parameters[kParameter]))...};
  const void *const gradient = inputs[0], *const a = inputs[1], *const b = inputs[2];
  void *const out_a = outputs[0], *const out_b = outputs[1];
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    auto [grad_a, grad_b] = Function{}(access.load(gradient, i), access.load(a, i),
                                       access.load(b, i), constants[kParameter]...);
    if constexpr (kWanted != Wanted::second) access.store(out_a, i, grad_a);
    if constexpr (kWanted != Wanted::first) access.store(out_b, i, grad_b);
  });
}

template <typename T, Wanted kWanted, size_t kParameters, typename Function>
constexpr Pass rule_pass_of() {
  return [](const void* const* in, void* const* out, int64_t n, const double* p) {
    rule_pass<T, kWanted, Function>(in, out, n, p, std::make_index_sequence<kParameters>{});
  };
}

// Both gradients of a binary op: the lambda takes (grad_output, a, b, parameters...) and returns a
// pair.
template <size_t kParameters, typename F>
constexpr BinaryRule binary_rule(const char* name, Cost cost, F) {
  return {name,
          kParameters,
          cost,
          {rule_pass_of<float, Wanted::both, kParameters, F>(),
           rule_pass_of<double, Wanted::both, kParameters, F>()},
          {rule_pass_of<float, Wanted::first, kParameters, F>(),
           rule_pass_of<double, Wanted::first, kParameters, F>()},
          {rule_pass_of<float, Wanted::second, kParameters, F>(),
           rule_pass_of<double, Wanted::second, kParameters, F>()}};
}

}  // namespace extensor::EX_ISA
