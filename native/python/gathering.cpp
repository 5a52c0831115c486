#include <algorithm>
#include <cstring>

#include "arguments.h"
#include "families.h"
#include "indexing.h"
#include "kernel.h"
#include "legacy_copying.h"
#include "legacy_operands.h"

namespace extensor {
namespace {

constexpr int64_t kElementCost = 4;  // a random access counts as so many elements in a row

PyArrayObject* as_array(PyObject* object) { return reinterpret_cast<PyArrayObject*>(object); }
char* data_of(const Reference& array) { return static_cast<char*>(PyArray_DATA(array.array())); }

// Whether indices have the shape of x except along the axis; what broadcasts is left to Python.
bool matches(PyArrayObject* indices, int ndim, const npy_intp* shape, int axis) {
  if (PyArray_NDIM(indices) != ndim) return false;
  for (int i = 0; i < ndim; ++i) {
    if (i != axis && PyArray_DIM(indices, i) != shape[i]) return false;
  }
  return true;
}

bool have_one_shape(PyArrayObject* a, PyArrayObject* b) {
  return PyArray_NDIM(a) == PyArray_NDIM(b) &&
         PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a));
}

template <typename Item>
void gather_rows(const char* source, const int64_t* positions, int64_t rows, int64_t width,
                 char* target) {
  Item* out = reinterpret_cast<Item*>(target);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t j = 0; j < width; ++j) {
      const int64_t i = row * width + j;
      std::memcpy(out + i, source + (positions[i] * width + j) * sizeof(Item), sizeof(Item));
    }
  }
}

using GatherRows = void (*)(const char*, const int64_t*, int64_t, int64_t, char*);

GatherRows gather_of(int64_t itemsize) {
  if (itemsize == 4) return gather_rows<uint32_t>;
  if (itemsize == 8) return gather_rows<uint64_t>;
  return itemsize == 2 ? gather_rows<uint16_t> : gather_rows<uint8_t>;
}

// x, indices, axis
PyObject* call_gather(const void*, PyObject* const* arguments, Py_ssize_t count) {
  int axis;
  if (count != 3 || !is_movable_array(arguments[0]) || !is_index_array(arguments[1])) {
    return not_implemented();
  }
  PyArrayObject *x = as_array(arguments[0]), *indices = as_array(arguments[1]);
  if (!read_axis(arguments[2], PyArray_NDIM(x), axis) ||
      !matches(indices, PyArray_NDIM(x), PyArray_DIMS(x), axis)) {
    return not_implemented();
  }
  const Block block(PyArray_NDIM(x), PyArray_DIMS(x), axis);
  Reference result(new_array(PyArray_DESCR(x), PyArray_NDIM(indices), PyArray_DIMS(indices)));
  Reference positions(result ? positions_of(indices, block.length) : nullptr);
  if (!positions || positions.get() == Py_NotImplemented) return positions.release();
  Reference source(contiguous(x));
  if (!source) return nullptr;
  const int64_t size = PyArray_SIZE(result.array());
  if (size == 0) return result.release();
  const int64_t itemsize = PyArray_ITEMSIZE(x), rows = size / block.outer / block.inner;
  const int64_t* places = reinterpret_cast<const int64_t*>(data_of(positions));
  const auto run = gather_of(itemsize);
  const Cut pieces = cut(block.outer * rows, Cost::light, kElementCost * block.inner);
  Unlocked unlocked(pieces.nanoseconds);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t slice = begin / rows, n = std::min(end - begin, rows - begin % rows);
      run(data_of(source) + slice * block.length * block.inner * itemsize,
          places + begin * block.inner, n, block.inner,
          data_of(result) + begin * block.inner * itemsize);
      begin += n;
    }
  });
  return result.release();
}

