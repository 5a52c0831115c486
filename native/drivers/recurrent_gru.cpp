#include "recurrent_steps.h"

namespace extensor {
namespace {

template <typename T>
void gru(const RecurrentProblem& problem, const Buffers& buffers) {
  const RecurrentSize& size = problem.size;
  const int64_t n = size.units, width = size.width(), plane = size.batch * n;
  const RecurrentInputs in(problem, buffers);
  const T *const x = in.as<T>(0), *const h0 = in.as<T>(1), *const b_hh = in.as<T>(5);
  T* const h = reinterpret_cast<T*>(buffers.outputs[0]);
  T* const g = reinterpret_cast<T*>(buffers.outputs[1]);
  const TemporaryElements<T> inputs(size.rows() * width), own(size.batch * width);
  T *const of_x = inputs.data(), *const of_h = own.data();
  multiply_inputs(size, x, in.as<T>(2), in.as<T>(4), of_x);
  const StateWeight<T> weight(size, in.as<T>(3));
  for_blocks(size, [&](int64_t first, int64_t rows) {
    const T* before = h0 + first * n;
    for (int64_t t = 0; t < size.steps; ++t) {
      const int64_t row = t * size.batch + first;
      Gemm<T> step =
          product<T>(rows, n, width, {before, n}, weight.factor(), of_h + first * width, width);
      step.bias = b_hh;
      run_alone(step);
      T* const state = h + t * plane + first * n;
      kernels().recurrent.gru[Computed<T>::element](
          {rows, n, of_x + row * width, of_h + first * width, before, g + row * 4 * n, state});
      before = state;
    }
  });
}

template <typename T>
void gru_rule(const RecurrentProblem& problem, const Buffers& buffers) {
  const RecurrentSize& size = problem.size;
  const int64_t n = size.units, width = size.width(), plane = size.batch * n;
  const RecurrentInputs in(problem, buffers);
  const T *const grad_output = in.as<T>(0), *const x = in.as<T>(1), *const h0 = in.as<T>(2);
  const T *const w_ih = in.as<T>(3), *const w_hh = in.as<T>(4);
  const T *const output = in.as<T>(7), *const g = in.as<T>(8);
  const TemporaryElements<T> of_inputs(size.rows() * width), of_own(size.rows() * width);
  const TemporaryElements<T> states(size.rows() * n);
  const NeededOutput<T> grad_h0(buffers.outputs[1], plane);
  T *const dx = of_inputs.data(), *const dh = of_own.data();
  T *const before = states.data(), *const carried = grad_h0.data();
  states_before(size, h0, output, before);
  std::fill_n(carried, plane, T(0));
  for_blocks(size, [&](int64_t first, int64_t rows) {
    for (int64_t t = size.steps - 1; t >= 0; --t) {
      const int64_t at = t * plane + first * n, row = t * size.batch + first;
      kernels().recurrent.gru_rule[Computed<T>::element]({rows, n, g + row * 4 * n, before + at,
                                                          grad_output + at, carried + first * n,
                                                          dx + row * width, dh + row * width});
      if (t == 0 && buffers.outputs[1] == nullptr) break;
      Gemm<T> step =
          product<T>(rows, width, n, {dh + row * width, width}, {w_hh, n}, carried + first * n, n);
      step.accumulate = true;
      run_alone(step);
    }
  });
  const StepGradients<T> gradients = {dx, dh};
  gradients.to_x(size, w_ih, buffers.outputs[0]);
  gradients.to_weights(size, x, before, buffers.outputs + 2);
}

}  // namespace

void run_gru(const RecurrentProblem& problem, const Buffers& buffers) {
  problem.dtype == DType::float32 ? gru<float>(problem, buffers) : gru<double>(problem, buffers);
}

void run_gru_rule(const RecurrentProblem& problem, const Buffers& buffers) {
  problem.dtype == DType::float32 ? gru_rule<float>(problem, buffers)
                                  : gru_rule<double>(problem, buffers);
}

}  // namespace extensor
