// The one door: every native computation is planned, given memory, run without the interpreter's
// lock, and told to whoever watches, here.
#pragma once

#include "kernel.h"
#include "tensor_object.h"
#include "watch.h"

namespace extensor {

// Runs a planned call of the kernel called `name`: the array it gives, a tuple of them, or null
// with a Python error set. Room for the addresses of so many inputs may be given, so that no memory
// is needed for them.
PyObject* run_call(PyObject* name, const Call& call, PyObject* const* inputs, int input_count,
                   const double* numbers, const uint64_t* words, char** room = nullptr);

// Plans a call of a kernel and runs it. NotImplemented for what the kernel declines.
PyObject* compute(const Kernel& kernel, PyObject* const* arguments, Py_ssize_t count);

// How watchers know a computation: by the name that users give it, that of the kernel or None, and
// whether it is part of a backward pass.
struct Label {
  PyObject* op;
  PyObject* kernel;
  bool backward;
};

// Runs `calculate()`, which gives arrays, NotImplemented or null, and tells the watchers: the one
// place that does. `finish(result, node)` makes what is returned of the arrays and may say to which
// node of the tape they belong. Watchers are told last, so that they see that node, and of nothing
// that failed or was declined.
template <typename Calculate, typename Finish>
PyObject* watched(const Label& label, PyObject* const* arguments, Py_ssize_t count,
                  const Calculate& calculate, const Finish& finish) {
  const bool told = anybody_watches;
  const Held shown(arguments, told ? count : 0);  // they are looked at again after the run
  const int64_t begin = told ? ticks() : 0;
  Reference result(calculate());
  const int64_t end = told ? ticks() : 0;
  if (!result || result.get() == Py_NotImplemented) return result.release();
  PyObject* node = mode().node;
  const Reference around(Py_NewRef(node));  // `finish` may run code that changes the mode
  Reference finished(finish(result.get(), node));
  if (finished && finished.get() != Py_NotImplemented && told &&
      !tell(label.op, label.kernel, label.backward, node, arguments, count, result.get(), begin,
            end)) {
    return nullptr;
  }
  return finished.release();
}

// For a computation that gives its arrays as they are.
inline PyObject* as_computed(PyObject* result, PyObject*&) { return Py_NewRef(result); }

// A watched call of a kernel. The first `borrowed` arguments may be arrays that only tensors hold:
// these are kept alive during the run, as another thread, or code of the user's that the run calls,
// may give a tensor another array.
template <typename Finish>
PyObject* execute(const Kernel& kernel, PyObject* op, bool backward, PyObject* const* arguments,
                  Py_ssize_t count, Py_ssize_t borrowed, const Finish& finish) {
  const auto calculate = [&] {
    const Held held(arguments, borrowed);
    return compute(kernel, arguments, count);
  };
  return watched({op, kernel.name, backward}, arguments, count, calculate, finish);
}

inline PyObject* execute(const Kernel& kernel, PyObject* op, bool backward,
                         PyObject* const* arguments, Py_ssize_t count) {
  return execute(kernel, op, backward, arguments, count, 0, as_computed);
}

}  // namespace extensor
