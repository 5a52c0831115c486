// A kernel as Python sees it: a callable that computes arrays from arrays, or answers
// NotImplemented to arguments it was not written for. It never raises for them: the messages are
// Python's.
#pragma once

#include <exception>
#include <new>

#include "arrays.h"

namespace extensor {

// What a kernel's call function gets: the row of the table it stands for, and its arguments.
using KernelCall = PyObject* (*)(const void* definition, PyObject* const* arguments,
                                 Py_ssize_t count);

bool register_kernel_type(PyObject* module);

// Adds a kernel to the dictionary `kernels`, which has none of that name. Returns false with a
// Python error set.
bool add_kernel(PyObject* kernels, const char* name, KernelCall call, const void* definition);

// What a kernel object stands for; false if the object is none.
bool kernel_parts(PyObject* object, KernelCall& call, const void*& definition);

inline PyObject* not_implemented() { return Py_NewRef(Py_NotImplemented); }

// Calls a function that returns an object. No C++ exception passes on to the interpreter, whose
// frames it would tear: it becomes a Python error.
template <typename Function>
PyObject* guarded(const Function& function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

// The one way to call a kernel. Arguments that could not be read for lack of memory are an error,
// not a reason to decline; a shape that NumPy refuses is a reason, since Python explains it better.
inline PyObject* run_kernel(KernelCall call, const void* definition, PyObject* const* arguments,
                            Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    PyObject* result = call(definition, arguments, count);
    if (result != nullptr && result != Py_NotImplemented) return result;
    if (PyErr_Occurred() == nullptr) return result;
    Py_XDECREF(result);
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) return nullptr;
    PyErr_Clear();
    return not_implemented();
  });
}

// Never returns: the process is about to end.
[[noreturn]] void wait_for_exit();

// Calls what may take the interpreter's lock. Once the interpreter has ended, that ends the calling
// thread by unwinding its stack, without the lock that the references on it need to be given up.
template <typename Function>
auto taking_lock(const Function& function) {
  try {
    return function();
  } catch (...) {
    wait_for_exit();
  }
}

// Releases the interpreter's lock for work that takes longer than taking it back. An interpreter
// that is ending runs on one thread alone, and has no use for it.
class Unlocked {
 public:
  explicit Unlocked(int64_t nanoseconds)
      : state_(nanoseconds > 2000 && Py_IsInitialized() ? PyEval_SaveThread() : nullptr) {}
  ~Unlocked() {
    if (state_ == nullptr) return;
    if (!Py_IsInitialized()) wait_for_exit();
    taking_lock([this] { PyEval_RestoreThread(state_); });
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

// A new reference that is given back at the end of its scope.
class Reference {
 public:
  Reference() = default;
  explicit Reference(PyObject* object) : object_(object) {}
  ~Reference() { Py_XDECREF(object_); }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  explicit operator bool() const { return object_ != nullptr; }
  PyObject* get() const { return object_; }
  PyArrayObject* array() const { return reinterpret_cast<PyArrayObject*>(object_); }
  // The memory of an array; null without one.
  char* data() const { return object_ == nullptr ? nullptr : PyArray_BYTES(array()); }
  PyObject* release() {
    PyObject* object = object_;
    object_ = nullptr;
    return object;
  }
  void reset(PyObject* object) {
    Py_XDECREF(object_);
    object_ = object;
  }

 private:
  PyObject* object_ = nullptr;
};

}  // namespace extensor
