// The short way from a public op to its kernel and back: tensors in, kernel, a tensor out with its
// node on the tape, without a Python frame. Whatever is not plain (numbers, mixed dtypes, wrong
// shapes, anomaly detection, autocast) takes the long way, which is Python: op.py.
#include "dispatch.h"

#include <structmember.h>

#include <cstddef>
#include <cstring>

#include "execute.h"

namespace extensor {
namespace {

constexpr int kMaxArguments = 16;

// What a rule asks the tape to keep; the numbers are those of rule.py.
enum class Keep : int { tensor, shape, dtype, output, attribute };
struct Keeper {
  Keep what;
  int index;
};

struct DispatcherObject {
  PyObject_HEAD;
  vectorcallfunc vectorcall;
  PyObject* dictionary;
  PyObject* weak_references;
  PyObject* long_way;  // called with the arguments as they came
  PyObject* kernel;    // or null: always the long way
  PyObject* names;     // tuple of parameter names, in the order of the public signature
  PyObject* defaults;  // tuple of the same length; Ellipsis marks a required parameter
  PyObject* rule;      // or null: nothing is recorded
  PyObject* name;      // of the op
  int arity, count;
  bool optional[kMaxArguments];  // inputs that may be None
  int places[kMaxArguments];     // where each public parameter stands in the kernel's order
  int differentiable_count, keeper_count;
  int differentiable[kMaxArguments];
  Keeper keepers[kMaxArguments];
};

PyObject* shape_name = nullptr;  // "shape", made when the module is

DispatcherObject* as_dispatcher(PyObject* object) {
  return reinterpret_cast<DispatcherObject*>(object);
}

// The arguments in the order of the signature, borrowed; false for the long way.
bool bind(const DispatcherObject& self, PyObject* const* given, Py_ssize_t positional,
          PyObject* keywords, PyObject** bound) {
  if (positional > self.count) return false;
  for (Py_ssize_t i = 0; i < self.count; ++i) {
    bound[self.places[i]] = i < positional ? given[i] : PyTuple_GET_ITEM(self.defaults, i);
  }
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  for (Py_ssize_t k = 0; k < named; ++k) {
    Py_ssize_t place = positional;
    while (place < self.count &&
           PyTuple_GET_ITEM(self.names, place) != PyTuple_GET_ITEM(keywords, k)) {
      ++place;
    }
    if (place == self.count) return false;
    bound[self.places[place]] = given[positional + k];
  }
  for (Py_ssize_t i = 0; i < self.count; ++i) {
    if (bound[i] == Py_Ellipsis) return false;  // a required parameter that was not given
  }
  return true;
}

// Numbers are weak: a kernel that takes them gives them the dtype of its arrays.
bool is_number(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object);
}

// A number as a tensor of the result's dtype, for the tape. New reference.
PyObject* number_tensor(PyObject* number, PyObject* result) {
  PyArray_Descr* descriptor = PyArray_DESCR(reinterpret_cast<PyArrayObject*>(result));
  Reference array(new_array(descriptor, 0, nullptr));
  if (!array || PyArray_SETITEM(array.array(), PyArray_BYTES(array.array()), number) < 0) {
    return nullptr;
  }
  return new_tensor(array.get());
}

// New reference to what one keeper asks for.
PyObject* kept(Keeper keeper, PyObject* const* bound, int arity, PyObject* result) {
  switch (keeper.what) {
    case Keep::tensor:
      if (is_number(bound[keeper.index])) return number_tensor(bound[keeper.index], result);
      return Py_NewRef(bound[keeper.index]);
    case Keep::shape:
      if (is_number(bound[keeper.index])) return PyTuple_New(0);
      if (bound[keeper.index] == Py_None) return Py_NewRef(Py_None);
      return PyObject_GetAttr(as_tensor(bound[keeper.index])->array, shape_name);
    case Keep::dtype:
      // A number has the dtype of what it was computed with.
      return PyObject_GetAttrString(
          is_tensor(bound[keeper.index]) ? as_tensor(bound[keeper.index])->array : result, "dtype");
    case Keep::output:
      return Py_NewRef(result);
    case Keep::attribute:
      return frozen(bound[arity + keeper.index]);
  }
  return nullptr;
}

// Where the gradient of an input goes: its node, the leaf itself, or nowhere. Borrowed.
PyObject* parent_of(PyObject* input) {
  if (!is_tensor(input)) return Py_None;
  TensorObject* tensor = as_tensor(input);
  if (tensor->requires_grad != Py_True) return Py_None;
  return tensor->node == Py_None ? input : tensor->node;
}

bool is_recorded(const DispatcherObject& self, PyObject* const* bound) {
  if (self.rule == nullptr || !mode().recording) return false;
  for (int i = 0; i < self.differentiable_count; ++i) {
    if (parent_of(bound[self.differentiable[i]]) != Py_None) return true;
  }
  return false;
}

bool record(const DispatcherObject& self, PyObject* const* bound, PyObject* output,
            PyObject* result) {
  Reference saved(PyTuple_New(self.keeper_count));
  Reference parents(PyTuple_New(self.differentiable_count));
  if (!saved || !parents) return false;
  for (int i = 0; i < self.keeper_count; ++i) {
    PyObject* item = kept(self.keepers[i], bound, self.arity, result);
    if (item == nullptr) return false;
    PyTuple_SET_ITEM(saved.get(), i, item);
  }
  for (int i = 0; i < self.differentiable_count; ++i) {
    PyTuple_SET_ITEM(parents.get(), i, Py_NewRef(parent_of(bound[self.differentiable[i]])));
  }
  PyObject* node = new_node(self.rule, saved.get(), parents.get());
  if (node == nullptr) return false;
  TensorObject* tensor = as_tensor(output);
  Py_SETREF(tensor->node, node);
  Py_SETREF(tensor->requires_grad, Py_NewRef(Py_True));
  return true;
}

// NotImplemented means: the long way.
PyObject* short_way(const DispatcherObject& self, PyObject* const* given, Py_ssize_t positional,
                    PyObject* keywords) {
  PyObject *bound[kMaxArguments], *arguments[kMaxArguments];
  if (self.kernel == nullptr || mode().anomaly || mode().casting ||
      !bind(self, given, positional, keywords, bound)) {
    return not_implemented();
  }
  for (int i = 0; i < self.count; ++i) {
    arguments[i] = bound[i];
    if (i >= self.arity) continue;
    if (is_tensor(bound[i])) {
      arguments[i] = as_tensor(bound[i])->array;
    } else if (!is_number(bound[i]) && (bound[i] != Py_None || !self.optional[i])) {
      return not_implemented();
    }
  }
  const auto finish = [&](PyObject* result, PyObject*& node) -> PyObject* {
    if (!PyArray_Check(result)) return not_implemented();
    Reference output(new_tensor(result));
    if (output && is_recorded(self, bound)) {
      if (!record(self, bound, output.get(), result)) return nullptr;
      node = as_tensor(output.get())->node;
    }
    return output.release();
  };
  return execute(*kernel_of(self.kernel), self.name, false, arguments, self.count, finish);
}

PyObject* call_dispatcher(PyObject* object, PyObject* const* given, size_t flagged_count,
                          PyObject* keywords) {
  const DispatcherObject& self = *as_dispatcher(object);
  PyObject* output = short_way(self, given, PyVectorcall_NARGS(flagged_count), keywords);
  if (output != Py_NotImplemented) return output;
  Py_DECREF(output);
  return PyObject_Vectorcall(self.long_way, given, flagged_count, keywords);
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

// name, long_way, kernel or None, names, defaults (Ellipsis where required), places, arity,
// optional inputs
PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject *name, *long_way, *kernel, *names, *defaults, *places, *optional;
  int arity;
  if (!PyArg_ParseTuple(arguments, "O!OOO!O!O!iO!", &PyUnicode_Type, &name, &long_way, &kernel,
                        &PyTuple_Type, &names, &PyTuple_Type, &defaults, &PyTuple_Type, &places,
                        &arity, &PyTuple_Type, &optional)) {
    return nullptr;
  }
  if (PyTuple_GET_SIZE(names) > kMaxArguments) kernel = Py_None;
  int place_numbers[kMaxArguments];
  if (kernel != Py_None) {
    const Py_ssize_t size = PyTuple_GET_SIZE(names);
    int count = 0;
    if (PyTuple_GET_SIZE(defaults) != size || PyTuple_GET_SIZE(places) != size ||
        PyTuple_GET_SIZE(optional) != arity || arity > size) {
      PyErr_SetString(PyExc_ValueError, "Dispatcher: each parameter needs a default and a place");
      return nullptr;
    }
    if (!read_ints(places, place_numbers, count)) return nullptr;
    bool taken[kMaxArguments] = {};
    for (int i = 0; i < count; ++i) {
      if (!all_below(place_numbers + i, 1, count) || taken[place_numbers[i]]) {
        PyErr_SetString(PyExc_ValueError, "Dispatcher: places must be those of all parameters");
        return nullptr;
      }
      taken[place_numbers[i]] = true;
    }
  }
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) return nullptr;
  DispatcherObject* self = as_dispatcher(object);
  self->vectorcall = call_dispatcher;
  self->dictionary = PyDict_New();
  self->name = Py_NewRef(name);
  self->long_way = Py_NewRef(long_way);
  self->names = Py_NewRef(names);
  self->defaults = Py_NewRef(defaults);
  self->arity = arity;
  self->count = static_cast<int>(PyTuple_GET_SIZE(names));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(optional) && i < kMaxArguments; ++i) {
    self->optional[i] = PyTuple_GET_ITEM(optional, i) == Py_True;
  }
  if (kernel != Py_None) std::memcpy(self->places, place_numbers, sizeof place_numbers);
  if (kernel_of(kernel) != nullptr) self->kernel = Py_NewRef(kernel);
  return object;
}

