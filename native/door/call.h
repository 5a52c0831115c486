// A computation as a value: what is computed, from arrays of which layouts, into arrays of which
// layouts. A plan makes it from Python's arguments; it can then be run, and run again on other
// memory of the same kind, by code that knows no Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>

#include "layout.h"

namespace extensor {

// The memory and the numbers of one run. Inputs that an update changes in place are written to.
struct Buffers {
  char* const* inputs;
  char* const* outputs;   // null for one that is absent, or shows the memory of another
  const double* numbers;  // what may change from run to run: a learning rate, a scale, a slope
  const uint64_t* words;  // the same for integers: seeds and counters
};

// Thrown by a run of a call that depends on values, if these are not for the kernel after all.
struct Declined {};

// An array that a call gives.
struct Output {
  enum class Kind : uint8_t {
    absent,  // None: nobody asked for it
    fresh,   // new memory in C order, which the run fills
    same,    // an input, itself
    view,    // the memory of an input or of an earlier output, in another shape
  };
  Kind kind;
  bool returned;   // false for one that only a later view shows
  bool writeable;  // of a view
  DType dtype;
  int source;      // of `same` and `view`: an input, or ~(an earlier output)
  int64_t offset;  // of a view: bytes from the first element of its source to its own
  Shape shape;
  int64_t strides[kMaxDimensions];  // of a view
};

class Call {
 public:
  static constexpr int kMaxOutputs = 8, kMaxNumbers = 16, kMaxWords = 8;
  static constexpr size_t kProblemBytes = 16384;
  using Run = void (*)(const void* problem, const Buffers& buffers);

  // Begins a call that `kRun`, a void(const Problem&, const Buffers&), computes. Returns the
  // problem, to be filled in; it is copied with the call and holds no memory.
  template <auto kRun>
  auto& solved_by() {
    using Problem = ProblemOf<decltype(kRun)>;
    static_assert(std::is_trivially_copyable_v<Problem> && sizeof(Problem) <= kProblemBytes);
    run_ = run_with<kRun>;
    problem_bytes_ = sizeof(Problem);
    return *new (problem_) Problem;
  }

  // The same for a problem without a largest size: one that holds the arrays of a whole model.
  template <auto kRun>
  auto& solved_by_shared() {
    using Problem = ProblemOf<decltype(kRun)>;
    auto problem = std::make_shared<Problem>();
    run_ = run_with<kRun>;
    Problem& made = *problem;
    shared_ = std::move(problem);
    return made;
  }

  // What is begun so ends without: the outputs are inputs, or views of them.
  void computes_nothing() { run_ = nullptr; }

  // The outputs, in their order.
  Output& add(Output::Kind kind) {
    Output& output = outputs_[output_count_++];
    output.kind = kind;
    output.returned = true;
    return output;
  }
  void add_absent() { add(Output::Kind::absent); }
  void add_same(int input) { add(Output::Kind::same).source = input; }
  Output& add_fresh(DType dtype, int ndim, const int64_t* shape) {
    Output& output = add(Output::Kind::fresh);
    output.dtype = dtype;
    output.shape.ndim = ndim;
    for (int axis = 0; axis < ndim; ++axis) output.shape.lengths[axis] = shape[axis];
    return output;
  }
  Output& add_fresh(DType dtype, const Shape& shape) {
    return add_fresh(dtype, shape.ndim, shape.lengths);
  }
  // Shape and strides are for the caller to fill in.
  Output& add_view(int source, bool writeable) {
    Output& output = add(Output::Kind::view);
    output.source = source;
    output.writeable = writeable;
    output.offset = 0;
    return output;
  }

  int output_count() const { return output_count_; }
  const Output& output(int i) const { return outputs_[i]; }
  Output& output(int i) { return outputs_[i]; }

  void run(const Buffers& buffers) const {
    if (run_ != nullptr) run_(shared_ == nullptr ? problem_ : shared_.get(), buffers);
  }

  // What a copy of the call needs in order to be run: a function, null where nothing is computed,
  // and its problem, which is shared or has so many bytes.
  Run function() const { return run_; }
  const std::shared_ptr<const void>& shared_problem() const { return shared_; }
  const std::byte* problem() const { return problem_; }
  size_t problem_bytes() const { return problem_bytes_; }

  // How long a run takes, about: longer ones give up the interpreter's lock.
  int64_t nanoseconds = 0;
  // Whether the outputs come as a tuple, also if there is only one.
  bool several = false;
  // Whether the plan has looked at the values of its inputs and is right for these alone, or a run
  // looks at what it computes and may decline.
  bool depends_on_values = false;
  // How many inputs, from the first on, a run writes to. Some of them it may only read.
  int changed_inputs = 0;
  // What the first run uses; a later one may bring its own.
  double numbers[kMaxNumbers];
  uint64_t words[kMaxWords];

 private:
  template <typename Function>
  struct Signature;
  template <typename Problem>
  struct Signature<void (*)(const Problem&, const Buffers&)> {
    using type = Problem;
  };
  template <typename Function>
  using ProblemOf = typename Signature<Function>::type;

  template <auto kRun>
  static void run_with(const void* problem, const Buffers& buffers) {
    kRun(*static_cast<const ProblemOf<decltype(kRun)>*>(problem), buffers);
  }

  Run run_ = nullptr;  // null where the outputs are views alone
  int output_count_ = 0;
  size_t problem_bytes_ = 0;
  std::shared_ptr<const void> shared_;
  Output outputs_[kMaxOutputs];
  alignas(64) std::byte problem_[kProblemBytes];
};

}  // namespace extensor
