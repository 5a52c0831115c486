// Copies of arrays, and of rows of one into places of another: how batches are put together from
// pieces of shards. The interpreter's lock is free meanwhile, also while the system reads pages
// that are mapped.
#include "rows.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "../drivers/copying.h"
#include "interpreter.h"
#include "reference.h"

namespace extensor {
namespace {

constexpr npy_intp kBytesPerNanosecond = 8;

PyArrayObject* as_array(PyObject* object) {
  return PyArray_Check(object) ? reinterpret_cast<PyArrayObject*>(object) : nullptr;
}

bool has_rows(PyArrayObject* array) {
  return array != nullptr && PyArray_NDIM(array) > 0 && PyArray_IS_C_CONTIGUOUS(array) &&
         !PyDataType_REFCHK(PyArray_DESCR(array));
}

bool have_same_rows(PyArrayObject* a, PyArrayObject* b) {
  const int ndim = PyArray_NDIM(a);
  return ndim == PyArray_NDIM(b) && PyArray_EquivTypes(PyArray_DESCR(a), PyArray_DESCR(b)) &&
         std::equal(PyArray_DIMS(a) + 1, PyArray_DIMS(a) + ndim, PyArray_DIMS(b) + 1);
}

// Copies numbers of rows as it checks that all are below `end`: another thread may change the array
// afterwards.
bool read_rows(PyArrayObject* numbers, npy_intp end, std::vector<npy_intp>& rows) {
  if (numbers == nullptr || PyArray_NDIM(numbers) != 1 || !PyArray_ISCARRAY_RO(numbers) ||
      !PyArray_EquivTypenums(PyArray_TYPE(numbers), NPY_INTP)) {
    return false;
  }
  const npy_intp* const first = static_cast<const npy_intp*>(PyArray_DATA(numbers));
  rows.resize(static_cast<size_t>(PyArray_DIM(numbers, 0)));
  bool inside = true;
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = read_once<npy_intp>(first + i);
    inside &= rows[i] >= 0 && rows[i] < end;
  }
  return inside;
}

// target, places, source, rows: target[places[i]] = source[rows[i]] for each i in turn
PyObject* copy_rows(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    PyArrayObject* arrays[4] = {};
    for (int i = 0; count == 4 && i < 4; ++i) arrays[i] = as_array(arguments[i]);
    const auto [target, places, source, rows] = arrays;
    std::vector<npy_intp> to, from;
    if (!has_rows(target) || !has_rows(source) || !PyArray_ISWRITEABLE(target) ||
        !have_same_rows(target, source) || !read_rows(places, PyArray_DIM(target, 0), to) ||
        !read_rows(rows, PyArray_DIM(source, 0), from) || to.size() != from.size()) {
      PyErr_SetString(PyExc_ValueError,
                      "copy_rows: needs two arrays of like rows, and as many places as rows");
      return nullptr;
    }
    const npy_intp size =
        PyArray_DIM(target, 0) == 0 ? 0 : PyArray_NBYTES(target) / PyArray_DIM(target, 0);
    char* const written = PyArray_BYTES(target);
    const char* const read = PyArray_BYTES(source);
    {
      Unlocked unlocked(static_cast<npy_intp>(from.size()) * size / kBytesPerNanosecond);
      for (size_t i = 0; i < from.size(); ++i) {
        std::memmove(written + to[i] * size, read + from[i] * size, static_cast<size_t>(size));
      }
    }
    Py_RETURN_NONE;
  });
}

// A copy in memory of the pool; None for an array that is not in C order, or not of plain numbers.
PyObject* copied(PyObject*, PyObject* object) {
  PyArrayObject* const source = as_array(object);
  if (source == nullptr || !PyArray_CheckExact(object) || !PyArray_ISCARRAY_RO(source) ||
      dtype_of(PyArray_TYPE(source)) == DType::other) {
    Py_RETURN_NONE;
  }
  Reference made(new_array(PyArray_DESCR(source), PyArray_NDIM(source), PyArray_DIMS(source)));
  if (!made) return nullptr;
  const npy_intp bytes = PyArray_NBYTES(source);
  Unlocked unlocked(bytes / kBytesPerNanosecond);
  std::memcpy(made.data(), PyArray_BYTES(source), static_cast<size_t>(bytes));
  return made.release();
}

PyMethodDef functions[] = {
    {"copied", copied, METH_O, nullptr},
    {"copy_rows", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(copy_rows)), METH_FASTCALL,
     nullptr},
    {},
};

}  // namespace

bool add_rows(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace extensor
