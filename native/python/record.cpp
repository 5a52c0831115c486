#include "record.h"

#include "interpreter.h"
#include "reference.h"
#include "tensor_object.h"

namespace extensor {
namespace {

PyObject *shape_name = nullptr, *dtype_name = nullptr;
// How arrays are written to, and how the tape learns of it: functions of Python's, set once.
PyObject *setitem = nullptr, *mark_changed = nullptr;

// A number as a tensor of the result's dtype, for the tape. New reference.
PyObject* number_tensor(PyObject* number, PyObject* result) {
  PyArray_Descr* descriptor = PyArray_DESCR(reinterpret_cast<PyArrayObject*>(result));
  Reference array(new_array(descriptor, 0, nullptr));
  if (!array || PyArray_SETITEM(array.array(), PyArray_BYTES(array.array()), number) < 0) {
    return nullptr;
  }
  return new_tensor(array.get());
}

// The shape of an array of any library as a tuple.
PyObject* shape_of_array(PyObject* array) {
  const Reference held(Py_NewRef(array));  // only a tensor may hold it, and another library answers
  Reference shape(PyObject_GetAttr(array, shape_name));
  if (!shape || PyTuple_CheckExact(shape.get())) return shape.release();
  return PySequence_Tuple(shape.get());
}

PyObject* dtype_of_array(PyObject* array) {
  const Reference held(Py_NewRef(array));
  return PyObject_GetAttr(array, dtype_name);
}

// Of a tensor, of a number, None, or the shapes of a list of tensors.
PyObject* shape_of_input(PyObject* input) {
  if (is_number(input)) return PyTuple_New(0);
  if (input == Py_None) return Py_NewRef(Py_None);
  if (!PyList_CheckExact(input)) return shape_of_array(as_tensor(input)->array);
  PyObject* shapes = PyList_New(PyList_GET_SIZE(input));
  for (Py_ssize_t i = 0; shapes != nullptr && i < PyList_GET_SIZE(input); ++i) {
    PyObject* shape = shape_of_array(as_tensor(PyList_GET_ITEM(input, i))->array);
    if (shape == nullptr) {
      Py_DECREF(shapes);
      return nullptr;
    }
    PyList_SET_ITEM(shapes, i, shape);
  }
  return shapes;
}

// A copy that is no part of a graph: the next call changes the tensor itself, before this one's
// backward pass.
PyObject* copied(PyObject* input) {
  if (!is_tensor(input)) return Py_NewRef(input);
  Reference detached(new_tensor(as_tensor(input)->array));
  return detached ? PyObject_CallMethod(detached.get(), "clone", nullptr) : nullptr;
}

// The outputs of a call: one, or those of a tuple. Borrowed.
PyObject* output_at(PyObject* result, int index) {
  if (!PyTuple_CheckExact(result)) return result;
  const int count = static_cast<int>(PyTuple_GET_SIZE(result));
  return PyTuple_GET_ITEM(result, index < 0 ? index + count : index);
}

bool has_output(PyObject* result, int index) {
  if (!PyTuple_CheckExact(result)) return false;
  const Py_ssize_t count = PyTuple_GET_SIZE(result);
  return index < count && index >= -count;
}

PyObject* missing_output() {
  PyErr_SetString(PyExc_SystemError, "a computation gave fewer outputs than its op has");
  return nullptr;
}

// New reference to what one keeper asks for.
PyObject* kept(Keeper keeper, const Recorded& op, PyObject* const* bound, PyObject* result) {
  PyObject* const input = bound[keeper.index < 0 ? 0 : keeper.index];
  switch (keeper.what) {
    case Keep::tensor:
      if (is_number(input)) return number_tensor(input, output_at(result, 0));
      return Py_NewRef(input);
    case Keep::updated:
      return copied(input);
    case Keep::shape:
      return shape_of_input(input);
    case Keep::dtype:
      // A number has the dtype of what it was computed with.
      return dtype_of_array(is_tensor(input) ? as_tensor(input)->array : output_at(result, 0));
    case Keep::output:
      // The array, not the tensor: a node that held its own output would be a cycle.
      return Py_NewRef(output_at(result, 0));
    case Keep::further:
      if (!has_output(result, keeper.index)) return missing_output();
      return new_tensor(output_at(result, keeper.index));
    case Keep::attribute:
      return frozen(bound[op.arity + keeper.index]);
  }
  return nullptr;
}

// The inputs that can get a gradient.
class Differentiable {
 public:
  Differentiable(const Recorded& op, PyObject* const* bound) : op_(op), bound_(bound) {}
  Py_ssize_t count() const {
    return op_.variadic ? PyList_GET_SIZE(bound_[0]) : op_.differentiable_count;
  }
  PyObject* parent(Py_ssize_t i) const {
    return parent_of(op_.variadic ? PyList_GET_ITEM(bound_[0], i) : bound_[op_.differentiable[i]]);
  }
  bool any() const {
    for (Py_ssize_t i = 0; i < count(); ++i) {
      if (parent(i) != Py_None) return true;
    }
    return false;
  }

