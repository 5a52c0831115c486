// Normalization where a group is a column of a matrix: (batch, channels), and nothing behind them.
#pragma once

#include <algorithm>

#include "../runtime/memory.h"
#include "normalization_gradients.h"

namespace extensor::normalization {

constexpr int64_t kColumnsPerPiece = 32;

// Calls body(first column, the panel of rows from there on) for pieces of the matrix.
template <typename Body>
void for_each_piece(const AxisLayout& layout, Body body) {
  const int64_t rows = layout.size(), all = layout.channels;
  const int64_t count = (all + kColumnsPerPiece - 1) / kColumnsPerPiece;
  const Cut pieces = cut(count, Cost::medium, rows * kColumnsPerPiece);
  Unlocked unlocked(pieces.nanoseconds);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * kColumnsPerPiece;
    body(first, Panel{rows, std::min(end * kColumnsPerPiece, all) - first, all});
  });
}

inline void read_running(const Problem& problem, Moments* moments) {
  for (int64_t i = 0; !problem.own && i < problem.layout.groups; ++i) {
    moments[i] = problem.running_of(i);
  }
}

// The normalized x, and the statistics of each column.
inline PyObject* normalize_columns(const Problem& problem, Moments* moments) {
  PyArrayObject* x = problem.x.array();
  Reference result(new_array(problem.storage.typenum, PyArray_NDIM(x), PyArray_DIMS(x)));
  if (!result) return nullptr;
  read_running(problem, moments);
  const auto run = kernels().column_normalization.normalize[problem.element()];
  for_each_piece(problem.layout, [&](int64_t first, const Panel& panel) {
    const Affine affine = problem.affine_of(first);
    run(problem.group_data(first), panel, problem.own, problem.eps, moments + first, affine.weight,
        affine.bias, data_of(result) + first * problem.storage.itemsize);
  });
  return result.release();
}

// False with a Python error set.
inline bool run_column_rule(const Problem& problem, PyArrayObject* gradient, Gradients& gradients) {
  TemporaryBlock statistics(problem.layout.groups * sizeof(Moments));
  if (statistics.data() == nullptr) return PyErr_NoMemory() != nullptr;
  if (!gradients.make(problem)) return false;
  Moments* moments = reinterpret_cast<Moments*>(statistics.data());
  read_running(problem, moments);
  const auto run = kernels().column_normalization.rule[problem.element()];
  for_each_piece(problem.layout, [&](int64_t first, const Panel& panel) {
    const int64_t skipped = first * problem.storage.itemsize;
    const auto from = [&](int i) {
      char* data = gradients.data(i);
      return data == nullptr ? nullptr : data + skipped;
    };
    run(static_cast<const char*>(PyArray_DATA(gradient)) + skipped, problem.group_data(first),
        panel, problem.own, problem.eps, moments + first, problem.affine_of(first).weight, from(0),
        from(1), from(2));
  });
  return true;
}

}  // namespace extensor::normalization
