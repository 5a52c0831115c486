// What things hold, and whether it is still the same: a function that was traced asks that before
// each run. Only pointers are compared. The objects themselves are not touched: a step has emptied
// the caches of them, and waiting for each would take longer than all else.
#include "contents.h"

#include "interpreter.h"
#include "reference.h"
#include "tensor_object.h"

namespace extensor {
namespace {

// Calls `visit` for what a thing holds, borrowed, until it returns false. Of a tensor that is its
// array, whether it requires a gradient, its hooks and its gradient; of a tuple (dict, *keys) what
// the dict has for these keys, or None; of a cell of a closure its value, if it has one; of a dict
// keys and values; of all else what an iteration gives. Returns false if it was stopped, perhaps by
// a Python error.
template <typename Visit>
bool visit_contents(PyObject* thing, const Visit& visit) {
  if (is_tensor(thing)) {
    const TensorObject* tensor = as_tensor(thing);
    return visit(tensor->array) && visit(tensor->requires_grad) && visit(tensor->hooks) &&
           visit(tensor->grad);
  }
  if (PyTuple_CheckExact(thing) && PyTuple_GET_SIZE(thing) > 0 &&
      PyDict_Check(PyTuple_GET_ITEM(thing, 0))) {
    for (Py_ssize_t i = 1; i < PyTuple_GET_SIZE(thing); ++i) {
      PyObject* found =
          PyDict_GetItemWithError(PyTuple_GET_ITEM(thing, 0), PyTuple_GET_ITEM(thing, i));
      if (found == nullptr && PyErr_Occurred()) return false;
      if (!visit(found == nullptr ? Py_None : found)) return false;
    }
    return true;
  }
  if (PyCell_Check(thing)) {
    Reference value(PyCell_Get(thing));
    return !value || visit(value.get());
  }
  if (PyDict_CheckExact(thing)) {
    PyObject *key, *value;
    for (Py_ssize_t position = 0; PyDict_Next(thing, &position, &key, &value);) {
      if (!visit(key) || !visit(value)) return false;
    }
    return true;
  }
  if (PyList_CheckExact(thing)) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(thing); ++i) {
      if (!visit(PyList_GET_ITEM(thing, i))) return false;
    }
    return true;
  }
  Reference iterator(PyObject_GetIter(thing));
  if (!iterator) return false;
  while (PyObject* item = PyIter_Next(iterator.get())) {
    Reference held(item);
    if (!visit(item)) return false;
  }
  return !PyErr_Occurred();
}

template <typename Visit>
bool visit_all(PyObject* things, const Visit& visit) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(things); ++i) {
    Reference thing(Py_NewRef(PyList_GET_ITEM(things, i)));  // an iteration may run any code
    if (!visit_contents(thing.get(), visit)) return false;
  }
  return true;
}

PyObject* contents(PyObject*, PyObject* things) {
  if (!PyList_Check(things)) {
    PyErr_SetString(PyExc_TypeError, "contents: needs a list of things");
    return nullptr;
  }
  Reference found(PyList_New(0));
  const auto keep = [&](PyObject* item) { return PyList_Append(found.get(), item) == 0; };
  if (!found || !visit_all(things, keep)) return nullptr;
  return found.release();
}

// things, list of what they held: whether they hold these very objects, in this order
PyObject* holds(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !PyList_Check(arguments[0]) || !PyList_Check(arguments[1])) {
    PyErr_SetString(PyExc_TypeError, "holds: needs a list of things and one of what they held");
    return nullptr;
  }
  PyObject* const expected = arguments[1];
  Py_ssize_t place = 0;
  const auto compare = [&](PyObject* item) {
    return place < PyList_GET_SIZE(expected) && PyList_GET_ITEM(expected, place++) == item;
  };
  const bool same = visit_all(arguments[0], compare) && place == PyList_GET_SIZE(expected);
  if (PyErr_Occurred()) return nullptr;
  return PyBool_FromLong(same);
}

// The array of an argument, a plain tensor or an array; null for anything else. Borrowed.
PyArrayObject* array_in(PyObject* object, bool tensors) {
  if (tensors && is_tensor(object)) {
    const TensorObject* tensor = as_tensor(object);
    const bool plain = tensor->requires_grad == Py_False && tensor->node == Py_None &&
                       tensor->grad == Py_None && tensor->hooks == Py_None;
    if (!plain || Py_TYPE(object) != tensor_type) return nullptr;
    object = tensor->array;
  }
  return PyArray_CheckExact(object) ? reinterpret_cast<PyArrayObject*>(object) : nullptr;
}

// The dtypes and shapes of a tuple of arrays as bytes, which are equal if all of these are. None
// for anything else, for dtypes that are not ours, and if an array is there twice. With layouts
// also their strides, which of them are in plain tensors, and None for memory that is not aligned.
template <bool kLayouts>
PyObject* description(PyObject*, PyObject* arguments) {
  constexpr Py_ssize_t kMostArrays = 16;
  constexpr size_t kMostWords = 256;
  if (!PyTuple_CheckExact(arguments)) {
    PyErr_SetString(PyExc_TypeError, "description: needs a tuple of arrays");
    return nullptr;
  }
  const Py_ssize_t count = PyTuple_GET_SIZE(arguments);
  if (count > kMostArrays) Py_RETURN_NONE;
  int64_t words[kMostWords];
  size_t used = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const object = PyTuple_GET_ITEM(arguments, i);
    PyArrayObject* const array = array_in(object, kLayouts);
    if (array == nullptr) Py_RETURN_NONE;
    for (Py_ssize_t j = 0; j < i; ++j) {
      if (PyTuple_GET_ITEM(arguments, j) == object) Py_RETURN_NONE;
    }
    const size_t ndim = static_cast<size_t>(PyArray_NDIM(array));
    const DType dtype = dtype_of(PyArray_TYPE(array));
    if (dtype == DType::other || !PyArray_ISNOTSWAPPED(array) || used + 2 * ndim + 2 > kMostWords ||
        (kLayouts && !PyArray_ISALIGNED(array))) {
      Py_RETURN_NONE;
    }
    words[used++] = static_cast<int64_t>(dtype) + (is_tensor(object) ? 1 << 16 : 0);
    words[used++] = static_cast<int64_t>(ndim);
    for (size_t axis = 0; axis < ndim; ++axis) {
      words[used++] = PyArray_DIM(array, axis);
      if (kLayouts) words[used++] = PyArray_STRIDE(array, axis);
    }
  }
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(words),
                                   static_cast<Py_ssize_t>(used * sizeof *words));
}

// tensors_among(objects): those of a list that are tensors. In a large program there are millions.
PyObject* tensors_among(PyObject*, PyObject* objects) {
  if (!PyList_CheckExact(objects)) {
    PyErr_SetString(PyExc_TypeError, "tensors_among: needs a list");
    return nullptr;
  }
  Reference found(PyList_New(0));
  for (Py_ssize_t i = 0; found && i < PyList_GET_SIZE(objects); ++i) {
    PyObject* const object = PyList_GET_ITEM(objects, i);
    if (is_tensor(object) && PyList_Append(found.get(), object) < 0) return nullptr;
  }
  return found.release();
}

PyMethodDef functions[] = {
    {"tensors_among", tensors_among, METH_O, nullptr},
    {"description", description<false>, METH_O, nullptr},
    {"layouts", description<true>, METH_O, nullptr},
    {"contents", contents, METH_O, nullptr},
    {"holds", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(holds)), METH_FASTCALL,
     nullptr},
    {},
};

}  // namespace

bool add_contents(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace extensor
