// A call as an object of Python's: made once, run as often as one likes.
#include "planned.h"

#include <algorithm>
#include <cstddef>

#include "arguments.h"
#include "execute.h"

namespace extensor {
namespace {

// What the inputs were like when the call was planned, in a row: an array may get another shape or
// other memory afterwards.
class Descriptions {
 public:
  explicit Descriptions(const Plan& plan) {
    for (int i = 0; i < plan.input_count(); ++i) {
      PyArrayObject* x = reinterpret_cast<PyArrayObject*>(plan.inputs()[i]);
      const int ndim = PyArray_NDIM(x);
      numbers_.insert(numbers_.end(), {PyArray_TYPE(x), PyArray_ISWRITEABLE(x), ndim});
      numbers_.insert(numbers_.end(), PyArray_DIMS(x), PyArray_DIMS(x) + ndim);
      numbers_.insert(numbers_.end(), PyArray_STRIDES(x), PyArray_STRIDES(x) + ndim);
    }
  }

  // Whether arrays can stand in the places of the inputs: of the same dtype, shape and strides.
  bool fit(PyObject* const* arrays, int count) const {
    const npy_intp* described = numbers_.data();
    for (int i = 0; i < count; ++i) {
      if (!PyArray_CheckExact(arrays[i])) return false;
      PyArrayObject* x = reinterpret_cast<PyArrayObject*>(arrays[i]);
      const int ndim = static_cast<int>(described[2]);
      const npy_intp *lengths = described + 3, *strides = lengths + ndim;
      if (PyArray_TYPE(x) != described[0] || PyArray_NDIM(x) != ndim ||
          !PyArray_CompareLists(PyArray_DIMS(x), lengths, ndim) ||
          !(PyArray_SIZE(x) < 2 || std::equal(strides, strides + ndim, PyArray_STRIDES(x))) ||
          !PyArray_ISALIGNED(x) || !PyArray_ISNOTSWAPPED(x) ||
          (described[1] != 0 && !PyArray_ISWRITEABLE(x))) {
        return false;
      }
      described = strides + ndim;
    }
    return true;
  }

 private:
  std::vector<npy_intp> numbers_;
};

struct PlannedObject {
  PyObject_HEAD;
  PyObject* kernel;
  PyObject* arguments;  // a tuple: what the inputs are part of
  Plan* plan;
  Descriptions* descriptions;  // of the inputs
  std::vector<char*>* room;    // for the addresses of the inputs: a run needs no memory for them
  bool running;                // and the room is taken
};

PlannedObject* as_planned(PyObject* object) { return reinterpret_cast<PlannedObject*>(object); }

PyObject* inputs_of(const Plan& plan) {
  PyObject* inputs = PyTuple_New(plan.input_count());
  for (int i = 0; inputs != nullptr && i < plan.input_count(); ++i) {
    PyTuple_SET_ITEM(inputs, i, Py_NewRef(plan.inputs()[i]));
  }
  return inputs;
}

// Has the room of a planned call until its run ends; another run at the same time makes its own.
class Running {
 public:
  explicit Running(PlannedObject& planned) : planned_(planned), first_(!planned.running) {
    planned_.running = true;
  }
  ~Running() {
    if (first_) planned_.running = false;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  char** room() const { return first_ ? planned_.room->data() : nullptr; }

 private:
  PlannedObject& planned_;
  const bool first_;
};

// What watchers see as the arguments of a run, a tuple: those of the plan, or the arrays and
// numbers that stand for them.
PyObject* arguments_of_run(const PlannedObject& self, PyObject* inputs, PyObject* numbers) {
  if (!anybody_watches || (inputs == Py_None && numbers == Py_None)) {
    return Py_NewRef(self.arguments);
  }
  Reference arrays(inputs == Py_None ? inputs_of(*self.plan) : Py_NewRef(inputs));
  if (!arrays || numbers == Py_None) return arrays.release();
  return PySequence_Concat(arrays.get(), numbers);
}

// run(inputs=None, numbers=None): with the arrays it was planned for, or others like them
PyObject* run(PyObject* object, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"inputs", "numbers", nullptr};
  PyObject *given = Py_None, *numbers = Py_None;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|OO", const_cast<char**>(names), &given,
                                   &numbers)) {
    return nullptr;
  }
  PlannedObject* self = as_planned(object);
  const Plan& plan = *self->plan;
  double values[Call::kMaxNumbers];
  std::copy_n(plan.call.numbers, Call::kMaxNumbers, values);
  if (numbers != Py_None &&
      (!PyTuple_CheckExact(numbers) || PyTuple_GET_SIZE(numbers) > Call::kMaxNumbers ||
       !read_numbers(&PyTuple_GET_ITEM(numbers, 0), static_cast<int>(PyTuple_GET_SIZE(numbers)),
                     values))) {
    PyErr_SetString(PyExc_TypeError, "run: numbers must be a tuple of numbers");
    return nullptr;
  }
  PyObject* const* inputs = plan.inputs();
  bool fit = true;
  if (given != Py_None) {
    fit = PyTuple_CheckExact(given) && PyTuple_GET_SIZE(given) == plan.input_count();
    if (fit) inputs = &PyTuple_GET_ITEM(given, 0);
  }
  if (!fit || !self->descriptions->fit(inputs, plan.input_count())) {
    PyErr_SetString(PyExc_TypeError, "run: inputs must be arrays like those of the plan");
    return nullptr;
  }
  const Reference shown(arguments_of_run(*self, given, numbers));
  if (!shown) return nullptr;
  const auto calculate = [&] {
    PyObject* result = guarded([&] {
      const Running running(*self);
      return run_call(kernel_of(self->kernel)->name, plan.call, inputs, plan.input_count(), values,
                      plan.call.words, running.room());
    });
    const bool replaced = plan.returned != nullptr && given == Py_None && result != nullptr &&
                          result != Py_NotImplemented;
    if (replaced) Py_SETREF(result, Py_NewRef(plan.returned));
    return result;
  };
  PyObject* name = kernel_of(self->kernel)->name;
  return watched({name, name, false}, &PyTuple_GET_ITEM(shown.get(), 0),
                 PyTuple_GET_SIZE(shown.get()), calculate, as_computed);
}

