#pragma once

#include "arrays.h"

namespace extensor {

// A new reference that is given back at the end of its scope.
class Reference {
 public:
  Reference() = default;
  explicit Reference(PyObject* object) : object_(object) {}
  ~Reference() { Py_XDECREF(object_); }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  explicit operator bool() const { return object_ != nullptr; }
  PyObject* get() const { return object_; }
  PyArrayObject* array() const { return reinterpret_cast<PyArrayObject*>(object_); }
  // The memory of an array; null without one.
  char* data() const { return object_ == nullptr ? nullptr : PyArray_BYTES(array()); }
  PyObject* release() {
    PyObject* object = object_;
    object_ = nullptr;
    return object;
  }
  void reset(PyObject* object) {
    Py_XDECREF(object_);
    object_ = object;
  }

 private:
  PyObject* object_ = nullptr;
};

// Keeps objects alive until the end of its scope, while another thread may let go of them.
class Held {
 public:
  Held(PyObject* const* objects, Py_ssize_t count) : objects_(objects), count_(count) {
    for (Py_ssize_t i = 0; i < count_; ++i) Py_INCREF(objects_[i]);
  }
  ~Held() {
    for (Py_ssize_t i = 0; i < count_; ++i) Py_DECREF(objects_[i]);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  PyObject* const* objects_;
  const Py_ssize_t count_;
};

}  // namespace extensor
