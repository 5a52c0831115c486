// What the kernels of one instruction set offer to the drivers: tables of functions over plain,
// contiguous memory. Nothing here knows Python.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "../runtime/threads.h"
#include "convolution/shape.h"
#include "element.h"
#include "layer_tables.h"
#include "matrix/gemm.h"

namespace extensor {

// One pass over memory: n elements of every input to n elements of every output.
using Pass = void (*)(const void* const* inputs, void* const* outputs, int64_t n,
                      const double* parameters);

// out = f(inputs...; parameters...). A boolean input or output is a byte, 0 or 1.
struct Elementwise {
  const char* name;
  int inputs;
  int parameters;
  bool first_is_boolean;
  bool result_is_boolean;
  Cost cost;
  Pass pass[kElements];
  // Whether the parameters make sense; null if all do. Others are left to Python, which complains.
  bool (*accepts)(const double* parameters) = nullptr;
  bool is_choice = false;  // its parameter is True or False, no number
};

// The types of integer kernels. A boolean is a byte, and true if that is not 0.
enum class Integer : uint8_t { boolean, int32, int64 };
constexpr int kIntegers = 3;

// An elementwise kernel of integers, modulo 2^32 or 2^64; null where a type has none. A boolean
// input or output beside them is a byte, as above.
struct IntegerKernel {
  const char* name;
  int inputs;
  bool first_is_boolean, result_is_boolean;
  Cost cost;
  Pass pass[kIntegers];
};

// The two gradients of a binary op from (grad_output, a, b; parameters...), together or alone.
struct BinaryRule {
  const char* name;
  int parameters;
  Cost cost;
  Pass both[kElements], first[kElements], second[kElements];

