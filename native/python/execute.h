// The one door: every native computation is planned, given memory, run without the interpreter's
// lock, and told to whoever watches, here.
#pragma once

#include "kernel.h"
#include "tensor_object.h"
#include "watch.h"

namespace extensor {

// Runs a planned call: the array it gives, a tuple of them, or null with a Python error set. Room
// for the addresses of so many inputs may be given, so that no memory is needed for them.
PyObject* run_call(const Call& call, PyObject* const* inputs, int input_count,
                   const double* numbers, const uint64_t* words, char** room = nullptr);

// Plans a call of a kernel and runs it. NotImplemented for what the kernel declines.
PyObject* compute(const Kernel& kernel, PyObject* const* arguments, Py_ssize_t count);

// The same, told to the watchers. `finish(result, node)` makes what is returned of the arrays and
// may say to which node of the tape they belong; `op` is the name by which users know it. The first
// `borrowed` arguments may be arrays that only tensors hold: these are kept alive during the run,
// as another thread, or code of the user's that the run calls, may give a tensor another array.
template <typename Finish>
PyObject* execute(const Kernel& kernel, PyObject* op, bool backward, PyObject* const* arguments,
                  Py_ssize_t count, Py_ssize_t borrowed, const Finish& finish) {
  const bool told = anybody_watches;
  const Held shown(arguments, told ? count : 0);  // they are looked at again after the run
  const int64_t begin = told ? ticks() : 0;
  Reference result;
  {
    const Held held(arguments, borrowed);
    result.reset(compute(kernel, arguments, count));
  }
  const int64_t end = told ? ticks() : 0;
  if (!result || result.get() == Py_NotImplemented) return result.release();
  PyObject* node = mode().node;
  const Reference around(Py_NewRef(node));  // `finish` may run code that changes the mode
  Reference finished(finish(result.get(), node));
  if (finished && finished.get() != Py_NotImplemented && told &&
      !tell(op, kernel.name, backward, node, arguments, count, result.get(), begin, end)) {
    return nullptr;
  }
  return finished.release();
}

inline PyObject* execute(const Kernel& kernel, PyObject* op, bool backward,
                         PyObject* const* arguments, Py_ssize_t count) {
  return execute(kernel, op, backward, arguments, count, 0,
                 [](PyObject* result, PyObject*&) { return Py_NewRef(result); });
}

}  // namespace extensor
