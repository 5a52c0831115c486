// What the kernels of pooling, normalization, recurrence and attention offer to their drivers.
#pragma once

#include <cstdint>

#include "element.h"
#include "window.h"

namespace extensor {

// Windows over the planes (rows, columns) of an array: for each plane and window the largest
// element or the mean of those that count. The rules give each element of a plane its share of the
// gradients of its windows. The adaptive ones have as many windows as the output is to have.
struct Pooling {
  WindowAxis rows, columns;
};
constexpr int64_t kMaxPooled = 512;  // elements of a window along a row

struct MaxPooling {
  void (*planes[kElements])(const void* x, int64_t planes, const Pooling& pooling, void* out);
  void (*rule[kElements])(const void* gradient, const void* x, int64_t planes,
                          const Pooling& pooling, void* out);
};
struct MeanPooling {
  void (*planes[kElements])(const void* x, int64_t planes, const Pooling& pooling,
                            bool with_padding, void* out);
  void (*rule[kElements])(const void* gradient, int64_t planes, const Pooling& pooling,
                          bool with_padding, void* out);
  void (*adaptive[kElements])(const void* x, int64_t planes, int64_t height, int64_t width,
                              int64_t rows, int64_t columns, void* out);
  void (*adaptive_rule[kElements])(const void* gradient, int64_t planes, int64_t height,
                                   int64_t width, int64_t rows, int64_t columns, void* out);
};

// The elements that are normalized together: `count` runs of `length` contiguous ones, `stride`
// apart.
struct Segments {
  int64_t count, length, stride;
};

// The mean is first + shift; scale is 1 / sqrt(variance + eps).
struct Moments {
  double first, shift, variance, scale;
};

// What a normalized element of segment k is multiplied with and what is added: the numbers at
// k * step; null for neither.
struct Affine {
  const void *weight, *bias;
  int64_t step;
};

// Normalization of one group.
struct NormalizationKernels {
  Moments (*moments[kElements])(const void* x, const Segments& group, double eps);
  void (*normalize[kElements])(const void* x, const Segments& group, const Moments& moments,
                               const Affine& affine, void* out);
  // The mean alone, with a scale of 1: the sums find the variance on their way.
  Moments (*mean[kElements])(const void* x, const Segments& group);
  // Of each segment the sum of the gradients, and of the gradients times the elements normalized by
  // `moments`. Returns the variance.
  double (*sums[kElements])(const void* gradient, const void* x, const Segments& group,
                            const Moments& moments, double* plain, double* along);
  // From their means, weighted, the gradient of the input.
  void (*gradient[kElements])(const void* gradient, const void* x, const Segments& group,
                              const Moments& moments, const Affine& affine, double mean_plain,
                              double mean_along, void* out);
};

// A part of a matrix: `width` neighbours in each of the rows, which are `stride` apart.
struct Panel {
  int64_t rows, width, stride;
};

// Normalization of rows, by the mean square where it is not `around_mean`. The weight and the bias
// have a number for each column, or are null.
struct RowNormalizationKernels {
  void (*normalize[kElements])(const void* x, const Panel& panel, bool around_mean, double eps,
                               const void* weight, const void* bias, void* out);
  // The gradients of the parameters are added to what is there; null for what is not needed.
  void (*rule[kElements])(const void* gradient, const void* x, const Panel& panel, bool around_mean,
                          double eps, const void* weight, void* out, void* to_weight,
                          void* to_bias);
};

// The same for columns, with a number for each of them too. Moments are found where they are `own`,
// else given.
struct ColumnNormalizationKernels {
  // The means, with a scale of 1, and the variances where they are wanted.
  void (*moments[kElements])(const void* x, const Panel& panel, bool with_variance,
                             Moments* moments);
  void (*normalize[kElements])(const void* x, const Panel& panel, bool own, double eps,
                               Moments* moments, const void* weight, const void* bias, void* out);
  void (*rule[kElements])(const void* gradient, const void* x, const Panel& panel, bool own,
                          double eps, Moments* moments, const void* weight, void* out,
                          void* to_weight, void* to_bias);
};

// One step of a gated recurrence for `rows` sequences of n units, besides its product. The gates of
// a sequence lie side by side, in the order of the weights. All memory is contiguous; what is not
// const is written, `grad_cell` and `carried` after they were read.
struct RnnRule {
  int64_t n;
  const void *output, *grad_output, *carried;
  void* gradient;  // before the nonlinearity
};
struct LstmStep {
  int64_t rows, n;
  void* gates;  // before the nonlinearities, and after
  const void* cell_before;
  void *cell, *hidden;
};
struct LstmRule {
  int64_t rows, n;
  const void *gates, *cell_before, *cell, *grad_hidden, *carried;
  void *grad_cell, *grad_gates;
  void* hidden;  // the state again, or null
};
struct GruStep {
  int64_t rows, n;
  const void *inputs, *own, *before;  // the two products and the last state
  void* gates;                        // reset, keep, the new state, what reset multiplies
  void* hidden;
};
struct GruRule {
  int64_t rows, n;
  const void *gates, *before, *grad_hidden;
  void *carried, *of_inputs, *of_own;
};
struct RecurrentKernels {
  void (*rnn[kElements])(void* states, int64_t n, bool relu);
  void (*rnn_rule[kElements])(const RnnRule& step, bool relu);
  void (*lstm[kElements])(const LstmStep& step);
  void (*lstm_rule[kElements])(const LstmRule& step);
  void (*gru[kElements])(const GruStep& step);
  void (*gru_rule[kElements])(const GruRule& step);
};

// The scores of one query between the products of attention. Of `keys` scores only those before
// `visible` are its own, the others become 0. A mask shows a key (bytes) or is added to its score.
struct AttentionRow {
  int64_t visible, keys;
  double scale;
  const void *shown, *added;  // or null
};
struct AttentionKernels {
  // Scores to exp(score - shift), and their sum.
  void (*weights[kElements])(const AttentionRow& row, void* scores, double& total, double& shift);
  // Scores to weights, and the gradients of the weights to those of the unscaled scores.
  void (*rule[kElements])(const AttentionRow& row, double logarithm, double along, void* scores,
                          void* gradients);
  double (*chained_sum[kElements])(const void* a, const void* b, int64_t n);
  void (*divide[kElements])(void* data, int64_t n, double divisor);
};

}  // namespace extensor
