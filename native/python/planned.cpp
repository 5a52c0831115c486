// A call as an object of Python's: made once, run as often as one likes.
#include "planned.h"

#include <algorithm>
#include <cstddef>

#include "arguments.h"
#include "execute.h"

namespace extensor {
namespace {

struct PlannedObject {
  PyObject_HEAD;
  PyObject* kernel;
  PyObject* arguments;  // a tuple: what the inputs are part of
  Plan* plan;
};

PlannedObject* as_planned(PyObject* object) { return reinterpret_cast<PlannedObject*>(object); }

// Other arrays in the places of the inputs: of the same dtype, shape and strides.
bool fits(PyObject* given, PyObject* planned) {
  if (!PyArray_CheckExact(given)) return false;
  PyArrayObject* a = reinterpret_cast<PyArrayObject*>(given);
  PyArrayObject* b = reinterpret_cast<PyArrayObject*>(planned);
  const int ndim = PyArray_NDIM(b);
  return PyArray_TYPE(a) == PyArray_TYPE(b) && PyArray_NDIM(a) == ndim &&
         PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), ndim) &&
         (PyArray_SIZE(a) < 2 ||
          std::equal(PyArray_STRIDES(a), PyArray_STRIDES(a) + ndim, PyArray_STRIDES(b))) &&
         PyArray_ISALIGNED(a) && PyArray_ISNOTSWAPPED(a) &&
         (PyArray_ISWRITEABLE(a) || !PyArray_ISWRITEABLE(b));
}

// run(inputs=None, numbers=None): with the arrays it was planned for, or others like them
PyObject* run(PyObject* object, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"inputs", "numbers", nullptr};
  PyObject *given = Py_None, *numbers = Py_None;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|OO", const_cast<char**>(names), &given,
                                   &numbers)) {
    return nullptr;
  }
  const Plan& plan = *as_planned(object)->plan;
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
  if (given != Py_None) {
    bool same = PyTuple_CheckExact(given) && PyTuple_GET_SIZE(given) == plan.input_count();
    for (int i = 0; same && i < plan.input_count(); ++i) {
      same = fits(PyTuple_GET_ITEM(given, i), plan.inputs()[i]);
    }
    if (!same) {
      PyErr_SetString(PyExc_TypeError, "run: inputs must be arrays like those of the plan");
      return nullptr;
    }
    inputs = &PyTuple_GET_ITEM(given, 0);
  }
  return guarded(
      [&] { return run_call(plan.call, inputs, plan.input_count(), values, plan.call.words); });
}

PyObject* get_inputs(PyObject* object, void*) {
  const Plan& plan = *as_planned(object)->plan;
  PyObject* inputs = PyTuple_New(plan.input_count());
  for (int i = 0; inputs != nullptr && i < plan.input_count(); ++i) {
    PyTuple_SET_ITEM(inputs, i, Py_NewRef(plan.inputs()[i]));
  }
  return inputs;
}

PyObject* get_depends_on_values(PyObject* object, void*) {
  return PyBool_FromLong(as_planned(object)->plan->call.depends_on_values);
}

void destroy(PyObject* object) {
  PlannedObject* self = as_planned(object);
  delete self->plan;
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
    PyObject* object = planned_type.tp_alloc(&planned_type, 0);
    if (object == nullptr) return nullptr;
    as_planned(object)->kernel = Py_NewRef(arguments[0]);
    as_planned(object)->arguments = held.release();
    as_planned(object)->plan = plan.release();
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
