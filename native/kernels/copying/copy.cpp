// Copies that memcpy cannot make: transposed blocks, and numbers of another type.
#include "copy.h"

#include <algorithm>
#include <bit>

#include "../simd/simd.h"

namespace extensor::EX_ISA {
namespace {

constexpr int64_t kBlock = 16;  // four-byte elements of a cache line

// A block goes through a buffer, so that each line of either side is touched once and whole: lines
// a power of two apart would push each other out of the cache.
template <typename Item>
EX_INLINE void transpose_block(const char* source, int64_t source_step, char* target,
                               int64_t target_step, int64_t rows, int64_t columns) {
  Item block[kBlock][kBlock];
  for (int64_t c = 0; c < columns; ++c) {
    std::memcpy(block[c], source + c * source_step, rows * sizeof(Item));
  }
  for (int64_t r = 0; r < rows; ++r) {
    Item line[kBlock];
    for (int64_t c = 0; c < columns; ++c) line[c] = block[c][r];
    std::memcpy(target + r * target_step, line, columns * sizeof(Item));
  }
}

template <typename Item>
void transpose(const char* source, int64_t source_step, char* target, int64_t target_step,
               int64_t rows, int64_t columns) {
  constexpr int64_t size = sizeof(Item);
  for (int64_t row = 0; row < rows; row += kBlock) {
    for (int64_t column = 0; column < columns; column += kBlock) {
      const char* from = source + column * source_step + row * size;
      char* to = target + row * target_step + column * size;
      if (row + kBlock <= rows && column + kBlock <= columns) {
        transpose_block<Item>(from, source_step, to, target_step, kBlock, kBlock);
      } else {
        transpose_block<Item>(from, source_step, to, target_step, std::min(kBlock, rows - row),
                              std::min(kBlock, columns - column));
      }
    }
  }
}

template <typename From, typename To>
void convert_all(const void* source, void* target, int64_t n) {
  const From* from = static_cast<const From*>(source);
  To* to = static_cast<To*>(target);
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
}

template <typename To>
void from_boolean(const void* source, void* target, int64_t n) {
  const uint8_t* from = static_cast<const uint8_t*>(source);
  To* to = static_cast<To*>(target);
  for (int64_t i = 0; i < n; ++i) to[i] = from[i] != 0 ? To(1) : To(0);
}

// Rounded to the neighbour whose last bit is 1 where it is not exact. A second rounding, to fewer
// bits, then gives what one rounding would have given.
void to_odd(const double* source, float* target, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const double x = source[i];
    const float nearest = static_cast<float>(x);
    const uint32_t bits = std::bit_cast<uint32_t>(nearest);
    const double back = static_cast<double>(nearest);
    const bool inexact = back != x && x == x && (bits & 1) == 0;
    const uint32_t toward = __builtin_fabs(back) > __builtin_fabs(x) ? ~uint32_t{0} : 1;
    target[i] = std::bit_cast<float>(inexact ? bits + toward : bits);
  }
}

template <typename To>
constexpr std::array<Convert, kNumbers> conversions_to() {
  return {from_boolean<To>,          convert_all<int8_t, To>,   convert_all<int16_t, To>,
          convert_all<int32_t, To>,  convert_all<int64_t, To>,  convert_all<uint8_t, To>,
          convert_all<uint16_t, To>, convert_all<uint32_t, To>, convert_all<uint64_t, To>,
          convert_all<float, To>,    convert_all<double, To>};
}

}  // namespace

CopyKernels copy_kernels() {
  return {{transpose<uint8_t>, transpose<uint16_t>, transpose<uint32_t>, transpose<uint64_t>},
          {conversions_to<float>(), conversions_to<double>()},
          to_odd};
}

}  // namespace extensor::EX_ISA
