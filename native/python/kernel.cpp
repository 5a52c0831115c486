#include "kernel.h"

#include <chrono>
#include <cstddef>
#include <thread>

#include "execute.h"

namespace extensor {
namespace {

struct KernelObject {
  PyObject_HEAD;
  vectorcallfunc vectorcall;
  Kernel kernel;
};

KernelObject* as_kernel(PyObject* object) { return reinterpret_cast<KernelObject*>(object); }

PyObject* call_kernel(PyObject* self, PyObject* const* arguments, size_t flagged_count,
                      PyObject* keywords) {
  if (keywords != nullptr && PyTuple_GET_SIZE(keywords) > 0) return not_implemented();
  const Kernel& kernel = as_kernel(self)->kernel;
  return execute(kernel, kernel.name, false, arguments, PyVectorcall_NARGS(flagged_count));
}

PyObject* represent(PyObject* self) {
  return PyUnicode_FromFormat("<kernel %U>", as_kernel(self)->kernel.name);
}

void destroy(PyObject* self) {
  Py_DECREF(as_kernel(self)->kernel.name);
  Py_TYPE(self)->tp_free(self);
}

PyObject* get_name(PyObject* self, void*) { return Py_NewRef(as_kernel(self)->kernel.name); }

PyGetSetDef properties[] = {{"__name__", get_name, nullptr, nullptr, nullptr}, {}};

PyTypeObject kernel_type = [] {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "extensor._native.Kernel";
  type.tp_basicsize = sizeof(KernelObject);
  type.tp_dealloc = destroy;
  type.tp_repr = represent;
  type.tp_vectorcall_offset = offsetof(KernelObject, vectorcall);
  type.tp_call = PyVectorcall_Call;
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL;
  type.tp_getset = properties;
  return type;
}();

}  // namespace

void wait_for_exit() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

bool register_kernel_type(PyObject* module) {
  return PyType_Ready(&kernel_type) == 0 &&
         PyModule_AddObjectRef(module, "Kernel", reinterpret_cast<PyObject*>(&kernel_type)) == 0;
}

bool add_kernel(PyObject* kernels, const char* name, PlanFunction plan, const void* definition) {
  if (PyDict_GetItemString(kernels, name) != nullptr) {
    PyErr_Format(PyExc_SystemError, "two kernels are called %s", name);
    return false;
  }
  KernelObject* object = PyObject_New(KernelObject, &kernel_type);
  if (object == nullptr) return false;
  object->vectorcall = call_kernel;
  object->kernel = {PyUnicode_InternFromString(name), plan, definition};
  const bool added =
      object->kernel.name != nullptr &&
      PyDict_SetItem(kernels, object->kernel.name, reinterpret_cast<PyObject*>(object)) == 0;
  Py_DECREF(object);
  return added;
}

const Kernel* kernel_of(PyObject* object) {
  return Py_TYPE(object) == &kernel_type ? &as_kernel(object)->kernel : nullptr;
}

}  // namespace extensor
