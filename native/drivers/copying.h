// Copies of arrays, in another order or another dtype.
#pragma once

#include <optional>

#include "../door/call.h"
#include "../runtime/memory.h"
#include "storage.h"

namespace extensor {

// Whether kernels can move elements of this dtype without knowing what they are.
inline bool is_movable(DType dtype) { return dtype != DType::other; }

// Copies elements between arrays of one shape and dtype, which must be movable.
void copy_elements(const Layout& from, const char* source, const Layout& to, char* target);

// The same into memory in C order.
void copy_contiguous(const Layout& from, const char* source, char* target);

// Whether elements of one dtype can be converted to another: one that kernels compute in, or is
// widened to one.
bool can_cast(DType from, DType to);

// Converts n contiguous elements, by way of float32 where either has 16 bits.
void convert(DType from, DType to, const char* source, char* target, int64_t n);

// The same for a whole array, by all threads.
void convert_all(DType from, DType to, const char* source, char* target, int64_t n);

// A number of an input, read once. Others may change the memory of an input while a call runs, so
// a number that is checked and then used must be the same one: a plain load may be repeated.
template <typename T>
T read_once(const void* data) {
  return *static_cast<const volatile T*>(data);
}

// About how long it takes to copy or convert an array.
inline int64_t nanoseconds_of_copy(const Layout& layout) {
  return cut(layout.size, layout.c_contiguous ? Cost::light : Cost::medium).nanoseconds;
}

// An input as memory in C order and of another dtype for the time of a run: the input itself where
// it is that already, else a copy.
class Contiguous {
 public:
  Contiguous(const Layout& layout, const char* data) : Contiguous(layout, data, layout.dtype) {}
  Contiguous(const Layout& layout, const char* data, DType dtype);

  const char* data() const { return data_; }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }

 private:
  std::optional<TemporaryBlock> ordered_, converted_;
  const char* data_;
};

// The problem of a call that copies or converts one input into one output.
struct CopyProblem {
  Layout from;
  DType to;
};
void run_copy(const CopyProblem& problem, const Buffers& buffers);

}  // namespace extensor
