#include "tensor_object.h"

#include <structmember.h>

#include <atomic>
#include <cstddef>

#include "kernel.h"
#include "recorder.h"
#include "recycling.h"

namespace extensor {

PyTypeObject* tensor_type = nullptr;

namespace {

// The Python subclasses, told to us once they exist; the bases until then.
PyTypeObject* node_type = nullptr;
PyTypeObject* slot_type = nullptr;
std::atomic<long long> last_number{0};
std::atomic<long long> change_clock{0};

int clear_tensor(PyObject* self) {
  TensorObject* tensor = as_tensor(self);
  Py_CLEAR(tensor->array);
  Py_CLEAR(tensor->requires_grad);
  Py_CLEAR(tensor->node);
  Py_CLEAR(tensor->hooks);
  Py_CLEAR(tensor->grad);
  return 0;
}

bool is_plain(const TensorObject& tensor) {
  return tensor.node == Py_None && tensor.grad == Py_None && tensor.hooks == Py_None;
}

using Tensors = Recycling<TensorObject, clear_tensor, is_plain>;

PyObject* allocate_tensor(PyTypeObject* type, PyObject* array) {
  Reference held(Py_NewRef(array));  // an allocation may collect garbage, which runs finalizers
  PyObject* self = Tensors::begin(type);
  if (self == nullptr) return nullptr;
  TensorObject* tensor = as_tensor(self);
  tensor->array = held.release();
  tensor->requires_grad = Py_NewRef(Py_False);
  tensor->node = Py_NewRef(Py_None);
  tensor->hooks = Py_NewRef(Py_None);
  tensor->grad = Py_NewRef(Py_None);
  return self;
}

PyObject* create_tensor(PyTypeObject* type, PyObject*, PyObject*) {
  return allocate_tensor(type, Py_None);
}

int traverse_tensor(PyObject* self, visitproc visit, void* arg) {
  TensorObject* tensor = as_tensor(self);
  Py_VISIT(tensor->array);
  Py_VISIT(tensor->node);
  Py_VISIT(tensor->hooks);
  Py_VISIT(tensor->grad);
  return 0;
}

PyMemberDef tensor_members[] = {
    {"_array", T_OBJECT_EX, offsetof(TensorObject, array), 0, nullptr},
    {"_requires_grad", T_OBJECT_EX, offsetof(TensorObject, requires_grad), 0, nullptr},
    {"_node", T_OBJECT_EX, offsetof(TensorObject, node), 0, nullptr},
    {"_hooks", T_OBJECT_EX, offsetof(TensorObject, hooks), 0, nullptr},
    {"grad", T_OBJECT_EX, offsetof(TensorObject, grad), 0, nullptr},
    {},
};

PyObject* grad_name = nullptr;  // "grad", made when the module is

// Whether a value can be the gradient of a tensor; false with a Python error set.
bool is_gradient(PyObject* self, PyObject* value) {
  PyObject* const own = as_tensor(self)->array;
  if (!is_tensor(value)) {
    PyErr_Format(PyExc_TypeError, "grad: must be a tensor or None, got %s",
                 Py_TYPE(value)->tp_name);
    return false;
  }
  PyObject* const other = as_tensor(value)->array;
  if (!PyArray_Check(own) || !PyArray_Check(other)) return true;
  PyArrayObject *x = reinterpret_cast<PyArrayObject*>(own),
                *gradient = reinterpret_cast<PyArrayObject*>(other);
  PyObject* const compared[] = {own, other};
  const Held held(compared, 2);  // comparing dtypes and writing the message run Python
  if (PyArray_SAMESHAPE(x, gradient) &&
      PyArray_EquivTypes(PyArray_DESCR(x), PyArray_DESCR(gradient))) {
    return true;
  }
  Reference shape(PyObject_GetAttrString(own, "shape"));
  Reference wrong(PyObject_GetAttrString(other, "shape"));
  if (shape && wrong) {
    PyErr_Format(PyExc_ValueError,
                 "grad: must have the shape %R and dtype %S of its tensor, got %R and %S",
                 shape.get(), reinterpret_cast<PyObject*>(PyArray_DESCR(x)), wrong.get(),
                 reinterpret_cast<PyObject*>(PyArray_DESCR(gradient)));
  }
  return false;
}

// Members are used here without a look at whether they are there, so none can be deleted; a
// gradient that is deleted becomes None.
int set_tensor_attribute(PyObject* self, PyObject* name, PyObject* value) {
  if (value != nullptr && value != Py_None && name == grad_name && !is_gradient(self, value)) {
    return -1;
  }
  if (value == nullptr && PyUnicode_Check(name)) {
    for (const PyMemberDef* member = tensor_members; member->name != nullptr; ++member) {
      if (PyUnicode_CompareWithASCIIString(name, member->name) != 0) continue;
      if (member->offset != offsetof(TensorObject, grad)) {
        PyErr_Format(PyExc_AttributeError, "tensor: %U cannot be deleted", name);
        return -1;
      }
      value = Py_None;
    }
  }
  return PyObject_GenericSetAttr(self, name, value);
}

}  // namespace

PyTypeObject tensor_base = [] {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "extensor._native.TensorBase";
  type.tp_basicsize = sizeof(TensorObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  type.tp_new = create_tensor;
  type.tp_setattro = set_tensor_attribute;
  type.tp_dealloc = Tensors::end;
  type.tp_weaklistoffset = offsetof(TensorObject, weak_references);
  type.tp_traverse = traverse_tensor;
  type.tp_clear = clear_tensor;
  type.tp_members = tensor_members;
  return type;
}();

namespace {

NodeObject* as_node(PyObject* object) { return reinterpret_cast<NodeObject*>(object); }

int clear_node(PyObject* self) {
  NodeObject* node = as_node(self);
  Py_CLEAR(node->rule);
  Py_CLEAR(node->saved);
  Py_CLEAR(node->parents);
  Py_CLEAR(node->hooks);
  Py_CLEAR(node->place);
  return 0;
}

bool is_plain(const NodeObject&) { return false; }  // its parents are further nodes

using Nodes = Recycling<NodeObject, clear_node, is_plain>;

PyObject* allocate_node(PyTypeObject* type, PyObject* rule, PyObject* saved, PyObject* parents) {
  PyObject* self = Nodes::begin(type);
  if (self == nullptr) return nullptr;
  NodeObject* node = as_node(self);
  node->rule = Py_NewRef(rule);
  node->saved = Py_NewRef(saved);
  node->parents = Py_NewRef(parents);
  node->hooks = Py_NewRef(Py_None);
  node->place = Py_NewRef(Py_None);
  node->number = ++last_number;
  node->clock = change_clock;
  return self;
}

PyObject* create_node(PyTypeObject* type, PyObject*, PyObject*) {
  return allocate_node(type, Py_None, Py_None, Py_None);
}

int initialise_node(PyObject* self, PyObject* arguments, PyObject*) {
  PyObject *rule, *saved, *parents;
  if (!PyArg_ParseTuple(arguments, "OOO", &rule, &saved, &parents)) return -1;
  NodeObject* node = as_node(self);
  Py_SETREF(node->rule, Py_NewRef(rule));
  Py_SETREF(node->saved, Py_NewRef(saved));
  Py_SETREF(node->parents, Py_NewRef(parents));
  return 0;
}

int traverse_node(PyObject* self, visitproc visit, void* arg) {
  NodeObject* node = as_node(self);
  Py_VISIT(node->rule);
  Py_VISIT(node->saved);
  Py_VISIT(node->parents);
  Py_VISIT(node->hooks);
  return 0;
}

PyMemberDef node_members[] = {
    {"rule", T_OBJECT_EX, offsetof(NodeObject, rule), 0, nullptr},
    {"saved", T_OBJECT_EX, offsetof(NodeObject, saved), 0, nullptr},
    {"parents", T_OBJECT_EX, offsetof(NodeObject, parents), 0, nullptr},
    {"hooks", T_OBJECT_EX, offsetof(NodeObject, hooks), 0, nullptr},
    {"place", T_OBJECT_EX, offsetof(NodeObject, place), 0, nullptr},
    {"number", T_LONGLONG, offsetof(NodeObject, number), READONLY, nullptr},
    {"clock", T_LONGLONG, offsetof(NodeObject, clock), READONLY, nullptr},
    {},
};

// For each parent whether a gradient can go there; the same tuple for all nodes that have each of
// so many parents.
PyObject* needs_of(PyObject* self, void*) {
  constexpr Py_ssize_t kFew = 8;
  static PyObject* all_of[kFew] = {};
  const Reference held(Py_XNewRef(as_node(self)->parents));  // they can be deleted and replaced
  PyObject* const parents = held.get();
  if (parents == nullptr || !PyTuple_Check(parents)) {
    PyErr_SetString(PyExc_TypeError, "needs: a node must have a tuple of parents");
    return nullptr;
  }
  const Py_ssize_t count = PyTuple_GET_SIZE(parents);
  bool all = true;
  for (Py_ssize_t i = 0; i < count; ++i) all = all && PyTuple_GET_ITEM(parents, i) != Py_None;
  const bool is_kept = all && count < kFew;
  if (is_kept && all_of[count] != nullptr) return Py_NewRef(all_of[count]);
  PyObject* needs = PyTuple_New(count);
  for (Py_ssize_t i = 0; needs != nullptr && i < count; ++i) {
    PyTuple_SET_ITEM(needs, i, PyBool_FromLong(PyTuple_GET_ITEM(parents, i) != Py_None));
  }
  if (is_kept) all_of[count] = Py_XNewRef(needs);
  return needs;
}

PyGetSetDef node_properties[] = {
    {"needs", needs_of, nullptr, nullptr, nullptr},
    {},
};

// `<` is the order of a backward pass: the youngest node first.
PyObject* compare_nodes(PyObject* a, PyObject* b, int operation) {
  if (operation != Py_LT || !is_node(b)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong(as_node(a)->number > as_node(b)->number);
}

PyTypeObject node_base = [] {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "extensor._native.NodeBase";
  type.tp_basicsize = sizeof(NodeObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  type.tp_new = create_node;
  type.tp_init = initialise_node;
  type.tp_dealloc = Nodes::end;
  type.tp_traverse = traverse_node;
  type.tp_clear = clear_node;
  type.tp_members = node_members;
  type.tp_getset = node_properties;
  type.tp_richcompare = compare_nodes;
  type.tp_hash = PyBaseObject_Type.tp_hash;  // which is not inherited beside an order
  return type;
}();

PyObject* freeze(PyObject*, PyObject* attribute) { return frozen(attribute); }

PyObject* wrap(PyObject*, PyObject* array) { return new_tensor(array); }

PyObject* next_number(PyObject*, PyObject*) { return PyLong_FromLongLong(++last_number); }
PyObject* clock(PyObject*, PyObject*) { return PyLong_FromLongLong(change_clock); }
PyObject* advance_clock(PyObject*, PyObject*) { return PyLong_FromLongLong(++change_clock); }

PyObject* base_of(PyObject* array) {
  return PyArray_Check(array) ? PyArray_BASE(reinterpret_cast<PyArrayObject*>(array)) : nullptr;
}

PyObject* owner_of(PyObject* array) {
  while (PyObject* base = base_of(array)) array = base;
  return array;
}

// The array whose memory another shows: itself, unless it is a view.
PyObject* owner(PyObject*, PyObject* array) {
  for (PyObject* base = base_of(array); base != nullptr && PyArray_Check(base);) {
    array = base;
    base = base_of(array);
  }
  return Py_NewRef(array);
}

Py_ssize_t count_in(PyObject* list, PyObject* object) {
  Py_ssize_t count = 0;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    count += PyList_GET_ITEM(list, i) == object;
  }
  return count;
}

// tensor, list of what nodes of the tape saved: whether anybody but the tensor and those nodes can
// see the memory of its array. Every reference to it is accounted for: those of the list come in
// pairs, one of the list's and one of the node's. Arrays of other libraries do not tell.
PyObject* shares_memory(PyObject*, PyObject* arguments) {
  PyObject *object, *saved;
  if (!PyArg_ParseTuple(arguments, "OO!", &object, &PyList_Type, &saved)) return nullptr;
  if (!is_tensor(object)) {
    PyErr_SetString(PyExc_TypeError, "shares_memory: needs a tensor");
    return nullptr;
  }
  PyObject* const array = as_tensor(object)->array;
  PyObject* const owner = owner_of(array);
  Py_ssize_t known = 0;  // references to the owner
  const auto account = [&](PyObject* seen, Py_ssize_t holders) {
    if (mode().recorder != nullptr) holders += mode().recorder->references_to(seen);
    if (seen == owner) {
      known += holders;
      return true;
    }
    known += 1;
    return base_of(seen) == owner && Py_REFCNT(seen) == holders;
  };
  bool shared = !PyArray_Check(owner) || !account(array, 1 + 2 * count_in(saved, array));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(saved) && !shared; ++i) {
    PyObject* item = PyList_GET_ITEM(saved, i);
    if (item == object || item == array) continue;
    PyObject* seen = is_tensor(item) ? as_tensor(item)->array : item;
    if (owner_of(seen) != owner) continue;
    const Py_ssize_t holders = 2 * count_in(saved, item);
    bool first = true;
    for (Py_ssize_t j = 0; j < i; ++j) first = first && PyList_GET_ITEM(saved, j) != item;
    if (!first) continue;
    shared =
        is_tensor(item) ? Py_REFCNT(item) != holders || !account(seen, 1) : !account(seen, holders);
  }
  return PyBool_FromLong(shared || Py_REFCNT(owner) != known);
}

// tensor, expected gradient, new one: sets it if the gradient is still the expected one. No other
// thread can come between, as the interpreter's lock is held.
PyObject* exchange_gradient(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 3 || !is_tensor(arguments[0])) {
    PyErr_SetString(PyExc_TypeError, "exchange_gradient: needs a tensor and two gradients");
    return nullptr;
  }
  TensorObject* tensor = as_tensor(arguments[0]);
  if (tensor->grad != arguments[1]) Py_RETURN_FALSE;
  Py_SETREF(tensor->grad, Py_NewRef(arguments[2]));
  Py_RETURN_TRUE;
}

bool is_subclass(PyObject* object, PyTypeObject* base) {
  return PyType_Check(object) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(object), base);
}

// The subclasses that new tensors, nodes and slots of nodes are made of.
PyObject* set_classes(PyObject*, PyObject* arguments) {
  PyObject *tensor, *node, *slot;
  if (!PyArg_ParseTuple(arguments, "OOO", &tensor, &node, &slot)) return nullptr;
  if (!is_subclass(tensor, &tensor_base) || !is_subclass(node, &node_base) ||
      !is_subclass(slot, &node_base)) {
    PyErr_SetString(PyExc_TypeError, "set_classes: needs subclasses of TensorBase and NodeBase");
    return nullptr;
  }
  tensor_type = reinterpret_cast<PyTypeObject*>(Py_NewRef(tensor));
  node_type = reinterpret_cast<PyTypeObject*>(Py_NewRef(node));
  slot_type = reinterpret_cast<PyTypeObject*>(Py_NewRef(slot));
  Tensors::take_over(tensor_type);
  Nodes::take_over(node_type);
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"wrap", wrap, METH_O, nullptr},
    {"frozen", freeze, METH_O, nullptr},
    {"next_number", next_number, METH_NOARGS, nullptr},
    {"clock", clock, METH_NOARGS, nullptr},
    {"advance_clock", advance_clock, METH_NOARGS, nullptr},
    {"owner", owner, METH_O, nullptr},
    {"set_classes", set_classes, METH_VARARGS, nullptr},
    {"shares_memory", shares_memory, METH_VARARGS, nullptr},
    {"exchange_gradient", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(exchange_gradient)),
     METH_FASTCALL, nullptr},
    {},
};

}  // namespace

