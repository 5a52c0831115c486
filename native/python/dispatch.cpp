// The short way from a public op to its kernel and back: tensors in, kernel, tensors out with their
// node on the tape, without a Python frame. Whatever is not plain (mixed dtypes, wrong shapes,
// autocast) takes the long way, which is Python: core/op.py.
#include "dispatch.h"

#include <structmember.h>

#include <cstddef>
#include <cstring>

#include "execute.h"
#include "record.h"
#include "signature.h"

namespace extensor {
namespace {

struct DispatcherObject {
  PyObject_HEAD;
  vectorcallfunc vectorcall;
  PyObject* dictionary;
  PyObject* weak_references;
  PyObject* name;                // of the op
  PyObject* long_way;            // called with the arguments as they came
  PyObject* kernel;              // or null: always the long way
  PyObject* names;               // tuple of parameter names, in the order of the public signature
  PyObject* defaults;            // tuple of the same length; Ellipsis marks a required parameter
  int count;                     // parameters of the kernel: inputs and attributes
  bool optional[kMaxArguments];  // inputs that may be None
  int places[kMaxArguments];     // where each public parameter stands in the kernel's order
  Recorded recorded;
};

DispatcherObject* as_dispatcher(PyObject* object) {
  return reinterpret_cast<DispatcherObject*>(object);
}

bool are_tensors(PyObject* list) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    if (!is_tensor(PyList_GET_ITEM(list, i))) return false;
  }
  return true;
}

// A list or tuple of tensors as a list that nobody else can change; null for the long way, or with
// a Python error set.
PyObject* list_of_tensors(PyObject* sequence) {
  if (!PyList_CheckExact(sequence) && !PyTuple_CheckExact(sequence)) return nullptr;
  Reference list(PySequence_List(sequence));
  return list && PyList_GET_SIZE(list.get()) > 0 && are_tensors(list.get()) ? list.release()
                                                                            : nullptr;
}

PyObject* arrays_of(PyObject* tensors) {
  PyObject* arrays = PyList_New(PyList_GET_SIZE(tensors));
  for (Py_ssize_t i = 0; arrays != nullptr && i < PyList_GET_SIZE(tensors); ++i) {
    PyList_SET_ITEM(arrays, i, Py_NewRef(as_tensor(PyList_GET_ITEM(tensors, i))->array));
  }
  return arrays;
}

// Whether the inputs that an op changes take floats; the long way says of which op they are.
bool can_be_updated(const Recorded& op, PyObject* const* bound) {
  for (int i = 0; i < op.update_count; ++i) {
    PyObject* const input = bound[op.updates[i]];
    if (input == Py_None) continue;
    PyObject* const array = is_tensor(input) ? as_tensor(input)->array : Py_None;
    if (!is_floating(array) || !PyArray_ISWRITEABLE(reinterpret_cast<PyArrayObject*>(array))) {
      return false;
    }
  }
  return true;
}

// NotImplemented means: the long way.
PyObject* short_way(const DispatcherObject& self, PyObject* const* given, Py_ssize_t positional,
                    PyObject* keywords) {
  const Recorded& op = self.recorded;
  PyObject *bound[kMaxArguments], *arguments[kMaxArguments];
  if (self.kernel == nullptr || mode().casting ||
      !bind(self.names, self.defaults, self.places, given, positional, keywords, bound)) {
    return not_implemented();
  }
  Reference tensors, arrays;  // of a list
  for (int i = 0; i < self.count; ++i) {
    arguments[i] = bound[i];
    if (i >= op.arity) continue;
    if (i == 0 && op.variadic) {
      tensors.reset(list_of_tensors(bound[0]));
      arrays.reset(tensors ? arrays_of(tensors.get()) : nullptr);
      if (!arrays) return PyErr_Occurred() ? nullptr : not_implemented();
      bound[0] = tensors.get();
      arguments[0] = arrays.get();
    } else if (is_tensor(bound[i])) {
      arguments[i] = as_tensor(bound[i])->array;
    } else if (!is_number(bound[i]) && (bound[i] != Py_None || !self.optional[i])) {
      return not_implemented();
    }
  }
  if (!can_be_updated(op, bound)) return not_implemented();
  const auto finish = [&](PyObject* result, PyObject*& node) {
    if (!PyTuple_CheckExact(result) && !wants_node(op, bound)) return new_tensor(result);
    PyObject* first = PyTuple_CheckExact(result) && PyTuple_GET_SIZE(result) > 0
                          ? PyTuple_GET_ITEM(result, 0)
                          : result;
    return finished(op, bound, result, is_floating(first), node);
  };
  return execute(*kernel_of(self.kernel), self.name, false, arguments, self.count, op.arity,
                 finish);
}

