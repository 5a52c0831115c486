// A kernel as Python sees it: a callable that computes arrays from arrays, or answers
// NotImplemented to arguments it was not written for. It never raises for them: the messages are
// Python's.
#pragma once

#include "interpreter.h"
#include "plan.h"
#include "reference.h"

namespace extensor {

struct Kernel {
  PyObject* name;
  PlanFunction plan;
  const void* definition;
};

bool register_kernel_type(PyObject* module);

// Adds a kernel to the dictionary `kernels`, which has none of that name. Returns false with a
// Python error set.
bool add_kernel(PyObject* kernels, const char* name, PlanFunction plan, const void* definition);

// What a kernel object stands for; null if the object is none. It lives as long as the object.
const Kernel* kernel_of(PyObject* object);

}  // namespace extensor