namespace {
// Whether a tuple may hold something that can be changed.
bool holds_mutable(PyObject* tuple) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    PyObject* item = PyTuple_GET_ITEM(tuple, i);
    if (PyList_Check(item) || PyTuple_Check(item) || PyArray_Check(item)) return true;
  }
  return false;
}
}  // namespace

PyObject* frozen(PyObject* attribute) {
  if (PyArray_CheckExact(attribute)) {
    return PyArray_NewCopy(reinterpret_cast<PyArrayObject*>(attribute), NPY_KEEPORDER);
  }
  const bool is_list = PyList_CheckExact(attribute);
  if (!is_list && !(PyTuple_CheckExact(attribute) && holds_mutable(attribute))) {
    return Py_NewRef(attribute);
  }
  if (Py_EnterRecursiveCall(" while an attribute is kept")) return nullptr;
  // An allocation may collect garbage, whose finalizers may change a list: its length is read anew.
  Reference copy(PyList_New(0));
  for (Py_ssize_t i = 0; copy && i < PySequence_Fast_GET_SIZE(attribute); ++i) {
    const Reference item(Py_NewRef(PySequence_Fast_GET_ITEM(attribute, i)));
    const Reference kept(frozen(item.get()));
    if (!kept || PyList_Append(copy.get(), kept.get()) < 0) copy.reset(nullptr);
  }
  Py_LeaveRecursiveCall();
  return is_list || !copy ? copy.release() : PyList_AsTuple(copy.get());
}