  // The pass for those gradients that are needed, at least one.
  Pass pass(Element element, bool needs_first, bool needs_second) const {
    const int i = static_cast<int>(element);
    return !needs_second ? first[i] : !needs_first ? second[i] : both[i];
  }
};

// Logic on floats, where anything but 0 is true. Of booleans it needs no kernels.
struct LogicKernels {
  Elementwise logical_and, logical_or, logical_xor, logical_not;
};

// Kernels of ops that lay their operands beside each other in their own ways.
struct ArrangedKernels {
  Elementwise prelu;
  BinaryRule prelu_rule;
  Elementwise glu;
  BinaryRule glu_rule;
  Elementwise logsumexp_rule;
};

// A reduction of contiguous memory. `rows` reduces each of `count` rows of n elements to one;
// `columns` reduces n rows of `width` elements, `stride` apart, to one row. The results of parts
// are reduced by the reduction called `joined_by`.
struct Reduction {
  const char *name, *joined_by;
  void (*rows[kElements])(const void* x, int64_t count, int64_t n, void* out);
  void (*columns[kElements])(const void* x, int64_t n, int64_t stride, int64_t width, void* out);
};

// A reduction of n contiguous rows of `width` integers to one row. A sum has int64 results, the
// others have those of their type.
struct IntegerReduction {
  const char* name;
  bool is_sum;
  void (*columns[kIntegers])(const void* x, int64_t n, int64_t width, void* out);
};

// The place of the first of n integers that no other surpasses.
struct IntegerSearch {
  int64_t (*largest[kIntegers])(const void* x, int64_t n);
  int64_t (*smallest[kIntegers])(const void* x, int64_t n);
};

// A function of whole rows: `rows` rows of n contiguous elements of one or two inputs to as many.
struct RowKernel {
  const char* name;
  int inputs;
  void (*rows[kElements])(const void* const* inputs, void* out, int64_t rows, int64_t n);
};

// Running sums of contiguous memory: along each of `count` rows of n elements, or down n rows of
// `width` elements, `stride` apart.
struct Cumulative {
  const char* name;
  void (*rows[kElements])(const void* x, int64_t count, int64_t n, void* out);
  void (*columns[kElements])(const void* x, int64_t n, int64_t stride, int64_t width, void* out);
};

// Each of `count` rows of n elements to one.
struct LogSumExp {
  void (*rows[kElements])(const void* x, int64_t count, int64_t n, void* out);
};

// Cross-entropy of class indices: `rows` rows of n logits. `losses` writes one number for each row,
// `gradients` a row of scale * (softmax - one_hot); a target equal to `ignored` gives zeros. Of
// logits that are log-probabilities already, `chosen` and `placed` write the same: minus the one of
// the target, and a row of -scale * one_hot.
struct CrossEntropy {
  void (*losses[kElements])(const void* logits, const int64_t* targets, int64_t rows, int64_t n,
                            int64_t ignored, void* out);
  void (*gradients[kElements])(const void* logits, const int64_t* targets, int64_t rows, int64_t n,
                               int64_t ignored, double scale, void* out);
  void (*chosen[kElements])(const void* logits, const int64_t* targets, int64_t rows, int64_t n,
                            int64_t ignored, void* out);
  void (*placed[kElements])(const int64_t* targets, int64_t rows, int64_t n, int64_t ignored,
                            double scale, void* out);
  // The first two with a weight for each class, or null, and a share of equal probabilities that is
  // mixed into the targets.
  void (*mixed_losses[kElements])(const void* logits, const int64_t* targets, int64_t rows,
                                  int64_t n, int64_t ignored, const void* weights, double smoothing,
                                  void* out);
  void (*mixed_gradients[kElements])(const void* logits, const int64_t* targets, int64_t rows,
                                     int64_t n, int64_t ignored, const void* weights,
                                     double smoothing, double scale, void* out);
};

// A rule along an axis: for rows of n contiguous elements, and for n rows of `width` elements,
// `stride` apart.
struct AxisRule {
  void (*rows[kElements])(const void* gradient, const void* x, int64_t rows, int64_t n, void* out);
  void (*columns[kElements])(const void* gradient, const void* x, int64_t n, int64_t stride,
                             int64_t width, void* out);
};

// The rule of max or min. A row too long for one task: `count` its winners in pieces of at most
// 2^24, then `share` the gradient among all of them.
struct ExtremeRule {
  const char* name;
  const char* reduction;
  AxisRule whole;
  int64_t (*count[kElements])(const void* x, int64_t n, double best);
  void (*share[kElements])(const void* x, int64_t n, double best, double gradient, int64_t count,
                           void* out);
};

// The place of the first of n elements that is `best`, or NaN if that is NaN; n if there is none.
struct SearchKernel {
  int64_t (*first[kElements])(const void* x, int64_t n, double best);
};

// A loss of pairs of numbers. `each` gives the losses of n pairs, `sum` adds them; the rule takes
// the gradient of each loss. `weights` optional inputs must not be given.
struct LossKernel {
  const char* name;
  int weights;
  int parameters;
  Cost cost;
  Pass each[kElements], sum[kElements];
  BinaryRule rule;
  bool (*accepts)(const double* parameters) = nullptr;
  bool by_batch = false;  // whether there is a "batchmean"
  bool checked = false;   // whether Python refuses some inputs: those whose losses are NaN
};

// The types that are converted to floats: bool, int8 to int64, uint8 to uint64, float32, float64.
constexpr int kNumbers = 11;
using Convert = void (*)(const void* source, void* target, int64_t n);

struct CopyKernels {
  // `rows` rows of `columns` elements of 1, 2, 4 or 8 bytes, where a step along a row is
  // `source_step` bytes and a step along a column one element; the target's rows are contiguous.
  void (*transpose[4])(const char* source, int64_t source_step, char* target, int64_t target_step,
                       int64_t rows, int64_t columns);
  std::array<Convert, kNumbers> to_float[kElements];
  void (*to_odd)(const double* source, float* target, int64_t n);
};

// Additions at positions, which must be inside the target. `rows` adds rows of `width` elements to
// the rows from `begin` to `end`; `elements` has a position for each element, which stays in its
// column.
struct IndexKernels {
  void (*add_rows[kElements])(const void* updates, const int64_t* positions, int64_t count,
                              int64_t width, int64_t begin, int64_t end, void* target);
  void (*add_elements[kElements])(const void* updates, const int64_t* positions, int64_t count,
                                  int64_t width, void* target);
};

// Conversions of n elements between float32 and the 16-bit floats.
struct HalfFormat {
  void (*widen)(const uint16_t* source, float* target, int64_t n);
  void (*narrow)(const float* source, uint16_t* target, int64_t n);
};

template <typename Operand>
using GemmKernel = void (*)(const Gemm<Operand>& problem, const Workers& workers);

// Where random numbers begin: every seed and stream has 2^64 blocks of four words.
struct RandomStream {
  uint64_t seed, stream, block;
};

// fraction * scale + low for a fraction in [0, 1), never above `last`.
struct UniformRange {
  double low, scale, last;
};

// Fills of n elements with random numbers. A block makes four elements of 32 bits, or two integers
// or float64. Integers are for 1, 2, 4 and 8 bytes: low, low + 1, ... low + span modulo 2^64.
struct RandomFills {
  void (*bits)(RandomStream stream, int64_t n, void* out);
  // 1 with probability threshold / 2^32, else 0, as bytes or float32.
  void (*bernoulli)(RandomStream stream, int64_t n, void* out, uint64_t threshold, bool as_float);
  void (*uniform[kElements])(RandomStream stream, int64_t n, void* out, UniformRange range);
  void (*normal[kElements])(RandomStream stream, int64_t n, void* out, double mean,
                            double deviation);
  void (*integers[4])(RandomStream stream, int64_t n, void* out, uint64_t low, uint64_t span);
};

// A change in place of n elements of up to kUpdateArrays arrays: the first is what changes (a
// parameter), the second is only read (its gradient), the others are state and change too. Those
// after the `required` ones are null when they are not in use.
constexpr int kUpdateArrays = 5;
constexpr int kUpdateAttributes = 10;
struct UpdateKernel {
  const char* name;
  int arrays, required;
  int attributes;
  Cost cost;
  // Adds to the attributes what is the same for all elements; null if there is nothing.
  void (*prepare)(double* attributes);
  void (*update[kElements])(void* const* arrays, int64_t n, const double* attributes);
};

// LAMB looks at a whole parameter before it moves it: first the moments, and the squares of the
// parameter and of its direction added to two sums; then the move, by a ratio of the two.
struct LambKernel {
  void (*prepare)(double* attributes);
  void (*measure[kElements])(void* const* arrays, int64_t n, const double* attributes,
                             double* squares);
  void (*move[kElements])(void* const* arrays, int64_t n, const double* attributes, double ratio);
};

// Parts of the norm of n elements: adds their squares to a sum, raises a maximum to the largest
// magnitude (NaN if there is one).
struct NormKernel {
  void (*add_squares[kElements])(const void* x, int64_t n, double& total);
  void (*raise_to_largest[kElements])(const void* x, int64_t n, double& largest);
};

struct KernelTable {
  std::span<const Elementwise> elementwise[3];
  std::span<const IntegerKernel> integers;
  std::span<const BinaryRule> binary_rules;
  std::span<const Reduction> reductions;
  std::span<const IntegerReduction> integer_reductions;
  IntegerSearch integer_search;
  std::span<const RowKernel> softmaxes;
  std::span<const Cumulative> cumulatives;
  LogSumExp logsumexp;
  HalfFormat float16, bfloat16;
  GemmKernel<float> gemm_float32;
  GemmKernel<double> gemm_float64;
  GemmKernel<BFloat16> gemm_bfloat16;
  RandomFills random;
  std::span<const UpdateKernel> updates;
  LambKernel lamb;
  NormKernel norm;
  CrossEntropy cross_entropy;
  std::span<const BinaryRule> function_rules;
  BinaryRule where_rule;
  LogicKernels logic;
  ArrangedKernels arranged;
  std::span<const ExtremeRule> extreme_rules;
  AxisRule product_rule;
  SearchKernel search;
  std::span<const LossKernel> losses;
  CopyKernels copies;
  IndexKernels indexing;
  ConvolutionKernel<float> convolution_float32;
  ConvolutionKernel<double> convolution_float64;
  MaxPooling max_pooling;
  MeanPooling mean_pooling;
  NormalizationKernels normalization;
  RowNormalizationKernels row_normalization;
  ColumnNormalizationKernels column_normalization;
  RecurrentKernels recurrent;
  AttentionKernels attention;
};

// The table for the instruction set of this machine.
const KernelTable& kernels();

namespace v2 {
const KernelTable& table();
}
namespace v3 {
const KernelTable& table();
}
namespace v4 {
const KernelTable& table();
}
namespace baseline {
const KernelTable& table();
}

}  // namespace extensor