// Adds updates to `whole`, in their order; a task owns whole slices, so no sum depends on who adds.
// NotImplemented if an index is outside, null with a Python error set, else None.
PyObject* add_at(PyArrayObject* whole, PyArrayObject* indices, PyArrayObject* updates, int axis,
                 Element element) {
  const Block block(PyArray_NDIM(whole), PyArray_DIMS(whole), axis);
  Reference positions(positions_of(indices, block.length));
  if (!positions || positions.get() == Py_NotImplemented) return positions.release();
  const int64_t size = PyArray_SIZE(updates);
  if (size == 0) return Py_NewRef(Py_None);
  const int64_t per_slice = size / block.outer, itemsize = PyArray_ITEMSIZE(whole);
  const int64_t* places = reinterpret_cast<const int64_t*>(data_of(positions));
  const char* source = static_cast<const char*>(PyArray_DATA(updates));
  char* target = static_cast<char*>(PyArray_DATA(whole));
  const auto add = kernels().indexing.add_elements[static_cast<int>(element)];
  const Cut pieces = cut(block.outer, Cost::light, kElementCost * per_slice);
  Unlocked unlocked(pieces.nanoseconds);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    for (int64_t slice = begin; slice < end; ++slice) {
      add(source + slice * per_slice * itemsize, places + slice * per_slice,
          per_slice / block.inner, block.inner,
          target + slice * block.length * block.inner * itemsize);
    }
  });
  return Py_NewRef(Py_None);
}

// `whole`, which is changed, in the dtype asked for.
PyObject* sum_at(Reference& whole, PyArrayObject* indices, PyArrayObject* updates, int axis,
                 const Storage& storage) {
  if (!whole) return nullptr;
  Reference wide(contiguous_as(updates, PyArray_TYPE(whole.array())));
  if (!wide) return nullptr;
  Reference done(add_at(whole.array(), indices, wide.array(), axis, storage.element));
  if (!done || done.get() == Py_NotImplemented) return done.release();
  return contiguous_as(whole.array(), storage.typenum);
}

int wide_type(const Storage& storage) {
  return storage.element == Element::float64 ? NPY_FLOAT64 : NPY_FLOAT32;
}

// grad_output, x_shape, indices, axis
PyObject* call_gather_rule(const void*, PyObject* const* arguments, Py_ssize_t count) {
  npy_intp shape[kMaxDimensions];
  int ndim, axis;
  Storage storage;
  if (count != 4 || !is_plain_array(arguments[0]) || !is_index_array(arguments[2]) ||
      !read_sizes(arguments[1], shape, ndim) || !read_axis(arguments[3], ndim, axis) ||
      shape[axis] < 0) {
    return not_implemented();
  }
  PyArrayObject *gradient = as_array(arguments[0]), *indices = as_array(arguments[2]);
  if (!find_storage(PyArray_TYPE(gradient), storage) || !have_one_shape(gradient, indices) ||
      !matches(indices, ndim, shape, axis)) {
    return not_implemented();
  }
  Reference whole(new_array(wide_type(storage), ndim, shape));
  if (whole) std::memset(data_of(whole), 0, PyArray_NBYTES(whole.array()));
  return sum_at(whole, indices, gradient, axis, storage);
}

// x, indices, updates, axis
PyObject* call_scatter_add(const void*, PyObject* const* arguments, Py_ssize_t count) {
  int axis;
  Storage storage;
  if (count != 4 || !is_plain_array(arguments[0]) || !is_index_array(arguments[1]) ||
      !is_plain_array(arguments[2])) {
    return not_implemented();
  }
  PyArrayObject *x = as_array(arguments[0]), *indices = as_array(arguments[1]);
  PyArrayObject* updates = as_array(arguments[2]);
  if (!find_storage(PyArray_TYPE(x), storage) || PyArray_TYPE(updates) != storage.typenum ||
      !read_axis(arguments[3], PyArray_NDIM(x), axis) || !have_one_shape(updates, indices) ||
      !matches(indices, PyArray_NDIM(x), PyArray_DIMS(x), axis)) {
    return not_implemented();
  }
  Reference whole(storage.half == nullptr ? copy_of(x) : contiguous_as(x, wide_type(storage)));
  return sum_at(whole, indices, updates, axis, storage);
}

}  // namespace

bool add_gather_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "gather", call_gather, nullptr) &&
         add_kernel(kernels_by_name, "gather_backward", call_gather_rule, nullptr) &&
         add_kernel(kernels_by_name, "scatter_add", call_scatter_add, nullptr);
}

}  // namespace extensor
