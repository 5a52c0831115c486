// "By the kernel, or where there is none or it declines, by the formula", for whatever is computed:
// forwards, rules, updates, random numbers. Either way it passes the door. What stands for the
// formula here tries the kernel of another array library first: see core/door.py.
#include "computation.h"

#include <structmember.h>

#include <cstddef>

#include "execute.h"

namespace extensor {
namespace {

struct ComputationObject {
  PyObject_HEAD;
  vectorcallfunc vectorcall;
  PyObject* name;
  PyObject* kernel;   // or None
  PyObject* formula;  // or None: then a kernel that declines answers NotImplemented
  int backward;
};

ComputationObject* as_computation(PyObject* object) {
  return reinterpret_cast<ComputationObject*>(object);
}

template <typename Finish>
PyObject* by_formula(const ComputationObject& self, PyObject* const* arguments, Py_ssize_t count,
                     const Finish& finish) {
  const auto calculate = [&] {
    return PyObject_Vectorcall(self.formula, arguments, count, nullptr);
  };
  return watched({self.name, Py_None, self.backward != 0}, arguments, count, calculate, finish);
}

template <typename Finish>
PyObject* computed(const ComputationObject& self, PyObject* const* arguments, Py_ssize_t count,
                   const Finish& finish) {
  if (const Kernel* kernel = kernel_of(self.kernel)) {
    PyObject* result = execute(*kernel, self.name, self.backward, arguments, count, 0, finish);
    if (result != Py_NotImplemented || self.formula == Py_None) return result;
    Py_DECREF(result);
  }
  return by_formula(self, arguments, count, finish);
}

PyObject* call_computation(PyObject* object, PyObject* const* arguments, size_t flagged_count,
                           PyObject* keywords) {
  if (keywords != nullptr && PyTuple_GET_SIZE(keywords) > 0) {
    PyErr_SetString(PyExc_TypeError, "Computation: takes no keywords");
    return nullptr;
  }
  return computed(*as_computation(object), arguments, PyVectorcall_NARGS(flagged_count),
                  as_computed);
}

// finished(finish, *arguments): what finish(result) makes of what is computed, before the watchers
// are told, so that they see the node it is recorded as
PyObject* call_finished(PyObject* object, PyObject* const* arguments, Py_ssize_t count) {
  if (count < 1) {
    PyErr_SetString(PyExc_TypeError, "finished: needs a function of the result");
    return nullptr;
  }
  const auto finish = [&](PyObject* result, PyObject*& node) {
    PyObject* made = PyObject_CallOneArg(arguments[0], result);
    if (made != nullptr && node_of(made) != Py_None) node = node_of(made);
    return made;
  };
  return computed(*as_computation(object), arguments + 1, count - 1, finish);
}

// name, kernel or None, formula or None, whether it is part of a backward pass
PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject *name, *kernel, *formula;
  int backward = 0;
  if (!PyArg_ParseTuple(arguments, "O!OO|p", &PyUnicode_Type, &name, &kernel, &formula,
                        &backward)) {
    return nullptr;
  }
  if ((kernel != Py_None && kernel_of(kernel) == nullptr) ||
      (formula != Py_None && !PyCallable_Check(formula)) ||
      (kernel == Py_None && formula == Py_None)) {
    PyErr_SetString(PyExc_TypeError, "Computation: needs a kernel or a formula");
    return nullptr;
  }
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) return nullptr;
  ComputationObject* self = as_computation(object);
  self->vectorcall = call_computation;
  self->name = Py_NewRef(name);
  self->kernel = Py_NewRef(kernel);
  self->formula = Py_NewRef(formula);
  self->backward = backward;
  return object;
}

PyObject* represent(PyObject* object) {
  return PyUnicode_FromFormat("<computation %U>", as_computation(object)->name);
}

void destroy(PyObject* object) {
  ComputationObject* self = as_computation(object);
  Py_XDECREF(self->name);
  Py_XDECREF(self->kernel);
  Py_XDECREF(self->formula);
  Py_TYPE(object)->tp_free(object);
}

PyMemberDef members[] = {
    {"__name__", T_OBJECT, offsetof(ComputationObject, name), READONLY, nullptr},
    {"kernel", T_OBJECT, offsetof(ComputationObject, kernel), READONLY, nullptr},
    {"formula", T_OBJECT, offsetof(ComputationObject, formula), READONLY, nullptr},
    {},
};

PyMethodDef methods[] = {
    {"finished", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(call_finished)),
     METH_FASTCALL, nullptr},
    {},
};

PyTypeObject computation_type = [] {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "extensor._native.Computation";
  type.tp_basicsize = sizeof(ComputationObject);
  type.tp_dealloc = destroy;
  type.tp_repr = represent;
  type.tp_vectorcall_offset = offsetof(ComputationObject, vectorcall);
  type.tp_call = PyVectorcall_Call;
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL;
  type.tp_members = members;
  type.tp_methods = methods;
  type.tp_new = create;
  return type;
}();

}  // namespace

bool add_computation_type(PyObject* module) {
  return PyType_Ready(&computation_type) == 0 &&
         PyModule_AddObjectRef(module, "Computation",
                               reinterpret_cast<PyObject*>(&computation_type)) == 0;
}

}  // namespace extensor
