// The elements of an array that are reduced to one number: their mean and variance, and gradients
// that are a multiple of their distances from the mean. All of it is done by the kernels of
// normalization; here is the cut into parts, which depends on the shape alone.
#pragma once

#include <algorithm>

#include "../runtime/memory.h"
#include "statistics.h"

namespace extensor {

class SpreadGroups {
 public:
  enum class Wanted { nothing, mean, variance };

  SpreadGroups(const SpreadAxes& axes, const Storage& storage, const char* x)
      : axes_(axes), element_(storage.index()), itemsize_(storage.wide_itemsize()), x_(x) {
    part_ = axes.by_column() ? kColumnPart : axes.by_row() ? kRowPart : axes.size();
    parts_ = (axes.size() - 1) / part_ + 1;
    // Columns of one batch are neighbours; rows stay in a cache until their gradients are written.
    span_ = axes.by_column() ? axes.inner : axes.groups();
    batch_ = axes.by_column() ? kBatch : std::clamp<int64_t>(kRowPart / axes.size(), 1, kBatch);
    batches_per_span_ = (span_ - 1) / batch_ + 1;
  }

  // Calls finish(first, count, moments) for all groups, a few at a time.
  template <typename Finish>
  void find(Wanted wanted, Finish finish) const {
    if (parts_ == 1) {
      return for_each_batch(1, [&](int64_t, int64_t first, int64_t count) {
        Moments found[kBatch];
        find_part(wanted, 0, first, count, found);
        finish(first, count, found);
      });
    }
    find_in_parts(wanted, finish, [](Moments*) {});
  }

  // As find, then writes the distances from the means times the scales, which finish sets.
  template <typename Finish>
  void find_and_scale(Wanted wanted, char* out, Finish finish) const {
    if (parts_ == 1) {
      return find(wanted, [&](int64_t first, int64_t count, Moments* found) {
        finish(first, count, found);
        scale_part(0, first, count, found, out);
      });
    }
    find_in_parts(wanted, finish, [&](Moments* found) {
      for_each_batch(parts_, [&](int64_t part, int64_t first, int64_t count) {
        scale_part(part, first, count, found + first, out);
      });
    });
  }

 private:
  static constexpr int64_t kRowPart = 16384;   // elements that stay in a cache for the second look
  static constexpr int64_t kColumnPart = 256;  // the same, of rows a power of two apart
  static constexpr int64_t kBatch = 32;        // groups that one task works on

  // Calls work(part, first group, number of groups) for all groups and so many parts of them.
  template <typename Work>
  void for_each_batch(int64_t parts, Work work) const {
    if (parts == 1 && axes_.groups() == 1) return work(0, 0, 1);
    const int64_t batches = axes_.groups() / span_ * batches_per_span_;
    const int64_t elements = std::min(part_, axes_.size()) * batch_;
    parallel_chunks(cut(batches * parts, Cost::light, elements), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t batch = task / parts, skipped = batch % batches_per_span_ * batch_;
        work(task % parts, batch / batches_per_span_ * span_ + skipped,
             std::min(batch_, span_ - skipped));
      }
    });
  }

  // The same with memory for all parts; calls use(moments of the groups) at the end.
  template <typename Finish, typename Use>
  void find_in_parts(Wanted wanted, Finish finish, Use use) const {
    const TemporaryBlock block(parts_ * axes_.groups() * sizeof(Moments));
    Moments* const found = reinterpret_cast<Moments*>(block.data());
    for_each_batch(parts_, [&](int64_t part, int64_t first, int64_t count) {
      find_part(wanted, part, first, count, found + part * axes_.groups() + first);
    });
    for_each_batch(1, [&](int64_t, int64_t first, int64_t count) {
      join_parts(first, count, found);
      finish(first, count, found + first);
    });
    use(found);
  }

  int64_t length_of(int64_t part) const { return std::min(part_, axes_.size() - part * part_); }
  int64_t offset(int64_t part, int64_t group) const {
    const int64_t block = group / axes_.inner, place = group % axes_.inner;
    return ((block * axes_.segments * axes_.inner + place) * axes_.length +
            part * part_ * (axes_.by_column() ? axes_.inner : 1)) *
           itemsize_;
  }
  Panel panel(int64_t part, int64_t count) const { return {length_of(part), count, axes_.inner}; }
  Segments segments(int64_t part) const {
    if (axes_.by_row()) return {1, length_of(part), length_of(part)};
    return {axes_.segments, axes_.length, axes_.inner * axes_.length};
  }

  void find_part(Wanted wanted, int64_t part, int64_t first, int64_t count, Moments* found) const {
    const bool with_variance = wanted == Wanted::variance;
    if (wanted == Wanted::nothing) {
      std::fill_n(found, count, Moments{0, 0, 0, 1});
    } else if (axes_.by_column()) {
      kernels().column_normalization.moments[element_](x_ + offset(part, first), panel(part, count),
                                                       with_variance, found);
    } else {
      const NormalizationKernels& kernel = kernels().normalization;
      for (int64_t i = 0; i < count; ++i) {
        const char* group = x_ + offset(part, first + i);
        found[i] = with_variance ? kernel.moments[element_](group, segments(part), 0)
                                 : kernel.mean[element_](group, segments(part));
      }
    }
  }

  // Adds the later parts of some groups to the first ones (Chan, Golub and LeVeque, 1979).
  void join_parts(int64_t first, int64_t count, Moments* found) const {
    for (int64_t part = 1; part < parts_; ++part) {
      const double before = static_cast<double>(part * part_);
      const double n = before + static_cast<double>(length_of(part));
      const double share = static_cast<double>(length_of(part)) / n, rest = before / n;
      const Moments* added = found + part * axes_.groups();
      for (int64_t i = first; i < first + count; ++i) {
        const double step = (added[i].first - found[i].first) + (added[i].shift - found[i].shift);
        found[i].shift += step * share;
        found[i].variance += share * ((added[i].variance - found[i].variance) + step * step * rest);
      }
    }
  }

  void scale_part(int64_t part, int64_t first, int64_t count, Moments* moments, char* out) const {
    if (axes_.by_column()) {
      const int64_t at = offset(part, first);
      return kernels().column_normalization.normalize[element_](
          x_ + at, panel(part, count), false, 0, moments, nullptr, nullptr, out + at);
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = offset(part, first + i);
      kernels().normalization.normalize[element_](x_ + at, segments(part), moments[i],
                                                  {nullptr, nullptr, 0}, out + at);
    }
  }

  const SpreadAxes& axes_;
  const int element_;
  const int64_t itemsize_;
  const char* const x_;
  int64_t part_, parts_, span_, batch_, batches_per_span_;
};

}  // namespace extensor
