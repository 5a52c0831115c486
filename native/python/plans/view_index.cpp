#include "view_index.h"

namespace extensor {
namespace {

// None or a number of Python's or NumPy's own classes: reading it runs no code of the user's, which
// could change the array that is indexed.
bool is_plain_part(PyObject* part) {
  return part == Py_None || PyLong_CheckExact(part) || PyArray_CheckAnyScalarExact(part);
}

bool is_view_item(PyObject* item) {
  if (PySlice_Check(item)) {
    const PySliceObject* slice = reinterpret_cast<PySliceObject*>(item);
    return is_plain_part(slice->start) && is_plain_part(slice->stop) && is_plain_part(slice->step);
  }
  return PyLong_CheckExact(item) || item == Py_None || item == Py_Ellipsis;
}

// A view as it comes to be, one item of the index after another.
class View {
 public:
  View(const Layout& x, Shape& shape, int64_t* strides, int64_t& offset)
      : x_(x), shape_(shape), strides_(strides), offset_(offset) {
    shape_.ndim = 0;
    offset_ = 0;
  }

  void add(int64_t length, int64_t stride) {
    shape_.lengths[shape_.ndim] = length;
    strides_[shape_.ndim++] = stride;
  }

  void keep(int axes) {
    for (const int end = axis_ + axes; axis_ < end; ++axis_) {
      add(x_.length(axis_), x_.strides[axis_]);
    }
  }

  bool select(PyObject* item) {
    const int64_t length = x_.length(axis_);
    const Py_ssize_t position = PyLong_AsSsize_t(item);
    if (position == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
    if (position < -length || position >= length) return false;
    offset_ += (position < 0 ? position + length : position) * x_.strides[axis_++];
    return true;
  }

  bool slice(PyObject* item) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(item, &start, &stop, &step) < 0) {
      if (!PyErr_ExceptionMatches(PyExc_MemoryError)) PyErr_Clear();
      return false;
    }
    const Py_ssize_t length = PySlice_AdjustIndices(x_.length(axis_), &start, &stop, step);
    const int64_t stride = x_.strides[axis_++];
    if (length == 0) {
      add(0, stride);
    } else {
      offset_ += start * stride;
      // A step beyond the array may be any number, and is never taken.
      add(length, static_cast<int64_t>(static_cast<uint64_t>(stride) * step));
    }
    return true;
  }

  int axes_left() const { return x_.ndim() - axis_; }

 private:
  const Layout& x_;
  Shape& shape_;
  int64_t* strides_;
  int64_t& offset_;
  int axis_ = 0;
};

}  // namespace

bool read_view_index(PyObject* index, const Layout& x, Shape& shape, int64_t* strides,
                     int64_t& offset) {
  const bool several = PyTuple_CheckExact(index);
  const Py_ssize_t given = several ? PyTuple_GET_SIZE(index) : 1;
  const auto item_at = [=](Py_ssize_t i) { return several ? PyTuple_GET_ITEM(index, i) : index; };
  Py_ssize_t selected = 0, sliced = 0, added = 0, dots = 0;
  for (Py_ssize_t i = 0; i < given; ++i) {
    PyObject* item = item_at(i);
    if (!is_view_item(item)) return false;
    selected += PyLong_CheckExact(item);
    added += item == Py_None;
    dots += item == Py_Ellipsis;
    sliced += PySlice_Check(item);
  }
  if (dots > 1 || selected + sliced > x.ndim() || x.ndim() - selected + added > kMaxDimensions) {
    return false;
  }
  View view(x, shape, strides, offset);
  for (Py_ssize_t i = 0; i < given; ++i) {
    PyObject* item = item_at(i);
    if (item == Py_None) {
      view.add(1, 0);
    } else if (item == Py_Ellipsis) {
      view.keep(static_cast<int>(x.ndim() - selected - sliced));
    } else if (!(PyLong_CheckExact(item) ? view.select(item) : view.slice(item))) {
      return false;
    }
  }
  view.keep(view.axes_left());
  return true;
}

}  // namespace extensor
