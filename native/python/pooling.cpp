#include <algorithm>

#include "../kernels/tables.h"
#include "arguments.h"
#include "families.h"
#include "kernel.h"
#include "legacy_copying.h"
#include "legacy_operands.h"

namespace extensor {
namespace {

constexpr npy_intp kMaxPlane = npy_intp{1} << 30;  // places in a plane fit into 32 bits

// (batch, channels, ...) with one or two axes of at least one element more.
struct Planes {
  int axes = 0;
  npy_intp shape[4];
  npy_intp count = 0;
  npy_intp height = 1, width = 1;

  bool read(int ndim, const npy_intp* given, int wanted_axes) {
    if (ndim != wanted_axes + 2) return false;
    axes = wanted_axes;
    std::copy_n(given, ndim, shape);
    if (std::any_of(shape, shape + 2, [](npy_intp n) { return n < 0; }) ||
        __builtin_mul_overflow(shape[0], shape[1], &count)) {
      return false;
    }
    if (axes == 2) height = shape[2];
    width = shape[axes + 1];
    return height > 0 && width > 0 && height < kMaxPlane && width < kMaxPlane && size() < kMaxPlane;
  }
  bool read(PyArrayObject* array, int wanted_axes) {
    return read(PyArray_NDIM(array), PyArray_DIMS(array), wanted_axes);
  }
  bool read(PyObject* tuple, int wanted_axes) {
    npy_intp sizes[kMaxDimensions];
    int ndim;
    return read_sizes(tuple, sizes, ndim) && read(ndim, sizes, wanted_axes);
  }
  int64_t size() const { return height * width; }
  bool has_shape(PyArrayObject* array, npy_intp rows, npy_intp columns) const {
    return PyArray_NDIM(array) == axes + 2 && PyArray_DIM(array, 0) == shape[0] &&
           PyArray_DIM(array, 1) == shape[1] && (axes == 1 || PyArray_DIM(array, 2) == rows) &&
           PyArray_DIM(array, axes + 1) == columns;
  }
};

// The windows that Python calls kernel_size, stride, padding, dilation and ceil_mode.
struct Windows {
  npy_intp kernel[2], stride[2], padding[2], dilation[2] = {1, 1};
  bool up;

  // `dilations` is null where there are none.
  bool read(PyObject* const* arguments, PyObject* dilations, PyObject* ceil_mode, int axes) {
    if (!read_per_axis(arguments[0], axes, 1, kernel) ||
        !read_per_axis(arguments[1] == Py_None ? arguments[0] : arguments[1], axes, 1, stride) ||
        !read_per_axis(arguments[2], axes, 0, padding) ||
        (dilations != nullptr && !read_per_axis(dilations, axes, 1, dilation)) ||
        !PyBool_Check(ceil_mode)) {
      return false;
    }
    up = ceil_mode == Py_True;
    return true;
  }

  // False if no window fits.
  bool along(int axis, npy_intp in, WindowAxis& result) const {
    const npy_intp k = kernel[axis], s = stride[axis], p = padding[axis], d = dilation[axis];
    if (2 * p > k || k > kMaxPlane / d) return false;
    const npy_intp room = in + 2 * p - d * (k - 1) - 1 + (up ? s - 1 : 0);
    if (room < 0) return false;
    npy_intp out = room / s + 1;
    if (up && (out - 1) * s >= in + p) --out;
    result = {in, k, out, s, p, d};
    return out > 0;
  }

  bool over(const Planes& planes, Pooling& pooling) const {
    pooling.rows = {1, 1, 1, 1, 0, 1};
    return (planes.axes == 1 || along(0, planes.height, pooling.rows)) &&
           along(planes.axes - 1, planes.width, pooling.columns) &&
           pooling.columns.kernel <= kMaxPooled;
  }
};

// An array of floats to read, in memory that kernels can walk.
struct Source {
  PyArrayObject* array = nullptr;
  Storage storage;
  Reference memory;

