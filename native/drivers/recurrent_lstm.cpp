#include "recurrent_steps.h"

namespace extensor {
namespace {

template <typename T>
void lstm(const RecurrentProblem& problem, const Buffers& buffers) {
  const RecurrentSize& size = problem.size;
  const int64_t n = size.units, width = size.width(), plane = size.batch * n;
  const RecurrentInputs in(problem, buffers);
  const T *const x = in.as<T>(0), *const h0 = in.as<T>(1), *const c0 = in.as<T>(2);
  T* const h = reinterpret_cast<T*>(buffers.outputs[0]);
  T* const g = reinterpret_cast<T*>(buffers.outputs[2]);
  T* const c = reinterpret_cast<T*>(buffers.outputs[3]);
  const TemporaryElements<T> bias(width);
  add_biases(width, in.as<T>(5), in.as<T>(6), bias.data());
  multiply_inputs(size, x, in.as<T>(3), bias.data(), g);
  const StateWeight<T> weight(size, in.as<T>(4));
  for_blocks(size, [&](int64_t first, int64_t rows) {
    const T *before = h0 + first * n, *cell_before = c0 + first * n;
    for (int64_t t = 0; t < size.steps; ++t) {
      const int64_t at = t * plane + first * n, gate = (t * size.batch + first) * width;
      Gemm<T> step = product<T>(rows, n, width, {before, n}, weight.factor(), g + gate, width);
      step.accumulate = true;
      run_alone(step);
      kernels().recurrent.lstm[Computed<T>::element](
          {rows, n, g + gate, cell_before, c + at, h + at});
      before = h + at;
      cell_before = c + at;
    }
  });
  std::memcpy(buffers.outputs[1], c + (size.steps - 1) * plane, plane * sizeof(T));
}

template <typename T>
void lstm_rule(const RecurrentProblem& problem, const Buffers& buffers) {
  const RecurrentSize& size = problem.size;
  const int64_t n = size.units, width = size.width(), plane = size.batch * n;
  const RecurrentInputs in(problem, buffers);
  const T *const grad_hidden = in.as<T>(0), *const x = in.as<T>(1), *const h0 = in.as<T>(2);
  const T *const c0 = in.as<T>(3), *const w_ih = in.as<T>(4), *const w_hh = in.as<T>(5);
  const T *const g = in.as<T>(8), *const c = in.as<T>(9), *const grad_last = in.as<T>(10);
  const TemporaryElements<T> gradient(size.rows() * width), states(size.rows() * n);
  const NeededOutput<T> grad_h0(buffers.outputs[1], plane);
  T *const d = gradient.data(), *const before = states.data(), *const carried = grad_h0.data();
  T* const of_cell = reinterpret_cast<T*>(buffers.outputs[2]);
  std::memcpy(before, h0, plane * sizeof(T));
  std::memcpy(of_cell, grad_last, plane * sizeof(T));
  std::fill_n(carried, plane, T(0));
  for_blocks(size, [&](int64_t first, int64_t rows) {
    for (int64_t t = size.steps - 1; t >= 0; --t) {
      const int64_t at = t * plane + first * n, gate = (t * size.batch + first) * width;
      const T* const cell_before = t > 0 ? c + at - plane : c0 + first * n;
      T* const state = t + 1 < size.steps ? before + at + plane : nullptr;
      kernels().recurrent.lstm_rule[Computed<T>::element]({rows, n, g + gate, cell_before, c + at,
                                                           grad_hidden + at, carried + first * n,
                                                           of_cell + first * n, d + gate, state});
      if (t == 0 && buffers.outputs[1] == nullptr) break;
      run_alone(product<T>(rows, width, n, {d + gate, width}, {w_hh, n}, carried + first * n, n));
    }
  });
  const StepGradients<T> gradients = {d, d};
  gradients.to_x(size, w_ih, buffers.outputs[0]);
  gradients.to_weights(size, x, before, buffers.outputs + 3);
}

}  // namespace

void run_lstm(const RecurrentProblem& problem, const Buffers& buffers) {
  problem.dtype == DType::float32 ? lstm<float>(problem, buffers) : lstm<double>(problem, buffers);
}

void run_lstm_rule(const RecurrentProblem& problem, const Buffers& buffers) {
  problem.dtype == DType::float32 ? lstm_rule<float>(problem, buffers)
                                  : lstm_rule<double>(problem, buffers);
}

}  // namespace extensor
