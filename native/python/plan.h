// From the arguments of a call to the call as a value. A plan function of each kernel reads
// Python's objects, declines what it was not written for, and says what is to be computed; it
// computes nothing.
#pragma once

#include <vector>

#include "../door/call.h"
#include "arrays.h"
#include "reference.h"

namespace extensor {

// The call, and the arrays it is first run with.
class Plan {
 public:
  Plan() = default;
  ~Plan() {
    for (PyObject* object : held_) Py_DECREF(object);
    for (int i = 0; i < held_inputs_; ++i) Py_DECREF(inputs()[i]);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  // The next input, an array that lives as long as the call's arguments. Returns its number.
  int add(PyObject* array) {
    if (count_ == kFew) many_.assign(few_, few_ + kFew);
    if (count_ >= kFew) {
      many_.push_back(array);
    } else {
      few_[count_] = array;
    }
    return count_++;
  }
  int add(PyObject* array, Layout& layout) {
    describe(reinterpret_cast<PyArrayObject*>(array), layout);
    return add(array);
  }
  // The next input, an item of a list, which another thread may take out of it: it is kept alive
  // until the call has ended. Inputs that are not come after all that are.
  int add_held(PyObject* array) {
    const int number = add(array);
    Py_INCREF(array);
    held_inputs_ = count_;
    return number;
  }
  // Makes room for the inputs of a whole model.
  void reserve(size_t inputs) {
    if (inputs > kFew) many_.reserve(inputs);
  }
  // Keeps an object alive until the call has ended: an array that the plan has made, or an item of
  // a list. Steals the reference.
  void hold(PyObject* object) { held_.push_back(object); }

  int input_count() const { return count_; }
  PyObject* const* inputs() const { return count_ > kFew ? many_.data() : few_; }

  PyObject* returned = nullptr;  // what a call gives that changes its inputs; borrowed

 private:
  static constexpr int kFew = 16;
  int count_ = 0, held_inputs_ = 0;
  std::vector<PyObject*> many_, held_;
  PyObject* few_[kFew];

 public:
  Call call;  // last, as it is large and mostly room
};

// False for arguments that are not for kernels: the messages are Python's. It never raises for
// them; false with a Python error set is a failure. `definition` is the row of the table that the
// kernel stands for.
using PlanFunction = bool (*)(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                              Plan& plan);

}  // namespace extensor
