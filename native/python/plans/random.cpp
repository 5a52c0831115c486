#include "../../drivers/random.h"

#include "../kernel.h"
#include "families.h"

namespace extensor {
namespace {

bool read_word(PyObject* object, uint64_t& value) {
  if (!PyLong_CheckExact(object)) return false;
  value = PyLong_AsUnsignedLongLong(object);
  if (value != static_cast<uint64_t>(-1) || !PyErr_Occurred()) return true;
  PyErr_Clear();
  return false;
}

bool read_words(PyObject* const* arguments, int count, uint64_t* words) {
  for (int i = 0; i < count; ++i) {
    if (!read_word(arguments[i], words[i])) return false;
  }
  return true;
}

bool read_floats(PyObject* const* arguments, int count, double* numbers) {
  for (int i = 0; i < count; ++i) {
    if (!PyFloat_CheckExact(arguments[i])) return false;
    numbers[i] = PyFloat_AS_DOUBLE(arguments[i]);
  }
  return true;
}

// A shape and its number of elements; false for one that NumPy refuses, even if it is empty.
bool read_lengths(PyObject* tuple, DType dtype, int64_t* lengths, int64_t& size) {
  size = 1;
  int64_t bytes = size_of(dtype);
  for (Py_ssize_t axis = 0; axis < PyTuple_GET_SIZE(tuple); ++axis) {
    uint64_t length;
    if (!read_word(PyTuple_GET_ITEM(tuple, axis), length) || length > INT64_MAX) return false;
    lengths[axis] = static_cast<int64_t>(length);
    if (length != 0 && __builtin_mul_overflow(bytes, lengths[axis], &bytes)) return false;
    size *= lengths[axis];
  }
  return true;
}

// What every fill is told first: seed, stream, number of the first block, shape and dtype.
constexpr Py_ssize_t kCommonArguments = 5;
static_assert(kFirstOwnWord == 3);

bool read_request(PyObject* const* arguments, Cost cost, Plan& plan, RandomProblem& problem) {
  PyObject* shape = arguments[3];
  if (!read_words(arguments, kFirstOwnWord, plan.call.words) || !PyTuple_CheckExact(shape) ||
      PyTuple_GET_SIZE(shape) > kMaxDimensions || !PyArray_DescrCheck(arguments[4])) {
    return false;
  }
  const PyArray_Descr* dtype = reinterpret_cast<PyArray_Descr*>(arguments[4]);
  problem.dtype = dtype_of(dtype->type_num);
  if (problem.dtype == DType::other) return false;
  int64_t lengths[kMaxDimensions], size;
  if (!PyArray_ISNBO(dtype->byteorder) || !read_lengths(shape, problem.dtype, lengths, size))
    return false;
  plan.call.add_fresh(problem.dtype, static_cast<int>(PyTuple_GET_SIZE(shape)), lengths);
  new (&problem.work) Cut(cut(size, cost));  // in place: a copy would wait for its parts
  plan.call.nanoseconds = problem.work.nanoseconds;
  return true;
}

bool plan_bits(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  RandomProblem& problem = plan.call.solved_by<run_random_bits>();
  return count == kCommonArguments && read_request(arguments, Cost::light, plan, problem) &&
         problem.dtype == DType::uint32;
}

// low, scale, last
bool plan_uniform(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  RandomProblem& problem = plan.call.solved_by<run_random_uniform>();
  return count == kCommonArguments + 3 && read_request(arguments, Cost::medium, plan, problem) &&
         is_computed(problem.dtype) &&
         read_floats(arguments + kCommonArguments, 3, plan.call.numbers);
}

// mean, deviation
bool plan_normal(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  RandomProblem& problem = plan.call.solved_by<run_random_normal>();
  return count == kCommonArguments + 2 && read_request(arguments, Cost::heavy, plan, problem) &&
         is_computed(problem.dtype) &&
         read_floats(arguments + kCommonArguments, 2, plan.call.numbers);
}

// low, span; negative numbers as their remainder modulo 2^64
bool plan_integers(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  RandomProblem& problem = plan.call.solved_by<run_random_integers>();
  return count == kCommonArguments + 2 && read_request(arguments, Cost::medium, plan, problem) &&
         problem.dtype <= DType::uint64 &&
         read_words(arguments + kCommonArguments, 2, plan.call.words + kFirstOwnWord);
}

// threshold
bool plan_bernoulli(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  RandomProblem& problem = plan.call.solved_by<run_random_bernoulli>();
  uint64_t* own = plan.call.words + kFirstOwnWord;
  return count == kCommonArguments + 1 && read_request(arguments, Cost::medium, plan, problem) &&
         (problem.dtype == DType::boolean || problem.dtype == DType::float32) &&
         read_word(arguments[kCommonArguments], *own) && *own <= uint64_t{1} << 32;
}

}  // namespace

bool add_random_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "random_bits", plan_bits, nullptr) &&
         add_kernel(kernels_by_name, "random_uniform", plan_uniform, nullptr) &&
         add_kernel(kernels_by_name, "random_normal", plan_normal, nullptr) &&
         add_kernel(kernels_by_name, "random_integers", plan_integers, nullptr) &&
         add_kernel(kernels_by_name, "random_bernoulli", plan_bernoulli, nullptr);
}

}  // namespace extensor
