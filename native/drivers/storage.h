// The dtype in which a kernel's arguments are stored, and the one it computes in.
#pragma once

#include "../door/layout.h"
#include "../kernels/tables.h"

namespace extensor {

struct Storage {
  DType dtype = DType::other;
  Element element = Element::float32;
  const HalfFormat* half = nullptr;  // set for the 16-bit floats, which are widened to float32
  int64_t itemsize = 0;

  int index() const { return static_cast<int>(element); }
  // Of the type that is computed in.
  DType wide() const { return element == Element::float64 ? DType::float64 : DType::float32; }
  int64_t wide_itemsize() const { return element == Element::float64 ? 8 : 4; }
};

// False for dtypes that have no kernels.
bool find_other_storage(DType dtype, Storage& storage);
inline bool find_storage(DType dtype, Storage& storage) {
  if (dtype != DType::float32) return find_other_storage(dtype, storage);
  storage = {dtype, Element::float32, nullptr, sizeof(float)};
  return true;
}

// The same for those that kernels compute in, without the 16-bit floats.
inline bool is_computed(DType dtype) { return dtype == DType::float32 || dtype == DType::float64; }

}  // namespace extensor
