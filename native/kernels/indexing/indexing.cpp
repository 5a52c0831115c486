// Adding rows and elements at positions, in the order in which they are given.
#include "indexing.h"

#include "../simd/pass.h"

namespace extensor::EX_ISA {
namespace {

template <typename T>
EX_INLINE void add_row(const T* source, T* target, int64_t n) {
  for_each_vector<T>(n, [&](auto access, int64_t i) {
    access.store(target, i, access.load(target, i) + access.load(source, i));
  });
}

template <typename T>
void add_rows(const void* updates, const int64_t* positions, int64_t count, int64_t width,
              int64_t begin, int64_t end, void* target) {
  const T* source = static_cast<const T*>(updates);
  T* whole = static_cast<T*>(target);
  for (int64_t i = 0; i < count; ++i) {
    if (positions[i] < begin || positions[i] >= end) continue;
    if (width == 1) {
      whole[positions[i]] += source[i];
    } else {
      add_row(source + i * width, whole + positions[i] * width, width);
    }
  }
}

template <typename T>
void add_elements(const void* updates, const int64_t* positions, int64_t count, int64_t width,
                  void* target) {
  const T* source = static_cast<const T*>(updates);
  T* whole = static_cast<T*>(target);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      whole[positions[i * width + j] * width + j] += source[i * width + j];
    }
  }
}

}  // namespace

IndexKernels index_kernels() {
  return {{add_rows<float>, add_rows<double>}, {add_elements<float>, add_elements<double>}};
}

}  // namespace extensor::EX_ISA
