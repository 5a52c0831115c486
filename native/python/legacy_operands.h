// The arguments of an elementwise kernel: arrays of one dtype and Python numbers, and how a pass
// walks them.
#pragma once

#include "../kernels/tables.h"
#include "arrays.h"

namespace extensor {
inline namespace legacy {

// The dtype in which a kernel's arguments are stored, and the one it computes in.
struct Storage {
  int typenum = -1;
  Element element = Element::float32;
  const HalfFormat* half = nullptr;  // set for the 16-bit floats, which are widened to float32
  int64_t itemsize = 0;
};

// False for dtypes that have no kernels.
bool find_storage(int typenum, Storage& storage);

// An array that kernels can read as it is: aligned, in native byte order, no subclass.
bool is_plain_array(PyObject* object);

// Copies n elements of 1, 2, 4 or 8 bytes, `stride` bytes apart, to contiguous memory.
void copy_run(const char* source, int64_t stride, int64_t itemsize, int64_t n, char* target);

// A Python int, float or bool.
bool read_number(PyObject* object, double& value);

// Up to four inputs of a pass. The first may be an array of booleans.
struct Operands {
  int count = 0;
  bool first_is_boolean = false;
  Storage storage;
  ArrayView views[4];
  double numbers[4];
  bool is_number[4] = {};
  bool same_layout = true;  // all arrays C-contiguous and of one shape
  Shape shape;

  // False if the arguments are not for kernels.
  bool read(PyObject* const* arguments, int inputs, bool starts_with_booleans = false);
};

// Runs a pass over all elements of `operands`, broadcast to their common shape, into C-contiguous
// outputs of that shape; null for one that nobody asked for.
void run_pass(Pass pass, Cost cost, const Operands& operands, char* const* outputs,
              int output_count, bool result_is_boolean, const double* parameters);

// The same into one new array, from the passes of all types: the array, or null with a Python error
// set.
PyObject* result_of_pass(const Pass (&passes)[kElements], Cost cost, const Operands& operands,
                         const double* parameters, bool result_is_boolean = false);

}  // namespace legacy
}  // namespace extensor
