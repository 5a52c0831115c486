// The gradient of x of depthwise convolutions with a stride of 2: even and odd columns have kernels
// of their own, whose sums are interleaved before they are stored.
#pragma once

#include "rows.h"

namespace extensor::EX_ISA {
namespace {

// The outputs along an axis by position modulo `count`, as correlations with the same source.
struct Residues {
  int64_t count;
  CorrelationAxis axes[2];

  // Reads whatever one of them does.
  CorrelationAxis cover() const {
    const CorrelationAxis& last = axes[count - 1];
    CorrelationAxis result = axes[0];
    result.first = minimum(axes[0].first, last.first);
    result.taps =
        maximum(axes[0].first + axes[0].reach(1), last.first + last.reach(1)) - result.first;
    result.spacing = 1;
    return result;
  }
  bool have_taps(int64_t first, int64_t second) const {
    return count == 2 && axes[0].taps == first && axes[1].taps == second;
  }
};

// Outputs that meet the same rows of the kernel.
template <typename T>
struct InterleavedRows {
  const T* source;
  int64_t source_row;
  int64_t tap_row;                 // distance of what rows of the kernel meet
  int64_t offsets[2], spacing[2];  // where even and odd columns read
  const T* weights;                // for each row of the kernel, those of even columns first
  T bias;
  T* out;
  int64_t out_row, rows, columns;
};

// a0 b0 a1 b1 ..., from lane `First` of both on.
template <int First, typename V, size_t... I>
EX_INLINE V interleave_all(V a, V b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (First + I / 2 + I % 2 * sizeof...(I))...);
}

// Out of line, as store_narrow is.
template <typename T>
[[gnu::noinline]] void store_narrow_pair(T* target, Vector<T> low, Vector<T> high, int64_t count) {
  store_first(target, low, count);
  if (count > kLanes<T>) store_first(target + kLanes<T>, high, count - kLanes<T>);
}

template <typename T, int Rows, int Even, int Odd>
void correlate_interleaved_rows(const InterleavedRows<T> p) {
  constexpr int lanes = kLanes<T>, taps = Even + Odd;
  constexpr auto indices = std::make_index_sequence<lanes>{};
  Vector<T> weights[Rows][taps];
  int64_t offsets[taps];
  for (int t = 0; t < taps; ++t) {
    const bool odd = t >= Even;
    offsets[t] = p.offsets[odd] + (odd ? t - Even : t) * p.spacing[odd];
    for (int s = 0; s < Rows; ++s) weights[s][t] = broadcast<T>(p.weights[s * taps + t]);
  }
  // The last vectors end with the last column, unless that splits a pair.
  const bool overlaps = p.columns % 2 == 0 && p.columns >= 2 * lanes;
  const int64_t last = overlaps ? p.columns / 2 - lanes : p.columns;
  for (int64_t row = 0; row < p.rows; ++row) {
    for (int64_t next = 0; 2 * next < p.columns; next += lanes) {
      const int64_t pair = minimum(next, last), left = p.columns - 2 * pair;
      const T* source = p.source + row * p.source_row + pair;
      Vector<T> sums[2] = {broadcast<T>(p.bias), broadcast<T>(p.bias)};
#pragma GCC unroll 4
      for (int s = 0; s < Rows; ++s, source += p.tap_row) {
#pragma GCC unroll 8
        for (int t = 0; t < taps; ++t) {
          sums[t >= Even] += weights[s][t] * load(source + offsets[t]);
        }
      }
      const Vector<T> low = interleave_all<0>(sums[0], sums[1], indices);
      const Vector<T> high = interleave_all<lanes / 2>(sums[0], sums[1], indices);
      T* target = p.out + row * p.out_row + 2 * pair;
      if (left < 2 * lanes) {
        store_narrow_pair<T>(target, low, high, left);
      } else {
        store(target, low);
        store(target + lanes, high);
      }
    }
  }
}

// Null for kernels that are not 3 or 5 wide, or too high.
template <typename T>
using InterleavedFunction = void (*)(InterleavedRows<T>);

template <typename T, int Rows>
InterleavedFunction<T> interleaved_function(const Residues& x) {
  if (x.have_taps(1, 2)) return correlate_interleaved_rows<T, Rows, 1, 2>;
  if (x.have_taps(2, 1)) return correlate_interleaved_rows<T, Rows, 2, 1>;
  if (x.have_taps(2, 3)) return correlate_interleaved_rows<T, Rows, 2, 3>;
  if (x.have_taps(3, 2)) return correlate_interleaved_rows<T, Rows, 3, 2>;
  return nullptr;
}

template <typename T>
InterleavedFunction<T> interleaved_function(const CorrelationAxis& y, const Residues& x) {
  if (y.taps == 1) return interleaved_function<T, 1>(x);
  if (y.taps == 2) return interleaved_function<T, 2>(x);
  if (y.taps == 3) return interleaved_function<T, 3>(x);
  return nullptr;
}

template <typename T>
class InterleavedCorrelation {
 public:
  static bool suits(const Residues& y, const Residues& x) {
    for (int64_t i = 0; i < y.count; ++i) {
      if (!interleaved_function<T>(y.axes[i], x)) return false;
    }
    return true;
  }

