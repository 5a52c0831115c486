// A reduction of one row whose terms are computed on the way, in the same fixed order as
// reduction.cpp: parallel lanes within a block, a balanced tree over blocks.
#pragma once

#include "../simd/pass.h"

namespace extensor::EX_ISA {

constexpr int64_t kTermBlock = 1024;

// Terms are vectors: term(access, i, start) for the elements from i on. Lanes past the end of the
// row must be neutral: Access::or_zero and Access::load_or see to that.
template <typename T, typename Term, typename Combine>
EX_INLINE Vec<T> reduce_terms(int64_t begin, int64_t end, Vec<T> start, Term& term,
                              Combine combine) {
  constexpr int64_t size = Vec<T>::size;
  Vec<T> partial[4] = {start, start, start, start};
  int64_t i = begin;
  for (; i + 4 * size <= end; i += 4 * size) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      partial[k] = combine(partial[k], term(Access<T, true>{size}, i + k * size, start));
    }
  }
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k, i += size) {
    if (i + size <= end) {
      partial[k] = combine(partial[k], term(Access<T, true>{size}, i, start));
    } else if (i < end) {
      partial[k] = combine(partial[k], term(Access<T, false>{end - i}, i, start));
    }
  }
  return combine(combine(partial[0], partial[2]), combine(partial[1], partial[3]));
}

template <typename T, typename Term, typename Combine>
Vec<T> reduce_term_tree(int64_t begin, int64_t end, Vec<T> start, Term& term, Combine combine) {
  const int64_t n = end - begin;
  if (n <= kTermBlock) return reduce_terms<T>(begin, end, start, term, combine);
  const int64_t middle = begin + (n / 2 + kTermBlock - 1) / kTermBlock * kTermBlock;
  Vec<T> first = reduce_term_tree<T>(begin, middle, start, term, combine);
  return combine(first, reduce_term_tree<T>(middle, end, start, term, combine));
}

template <typename T, typename Term, typename Combine, typename Across>
EX_INLINE T reduce_row(int64_t n, T start, Term term, Combine combine, Across across) {
  return across(reduce_term_tree<T>(0, n, Vec<T>(start), term, combine));
}

template <typename T>
EX_INLINE T row_max(const T* x, int64_t n) {
  return reduce_row<T>(
      n, -static_cast<T>(__builtin_inf()),
      [&](auto access, int64_t i, Vec<T> fill) { return access.load_or(x, i, fill); },
      [](Vec<T> a, Vec<T> b) { return maximum(a, b); }, [](Vec<T> v) { return horizontal_max(v); });
}

template <typename T, typename Term>
EX_INLINE T row_sum(int64_t n, Term term) {
  return reduce_row<T>(
      n, T(0), term, [](Vec<T> a, Vec<T> b) { return a + b; },
      [](Vec<T> v) { return horizontal_sum(v); });
}

}  // namespace extensor::EX_ISA
