// Recorded calls that are run again, without Python: the memory of each buffer is where it was
// bound last, and numbers that change from run to run are set before.
#include "program.h"

#include "execute.h"
#include "recorder.h"

namespace extensor {
namespace {

// A call on the memory of the program.
struct Step {
  const RecordedCall* call;
  std::vector<char*> inputs, outputs;
  double numbers[Call::kMaxNumbers];
  uint64_t words[Call::kMaxWords];
};

// An address in a step that follows a buffer.
struct Use {
  char** address;
  int64_t offset;
};

struct Program {
  PyObject* recorder;  // keeps the calls alive
  std::vector<Step> steps;
  std::vector<std::vector<Use>> uses;  // of each buffer
  std::vector<char*> bases;            // of each buffer, null before it is bound
  std::vector<double*> numbers;        // those that are set before a run
  std::vector<uint64_t*> words;
  size_t checked = 0;  // buffers, which have memory

  // Whether every buffer that a step uses has memory.
  bool is_bound() {
    while (checked < bases.size() && (bases[checked] != nullptr || uses[checked].empty()))
      ++checked;
    return checked == bases.size();
  }

  void set_base(int buffer, char* base) {
    if (bases[buffer] == base) return;
    bases[buffer] = base;
    for (const Use& use : uses[buffer]) *use.address = base + use.offset;
  }
};

struct ProgramObject {
  PyObject_HEAD;
  Program* program;
};

Program& program_of(PyObject* self) { return *reinterpret_cast<ProgramObject*>(self)->program; }

void follow(Program& program, const Place& place, char** address) {
  *address = nullptr;
  if (place.buffer >= 0) program.uses[place.buffer].push_back({address, place.offset});
}

// Whether a list holds numbers from 0 to below `limit`, which are read.
bool read_list(PyObject* list, size_t limit, std::vector<int>& numbers) {
  if (!PyList_Check(list)) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    const Py_ssize_t number = PyLong_AsSsize_t(PyList_GET_ITEM(list, i));
    if (number < 0 || number >= static_cast<Py_ssize_t>(limit)) return false;
    numbers.push_back(static_cast<int>(number));
  }
  return true;
}

// A list of (step, slot), as addresses in the steps.
template <typename Value, int kCount>
bool read_slots(PyObject* list, Program& program, Value (Step::*values)[kCount],
                std::vector<Value*>& slots) {
  if (!PyList_Check(list)) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    int step, slot;
    if (!PyArg_ParseTuple(PyList_GET_ITEM(list, i), "ii", &step, &slot)) return false;
    if (step < 0 || step >= static_cast<int>(program.steps.size()) || slot < 0 || slot >= kCount) {
      return false;
    }
    slots.push_back(&(program.steps[step].*values)[slot]);
  }
  return true;
}

// recorder, calls to be run, slots of numbers and of words that each run sets, as (step, slot)
PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject *object, *chosen, *numbers, *words;
  if (!PyArg_ParseTuple(arguments, "OOOO", &object, &chosen, &numbers, &words)) return nullptr;
  Recorder* const recorder = recorder_of(object);
  return guarded([&]() -> PyObject* {
    std::vector<int> calls;
    if (recorder == nullptr || !read_list(chosen, recorder->calls.size(), calls)) {
      PyErr_SetString(PyExc_TypeError, "Program: needs a recorder and a list of its calls");
      return nullptr;
    }
    std::unique_ptr<Program> program(new Program);
    program->uses.resize(recorder->buffers.size());
    program->bases.resize(recorder->buffers.size());
    program->steps.resize(calls.size());
    for (size_t i = 0; i < calls.size(); ++i) {
      const RecordedCall& call = recorder->calls[calls[i]];
      Step& step = program->steps[i];
      step.call = &call;
      step.inputs.resize(call.inputs.size());
      step.outputs.resize(call.outputs.size());
      for (size_t j = 0; j < call.inputs.size(); ++j) {
        follow(*program, call.inputs[j], &step.inputs[j]);
      }
      for (size_t j = 0; j < call.outputs.size(); ++j) {
        follow(*program, call.outputs[j], &step.outputs[j]);
      }
      std::copy_n(call.numbers, Call::kMaxNumbers, step.numbers);
      std::copy_n(call.words, Call::kMaxWords, step.words);
    }
    if (!read_slots(numbers, *program, &Step::numbers, program->numbers) ||
        !read_slots(words, *program, &Step::words, program->words)) {
      if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "Program: no such step or slot");
      return nullptr;
    }
    PyObject* self = type->tp_alloc(type, 0);
    if (self == nullptr) return nullptr;
    program->recorder = Py_NewRef(object);
    reinterpret_cast<ProgramObject*>(self)->program = program.release();
    return self;
  });
}

// bind(buffer, array, offset=0): the buffer lies in the memory of the array from now on, which the
// caller keeps alive. Of an array whose strides are negative that memory begins before its first
// element.
PyObject* bind(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  Program& program = program_of(self);
  const Py_ssize_t buffer = count == 3 ? PyLong_AsSsize_t(arguments[0]) : -1;
  const Py_ssize_t offset = count == 3 ? PyLong_AsSsize_t(arguments[2]) : -1;
  if (buffer < 0 || buffer >= static_cast<Py_ssize_t>(program.bases.size()) || offset < 0 ||
      !PyArray_CheckExact(arguments[1])) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "bind: needs a buffer and an array");
    return nullptr;
  }
  char* begin;
  int64_t bytes;
  bounds_of(reinterpret_cast<PyArrayObject*>(arguments[1]), begin, bytes);
  if (bytes - offset < recorder_of(program.recorder)->buffers[buffer].bytes) {
    PyErr_SetString(PyExc_ValueError, "bind: the array must have room for the buffer");
    return nullptr;
  }
  program.set_base(static_cast<int>(buffer), begin + offset);
  Py_RETURN_NONE;
}

