#include "mode.h"

#include "reference.h"

namespace extensor {

constinit thread_local Mode current_mode;

namespace {

template <bool Mode::* kFlag>
PyObject* get_flag(PyObject*, void*) {
  return PyBool_FromLong(mode().*kFlag);
}
template <bool Mode::* kFlag>
int set_flag(PyObject*, PyObject* value, void*) {
  const int truth = value == nullptr ? -1 : PyObject_IsTrue(value);
  if (truth >= 0) mode().*kFlag = truth;
  return truth < 0 ? -1 : 0;
}
PyObject* get_epsilon(PyObject*, void*) { return PyFloat_FromDouble(mode().epsilon); }
int set_epsilon(PyObject*, PyObject* value, void*) {
  const double epsilon = value == nullptr ? -1 : PyFloat_AsDouble(value);
  if (PyErr_Occurred()) return -1;
  mode().epsilon = epsilon;
  return 0;
}

template <PyObject* Mode::* kObject>
PyObject* get_object(PyObject*, void*) {
  return Py_NewRef(mode().*kObject);
}
template <PyObject* Mode::* kObject>
int set_object(PyObject*, PyObject* value, void*) {
  Py_SETREF(mode().*kObject, Py_NewRef(value == nullptr ? Py_None : value));
  return 0;
}

PyGetSetDef mode_properties[] = {
    {"recording", get_flag<&Mode::recording>, set_flag<&Mode::recording>, nullptr, nullptr},
    {"anomaly", get_flag<&Mode::anomaly>, set_flag<&Mode::anomaly>, nullptr, nullptr},
    {"casting", get_flag<&Mode::casting>, set_flag<&Mode::casting>, nullptr, nullptr},
    {"formulas", get_flag<&Mode::formulas>, set_flag<&Mode::formulas>, nullptr, nullptr},
    {"epsilon", get_epsilon, set_epsilon, nullptr, nullptr},
    {"node", get_object<&Mode::node>, set_object<&Mode::node>, nullptr, nullptr},
    {"module", get_object<&Mode::module>, set_object<&Mode::module>, nullptr, nullptr},
    {},
};

PyTypeObject mode_type = [] {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "extensor._native.Mode";
  type.tp_basicsize = sizeof(PyObject);
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_getset = mode_properties;
  return type;
}();

}  // namespace

bool add_mode(PyObject* module) {
  if (PyType_Ready(&mode_type) < 0) return false;
  Reference shared(mode_type.tp_alloc(&mode_type, 0));
  return shared && PyModule_AddObjectRef(module, "mode", shared.get()) == 0;
}

}  // namespace extensor
