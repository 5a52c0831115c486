// What a normalization works on: an array, the groups it falls into, and the statistics, weights
// and biases that Python gave.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "../kernels/tables.h"
#include "arguments.h"
#include "kernel.h"
#include "legacy_copying.h"
#include "legacy_operands.h"

namespace extensor::normalization {

inline PyArrayObject* as_array(PyObject* object) {
  return reinterpret_cast<PyArrayObject*>(object);
}
inline char* data_of(const Reference& array) {
  return static_cast<char*>(PyArray_DATA(array.array()));
}

inline int64_t product(const npy_intp* sizes, int count) {
  int64_t result = 1;
  for (int i = 0; i < count; ++i) result *= sizes[i];
  return result;
}

// How an array falls into groups. Across the batch a group is a channel, with a segment in every
// sample; else it is a run of memory, and the groups follow each other.
struct AxisLayout {
  int64_t groups = 0;
  Segments group{};
  bool across_batch = false;
  bool by_row = false;  // a weight for each element of a group, else for each segment
  int weight_axis = 1, weight_axes = 1;  // the axes of x that a weight has
  int64_t channels = 0;                  // numbers in a weight

  int64_t offset(int64_t index) const {
    return index * (across_batch ? group.length : group.count * group.length);
  }
  int64_t first_channel(int64_t index) const {
    if (across_batch) return index;
    return index * group.count % channels;
  }
  int64_t channel_step() const { return across_batch ? 0 : 1; }
  int64_t size() const { return group.count * group.length; }
  // The elements of a group without regard to channels.
  Segments run() const { return across_batch ? group : Segments{1, size(), size()}; }
  // Groups of single elements: the columns of a matrix.
  bool by_column() const { return across_batch && group.length == 1; }

  // normalized_shape, an int or a tuple: the last axes of x.
  bool read_last_axes(PyArrayObject* x, PyObject* shape) {
    npy_intp sizes[kMaxDimensions];
    const int ndim = PyArray_NDIM(x);
    if (!read_sizes(shape, sizes, weight_axes)) {
      weight_axes = 1;
      if (!read_per_axis(shape, 1, 1, sizes)) return false;
    }
    if (weight_axes == 0 || weight_axes > ndim ||
        !std::equal(sizes, sizes + weight_axes, PyArray_DIMS(x) + ndim - weight_axes)) {
      return false;
    }
    weight_axis = ndim - weight_axes;
    channels = product(sizes, weight_axes);
    groups = PyArray_SIZE(x) / channels;
    group = {1, channels, channels};
    by_row = true;
    return true;
  }
  // The channels of axis 1 in as many groups of one sample as given; each alone for 0.
  bool read_groups(PyArrayObject* x, int64_t count) {
    if (PyArray_NDIM(x) < 2) return false;
    channels = PyArray_DIM(x, 1);
    const int64_t places = PyArray_SIZE(x) / (PyArray_DIM(x, 0) * channels);
    by_row = count != 0 && places == 1;
    if (count == 0) count = channels;
    if (count < 0 || channels % count != 0) return false;
    groups = PyArray_DIM(x, 0) * count;
    group = {channels / count, places, places};
    if (by_row) group = run();
    return true;
  }
  bool read_channels(PyArrayObject* x) {
    if (PyArray_NDIM(x) < 2) return false;
    channels = groups = PyArray_DIM(x, 1);
    const int64_t places = PyArray_SIZE(x) / (PyArray_DIM(x, 0) * channels);
    group = {PyArray_DIM(x, 0), places, channels * places};
    across_batch = true;
    return true;
  }
};

// x, and where it is normalized by them the statistics that Python gave.
struct Problem {
  Storage storage;
  Reference x, running[2], parameters[2];  // the weight and the bias, null for None
  AxisLayout layout;
  bool around_mean = true;
  bool own = true;  // its own statistics
  double eps = 0;

  int element() const { return static_cast<int>(storage.element); }

  // True if x is for kernels: floating, and not empty.
  bool accepts(PyObject* object) {
    return is_plain_array(object) && find_storage(PyArray_TYPE(as_array(object)), storage) &&
           storage.half == nullptr && PyArray_SIZE(as_array(object)) > 0;
  }
  // None, or an array of the dtype with a number for each channel or element.
  bool is_parameter(PyObject* object, PyArrayObject* like) const {
    if (object == Py_None) return true;
    if (!is_plain_array(object)) return false;
    PyArrayObject* array = as_array(object);
    const npy_intp* sizes = PyArray_DIMS(like) + layout.weight_axis;
    return PyArray_TYPE(array) == storage.typenum && PyArray_NDIM(array) == layout.weight_axes &&
           std::equal(sizes, sizes + layout.weight_axes, PyArray_DIMS(array));
  }
  bool read_eps(PyObject* object) {
    if (object == Py_None && !around_mean) {
      eps = storage.element == Element::float64 ? std::numeric_limits<double>::epsilon()
                                                : std::numeric_limits<float>::epsilon();
      return true;
    }
    return read_number(object, eps);
  }
  // Both or none, floating, a number for each channel.
  bool has_statistics(PyObject* const* given) const {
    return std::all_of(given, given + 2, [&](PyObject* object) {
      return is_plain_array(object) && PyArray_NDIM(as_array(object)) == 1 &&
             PyArray_DIM(as_array(object), 0) == layout.channels &&
             can_cast(PyArray_TYPE(as_array(object)), NPY_FLOAT64);
    });
  }
  // Takes what was accepted, copied where it has gaps. False with a Python error set.
  bool hold(PyObject* object, PyObject* weight, PyObject* bias, PyObject* const* statistics) {
    x.reset(contiguous(as_array(object)));
    if (!x) return false;
    PyObject* const given[] = {weight, bias};
    for (int i = 0; i < 2; ++i) {
      if (given[i] == Py_None) continue;
      parameters[i].reset(contiguous(as_array(given[i])));
      if (!parameters[i]) return false;
    }
    for (int i = 0; statistics != nullptr && i < 2; ++i) {
      running[i].reset(contiguous_as(as_array(statistics[i]), NPY_FLOAT64));
      if (!running[i]) return false;
    }
    return true;
  }

  const char* group_data(int64_t index) const {
    return data_of(x) + layout.offset(index) * storage.itemsize;
  }
  // The weight or the bias, from a place in it on; null for None.
  const char* parameter(int which, int64_t skipped_bytes) const {
    return parameters[which] ? data_of(parameters[which]) + skipped_bytes : nullptr;
  }
  Affine affine_of(int64_t index) const {
    const int64_t skipped = layout.first_channel(index) * storage.itemsize;
    return {parameter(0, skipped), parameter(1, skipped), layout.channel_step()};
  }
  Moments moments_of(int64_t index) const {
    if (!own) return running_of(index);
    return kernels().normalization.moments[element()](group_data(index), layout.run(), eps);
  }
  // Without the variance, where it is found on the way.
  Moments mean_of(int64_t index) const {
    if (!own) return running_of(index);
    return kernels().normalization.mean[element()](group_data(index), layout.run());
  }
  Moments running_of(int64_t index) const {
    const int64_t channel = layout.first_channel(index);
    const double mean = reinterpret_cast<const double*>(data_of(running[0]))[channel];
    const double variance = reinterpret_cast<const double*>(data_of(running[1]))[channel];
    return {mean, 0, variance, 1 / std::sqrt(variance + eps)};
  }
};

}  // namespace extensor::normalization
