// Whoever watches computations is told of each of them after it was made, on the way it takes
// anyhow: nothing is computed otherwise because somebody watches.
#pragma once

#include <chrono>

#include "arrays.h"

namespace extensor {

inline bool anybody_watches = false;

// Nanoseconds of a clock that never goes back.
inline int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Tells all watchers. `kernel` is the name of the one that computed, or None; `node` is the one
// that was recorded or is being replayed, or None. False with a Python error set if one of them
// raised.
bool tell(PyObject* op, PyObject* kernel, bool backward, PyObject* node, PyObject* const* arguments,
          Py_ssize_t count, PyObject* result, int64_t begin, int64_t end);

// Adds add_watcher, remove_watcher and the type of what they are told.
bool add_watching(PyObject* module);

}  // namespace extensor
