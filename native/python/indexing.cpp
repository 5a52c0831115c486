#include "indexing.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "arguments.h"
#include "families.h"
#include "kernel.h"
#include "legacy_copying.h"
#include "legacy_operands.h"
#include "tensor_object.h"

namespace extensor {
namespace {

constexpr int64_t kParts = 8;         // of the target's rows, each one task's
constexpr int64_t kLeastWidth = 32;   // narrower rows are not worth reading all positions again
constexpr int64_t kElementCost = 16;  // a random access counts as so many elements in a row

PyArrayObject* as_array(PyObject* object) { return reinterpret_cast<PyArrayObject*>(object); }
char* data_of(const Reference& array) { return static_cast<char*>(PyArray_DATA(array.array())); }

template <typename Index>
bool resolve(const void* source, int64_t begin, int64_t end, int64_t size, int64_t* target) {
  bool inside = true;
  for (int64_t i = begin; i < end; ++i) {
    const Index given = static_cast<const Index*>(source)[i];
    // An unsigned number too large for int64 becomes negative, and stays outside.
    int64_t position = static_cast<int64_t>(given);
    if constexpr (Index(-1) < Index(0)) position += position < 0 ? size : 0;
    inside &= position >= 0 && position < size;
    target[i] = position;
  }
  return inside;
}

using Resolve = bool (*)(const void*, int64_t, int64_t, int64_t, int64_t*);

Resolve resolver(int typenum) {
  switch (typenum) {
    case NPY_INT8:
      return resolve<int8_t>;
    case NPY_INT16:
      return resolve<int16_t>;
    case NPY_INT32:
      return resolve<int32_t>;
    case NPY_INT64:
      return resolve<int64_t>;
    case NPY_UINT8:
      return resolve<uint8_t>;
    case NPY_UINT16:
      return resolve<uint16_t>;
    case NPY_UINT32:
      return resolve<uint32_t>;
    case NPY_UINT64:
      return resolve<uint64_t>;
    default:
      return nullptr;
  }
}

// The shape of take's result: the axis replaced by those of the indices; false if there are too
// many.
bool taken_shape(int ndim, const npy_intp* shape, int axis, PyArrayObject* indices, npy_intp* taken,
                 int& taken_ndim) {
  taken_ndim = ndim - 1 + PyArray_NDIM(indices);
  if (taken_ndim > kMaxDimensions) return false;
  npy_intp* end = std::copy_n(shape, axis, taken);
  end = std::copy_n(PyArray_DIMS(indices), PyArray_NDIM(indices), end);
  std::copy_n(shape + axis + 1, ndim - axis - 1, end);
  return true;
}

template <typename Item>
void copy_items(const char* source, const int64_t* positions, int64_t n, char* target) {
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(target + i * sizeof(Item), source + positions[i] * sizeof(Item), sizeof(Item));
  }
}

void copy_rows(const char* source, const int64_t* positions, int64_t n, int64_t bytes,
               char* target) {
  if (bytes == 4) return copy_items<uint32_t>(source, positions, n, target);
  if (bytes == 8) return copy_items<uint64_t>(source, positions, n, target);
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(target + i * bytes, source + positions[i] * bytes, bytes);
  }
}

// The slices of x at `indices` along an axis.
PyObject* take(PyArrayObject* x, PyArrayObject* indices, int axis) {
  npy_intp shape[kMaxDimensions];
  int ndim;
  if (!taken_shape(PyArray_NDIM(x), PyArray_DIMS(x), axis, indices, shape, ndim)) {
    return not_implemented();
  }
  const Block block(PyArray_NDIM(x), PyArray_DIMS(x), axis);
  Reference positions(positions_of(indices, block.length));
  if (!positions || positions.get() == Py_NotImplemented) return positions.release();
  Reference source(contiguous(x));
  if (!source) return nullptr;
  Reference result(new_array(PyArray_DESCR(x), ndim, shape));
  const int64_t count = PyArray_SIZE(positions.array());
  if (!result || PyArray_SIZE(result.array()) == 0) return result.release();
  const int64_t bytes = block.inner * PyArray_ITEMSIZE(x);
  const int64_t* places = reinterpret_cast<const int64_t*>(data_of(positions));
  const Cut pieces = cut(block.outer * count, Cost::light, kElementCost + bytes / 4);
  Unlocked unlocked(pieces.nanoseconds);
  parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t slice = begin / count, first = begin % count;
      const int64_t n = std::min(end - begin, count - first);
      copy_rows(data_of(source) + slice * block.length * bytes, places + first, n, bytes,
                data_of(result) + begin * bytes);
      begin += n;
    }
  });
  return result.release();
}

int wide_type(const Storage& storage) {
  return storage.element == Element::float64 ? NPY_FLOAT64 : NPY_FLOAT32;
}

