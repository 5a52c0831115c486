#include "watch.h"

#include <structmember.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#include "reference.h"
#include "tensor_object.h"

namespace extensor {
namespace {

constexpr Py_ssize_t kMaxArguments = 32;

// One computation, as watchers see it.
struct EventObject {
  PyObject_HEAD;
  PyObject *op, *kernel, *node, *module, *outputs;
  PyObject* arguments[kMaxArguments];
  Py_ssize_t count;
  bool backward;
  long long begin, end;
};

PyObject* watchers = nullptr;  // a list
EventObject* spare = nullptr;  // the last event, if nobody has kept it

int64_t clock_ticks() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

#if defined(__x86_64__)
int64_t processor_ticks() { return static_cast<int64_t>(__builtin_ia32_rdtsc()); }

// Whether the system itself tells the time by the processor's counter, so that it runs evenly and
// the same on all cores.
bool counts_evenly() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return file >> name && name == "tsc";
}
#endif

// How ticks become nanoseconds: both were read when the module was imported, and are again when the
// first watcher looks at a time.
struct Pace {
  int64_t ticks, nanoseconds;
  double rate = 0;  // nanoseconds of a tick

  void begin() {
    nanoseconds = clock_ticks();
    ticks = extensor::ticks();
  }
  int64_t at(int64_t moment) {
    constexpr int64_t kLeast = 1'000'000;
    while (rate == 0) {
      const int64_t now = clock_ticks(), counted = extensor::ticks();
      if (now - nanoseconds > kLeast) {
        rate = static_cast<double>(now - nanoseconds) / static_cast<double>(counted - ticks);
      }
    }
    return nanoseconds + static_cast<int64_t>(rate * static_cast<double>(moment - ticks));
  }
} pace;

EventObject* as_event(PyObject* object) { return reinterpret_cast<EventObject*>(object); }

void forget(EventObject& event) {
  Py_CLEAR(event.op);
  Py_CLEAR(event.kernel);
  Py_CLEAR(event.node);
  Py_CLEAR(event.module);
  Py_CLEAR(event.outputs);
  while (event.count > 0) Py_DECREF(event.arguments[--event.count]);
}

void destroy(PyObject* object) {
  forget(*as_event(object));
  Py_TYPE(object)->tp_free(object);
}

PyObject* get_inputs(PyObject* object, void*) {
  const EventObject& event = *as_event(object);
  PyObject* inputs = PyTuple_New(event.count);
  for (Py_ssize_t i = 0; inputs != nullptr && i < event.count; ++i) {
    PyTuple_SET_ITEM(inputs, i, Py_NewRef(event.arguments[i]));
  }
  return inputs;
}

PyObject* get_backward(PyObject* object, void*) {
  return PyBool_FromLong(as_event(object)->backward);
}

// The name of the rule that is at work, which may be made of other ops; None in a forward pass.
PyObject* get_rule(PyObject* object, void*) {
  const EventObject& event = *as_event(object);
  if (!event.backward) Py_RETURN_NONE;
  if (event.node == Py_None) return Py_NewRef(event.op);
  Reference rule(PyObject_GetAttrString(event.node, "rule"));
  return rule ? PyObject_GetAttrString(rule.get(), "name") : nullptr;
}

template <long long EventObject::* kMoment>
PyObject* get_time(PyObject* object, void*) {
  return PyLong_FromLongLong(pace.at(as_event(object)->*kMoment));
}

PyMemberDef members[] = {
    {"op", T_OBJECT, offsetof(EventObject, op), READONLY, nullptr},
    {"kernel", T_OBJECT, offsetof(EventObject, kernel), READONLY, nullptr},
    {"node", T_OBJECT, offsetof(EventObject, node), READONLY, nullptr},
    {"module", T_OBJECT, offsetof(EventObject, module), READONLY, nullptr},
    {"outputs", T_OBJECT, offsetof(EventObject, outputs), READONLY, nullptr},
    {},
};
PyGetSetDef properties[] = {
    {"inputs", get_inputs, nullptr, nullptr, nullptr},
    {"backward", get_backward, nullptr, nullptr, nullptr},
    {"rule", get_rule, nullptr, nullptr, nullptr},
    {"begin", get_time<&EventObject::begin>, nullptr, nullptr, nullptr},
    {"end", get_time<&EventObject::end>, nullptr, nullptr, nullptr},
    {},
};

PyTypeObject event_type = [] {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "extensor._native.Computed";
  type.tp_basicsize = sizeof(EventObject);
  type.tp_dealloc = destroy;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_members = members;
  type.tp_getset = properties;
  return type;
}();

EventObject* new_event() {
  EventObject* event = spare;
  spare = nullptr;
  return event != nullptr ? event : as_event(event_type.tp_alloc(&event_type, 0));
}

// Back to where the next one is taken from, unless somebody has kept it. What it held may be told
// of while it ends, by an event that comes back before this one.
void done_with(EventObject* event) {
  if (Py_REFCNT(event) == 1) {
    forget(*event);
    if (spare == nullptr) {
      spare = event;
      return;
    }
  }
  Py_DECREF(event);
}

PyObject* add_watcher(PyObject*, PyObject* watcher) {
  if (PyList_Append(watchers, watcher) < 0) return nullptr;
  anybody_watches = true;
  Py_RETURN_NONE;
}

PyObject* remove_watcher(PyObject*, PyObject* watcher) {
  for (Py_ssize_t i = PyList_GET_SIZE(watchers) - 1; i >= 0; --i) {
    if (PyList_GET_ITEM(watchers, i) != watcher) continue;
    if (PySequence_DelItem(watchers, i) < 0) return nullptr;
    break;
  }
  anybody_watches = PyList_GET_SIZE(watchers) > 0;
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"add_watcher", add_watcher, METH_O, nullptr},
    {"remove_watcher", remove_watcher, METH_O, nullptr},
    {},
};

}  // namespace

