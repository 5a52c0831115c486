// The interpreter's lock, and its errors instead of exceptions.
#pragma once

#include <exception>
#include <new>

#include "arrays.h"

namespace extensor {

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
  static bool is_for(int64_t nanoseconds) { return nanoseconds > 2000; }

  explicit Unlocked(int64_t nanoseconds)
      : state_(is_for(nanoseconds) && Py_IsInitialized() ? PyEval_SaveThread() : nullptr) {}
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

}  // namespace extensor
