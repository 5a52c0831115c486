// What recurrences share. What does not depend on the last state is one product for all steps; the
// rest runs step by step for a block of the batch, whose sequences know nothing of the others, so
// that threads need not meet at every step.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "../runtime/memory.h"
#include "../runtime/threads.h"
#include "copying.h"
#include "products.h"
#include "recurrent.h"
#include "reduction.h"

namespace extensor {

// Fewer sequences would read the weights at every step for too few products.
inline constexpr int64_t kLeastRows = 16;

// Calls body(first row, rows) for each block of the batch, one per thread. How it is cut changes no
// bit: a row's sums do not depend on the rows beside it.
template <typename Body>
void for_blocks(const RecurrentSize& size, Body&& body) {
  if (!worth_threads(nanoseconds_of(size))) return body(0, size.batch);
  const int64_t share = (size.batch + num_threads() - 1) / num_threads();
  const int64_t rows = std::max(kLeastRows, share), tasks = (size.batch + rows - 1) / rows;
  parallel_for(tasks, [&](int64_t task) {
    const int64_t first = task * rows;
    body(first, std::min(rows, size.batch - first));
  });
}

// The arrays of a problem, contiguous; null for one that is not given.
class RecurrentInputs {
 public:
  RecurrentInputs(const RecurrentProblem& problem, const Buffers& buffers) {
    for (int i = 0; i < problem.count; ++i) {
      const int input = problem.input[i];
      if (input >= 0) held_[i].emplace(problem.arrays[i], buffers.inputs[input]);
    }
  }

  template <typename T>
  const T* as(int i) const {
    return held_[i] ? held_[i]->template as<T>() : nullptr;
  }

 private:
  std::optional<Contiguous> held_[RecurrentProblem::kMaxArrays];
};

// Room for elements, for the time of a run.
template <typename T>
class TemporaryElements {
 public:
  explicit TemporaryElements(int64_t count) : memory_(count * sizeof(T)) {}
  T* data() const { return reinterpret_cast<T*>(memory_.data()); }

 private:
  TemporaryBlock memory_;
};

// An output that the run works in, also if nobody asked for it.
template <typename T>
class NeededOutput {
 public:
  NeededOutput(char* output, int64_t count) : data_(reinterpret_cast<T*>(output)) {
    if (data_ == nullptr) data_ = own_.emplace(count).data();
  }
  T* data() const { return data_; }

 private:
  std::optional<TemporaryElements<T>> own_;
  T* data_;
};

// x @ w_ih.T + bias for all steps.
template <typename T>
void multiply_inputs(const RecurrentSize& size, const T* x, const T* w_ih, const T* bias, T* out) {
  Gemm<T> problem = product<T>(size.rows(), size.inputs, size.width(), {x, size.inputs},
                               {w_ih, size.inputs, true}, out, size.width());
  problem.bias = bias;
  run_with_threads(problem);
}

// w_hh.T, which every step multiplies with. For more than one step it is laid out so that it need
// not be rearranged each time.
template <typename T>
class StateWeight {
 public:
  StateWeight(const RecurrentSize& size, const T* w_hh) : factor_{w_hh, size.units, true} {
    if (size.steps == 1) return;
    T* const turned = turned_.emplace(size.units * size.width()).data();
    kernels().copies.transpose[std::countr_zero(sizeof(T))](
        reinterpret_cast<const char*>(w_hh), size.units * sizeof(T),
        reinterpret_cast<char*>(turned), size.width() * sizeof(T), size.units, size.width());
    factor_ = {turned, size.width()};
  }
  Factor<T> factor() const { return factor_; }

 private:
  std::optional<TemporaryElements<T>> turned_;
  Factor<T> factor_;
};

// The sum of two vectors, each of which may be null.
template <typename T>
void add_biases(int64_t width, const T* b_ih, const T* b_hh, T* out) {
  std::fill_n(out, width, T(0));
  for (const T* part : {b_ih, b_hh}) {
    for (int64_t i = 0; part != nullptr && i < width; ++i) out[i] += part[i];
  }
}

// The state before each step: the first one, then those of all steps but the last.
template <typename T>
void states_before(const RecurrentSize& size, const T* first, const T* states, T* out) {
  const int64_t plane = size.batch * size.units;
  std::memcpy(out, first, plane * sizeof(T));
  std::memcpy(out + plane, states, (size.steps - 1) * plane * sizeof(T));
}

// From the gradients of all steps' sums those that need nothing else.
template <typename T>
struct StepGradients {
  const T* of_inputs;  // of x @ w_ih.T + b_ih
  const T* of_own;     // of states @ w_hh.T + b_hh; the same memory where they are one sum

  void to_x(const RecurrentSize& size, const T* w_ih, char* out) const {
    if (out == nullptr) return;
    run_with_threads(product<T>(size.rows(), size.width(), size.inputs, {of_inputs, size.width()},
                                {w_ih, size.inputs}, reinterpret_cast<T*>(out), size.inputs));
  }

  // The outputs are those of w_ih, w_hh, b_ih and b_hh, null where they are absent.
  void to_weights(const RecurrentSize& size, const T* x, const T* states,
                  char* const* outputs) const {
    to_weight(size, of_inputs, x, size.inputs, outputs[0]);
    to_weight(size, of_own, states, size.units, outputs[1]);
    to_bias(size, of_inputs, outputs[2]);
    if (of_own == of_inputs && outputs[2] != nullptr && outputs[3] != nullptr) {
      std::memcpy(outputs[3], outputs[2], size.width() * sizeof(T));
    } else {
      to_bias(size, of_own, outputs[3]);
    }
  }

 private:
  // gradient.T @ other, `other` being (steps, batch, columns)
  static void to_weight(const RecurrentSize& size, const T* gradient, const T* other,
                        int64_t columns, char* out) {
    if (out == nullptr) return;
    run_with_threads(product<T>(size.width(), size.rows(), columns, {gradient, size.width(), true},
                                {other, columns}, reinterpret_cast<T*>(out), columns));
  }

  static void to_bias(const RecurrentSize& size, const T* gradient, char* out) {
    if (out == nullptr) return;
    static const Reduction& sum = find_reduction("sum");
    AxisGroups groups;
    if (size.rows() != 1) groups.add(size.rows(), true);
    if (size.width() != 1) groups.add(size.width(), false);
    reduce(sum, static_cast<Element>(Computed<T>::element), reinterpret_cast<const char*>(gradient),
           groups, out);
  }
};

}  // namespace extensor