// rule, indices of differentiable inputs, kinds and indices of what is kept
PyObject* set_rule(PyObject* object, PyObject* arguments) {
  DispatcherObject* self = as_dispatcher(object);
  PyObject *rule, *differentiable, *kinds, *indices;
  if (!PyArg_ParseTuple(arguments, "OO!O!O!", &rule, &PyTuple_Type, &differentiable, &PyTuple_Type,
                        &kinds, &PyTuple_Type, &indices)) {
    return nullptr;
  }
  if (PyTuple_GET_SIZE(differentiable) > kMaxArguments || PyTuple_GET_SIZE(kinds) > kMaxArguments ||
      PyTuple_GET_SIZE(kinds) != PyTuple_GET_SIZE(indices)) {
    PyErr_SetString(PyExc_ValueError, "set_rule: too many arguments");
    return nullptr;
  }
  int inputs[kMaxArguments], kind_numbers[kMaxArguments], index_numbers[kMaxArguments];
  int input_count = 0, keeper_count = 0;
  if (!read_ints(differentiable, inputs, input_count) ||
      !read_ints(kinds, kind_numbers, keeper_count) ||
      !read_ints(indices, index_numbers, keeper_count)) {
    return nullptr;
  }
  bool fits = all_below(inputs, input_count, self->arity) &&
              all_below(kind_numbers, keeper_count, static_cast<int>(Keep::attribute) + 1);
  for (int i = 0; fits && i < keeper_count; ++i) {
    const bool attribute = static_cast<Keep>(kind_numbers[i]) == Keep::attribute;
    const int limit = attribute ? self->count - self->arity : self->arity;
    fits = static_cast<Keep>(kind_numbers[i]) == Keep::output ||
           all_below(index_numbers + i, 1, limit);
  }
  if (!fits) {
    PyErr_SetString(PyExc_ValueError, "set_rule: indices must be those of inputs and attributes");
    return nullptr;
  }
  std::memcpy(self->differentiable, inputs, sizeof inputs);
  self->differentiable_count = input_count;
  self->keeper_count = keeper_count;
  for (int i = 0; i < keeper_count; ++i) {
    self->keepers[i] = {static_cast<Keep>(kind_numbers[i]), index_numbers[i]};
  }
  Py_XSETREF(self->rule, Py_NewRef(rule));
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
  Py_XDECREF(self->rule);
  Py_TYPE(object)->tp_free(object);
}

// Made when asked for: most programs never look at a signature, and making all of them is slow.
PyObject* signature(PyObject* self, void*) {
  Reference op(PyObject_GetAttrString(self, "op"));
  return op ? PyObject_CallMethod(op.get(), "signature", nullptr) : nullptr;
}

PyMethodDef methods[] = {{"set_rule", set_rule, METH_VARARGS, nullptr}, {}};
PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
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
  shape_name = PyUnicode_InternFromString("shape");
  return shape_name != nullptr && PyType_Ready(&dispatcher_type) == 0 &&
         PyModule_AddObjectRef(module, "Dispatcher",
                               reinterpret_cast<PyObject*>(&dispatcher_type)) == 0;
}

}  // namespace extensor
