// What a recurrence does between its products: one pass over the gates of a step, and one for its
// rule. Rows are samples; a row of gates holds them one after the other.
#include "recurrent.h"

#include "math.h"
#include "pass.h"
#include "steps.h"

namespace extensor::EX_ISA {
namespace {

// The derivatives of sigmoid and tanh, from their values.
template <typename T>
EX_INLINE Vec<T> of_sigmoid(Vec<T> y) {
  return y * (Vec<T>(T(1)) - y);
}
template <typename T>
EX_INLINE Vec<T> of_tanh(Vec<T> y) {
  return (Vec<T>(T(1)) - y) * (Vec<T>(T(1)) + y);
}

template <typename T, bool kRelu>
void rnn_step(void* state, int64_t n) {
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    const Vec<T> x = access.load(state, i);
    access.store(state, i, kRelu ? maximum(x, Vec<T>(T(0))) : tanh(x));
  });
}

template <typename T, bool kRelu>
void rnn_rule(const void* gradient, const void* carried, const void* state, void* inner,
              int64_t n) {
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    const Vec<T> given = access.load(gradient, i) + access.load(carried, i);
    const Vec<T> y = access.load(state, i);
    access.store(inner, i,
                 kRelu ? select(y > Vec<T>(T(0)), given, Vec<T>(T(0))) : chain(given, of_tanh(y)));
  });
}

template <typename T>
void lstm_step(void* gates, const void* before, void* cell, void* state, int64_t rows, int64_t n) {
  for (int64_t row = 0; row < rows; ++row) {
    T* gate = static_cast<T*>(gates) + row * 4 * n;
    const T* old = static_cast<const T*>(before) + row * n;
    T *c = static_cast<T*>(cell) + row * n, *h = static_cast<T*>(state) + row * n;
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> write = sigmoid(access.load(gate, i));
      const Vec<T> keep = sigmoid(access.load(gate + n, i));
      const Vec<T> fresh = tanh(access.load(gate + 2 * n, i));
      const Vec<T> read = sigmoid(access.load(gate + 3 * n, i));
      const Vec<T> level = keep * access.load(old, i) + write * fresh;
      access.store(gate, i, write);
      access.store(gate + n, i, keep);
      access.store(gate + 2 * n, i, fresh);
      access.store(gate + 3 * n, i, read);
      access.store(c, i, level);
      access.store(h, i, read * tanh(level));
    });
  }
}

template <typename T>
void lstm_rule(const LstmStep& step, int64_t first, int64_t rows, int64_t n) {
  for (int64_t row = first; row < first + rows; ++row) {
    const auto at = [&](auto* data) { return static_cast<const T*>(data) + row * n; };
    const auto to = [&](void* data) { return static_cast<T*>(data) + row * n; };
    const T* gate = static_cast<const T*>(step.gates) + row * 4 * n;
    T* inner = static_cast<T*>(step.inner) + row * 4 * n;
    T* to_cell = to(step.to_cell);
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> write = access.load(gate, i), keep = access.load(gate + n, i);
      const Vec<T> fresh = access.load(gate + 2 * n, i), read = access.load(gate + 3 * n, i);
      const Vec<T> level = tanh(access.load(at(step.cell), i));
      const Vec<T> to_state = access.load(at(step.gradient), i) + access.load(at(step.carried), i);
      const Vec<T> of_cell = access.load(to_cell, i) + chain(to_state, read * of_tanh(level));
      access.store(inner, i, chain(of_cell, fresh * of_sigmoid(write)));
      access.store(inner + n, i,
                   chain(of_cell, access.load(at(step.before), i) * of_sigmoid(keep)));
      access.store(inner + 2 * n, i, chain(of_cell, write * of_tanh(fresh)));
      access.store(inner + 3 * n, i, chain(to_state, level * of_sigmoid(read)));
      access.store(to_cell, i, chain(of_cell, keep));
      access.store(to(step.state), i, read * level);
    });
  }
}

template <typename T>
void gru_step(const void* of_x, const void* of_h, const void* before, void* gates, void* state,
              int64_t rows, int64_t n) {
  for (int64_t row = 0; row < rows; ++row) {
    const T* x = static_cast<const T*>(of_x) + row * 3 * n;
    const T* own = static_cast<const T*>(of_h) + row * 3 * n;
    const T* old = static_cast<const T*>(before) + row * n;
    T *gate = static_cast<T*>(gates) + row * 4 * n, *h = static_cast<T*>(state) + row * n;
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> reset = sigmoid(access.load(x, i) + access.load(own, i));
      const Vec<T> keep = sigmoid(access.load(x + n, i) + access.load(own + n, i));
      const Vec<T> last = access.load(own + 2 * n, i);
      const Vec<T> fresh = tanh(access.load(x + 2 * n, i) + reset * last);
      access.store(gate, i, reset);
      access.store(gate + n, i, keep);
      access.store(gate + 2 * n, i, fresh);
      access.store(gate + 3 * n, i, last);
      access.store(h, i, (Vec<T>(T(1)) - keep) * fresh + keep * access.load(old, i));
    });
  }
}

template <typename T>
void gru_rule(const GruStep& step, int64_t first, int64_t rows, int64_t n) {
  for (int64_t row = first; row < first + rows; ++row) {
    const auto at = [&](auto* data) { return static_cast<const T*>(data) + row * n; };
    const T* gate = static_cast<const T*>(step.gates) + row * 4 * n;
    T* of_x = static_cast<T*>(step.of_x) + row * 3 * n;
    T* of_h = static_cast<T*>(step.of_h) + row * 3 * n;
    T* carried = static_cast<T*>(step.carried) + row * n;
    for_each_vector<T>(n, [&](auto access, int64_t i) {
      const Vec<T> reset = access.load(gate, i), keep = access.load(gate + n, i);
      const Vec<T> fresh = access.load(gate + 2 * n, i), last = access.load(gate + 3 * n, i);
      const Vec<T> given = access.load(at(step.gradient), i) + access.load(carried, i);
      const Vec<T> to_fresh = chain(given, (Vec<T>(T(1)) - keep) * of_tanh(fresh));
      const Vec<T> to_keep =
          chain(given, (access.load(at(step.before), i) - fresh) * of_sigmoid(keep));
      const Vec<T> to_reset = chain(to_fresh, last * of_sigmoid(reset));
      access.store(of_x, i, to_reset);
      access.store(of_x + n, i, to_keep);
      access.store(of_x + 2 * n, i, to_fresh);
      access.store(of_h, i, to_reset);
      access.store(of_h + n, i, to_keep);
      access.store(of_h + 2 * n, i, chain(to_fresh, reset));
      access.store(carried, i, chain(given, keep));
    });
  }
}

}  // namespace

RecurrentKernels recurrent_kernels() {
  return {{{rnn_step<float, false>, rnn_step<float, true>},
           {rnn_step<double, false>, rnn_step<double, true>}},
          {{rnn_rule<float, false>, rnn_rule<float, true>},
           {rnn_rule<double, false>, rnn_rule<double, true>}},
          {lstm_step<float>, lstm_step<double>},
          {lstm_rule<float>, lstm_rule<double>},
          {gru_step<float>, gru_step<double>},
          {gru_rule<float>, gru_rule<double>}};
}

}  // namespace extensor::EX_ISA
