// Measures the vector functions of native/kernels/math/math.h; driven by accuracy.py.
//
//   accuracy float NAME STEP     one block of 4096 in STEP of the 2^32 floats, 1: all, each against
//                                the C library in double
//   accuracy double NAME         doubles from standard input to results on standard output
//   accuracy reference NAME      the same by the C library
//   accuracy lanes NAME          the same input in every lane and among any neighbours: same bits?
//   accuracy time NAME           nanoseconds per element, float32 and float64
//   accuracy names
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "kernels/math/math.h"

namespace ex = extensor::EX_ISA;
using ex::Vec;

namespace {

// The reference in double: at least 2^-45 relative for every function, a millionth of a float ulp.
double reference_erfc_scaled(double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); }
double reference_pdf(double x) { return std::exp(-0.5 * x * x) * 0.3989422804014326779; }
double reference_sigmoid(double x) {
  double e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1.0) / (1.0 + e);
}
double reference_softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}
double reference_mish(double x) { return x < -700 ? -0.0 : x * std::tanh(reference_softplus(x)); }
double reference_selu(double x) {
  return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
}
double cubic(double x) { return 1.5957691216057307117 * (x + 0.044715 * x * x * x); }
// 0 times infinity and infinity less infinity at the ends are limits, not NaN.
double product(double a, double b) { return b == 0 ? std::copysign(0.0, a) * 1.0 : a * b; }
double reference_gelu_derivative(double x) {
  if (x > 40) return 1.0;
  if (x < -40) return -0.0;
  if (x < -3) {
    // Phi(x) + x phi(x) cancels here: phi(x) (M - t) in long double.
    long double t = -x;
    return static_cast<double>(0.5L * erfcl(t * sqrtl(0.5L)) -
                               t * expl(-0.5L * t * t) * 0.398942280401432677939946L);
  }
  return reference_erfc_scaled(x) + x * reference_pdf(x);
}
double reference_silu_derivative(double x) {
  if (x > 700) return 1.0;
  if (x < -700) return -0.0;
  double s = reference_sigmoid(x);
  return s * (1.0 + x * reference_sigmoid(-x));
}
double reference_mish_derivative(double x) {
  if (x > 700) return 1.0;
  if (x < -700) return -0.0;
  double q = std::tanh(reference_softplus(x));
  double e = std::exp(-std::fabs(x));
  double rest = x < 0 ? 2.0 / (e * (e + 2.0) + 2.0) : 2.0 * e * e / (1.0 + 2.0 * e + 2.0 * e * e);
  return q + x * reference_sigmoid(x) * rest * (1.0 + q);
}
double reference_gelu_tanh_derivative(double x) {
  if (x > 30) return 1.0;
  if (x < -30) return -0.0;
  double s = reference_sigmoid(cubic(x)), r = reference_sigmoid(-cubic(x));
  return s * (1.0 + x * r * 1.5957691216057307117 * (1.0 + 0.134145 * x * x));
}

struct Function {
  std::string name;
  std::function<void(const float*, float*, size_t)> single;
  std::function<void(const double*, double*, size_t)> twice;
  double (*reference)(double);
  double low, high;  // the range timed
};

// Derivatives cross zero between -3 and 0: no digit of the result is better than those of the terms
// that cancel, so there an error counts in ulp of 1/8 at least.
bool crosses_zero(const Function& function, double x) {
  return x > -3 && x < 0 && function.name.find("derivative") != std::string::npos;
}

template <typename T, typename Apply>
__attribute__((noinline)) void map(const T* input, T* output, size_t count, Apply apply) {
  for (size_t i = 0; i < count; i += Vec<T>::size) {
    apply(Vec<T>::load(input + i)).store(output + i);
  }
}

#define ENTRY(name, expression, low, high)                                                        \
  Function {                                                                                      \
    #name,                                                                                        \
        [](const float* a, float* b, size_t n) {                                                  \
          map(a, b, n, [](Vec<float> x) __attribute__((always_inline)) { return ex::name(x); });  \
        },                                                                                        \
        [](const double* a, double* b, size_t n) {                                                \
          map(a, b, n, [](Vec<double> x) __attribute__((always_inline)) { return ex::name(x); }); \
        },                                                                                        \
        [](double x) -> double { return expression; }, low, high                                  \
  }

// Functions of two arguments, one of them fixed or derived from the other.
#define ENTRY2(label, call, expression, low, high)                                    \
  Function {                                                                          \
    #label,                                                                           \
        [](const float* a, float* b, size_t n) {                                      \
          using T = float;                                                            \
          map(a, b, n, [](Vec<T> x) __attribute__((always_inline)) { return call; }); \
        },                                                                            \
        [](const double* a, double* b, size_t n) {                                    \
          using T = double;                                                           \
          map(a, b, n, [](Vec<T> x) __attribute__((always_inline)) { return call; }); \
        },                                                                            \
        [](double x) -> double { return expression; }, low, high                      \
  }