#if defined(__x86_64__)
Ticks ticks = counts_evenly() ? processor_ticks : clock_ticks;
#else
Ticks ticks = clock_ticks;
#endif

bool tell(PyObject* op, PyObject* kernel, bool backward, PyObject* node, PyObject* const* arguments,
          Py_ssize_t count, PyObject* result, int64_t begin, int64_t end) {
  if (mode().telling) return true;
  EventObject* event = new_event();
  if (event == nullptr) return false;
  event->op = Py_NewRef(op);
  event->kernel = Py_NewRef(kernel);
  event->node = Py_NewRef(node);
  event->module = Py_NewRef(mode().module);
  event->outputs = Py_NewRef(result);
  event->count = std::min(count, kMaxArguments);
  for (Py_ssize_t i = 0; i < event->count; ++i) event->arguments[i] = Py_NewRef(arguments[i]);
  event->backward = backward || mode().node != Py_None;
  event->begin = begin;
  event->end = end;
  mode().telling = true;
  bool well = true;
  PyObject* const told = reinterpret_cast<PyObject*>(event);
  for (Py_ssize_t i = 0; well && i < PyList_GET_SIZE(watchers);) {
    Reference watcher(Py_NewRef(PyList_GET_ITEM(watchers, i)));
    Reference answer(PyObject_CallOneArg(watcher.get(), told));
    well = static_cast<bool>(answer);
    // Where a watcher was removed meanwhile, the next one has taken its place.
    if (i < PyList_GET_SIZE(watchers) && PyList_GET_ITEM(watchers, i) == watcher.get()) ++i;
  }
  mode().telling = false;
  done_with(event);
  return well;
}

bool add_watching(PyObject* module) {
  pace.begin();
  watchers = PyList_New(0);
  return watchers != nullptr && PyType_Ready(&event_type) == 0 &&
         PyModule_AddObjectRef(module, "watchers", watchers) == 0 &&
         PyModule_AddObjectRef(module, "Computed", reinterpret_cast<PyObject*>(&event_type)) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace extensor
