#include "recorder.h"

#include <algorithm>
#include <cstring>

#include "reference.h"

namespace extensor {
void bounds_of(PyArrayObject* array, char*& begin, int64_t& bytes) {
  begin = PyArray_BYTES(array);
  char* end = begin + PyArray_ITEMSIZE(array);
  for (int axis = 0; axis < PyArray_NDIM(array); ++axis) {
    const npy_intp extent = (PyArray_DIM(array, axis) - 1) * PyArray_STRIDE(array, axis);
    (extent < 0 ? begin : end) += extent;
  }
  bytes = PyArray_SIZE(array) == 0 ? 0 : end - begin;
}

Recorder::~Recorder() {
  release();
  for (RecordedCall& call : calls) {
    Py_DECREF(call.name);
    Py_XDECREF(call.attributes);
  }
}

void Recorder::release() {
  by_address_.clear();
  for (RecordedBuffer& buffer : buffers) {
    Py_CLEAR(buffer.array);
    Py_CLEAR(buffer.contents);
  }
}

int Recorder::add(PyObject* array, RecordedBuffer::Kind kind) {
  RecordedBuffer buffer;
  buffer.kind = kind;
  bounds_of(reinterpret_cast<PyArrayObject*>(array), buffer.begin, buffer.bytes);
  const int number = static_cast<int>(buffers.size());
  buffer.contents = nullptr;
  if (kind == RecordedBuffer::Kind::constant) {
    const npy_intp size = buffer.bytes;
    buffer.contents = new_array(DType::uint8, 1, &size);
    if (buffer.contents == nullptr) return -1;
    std::memcpy(PyArray_BYTES(reinterpret_cast<PyArrayObject*>(buffer.contents)), buffer.begin,
                buffer.bytes);
  }
  buffer.array = Py_NewRef(array);
  buffers.push_back(buffer);
  // Empty arrays have no memory to be found by.
  if (buffer.bytes > 0) by_address_[buffer.begin] = number;
  return number;
}

bool Recorder::knows(PyObject* array, Place& place) const {
  char* begin;
  int64_t bytes;
  bounds_of(reinterpret_cast<PyArrayObject*>(array), begin, bytes);
  auto next = by_address_.upper_bound(begin);
  if (bytes == 0 || next == by_address_.begin()) return false;
  const int number = std::prev(next)->second;
  const RecordedBuffer& buffer = buffers[number];
  if (begin + bytes > buffer.begin + buffer.bytes) return false;
  char* const first = PyArray_BYTES(reinterpret_cast<PyArrayObject*>(array));
  place = {number, first - buffer.begin};
  return true;
}

Py_ssize_t Recorder::references_to(PyObject* array) const {
  Place place;
  return PyArray_CheckExact(array) && knows(array, place) && buffers[place.buffer].array == array;
}

bool Recorder::find(PyObject* array, Place& place) {
  if (knows(array, place)) return true;
  // The whole array, if this one is a view: other views of it lie in the same buffer then.
  PyObject* whole = array;
  for (PyObject* base = array; base != nullptr && PyArray_CheckExact(base);) {
    whole = base;
    base = PyArray_BASE(reinterpret_cast<PyArrayObject*>(base));
  }
  const int number = add(whole, RecordedBuffer::Kind::constant);
  if (number < 0) return false;
  if (knows(array, place)) return true;
  char* const first = PyArray_BYTES(reinterpret_cast<PyArrayObject*>(array));
  place = {number, first - buffers[number].begin};
  return true;
}

bool Recorder::begin(const Call& call, PyObject* const* inputs, int count) {
  if (call.function() == nullptr) return true;
  inputs_.resize(count);
  for (int i = 0; i < count; ++i) {
    if (!find(inputs[i], inputs_[i])) return false;
  }
  return true;
}

bool Recorder::end(PyObject* name, const Call& call, PyObject* const* outputs,
                   const double* numbers, const uint64_t* words) {
  if (call.function() == nullptr) return true;  // views, which their addresses tell
  RecordedCall recorded;
  recorded.run = call.function();
  recorded.shared = call.shared_problem();
  if (!recorded.shared) {
    recorded.problem.resize((call.problem_bytes() + 63) / 64);
    std::memcpy(static_cast<void*>(recorded.problem.data()), call.problem(), call.problem_bytes());
  }
  recorded.inputs = std::move(inputs_);
  for (int i = 0; i < call.output_count(); ++i) {
    const bool computed = call.output(i).kind == Output::Kind::fresh;
    Place place = {-1, 0};
    if (computed) place.buffer = add(outputs[i], RecordedBuffer::Kind::fresh);
    if (computed && place.buffer < 0) return false;
    recorded.outputs.push_back(place);
  }
  std::copy_n(numbers, Call::kMaxNumbers, recorded.numbers);
  std::copy_n(words, Call::kMaxWords, recorded.words);
  recorded.nanoseconds = call.nanoseconds;
  recorded.depends_on_values = call.depends_on_values;
  recorded.changed_inputs = call.changed_inputs;
  recorded.name = Py_NewRef(name);
  recorded.attributes = nullptr;
  calls.push_back(std::move(recorded));
  return true;
}

bool Recorder::keep_attributes(PyObject* const* arguments, Py_ssize_t count) {
  Reference list(PyList_New(0));
  for (Py_ssize_t i = 0; list && i < count; ++i) {
    if (PyArray_Check(arguments[i]) || PyList_Check(arguments[i])) continue;
    if (PyList_Append(list.get(), arguments[i]) < 0) return false;
  }
  PyObject* const tuple = list ? PyList_AsTuple(list.get()) : nullptr;
  if (tuple != nullptr) calls.back().attributes = tuple;
  return tuple != nullptr;
}

namespace {

struct RecorderObject {
  PyObject_HEAD;
  Recorder* recorder;
};

Recorder& recorder_in(PyObject* self) { return *reinterpret_cast<RecorderObject*>(self)->recorder; }

bool needs_array(PyObject* object) {
  if (PyArray_CheckExact(object)) return true;
  PyErr_SetString(PyExc_TypeError, "Recorder: needs an array");
  return false;
}

// bind(array): the number of a new buffer, whose memory each run brings
template <RecordedBuffer::Kind kKind>
PyObject* add_buffer(PyObject* self, PyObject* array) {
  if (!needs_array(array)) return nullptr;
  return guarded([&]() -> PyObject* {
    const int number = recorder_in(self).add(array, kKind);
    return number < 0 ? nullptr : PyLong_FromLong(number);
  });
}

// place(array): the number of its buffer, and the byte at which it begins
PyObject* place_of(PyObject* self, PyObject* array) {
  if (!needs_array(array)) return nullptr;
  return guarded([&]() -> PyObject* {
    Place place;
    if (!recorder_in(self).find(array, place)) return nullptr;
    return Py_BuildValue("iL", place.buffer, static_cast<long long>(place.offset));
  });
}

PyObject* release(PyObject* self, PyObject*) {
  recorder_in(self).release();
  Py_RETURN_NONE;
}

// holds(array): whether its memory is known
PyObject* holds(PyObject* self, PyObject* array) {
  Place place;
  return PyBool_FromLong(PyArray_CheckExact(array) && recorder_in(self).knows(array, place));
}

// brings(array): the same of memory that each run fills anew
PyObject* brings(PyObject* self, PyObject* array) {
  const Recorder& recorder = recorder_in(self);
  Place place;
  return PyBool_FromLong(PyArray_CheckExact(array) && recorder.knows(array, place) &&
                         recorder.buffers[place.buffer].kind != RecordedBuffer::Kind::constant);
}

PyObject* places_as_list(const std::vector<Place>& places) {
  Reference list(PyList_New(static_cast<Py_ssize_t>(places.size())));
  if (!list) return nullptr;
  for (size_t i = 0; i < places.size(); ++i) {
    PyObject* pair =
        Py_BuildValue("iL", places[i].buffer, static_cast<long long>(places[i].offset));
    if (pair == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), pair);
  }
  return list.release();
}

// call(i): name, inputs, outputs, attributes, whether it depends on values, and how many inputs it
// changes
PyObject* describe_call(PyObject* self, PyObject* number) {
  const Recorder& recorder = recorder_in(self);
  const Py_ssize_t i = PyLong_AsSsize_t(number);
  if (i < 0 || i >= static_cast<Py_ssize_t>(recorder.calls.size())) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_IndexError, "Recorder: no such call");
    return nullptr;
  }
  const RecordedCall& call = recorder.calls[i];
  Reference inputs(places_as_list(call.inputs)), outputs(places_as_list(call.outputs));
  if (!inputs || !outputs) return nullptr;
  PyObject* const attributes = call.attributes == nullptr ? Py_None : call.attributes;
  return Py_BuildValue("OOOOOi", call.name, inputs.get(), outputs.get(), attributes,
                       call.depends_on_values ? Py_True : Py_False, call.changed_inputs);
}

