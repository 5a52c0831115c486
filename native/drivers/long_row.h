// The best of a row, the largest or the smallest as a reduction says, also of one so long that
// many tasks look at it.
#pragma once

#include <algorithm>
#include <vector>

#include "../kernels/tables.h"

namespace extensor {

constexpr int64_t kRowPiece = 65536;  // elements of a row that one task looks at

inline double value_at(Element element, const void* data) {
  return element == Element::float64 ? *static_cast<const double*>(data)
                                     : *static_cast<const float*>(data);
}

// The best of a row that one task can look at.
inline double best_of(const Reduction& reduction, Element element, const char* x, int64_t n) {
  double best = 0;
  reduction.rows[static_cast<int>(element)](x, 1, n, &best);
  return value_at(element, &best);
}

// A row in pieces, each with its best.
struct LongRow {
  const char* x;
  int64_t n, itemsize;
  std::vector<double> bests;
  double best = 0;

  LongRow(const Reduction& reduction, Element element, const char* row, int64_t length)
      : x(row),
        n(length),
        itemsize(element == Element::float64 ? 8 : 4),
        bests((length - 1) / kRowPiece + 1) {
    for_each_piece([&](int64_t piece, int64_t from, int64_t length) {
      bests[piece] = best_of(reduction, element, x + from * itemsize, length);
    });
    const auto wide = static_cast<int>(Element::float64);
    reduction.rows[wide](bests.data(), 1, static_cast<int64_t>(bests.size()), &best);
  }
  template <typename Work>
  void for_each_piece(Work work) const {
    const Cut tasks = cut(static_cast<int64_t>(bests.size()), Cost::light, kRowPiece);
    parallel_chunks(tasks, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        const int64_t from = piece * kRowPiece;
        work(piece, from, std::min(kRowPiece, n - from));
      }
    });
  }
};

}  // namespace extensor
