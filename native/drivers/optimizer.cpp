#include "optimizer.h"

#include <algorithm>
#include <cmath>

#include "copying.h"

namespace extensor {
namespace {

constexpr int64_t kTile = 1024;
constexpr int64_t kLine = 64 / sizeof(float);  // elements of a cache line

int64_t padded(int64_t size) { return (size + kLine - 1) / kLine * kLine; }

// The memory of a model for the time of a run.
class ModelMemory {
 public:
  ModelMemory(const Model& model, const Buffers& buffers) : model_(model), buffers_(buffers) {
    for (const Model::Strided& array : model.strided) {
      const char* source = buffers.inputs[model.first[model.read_only] + array.entry];
      copy_contiguous(array.layout, source, copy_of(model.entries[array.entry]));
    }
  }

  // Calls body(piece, its number) for every piece.
  template <typename Body>
  void for_each_piece(Body&& body) const {
    if (model_.chunks.empty()) {
      for (size_t i = 0; i < model_.entries.size(); ++i) {
        const int64_t size = model_.entries[i].size;
        if (size > 0) body(ModelPiece{i, 0, size}, i);
      }
      return;
    }
    const int64_t chunks = static_cast<int64_t>(model_.chunks.size()) - 1;
    const Cut cut = {chunks, 1, chunks, model_.nanoseconds};
    parallel_chunks(cut, [&](int64_t begin, int64_t end) {
      for (size_t i = model_.chunks[begin]; i < model_.chunks[end]; ++i) body(model_.pieces[i], i);
    });
  }

  // Calls body(arrays, n) with the piece's memory; 16-bit floats come as float32, a tile at a time,
  // and those that are written are rounded back.
  template <typename Body>
  void with_arrays(const ModelPiece& piece, Body&& body) const {
    const ModelEntry& entry = model_.entries[piece.entry];
    char* whole[kUpdateArrays];
    void* arrays[kUpdateArrays];
    for (int role = 0; role < model_.roles; ++role) whole[role] = data(piece.entry, role);
    const auto place = [&](int role, int64_t begin) {
      return whole[role] == nullptr ? nullptr : whole[role] + begin * entry.itemsize(role);
    };
    if (!entry.any_half) {
      for (int role = 0; role < model_.roles; ++role) arrays[role] = place(role, piece.begin);
      return body(arrays, piece.size);
    }
    alignas(64) float tiles[kUpdateArrays][kTile];
    const int64_t end = piece.begin + piece.size;
    for (int64_t begin = piece.begin; begin < end; begin += kTile) {
      const int64_t n = std::min(kTile, end - begin);
      for (int role = 0; role < model_.roles; ++role) {
        arrays[role] = place(role, begin);
        if (entry.half[role] == nullptr) continue;
        entry.half[role]->widen(static_cast<const uint16_t*>(arrays[role]), tiles[role], n);
        arrays[role] = tiles[role];
      }
      body(arrays, n);
      for (int role = 0; role < model_.roles; ++role) {
        if (entry.half[role] == nullptr || role == model_.read_only) continue;
        entry.half[role]->narrow(tiles[role], reinterpret_cast<uint16_t*>(place(role, begin)), n);
      }
    }
  }

  int element(const ModelPiece& piece) const {
    return static_cast<int>(model_.entries[piece.entry].element);
  }

 private:
  char* copy_of(const ModelEntry& entry) const {
    return model_.scratch->copies->data() + entry.copied;
  }
  char* data(size_t i, int role) const {
    const ModelEntry& entry = model_.entries[i];
    if (role == model_.read_only && entry.copied >= 0) return copy_of(entry);
    return model_.first[role] < 0 ? nullptr : buffers_.inputs[model_.first[role] + i];
  }

  const Model& model_;
  const Buffers& buffers_;
};

// For the scratch memory, where the run uses any.
std::unique_lock<std::mutex> scratch_of(const Model& model) {
  if (model.scratch == nullptr) return {};
  return std::unique_lock(model.scratch->mutex);
}

}  // namespace

Layout& Model::copy_in_run(size_t entry) {
  strided.emplace_back();
  strided.back().entry = entry;
  entries[entry].copied = copied_bytes;
  copied_bytes += padded(entries[entry].size) * entries[entry].itemsize(read_only);
  return strided.back().layout;
}

void Model::cut_into_pieces(const Cut& whole) {
  chunks.reserve(whole.tasks + 1);
  pieces.reserve(whole.tasks + entries.size());
  int64_t room = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    for (int64_t begin = 0; begin < entries[i].size;) {
      if (room <= 0) {
        chunks.push_back(pieces.size());
        room = whole.chunk;
      }
      const int64_t size = std::min(room, entries[i].size - begin);
      pieces.push_back({i, begin, size});
      begin += size;
      room -= padded(size);
    }
  }
  chunks.push_back(pieces.size());
}

