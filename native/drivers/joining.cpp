#include "joining.h"

#include <algorithm>

#include "copying.h"

namespace extensor {
namespace {

void join(const Joining& joining, const int64_t* inputs, const Buffers& buffers) {
  const int axis = joining.axis, ndim = joining.whole.ndim();
  Layout from, to;
  copy_layout(joining.whole, from);
  copy_layout(joining.whole, to);
  int64_t per_length = 1;
  for (int other = 0; other < ndim; ++other) {
    if (other != axis) per_length *= to.length(other);
  }
  char* target = buffers.outputs[0];
  for (int i = 0; i < joining.count; ++i, inputs += joining.numbers_per_input()) {
    const int64_t length = inputs[0];
    from.shape.lengths[axis] = to.shape.lengths[axis] = length;
    from.size = to.size = length * per_length;
    std::copy_n(inputs + 1, ndim, from.strides);
    copy_elements(from, buffers.inputs[i], to, target);
    target += length * to.strides[axis];
  }
}

}  // namespace

void run_join(const JoinProblem& problem, const Buffers& buffers) {
  join(problem, problem.inputs, buffers);
}

void run_long_join(const LongJoinProblem& problem, const Buffers& buffers) {
  join(problem, problem.inputs.data(), buffers);
}

}  // namespace extensor
