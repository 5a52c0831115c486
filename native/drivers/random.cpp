#include "random.h"

#include <bit>

namespace extensor {
namespace {

// Calls fill(stream, n, out) for each chunk of the array. A chunk is a whole number of blocks, so
// an element does not depend on how the work is cut.
template <typename Fill>
void fill_chunks(const RandomProblem& problem, const Buffers& buffers, int64_t per_block,
                 const Fill& fill) {
  const RandomStream first = {buffers.words[kSeedWord], buffers.words[kStreamWord],
                              buffers.words[kBlockWord]};
  const int64_t itemsize = size_of(problem.dtype);
  parallel_chunks(problem.work, [&](int64_t begin, int64_t end) {
    RandomStream stream = first;
    stream.block += static_cast<uint64_t>(begin / per_block);
    fill(stream, end - begin, buffers.outputs[0] + begin * itemsize);
  });
}

int64_t per_block(Element element) { return element == Element::float64 ? 2 : 4; }

}  // namespace

void run_random_bits(const RandomProblem& problem, const Buffers& buffers) {
  fill_chunks(problem, buffers, 4, kernels().random.bits);
}

void run_random_uniform(const RandomProblem& problem, const Buffers& buffers) {
  const Element element = problem.element();
  const auto fill = kernels().random.uniform[static_cast<int>(element)];
  const UniformRange range = {buffers.numbers[0], buffers.numbers[1], buffers.numbers[2]};
  fill_chunks(problem, buffers, per_block(element),
              [&](RandomStream stream, int64_t n, void* out) { fill(stream, n, out, range); });
}

void run_random_normal(const RandomProblem& problem, const Buffers& buffers) {
  const Element element = problem.element();
  const auto fill = kernels().random.normal[static_cast<int>(element)];
  const double mean = buffers.numbers[0], deviation = buffers.numbers[1];
  fill_chunks(problem, buffers, per_block(element), [&](RandomStream stream, int64_t n, void* out) {
    fill(stream, n, out, mean, deviation);
  });
}

void run_random_integers(const RandomProblem& problem, const Buffers& buffers) {
  const auto size = static_cast<uint64_t>(size_of(problem.dtype));
  const auto fill = kernels().random.integers[std::countr_zero(size)];
  const uint64_t low = buffers.words[kFirstOwnWord], span = buffers.words[kFirstOwnWord + 1];
  fill_chunks(problem, buffers, 2,
              [&](RandomStream stream, int64_t n, void* out) { fill(stream, n, out, low, span); });
}

void run_random_bernoulli(const RandomProblem& problem, const Buffers& buffers) {
  const uint64_t threshold = buffers.words[kFirstOwnWord];
  const bool as_float = problem.dtype == DType::float32;
  fill_chunks(problem, buffers, 4, [&](RandomStream stream, int64_t n, void* out) {
    kernels().random.bernoulli(stream, n, out, threshold, as_float);
  });
}

}  // namespace extensor