// set_numbers(numbers): in the order of their slots
PyObject* set_numbers(PyObject* self, PyObject* given) {
  Program& program = program_of(self);
  if (!PyList_Check(given) ||
      PyList_GET_SIZE(given) != static_cast<Py_ssize_t>(program.numbers.size())) {
    PyErr_SetString(PyExc_TypeError, "set_numbers: needs a list with a number for each slot");
    return nullptr;
  }
  for (size_t i = 0; i < program.numbers.size(); ++i) {
    const double value = PyFloat_AsDouble(PyList_GET_ITEM(given, static_cast<Py_ssize_t>(i)));
    if (value == -1 && PyErr_Occurred()) return nullptr;
    *program.numbers[i] = value;
  }
  Py_RETURN_NONE;
}

// set_words(words): the same for integers of 64 bits
PyObject* set_words(PyObject* self, PyObject* given) {
  Program& program = program_of(self);
  if (!PyList_Check(given) ||
      PyList_GET_SIZE(given) != static_cast<Py_ssize_t>(program.words.size())) {
    PyErr_SetString(PyExc_TypeError, "set_words: needs a list with an int for each slot");
    return nullptr;
  }
  for (size_t i = 0; i < program.words.size(); ++i) {
    const uint64_t value =
        PyLong_AsUnsignedLongLong(PyList_GET_ITEM(given, static_cast<Py_ssize_t>(i)));
    if (value == static_cast<uint64_t>(-1) && PyErr_Occurred()) return nullptr;
    *program.words[i] = value;
  }
  Py_RETURN_NONE;
}

// run(begin, end): the steps from `begin` to before `end`. Returns the step that declined, by the
// values that it saw, or -1.
PyObject* run(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  Program& program = program_of(self);
  const Py_ssize_t size = static_cast<Py_ssize_t>(program.steps.size());
  const Py_ssize_t begin = count == 2 ? PyLong_AsSsize_t(arguments[0]) : -1;
  const Py_ssize_t end = count == 2 ? PyLong_AsSsize_t(arguments[1]) : -1;
  if (begin < 0 || end < begin || end > size) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_IndexError, "run: no such steps");
    return nullptr;
  }
  if (!program.is_bound()) {
    PyErr_SetString(PyExc_RuntimeError, "run: every buffer must be bound before");
    return nullptr;
  }
  int64_t nanoseconds = 0;
  for (Py_ssize_t i = begin; i < end; ++i) nanoseconds += program.steps[i].call->nanoseconds;
  return guarded([&]() -> PyObject* {
    Py_ssize_t place = begin;
    try {
      Unlocked unlocked(nanoseconds);
      for (; place < end; ++place) {
        const Step& step = program.steps[place];
        step.call->run(step.call->the_problem(),
                       {step.inputs.data(), step.outputs.data(), step.numbers, step.words});
      }
    } catch (const Declined&) {
      return PyLong_FromSsize_t(place);
    }
    return PyLong_FromLong(-1);
  });
}

// array(buffer, offset, like): an array with the shape, strides and dtype of another one, in the
// memory of the program. It is valid until the buffer is bound again.
PyObject* array(PyObject* self, PyObject* arguments) {
  int buffer;
  long long offset;
  PyObject* object;
  if (!PyArg_ParseTuple(arguments, "iLO!", &buffer, &offset, &PyArray_Type, &object)) {
    return nullptr;
  }
  Program& program = program_of(self);
  if (buffer < 0 || buffer >= static_cast<int>(program.bases.size()) ||
      program.bases[buffer] == nullptr) {
    PyErr_SetString(PyExc_IndexError, "array: the buffer has no memory");
    return nullptr;
  }
  PyArrayObject* like = reinterpret_cast<PyArrayObject*>(object);
  PyArray_Descr* descriptor = PyArray_DESCR(like);
  Py_INCREF(descriptor);
  Reference view(PyArray_NewFromDescr(
      &PyArray_Type, descriptor, PyArray_NDIM(like), PyArray_DIMS(like), PyArray_STRIDES(like),
      program.bases[buffer] + offset, NPY_ARRAY_WRITEABLE, nullptr));
  if (!view || PyArray_SetBaseObject(view.array(), Py_NewRef(self)) < 0) return nullptr;
  PyArray_UpdateFlags(view.array(),
                      NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS | NPY_ARRAY_ALIGNED);
  return view.release();
}

void destroy(PyObject* self) {
  Program* const program = reinterpret_cast<ProgramObject*>(self)->program;
  if (program != nullptr) Py_XDECREF(program->recorder);
  delete program;
  Py_TYPE(self)->tp_free(self);
}

template <typename Function>
PyCFunction as_method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

PyMethodDef methods[] = {
    {"bind", as_method(bind), METH_FASTCALL, nullptr},
    {"set_numbers", set_numbers, METH_O, nullptr},
    {"set_words", set_words, METH_O, nullptr},
    {"run", as_method(run), METH_FASTCALL, nullptr},
    {"array", array, METH_VARARGS, nullptr},
    {},
};

PyTypeObject program_type = [] {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "extensor._native.Program";
  type.tp_basicsize = sizeof(ProgramObject);
  type.tp_dealloc = destroy;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_methods = methods;
  type.tp_new = create;
  return type;
}();

}  // namespace

bool add_program_type(PyObject* module) {
  return PyType_Ready(&program_type) == 0 &&
         PyModule_AddObjectRef(module, "Program", reinterpret_cast<PyObject*>(&program_type)) == 0;
}

}  // namespace extensor
