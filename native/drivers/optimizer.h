// Changes in place of all the arrays of a model as one piece of work, cut by their shapes, and the
// norm of all of them together.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "../door/call.h"
#include "../runtime/memory.h"
#include "storage.h"

namespace extensor {

constexpr int kGradientRole = 1;  // the role that an update only reads

// Of a whole parameter and of its direction, or of a piece.
struct Squares {
  double of[2] = {0, 0};
};

// One parameter: what its arrays have in common, and which of them have 16 bits.
struct ModelEntry {
  int64_t size = 0;
  Element element = Element::float32;
  bool any_half = false;
  const HalfFormat* half[kUpdateArrays] = {};  // by role; set for the 16-bit floats
  int64_t copied = -1;  // where the array that is only read lies among the copies, if it is copied

  int64_t itemsize(int role) const {
    return half[role] != nullptr ? 2 : element == Element::float64 ? 8 : 4;
  }
};

// A run of elements of one parameter.
struct ModelPiece {
  size_t entry;
  int64_t begin, size;
};

// The arrays of a model in roles (parameters, gradients, state), and how the work on them is cut.
// All the memory that a run needs is here: once it is, the run can no longer fail.
struct Model {
  int roles;
  int read_only;             // the role that is not written and may have any strides
  int first[kUpdateArrays];  // input where the arrays of each role begin; -1 if it is not in use
  std::vector<ModelEntry> entries;

  // All parameters in a row, cut into chunks that begin at a cache line; a chunk is a few pieces.
  // A model that is one chunk is not cut: both are empty, and the pieces are the entries.
  std::vector<ModelPiece> pieces;
  std::vector<size_t> chunks;  // first piece of each, and the end
  int64_t nanoseconds = 0;

  // Arrays that are not contiguous, which a run copies.
  struct Strided {
    size_t entry;
    Layout layout;
  };
  std::vector<Strided> strided;
  int64_t copied_bytes = 0;

  // What one run at a time uses, where it needs anything.
  struct Scratch {
    std::mutex mutex;
    std::optional<TemporaryBlock> copies;
    std::vector<Squares> pieces, whole;
  };
  std::unique_ptr<Scratch> scratch;

  // A run is to copy the array of this entry that is only read; the caller fills in its layout.
  Layout& copy_in_run(size_t entry);
  size_t piece_count() const { return chunks.empty() ? entries.size() : pieces.size(); }
  size_t entry_of(size_t piece) const { return chunks.empty() ? piece : pieces[piece].entry; }
  // Cuts the entries and takes the memory, once they are all there.
  void finish(Cost cost, bool measured);

 private:
  void cut_into_pieces(const Cut& whole);
};

// The numbers of a run are the attributes of the kernel, in its order.
struct UpdateProblem {
  const UpdateKernel* kernel;
  Model model;
};
void run_update(const UpdateProblem& problem, const Buffers& buffers);

// step, lr, beta1, beta2, eps, weight_decay, maximize
constexpr int kLambArrays = 4, kLambAttributes = 7;
void run_lamb(const Model& model, const Buffers& buffers);

// Into one float64.
struct NormProblem {
  bool largest;  // the largest magnitude, instead of the root of the sum of squares
  Model model;
};
void run_norm(const NormProblem& problem, const Buffers& buffers);

}  // namespace extensor
