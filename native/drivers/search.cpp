#include "search.h"

#include <cmath>

#include "copying.h"
#include "long_row.h"

namespace extensor {
namespace {

// The first place of `best`, which was found in this row. If the row was changed since, there may
// be none: the answer is a place in the row all the same.
int64_t first_in_row(Element element, const char* x, int64_t n, double best) {
  return std::min(kernels().search.first[static_cast<int>(element)](x, n, best), n - 1);
}

// In a long row the first piece with the best is the only one looked at again.
int64_t place_in_long_row(const Reduction& reduction, Element element, const char* x, int64_t n) {
  const LongRow row(reduction, element, x, n);
  const auto piece = std::find_if(row.bests.begin(), row.bests.end(), [&](double best) {
    return best == row.best || std::isnan(best);
  });
  const int64_t from = (piece - row.bests.begin()) * kRowPiece;
  return from +
         first_in_row(element, x + from * row.itemsize, std::min(kRowPiece, n - from), row.best);
}

}  // namespace

void run_positions(const PositionProblem& problem, const Buffers& buffers) {
  const Reduction& reduction = *problem.reduction;
  const Element element = problem.storage.element;
  const int64_t rows = problem.rows, n = problem.n;
  const Contiguous x(problem.x, buffers.inputs[0], problem.storage.wide());
  int64_t* const out = reinterpret_cast<int64_t*>(buffers.outputs[0]);
  const int64_t row_bytes = n * problem.storage.wide_itemsize();
  if (n > kRowPiece) {
    for (int64_t row = 0; row < rows; ++row) {
      out[row] = place_in_long_row(reduction, element, x.data() + row * row_bytes, n);
    }
    return;
  }
  parallel_chunks(cut(rows, Cost::light, n + 16), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const char* own = x.data() + row * row_bytes;
      out[row] = first_in_row(element, own, n, best_of(reduction, element, own, n));
    }
  });
}

}  // namespace extensor
