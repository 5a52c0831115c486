#include <algorithm>

#include "normalization_memory.h"

namespace extensor {
namespace {

constexpr int64_t kColumnsPerPiece = 32;

// Calls body(first column, the panel of rows from there on) for pieces of the matrix.
template <typename Body>
void for_each_piece(const NormalizationGroups& groups, Body body) {
  const int64_t rows = groups.size(), all = groups.channels;
  const int64_t count = (all + kColumnsPerPiece - 1) / kColumnsPerPiece;
  const Cut pieces = cut(count, Cost::medium, rows * kColumnsPerPiece);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * kColumnsPerPiece;
    body(first, Panel{rows, std::min(end * kColumnsPerPiece, all) - first, all});
  });
}

void read_running(const NormalizationMemory& memory, Moments* statistics) {
  for (int64_t i = 0; !memory.problem.own && i < memory.groups.count; ++i) {
    statistics[i] = memory.running_of(i);
  }
}

}  // namespace

void normalize_columns(const NormalizationMemory& memory, Moments* statistics, char* out) {
  read_running(memory, statistics);
  const auto run = kernels().column_normalization.normalize[memory.element()];
  for_each_piece(memory.groups, [&](int64_t first, const Panel& panel) {
    const Affine affine = memory.affine_of(first);
    run(memory.group_data(first), panel, memory.problem.own, memory.eps, statistics + first,
        affine.weight, affine.bias, out + first * memory.itemsize);
  });
}

void run_column_rule(const NormalizationMemory& memory, char* const* gradients) {
  const TemporaryBlock block(memory.groups.count * sizeof(Moments));
  Moments* const statistics = reinterpret_cast<Moments*>(block.data());
  read_running(memory, statistics);
  const auto run = kernels().column_normalization.rule[memory.element()];
  for_each_piece(memory.groups, [&](int64_t first, const Panel& panel) {
    const int64_t skipped = first * memory.itemsize;
    const auto from = [&](int i) {
      return gradients[i] == nullptr ? nullptr : gradients[i] + skipped;
    };
    run(memory.gradient() + skipped, memory.group_data(first), panel, memory.problem.own,
        memory.eps, statistics + first, memory.affine_of(first).weight, from(0), from(1), from(2));
  });
}

}  // namespace extensor
