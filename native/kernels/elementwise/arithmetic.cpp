// Arithmetic, rounding, comparison and their rules: a line each.
#include "../math/modulo.h"
#include "../simd/pass.h"
#include "../simd/steps.h"
#include "elementwise.h"

namespace extensor::EX_ISA {
namespace {

// where(condition, a, b): the first input is a byte for each element.
template <typename T>
void where_pass(const void* const* inputs, void* const* outputs, int64_t n, const double*) {
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    access.store(outputs[0], i,
                 select(access.load_mask(inputs[0], i), access.load(inputs[1], i),
                        access.load(inputs[2], i)));
  });
}

// x * scale where the mask, a byte for each element, is true, else 0.
template <typename T>
void masked_scale_pass(const void* const* inputs, void* const* outputs, int64_t n,
                       const double* scale) {
  const Vec<T> factor(static_cast<T>(*scale));
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    access.store(
        outputs[0], i,
        select(access.load_mask(inputs[0], i), access.load(inputs[1], i) * factor, Vec<T>(T(0))));
  });
}

template <typename T>
EX_INLINE Mask<T> is_true(Vec<T> x) {
  return x != Vec<T>(T(0));
}

constexpr Elementwise kArithmetic[] = {
    {"where", 3, 0, true, false, Cost::light, {where_pass<float>, where_pass<double>}},
    {"masked_scale",
     2,
     1,
     true,
     false,
     Cost::light,
     {masked_scale_pass<float>, masked_scale_pass<double>}},
    map<2, 0>("add", Cost::light, [](auto a, auto b) { return a + b; }),
    map<2, 0>("subtract", Cost::light, [](auto a, auto b) { return a - b; }),
    map<2, 0>("multiply", Cost::light, [](auto a, auto b) { return a * b; }),
    map<2, 0>("divide", Cost::light, [](auto a, auto b) { return a / b; }),
    map<2, 0>("floor_divide", Cost::medium, [](auto a, auto b) { return divided(a, b).quotient; }),
    map<2, 0>("modulo", Cost::medium, [](auto a, auto b) { return divided(a, b).remainder; }),
    map<2, 0>("maximum", Cost::light, [](auto a, auto b) { return maximum(a, b); }),
    map<2, 0>("minimum", Cost::light, [](auto a, auto b) { return minimum(a, b); }),
    map<2, 0>("chain_rule", Cost::light, [](auto g, auto d) { return chain(g, d); }),
    map<2, 0>("chain_divide", Cost::light, [](auto g, auto d) { return chain_over(g, d); }),
    map<1, 1>("lift", Cost::light, [](auto x, auto least) { return lifted(x, least); }),
    map<1, 0>("negative", Cost::light, [](auto x) { return -x; }),
    map<1, 0>("reciprocal", Cost::light, [](auto x) { return decltype(x)(1) / x; }),
    map<2, 0>("reciprocal_backward", Cost::light, [](auto g, auto y) { return -chain(g, y * y); }),
    map<1, 0>("square", Cost::light, [](auto x) { return x * x; }),
    map<2, 0>("square_backward", Cost::light, [](auto g, auto x) { return chain(g, x + x); }),
    map<1, 0>("abs", Cost::light, [](auto x) { return abs(x); }),
    map<2, 0>("abs_backward", Cost::light, [](auto g, auto x) { return chain(g, sign(x)); }),
    map<1, 0>("sign", Cost::light, [](auto x) { return sign(x); }),
    map<1, 0>("ceil", Cost::light, [](auto x) { return ceil(x); }),
    map<1, 0>("floor", Cost::light, [](auto x) { return floor(x); }),
    map<1, 0>("round", Cost::light, [](auto x) { return rint(x); }),
    map<1, 0>("trunc", Cost::light, [](auto x) { return trunc(x); }),
    accepting(are_ordered, map<1, 2>("clip", Cost::light,
                                     [](auto x, auto low, auto high) {
                                       return minimum(maximum(x, low), high);
                                     })),
    map<2, 2>("clip_backward", Cost::light,
              [](auto g, auto x, auto low, auto high) {
                return select((x >= low) & (x <= high), g, decltype(g)(0));
              }),
    map<2, 0>(
        "equal", Cost::light, [](auto a, auto b) { return a == b; }, true),
    map<2, 0>(
        "not_equal", Cost::light, [](auto a, auto b) { return a != b; }, true),
    map<2, 0>(
        "less", Cost::light, [](auto a, auto b) { return a < b; }, true),
    map<2, 0>(
        "less_equal", Cost::light, [](auto a, auto b) { return a <= b; }, true),
    map<2, 0>(
        "greater", Cost::light, [](auto a, auto b) { return a > b; }, true),
    map<2, 0>(
        "greater_equal", Cost::light, [](auto a, auto b) { return a >= b; }, true),
    map<1, 0>(
        "isnan", Cost::light, [](auto x) { return isnan(x); }, true),
    map<1, 0>(
        "isinf", Cost::light, [](auto x) { return abs(x) == decltype(x)(__builtin_inf()); }, true),
    map<1, 0>(
        "isfinite", Cost::light, [](auto x) { return abs(x) < decltype(x)(__builtin_inf()); },
        true),
};

constexpr LogicKernels kLogic = {
    map<2, 0>(
        "logical_and", Cost::light, [](auto a, auto b) { return is_true(a) & is_true(b); }, true),
    map<2, 0>(
        "logical_or", Cost::light, [](auto a, auto b) { return is_true(a) | is_true(b); }, true),
    map<2, 0>(
        "logical_xor", Cost::light, [](auto a, auto b) { return is_true(a) ^ is_true(b); }, true),
    map<1, 0>(
        "logical_not", Cost::light, [](auto x) { return ~is_true(x); }, true),
};

constexpr BinaryRule kBinaryRules[] = {
    binary_rule<0>("multiply_backward", Cost::light,
                   [](auto g, auto a, auto b) { return Two{chain(g, b), chain(g, a)}; }),
    binary_rule<1>("divide_backward", Cost::light,
                   [](auto g, auto a, auto b, auto eps) {
                     auto quotient = over(g, b, eps);
                     return Two{quotient, -times(quotient, a / lifted(b, eps), eps)};
                   }),
    binary_rule<0>(
        "modulo_backward", Cost::medium,
        [](auto g, auto a, auto b) { return Two{g, chain(g, -divided(a, b).quotient)}; }),
    binary_rule<0>("maximum_backward", Cost::light,
                   [](auto g, auto a, auto b) {
                     return Two{g * share(a > b, a == b), g * share(b > a, a == b)};
                   }),
    binary_rule<0>("minimum_backward", Cost::light,
                   [](auto g, auto a, auto b) {
                     return Two{g * share(a < b, a == b), g * share(b < a, a == b)};
                   }),
};

}  // namespace

std::span<const Elementwise> arithmetic_kernels() { return kArithmetic; }
const LogicKernels& logic_kernels() { return kLogic; }
std::span<const BinaryRule> binary_rules() { return kBinaryRules; }

}  // namespace extensor::EX_ISA
