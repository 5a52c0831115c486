// Elementary functions and their rules: a line each.
#include "../math/math.h"
#include "../simd/pass.h"
#include "../simd/steps.h"
#include "elementwise.h"

namespace extensor::EX_ISA {
namespace {

constexpr double kLn2 = 0.69314718055994530942;
constexpr double kLn10 = 2.30258509299404568402;
constexpr double kTwoOverRootPi = 1.12837916709551257390;

// Without the cancellation of 1 - x^2 near 1.
template <typename V>
EX_INLINE V one_minus_square(V x) {
  return (V(1) - x) * (V(1) + x);
}

constexpr Elementwise kFunctions[] = {
    map<1, 0>("exp", Cost::medium, [](auto x) { return exp(x); }),
    map<2, 0>("exp_backward", Cost::light, [](auto g, auto y) { return chain(g, y); }),
    map<1, 0>("expm1", Cost::medium, [](auto x) { return expm1(x); }),
    map<2, 0>("expm1_backward", Cost::medium, [](auto g, auto x) { return chain(g, exp(x)); }),
    map<1, 0>("log", Cost::medium, [](auto x) { return log(x); }),
    map<2, 1>("log_backward", Cost::light,
              [](auto g, auto x, auto eps) { return over(g, x, eps); }),
    map<1, 0>("log2", Cost::medium, [](auto x) { return log2(x); }),
    map<2, 1>("log2_backward", Cost::light,
              [](auto g, auto x, auto eps) { return over(g, x * decltype(x)(kLn2), eps); }),
    map<1, 0>("log10", Cost::medium, [](auto x) { return log10(x); }),
    map<2, 1>("log10_backward", Cost::light,
              [](auto g, auto x, auto eps) { return over(g, x * decltype(x)(kLn10), eps); }),
    map<1, 0>("log1p", Cost::medium, [](auto x) { return log1p(x); }),
    map<2, 0>("log1p_backward", Cost::light,
              [](auto g, auto x) { return chain_over(g, x + decltype(x)(1)); }),
    map<1, 0>("sqrt", Cost::light, [](auto x) { return sqrt(x); }),
    map<2, 1>("sqrt_backward", Cost::light,
              [](auto g, auto y, auto eps) {
                // Adding 0 turns -0, the root of -0, into 0: the slope there is upwards too.
                return over(g, y + y + decltype(y)(0), eps);
              }),
    map<1, 0>("sin", Cost::medium, [](auto x) { return sin(x); }),
    map<2, 0>("sin_backward", Cost::medium, [](auto g, auto x) { return chain(g, cos(x)); }),
    map<1, 0>("cos", Cost::medium, [](auto x) { return cos(x); }),
    map<2, 0>("cos_backward", Cost::medium, [](auto g, auto x) { return chain(g, -sin(x)); }),
    map<1, 0>("rsqrt", Cost::medium, [](auto x) { return rsqrt(x); }),
    map<2, 0>("rsqrt_backward", Cost::light,
              [](auto g, auto y) { return chain(g, decltype(y)(-0.5) * y * y * y); }),
    map<1, 0>("tan", Cost::heavy, [](auto x) { return tan(x); }),
    map<2, 0>("tan_backward", Cost::light,
              [](auto g, auto y) { return chain(g, decltype(y)(1) + y * y); }),
    map<1, 0>("asin", Cost::heavy, [](auto x) { return asin(x); }),
    map<2, 0>("asin_backward", Cost::light,
              [](auto g, auto x) { return chain_over(g, sqrt(one_minus_square(x))); }),
    map<1, 0>("acos", Cost::heavy, [](auto x) { return acos(x); }),
    map<2, 0>("acos_backward", Cost::light,
              [](auto g, auto x) { return -chain_over(g, sqrt(one_minus_square(x))); }),
    map<1, 0>("atan", Cost::heavy, [](auto x) { return atan(x); }),
    map<2, 0>("atan_backward", Cost::light,
              [](auto g, auto x) { return chain_over(g, decltype(x)(1) + x * x); }),
    map<2, 0>("atan2", Cost::heavy, [](auto a, auto b) { return atan2(a, b); }),
    map<1, 0>("sinh", Cost::heavy, [](auto x) { return sinh(x); }),
    map<2, 0>("sinh_backward", Cost::heavy, [](auto g, auto x) { return chain(g, cosh(x)); }),
    map<1, 0>("cosh", Cost::heavy, [](auto x) { return cosh(x); }),
    map<2, 0>("cosh_backward", Cost::heavy, [](auto g, auto x) { return chain(g, sinh(x)); }),
    map<1, 0>("asinh", Cost::heavy, [](auto x) { return asinh(x); }),
    map<2, 0>("asinh_backward", Cost::light,
              [](auto g, auto x) {
                using V = decltype(x);
                const auto large = abs(x) > V(1);
                const V side = select(large, V(1) / x, x);
                return chain(g, select(large, abs(side), V(1)) / sqrt(V(1) + side * side));
              }),
    map<1, 0>("acosh", Cost::heavy, [](auto x) { return acosh(x); }),
    map<2, 0>("acosh_backward", Cost::light,
              [](auto g, auto x) {
                return chain_over(g, sqrt(x - decltype(x)(1)) * sqrt(x + decltype(x)(1)));
              }),
    map<1, 0>("atanh", Cost::heavy, [](auto x) { return atanh(x); }),
    map<2, 0>("atanh_backward", Cost::light,
              [](auto g, auto x) { return chain_over(g, one_minus_square(x)); }),
    map<2, 0>("power", Cost::heavy, [](auto a, auto b) { return pow(a, b); }),
    map<1, 0>("normal_cdf", Cost::medium, [](auto x) { return normal_cdf(x); }),
    map<2, 0>("normal_cdf_backward", Cost::medium,
              [](auto g, auto x) { return chain(g, normal_pdf(x)); }),
    map<1, 0>("normal_pdf", Cost::medium, [](auto x) { return normal_pdf(x); }),
    map<3, 0>("normal_pdf_backward", Cost::light,
              [](auto g, auto x, auto y) { return chain(g, -chain(y, x)); }),
    map<1, 0>("erf", Cost::medium, [](auto x) { return erf(x); }),
    map<2, 0>("erf_backward", Cost::medium,
              [](auto g, auto x) { return chain(g, decltype(x)(kTwoOverRootPi) * exp(-(x * x))); }),
};

}  // namespace

std::span<const Elementwise> function_kernels() { return kFunctions; }

}  // namespace extensor::EX_ISA
