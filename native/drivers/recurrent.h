// Recurrences over whole sequences, and cells, which are sequences of one step.
#pragma once

#include <algorithm>

#include "../door/call.h"

namespace extensor {

// Steps, sequences, inputs and units, and how many gates a unit has. What a cell is given and
// returns has no axis for its one step.
struct RecurrentSize {
  int64_t steps, batch, inputs, units, gates;
  bool cell;

  int64_t rows() const { return steps * batch; }
  int64_t width() const { return gates * units; }
};

// About what the products of a recurrence take. Repeated arrays may be of any size.
inline int64_t nanoseconds_of(const RecurrentSize& size) {
  const double rows = static_cast<double>(size.steps) * static_cast<double>(size.batch);
  const double width = static_cast<double>(size.gates) * static_cast<double>(size.units);
  const double depth = static_cast<double>(size.inputs) + static_cast<double>(size.units);
  return static_cast<int64_t>(std::min(rows * width * depth / 32, 1e18));
}

struct RecurrentProblem {
  static constexpr int kMaxArrays = 11;

  RecurrentSize size;
  DType dtype;            // of all arrays: float32 or float64
  bool relu;              // what rnn does to a sum, which else is tanh
  int count;              // of the arrays
  int input[kMaxArrays];  // -1 for a bias that is not given
  Layout arrays[kMaxArrays];
};

// x, h0, w_ih, w_hh, b_ih, b_hh to the states of all steps.
void run_rnn(const RecurrentProblem& problem, const Buffers& buffers);
// grad_output, x, h0, w_ih, w_hh, output to the gradients of x, h0, w_ih, w_hh, b_ih, b_hh, of
// which any may be absent.
void run_rnn_rule(const RecurrentProblem& problem, const Buffers& buffers);

// x, h0, c0, w_ih, w_hh, b_ih, b_hh to the hidden states, the last cells, the gates and the cells.
void run_lstm(const RecurrentProblem& problem, const Buffers& buffers);
// grad_hidden, x, h0, c0, w_ih, w_hh, b_ih, b_hh, gates, cells, grad_last to the gradients of x,
// h0, c0, w_ih, w_hh, b_ih, b_hh, of which any but that of c0 may be absent.
void run_lstm_rule(const RecurrentProblem& problem, const Buffers& buffers);

// x, h0, w_ih, w_hh, b_ih, b_hh to the states of all steps and the gates.
void run_gru(const RecurrentProblem& problem, const Buffers& buffers);
// grad_output, x, h0, w_ih, w_hh, b_ih, b_hh, output, gates to the gradients of x, h0, w_ih, w_hh,
// b_ih, b_hh, of which any may be absent.
void run_gru_rule(const RecurrentProblem& problem, const Buffers& buffers);

}  // namespace extensor