const std::vector<Function> functions = {
    ENTRY(exp, std::exp(x), -10, 10),
    ENTRY(exp2, std::exp2(x), -10, 10),
    ENTRY(expm1, std::expm1(x), -3, 3),
    ENTRY(log, std::log(x), 0, 10),
    ENTRY(log2, std::log2(x), 0, 10),
    ENTRY(log10, std::log10(x), 0, 10),
    ENTRY(log1p, std::log1p(x), 0, 10),
    ENTRY(rsqrt, 1.0 / std::sqrt(x), 0, 10),
    ENTRY(sin, std::sin(x), -10, 10),
    ENTRY(cos, std::cos(x), -10, 10),
    ENTRY(tan, std::tan(x), -10, 10),
    ENTRY(asin, std::asin(x), -1, 1),
    ENTRY(acos, std::acos(x), -1, 1),
    ENTRY(atan, std::atan(x), -10, 10),
    ENTRY(sinh, std::sinh(x), -5, 5),
    ENTRY(cosh, std::cosh(x), -5, 5),
    ENTRY(tanh, std::tanh(x), -4, 4),
    ENTRY(asinh, std::asinh(x), -10, 10),
    ENTRY(acosh, std::acosh(x), 1, 10),
    ENTRY(atanh, std::atanh(x), -1, 1),
    ENTRY(erf, std::erf(x), -3, 3),
    ENTRY(erfc, std::erfc(x), -3, 3),
    ENTRY(normal_cdf, reference_erfc_scaled(x), -4, 4),
    ENTRY(normal_pdf, reference_pdf(x), -4, 4),
    ENTRY(sigmoid, reference_sigmoid(x), -8, 8),
    ENTRY(silu, product(x, reference_sigmoid(x)), -8, 8),
    ENTRY(silu_derivative, reference_silu_derivative(x), -8, 8),
    ENTRY(softplus, reference_softplus(x), -8, 8),
    ENTRY(selu, reference_selu(x), -8, 8),
    ENTRY(softsign, std::isinf(x) ? std::copysign(1.0, x) : x / (1.0 + std::fabs(x)), -8, 8),
    ENTRY(mish, reference_mish(x), -8, 8),
    ENTRY(mish_derivative, reference_mish_derivative(x), -8, 8),
    ENTRY(gelu, product(x, reference_erfc_scaled(x)), -4, 4),
    ENTRY(gelu_derivative, reference_gelu_derivative(x), -4, 4),
    ENTRY(gelu_tanh, product(x, reference_sigmoid(cubic(x))), -4, 4),
    ENTRY(gelu_tanh_derivative, reference_gelu_tanh_derivative(x), -4, 4),
    ENTRY2(pow_2_3, ex::pow(x, Vec<T>(T(2.3f))), std::pow(x, double(2.3f)), 0, 10),
    ENTRY2(pow_minus_3, ex::pow(x, Vec<T>(T(-3))), std::pow(x, -3.0), -10, 10),
    ENTRY2(pow_base, ex::pow(Vec<T>(T(1.7f)), x), std::pow(double(1.7f), x), -10, 10),
    ENTRY2(atan2_y, ex::atan2(x, Vec<T>(T(-0.7f))), std::atan2(x, double(-0.7f)), -10, 10),
    ENTRY2(atan2_x, ex::atan2(Vec<T>(T(0.7f)), x), std::atan2(double(0.7f), x), -10, 10),
};

float from_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// The distance from the exact value in units of the last place of the exact value, infinity for a
// wrong special value or sign of zero. An infinite result counts as 2^128.
double ulp_error(float computed, double exact) {
  double magnitude = std::fabs(exact), got = std::fabs(static_cast<double>(computed));
  if (std::signbit(exact) != std::signbit(computed) && !std::isnan(exact)) return HUGE_VAL;
  if (!(magnitude < 0x1p128) || !(got < 0x1p128)) {
    if (std::isnan(exact) || std::isnan(computed)) {
      return std::isnan(exact) && std::isnan(computed) ? 0.0 : HUGE_VAL;
    }
    if (std::isinf(got) && magnitude >= 0x1p128) return 0.0;
    if (std::isinf(magnitude)) return HUGE_VAL;
    got = std::min(got, 0x1p128);
    magnitude = std::min(magnitude, 0x1p128);
  }
  // 2^(23 - exponent) from the bits of the exact value.
  uint64_t exponent = __builtin_bit_cast(uint64_t, std::max(magnitude, 0x1p-126)) >> 52;
  double scale = __builtin_bit_cast(double, (2 * uint64_t{1023} + 23 - exponent) << 52);
  return std::fabs(got - magnitude) * scale;
}

struct Worst {
  double error = -1;
  float input = 0;
  uint64_t wrong = 0;

  void add(const Function& function, float x, float computed) {
    double exact = function.reference(x);
    double found = ulp_error(computed, exact);
    if (std::fabs(exact) < 0.125 && crosses_zero(function, x)) {
      found = std::fabs(computed - exact) * 0x1p26;
    }
    if (std::isinf(found)) ++wrong;
    if (found > error) {
      error = found;
      input = x;
    }
  }
};

