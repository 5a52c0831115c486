// The elements of an array that are reduced to one number: their mean and variance, and gradients
// that are a multiple of their distances from the mean. All of it is done by the kernels of
// normalization; here is the cut into parts, which depends on the shape alone.
#pragma once

#include <algorithm>
#include <utility>

#include "../kernels/tables.h"
#include "../runtime/memory.h"
#include "arrays.h"

namespace extensor::moments {

constexpr int64_t kRowPart = 16384;   // elements that stay in a cache for the second look
constexpr int64_t kColumnPart = 256;  // the same, of rows a power of two apart
constexpr int64_t kBatch = 32;        // groups that one task works on

// An array as (outer, segments, inner, length): the segments and what they hold are reduced.
struct Layout {
  int64_t outer = 1, segments = 1, inner = 1, length = 1;

  // False if the reduced axes are in more than two places.
  bool find(int ndim, const npy_intp* shape, const bool* reduced) {
    int64_t* const sizes[] = {&outer, &segments, &inner, &length};
    int place = 0;
    for (int axis = 0; axis < ndim; ++axis) {
      if (shape[axis] == 1) continue;
      if (reduced[axis] != (place % 2 == 1)) ++place;
      if (place > 3) return false;
      *sizes[place] *= shape[axis];
    }
    if (inner == 1) std::swap(segments, length);
    return true;
  }
  int64_t groups() const { return outer * inner; }
  int64_t size() const { return segments * length; }
  bool by_column() const { return inner > 1 && length == 1; }
  bool by_row() const { return segments == 1; }
};

enum class Wanted { nothing, mean, variance };

class Groups {
 public:
  Groups(const Layout& layout, Element element, const void* x)
      : layout_(layout),
        element_(static_cast<int>(element)),
        itemsize_(element == Element::float64 ? 8 : 4),
        x_(static_cast<const char*>(x)) {
    part_ = layout.by_column() ? kColumnPart : layout.by_row() ? kRowPart : layout.size();
    parts_ = (layout.size() - 1) / part_ + 1;
    // Columns of one batch are neighbours; rows stay in a cache until their gradients are written.
    span_ = layout.by_column() ? layout.inner : layout.groups();
    batch_ = layout.by_column() ? kBatch : std::clamp<int64_t>(kRowPart / layout.size(), 1, kBatch);
    batches_per_span_ = (span_ - 1) / batch_ + 1;
  }

  // Calls finish(first, count, moments) for all groups, a few at a time. False if there is no
  // memory.
  template <typename Finish>
  bool find(Wanted wanted, Finish finish) const {
    if (parts_ == 1) {
      for_each_batch(1, [&](int64_t, int64_t first, int64_t count) {
        Moments found[kBatch];
        find_part(wanted, 0, first, count, found);
        finish(first, count, found);
      });
      return true;
    }
    return find_in_parts(wanted, finish, [](Moments*) {});
  }

  // As find, then writes the distances from the means times the scales, which finish sets.
  template <typename Finish>
  bool find_and_scale(Wanted wanted, void* out, Finish finish) const {
    char* const target = static_cast<char*>(out);
    if (parts_ == 1) {
      return find(wanted, [&](int64_t first, int64_t count, Moments* found) {
        finish(first, count, found);
        scale_part(0, first, count, found, target);
      });
    }
    return find_in_parts(wanted, finish, [&](Moments* found) {
      for_each_batch(parts_, [&](int64_t part, int64_t first, int64_t count) {
        scale_part(part, first, count, found + first, target);
      });
    });
  }

 private:
  // Calls work(part, first group, number of groups) for all groups and so many parts of them.
  template <typename Work>
  void for_each_batch(int64_t parts, Work work) const {
    const int64_t batches = layout_.groups() / span_ * batches_per_span_;
    const int64_t elements = std::min(part_, layout_.size()) * batch_;
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
  bool find_in_parts(Wanted wanted, Finish finish, Use use) const {
    TemporaryBlock block(parts_ * layout_.groups() * sizeof(Moments));
    if (block.data() == nullptr) return false;
    Moments* const found = reinterpret_cast<Moments*>(block.data());
    for_each_batch(parts_, [&](int64_t part, int64_t first, int64_t count) {
      find_part(wanted, part, first, count, found + part * layout_.groups() + first);
    });
    for_each_batch(1, [&](int64_t, int64_t first, int64_t count) {
      join_parts(first, count, found);
      finish(first, count, found + first);
    });
    use(found);
    return true;
  }

  int64_t length_of(int64_t part) const { return std::min(part_, layout_.size() - part * part_); }
  int64_t offset(int64_t part, int64_t group) const {
    const int64_t block = group / layout_.inner, place = group % layout_.inner;
    return ((block * layout_.segments * layout_.inner + place) * layout_.length +
            part * part_ * (layout_.by_column() ? layout_.inner : 1)) *
           itemsize_;
  }
  Panel panel(int64_t part, int64_t count) const { return {length_of(part), count, layout_.inner}; }
  Segments segments(int64_t part) const {
    if (layout_.by_row()) return {1, length_of(part), length_of(part)};
    return {layout_.segments, layout_.length, layout_.inner * layout_.length};
  }

  void find_part(Wanted wanted, int64_t part, int64_t first, int64_t count, Moments* found) const {
    const bool with_variance = wanted == Wanted::variance;
    if (wanted == Wanted::nothing) {
      std::fill_n(found, count, Moments{0, 0, 0, 1});
    } else if (layout_.by_column()) {
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
      const Moments* added = found + part * layout_.groups();
      for (int64_t i = first; i < first + count; ++i) {
        const double step = (added[i].first - found[i].first) + (added[i].shift - found[i].shift);
        found[i].shift += step * share;
        found[i].variance += share * ((added[i].variance - found[i].variance) + step * step * rest);
      }
    }
  }

  void scale_part(int64_t part, int64_t first, int64_t count, Moments* moments, char* out) const {
    if (layout_.by_column()) {
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

  const Layout layout_;
  const int element_;
  const int64_t itemsize_;
  const char* const x_;
  int64_t part_, parts_, span_, batch_, batches_per_span_;
};

}  // namespace extensor::moments