  bool accept(PyObject* object) {
    if (!is_plain_array(object)) return false;
    array = reinterpret_cast<PyArrayObject*>(object);
    return find_storage(PyArray_TYPE(array), storage);
  }
  // False with a Python error set.
  bool open() {
    memory.reset(contiguous_as(array, wide()));
    return static_cast<bool>(memory);
  }
  int wide() const { return storage.element == Element::float64 ? NPY_FLOAT64 : NPY_FLOAT32; }
  int element() const { return static_cast<int>(storage.element); }
  // The plane of this number, where each has `size` elements.
  const char* plane(int64_t number, int64_t size) const {
    const int64_t itemsize = storage.element == Element::float64 ? 8 : 4;
    return static_cast<const char*>(PyArray_DATA(memory.array())) + number * size * itemsize;
  }
};

// Runs work(first plane, number of planes, memory of the result) over all planes, in tasks, and
// gives the result in the type of the source.
template <typename Work>
PyObject* over_planes(const Source& source, const Planes& planes, npy_intp rows, npy_intp columns,
                      Work work) {
  npy_intp shape[4] = {planes.shape[0], planes.shape[1], rows, columns};
  if (planes.axes == 1) shape[2] = columns;
  Reference result(new_array(source.wide(), planes.axes + 2, shape));
  if (!result) return nullptr;
  char* out = static_cast<char*>(PyArray_DATA(result.array()));
  const int64_t bytes = rows * columns * PyArray_ITEMSIZE(result.array());
  const int64_t elements = std::max<int64_t>(planes.size(), rows * columns);
  const Cut pieces = cut(planes.count, Cost::medium, elements);
  {
    Unlocked unlocked(pieces.nanoseconds);
    parallel_chunks(
        pieces, [&](int64_t begin, int64_t end) { work(begin, end - begin, out + begin * bytes); });
  }
  return contiguous_as(result.array(), source.storage.typenum);
}

// x, kernel_size, stride, padding, dilation, ceil_mode
template <int kAxes>
PyObject* call_max_pool(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Planes planes;
  Windows windows;
  Pooling p;
  Source x;
  if (count != 6 || !x.accept(arguments[0]) || !planes.read(x.array, kAxes) ||
      !windows.read(arguments + 1, arguments[4], arguments[5], kAxes) || !windows.over(planes, p)) {
    return not_implemented();
  }
  if (!x.open()) return nullptr;
  return over_planes(
      x, planes, p.rows.out, p.columns.out, [&](int64_t first, int64_t n, char* out) {
        kernels().max_pooling.planes[x.element()](x.plane(first, planes.size()), n, p, out);
      });
}

// grad_output, x, kernel_size, stride, padding, dilation, ceil_mode
PyObject* call_max_rule(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Planes planes;
  Windows windows;
  Pooling p;
  Source gradient, x;
  if (count != 7 || !gradient.accept(arguments[0]) || !x.accept(arguments[1]) ||
      x.storage.typenum != gradient.storage.typenum || !planes.read(x.array, 2) ||
      !windows.read(arguments + 2, arguments[5], arguments[6], 2) || !windows.over(planes, p) ||
      !planes.has_shape(gradient.array, p.rows.out, p.columns.out)) {
    return not_implemented();
  }
  if (!gradient.open() || !x.open()) return nullptr;
  return over_planes(
      x, planes, planes.height, planes.width, [&](int64_t first, int64_t n, char* out) {
        kernels().max_pooling.rule[x.element()](gradient.plane(first, p.rows.out * p.columns.out),
                                                x.plane(first, planes.size()), n, p, out);
      });
}

// x, kernel_size, stride, padding, ceil_mode, count_include_pad and, of planes, divisor_override
template <int kAxes>
PyObject* call_avg_pool(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Planes planes;
  Windows windows;
  Pooling p;
  Source x;
  if (count != (kAxes == 2 ? 7 : 6) || (kAxes == 2 && arguments[6] != Py_None) ||
      !x.accept(arguments[0]) || !planes.read(x.array, kAxes) ||
      !windows.read(arguments + 1, nullptr, arguments[4], kAxes) || !windows.over(planes, p) ||
      !PyBool_Check(arguments[5])) {
    return not_implemented();
  }
  if (!x.open()) return nullptr;
  const bool with_padding = arguments[5] == Py_True;
  return over_planes(x, planes, p.rows.out, p.columns.out,
                     [&](int64_t first, int64_t n, char* out) {
                       kernels().mean_pooling.planes[x.element()](x.plane(first, planes.size()), n,
                                                                  p, with_padding, out);
                     });
}

// grad_output, input_shape, kernel_size, stride, padding, ceil_mode, count_include_pad,
// divisor_override
PyObject* call_avg_rule(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Planes planes;
  Windows windows;
  Pooling p;
  Source gradient;
  if (count != 8 || arguments[7] != Py_None || !gradient.accept(arguments[0]) ||
      !planes.read(arguments[1], 2) || !windows.read(arguments + 2, nullptr, arguments[5], 2) ||
      !windows.over(planes, p) || !PyBool_Check(arguments[6]) ||
      !planes.has_shape(gradient.array, p.rows.out, p.columns.out)) {
    return not_implemented();
  }
  if (!gradient.open()) return nullptr;
  const bool with_padding = arguments[6] == Py_True;
  return over_planes(
      gradient, planes, planes.height, planes.width, [&](int64_t first, int64_t n, char* out) {
        kernels().mean_pooling.rule[gradient.element()](
            gradient.plane(first, p.rows.out * p.columns.out), n, p, with_padding, out);
      });
}

// An int or an int for each axis; None leaves an axis as it is.
bool read_output_size(PyObject* object, const Planes& planes, npy_intp& rows, npy_intp& columns) {
  const npy_intp own[] = {planes.height, planes.width};
  const int skipped = 2 - planes.axes;
  npy_intp sizes[2] = {1, 1};
  const bool each = PyTuple_CheckExact(object);
  if (each && PyTuple_GET_SIZE(object) != planes.axes) return false;
  for (int axis = 0; axis < planes.axes; ++axis) {
    PyObject* wanted = each ? PyTuple_GET_ITEM(object, axis) : object;
    npy_intp& size = sizes[skipped + axis];
    if (wanted == Py_None) {
      size = own[skipped + axis];
    } else if (!read_per_axis(wanted, 1, 1, &size)) {
      return false;
    }
  }
  rows = sizes[0];
  columns = sizes[1];
  return rows < kMaxPlane / columns;
}

// x, output_size
template <int kAxes>
PyObject* call_adaptive(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Planes planes;
  npy_intp rows, columns;
  Source x;
  if (count != 2 || !x.accept(arguments[0]) || !planes.read(x.array, kAxes) ||
      !read_output_size(arguments[1], planes, rows, columns)) {
    return not_implemented();
  }
  if (!x.open()) return nullptr;
  return over_planes(x, planes, rows, columns, [&](int64_t first, int64_t n, char* out) {
    kernels().mean_pooling.adaptive[x.element()](x.plane(first, planes.size()), n, planes.height,
                                                 planes.width, rows, columns, out);
  });
}

// grad_output, input_shape, output_size
PyObject* call_adaptive_rule(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Planes planes;
  npy_intp rows, columns;
  Source gradient;
  if (count != 3 || !gradient.accept(arguments[0]) || !planes.read(arguments[1], 2) ||
      !read_output_size(arguments[2], planes, rows, columns) ||
      !planes.has_shape(gradient.array, rows, columns)) {
    return not_implemented();
  }
  if (!gradient.open()) return nullptr;
  return over_planes(gradient, planes, planes.height, planes.width,
                     [&](int64_t first, int64_t n, char* out) {
                       kernels().mean_pooling.adaptive_rule[gradient.element()](
                           gradient.plane(first, rows * columns), n, planes.height, planes.width,
                           rows, columns, out);
                     });
}

}  // namespace

bool add_pooling_kernels(PyObject* by_name) {
  return add_kernel(by_name, "max_pool1d", call_max_pool<1>, nullptr) &&
         add_kernel(by_name, "max_pool2d", call_max_pool<2>, nullptr) &&
         add_kernel(by_name, "max_pool2d_backward", call_max_rule, nullptr) &&
         add_kernel(by_name, "avg_pool1d", call_avg_pool<1>, nullptr) &&
         add_kernel(by_name, "avg_pool2d", call_avg_pool<2>, nullptr) &&
         add_kernel(by_name, "avg_pool2d_backward", call_avg_rule, nullptr) &&
         add_kernel(by_name, "adaptive_avg_pool1d", call_adaptive<1>, nullptr) &&
         add_kernel(by_name, "adaptive_avg_pool2d", call_adaptive<2>, nullptr) &&
         add_kernel(by_name, "adaptive_avg_pool2d_backward", call_adaptive_rule, nullptr);
}

}  // namespace extensor
