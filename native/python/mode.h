#pragma once

#include "arrays.h"

namespace extensor {

class Recorder;

// What the tape does in this thread.
struct Mode {
  bool recording = true;
  bool anomaly = false;
  bool casting = false;   // inputs change their dtype on the way to an op
  bool formulas = false;  // every kernel declines
  double epsilon = 1e-10;
  bool telling = false;          // what a watcher computes is not told
  PyObject* node = Py_None;      // whose rule is being replayed
  PyObject* module = Py_None;    // the path of the module that is being called, while watched
  Recorder* recorder = nullptr;  // which notes every call that is run, or null
};

// Every call asks for it, so it is found without a function: the loader has room for a few bytes.
#if defined(__linux__)
[[gnu::tls_model("initial-exec")]]
#endif
extern constinit thread_local Mode current_mode;
inline Mode& mode() { return current_mode; }

// Adds the mode of the calling thread, as an object whose attributes it is.
bool add_mode(PyObject* module);

}  // namespace extensor
