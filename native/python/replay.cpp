// The short way through one node of the tape: what it saved, the kernel of its rule, tensors out,
// without a Python frame. Whatever is not plain takes the long way, which is Python: core/rule.py.
#include "replay.h"

#include <cstddef>
#include <cstring>

#include "execute.h"
#include "record.h"

namespace extensor {
namespace {

struct ReplayerObject {
  PyObject_HEAD;
  vectorcallfunc vectorcall;
  PyObject* name;  // of the rule
  PyObject* kernel;
  int eps_at;    // where the rule takes eps, after grad_output, or -1
  bool single;   // one gradient, and no `needs` to be told
  bool several;  // gradients of several outputs come in, whose shapes and dtypes were saved last
};

ReplayerObject* as_replayer(PyObject* object) { return reinterpret_cast<ReplayerObject*>(object); }

PyObject* array_or_value(PyObject* object) {
  return is_tensor(object) ? as_tensor(object)->array : object;
}

// A tuple of tensors, None where the kernel gave none.
PyObject* wrapped(PyObject* result, bool single) {
  const Py_ssize_t count = single ? 1 : PyTuple_GET_SIZE(result);
  Reference gradients(PyTuple_New(count));
  if (!gradients) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* array = single ? result : PyTuple_GET_ITEM(result, i);
    PyObject* gradient = array == Py_None ? Py_NewRef(Py_None) : new_tensor(array);
    if (gradient == nullptr) return nullptr;
    PyTuple_SET_ITEM(gradients.get(), i, gradient);
  }
  return gradients.release();
}

PyObject* zeros(PyObject* shape, PyObject* dtype) {
  int64_t lengths[kMaxDimensions];
  const Py_ssize_t ndim = PyTuple_CheckExact(shape) ? PyTuple_GET_SIZE(shape) : kMaxDimensions + 1;
  if (ndim > kMaxDimensions || !PyArray_DescrCheck(dtype)) return not_implemented();
  for (Py_ssize_t axis = 0; axis < ndim; ++axis) {
    lengths[axis] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, axis));
    if (lengths[axis] == -1 && PyErr_Occurred()) return nullptr;
  }
  Reference array(new_array(reinterpret_cast<PyArray_Descr*>(dtype), static_cast<int>(ndim),
                            reinterpret_cast<npy_intp*>(lengths)));
  if (array) std::memset(array.data(), 0, PyArray_NBYTES(array.array()));
  return array.release();
}

// The gradients of several outputs as a list of arrays, zeros for those that nothing used. Null
// with a Python error set, NotImplemented for the long way.
PyObject* filled(PyObject* gradients, PyObject* descriptions) {
  if (!PyList_CheckExact(gradients) || !PyList_CheckExact(descriptions) ||
      PyList_GET_SIZE(gradients) != PyList_GET_SIZE(descriptions)) {
    return not_implemented();
  }
  const Py_ssize_t count = PyList_GET_SIZE(gradients);
  Reference arrays(PyList_New(count));
  if (!arrays) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* gradient = PyList_GET_ITEM(gradients, i);
    PyObject* described = PyList_GET_ITEM(descriptions, i);
    if (!PyTuple_CheckExact(described) || PyTuple_GET_SIZE(described) != 2) {
      return not_implemented();
    }
    PyObject* array = is_tensor(gradient) ? Py_NewRef(as_tensor(gradient)->array)
                      : gradient == Py_None
                          ? zeros(PyTuple_GET_ITEM(described, 0), PyTuple_GET_ITEM(described, 1))
                          : not_implemented();
    if (array == nullptr || array == Py_NotImplemented) return array;
    PyList_SET_ITEM(arrays.get(), i, array);
  }
  return arrays.release();
}

// grad_output, saved, needs; NotImplemented for the long way
PyObject* call_replayer(PyObject* object, PyObject* const* given, size_t flagged_count, PyObject*) {
  const ReplayerObject& self = *as_replayer(object);
  if (PyVectorcall_NARGS(flagged_count) != 3 || !PyTuple_CheckExact(given[1]) ||
      !(self.several || is_tensor(given[0])) || mode().recording ||
      PyTuple_GET_SIZE(given[1]) + 3 > kMaxArguments || PyTuple_GET_SIZE(given[1]) < self.several) {
    return not_implemented();
  }
  PyObject* const saved = given[1];
  const Py_ssize_t kept = PyTuple_GET_SIZE(saved) - self.several;
  Reference incoming(self.several ? filled(given[0], PyTuple_GET_ITEM(saved, kept))
                                  : Py_NewRef(as_tensor(given[0])->array));
  if (!incoming || incoming.get() == Py_NotImplemented) return incoming.release();
  Reference eps(self.eps_at < 0 ? nullptr : PyFloat_FromDouble(mode().epsilon));
  if (self.eps_at >= 0 && !eps) return nullptr;
  PyObject* arguments[kMaxArguments];
  int count = 0;
  arguments[count++] = incoming.get();
  for (Py_ssize_t i = 0; i < kept; ++i) {
    if (count == self.eps_at + 1) arguments[count++] = eps.get();
    arguments[count++] = array_or_value(PyTuple_GET_ITEM(saved, i));
  }
  if (count == self.eps_at + 1) arguments[count++] = eps.get();
  if (!self.single) arguments[count++] = given[2];
  const auto finish = [&](PyObject* result, PyObject*&) -> PyObject* {
    return self.single || PyTuple_Check(result) ? wrapped(result, self.single) : not_implemented();
  };
  return execute(*kernel_of(self.kernel), self.name, true, arguments, count, count, finish);
}

// name of the rule, kernel, place of eps or -1, whether there is a single gradient, whether there
// are several outputs
PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject *name, *kernel;
  int eps_at, single, several;
  if (!PyArg_ParseTuple(arguments, "O!Oipp", &PyUnicode_Type, &name, &kernel, &eps_at, &single,
                        &several)) {
    return nullptr;
  }
  if (kernel_of(kernel) == nullptr) {
    PyErr_SetString(PyExc_TypeError, "Replayer: needs a kernel");
    return nullptr;
  }
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) return nullptr;
  ReplayerObject* self = as_replayer(object);
  self->vectorcall = call_replayer;
  self->name = Py_NewRef(name);
  self->kernel = Py_NewRef(kernel);
  self->eps_at = eps_at;
  self->single = single != 0;
  self->several = several != 0;
  return object;
}

void destroy(PyObject* object) {
  Py_XDECREF(as_replayer(object)->name);
  Py_XDECREF(as_replayer(object)->kernel);
  Py_TYPE(object)->tp_free(object);
}

PyTypeObject replayer_type = [] {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "extensor._native.Replayer";
  type.tp_basicsize = sizeof(ReplayerObject);
  type.tp_dealloc = destroy;
  type.tp_vectorcall_offset = offsetof(ReplayerObject, vectorcall);
  type.tp_call = PyVectorcall_Call;
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL;
  type.tp_new = create;
  return type;
}();

}  // namespace

bool add_replayer_type(PyObject* module) {
  return PyType_Ready(&replayer_type) == 0 &&
         PyModule_AddObjectRef(module, "Replayer", reinterpret_cast<PyObject*>(&replayer_type)) ==
             0;
}

}  // namespace extensor
