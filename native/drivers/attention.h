// Attention by blocks of queries: the scores of a block lie in memory, those of all never do.
#pragma once

#include "../door/call.h"

namespace extensor {

// A stack of matrices (..., length, features) whose features are adjacent.
struct MatrixStack {
  int place;  // among the inputs or the outputs
  int64_t length, features;
  int64_t step;  // from row to row, in elements
  int64_t batch_strides[kMaxDimensions];

  // False if the memory does not lie like that.
  bool read(const Layout& layout);
};

// One that is given, copied for the time of a run where its features are not adjacent.
struct GivenStack : MatrixStack {
  bool copied;
  Layout layout;

  // Of the layout, which has at least two axes.
  void read();
};

struct AttentionProblem {
  DType dtype;
  int batch_axes;
  int64_t batch, batch_shape[kMaxDimensions];
  GivenStack q, k, v;
  bool causal;
  int scale;  // the place among the numbers
  // A mask broadcast to the scores, its keys adjacent; the place is -1 if there is none.
  int mask = -1;
  bool mask_is_boolean;
  int64_t mask_query, mask_batch[kMaxDimensions];  // strides in bytes
  // What is computed.
  MatrixStack output;
  int logarithms;  // of the sums that divide the weights: the place among the outputs

  int64_t nanoseconds() const {
    return batch * q.length * k.length * (q.features + v.features) / 32;
  }
};
void run_attention(const AttentionProblem& problem, const Buffers& buffers);

// The gradients of q, k and v. Of the attention, all but the outputs are set.
struct AttentionRuleProblem {
  AttentionProblem attention;
  GivenStack gradient, output;
  int logarithms_place;
  Layout logarithms;
  MatrixStack to_q, to_k, to_v;
};
void run_attention_rule(const AttentionRuleProblem& problem, const Buffers& buffers);

}  // namespace extensor