// buffer(i): its kind, array, number of bytes, and the contents of a constant
PyObject* describe_buffer(PyObject* self, PyObject* number) {
  const Recorder& recorder = recorder_in(self);
  const Py_ssize_t i = PyLong_AsSsize_t(number);
  if (i < 0 || i >= static_cast<Py_ssize_t>(recorder.buffers.size())) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_IndexError, "Recorder: no such buffer");
    return nullptr;
  }
  const RecordedBuffer& buffer = recorder.buffers[i];
  constexpr const char* kinds[] = {"bound", "fresh", "constant"};
  const auto or_none = [](PyObject* object) { return object == nullptr ? Py_None : object; };
  return Py_BuildValue("sOLO", kinds[static_cast<int>(buffer.kind)], or_none(buffer.array),
                       static_cast<long long>(buffer.bytes), or_none(buffer.contents));
}

PyObject* count_calls(PyObject* self, void*) {
  return PyLong_FromSize_t(recorder_in(self).calls.size());
}
PyObject* count_buffers(PyObject* self, void*) {
  return PyLong_FromSize_t(recorder_in(self).buffers.size());
}

PyObject* create(PyTypeObject* type, PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    std::unique_ptr<Recorder> recorder(new Recorder);
    PyObject* self = type->tp_alloc(type, 0);
    if (self != nullptr) reinterpret_cast<RecorderObject*>(self)->recorder = recorder.release();
    return self;
  });
}

