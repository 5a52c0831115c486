#include <bit>

#include "../kernels/tables.h"
#include "families.h"
#include "kernel.h"

namespace extensor {
namespace {

bool read_word(PyObject* object, uint64_t& value) {
  if (!PyLong_CheckExact(object)) return false;
  value = PyLong_AsUnsignedLongLong(object);
  if (value != static_cast<uint64_t>(-1) || !PyErr_Occurred()) return true;
  PyErr_Clear();
  return false;
}

// What every fill is told first: seed, stream, number of the first block, shape and dtype.
struct Request {
  static constexpr Py_ssize_t kArguments = 5;
  RandomStream stream;
  int ndim = 0;
  npy_intp shape[kMaxDimensions];
  int typenum = -1;

  bool read(PyObject* const* arguments) {
    if (!read_word(arguments[0], stream.seed) || !read_word(arguments[1], stream.stream) ||
        !read_word(arguments[2], stream.block) || !PyTuple_CheckExact(arguments[3]) ||
        PyTuple_GET_SIZE(arguments[3]) > kMaxDimensions || !PyArray_DescrCheck(arguments[4])) {
      return false;
    }
    ndim = static_cast<int>(PyTuple_GET_SIZE(arguments[3]));
    for (int axis = 0; axis < ndim; ++axis) {
      uint64_t length;
      if (!read_word(PyTuple_GET_ITEM(arguments[3], axis), length) || length > INT64_MAX) {
        return false;
      }
      shape[axis] = static_cast<npy_intp>(length);
    }
    const PyArray_Descr* dtype = reinterpret_cast<PyArray_Descr*>(arguments[4]);
    typenum = dtype->type_num;
    return PyArray_ISNBO(dtype->byteorder);
  }
};

// Makes the array and calls fill(stream, n, out) for each chunk of it. A chunk is a whole number of
// blocks, so an element does not depend on how the work is cut.
template <typename Fill>
PyObject* filled(const Request& request, Cost cost, int64_t per_block, Fill fill) {
  Reference result(new_array(request.typenum, request.ndim, request.shape));
  if (!result) return nullptr;
  char* out = PyArray_BYTES(result.array());
  const int64_t itemsize = PyArray_ITEMSIZE(result.array());
  const Cut work = cut(PyArray_SIZE(result.array()), cost);
  {
    Unlocked unlocked(work.nanoseconds);
    parallel_chunks(work, [&](int64_t begin, int64_t end) {
      RandomStream stream = request.stream;
      stream.block += static_cast<uint64_t>(begin / per_block);
      fill(stream, end - begin, out + begin * itemsize);
    });
  }
  return result.release();
}

bool read_numbers(PyObject* const* arguments, int count, double* numbers) {
  for (int i = 0; i < count; ++i) {
    if (!PyFloat_CheckExact(arguments[i])) return false;
    numbers[i] = PyFloat_AS_DOUBLE(arguments[i]);
  }
  return true;
}

// Which of the two floating types is asked for; false for every other.
bool find_element(int typenum, Element& element) {
  element = typenum == NPY_FLOAT64 ? Element::float64 : Element::float32;
  return typenum == NPY_FLOAT64 || typenum == NPY_FLOAT32;
}

int64_t per_block(Element element) { return element == Element::float64 ? 2 : 4; }

PyObject* call_bits(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Request request;
  if (count != Request::kArguments || !request.read(arguments) || request.typenum != NPY_UINT32) {
    return not_implemented();
  }
  return filled(request, Cost::light, 4, kernels().random.bits);
}

// low, scale, last
PyObject* call_uniform(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Request request;
  Element element;
  double numbers[3];
  if (count != Request::kArguments + 3 || !request.read(arguments) ||
      !find_element(request.typenum, element) ||
      !read_numbers(arguments + Request::kArguments, 3, numbers)) {
    return not_implemented();
  }
  const auto fill = kernels().random.uniform[static_cast<int>(element)];
  const UniformRange range = {numbers[0], numbers[1], numbers[2]};
  return filled(request, Cost::medium, per_block(element),
                [&](RandomStream stream, int64_t n, void* out) { fill(stream, n, out, range); });
}

// mean, deviation
PyObject* call_normal(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Request request;
  Element element;
  double numbers[2];
  if (count != Request::kArguments + 2 || !request.read(arguments) ||
      !find_element(request.typenum, element) ||
      !read_numbers(arguments + Request::kArguments, 2, numbers)) {
    return not_implemented();
  }
  const auto fill = kernels().random.normal[static_cast<int>(element)];
  return filled(request, Cost::heavy, per_block(element),
                [&](RandomStream stream, int64_t n, void* out) {
                  fill(stream, n, out, numbers[0], numbers[1]);
                });
}

// low, span; negative numbers as their remainder modulo 2^64
PyObject* call_integers(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Request request;
  uint64_t low, span;
  if (count != Request::kArguments + 2 || !request.read(arguments) ||
      !(PyTypeNum_ISINTEGER(request.typenum) || PyTypeNum_ISBOOL(request.typenum)) ||
      !read_word(arguments[Request::kArguments], low) ||
      !read_word(arguments[Request::kArguments + 1], span)) {
    return not_implemented();
  }
  const auto itemsize = PyDataType_ELSIZE(reinterpret_cast<PyArray_Descr*>(arguments[4]));
  const auto fill = kernels().random.integers[std::countr_zero(static_cast<size_t>(itemsize))];
  return filled(request, Cost::medium, 2, [&](RandomStream stream, int64_t n, void* out) {
    fill(stream, n, out, low, span);
  });
}

// threshold
PyObject* call_bernoulli(const void*, PyObject* const* arguments, Py_ssize_t count) {
  Request request;
  uint64_t threshold;
  if (count != Request::kArguments + 1 || !request.read(arguments) ||
      !(request.typenum == NPY_BOOL || request.typenum == NPY_FLOAT32) ||
      !read_word(arguments[Request::kArguments], threshold) || threshold > uint64_t{1} << 32) {
    return not_implemented();
  }
  const bool as_float = request.typenum == NPY_FLOAT32;
  return filled(request, Cost::medium, 4, [&](RandomStream stream, int64_t n, void* out) {
    kernels().random.bernoulli(stream, n, out, threshold, as_float);
  });
}

}  // namespace

bool add_random_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "random_bits", call_bits, nullptr) &&
         add_kernel(kernels_by_name, "random_uniform", call_uniform, nullptr) &&
         add_kernel(kernels_by_name, "random_normal", call_normal, nullptr) &&
         add_kernel(kernels_by_name, "random_integers", call_integers, nullptr) &&
         add_kernel(kernels_by_name, "random_bernoulli", call_bernoulli, nullptr);
}

}  // namespace extensor
