#include "storage.h"

namespace extensor {

bool find_other_storage(DType dtype, Storage& storage) {
  storage.dtype = dtype;
  storage.half = nullptr;
  storage.itemsize = size_of(dtype);
  storage.element = dtype == DType::float64 ? Element::float64 : Element::float32;
  if (dtype == DType::float16) storage.half = &kernels().float16;
  if (dtype == DType::bfloat16) storage.half = &kernels().bfloat16;
  return is_computed(dtype) || storage.half != nullptr;
}

}  // namespace extensor
