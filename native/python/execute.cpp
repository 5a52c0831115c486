#include "execute.h"

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
                                      PyArray_DATA(x), flags, nullptr));
  if (!view || PyArray_SetBaseObject(view.array(), Py_NewRef(object)) < 0) return nullptr;
  return view.release();
}

// The arrays of one run.
class Arrays {
 public:
  // Null with a Python error set.
  bool make(const Call& call, PyObject* const* inputs) {
    for (int i = 0; i < call.output_count(); ++i) {
      const Output& output = call.output(i);
      made_[i].reset(new_output(output, inputs));
      if (!made_[i]) return false;
      data_[i] = output.kind == Output::Kind::fresh ? made_[i].data() : nullptr;
    }
    return true;
  }

  char* const* data() const { return data_; }

  // What the call gives.
  PyObject* release(const Call& call) {
    if (!call.several) {
      for (int i = 0; i < call.output_count(); ++i) {
        if (call.output(i).returned) return made_[i].release();
      }
      return Py_NewRef(Py_None);
    }
    Py_ssize_t count = 0;
    for (int i = 0; i < call.output_count(); ++i) count += call.output(i).returned;
    PyObject* tuple = PyTuple_New(count);
    if (tuple == nullptr) return nullptr;
    for (int i = 0, place = 0; i < call.output_count(); ++i) {
      if (call.output(i).returned) PyTuple_SET_ITEM(tuple, place++, made_[i].release());
    }
    return tuple;
  }

 private:
  PyObject* new_output(const Output& output, PyObject* const* inputs) const {
    switch (output.kind) {
      case Output::Kind::absent:
        return Py_NewRef(Py_None);
      case Output::Kind::fresh:
        return new_array(typenum_of(output.dtype), output.shape.ndim,
                         as_intp(output.shape.lengths));
      case Output::Kind::same:
        return Py_NewRef(source_of(output, inputs));
      case Output::Kind::view:
        return view_of(source_of(output, inputs), output);
    }
    return nullptr;
  }
  PyObject* source_of(const Output& output, PyObject* const* inputs) const {
    return output.source < 0 ? made_[~output.source].get() : inputs[output.source];
  }

  Reference made_[Call::kMaxOutputs];
  char* data_[Call::kMaxOutputs];
};

}  // namespace

PyObject* run_call(const Call& call, PyObject* const* inputs, int input_count,
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
  try {
    Unlocked unlocked(call.nanoseconds);
    call.run({data, arrays.data(), numbers, words});
  } catch (const Declined&) {
    return not_implemented();
  }
  return arrays.release(call);
}

PyObject* compute(const Kernel& kernel, PyObject* const* arguments, Py_ssize_t count) {
  if (mode().formulas) return not_implemented();
  return guarded([&]() -> PyObject* {
    PyObject* result = nullptr;
    if (kernel.plan == nullptr) {
      result = kernel.call(kernel.definition, arguments, count);
    } else {
      Plan plan;
      if (kernel.plan(kernel.definition, arguments, count, plan)) {
        result = run_call(plan.call, plan.inputs(), plan.input_count(), plan.call.numbers,
                          plan.call.words);
        if (result != nullptr && plan.returned != nullptr) {
          Py_SETREF(result, Py_NewRef(plan.returned));
        }
      } else if (PyErr_Occurred() == nullptr) {
        return not_implemented();
      }
    }
    if (result != nullptr && result != Py_NotImplemented) return result;
    if (PyErr_Occurred() == nullptr) return result;
    // Arguments that could not be read for lack of memory are an error, not a reason to decline; a
    // shape that NumPy refuses is a reason, since Python explains it better.
    Py_XDECREF(result);
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) return nullptr;
    PyErr_Clear();
    return not_implemented();
  });
}

}  // namespace extensor
