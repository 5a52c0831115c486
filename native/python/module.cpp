// The module extensor._native: its kernels by name, and the settings of the runtime.
#include <algorithm>
#include <cstdlib>

#include "../kernels/tables.h"
#include "../runtime/cpu.h"
#include "../runtime/memory.h"
#include "../runtime/threads.h"
#include "arrays.h"
#include "computation.h"
#include "contents.h"
#include "dispatch.h"
#include "kernel.h"
#include "planned.h"
#include "plans/families.h"
#include "program.h"
#include "record.h"
#include "recorder.h"
#include "replay.h"
#include "rows.h"
#include "signature.h"
#include "tensor_object.h"
#include "watch.h"

namespace extensor {

namespace {

PyObject* get_num_threads(PyObject*, PyObject*) { return PyLong_FromLong(num_threads()); }

PyObject* set_thread_count(PyObject*, PyObject* argument) {
  constexpr long kMostThreads = 4096;
  int overflow = 0;
  const long count = PyLong_AsLongAndOverflow(argument, &overflow);
  if (count == -1 && PyErr_Occurred()) return nullptr;
  set_num_threads(
      static_cast<int>(overflow > 0 ? kMostThreads : std::clamp<long>(count, 1, kMostThreads)));
  Py_RETURN_NONE;
}

PyObject* memory_stats(PyObject*, PyObject*) {
  const MemoryStatistics s = memory_statistics();
  return Py_BuildValue("{s:n,s:n,s:n,s:K,s:K,s:K}", "in_use", s.in_use, "peak_in_use",
                       s.peak_in_use, "cached", s.cached, "allocations", s.allocations, "hits",
                       s.hits, "misses", s.misses);
}

PyObject* reset_peak(PyObject*, PyObject*) {
  reset_peak_memory();
  Py_RETURN_NONE;
}

PyObject* trim(PyObject*, PyObject*) { return PyLong_FromSize_t(trim_memory()); }

PyObject* set_cache_limit(PyObject*, PyObject* argument) {
  const size_t bytes = PyLong_AsSize_t(argument);
  if (bytes == static_cast<size_t>(-1) && PyErr_Occurred()) return nullptr;
  set_memory_cache_limit(bytes);
  Py_RETURN_NONE;
}

PyObject* register_bfloat16(PyObject*, PyObject* argument) {
  const long typenum = PyLong_AsLong(argument);
  if (typenum == -1 && PyErr_Occurred()) return nullptr;
  if (!set_bfloat16_typenum(static_cast<int>(typenum))) return nullptr;
  Py_RETURN_NONE;
}

// empty(shape, dtype): an array whose memory comes from the pool
PyObject* empty(PyObject*, PyObject* arguments) {
  PyObject* lengths;
  PyArray_Descr* descriptor;
  if (!PyArg_ParseTuple(arguments, "O!O!", &PyTuple_Type, &lengths, &PyArrayDescr_Type,
                        &descriptor)) {
    return nullptr;
  }
  npy_intp shape[kMaxDimensions];
  const Py_ssize_t ndim = PyTuple_GET_SIZE(lengths);
  if (ndim > kMaxDimensions) {
    return PyErr_Format(PyExc_ValueError, "at most %d axes, got %zd", kMaxDimensions, ndim);
  }
  for (Py_ssize_t axis = 0; axis < ndim; ++axis) {
    shape[axis] = PyNumber_AsSsize_t(PyTuple_GET_ITEM(lengths, axis), PyExc_OverflowError);
    if (shape[axis] == -1 && PyErr_Occurred()) return nullptr;
  }
  return new_array(descriptor, static_cast<int>(ndim), shape);
}

PyMethodDef functions[] = {
    {"empty", empty, METH_VARARGS, nullptr},
    {"num_threads", get_num_threads, METH_NOARGS, nullptr},
    {"set_num_threads", set_thread_count, METH_O, nullptr},
    {"memory_stats", memory_stats, METH_NOARGS, nullptr},
    {"reset_peak_memory", reset_peak, METH_NOARGS, nullptr},
    {"trim_memory", trim, METH_NOARGS, nullptr},
    {"set_memory_cache_limit", set_cache_limit, METH_O, nullptr},
    {"register_bfloat16", register_bfloat16, METH_O, nullptr},
    {},
};

PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, "extensor._native", "Kernels of ExTensor.", -1, functions,
};

// A setting of the environment that cannot be used is an error at import, not a surprise later.
bool check_environment() {
  for (const std::string& error : {choose_instruction_set().error, default_thread_count().error}) {
    if (!error.empty()) {
      PyErr_SetString(PyExc_ValueError, error.c_str());
      return false;
    }
  }
  return true;
}

bool fill(PyObject* module) {
  Reference by_name(PyDict_New());
  if (!by_name || !add_mode(module) || !add_tensor_types(module) || !add_dispatcher_type(module) ||
      !add_replayer_type(module) || !register_kernel_type(module) ||
      !add_computation_type(module) || !add_planned_type(module) || !add_watching(module) ||
      !add_recording(module) || !add_binding(module) || !add_contents(module) ||
      !add_rows(module) || !add_recorder_type(module) || !add_program_type(module)) {
    return false;
  }
  return add_kernels(by_name.get()) &&
         PyModule_AddObjectRef(module, "kernels", by_name.get()) == 0 &&
         PyModule_AddStringConstant(module, "instruction_set",
                                    instruction_set_name(choose_instruction_set().value)) == 0;
}

}  // namespace
}  // namespace extensor

PyMODINIT_FUNC PyInit__native() {
  using namespace extensor;
  return guarded([]() -> PyObject* {
    if (!import_numpy() || !check_environment()) return nullptr;
    num_threads();  // reads files once, and never again where there may be no memory for it
    PyObject* module = PyModule_Create(&module_definition);
    if (module != nullptr && !fill(module)) Py_CLEAR(module);
    return module;
  });
}
