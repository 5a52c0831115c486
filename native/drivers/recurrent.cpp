#include "recurrent.h"

#include "recurrent_steps.h"

namespace extensor {
namespace {

template <typename T>
void rnn(const RecurrentProblem& problem, const Buffers& buffers) {
  const RecurrentSize& size = problem.size;
  const int64_t n = size.units, plane = size.batch * n;
  const RecurrentInputs in(problem, buffers);
  const T *const x = in.as<T>(0), *const h0 = in.as<T>(1), *const w_ih = in.as<T>(2);
  T* const h = reinterpret_cast<T*>(buffers.outputs[0]);
  const TemporaryElements<T> bias(n);
  add_biases(n, in.as<T>(4), in.as<T>(5), bias.data());
  multiply_inputs(size, x, w_ih, bias.data(), h);
  const StateWeight<T> weight(size, in.as<T>(3));
  for_blocks(size, [&](int64_t first, int64_t rows) {
    const T* before = h0 + first * n;
    for (int64_t t = 0; t < size.steps; ++t) {
      T* const state = h + t * plane + first * n;
      Gemm<T> step = product<T>(rows, n, n, {before, n}, weight.factor(), state, n);
      step.accumulate = true;
      run_alone(step);
      kernels().recurrent.rnn[Computed<T>::element](state, rows * n, problem.relu);
      before = state;
    }
  });
}

template <typename T>
void rnn_rule(const RecurrentProblem& problem, const Buffers& buffers) {
  const RecurrentSize& size = problem.size;
  const int64_t n = size.units, plane = size.batch * n;
  const RecurrentInputs in(problem, buffers);
  const T *const grad_output = in.as<T>(0), *const x = in.as<T>(1), *const h0 = in.as<T>(2);
  const T *const w_ih = in.as<T>(3), *const w_hh = in.as<T>(4), *const output = in.as<T>(5);
  const TemporaryElements<T> gradient(size.rows() * n), states(size.rows() * n);
  const NeededOutput<T> grad_h0(buffers.outputs[1], plane);
  T *const d = gradient.data(), *const carried = grad_h0.data();
  states_before(size, h0, output, states.data());
  std::fill_n(carried, plane, T(0));
  for_blocks(size, [&](int64_t first, int64_t rows) {
    for (int64_t t = size.steps - 1; t >= 0; --t) {
      const int64_t at = t * plane + first * n;
      kernels().recurrent.rnn_rule[Computed<T>::element](
          {rows * n, output + at, grad_output + at, carried + first * n, d + at}, problem.relu);
      if (t == 0 && buffers.outputs[1] == nullptr) break;
      run_alone(product<T>(rows, n, n, {d + at, n}, {w_hh, n}, carried + first * n, n));
    }
  });
  const StepGradients<T> gradients = {d, d};
  gradients.to_x(size, w_ih, buffers.outputs[0]);
  gradients.to_weights(size, x, states.data(), buffers.outputs + 2);
}

}  // namespace

void run_rnn(const RecurrentProblem& problem, const Buffers& buffers) {
  problem.dtype == DType::float32 ? rnn<float>(problem, buffers) : rnn<double>(problem, buffers);
}

void run_rnn_rule(const RecurrentProblem& problem, const Buffers& buffers) {
  problem.dtype == DType::float32 ? rnn_rule<float>(problem, buffers)
                                  : rnn_rule<double>(problem, buffers);
}

}  // namespace extensor
