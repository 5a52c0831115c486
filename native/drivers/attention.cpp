#include "attention.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "../runtime/memory.h"
#include "copying.h"
#include "products.h"

namespace extensor {
namespace {

constexpr int64_t kBlock = 64;  // queries whose scores are computed together

// The memory of a stack for the time of a run.
class StackMemory {
 public:
  StackMemory(const GivenStack& stack, const Buffers& buffers)
      : stack_(stack), data_(buffers.inputs[stack.place]) {
    if (stack.copied) data_ = copy_.emplace(stack.layout, data_).data();
  }
  const MatrixStack& stack() const { return stack_; }
  const char* data() const { return data_; }

 private:
  const MatrixStack& stack_;
  const char* data_;
  std::optional<Contiguous> copy_;
};

// What one run reads.
struct Memory {
  const AttentionProblem& problem;
  StackMemory q, k, v;
  const char* mask;  // or null
  double scale;

  Memory(const AttentionProblem& given, const Buffers& buffers)
      : problem(given),
        q(given.q, buffers),
        k(given.k, buffers),
        v(given.v, buffers),
        mask(given.mask < 0 ? nullptr : buffers.inputs[given.mask]),
        scale(buffers.numbers[given.scale]) {}

  int64_t offset(const int64_t* strides, int64_t index) const {
    int64_t result = 0;
    for (int axis = problem.batch_axes - 1; axis >= 0; --axis) {
      result += index % problem.batch_shape[axis] * strides[axis];
      index /= problem.batch_shape[axis];
    }
    return result;
  }
  // Of a matrix, the rows from `first` on.
  template <typename T>
  const T* rows(const StackMemory& memory, int64_t index, int64_t first = 0) const {
    const MatrixStack& stack = memory.stack();
    return reinterpret_cast<const T*>(memory.data() + offset(stack.batch_strides, index)) +
           first * stack.step;
  }
  template <typename T>
  T* rows(const MatrixStack& stack, char* data, int64_t index, int64_t first = 0) const {
    return reinterpret_cast<T*>(data + offset(stack.batch_strides, index)) + first * stack.step;
  }