 private:
  const Recorded& op_;
  PyObject* const* bound_;
};

// Shape and dtype of each output, so that one without a gradient can be given zeros.
PyObject* descriptions(PyObject* result, Py_ssize_t count) {
  Reference list(PyList_New(count));
  for (Py_ssize_t i = 0; list && i < count; ++i) {
    PyObject* array = output_at(result, static_cast<int>(i));
    Reference shape(shape_of_array(array));
    Reference dtype(shape ? PyObject_GetAttr(array, dtype_name) : nullptr);
    PyObject* pair = dtype ? PyTuple_Pack(2, shape.get(), dtype.get()) : nullptr;
    if (pair == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), i, pair);
  }
  return list.release();
}

PyObject* saved_of(const Recorded& op, PyObject* const* bound, PyObject* result,
                   Py_ssize_t results) {
  Reference saved(PyTuple_New(op.keeper_count + (op.several ? 1 : 0)));
  if (!saved) return nullptr;
  for (int i = 0; i < op.keeper_count; ++i) {
    PyObject* item = kept(op.keepers[i], op, bound, result);
    if (item == nullptr) return nullptr;
    PyTuple_SET_ITEM(saved.get(), i, item);
  }
  if (op.several) {
    PyObject* list = descriptions(result, results);
    if (list == nullptr) return nullptr;
    PyTuple_SET_ITEM(saved.get(), op.keeper_count, list);
  }
  return saved.release();
}

// Makes a tensor the result of a node.
void put_on_tape(PyObject* output, PyObject* node) {
  TensorObject* tensor = as_tensor(output);
  Py_SETREF(tensor->node, Py_NewRef(node));
  Py_SETREF(tensor->requires_grad, Py_NewRef(Py_True));
}

bool attach(PyObject* node, PyObject* const* outputs, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    Reference place(count == 1 ? Py_NewRef(node) : new_slot(node, i, count));
    if (!place) return false;
    put_on_tape(outputs[i], place.get());
  }
  return true;
}

// The new node; null with a Python error set.
PyObject* record(const Recorded& op, const Differentiable& inputs, PyObject* const* bound,
                 PyObject* result, PyObject* const* outputs, Py_ssize_t results) {
  Reference saved(saved_of(op, bound, result, results));
  Reference parents(saved ? PyTuple_New(inputs.count()) : nullptr);
  if (!parents) return nullptr;
  for (Py_ssize_t i = 0; i < inputs.count(); ++i) {
    PyTuple_SET_ITEM(parents.get(), i, Py_NewRef(inputs.parent(i)));
  }
  Reference node(new_node(op.rule, saved.get(), parents.get()));
  // Of several outputs only the first carries a gradient, unless the rule takes them all.
  if (!node || !attach(node.get(), outputs, op.several ? results : 1)) return nullptr;
  return node.release();
}

// attach(node, outputs): makes a list of tensors the results of a node
PyObject* attach_all(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  const bool fits = count == 2 && is_node(arguments[0]) && PyList_CheckExact(arguments[1]);
  const Py_ssize_t outputs = fits ? PyList_GET_SIZE(arguments[1]) : 0;
  for (Py_ssize_t i = 0; i < outputs; ++i) {
    if (is_tensor(PyList_GET_ITEM(arguments[1], i))) continue;
    PyErr_SetString(PyExc_TypeError, "attach: outputs must be tensors");
    return nullptr;
  }
  if (!fits) {
    PyErr_SetString(PyExc_TypeError, "attach: needs a node and a list of tensors");
    return nullptr;
  }
  Reference held(PyList_AsTuple(arguments[1]));
  if (!held || !attach(arguments[0], &PyTuple_GET_ITEM(held.get(), 0), outputs)) return nullptr;
  Py_RETURN_NONE;
}

// Whether nothing of a change is to be recorded, and only its memory changes.
bool changes_in_place(PyObject* input) {
  if (!is_tensor(input) || setitem == nullptr) return false;
  const TensorObject* tensor = as_tensor(input);
  return PyArray_CheckExact(tensor->array) && is_floating(tensor->array) &&
         PyArray_ISWRITEABLE(reinterpret_cast<PyArrayObject*>(tensor->array)) &&
         !(mode().recording && tensor->requires_grad == Py_True);
}

