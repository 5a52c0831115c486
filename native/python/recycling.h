// The beginning and the end of objects that every call makes and drops.
#pragma once

#include "interpreter.h"

namespace extensor {

// For one class of Python's whose objects have nothing but what a C structure `Object` has. Python
// ends the objects of its classes by a function that looks for all that a class might have; here an
// object is ended at once, and its memory serves the next one. Subclasses end theirs by Python's
// function, which comes here last.
//
// `kClear` gives up what an object holds and leaves null; `kIsPlain` tells whether it holds nothing
// that could end a chain of further objects.
template <typename Object, int (*kClear)(PyObject*), bool (*kIsPlain)(const Object&)>
class Recycling {
 public:
  static void take_over(PyTypeObject* type) {
    while (count_ > 0) PyObject_GC_Del(dead_[--count_]);
    const bool fits =
        type->tp_basicsize == sizeof(Object) && type->tp_itemsize == 0 && type->tp_dictoffset == 0;
    type_ = fits ? type : nullptr;
    if (fits) type->tp_dealloc = end;
  }

  // An object whose members are null; null with a Python error set.
  static PyObject* begin(PyTypeObject* type) {
    if (type != type_ || count_ == 0) return type->tp_alloc(type, 0);
    PyObject* self = PyObject_Init(dead_[--count_], type);
    PyObject_GC_Track(self);
    return self;
  }

  // Of the class itself, or as the base of another.
  static void end(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    if (type->tp_finalize != nullptr && PyObject_CallFinalizerFromDealloc(self) < 0) return;
    PyObject_GC_UnTrack(self);
    if (type->tp_weaklistoffset > 0) PyObject_ClearWeakRefs(self);
    if (kIsPlain(*reinterpret_cast<Object*>(self))) {
      kClear(self);
      give_back(self, type);
      return;
    }
    // Objects that hold each other in chains as long as a graph: the trashcan keeps the end of such
    // a chain from exhausting the stack.
    Py_TRASHCAN_BEGIN(self, end);
    kClear(self);
    give_back(self, type);
    Py_TRASHCAN_END;
  }

 private:
#if defined(__SANITIZE_ADDRESS__)
  static constexpr int kMostDead = 0;  // so that a use after the end is seen
#else
  static constexpr int kMostDead = 64;
#endif

  static void give_back(PyObject* self, PyTypeObject* type) {
    // A finalizer runs once in the life of an object, which its memory remembers.
    if (type == type_ && count_ < kMostDead && type->tp_finalize == nullptr) {
      dead_[count_++] = self;
    } else {
      type->tp_free(self);
    }
    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE) Py_DECREF(type);
  }

  static inline PyTypeObject* type_ = nullptr;
  static inline int count_ = 0;
  static inline PyObject* dead_[kMostDead + 1];
};

}  // namespace extensor
