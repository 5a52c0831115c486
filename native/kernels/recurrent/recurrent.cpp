// What recurrences do at each step besides their product: all gates of a unit in one pass.
#include "recurrent.h"

#include "../math/activation.h"
#include "../math/hyperbolic.h"
#include "../simd/pass.h"
#include "../simd/steps.h"

namespace extensor::EX_ISA {
namespace {

template <typename T>
const T* row_of(const void* data, int64_t row, int64_t width) {
  return static_cast<const T*>(data) + row * width;
}
template <typename T>
T* row_of(void* data, int64_t row, int64_t width) {
  return static_cast<T*>(data) + row * width;
}

template <typename T>
EX_INLINE Vec<T> sigmoid_slope(Vec<T> y) {
  return y * (Vec<T>(T(1)) - y);
}
template <typename T>
EX_INLINE Vec<T> tanh_slope(Vec<T> y) {
  return (Vec<T>(T(1)) - y) * (Vec<T>(T(1)) + y);
}

// The nonlinearity, in place.
template <typename T>
void rnn_step(void* states, int64_t n, bool relu) {
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    const Vec<T> x = access.load(states, i);
    access.store(states, i, relu ? maximum(x, Vec<T>(T(0))) : tanh(x));
  });
}

template <typename T>
void rnn_rule(const RnnRule& step, bool relu) {
  for_each_vector<T>(step.n, [&](auto access, int64_t i) {
    const Vec<T> grad = access.load(step.grad_output, i) + access.load(step.carried, i);
    const Vec<T> y = access.load(step.output, i), zero(T(0));
    access.store(step.gradient, i,
                 relu ? select(y > zero, grad, zero) : chain(grad, tanh_slope(y)));
  });
}

template <typename T>
void lstm_step(const LstmStep& step) {
  const int64_t n = step.n;
  for (int64_t row = 0; row < step.rows; ++row) {
    T *const gates = row_of<T>(step.gates, row, 4 * n), *const cell = row_of<T>(step.cell, row, n);
    const T* const before = row_of<T>(step.cell_before, row, n);
    T* const hidden = row_of<T>(step.hidden, row, n);
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> write = sigmoid(access.load(gates, i));
      const Vec<T> keep = sigmoid(access.load(gates, n + i));
      const Vec<T> fresh = tanh(access.load(gates, 2 * n + i));
      const Vec<T> read = sigmoid(access.load(gates, 3 * n + i));
      const Vec<T> c = keep * access.load(before, i) + write * fresh;
      access.store(gates, i, write);
      access.store(gates, n + i, keep);
      access.store(gates, 2 * n + i, fresh);
      access.store(gates, 3 * n + i, read);
      access.store(cell, i, c);
      access.store(hidden, i, read * tanh(c));
    });
  }
}

template <typename T>
void lstm_rule(const LstmRule& step) {
  const int64_t n = step.n;
  for (int64_t row = 0; row < step.rows; ++row) {
    const T* const gates = row_of<T>(step.gates, row, 4 * n);
    const T *const cell = row_of<T>(step.cell, row, n), *const before =
                                                            row_of<T>(step.cell_before, row, n);
    const T *const grad_hidden = row_of<T>(step.grad_hidden, row, n), *const carried = row_of<T>(
                                                                          step.carried, row, n);
    T *const grad_cell = row_of<T>(step.grad_cell, row, n),
             *const grad_gates = row_of<T>(step.grad_gates, row, 4 * n),
             *const hidden = step.hidden == nullptr ? nullptr : row_of<T>(step.hidden, row, n);
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> write = access.load(gates, i), keep = access.load(gates, n + i);
      const Vec<T> fresh = access.load(gates, 2 * n + i), read = access.load(gates, 3 * n + i);
      const Vec<T> level = tanh(access.load(cell, i));
      const Vec<T> grad_h = access.load(grad_hidden, i) + access.load(carried, i);
      const Vec<T> grad_c = access.load(grad_cell, i) + chain(grad_h, read * tanh_slope(level));
      access.store(grad_gates, i, chain(grad_c, fresh * sigmoid_slope(write)));
      access.store(grad_gates, n + i, chain(grad_c, access.load(before, i) * sigmoid_slope(keep)));
      access.store(grad_gates, 2 * n + i, chain(grad_c, write * tanh_slope(fresh)));
      access.store(grad_gates, 3 * n + i, chain(grad_h, level * sigmoid_slope(read)));
      access.store(grad_cell, i, chain(grad_c, keep));
      if (hidden != nullptr) access.store(hidden, i, read * level);
    });
  }
}