// Gives an input that an op changes its new values, an array.
bool update(PyObject* input, PyObject* values) {
  if (!changes_in_place(input)) return PyObject_SetItem(input, Py_Ellipsis, values) == 0;
  const Reference array(Py_NewRef(as_tensor(input)->array));
  PyObject* const written[] = {array.get(), Py_Ellipsis, values};
  const Reference result(PyObject_Vectorcall(setitem, written, 3, nullptr));
  if (!result) return false;
  PyObject* const marked[] = {array.get(), mode().anomaly ? Py_True : Py_False};
  return Reference(PyObject_Vectorcall(mark_changed, marked, 2, nullptr)).get() != nullptr;
}

// set_writing(setitem, mark): setitem(array, index, value) and mark(array, remember_place)
PyObject* set_writing(PyObject*, PyObject* arguments) {
  PyObject *write, *mark;
  if (!PyArg_ParseTuple(arguments, "OO", &write, &mark)) return nullptr;
  if (!PyCallable_Check(write) || !PyCallable_Check(mark)) {
    PyErr_SetString(PyExc_TypeError, "set_writing: needs two functions");
    return nullptr;
  }
  Py_XSETREF(setitem, Py_NewRef(write));
  Py_XSETREF(mark_changed, Py_NewRef(mark));
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"set_writing", set_writing, METH_VARARGS, nullptr},
    {"attach", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(attach_all)), METH_FASTCALL,
     nullptr},
    {},
};

// What a call of an op gives: a tensor, or a tuple of them without those that are only kept.
PyObject* of_one(const Recorded& op, PyObject* const* bound, PyObject* result, bool floating,
                 PyObject*& node) {
  Reference output(new_tensor(result));
  if (!output || !floating || op.rule == nullptr || !mode().recording) return output.release();
  const Differentiable inputs(op, bound);
  if (!inputs.any()) return output.release();
  PyObject* const outputs[] = {output.get()};
  Reference made(record(op, inputs, bound, result, outputs, 1));
  if (!made) return nullptr;
  node = made.get();  // the output holds it
  return output.release();
}

PyObject* of_several(const Recorded& op, PyObject* const* bound, PyObject* result, bool floating,
                     PyObject*& node) {
  const Py_ssize_t results = PyTuple_GET_SIZE(result) - op.kept;
  if (results < 1) return missing_output();
  Reference tensors(PyTuple_New(results));
  for (Py_ssize_t i = 0; tensors && i < results; ++i) {
    PyObject* tensor = new_tensor(PyTuple_GET_ITEM(result, i));
    if (tensor == nullptr) return nullptr;
    PyTuple_SET_ITEM(tensors.get(), i, tensor);
  }
  if (!tensors) return nullptr;
  const Differentiable inputs(op, bound);
  if (floating && op.rule != nullptr && mode().recording && inputs.any()) {
    PyObject* const* outputs = &PyTuple_GET_ITEM(tensors.get(), 0);
    Reference made(record(op, inputs, bound, result, outputs, results));
    if (!made) return nullptr;
    node = made.get();
  }
  if (op.kept > 0 && results == 1) return Py_NewRef(PyTuple_GET_ITEM(tensors.get(), 0));
  return tensors.release();
}

}  // namespace

bool is_number(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object);
}

bool is_floating(PyObject* array) {
  if (!PyArray_Check(array)) return false;
  const int typenum = PyArray_TYPE(reinterpret_cast<PyArrayObject*>(array));
  return PyTypeNum_ISFLOAT(typenum) || dtype_of(typenum) == DType::bfloat16;
}

PyObject* finished(const Recorded& op, PyObject* const* bound, PyObject* result, bool floating,
                   PyObject*& node) {
  if (!PyTuple_CheckExact(result)) return of_one(op, bound, result, floating, node);
  if (op.update_count == 0) return of_several(op, bound, result, floating, node);
  if (PyTuple_GET_SIZE(result) != op.update_count + 1) return missing_output();
  Reference output(of_one(op, bound, PyTuple_GET_ITEM(result, 0), floating, node));
  // Last: the rest may fail.
  for (int i = 0; output && i < op.update_count; ++i) {
    if (!update(bound[op.updates[i]], PyTuple_GET_ITEM(result, i + 1))) return nullptr;
  }
  return output.release();
}

bool add_recording(PyObject* module) {
  shape_name = PyUnicode_InternFromString("shape");
  dtype_name = PyUnicode_InternFromString("dtype");
  return shape_name != nullptr && dtype_name != nullptr &&
         PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace extensor
