#include "signature.h"

#include "interpreter.h"
#include "reference.h"

namespace extensor {
namespace {

// names and defaults, tuples; args, a tuple; kwargs, a dict: a list, or None for a closer look
PyObject* bind_all(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 4 || !PyTuple_CheckExact(arguments[0]) || !PyTuple_CheckExact(arguments[1]) ||
      !PyTuple_CheckExact(arguments[2]) || !PyDict_CheckExact(arguments[3]) ||
      PyTuple_GET_SIZE(arguments[0]) != PyTuple_GET_SIZE(arguments[1])) {
    PyErr_SetString(PyExc_TypeError, "bind: needs names, defaults, args and kwargs");
    return nullptr;
  }
  constexpr Py_ssize_t kMost = 32;
  PyObject *const names = arguments[0], *const args = arguments[2], *const kwargs = arguments[3];
  const Py_ssize_t positional = PyTuple_GET_SIZE(args), named = PyDict_GET_SIZE(kwargs);
  const Py_ssize_t parameters = PyTuple_GET_SIZE(names);
  if (positional > parameters || parameters > kMost || positional + named > kMost) Py_RETURN_NONE;
  PyObject *given[kMost], *bound[kMost];
  for (Py_ssize_t i = 0; i < positional; ++i) given[i] = PyTuple_GET_ITEM(args, i);
  Reference keywords(PyTuple_New(named));
  if (!keywords) return nullptr;
  PyObject *key, *value;
  for (Py_ssize_t position = 0, k = 0; PyDict_Next(kwargs, &position, &key, &value); ++k) {
    PyTuple_SET_ITEM(keywords.get(), k, Py_NewRef(key));
    given[positional + k] = value;
  }
  if (!bind(names, arguments[1], nullptr, given, positional, keywords.get(), bound)) {
    Py_RETURN_NONE;
  }
  PyObject* values = PyList_New(parameters);
  for (Py_ssize_t i = 0; values != nullptr && i < parameters; ++i) {
    PyList_SET_ITEM(values, i, Py_NewRef(bound[i]));
  }
  return values;
}

PyMethodDef functions[] = {
    {"bind", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(bind_all)), METH_FASTCALL,
     nullptr},
    {},
};

}  // namespace

bool add_binding(PyObject* module) { return PyModule_AddFunctions(module, functions) == 0; }

}  // namespace extensor
