#include "execute.h"

#include "recorder.h"

namespace extensor {
namespace {

static_assert(sizeof(npy_intp) == sizeof(int64_t));
const npy_intp* as_intp(const int64_t* sizes) { return reinterpret_cast<const npy_intp*>(sizes); }

// The memory of an array in another shape.
PyObject* view_of(PyObject* object, const Output& output) {
  PyArrayObject* x = reinterpret_cast<PyArrayObject*>(object);
  PyArray_Descr* descriptor = PyArray_DESCR(x);
  Py_INCREF(descriptor);
  const int flags = output.writeable ? PyArray_FLAGS(x) & NPY_ARRAY_WRITEABLE : 0;
  Reference view(PyArray_NewFromDescr(&PyArray_Type, descriptor, output.shape.ndim,
                                      as_intp(output.shape.lengths), as_intp(output.strides),
                                      PyArray_BYTES(x) + output.offset, flags, nullptr));
  if (!view || PyArray_SetBaseObject(view.array(), Py_NewRef(object)) < 0) return nullptr;
  return view.release();
}

// The arrays of one run.
class Arrays {
 public:
  Arrays() = default;
  ~Arrays() {
    while (count_ > 0) Py_XDECREF(made_[--count_]);
  }
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;

  // False with a Python error set.
  bool make(const Call& call, PyObject* const* inputs) {
    while (count_ < call.output_count()) {
      const Output& output = call.output(count_);
      PyObject* array = new_output(output, inputs);
      if (array == nullptr) return false;
      data_[count_] = output.kind == Output::Kind::fresh
                          ? PyArray_BYTES(reinterpret_cast<PyArrayObject*>(array))
                          : nullptr;
      made_[count_++] = array;
    }
    return true;
  }

  char* const* data() const { return data_; }
  PyObject* const* objects() const { return made_; }

  // What the call gives.
  PyObject* release(const Call& call) {
    Py_ssize_t count = 0;
    for (int i = 0; i < count_; ++i) {
      if (!call.output(i).returned) continue;
      if (!call.several) return taken(i);
      ++count;
    }
    if (!call.several) return Py_NewRef(Py_None);
    PyObject* tuple = PyTuple_New(count);
    if (tuple == nullptr) return nullptr;
    for (int i = 0, place = 0; i < count_; ++i) {
      if (call.output(i).returned) PyTuple_SET_ITEM(tuple, place++, taken(i));
    }
    return tuple;
  }

 private:
  PyObject* new_output(const Output& output, PyObject* const* inputs) const {
    switch (output.kind) {
      case Output::Kind::absent:
        return Py_NewRef(Py_None);
      case Output::Kind::fresh:
        return new_array(output.dtype, output.shape.ndim, as_intp(output.shape.lengths));
      case Output::Kind::same:
        return Py_NewRef(source_of(output, inputs));
      case Output::Kind::view:
        return view_of(source_of(output, inputs), output);
    }
    return nullptr;
  }
  PyObject* source_of(const Output& output, PyObject* const* inputs) const {
    return output.source < 0 ? made_[~output.source] : inputs[output.source];
  }
  PyObject* taken(int i) {
    PyObject* array = made_[i];
    made_[i] = nullptr;
    return array;
  }

  int count_ = 0;
  PyObject* made_[Call::kMaxOutputs];
  char* data_[Call::kMaxOutputs];
};

}  // namespace

PyObject* run_call(PyObject* name, const Call& call, PyObject* const* inputs, int input_count,
                   const double* numbers, const uint64_t* words, char** room) {
  constexpr int kFew = 16;
  char* few[kFew];
  std::vector<char*> many(input_count > kFew && room == nullptr ? input_count : 0);
  char** data = input_count <= kFew ? few : room == nullptr ? many.data() : room;
  for (int i = 0; i < input_count; ++i) {
    data[i] = PyArray_BYTES(reinterpret_cast<PyArrayObject*>(inputs[i]));
  }
  Arrays arrays;
  if (!arrays.make(call, inputs)) return nullptr;
  Recorder* const recorder = mode().recorder;
  if (recorder != nullptr && !recorder->begin(call, inputs, input_count)) return nullptr;
  try {
    Unlocked unlocked(call.nanoseconds);
    call.run({data, arrays.data(), numbers, words});
  } catch (const Declined&) {
    return not_implemented();
  }
  if (recorder != nullptr && !recorder->end(name, call, arrays.objects(), numbers, words)) {
    return nullptr;
  }
  return arrays.release(call);
}

PyObject* compute(const Kernel& kernel, PyObject* const* arguments, Py_ssize_t count) {
  if (mode().formulas) return not_implemented();
  return guarded([&]() -> PyObject* {
    Plan plan;
    if (kernel.plan(kernel.definition, arguments, count, plan)) {
      PyObject* result = run_call(kernel.name, plan.call, plan.inputs(), plan.input_count(),
                                  plan.call.numbers, plan.call.words);
      Recorder* const recorder = mode().recorder;
      const bool noted = recorder != nullptr && plan.call.function() != nullptr;
      if (noted && result != nullptr && result != Py_NotImplemented &&
          !recorder->keep_attributes(arguments, count)) {
        Py_CLEAR(result);
        return nullptr;
      }
      if (result != nullptr) {
        if (plan.returned != nullptr) Py_SETREF(result, Py_NewRef(plan.returned));
        return result;
      }
    }
    // Arguments that could not be read for lack of memory are an error, not a reason to decline; a
    // shape that NumPy refuses is a reason, since Python explains it better.
    if (PyErr_Occurred() != nullptr) {
      if (!PyErr_ExceptionMatches(PyExc_ValueError)) return nullptr;
      PyErr_Clear();
    }
    return not_implemented();
  });
}

}  // namespace extensor