  // `p` is the correlation of all residues together.
  InterleavedCorrelation(Correlation<T> p, const Residues& y, const Residues& x)
      : y_(y),
        x_(x),
        p_(covering(p)),
        blocks_(cut_into_row_blocks(p_, true)),
        window_(p_, blocks_, 1, 0),
        order_(p.kernel_size) {
    int32_t* next = order_.get();
    for (int64_t a = 0; a < y.count; ++a) {
      functions_[a] = interleaved_function<T>(y.axes[a], x);
      for (int64_t s = y.axes[a].taps - 1; s >= 0; --s) {
        for (int64_t b = 0; b < x.count; ++b) {
          for (int64_t t = x.axes[b].taps - 1; t >= 0; --t) {
            *next++ =
                static_cast<int32_t>(y.axes[a].element(s) * p.weight_row + x.axes[b].element(t));
          }
        }
      }
    }
  }

  void run(ParallelFor run) const {
    const int64_t pairs = p_.batch * p_.groups * p_.y.out * p_.x.out;
    const int64_t tasks = wanted_tasks(kRowCost * pairs * p_.kernel_size);
    for_each_item(run, blocks_.count * p_.groups, tasks, [&](int64_t begin, int64_t end) {
      BlockSource<T> source(p_, blocks_, window_);
      Block<T> weights(p_.kernel_size);
      for (int64_t i = begin; i < end; ++i) {
        const auto [block, group] = blocks_.item(i, p_.groups);
        source.copy(block, group);
        for (int64_t k = 0; k < p_.kernel_size; ++k) {
          weights.get()[k] = p_.weight_of(group, 0)[order_.get()[k]];
        }
        compute(block, group, source.get(), weights.get());
      }
    });
  }

 private:
  Correlation<T> covering(Correlation<T> p) const {
    p.y = y_.cover();
    p.x = x_.cover();
    return p;
  }

  void compute(int64_t block, int64_t group, const T* source, const T* weights) const {
    const int64_t row = blocks_.first_row(block), columns = x_.axes[0].out + x_.axes[1].out;
    T* out = p_.output(blocks_.first_image(block), group) + row * y_.count * columns;
    for (int64_t a = 0; a < y_.count; ++a, out += columns) {
      const CorrelationAxis &y = y_.axes[a], &even = x_.axes[0], &odd = x_.axes[1];
      functions_[a](InterleavedRows<T>{source + (y.first - p_.y.first) * window_.row,
                                       window_.row,
                                       y.spacing * window_.row,
                                       {even.first - p_.x.first, odd.first - p_.x.first},
                                       {even.spacing, odd.spacing},
                                       weights,
                                       p_.bias ? p_.bias[group] : T{0},
                                       out,
                                       y_.count * columns,
                                       minimum(blocks_.rows, y.out - row),
                                       columns});
      weights += y.taps * (even.taps + odd.taps);
    }
  }

  const Residues y_, x_;
  const Correlation<T> p_;
  const Blocks blocks_;
  const Window window_;
  const Block<int32_t> order_;
  InterleavedFunction<T> functions_[2];
};

}  // namespace
}  // namespace extensor::EX_ISA
