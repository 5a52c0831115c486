// From the arrays that an op has computed to tensors, and their node on the tape: what its rule
// keeps, where the gradients go. The short way and the long way both end here.
#pragma once

#include "tensor_object.h"

namespace extensor {

constexpr int kMaxArguments = 20;

// What a rule asks the tape to keep; the numbers are those of roles.py.
enum class Keep : int { tensor, updated, shape, dtype, output, further, attribute };
struct Keeper {
  Keep what;
  int index;  // among the inputs, the outputs (from the end if negative) or the attributes
};

// What the tape has to know of an op.
struct Recorded {
  int arity = 0;          // inputs: arguments before the attributes
  int kept = 0;           // outputs at the end that are no result
  bool variadic = false;  // the first input is a list of tensors
  int update_count = 0;
  int updates[kMaxArguments];  // inputs that are changed in place, to what comes after the output
  PyObject* rule = nullptr;    // or null: nothing is recorded
  bool several = false;        // whether the rule takes the gradients of all outputs
  int differentiable_count = 0, keeper_count = 0;
  int differentiable[kMaxArguments];
  Keeper keepers[kMaxArguments];
};

// Numbers are weak: a kernel that takes them gives them the dtype of its arrays.
bool is_number(PyObject* object);

// Where the gradient of an input goes: its node, the leaf itself, or nowhere. Borrowed.
inline PyObject* parent_of(PyObject* input) {
  if (!is_tensor(input)) return Py_None;
  TensorObject* tensor = as_tensor(input);
  if (tensor->requires_grad != Py_True) return Py_None;
  return tensor->node == Py_None ? input : tensor->node;
}

// Whether a call is to be recorded, as far as its arguments say.
inline bool wants_node(const Recorded& op, PyObject* const* bound) {
  if (op.rule == nullptr || !mode().recording) return false;
  if (op.variadic) return true;
  for (int i = 0; i < op.differentiable_count; ++i) {
    if (parent_of(bound[op.differentiable[i]]) != Py_None) return true;
  }
  return false;
}

// A tensor, or a tuple of them, around what was computed from `bound` (inputs: tensors, numbers,
// None, a list; then attributes), recorded if an input requires grad and the result is `floating`.
// `node` is set to the new node then. Null with a Python error set.
PyObject* finished(const Recorded& op, PyObject* const* bound, PyObject* result, bool floating,
                   PyObject*& node);

// Whether an array of NumPy's holds floats.
bool is_floating(PyObject* array);

// Adds attach(node, outputs).
bool add_recording(PyObject* module);

}  // namespace extensor
