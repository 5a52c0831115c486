// Sums over rows that do not wait for each other.
#pragma once

#include <algorithm>
#include <array>

#include "../simd/pass.h"
#include "normalization.h"

namespace extensor::EX_ISA {

constexpr int kSumsAtOnce = 4;      // that do not wait for each other
constexpr int64_t kSumBlock = 512;  // elements added before they join the total, which is double

// kRows rows, from the one that the pointers point at.
template <typename T, int kRows>
struct RowTile {
  using Numbers = std::array<double, kRows>;
  using Vectors = std::array<Vec<T>, kRows>;
  static constexpr int kCount = kRows;
  static constexpr int kWays = kSumsAtOnce / kRows;  // parts of a row
  static constexpr int64_t size = Vec<T>::size;

  int64_t n, stride;

  static Vectors spread(const Numbers& numbers) {
    Vectors result;
    for (int k = 0; k < kRows; ++k) result[k] = Vec<T>(static_cast<T>(numbers[k]));
    return result;
  }
  // The kSums sums over each row to which add_terms(access, column, row, sums) adds.
  template <size_t kSums, typename AddTerms>
  EX_INLINE std::array<Numbers, kSums> sum(AddTerms add_terms) const {
    std::array<Numbers, kSums> totals{};
    for (int64_t begin = 0; begin < n; begin += kSumBlock) {
      const int64_t end = std::min(begin + kSumBlock, n);
      std::array<Vec<T>, kSums> partial[kSumsAtOnce];
      for (auto& sums : partial) sums.fill(Vec<T>(T(0)));
      const auto add = [&](auto access, int64_t i, int way) {
#pragma GCC unroll 4
        for (int k = 0; k < kRows; ++k) add_terms(access, i, k, partial[way * kRows + k]);
      };
      int64_t i = begin;
      for (; i + kWays * size <= end; i += kWays * size) {
#pragma GCC unroll 4
        for (int way = 0; way < kWays; ++way) add(Access<T, true>{size}, i + way * size, way);
      }
      for (; i + size <= end; i += size) add(Access<T, true>{size}, i, 0);
      if (i < end) add(Access<T, false>{end - i}, i, 0);
      for (size_t s = 0; s < kSums; ++s) {
        for (int k = 0; k < kRows; ++k) {
          Vec<T> all = partial[k][s];
          for (int way = 1; way < kWays; ++way) all += partial[way * kRows + k][s];
          totals[s][k] += horizontal_sum(all);
        }
      }
    }
    return totals;
  }
};

}  // namespace extensor::EX_ISA