PyObject* call_dispatcher(PyObject* object, PyObject* const* given, size_t flagged_count,
                          PyObject* keywords) {
  const DispatcherObject& self = *as_dispatcher(object);
  PyObject* output = short_way(self, given, PyVectorcall_NARGS(flagged_count), keywords);
  if (output != Py_NotImplemented) return output;
  Py_DECREF(output);
  return PyObject_Vectorcall(self.long_way, given, flagged_count, keywords);
}

// finish(arguments, result, floating): the end of the long way. `arguments` are a list, the inputs
// as tensors, lists of them or None, then the attributes.
PyObject* finish(PyObject* object, PyObject* const* arguments, Py_ssize_t count) {
  const DispatcherObject& self = *as_dispatcher(object);
  const Recorded& op = self.recorded;
  // A tuple, as what follows may run code that changes the list.
  const Reference held(count == 3 && PyList_CheckExact(arguments[0]) ? PyList_AsTuple(arguments[0])
                                                                     : nullptr);
  if (PyErr_Occurred()) return nullptr;
  bool fits = held && PyTuple_GET_SIZE(held.get()) == self.count && self.count <= kMaxArguments;
  PyObject* bound[kMaxArguments];
  for (int i = 0; fits && i < self.count; ++i) {
    bound[i] = PyTuple_GET_ITEM(held.get(), i);
    if (i >= op.arity) continue;
    fits = i == 0 && op.variadic ? PyList_CheckExact(bound[i]) && are_tensors(bound[i])
                                 : bound[i] == Py_None || is_tensor(bound[i]);
  }
  if (!fits) {
    PyErr_SetString(PyExc_TypeError,
                    "finish: needs the arguments of the op, what it computed, and "
                    "whether that is floating");
    return nullptr;
  }
  PyObject* node = Py_None;
  return finished(op, bound, arguments[1], arguments[2] == Py_True, node);
}

bool read_ints(PyObject* sequence, int* target, int& count) {
  count = static_cast<int>(PyTuple_GET_SIZE(sequence));
  for (int i = 0; i < count; ++i) {
    target[i] = static_cast<int>(PyLong_AsLong(PyTuple_GET_ITEM(sequence, i)));
  }
  return !PyErr_Occurred();
}

bool all_below(const int* numbers, int count, int limit) {
  for (int i = 0; i < count; ++i) {
    if (numbers[i] < 0 || numbers[i] >= limit) return false;
  }
  return true;
}

// Indices of inputs, as few as there may be arguments.
bool read_inputs(PyObject* tuple, int arity, int* target, int& count) {
  if (PyTuple_GET_SIZE(tuple) > kMaxArguments) {
    PyErr_SetString(PyExc_ValueError, "Dispatcher: too many arguments");
    return false;
  }
  if (!read_ints(tuple, target, count)) return false;
  if (all_below(target, count, arity)) return true;
  PyErr_SetString(PyExc_ValueError, "Dispatcher: indices must be those of inputs");
  return false;
}