void Model::finish(Cost cost, bool measured) {
  int64_t total = 0;
  for (const ModelEntry& entry : entries) total += padded(entry.size);
  const Cut whole = cut(total, cost);
  nanoseconds = whole.nanoseconds;
  if (whole.tasks > 1) cut_into_pieces(whole);
  if (copied_bytes > 0 || measured) scratch = std::make_unique<Scratch>();
  if (copied_bytes > 0) scratch->copies.emplace(copied_bytes);
  if (measured) {
    scratch->pieces.resize(piece_count());
    scratch->whole.resize(entries.size());
  }
}

void run_update(const UpdateProblem& problem, const Buffers& buffers) {
  const UpdateKernel& kernel = *problem.kernel;
  double attributes[kUpdateAttributes];
  std::copy_n(buffers.numbers, kernel.attributes, attributes);
  if (kernel.prepare != nullptr) kernel.prepare(attributes);
  const auto lock = scratch_of(problem.model);
  const ModelMemory memory(problem.model, buffers);
  memory.for_each_piece([&](const ModelPiece& piece, size_t) {
    const auto update = kernel.update[memory.element(piece)];
    memory.with_arrays(piece,
                       [&](void* const* arrays, int64_t n) { update(arrays, n, attributes); });
  });
}

void run_lamb(const Model& model, const Buffers& buffers) {
  const LambKernel& kernel = kernels().lamb;
  double attributes[kUpdateAttributes];
  std::copy_n(buffers.numbers, kLambAttributes, attributes);
  kernel.prepare(attributes);
  const auto lock = scratch_of(model);
  const ModelMemory memory(model, buffers);
  std::vector<Squares>&parts = model.scratch->pieces, &whole = model.scratch->whole;
  std::fill(parts.begin(), parts.end(), Squares{});
  std::fill(whole.begin(), whole.end(), Squares{});
  memory.for_each_piece([&](const ModelPiece& piece, size_t number) {
    const auto measure = kernel.measure[memory.element(piece)];
    memory.with_arrays(piece, [&](void* const* arrays, int64_t n) {
      measure(arrays, n, attributes, parts[number].of);
    });
  });
  for (size_t i = 0; i < parts.size(); ++i) {
    for (int k = 0; k < 2; ++k) whole[model.entry_of(i)].of[k] += parts[i].of[k];
  }
  memory.for_each_piece([&](const ModelPiece& piece, size_t) {
    const double parameter = std::sqrt(whole[piece.entry].of[0]);
    const double direction = std::sqrt(whole[piece.entry].of[1]);
    const double ratio = parameter > 0 && direction > 0 ? parameter / direction : 1;
    const auto move = kernel.move[memory.element(piece)];
    memory.with_arrays(piece,
                       [&](void* const* arrays, int64_t n) { move(arrays, n, attributes, ratio); });
  });
}

void run_norm(const NormProblem& problem, const Buffers& buffers) {
  const NormKernel& kernel = kernels().norm;
  const auto& measures = problem.largest ? kernel.raise_to_largest : kernel.add_squares;
  const auto lock = scratch_of(problem.model);
  const ModelMemory memory(problem.model, buffers);
  std::vector<double> parts(problem.model.piece_count(), 0.0);
  memory.for_each_piece([&](const ModelPiece& piece, size_t number) {
    const auto measure = measures[memory.element(piece)];
    memory.with_arrays(
        piece, [&](void* const* arrays, int64_t n) { measure(arrays[0], n, parts[number]); });
  });
  double norm = 0;
  for (const double part : parts) {
    if (!problem.largest) {
      norm += part;
    } else if (!(part <= norm) && !std::isnan(norm)) {
      norm = part;
    }
  }
  *reinterpret_cast<double*>(buffers.outputs[0]) = problem.largest ? norm : std::sqrt(norm);
}

}  // namespace extensor
