// Arithmetic and comparison of integers and booleans, a line each. Integers wrap around, as NumPy's
// do; plain loops, which the compiler turns into vectors.
#include "elementwise.h"

namespace extensor::EX_ISA {
namespace {

// An element as it is computed with. A byte that is not 0 is true, and not only 1.
template <typename T>
EX_INLINE auto element_at(const void* data, int64_t i) {
  if constexpr (std::is_same_v<T, bool>) {
    return static_cast<const uint8_t*>(data)[i] != 0;
  } else {
    return static_cast<const T*>(data)[i];
  }
}

template <typename T, size_t kInputs, typename Function>
void integer_pass(const void* const* inputs, void* const* outputs, int64_t n, const double*) {
  using Result = decltype([] {
    if constexpr (kInputs == 1) {
      return Function{}(T());
    } else {
      return Function{}(T(), T());
    }
  }());
  // Of a comparison a boolean, else the type of the inputs: sums of short types are ints in C++.
  using Stored = std::conditional_t<std::is_same_v<Result, bool>, bool, T>;
  Stored* const out = static_cast<Stored*>(outputs[0]);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (kInputs == 1) {
      out[i] = static_cast<Stored>(Function{}(element_at<T>(inputs[0], i)));
    } else {
      out[i] =
          static_cast<Stored>(Function{}(element_at<T>(inputs[0], i), element_at<T>(inputs[1], i)));
    }
  }
}

// where(condition, a, b)
template <typename T>
void choose(const void* const* inputs, void* const* outputs, int64_t n, const double*) {
  T* const out = static_cast<T*>(outputs[0]);
  for (int64_t i = 0; i < n; ++i) {
    out[i] =
        element_at<bool>(inputs[0], i) ? element_at<T>(inputs[1], i) : element_at<T>(inputs[2], i);
  }
}

// Of integers alone: booleans have no arithmetic of their own.
template <size_t kInputs, typename F>
constexpr IntegerKernel of_numbers(const char* name, Cost cost, F) {
  return {name,  kInputs,
          false, false,
          cost,  {nullptr, integer_pass<int32_t, kInputs, F>, integer_pass<int64_t, kInputs, F>}};
}

template <typename F>
constexpr IntegerKernel comparison(const char* name, F) {
  return {name,
          2,
          false,
          true,
          Cost::light,
          {integer_pass<bool, 2, F>, integer_pass<int32_t, 2, F>, integer_pass<int64_t, 2, F>}};
}

// floor(a / b), and 0 where b is 0. -a wraps around where a / -1 would have no result.
template <typename T>
EX_INLINE T floored_quotient(T a, T b) {
  if (b == 0) return 0;
  if (b == -1) return -a;
  const T quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

// The remainder with the sign of b, and 0 where b is 0.
template <typename T>
EX_INLINE T floored_remainder(T a, T b) {
  if (b == 0 || b == -1) return 0;
  const T rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

constexpr IntegerKernel kKernels[] = {
    {"where", 3, true, false, Cost::light, {choose<bool>, choose<int32_t>, choose<int64_t>}},
    of_numbers<2>("add", Cost::light, [](auto a, auto b) { return a + b; }),
    of_numbers<2>("subtract", Cost::light, [](auto a, auto b) { return a - b; }),
    of_numbers<2>("multiply", Cost::light, [](auto a, auto b) { return a * b; }),
    of_numbers<2>("floor_divide", Cost::heavy,
                  [](auto a, auto b) { return floored_quotient(a, b); }),
    of_numbers<2>("modulo", Cost::heavy, [](auto a, auto b) { return floored_remainder(a, b); }),
    of_numbers<2>("maximum", Cost::light, [](auto a, auto b) { return a > b ? a : b; }),
    of_numbers<2>("minimum", Cost::light, [](auto a, auto b) { return a < b ? a : b; }),
    of_numbers<1>("negative", Cost::light, [](auto x) { return -x; }),
    of_numbers<1>("square", Cost::light, [](auto x) { return x * x; }),
    of_numbers<1>("abs", Cost::light, [](auto x) { return x < 0 ? -x : x; }),
    of_numbers<1>("sign", Cost::light, [](auto x) { return (x > 0) - (x < 0); }),
    comparison("equal", [](auto a, auto b) { return a == b; }),
    comparison("not_equal", [](auto a, auto b) { return a != b; }),
    comparison("less", [](auto a, auto b) { return a < b; }),
    comparison("less_equal", [](auto a, auto b) { return a <= b; }),
    comparison("greater", [](auto a, auto b) { return a > b; }),
    comparison("greater_equal", [](auto a, auto b) { return a >= b; }),
};

}  // namespace

std::span<const IntegerKernel> integer_kernels() { return kKernels; }

}  // namespace extensor::EX_ISA