// Whether each public parameter has a place of its own among those of the kernel.
bool read_places(PyObject* tuple, Py_ssize_t parameters, int* places) {
  int count = 0;
  bool taken[kMaxArguments] = {};
  bool fits = PyTuple_GET_SIZE(tuple) == parameters;
  if (fits && !read_ints(tuple, places, count)) return false;
  for (int i = 0; fits && i < count; ++i) {
    fits = all_below(places + i, 1, count) && !taken[places[i]];
    if (fits) taken[places[i]] = true;
  }
  if (!fits)
    PyErr_SetString(PyExc_ValueError, "Dispatcher: places must be those of all parameters");
  return fits;
}

// name, long_way, kernel or None, public names, defaults (Ellipsis where required), places in the
// order of the kernel; inputs, attributes, which inputs may be None, whether the first is a list,
// inputs that are changed in place, how many outputs are kept for the rule alone
PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject *name, *long_way, *kernel, *names, *defaults, *places, *optional, *updates;
  int arity, attributes, variadic, kept;
  if (!PyArg_ParseTuple(arguments, "O!OOO!O!O!iiO!pO!i", &PyUnicode_Type, &name, &long_way, &kernel,
                        &PyTuple_Type, &names, &PyTuple_Type, &defaults, &PyTuple_Type, &places,
                        &arity, &attributes, &PyTuple_Type, &optional, &variadic, &PyTuple_Type,
                        &updates, &kept)) {
    return nullptr;
  }
  const Py_ssize_t parameters = PyTuple_GET_SIZE(names);
  if (arity < 0 || attributes < 0 || arity > kMaxArguments || attributes > kMaxArguments - arity ||
      kept < 0 || kept > kMaxArguments || (variadic && arity < 1) ||
      PyTuple_GET_SIZE(optional) != arity || PyTuple_GET_SIZE(defaults) != parameters ||
      (kernel != Py_None && parameters != arity + attributes)) {
    PyErr_SetString(PyExc_ValueError, "Dispatcher: each parameter needs a default and a place");
    return nullptr;
  }
  int place_numbers[kMaxArguments];
  if (kernel != Py_None && !read_places(places, parameters, place_numbers)) return nullptr;
  Recorded recorded;
  recorded.arity = arity;
  recorded.kept = kept;
  recorded.variadic = variadic;
  if (!read_inputs(updates, arity, recorded.updates, recorded.update_count)) return nullptr;
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) return nullptr;
  DispatcherObject* self = as_dispatcher(object);
  self->vectorcall = call_dispatcher;
  self->dictionary = PyDict_New();
  self->name = Py_NewRef(name);
  self->long_way = Py_NewRef(long_way);
  self->names = Py_NewRef(names);
  self->defaults = Py_NewRef(defaults);
  self->count = arity + attributes;
  for (int i = 0; i < arity; ++i) self->optional[i] = PyTuple_GET_ITEM(optional, i) == Py_True;
  if (kernel != Py_None) std::memcpy(self->places, place_numbers, sizeof place_numbers);
  if (kernel_of(kernel) != nullptr) self->kernel = Py_NewRef(kernel);
  self->recorded = recorded;
  return object;
}