PyObject* get_inputs(PyObject* object, void*) { return inputs_of(*as_planned(object)->plan); }

PyObject* get_depends_on_values(PyObject* object, void*) {
  return PyBool_FromLong(as_planned(object)->plan->call.depends_on_values);
}

void destroy(PyObject* object) {
  PlannedObject* self = as_planned(object);
  delete self->plan;
  delete self->descriptions;
  delete self->room;
  Py_XDECREF(self->arguments);
  Py_XDECREF(self->kernel);
  Py_TYPE(object)->tp_free(object);
}

PyMethodDef methods[] = {
    {"run", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(run)),
     METH_VARARGS | METH_KEYWORDS, nullptr},
    {},
};
PyGetSetDef properties[] = {
    {"inputs", get_inputs, nullptr, nullptr, nullptr},
    {"depends_on_values", get_depends_on_values, nullptr, nullptr, nullptr},
    {},
};

PyTypeObject planned_type = [] {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "extensor._native.Planned";
  type.tp_basicsize = sizeof(PlannedObject);
  type.tp_dealloc = destroy;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_methods = methods;
  type.tp_getset = properties;
  return type;
}();

// plan(kernel, *arguments): NotImplemented for what the kernel declines
PyObject* plan_call(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  const Kernel* kernel = count > 0 ? kernel_of(arguments[0]) : nullptr;
  if (kernel == nullptr || kernel->plan == nullptr) {
    PyErr_SetString(PyExc_TypeError, "plan: needs a kernel that plans its calls");
    return nullptr;
  }
  if (mode().formulas) return not_implemented();
  return guarded([&]() -> PyObject* {
    Reference held(PyTuple_New(count - 1));
    if (!held) return nullptr;
    for (Py_ssize_t i = 1; i < count; ++i) {
      PyTuple_SET_ITEM(held.get(), i - 1, Py_NewRef(arguments[i]));
    }
    std::unique_ptr<Plan> plan(new Plan);
    if (!kernel->plan(kernel->definition, arguments + 1, count - 1, *plan)) {
      return PyErr_Occurred() ? nullptr : not_implemented();
    }
    std::unique_ptr<Descriptions> descriptions(new Descriptions(*plan));
    std::unique_ptr<std::vector<char*>> room(new std::vector<char*>(plan->input_count()));
    PyObject* object = planned_type.tp_alloc(&planned_type, 0);
    if (object == nullptr) return nullptr;
    as_planned(object)->kernel = Py_NewRef(arguments[0]);
    as_planned(object)->arguments = held.release();
    as_planned(object)->plan = plan.release();
    as_planned(object)->descriptions = descriptions.release();
    as_planned(object)->room = room.release();
    return object;
  });
}

PyMethodDef functions[] = {
    {"plan", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(plan_call)), METH_FASTCALL,
     nullptr},
    {},
};

}  // namespace

bool add_planned_type(PyObject* module) {
  return PyType_Ready(&planned_type) == 0 && PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace extensor