// Zeros of `shape` with the slices of `updates` added at `indices` along an axis, in their order. A
// task owns a part of the target's rows, so no sum depends on who adds.
PyObject* add_slices(PyArrayObject* updates, int ndim, const npy_intp* shape,
                     PyArrayObject* indices, int axis) {
  npy_intp expected[kMaxDimensions];
  int expected_ndim;
  Storage storage;
  if (!find_storage(PyArray_TYPE(updates), storage) ||
      !taken_shape(ndim, shape, axis, indices, expected, expected_ndim) ||
      expected_ndim != PyArray_NDIM(updates) ||
      !PyArray_CompareLists(expected, PyArray_DIMS(updates), expected_ndim)) {
    return not_implemented();
  }
  const Block block(ndim, shape, axis);
  Reference positions(positions_of(indices, block.length));
  if (!positions || positions.get() == Py_NotImplemented) return positions.release();
  Reference source(contiguous_as(updates, wide_type(storage)));
  Reference whole(source ? new_array(wide_type(storage), ndim, shape) : nullptr);
  if (!whole) return nullptr;
  const int64_t itemsize = PyArray_ITEMSIZE(whole.array());
  const int64_t count = PyArray_SIZE(positions.array());
  const int64_t* places = reinterpret_cast<const int64_t*>(data_of(positions));
  if (PyArray_SIZE(whole.array()) > 0) {
    const auto add = kernels().indexing.add_rows[static_cast<int>(storage.element)];
    const int64_t parts = block.inner < kLeastWidth ? 1 : std::min(kParts, block.length);
    const int64_t slice = block.length * block.inner * itemsize;
    const int64_t per_task = (block.length + count) * (block.inner + 1) / parts;
    const Cut pieces = cut(block.outer * parts, Cost::light, std::max<int64_t>(per_task, 1));
    Unlocked unlocked(pieces.nanoseconds);
    parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t at = task / parts, part = task % parts;
        const int64_t from = part * block.length / parts, to = (part + 1) * block.length / parts;
        const int64_t row = block.inner * itemsize;
        std::memset(data_of(whole) + at * slice + from * row, 0, (to - from) * row);
        add(data_of(source) + at * count * row, places, count, block.inner, from, to,
            data_of(whole) + at * slice);
      }
    });
  }
  return contiguous_as(whole.array(), storage.typenum);
}

// x, indices, axis (None for take: of all elements)
template <bool kSelect>
PyObject* call_take(const void*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 3 || !is_movable_array(arguments[0]) || !is_index_array(arguments[1])) {
    return not_implemented();
  }
  PyArrayObject *x = as_array(arguments[0]), *indices = as_array(arguments[1]);
  if (kSelect && PyArray_NDIM(indices) != 1) return not_implemented();
  if (!kSelect && arguments[2] == Py_None) {
    Reference whole(contiguous(x));
    Reference flat(whole ? PyArray_Ravel(whole.array(), NPY_CORDER) : nullptr);
    return flat ? take(flat.array(), indices, 0) : nullptr;
  }
  int axis;
  if (!read_axis(arguments[2], PyArray_NDIM(x), axis)) return not_implemented();
  return take(x, indices, axis);
}

// grad_output, x_shape, indices, axis
template <bool kSelect>
PyObject* call_take_rule(const void*, PyObject* const* arguments, Py_ssize_t count) {
  npy_intp shape[kMaxDimensions];
  int ndim, axis;
  if (count != 4 || !is_plain_array(arguments[0]) || !read_sizes(arguments[1], shape, ndim) ||
      std::any_of(shape, shape + ndim, [](npy_intp size) { return size < 0; }) ||
      !is_index_array(arguments[2]) || !read_axis(arguments[3], ndim, axis) ||
      (kSelect && PyArray_NDIM(as_array(arguments[2])) != 1)) {
    return not_implemented();
  }
  return add_slices(as_array(arguments[0]), ndim, shape, as_array(arguments[2]), axis);
}

// The array behind an index that is one array of integers; null for any other index. Borrowed.
PyArrayObject* array_index(PyObject* index) {
  PyObject* object = is_tensor(index) ? as_tensor(index)->array : index;
  return is_index_array(object) && PyArray_NDIM(as_array(object)) > 0 ? as_array(object) : nullptr;
}

bool is_view_item(PyObject* item) {
  return PyLong_CheckExact(item) || item == Py_None || item == Py_Ellipsis || PySlice_Check(item);
}

// An index of ints, slices, None and one ..., with a ... at its end if it has none, so that what it
// selects is always a view. A new tuple, or null without an error for any other index.
PyObject* view_index(PyObject* index) {
  const bool several = PyTuple_CheckExact(index);
  const Py_ssize_t given = several ? PyTuple_GET_SIZE(index) : 1;
  Reference items(PyTuple_New(given + 1));
  if (!items) return nullptr;
  int dots = 0;
  for (Py_ssize_t i = 0; i < given; ++i) {
    PyObject* item = several ? PyTuple_GET_ITEM(index, i) : index;
    if (!is_view_item(item)) return nullptr;
    dots += item == Py_Ellipsis;
    PyTuple_SET_ITEM(items.get(), i, Py_NewRef(item));
  }
  if (dots == 1) return PyTuple_GetSlice(items.get(), 0, given);
  if (dots > 1) return nullptr;
  PyTuple_SET_ITEM(items.get(), given, Py_NewRef(Py_Ellipsis));
  return items.release();
}

