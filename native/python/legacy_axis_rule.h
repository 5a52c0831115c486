// A rule along neighbouring axes: from a gradient for each row or column to one for each element.
#pragma once

#include <algorithm>

#include "arguments.h"
#include "kernel.h"
#include "legacy_copying.h"
#include "legacy_operands.h"
#include "legacy_reduction.h"

namespace extensor {
inline namespace legacy {

constexpr int64_t kColumnsPerRuleTask = 256;

struct AxisProblem {
  PyArrayObject *gradient = nullptr, *x = nullptr;
  Storage storage;
  int64_t outer = 1, r = 1, inner = 1;  // the axes of x; those in the middle are reduced
  Reference incoming, source, result;   // contiguous, in the type that kernels compute in

  // grad_output, x, axis, keepdims. False if they are not for kernels.
  bool read(PyObject* const* arguments) {
    if (!is_plain_array(arguments[0]) || !is_plain_array(arguments[1]) ||
        !PyBool_Check(arguments[3])) {
      return false;
    }
    gradient = reinterpret_cast<PyArrayObject*>(arguments[0]);
    x = reinterpret_cast<PyArrayObject*>(arguments[1]);
    bool reduced[kMaxDimensions];
    npy_intp shape[kMaxDimensions];
    if (!find_storage(PyArray_TYPE(x), storage) || PyArray_TYPE(gradient) != storage.typenum ||
        PyArray_SIZE(x) == 0 || !read_axes(arguments[2], PyArray_NDIM(x), reduced)) {
      return false;
    }
    const int ndim = reduced_shape(x, reduced, arguments[3] == Py_True, shape);
    return PyArray_NDIM(gradient) == ndim &&
           PyArray_CompareLists(PyArray_DIMS(gradient), shape, ndim) && split(reduced);
  }
  // Makes the arrays. False with a Python error set.
  bool hold() {
    incoming.reset(contiguous_as(gradient, typenum()));
    source.reset(incoming ? contiguous_as(x, typenum()) : nullptr);
    if (!source) return false;
    PyArrayObject* array = source.array();
    result.reset(new_array(typenum(), PyArray_NDIM(array), PyArray_DIMS(array)));
    return static_cast<bool>(result);
  }
  PyObject* narrowed() const { return contiguous_as(result.array(), storage.typenum); }

  int element() const { return static_cast<int>(storage.element); }
  int typenum() const { return storage.element == Element::float64 ? NPY_FLOAT64 : NPY_FLOAT32; }
  int64_t itemsize() const { return storage.element == Element::float64 ? 8 : 4; }
  const char* gradient_at(int64_t i) const {
    return PyArray_BYTES(incoming.array()) + i * itemsize();
  }
  const char* x_at(int64_t i) const { return PyArray_BYTES(source.array()) + i * itemsize(); }
  char* out_at(int64_t i) const { return PyArray_BYTES(result.array()) + i * itemsize(); }

  void run(const AxisRule& rule) const {
    if (inner == 1) {
      return parallel_chunks(cut(outer, Cost::medium, r), [&](int64_t begin, int64_t end) {
        const int64_t at = begin * r;
        rule.rows[element()](gradient_at(begin), x_at(at), end - begin, r, out_at(at));
      });
    }
    const int64_t tiles = (inner - 1) / kColumnsPerRuleTask + 1;
    const int64_t per_tile = r * std::min(inner, kColumnsPerRuleTask);
    parallel_chunks(cut(outer * tiles, Cost::medium, per_tile), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t block = task / tiles, column = task % tiles * kColumnsPerRuleTask;
        const int64_t at = block * r * inner + column;
        rule.columns[element()](gradient_at(block * inner + column), x_at(at), r, inner,
                                std::min(kColumnsPerRuleTask, inner - column), out_at(at));
      }
    });
  }

 private:
  // False if the reduced axes are not next to each other.
  bool split(const bool* reduced) {
    bool seen = false, left = false;
    for (int axis = 0; axis < PyArray_NDIM(x); ++axis) {
      const int64_t size = PyArray_DIM(x, axis);
      if (size == 1) continue;
      if (reduced[axis]) {
        if (left) return false;
        seen = true;
        r *= size;
      } else if (seen) {
        left = true;
        inner *= size;
      } else {
        outer *= size;
      }
    }
    return true;
  }
};

}  // namespace legacy
}  // namespace extensor