// rule, whether it takes the gradients of all outputs, indices of differentiable inputs, kinds and
// indices of what is kept
PyObject* set_rule(PyObject* object, PyObject* arguments) {
  DispatcherObject* self = as_dispatcher(object);
  Recorded& op = self->recorded;
  PyObject *rule, *differentiable, *kinds, *indices;
  int several;
  if (!PyArg_ParseTuple(arguments, "OpO!O!O!", &rule, &several, &PyTuple_Type, &differentiable,
                        &PyTuple_Type, &kinds, &PyTuple_Type, &indices)) {
    return nullptr;
  }
  int inputs[kMaxArguments], kind_numbers[kMaxArguments], index_numbers[kMaxArguments];
  int input_count = 0, keeper_count = 0;
  if (!read_inputs(differentiable, op.arity, inputs, input_count)) return nullptr;
  bool fits = PyTuple_GET_SIZE(kinds) <= kMaxArguments &&
              PyTuple_GET_SIZE(kinds) == PyTuple_GET_SIZE(indices);
  if (fits && (!read_ints(kinds, kind_numbers, keeper_count) ||
               !read_ints(indices, index_numbers, keeper_count))) {
    return nullptr;
  }
  fits = fits && all_below(kind_numbers, keeper_count, static_cast<int>(Keep::attribute) + 1);
  for (int i = 0; fits && i < keeper_count; ++i) {
    const Keep what = static_cast<Keep>(kind_numbers[i]);
    const int limit = what == Keep::attribute ? self->count - op.arity : op.arity;
    fits = what == Keep::output || what == Keep::further || all_below(index_numbers + i, 1, limit);
  }
  if (!fits) {
    PyErr_SetString(PyExc_ValueError, "set_rule: indices must be those of inputs and attributes");
    return nullptr;
  }
  std::memcpy(op.differentiable, inputs, sizeof inputs);
  op.differentiable_count = input_count;
  op.keeper_count = keeper_count;
  op.several = several != 0;
  for (int i = 0; i < keeper_count; ++i) {
    op.keepers[i] = {static_cast<Keep>(kind_numbers[i]), index_numbers[i]};
  }
  Py_XSETREF(op.rule, Py_NewRef(rule));
  Py_RETURN_NONE;
}

// As a function: found in a class and asked for through an instance, it becomes a method.
PyObject* bind_to_instance(PyObject* self, PyObject* instance, PyObject*) {
  if (instance == nullptr || instance == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, instance);
}

PyObject* represent(PyObject* self) {
  Reference name(PyObject_GetAttrString(self, "__name__"));
  return name ? PyUnicode_FromFormat("<op %S>", name.get()) : nullptr;
}

void destroy(PyObject* object) {
  DispatcherObject* self = as_dispatcher(object);
  if (self->weak_references != nullptr) PyObject_ClearWeakRefs(object);
  Py_XDECREF(self->dictionary);
  Py_XDECREF(self->name);
  Py_XDECREF(self->long_way);
  Py_XDECREF(self->kernel);
  Py_XDECREF(self->names);
  Py_XDECREF(self->defaults);
  Py_XDECREF(self->recorded.rule);
  Py_TYPE(object)->tp_free(object);
}

// Made when asked for: most programs never look at a signature or a text, and making all is slow.
PyObject* signature(PyObject* self, void*) {
  Reference op(PyObject_GetAttrString(self, "op"));
  return op ? PyObject_CallMethod(op.get(), "signature", nullptr) : nullptr;
}

PyObject* documentation(PyObject* self, void*) {
  Reference op(PyObject_GetAttrString(self, "op"));
  return op ? PyObject_CallMethod(op.get(), "documentation", nullptr) : nullptr;
}

PyMethodDef methods[] = {{"set_rule", set_rule, METH_VARARGS, nullptr},
                         {"finish", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(finish)),
                          METH_FASTCALL, nullptr},
                         {}};
PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"__doc__", documentation, nullptr, nullptr, nullptr},
    {"__signature__", signature, nullptr, nullptr, nullptr},
    {}};

PyTypeObject dispatcher_type = [] {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "extensor._native.Dispatcher";
  type.tp_basicsize = sizeof(DispatcherObject);
  type.tp_dealloc = destroy;
  type.tp_vectorcall_offset = offsetof(DispatcherObject, vectorcall);
  type.tp_repr = represent;
  type.tp_call = PyVectorcall_Call;
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
  type.tp_methods = methods;
  type.tp_getset = properties;
  type.tp_descr_get = bind_to_instance;
  type.tp_dictoffset = offsetof(DispatcherObject, dictionary);
  type.tp_weaklistoffset = offsetof(DispatcherObject, weak_references);
  type.tp_new = create;
  return type;
}();

}  // namespace

bool add_dispatcher_type(PyObject* module) {
  return PyType_Ready(&dispatcher_type) == 0 &&
         PyModule_AddObjectRef(module, "Dispatcher",
                               reinterpret_cast<PyObject*>(&dispatcher_type)) == 0;
}

}  // namespace extensor
