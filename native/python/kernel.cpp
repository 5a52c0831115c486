#include "kernel.h"

#include <chrono>
#include <cstddef>
#include <thread>

namespace extensor {
namespace {

struct KernelObject {
  PyObject_HEAD;
  vectorcallfunc vectorcall;
  KernelCall call;
  const void* definition;
  PyObject* name;
};

PyObject* call_kernel(PyObject* self, PyObject* const* arguments, size_t flagged_count,
                      PyObject* keywords) {
  if (keywords != nullptr && PyTuple_GET_SIZE(keywords) > 0) return not_implemented();
  const KernelObject* kernel = reinterpret_cast<KernelObject*>(self);
  return run_kernel(kernel->call, kernel->definition, arguments, PyVectorcall_NARGS(flagged_count));
}

PyObject* represent(PyObject* self) {
  return PyUnicode_FromFormat("<kernel %U>", reinterpret_cast<KernelObject*>(self)->name);
}

void destroy(PyObject* self) {
  Py_DECREF(reinterpret_cast<KernelObject*>(self)->name);
  Py_TYPE(self)->tp_free(self);
}

PyObject* get_name(PyObject* self, void*) {
  return Py_NewRef(reinterpret_cast<KernelObject*>(self)->name);
}

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

bool add_kernel(PyObject* kernels, const char* name, KernelCall call, const void* definition) {
  if (PyDict_GetItemString(kernels, name) != nullptr) {
    PyErr_Format(PyExc_SystemError, "two kernels are called %s", name);
    return false;
  }
  KernelObject* kernel = PyObject_New(KernelObject, &kernel_type);
  if (kernel == nullptr) return false;
  kernel->vectorcall = call_kernel;
  kernel->call = call;
  kernel->definition = definition;
  kernel->name = PyUnicode_InternFromString(name);
  const bool added =
      kernel->name != nullptr &&
      PyDict_SetItem(kernels, kernel->name, reinterpret_cast<PyObject*>(kernel)) == 0;
  Py_DECREF(kernel);
  return added;
}

bool kernel_parts(PyObject* object, KernelCall& call, const void*& definition) {
  if (Py_TYPE(object) != &kernel_type) return false;
  const KernelObject* kernel = reinterpret_cast<KernelObject*>(object);
  call = kernel->call;
  definition = kernel->definition;
  return true;
}

}  // namespace extensor
