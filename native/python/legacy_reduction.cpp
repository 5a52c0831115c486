#include "legacy_reduction.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "../runtime/memory.h"
#include "legacy_axis_rule.h"

namespace extensor {
inline namespace legacy {
namespace {

constexpr int64_t kRowPiece = 65536;    // elements of a row that one task reduces
constexpr int64_t kRowsPerPiece = 256;  // rows that one task adds into one
constexpr int64_t kColumnsPerTask = 4096;
constexpr int64_t kEnoughTasks = 8;  // beyond this many columns' tasks, rows are not cut as well

const Reduction* find_reduction(std::string_view name) {
  for (const Reduction& reduction : kernels().reductions) {
    if (name == reduction.name) return &reduction;
  }
  return nullptr;
}

// One step: (outer, r, inner) to (outer, inner), all contiguous.
struct Step {
  const Reduction& reduction;
  Element element;
  int64_t itemsize;
  int64_t outer, r, inner;
};

bool reduce_rows(const Step& step, const char* x, char* out) {
  const auto rows = step.reduction.rows[static_cast<int>(step.element)];
  const int64_t pieces = (step.r + kRowPiece - 1) / kRowPiece;
  if (pieces <= 1) {
    parallel_chunks(cut(step.outer, Cost::light, step.r), [&](int64_t begin, int64_t end) {
      rows(x + begin * step.r * step.itemsize, end - begin, step.r, out + begin * step.itemsize);
    });
    return true;
  }
  TemporaryBlock partial(step.outer * pieces * step.itemsize);
  if (partial.data() == nullptr) return false;
  parallel_chunks(
      cut(step.outer * pieces, Cost::light, kRowPiece), [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t row = task / pieces, from = task % pieces * kRowPiece;
          rows(x + (row * step.r + from) * step.itemsize, 1, std::min(kRowPiece, step.r - from),
               partial.data() + task * step.itemsize);
        }
      });
  const auto join = find_reduction(step.reduction.joined_by)->rows[static_cast<int>(step.element)];
  join(partial.data(), step.outer, pieces, out);
  return true;
}

bool reduce_columns(const Step& step, const char* x, char* out) {
  const auto columns = step.reduction.columns[static_cast<int>(step.element)];
  const int64_t tiles = (step.inner + kColumnsPerTask - 1) / kColumnsPerTask;
  const int64_t rows_per_piece = step.outer * tiles >= kEnoughTasks ? step.r : kRowsPerPiece;
  const int64_t pieces = (step.r + rows_per_piece - 1) / rows_per_piece;
  TemporaryBlock partial(pieces == 1 ? 0 : step.outer * pieces * step.inner * step.itemsize);
  if (partial.data() == nullptr) return false;
  char* target = pieces == 1 ? out : partial.data();
  const int64_t per_task = rows_per_piece * std::min(step.inner, kColumnsPerTask);
  parallel_chunks(
      cut(step.outer * pieces * tiles, Cost::light, per_task), [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t tile = task % tiles, piece = task / tiles % pieces;
          const int64_t block = task / tiles / pieces;
          const int64_t from = piece * rows_per_piece, column = tile * kColumnsPerTask;
          columns(x + ((block * step.r + from) * step.inner + column) * step.itemsize,
                  std::min(rows_per_piece, step.r - from), step.inner,
                  std::min(kColumnsPerTask, step.inner - column),
                  target + ((block * pieces + piece) * step.inner + column) * step.itemsize);
        }
      });
  if (pieces > 1) {
    const int64_t block_size = step.inner * step.itemsize;
    const Reduction* join = find_reduction(step.reduction.joined_by);
    for (int64_t block = 0; block < step.outer; ++block) {
      join->columns[static_cast<int>(step.element)](partial.data() + block * pieces * block_size,
                                                    pieces, step.inner, step.inner,
                                                    out + block * block_size);
    }
  }
  return true;
}

// Neighbouring axes that are all kept or all reduced, as one.
struct Group {
  int64_t size;
  bool reduced;
};

std::vector<Group> grouped(int ndim, const int64_t* shape, const bool* reduced) {
  std::vector<Group> groups;
  for (int axis = 0; axis < ndim; ++axis) {
    if (shape[axis] == 1) continue;
    if (!groups.empty() && groups.back().reduced == reduced[axis]) {
      groups.back().size *= shape[axis];
    } else {
      groups.push_back({shape[axis], reduced[axis]});
    }
  }
  return groups;
}

int64_t size_of(const std::vector<Group>& groups, size_t begin, size_t end) {
  int64_t size = 1;
  for (size_t i = begin; i < end; ++i) size *= groups[i].size;
  return size;
}

// Reduces contiguous memory, the innermost group of reduced axes first. False if there is no
// memory.
bool reduce(const Reduction& reduction, Element element, const char* x, std::vector<Group> groups,
            char* out) {
  const int64_t itemsize = element == Element::float64 ? 8 : 4;
  const auto is_reduced = [](const Group& group) { return group.reduced; };
  if (std::none_of(groups.begin(), groups.end(), is_reduced)) {
    std::memcpy(out, x, size_of(groups, 0, groups.size()) * itemsize);
    return true;
  }
  const auto found = std::find_if(groups.rbegin(), groups.rend(), is_reduced);
  const size_t at = groups.size() - 1 - (found - groups.rbegin());
  const Step step = {reduction,       element,
                     itemsize,        size_of(groups, 0, at),
                     groups[at].size, size_of(groups, at + 1, groups.size())};
  groups.erase(groups.begin() + at);
  if (std::none_of(groups.begin(), groups.end(), is_reduced)) {
    return step.inner == 1 ? reduce_rows(step, x, out) : reduce_columns(step, x, out);
  }
  TemporaryBlock partial(step.outer * step.inner * itemsize);
  if (partial.data() == nullptr) return false;
  return (step.inner == 1 ? reduce_rows(step, x, partial.data())
                          : reduce_columns(step, x, partial.data())) &&
         reduce(*find_reduction(reduction.joined_by), element, partial.data(), std::move(groups),
                out);
}

// The array's elements contiguous and in the type that kernels compute in. A new reference.
PyObject* contiguous_and_wide(PyArrayObject* x, const Storage& storage) {
  Reference source(contiguous(x));
  if (!source || storage.half == nullptr) return source.release();
  Reference wide(new_array(NPY_FLOAT32, PyArray_NDIM(x), PyArray_DIMS(x)));
  if (!wide) return nullptr;
  storage.half->widen(static_cast<const uint16_t*>(PyArray_DATA(source.array())),
                      static_cast<float*>(PyArray_DATA(wide.array())), PyArray_SIZE(x));
  return wide.release();
}

PyObject* narrowed(PyArrayObject* wide, const Storage& storage) {
  if (storage.half == nullptr) return Py_NewRef(reinterpret_cast<PyObject*>(wide));
  Reference result(new_array(storage.typenum, PyArray_NDIM(wide), PyArray_DIMS(wide)));
  if (!result) return nullptr;
  storage.half->narrow(static_cast<const float*>(PyArray_DATA(wide)),
                       static_cast<uint16_t*>(PyArray_DATA(result.array())), PyArray_SIZE(wide));
  return result.release();
}

// finish(results, their number) sees the results before they are narrowed; where it returns
// false they are not for kernels.
template <typename Finish>
PyObject* reduce_array(const Reduction& reduction, PyArrayObject* x, const Storage& storage,
                       const bool* reduced, int out_ndim, const npy_intp* out_shape,
                       Finish finish) {
  Reference source(contiguous_and_wide(x, storage));
  if (!source) return nullptr;
  const int wide_typenum = storage.element == Element::float64 ? NPY_FLOAT64 : NPY_FLOAT32;
  Reference result(new_array(wide_typenum, out_ndim, out_shape));
  if (!result) return nullptr;
  void* out = PyArray_DATA(result.array());
  bool done;
  {
    Unlocked unlocked(PyArray_SIZE(x) / 4);
    int64_t shape[kMaxDimensions];
    std::copy_n(PyArray_DIMS(x), PyArray_NDIM(x), shape);
    done =
        reduce(reduction, storage.element, static_cast<const char*>(PyArray_DATA(source.array())),
               grouped(PyArray_NDIM(x), shape, reduced), static_cast<char*>(out));
  }
  if (!done) return PyErr_NoMemory();
  const int64_t n = PyArray_SIZE(result.array());
  const bool well = storage.element == Element::float64 ? finish(static_cast<double*>(out), n)
                                                        : finish(static_cast<float*>(out), n);
  return well ? narrowed(result.array(), storage) : not_implemented();
}

auto divided_by(int64_t divisor) {
  return [divisor]<typename T>(T* values, int64_t n) {
    for (int64_t i = 0; divisor > 1 && i < n; ++i) values[i] /= static_cast<T>(divisor);
    return true;
  };
}

}  // namespace