void destroy(PyObject* self) {
  delete reinterpret_cast<RecorderObject*>(self)->recorder;
  Py_TYPE(self)->tp_free(self);
}

PyMethodDef methods[] = {
    {"bind", add_buffer<RecordedBuffer::Kind::bound>, METH_O, nullptr},
    {"fresh", add_buffer<RecordedBuffer::Kind::fresh>, METH_O, nullptr},
    {"place", place_of, METH_O, nullptr},
    {"holds", holds, METH_O, nullptr},
    {"brings", brings, METH_O, nullptr},
    {"release", release, METH_NOARGS, nullptr},
    {"call", describe_call, METH_O, nullptr},
    {"buffer", describe_buffer, METH_O, nullptr},
    {},
};
PyGetSetDef properties[] = {
    {"calls", count_calls, nullptr, nullptr, nullptr},
    {"buffers", count_buffers, nullptr, nullptr, nullptr},
    {},
};

PyTypeObject recorder_type = [] {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "extensor._native.Recorder";
  type.tp_basicsize = sizeof(RecorderObject);
  type.tp_dealloc = destroy;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_methods = methods;
  type.tp_getset = properties;
  type.tp_new = create;
  return type;
}();

// The recorder that is at work in this thread; it keeps itself alive here.
PyObject*& active() {
  static thread_local PyObject* recorder = nullptr;
  return recorder;
}

// set_recorder(recorder or None): lets this one note the calls of this thread; returns the one
// before
PyObject* set_recorder(PyObject*, PyObject* object) {
  Recorder* const recorder = recorder_of(object);
  if (recorder == nullptr && object != Py_None) {
    PyErr_SetString(PyExc_TypeError, "set_recorder: needs a Recorder or None");
    return nullptr;
  }
  PyObject* const before = active();
  active() = recorder == nullptr ? nullptr : Py_NewRef(object);
  mode().recorder = recorder;
  return before == nullptr ? Py_NewRef(Py_None) : before;
}

PyMethodDef functions[] = {
    {"set_recorder", set_recorder, METH_O, nullptr},
    {},
};

}  // namespace

Recorder* recorder_of(PyObject* object) {
  return Py_TYPE(object) == &recorder_type ? reinterpret_cast<RecorderObject*>(object)->recorder
                                           : nullptr;
}

bool add_recorder_type(PyObject* module) {
  return PyType_Ready(&recorder_type) == 0 &&
         PyModule_AddObjectRef(module, "Recorder", reinterpret_cast<PyObject*>(&recorder_type)) ==
             0 &&
         PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace extensor
