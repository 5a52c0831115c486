#pragma once

#include "arrays.h"

namespace extensor {

// Adds Replayer, the short way from a node of the tape to its gradients, to the module.
bool add_replayer_type(PyObject* module);

}  // namespace extensor
