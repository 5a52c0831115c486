#define EXTENSOR_IMPORTS_NUMPY
#include "arrays.h"

#if !defined(_WIN32)
#include <dlfcn.h>
#endif

#include <iterator>

#include "../runtime/memory.h"

namespace extensor {
namespace {

// The capsule must be named so for NumPy to accept it.
constexpr char kHandlerCapsuleName[] = "mem_handler";
// The domain under which NumPy reports its data to tracemalloc, and forgets it when it frees.
constexpr unsigned int kTraceDomain = 389047;

// Looked up at run time because the headers before Python 3.13 declare PyTraceMalloc_Track with C++
// linkage, under which it does not exist. Without it, tracemalloc misses our arrays, nothing more.
using TrackMemory = int (*)(unsigned int domain, uintptr_t address, size_t bytes);
TrackMemory track_memory = nullptr;

TrackMemory find_track_memory() {
#if defined(_WIN32)
  return nullptr;
#else
  return reinterpret_cast<TrackMemory>(dlsym(RTLD_DEFAULT, "PyTraceMalloc_Track"));
#endif
}

int registered_bfloat16 = -1;
// NumPy's descriptors of our dtypes, held for ever; null for one that is not registered yet.
PyArray_Descr* descriptors[static_cast<int>(DType::other)] = {};

bool find_descriptors() {
  constexpr int kTypes[] = {NPY_BOOL,   NPY_INT8,   NPY_INT16,  NPY_INT32,   NPY_INT64,   NPY_UINT8,
                            NPY_UINT16, NPY_UINT32, NPY_UINT64, NPY_FLOAT32, NPY_FLOAT64, NPY_HALF};
  static_assert(std::size(kTypes) == static_cast<size_t>(DType::bfloat16));
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    if (descriptors[i] == nullptr) descriptors[i] = PyArray_DescrFromType(kTypes[i]);
    if (descriptors[i] == nullptr) return false;
  }
  return true;
}

PyObject* handler_capsule = nullptr;

void* handler_allocate(void*, size_t bytes) { return allocate_block(bytes); }
void* handler_reallocate(void*, void* data, size_t bytes) { return reallocate_block(data, bytes); }
void handler_release(void*, void* data, size_t) { release_block(data); }

void* handler_allocate_zeroed(void*, size_t count, size_t itemsize) {
  size_t bytes = 0;
  return __builtin_mul_overflow(count, itemsize, &bytes) ? nullptr : allocate_zeroed_block(bytes);
}

PyDataMem_Handler pool_handler = {
    "extensor_pool",
    1,
    {nullptr, handler_allocate, handler_allocate_zeroed, handler_reallocate, handler_release}};

// Objects would need initialising, strings and structures may have subarrays or no size: those are
// left to NumPy.
bool is_plain_number(const PyArray_Descr* descriptor) {
  const int typenum = descriptor->type_num;
  return PyTypeNum_ISNUMBER(typenum) || PyTypeNum_ISBOOL(typenum) || typenum == registered_bfloat16;
}

bool bytes_of(npy_intp itemsize, int ndim, const npy_intp* shape, npy_intp& bytes) {
  bytes = itemsize;
  bool valid = true;
  for (int axis = 0; axis < ndim; ++axis) {
    valid &= shape[axis] >= 0 && !__builtin_mul_overflow(bytes, shape[axis], &bytes);
  }
  return valid;
}

// The only place that reaches into NumPy's array structure: no function of its API gives an array
// both memory and the handler that frees it. The field is part of NumPy's ABI since 1.22.
void give_block(PyObject* array, void* block, npy_intp bytes) {
  auto* fields = reinterpret_cast<PyArrayObject_fields*>(array);
  fields->flags |= NPY_ARRAY_OWNDATA;
  fields->mem_handler = Py_NewRef(handler_capsule);
  if (track_memory != nullptr) {
    track_memory(kTraceDomain, reinterpret_cast<uintptr_t>(block), static_cast<size_t>(bytes));
  }
}

// Steals the reference to the descriptor, as NumPy's functions do.
PyObject* new_array_stealing(PyArray_Descr* descriptor, int ndim, const npy_intp* shape) {
  npy_intp bytes = 0;
  if (!is_plain_number(descriptor) ||
      !bytes_of(PyDataType_ELSIZE(descriptor), ndim, shape, bytes)) {
    return PyArray_NewFromDescr(&PyArray_Type, descriptor, ndim, shape, nullptr, nullptr, 0,
                                nullptr);
  }
  void* block = allocate_block(static_cast<size_t>(bytes));
  if (block == nullptr) {
    Py_DECREF(descriptor);
    return PyErr_Format(PyExc_MemoryError, "out of memory: an array needs %zd bytes", bytes);
  }
  PyObject* array = PyArray_NewFromDescr(&PyArray_Type, descriptor, ndim, shape, nullptr, block,
                                         NPY_ARRAY_CARRAY, nullptr);
  if (array == nullptr) {
    release_block(block);
    return nullptr;
  }
  give_block(array, block, bytes);
  return array;
}

}  // namespace

bool import_numpy() {
  if (PyArray_ImportNumPyAPI() < 0) return false;
  track_memory = find_track_memory();
  if (handler_capsule == nullptr) {
    handler_capsule = PyCapsule_New(&pool_handler, kHandlerCapsuleName, nullptr);
  }
  return handler_capsule != nullptr && find_descriptors();
}

bool set_bfloat16_typenum(int typenum) {
  PyArray_Descr* descriptor =
      PyTypeNum_ISUSERDEF(typenum) ? PyArray_DescrFromType(typenum) : nullptr;
  if (descriptor == nullptr || PyDataType_ELSIZE(descriptor) != 2) {
    Py_XDECREF(descriptor);
    PyErr_SetString(PyExc_ValueError, "register_bfloat16: needs the number of a type of two bytes");
    return false;
  }
  registered_bfloat16 = typenum;
  Py_XSETREF(descriptors[static_cast<int>(DType::bfloat16)], descriptor);
  return true;
}

PyObject* new_array(DType dtype, int ndim, const npy_intp* shape) {
  return new_array(descriptors[static_cast<int>(dtype)], ndim, shape);
}

PyObject* new_array(PyArray_Descr* descriptor, int ndim, const npy_intp* shape) {
  Py_INCREF(descriptor);
  return new_array_stealing(descriptor, ndim, shape);
}

DType other_dtype_of(int typenum) {
  switch (typenum) {
    case NPY_BOOL:
      return DType::boolean;
    case NPY_BYTE:
      return DType::int8;
    case NPY_UBYTE:
      return DType::uint8;
    case NPY_HALF:
      return DType::float16;
    default:
      break;
  }
  // Several of NumPy's types are the same integer.
  if (PyTypeNum_ISINTEGER(typenum)) {
    constexpr DType kSigned[] = {DType::int16, DType::int32, DType::int64};
    constexpr DType kUnsigned[] = {DType::uint16, DType::uint32, DType::uint64};
    const int size = typenum == NPY_SHORT || typenum == NPY_USHORT                        ? 0
                     : typenum == NPY_INT || typenum == NPY_UINT                          ? 1
                     : sizeof(long) == 4 && (typenum == NPY_LONG || typenum == NPY_ULONG) ? 1
                                                                                          : 2;
    return PyTypeNum_ISUNSIGNED(typenum) ? kUnsigned[size] : kSigned[size];
  }
  return typenum >= 0 && typenum == registered_bfloat16 ? DType::bfloat16 : DType::other;
}

}  // namespace extensor