PyObject* new_tensor(PyObject* array) { return allocate_tensor(tensor_type, array); }

PyObject* node_of(PyObject* made) {
  if (PyTuple_Check(made) && PyTuple_GET_SIZE(made) > 0) made = PyTuple_GET_ITEM(made, 0);
  PyObject* node = is_tensor(made) ? as_tensor(made)->node : Py_None;
  if (Py_TYPE(node) != slot_type) return node;
  PyObject* parents = as_node(node)->parents;
  const bool has_one =
      parents != nullptr && PyTuple_Check(parents) && PyTuple_GET_SIZE(parents) == 1;
  return has_one ? PyTuple_GET_ITEM(parents, 0) : Py_None;
}

bool is_node(PyObject* object) { return PyObject_TypeCheck(object, &node_base); }

PyObject* new_node(PyObject* rule, PyObject* saved, PyObject* parents) {
  if (!mode().anomaly) return allocate_node(node_type, rule, saved, parents);
  // Python's constructor looks for the line of the user's code.
  PyObject* const type = reinterpret_cast<PyObject*>(node_type);
  return PyObject_CallFunctionObjArgs(type, rule, saved, parents, nullptr);
}

PyObject* new_slot(PyObject* node, Py_ssize_t index, Py_ssize_t count) {
  return PyObject_CallFunction(reinterpret_cast<PyObject*>(slot_type), "Onn", node, index, count);
}

bool add_tensor_types(PyObject* module) {
  if (PyType_Ready(&tensor_base) < 0 || PyType_Ready(&node_base) < 0) {
    return false;
  }
  tensor_type = &tensor_base;
  node_type = slot_type = &node_base;
  grad_name = PyUnicode_InternFromString("grad");
  if (grad_name == nullptr) return false;
  return PyModule_AddObjectRef(module, "TensorBase", reinterpret_cast<PyObject*>(&tensor_base)) ==
             0 &&
         PyModule_AddObjectRef(module, "NodeBase", reinterpret_cast<PyObject*>(&node_base)) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace extensor
