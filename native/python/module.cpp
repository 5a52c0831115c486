// The module extensor._native: its kernels by name, and the settings of the runtime.
#include <algorithm>
#include <cstdlib>

#include "../kernels/tables.h"
#include "../runtime/cpu.h"
#include "../runtime/memory.h"
#include "../runtime/threads.h"
#include "arrays.h"
#include "computation.h"
#include "dispatch.h"
#include "families.h"
#include "indexing.h"
#include "kernel.h"
#include "planned.h"
#include "replay.h"
#include "tensor_object.h"
#include "watch.h"

namespace extensor {

const KernelTable& kernels() {
  static const KernelTable& chosen = []() -> const KernelTable& {
#if defined(__x86_64__)
    switch (choose_instruction_set().value) {
#if EXTENSOR_HAS_v4bf16
      case InstructionSet::v4bf16: {
        static const KernelTable table = [] {
          KernelTable v4_table = v4::table();
          v4_table.gemm_bfloat16 = v4bf16::gemm;
          return v4_table;
        }();
        return table;
      }
#endif
#if EXTENSOR_HAS_v4
      case InstructionSet::v4:
        return v4::table();
#endif
#if EXTENSOR_HAS_v3
      case InstructionSet::v3:
        return v3::table();
#endif
#if EXTENSOR_HAS_v2
      case InstructionSet::v2:
        return v2::table();
#endif
      default:  // the import has failed already
        std::abort();
    }
#else
    return baseline::table();
#endif
  }();
  return chosen;
}

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
  set_bfloat16_typenum(static_cast<int>(typenum));
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

// Each family adds its kernels by name, in any order.
bool (*const kFamilies[])(PyObject* kernels_by_name) = {
    add_elementwise_kernels, add_reduction_kernels,     add_matrix_kernels,
    add_row_kernels,         add_cross_entropy_kernels, add_view_kernels,
    add_random_kernels,      add_optimizer_kernels,     add_copy_kernels,
    add_search_kernels,      add_loss_kernels,          add_selection_kernels,
    add_index_kernels,       add_gather_kernels,        add_convolution_kernels,
    add_pooling_kernels,     add_rnn_kernels,           add_lstm_kernels,
    add_gru_kernels,         add_attention_kernels,     add_normalization_kernels,
    add_joining_kernels,     add_moment_kernels,        add_arranged_kernels,
};

bool fill(PyObject* module) {
  Reference by_name(PyDict_New());
  if (!by_name || !add_tensor_types(module) || !add_dispatcher_type(module) ||
      !add_replayer_type(module) || !register_kernel_type(module) ||
      !add_computation_type(module) || !add_planned_type(module) || !add_watching(module)) {
    return false;
  }
  for (const auto add_family : kFamilies) {
    if (!add_family(by_name.get())) return false;
  }
  return PyModule_AddObjectRef(module, "kernels", by_name.get()) == 0 &&
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