template <typename T>
void gru_step(const GruStep& step) {
  const int64_t n = step.n;
  for (int64_t row = 0; row < step.rows; ++row) {
    const T *const inputs = row_of<T>(step.inputs, row, 3 * n), *const own =
                                                                    row_of<T>(step.own, row, 3 * n);
    const T* const before = row_of<T>(step.before, row, n);
    T *const gates = row_of<T>(step.gates, row, 4 * n), *const hidden =
                                                            row_of<T>(step.hidden, row, n);
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> reset = sigmoid(access.load(inputs, i) + access.load(own, i));
      const Vec<T> keep = sigmoid(access.load(inputs, n + i) + access.load(own, n + i));
      const Vec<T> last = access.load(own, 2 * n + i);
      const Vec<T> fresh = tanh(access.load(inputs, 2 * n + i) + reset * last);
      access.store(gates, i, reset);
      access.store(gates, n + i, keep);
      access.store(gates, 2 * n + i, fresh);
      access.store(gates, 3 * n + i, last);
      access.store(hidden, i, (Vec<T>(T(1)) - keep) * fresh + keep * access.load(before, i));
    });
  }
}

template <typename T>
void gru_rule(const GruRule& step) {
  const int64_t n = step.n;
  for (int64_t row = 0; row < step.rows; ++row) {
    const T* const gates = row_of<T>(step.gates, row, 4 * n);
    const T *const before = row_of<T>(step.before, row, n), *const grad_hidden =
                                                                row_of<T>(step.grad_hidden, row, n);
    T* const carried = row_of<T>(step.carried, row, n);
    T *const of_inputs = row_of<T>(step.of_inputs, row, 3 * n), *const of_own = row_of<T>(
                                                                    step.of_own, row, 3 * n);
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> reset = access.load(gates, i), keep = access.load(gates, n + i);
      const Vec<T> fresh = access.load(gates, 2 * n + i), last = access.load(gates, 3 * n + i);
      const Vec<T> grad = access.load(grad_hidden, i) + access.load(carried, i);
      const Vec<T> to_fresh = (Vec<T>(T(1)) - keep) * tanh_slope(fresh);
      const Vec<T> of_reset = chain(grad, to_fresh * last * sigmoid_slope(reset));
      const Vec<T> of_keep = chain(grad, (access.load(before, i) - fresh) * sigmoid_slope(keep));
      const Vec<T> of_fresh = chain(grad, to_fresh);
      access.store(of_inputs, i, of_reset);
      access.store(of_inputs, n + i, of_keep);
      access.store(of_inputs, 2 * n + i, of_fresh);
      access.store(of_own, i, of_reset);
      access.store(of_own, n + i, of_keep);
      access.store(of_own, 2 * n + i, chain(of_fresh, reset));
      access.store(carried, i, chain(grad, keep));
    });
  }
}

}  // namespace

RecurrentKernels recurrent_kernels() {
  return {{rnn_step<float>, rnn_step<double>},   {rnn_rule<float>, rnn_rule<double>},
          {lstm_step<float>, lstm_step<double>}, {lstm_rule<float>, lstm_rule<double>},
          {gru_step<float>, gru_step<double>},   {gru_rule<float>, gru_rule<double>}};
}

}  // namespace extensor::EX_ISA
