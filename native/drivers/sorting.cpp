#include "sorting.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "copying.h"

namespace extensor {
namespace {

constexpr int64_t kFewest = 256;  // shorter rows are sorted by comparing
constexpr int kDigitBits = 11;
constexpr int kDigits = 1 << kDigitBits;
constexpr int64_t kRun = 32;  // elements that are compared with a limit at a time

// An unsigned integer that is ordered as the element is. Zeros of both signs are equal.
template <typename T>
auto key_of(T x) {
  using Key = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr Key kSign = Key(1) << (8 * sizeof(T) - 1);
  if constexpr (std::is_floating_point_v<T>) {
    if (x != x) return ~Key(0);
    const Key bits = std::bit_cast<Key>(x == 0 ? T(0) : x);
    return bits & kSign ? ~bits : bits | kSign;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<Key>(x) ^ kSign;
  } else {
    return x;
  }
}

template <typename T>
auto key_in(T x, bool descending) {
  const auto key = key_of(x);
  return descending ? static_cast<decltype(key)>(~key) : key;
}

uint32_t upper_half(uint32_t key) { return key; }
uint32_t upper_half(uint64_t key) { return static_cast<uint32_t>(key >> 32); }

// Sorts n numbers by their upper 32 bits, stably, digit by digit; `other` has room for as many.
// Returns where they are then.
uint64_t* sort_by_digits(uint64_t* numbers, uint64_t* other, int64_t n) {
  constexpr int kPasses = (31 + kDigitBits) / kDigitBits;
  uint32_t counts[kPasses][kDigits] = {};
  for (int64_t i = 0; i < n; ++i) {
    for (int pass = 0; pass < kPasses; ++pass) {
      ++counts[pass][numbers[i] >> (32 + pass * kDigitBits) & (kDigits - 1)];
    }
  }
  for (int pass = 0; pass < kPasses; ++pass) {
    uint32_t* const places = counts[pass];
    const int shift = 32 + pass * kDigitBits;
    if (places[numbers[0] >> shift & (kDigits - 1)] == n) continue;  // all have the same
    for (uint32_t digit = 0, sum = 0; digit < kDigits; ++digit) {
      sum += std::exchange(places[digit], sum);
    }
    for (int64_t i = 0; i < n; ++i) {
      other[places[numbers[i] >> shift & (kDigits - 1)]++] = numbers[i];
    }
    std::swap(numbers, other);
  }
  return numbers;
}

// A key and the place of its element: no two are equal.
template <typename Key>
struct Record {
  Key key;
  uint32_t place;

  friend bool operator<(Record a, Record b) {
    return a.key != b.key ? a.key < b.key : a.place < b.place;
  }
};

// Memory for sorting a row, which is read once: others may change it meanwhile.
template <typename T>
class RowSorter {
 public:
  using Key = decltype(key_of(T()));
  static constexpr bool kWhole = sizeof(Key) == 4;  // a key fits beside its place

  explicit RowSorter(int64_t n)
      : block_(n * (2 * sizeof(uint64_t) + (kWhole ? 0 : sizeof(Key)))), n_(n) {}

  void sort(const T* x, bool descending, int64_t* out) {
    uint64_t* const numbers = reinterpret_cast<uint64_t*>(block_.data());
    Key* const keys = reinterpret_cast<Key*>(numbers + 2 * n_);
    for (int64_t i = 0; i < n_; ++i) {
      const Key key = key_in(read_once<T>(x + i), descending);
      numbers[i] = static_cast<uint64_t>(upper_half(key)) << 32 | static_cast<uint64_t>(i);
      if constexpr (!kWhole) keys[i] = key;
    }
    const uint64_t* sorted = numbers;
    if (n_ < kFewest) {
      std::sort(numbers, numbers + n_);
    } else {
      sorted = sort_by_digits(numbers, numbers + n_, n_);
    }
    for (int64_t i = 0; i < n_; ++i) out[i] = static_cast<uint32_t>(sorted[i]);
    if constexpr (!kWhole) sort_ties(sorted, keys, out);
  }

 private:
  // Sorts those whose upper halves are equal by the rest.
  void sort_ties(const uint64_t* sorted, const Key* keys, int64_t* places) const {
    for (int64_t begin = 0, end; begin < n_; begin = end) {
      const uint64_t upper = sorted[begin] >> 32;
      for (end = begin + 1; end < n_ && sorted[end] >> 32 == upper;) ++end;
      const auto before = [&](int64_t a, int64_t b) {
        return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
      };
      if (end - begin > 1) std::sort(places + begin, places + end, before);
    }
  }

