// New arrays of random numbers. The words of a run begin with seed, stream and the number of the
// first block; what it is asked for beyond them comes after, or as numbers.
#pragma once

#include "../door/call.h"
#include "storage.h"

namespace extensor {

// Where the words of every fill are, and the first that is its own.
enum RandomWord : int { kSeedWord, kStreamWord, kBlockWord, kFirstOwnWord };

struct RandomProblem {
  DType dtype;
  Cut work;

  Element element() const { return dtype == DType::float64 ? Element::float64 : Element::float32; }
};

// 32 random bits for each element.
void run_random_bits(const RandomProblem& problem, const Buffers& buffers);
// Numbers: low, scale, last.
void run_random_uniform(const RandomProblem& problem, const Buffers& buffers);
// Numbers: mean, deviation.
void run_random_normal(const RandomProblem& problem, const Buffers& buffers);
// Words: low, span; negative numbers as their remainder modulo 2^64.
void run_random_integers(const RandomProblem& problem, const Buffers& buffers);
// Words: threshold.
void run_random_bernoulli(const RandomProblem& problem, const Buffers& buffers);

}  // namespace extensor