// Every float of the chosen blocks goes to the C library. The blocks are drawn by a fixed hash, so
// that a step meets every exponent and both ends of none.
void check_float(const Function& function, uint64_t step) {
  constexpr size_t kBlock = 4096;
  constexpr uint64_t kBlocks = (uint64_t{1} << 32) / kBlock;
  std::atomic<uint64_t> next = 0;
  std::vector<Worst> worsts(std::max(1u, std::thread::hardware_concurrency()));
  auto work = [&](Worst& worst) {
    std::vector<float> input(kBlock), output(kBlock);
    for (uint64_t block = next++; block < kBlocks; block = next++) {
      if ((block * 0x9e3779b97f4a7c15 >> 32) % step != 0) continue;
      for (size_t i = 0; i < kBlock; ++i) {
        input[i] = from_bits(static_cast<uint32_t>(block * kBlock + i));
      }
      function.single(input.data(), output.data(), kBlock);
      for (size_t i = 0; i < kBlock; ++i) worst.add(function, input[i], output[i]);
    }
  };
  std::vector<std::thread> threads;
  for (Worst& worst : worsts) threads.emplace_back(work, std::ref(worst));
  for (std::thread& thread : threads) thread.join();
  // What a step may miss.
  Worst all;
  for (float x : {0.0f, -0.0f, HUGE_VALF, -HUGE_VALF, NAN, 0x1p-149f, -0x1p-149f, 0x1p-126f, 1.0f,
                  -1.0f, 0x1.fffffep127f, -0x1.fffffep127f, 80.0f, -80.0f, 104.0f, -104.0f}) {
    std::vector<float> same(64, x), output(64);
    function.single(same.data(), output.data(), 64);
    all.add(function, x, output[0]);
  }
  for (const Worst& worst : worsts) {
    if (worst.error > all.error) all.error = worst.error, all.input = worst.input;
    all.wrong += worst.wrong;
  }
  std::printf("%.4f %a %llu\n", all.error, all.input, static_cast<unsigned long long>(all.wrong));
}

void evaluate_double(const Function& function, bool by_library) {
  std::vector<double> input;
  double value;
  while (std::fread(&value, sizeof(value), 1, stdin) == 1) input.push_back(value);
  size_t count = input.size();
  input.resize(count + 64, 1.0);
  std::vector<double> output(input.size());
  if (by_library) {
    std::transform(input.begin(), input.end(), output.begin(), function.reference);
  } else {
    function.twice(input.data(), output.data(), (count + 7) / 8 * 8);
  }
  std::fwrite(output.data(), sizeof(double), count, stdout);
}

template <typename T, typename Bits, typename Call>
uint64_t lane_differences(Call call, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(-140, 140);
  auto draw = [&] {
    switch (random() % 4) {
      case 0: {
        Bits bits = static_cast<Bits>(random());
        T value;
        std::memcpy(&value, &bits, sizeof(value));
        return value;
      }
      case 1:
        return static_cast<T>(std::exp2(exponent(random)));
      default:
        return static_cast<T>(exponent(random) / 10);
    }
  };
  uint64_t differences = 0;
  std::vector<T> input(64), output(64), alone(64), single(64);
  for (int round = 0; round < 20000; ++round) {
    for (T& x : input) x = draw();
    call(input.data(), output.data(), 64);
    for (int i = 0; i < 16; ++i) {
      std::fill(alone.begin(), alone.end(), input[i]);
      call(alone.data(), single.data(), 64);
      if (std::isnan(output[i]) && std::isnan(single[0])) continue;
      if (std::memcmp(&output[i], &single[0], sizeof(T)) != 0) ++differences;
    }
  }
  return differences;
}

template <typename T, typename Call>
double nanoseconds(const Function& function, Call call) {
  constexpr size_t kCount = 4096;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(function.low, function.high);
  std::vector<T> input(kCount), output(kCount);
  for (T& x : input) x = static_cast<T>(uniform(random));
  double best = HUGE_VAL;
  for (int round = 0; round < 300; ++round) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 10; ++i) call(input.data(), output.data(), kCount);
    std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / (10 * kCount));
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  std::string mode = argc > 1 ? argv[1] : "names";
  if (mode == "names") {
    for (const Function& function : functions) std::printf("%s\n", function.name.c_str());
    return 0;
  }
  for (const Function& function : functions) {
    if (argc < 3 || function.name != argv[2]) continue;
    if (mode == "float") check_float(function, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
    if (mode == "double" || mode == "reference") evaluate_double(function, mode == "reference");
    if (mode == "lanes") {
      std::printf("%llu\n", static_cast<unsigned long long>(
                                lane_differences<float, uint32_t>(function.single, 1) +
                                lane_differences<double, uint64_t>(function.twice, 2)));
    }
    if (mode == "time") {
      std::printf("%.3f %.3f\n", nanoseconds<float>(function, function.single),
                  nanoseconds<double>(function, function.twice));
    }
    return 0;
  }
  std::fprintf(stderr, "usage: accuracy names | float|double|lanes|time NAME [STEP]\n");
  return 2;
}