  TemporaryBlock block_;
  int64_t n_;
};

// The first k of a row in order. Candidates are those before the last of k that were seen already.
template <typename T>
class RowSelector {
 public:
  using Key = decltype(key_of(T()));

  explicit RowSelector(int64_t k)
      : room_(2 * k + kRun), block_(room_ * sizeof(Record<Key>)), k_(k) {}

  void select(const T* x, int64_t n, bool descending, int64_t* places) {
    Record<Key>* const found = reinterpret_cast<Record<Key>*>(block_.data());
    int64_t count = 0;
    Key limit = ~Key(0);
    T last = 0;  // the element of the limit
    bool limited = false;
    for (int64_t begin = 0; begin < n; begin += kRun) {
      const int64_t end = std::min(begin + kRun, n);
      if (limited && end - begin == kRun && !any_before(x + begin, last, descending)) continue;
      for (int64_t i = begin; i < end; ++i) {
        const Key key = key_in(read_once<T>(x + i), descending);
        // Of equal ones the first is taken, and those with the limit were first.
        if (!limited || key < limit) found[count++] = {key, static_cast<uint32_t>(i)};
      }
      if (count < 2 * k_) continue;
      std::nth_element(found, found + k_ - 1, found + count);
      count = k_;
      limit = found[k_ - 1].key;
      last = x[found[k_ - 1].place];
      limited = true;
    }
    std::partial_sort(found, found + k_, found + count);
    for (int64_t i = 0; i < k_; ++i) places[i] = found[i].place;
  }

 private:
  // Whether a run of elements may have one that comes before another: NaN always may.
  static bool any_before(const T* x, T last, bool descending) {
    bool any = false;
    if (descending) {
      for (int64_t i = 0; i < kRun; ++i) any |= !(x[i] <= last);
    } else {
      for (int64_t i = 0; i < kRun; ++i) any |= !(x[i] >= last);
    }
    return any;
  }

  int64_t room_;
  TemporaryBlock block_;
  int64_t k_;
};

// Calls work(T) for the type in which elements of a dtype are compared.
template <typename Work>
void with_type_of(DType dtype, const Work& work) {
  switch (dtype) {
    case DType::float64:
      return work(double());
    case DType::int32:
      return work(int32_t());
    case DType::int64:
      return work(int64_t());
    case DType::uint64:
      return work(uint64_t());
    default:
      return work(float());
  }
}

DType compared_dtype(DType dtype) {
  return dtype == DType::float16 || dtype == DType::bfloat16 ? DType::float32 : dtype;
}

Cut cut_rows(const SortProblem& problem) { return cut(problem.rows, Cost::heavy, problem.n); }

}  // namespace

bool is_sortable(DType dtype) {
  return dtype == DType::int32 || dtype == DType::int64 || dtype == DType::uint64 ||
         (dtype >= DType::float32 && dtype <= DType::bfloat16);
}

void run_argsort(const SortProblem& problem, const Buffers& buffers) {
  const Contiguous x(problem.x, buffers.inputs[0], compared_dtype(problem.x.dtype));
  int64_t* const out = reinterpret_cast<int64_t*>(buffers.outputs[0]);
  const int64_t n = problem.n;
  with_type_of(problem.x.dtype, [&]<typename T>(T) {
    parallel_chunks(cut_rows(problem), [&](int64_t begin, int64_t end) {
      RowSorter<T> sorter(n);
      for (int64_t row = begin; row < end; ++row) {
        sorter.sort(x.as<T>() + row * n, problem.descending, out + row * n);
      }
    });
  });
}

void run_topk(const SortProblem& problem, const Buffers& buffers) {
  const Contiguous x(problem.x, buffers.inputs[0]);
  const Layout in_order = contiguous_layout(problem.x.dtype, problem.x.shape);
  const Contiguous compared(in_order, x.data(), compared_dtype(problem.x.dtype));
  char* const values = buffers.outputs[0];
  int64_t* const places = reinterpret_cast<int64_t*>(buffers.outputs[1]);
  const int64_t n = problem.n, k = problem.k, itemsize = problem.x.itemsize;
  with_type_of(problem.x.dtype, [&]<typename T>(T) {
    parallel_chunks(cut(problem.rows, Cost::medium, n), [&](int64_t begin, int64_t end) {
      RowSelector<T> selector(k);
      for (int64_t row = begin; row < end; ++row) {
        int64_t* const own = places + row * k;
        selector.select(compared.as<T>() + row * n, n, problem.descending, own);
        const char* const from = x.data() + row * n * itemsize;
        char* const to = values + row * k * itemsize;
        for (int64_t i = 0; i < k; ++i) {
          std::memcpy(to + i * itemsize, from + own[i] * itemsize, itemsize);
        }
      }
    });
  });
}

}  // namespace extensor