int reduced_shape(PyArrayObject* x, const bool* reduced, bool keepdims, npy_intp* shape) {
  int ndim = 0;
  for (int axis = 0; axis < PyArray_NDIM(x); ++axis) {
    if (!reduced[axis]) shape[ndim++] = PyArray_DIM(x, axis);
    if (reduced[axis] && keepdims) shape[ndim++] = 1;
  }
  return ndim;
}

PyObject* sum_to_shape(PyArrayObject* x, int ndim, const npy_intp* shape) {
  Storage storage;
  find_storage(PyArray_TYPE(x), storage);
  bool reduced[kMaxDimensions];
  npy_intp out_shape[kMaxDimensions];
  const int added = PyArray_NDIM(x) - ndim;
  for (int axis = 0; axis < PyArray_NDIM(x); ++axis) {
    reduced[axis] = axis < added || (shape[axis - added] == 1 && PyArray_DIM(x, axis) != 1);
    if (axis >= added) out_shape[axis - added] = shape[axis - added];
  }
  if (PyArray_SIZE(x) == 0) {
    Reference zeros(new_array(storage.typenum, ndim, out_shape));
    if (zeros) std::memset(PyArray_DATA(zeros.array()), 0, PyArray_NBYTES(zeros.array()));
    return zeros.release();
  }
  static const Reduction* const sum = find_reduction("sum");
  return reduce_array(*sum, x, storage, reduced, ndim, out_shape, divided_by(1));
}

PyObject* summed_to(Reference& full, const ArrayView& input, const Shape& of_output) {
  if (!full) return Py_NewRef(Py_None);
  if (has_shape(input, of_output)) return full.release();
  npy_intp shape[kMaxDimensions];
  std::copy_n(input.shape, input.ndim, shape);
  return sum_to_shape(full.array(), input.ndim, shape);
}

PyObject* sum_and_divide(PyArrayObject* x, int64_t divisor) {
  Storage storage;
  find_storage(PyArray_TYPE(x), storage);
  bool reduced[kMaxDimensions];
  std::fill(reduced, reduced + PyArray_NDIM(x), true);
  return reduce_array(*find_reduction("sum"), x, storage, reduced, 0, nullptr, divided_by(divisor));
}

}  // namespace legacy
}  // namespace extensor
