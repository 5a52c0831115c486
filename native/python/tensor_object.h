// The parts of a tensor and of a node of the tape that every call touches, as C structures. The
// classes that users see are Python subclasses (tensor.py, tape.py) and add everything else.
#pragma once

#include "mode.h"

namespace extensor {

struct TensorObject {
  PyObject_HEAD;
  PyObject* array;
  PyObject* requires_grad;  // True or False
  PyObject* node;
  PyObject* hooks;
  PyObject* grad;
  PyObject* weak_references;
};

struct NodeObject {
  PyObject_HEAD;
  PyObject* rule;
  PyObject* saved;
  PyObject* parents;
  PyObject* hooks;
  PyObject* place;
  long long number;
  long long clock;
};

extern PyTypeObject tensor_base;
extern PyTypeObject* tensor_type;  // the class of Python's that tensors are made of

inline bool is_tensor(PyObject* object) {
  return Py_TYPE(object) == tensor_type || PyObject_TypeCheck(object, &tensor_base);
}
inline TensorObject* as_tensor(PyObject* object) { return reinterpret_cast<TensorObject*>(object); }

// A tensor around an array, which is borrowed; null with a Python error set.
PyObject* new_tensor(PyObject* array);

// A node of the next number; all arguments are borrowed.
PyObject* new_node(PyObject* rule, PyObject* saved, PyObject* parents);

bool is_node(PyObject* object);

// The node that made a tensor, or the first of a tuple of them; None without one. Borrowed.
PyObject* node_of(PyObject* made);

// The place for the gradient of output `index` of a node that has `count` of them.
PyObject* new_slot(PyObject* node, Py_ssize_t index, Py_ssize_t count);

// A new reference to an attribute that a node keeps: lists and arrays are copied, also those in
// tuples, as the caller may change them before the backward pass.
PyObject* frozen(PyObject* attribute);

// Adds TensorBase, NodeBase and the functions around them to the module.
bool add_tensor_types(PyObject* module);

}  // namespace extensor
