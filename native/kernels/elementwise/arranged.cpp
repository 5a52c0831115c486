// What prelu, glu, their rules and the rule of logsumexp compute of each element. Their operands do
// not broadcast as they are given.
#include "../math/math.h"
#include "../simd/pass.h"
#include "../simd/steps.h"
#include "elementwise.h"

namespace extensor::EX_ISA {
namespace {

constexpr ArrangedKernels kArranged = {
    map<2, 0>("prelu", Cost::light,
              [](auto x, auto alpha) { return select(x > decltype(x)(0), x, alpha * x); }),
    binary_rule<0>("prelu_backward", Cost::light,
                   [](auto g, auto x, auto alpha) {
                     const decltype(x) zero(0);
                     const auto above = x > zero;
                     return Two{select(above, g, chain(g, alpha)),
                                chain(g, select(above, zero, x))};
                   }),
    map<2, 0>("glu", Cost::medium, [](auto a, auto b) { return chain(sigmoid(b), a); }),
    binary_rule<0>("glu_backward", Cost::medium,
                   [](auto g, auto a, auto b) {
                     const auto gate = sigmoid(b);
                     return Two{chain(g, gate), chain(g, chain(gate * sigmoid(-b), a))};
                   }),
    map<3, 0>("logsumexp_backward", Cost::medium,
              [](auto g, auto x, auto y) {
                using V = decltype(x);
                const V shift = select(y == V(-__builtin_inf()), V(0), y);
                return chain(g, exp(x - shift));
              }),
};

}  // namespace

const ArrangedKernels& arranged_kernels() { return kArranged; }

}  // namespace extensor::EX_ISA