// The view of x at an index; NotImplemented where NumPy has an error, which Python explains better.
PyObject* view_at(PyObject* x, PyObject* index) {
  Reference items(view_index(index));
  Reference view(items ? PyObject_GetItem(x, items.get()) : nullptr);
  if (view && PyArray_CheckExact(view.get())) return view.release();
  if (!PyErr_ExceptionMatches(PyExc_MemoryError)) PyErr_Clear();
  return not_implemented();
}

// x, index
PyObject* call_getitem(const void*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !is_movable_array(arguments[0])) return not_implemented();
  PyArrayObject* indices = array_index(arguments[1]);
  if (indices == nullptr) return view_at(arguments[0], arguments[1]);
  if (PyArray_NDIM(as_array(arguments[0])) == 0) return not_implemented();
  return take(as_array(arguments[0]), indices, 0);
}

// Whether there can be an array of this shape at all; Python says what is wrong with it.
bool fits_memory(const npy_intp* shape, int ndim) {
  npy_intp bytes = sizeof(double);
  return std::all_of(shape, shape + ndim, [&](npy_intp size) {
    return size == 0 || !__builtin_mul_overflow(bytes, size, &bytes);
  });
}

// x, shape, index: for place, and for the rule of getitem, which is the same.
PyObject* call_place(const void*, PyObject* const* arguments, Py_ssize_t count) {
  npy_intp shape[kMaxDimensions];
  int ndim;
  Storage storage;
  if (count != 3 || !is_plain_array(arguments[0]) || !read_sizes(arguments[1], shape, ndim) ||
      std::any_of(shape, shape + ndim, [](npy_intp size) { return size < 0; })) {
    return not_implemented();
  }
  PyArrayObject* x = as_array(arguments[0]);
  if (!find_storage(PyArray_TYPE(x), storage)) return not_implemented();
  PyArrayObject* indices = array_index(arguments[2]);
  if (indices != nullptr) {
    return ndim == 0 ? not_implemented() : add_slices(x, ndim, shape, indices, 0);
  }
  if (!fits_memory(shape, ndim)) return not_implemented();
  Reference whole(new_array(storage.typenum, ndim, shape));
  if (!whole) return nullptr;
  Reference part(view_at(whole.get(), arguments[2]));
  if (!part || part.get() == Py_NotImplemented) return part.release();
  if (PyArray_NDIM(part.array()) != PyArray_NDIM(x) ||
      !PyArray_CompareLists(PyArray_DIMS(part.array()), PyArray_DIMS(x), PyArray_NDIM(x))) {
    return not_implemented();
  }
  std::memset(data_of(whole), 0, PyArray_NBYTES(whole.array()));
  const int copied = taking_lock([&] { return PyArray_CopyInto(part.array(), x); });
  if (copied < 0) return nullptr;
  return whole.release();
}

}  // namespace

bool is_index_array(PyObject* object) {
  return is_plain_array(object) && resolver(PyArray_TYPE(as_array(object))) != nullptr;
}

PyObject* positions_of(PyArrayObject* indices, int64_t size) {
  Reference source(contiguous(indices));
  if (!source) return nullptr;
  const npy_intp count = PyArray_SIZE(source.array());
  Reference result(new_array(NPY_INT64, 1, &count));
  if (!result) return nullptr;
  const Resolve run = resolver(PyArray_TYPE(source.array()));
  const void* data = data_of(source);
  int64_t* target = reinterpret_cast<int64_t*>(data_of(result));
  std::atomic<bool> inside = true;
  {
    const Cut pieces = cut(count, Cost::medium);
    Unlocked unlocked(pieces.nanoseconds);
    parallel_chunks(pieces, [&](int64_t begin, int64_t end) {
      if (!run(data, begin, end, size, target)) inside = false;
    });
  }
  return inside ? result.release() : not_implemented();
}

bool add_index_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "take", call_take<false>, nullptr) &&
         add_kernel(kernels_by_name, "take_backward", call_take_rule<false>, nullptr) &&
         add_kernel(kernels_by_name, "index_select", call_take<true>, nullptr) &&
         add_kernel(kernels_by_name, "index_select_backward", call_take_rule<true>, nullptr) &&
         add_kernel(kernels_by_name, "getitem", call_getitem, nullptr) &&
         add_kernel(kernels_by_name, "getitem_backward", call_place, nullptr) &&
         add_kernel(kernels_by_name, "place", call_place, nullptr);
}

}  // namespace extensor
