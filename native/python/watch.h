// Whoever watches computations is told of each of them after it was made, on the way it takes
// anyhow: nothing is computed otherwise because somebody watches.
#pragma once

#include "arrays.h"

namespace extensor {

inline bool anybody_watches = false;

// The time in ticks, which is cheap to ask for; nanoseconds are made of it when somebody looks.
using Ticks = int64_t (*)();
extern Ticks ticks;

// Tells all watchers; only `watched` of execute.h calls it. `kernel` is the name of the one that
// computed, or None; `node` is the one that was recorded or is being replayed, or None. False with
// a Python error set if one of them raised.
bool tell(PyObject* op, PyObject* kernel, bool backward, PyObject* node, PyObject* const* arguments,
          Py_ssize_t count, PyObject* result, int64_t begin, int64_t end);

// Adds add_watcher, remove_watcher and the type of what they are told.
bool add_watching(PyObject* module);

}  // namespace extensor