  // How many keys the queries up to `end` may see at most.
  int64_t reach(int64_t end) const {
    return problem.causal ? std::min(end, problem.k.length) : problem.k.length;
  }
  AttentionRow row(int64_t index, int64_t query, int64_t keys) const {
    AttentionRow result = {reach(query + 1), keys, scale, nullptr, nullptr};
    if (mask != nullptr) {
      const char* const at = mask + offset(problem.mask_batch, index) + query * problem.mask_query;
      (problem.mask_is_boolean ? result.shown : result.added) = at;
    }
    return result;
  }
};

template <typename T>
void attend(const AttentionProblem& problem, const Buffers& buffers) {
  const auto& kernel = kernels().attention;
  const Memory memory(problem, buffers);
  const MatrixStack &q = problem.q, &k = problem.k, &v = problem.v, &output = problem.output;
  char* const results = buffers.outputs[output.place];
  double* const logarithms = reinterpret_cast<double*>(buffers.outputs[problem.logarithms]);
  const int64_t blocks = (q.length + kBlock - 1) / kBlock, width = v.features;
  parallel_for(problem.batch * blocks, [&](int64_t task) {
    const int64_t index = task / blocks, first = task % blocks * kBlock;
    const int64_t rows = std::min(kBlock, q.length - first), keys = memory.reach(first + rows);
    const TemporaryBlock scratch(rows * keys * sizeof(T));
    T* const scores = reinterpret_cast<T*>(scratch.data());
    run_alone(product<T>(rows, q.features, keys, {memory.rows<T>(memory.q, index, first), q.step},
                         {memory.rows<T>(memory.k, index), k.step, true}, scores, keys));
    double totals[kBlock];
    for (int64_t i = 0; i < rows; ++i) {
      double shift;
      kernel.weights[Computed<T>::element](memory.row(index, first + i, keys), scores + i * keys,
                                           totals[i], shift);
      logarithms[index * q.length + first + i] = std::log(static_cast<T>(totals[i])) + shift;
    }
    T* const out = memory.rows<T>(output, results, index, first);
    run_alone(product<T>(rows, keys, width, {scores, keys},
                         {memory.rows<T>(memory.v, index), v.step}, out, output.step));
    for (int64_t i = 0; i < rows; ++i) {
      if (totals[i] == 0) continue;
      kernel.divide[Computed<T>::element](out + i * output.step, width, totals[i]);
    }
  });
}

template <typename T>
void clear(T* matrix, const MatrixStack& stack) {
  for (int64_t row = 0; row < stack.length; ++row) {
    std::fill_n(matrix + row * stack.step, stack.features, T(0));
  }
}

// The gradients of k and v are summed block by block in order.
template <typename T>
void attend_backward(const AttentionRuleProblem& problem, const Buffers& buffers) {
  const auto& kernel = kernels().attention;
  const Memory memory(problem.attention, buffers);
  const StackMemory gradients(problem.gradient, buffers), outputs(problem.output, buffers);
  const Contiguous sums(problem.logarithms, buffers.inputs[problem.logarithms_place]);
  const MatrixStack &q = problem.attention.q, &k = problem.attention.k, &v = problem.attention.v;
  char* const results[] = {buffers.outputs[problem.to_q.place], buffers.outputs[problem.to_k.place],
                           buffers.outputs[problem.to_v.place]};
  const int64_t depth = q.features, width = v.features;
  parallel_for(problem.attention.batch, [&](int64_t index) {
    const T *const keys_of = memory.rows<T>(memory.k, index), *const values_of =
                                                                  memory.rows<T>(memory.v, index);
    T *const to_k = memory.rows<T>(problem.to_k, results[1], index), *const to_v = memory.rows<T>(
                                                                         problem.to_v, results[2],
                                                                         index);
    clear(to_k, problem.to_k);
    clear(to_v, problem.to_v);
    const TemporaryBlock scratch(2 * std::min(kBlock, q.length) * k.length * sizeof(T));
    for (int64_t first = 0; first < q.length; first += kBlock) {
      const int64_t rows = std::min(kBlock, q.length - first), keys = memory.reach(first + rows);
      T *const scores = reinterpret_cast<T*>(scratch.data()), *const inner = scores + rows * keys;
      const Factor<T> queries = {memory.rows<T>(memory.q, index, first), q.step};
      const Factor<T> gradient = {memory.rows<T>(gradients, index, first), problem.gradient.step};
      const T* const output = memory.rows<T>(outputs, index, first);
      const double* const logarithms = sums.as<double>() + index * q.length + first;
      run_alone(product<T>(rows, depth, keys, queries, {keys_of, k.step, true}, scores, keys));
      run_alone(product<T>(rows, width, keys, gradient, {values_of, v.step, true}, inner, keys));
      for (int64_t i = 0; i < rows; ++i) {
        const double along = kernel.chained_sum[Computed<T>::element](
            gradient.data + i * gradient.step, output + i * problem.output.step, width);
        kernel.rule[Computed<T>::element](memory.row(index, first + i, keys), logarithms[i], along,
                                          scores + i * keys, inner + i * keys);
      }
      run_alone(product<T>(rows, keys, depth, {inner, keys}, {keys_of, k.step},
                           memory.rows<T>(problem.to_q, results[0], index, first),
                           problem.to_q.step));
      Gemm<T> into_k =
          product<T>(keys, rows, depth, {inner, keys, true}, queries, to_k, problem.to_k.step);
      Gemm<T> into_v =
          product<T>(keys, rows, width, {scores, keys, true}, gradient, to_v, problem.to_v.step);
      into_k.accumulate = into_v.accumulate = true;
      run_alone(into_k);
      run_alone(into_v);
    }
  });
}

}  // namespace

bool MatrixStack::read(const Layout& layout) {
  const int axes = layout.ndim();
  length = layout.length(axes - 2);
  features = layout.length(axes - 1);
  const int64_t stride = layout.strides[axes - 2];
  if (features > 1 && layout.strides[axes - 1] != layout.itemsize) return false;
  if (stride % layout.itemsize != 0) return false;
  step = stride / layout.itemsize;
  std::copy_n(layout.strides, axes - 2, batch_strides);
  return true;
}

void GivenStack::read() {
  copied = !MatrixStack::read(layout);
  if (copied) MatrixStack::read(contiguous_layout(layout.dtype, layout.shape));
}

void run_attention(const AttentionProblem& problem, const Buffers& buffers) {
  problem.dtype == DType::float32 ? attend<float>(problem, buffers)
                                  : attend<double>(problem, buffers);
}

void run_attention_rule(const AttentionRuleProblem& problem, const Buffers& buffers) {
  problem.attention.dtype == DType::float32 ? attend_backward<float>(problem, buffers)
                                            : attend_backward<double>(problem, buffers);
}

}  // namespace extensor
