#include "extremes.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "arguments.h"
#include "copying.h"
#include "kernel.h"
#include "operands.h"

namespace extensor {
namespace {

constexpr int64_t kRowPiece = 65536;   // elements of a row that one task looks at
constexpr int64_t kLongest = 1 << 24;  // float32 counts the winners of a column up to here
constexpr int64_t kColumnsPerTask = 256;

// The axes as (outer, reduced, inner); false if the reduced ones are not next to each other.
struct Split {
  int64_t outer = 1, r = 1, inner = 1;

  bool find(int ndim, const npy_intp* shape, const bool* reduced) {
    bool seen = false, left = false;
    for (int axis = 0; axis < ndim; ++axis) {
      if (shape[axis] == 1) continue;
      if (reduced[axis]) {
        if (left) return false;
        seen = true;
        r *= shape[axis];
      } else if (seen) {
        left = true;
        inner *= shape[axis];
      } else {
        outer *= shape[axis];
      }
    }
    return true;
  }
};

// Whether the gradient has the shape of x reduced.
bool fits(PyArrayObject* gradient, PyArrayObject* x, const bool* reduced, bool keepdims) {
  int place = 0;
  for (int axis = 0; axis < PyArray_NDIM(x); ++axis) {
    if (reduced[axis] && !keepdims) continue;
    const npy_intp expected = reduced[axis] ? 1 : PyArray_DIM(x, axis);
    if (place >= PyArray_NDIM(gradient) || PyArray_DIM(gradient, place) != expected) return false;
    ++place;
  }
  return place == PyArray_NDIM(gradient);
}

const Reduction& reduction_of(const ExtremeRule& rule) {
  const auto all = kernels().reductions;
  return *std::find_if(all.begin(), all.end(), [&](const Reduction& reduction) {
    return std::string_view(reduction.name) == rule.reduction;
  });
}

double value_at(Element element, const void* data) {
  return element == Element::float64 ? *static_cast<const double*>(data)
                                     : *static_cast<const float*>(data);
}

// One row, by many tasks: what is best, how many have it, what each gets.
void share_long_row(const ExtremeRule& rule, Element element, int64_t itemsize,
                    const char* gradient, const char* x, int64_t n, char* out) {
  const int type = static_cast<int>(element);
  const Reduction& reduction = reduction_of(rule);
  const int64_t pieces = (n - 1) / kRowPiece + 1;
  std::vector<double> bests(pieces);
  std::vector<int64_t> counts(pieces);
  const Cut tasks = cut(pieces, Cost::light, kRowPiece);
  const auto for_each_piece = [&](auto work) {
    parallel_chunks(tasks, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        const int64_t from = piece * kRowPiece;
        work(piece, from, std::min(kRowPiece, n - from));
      }
    });
  };
  for_each_piece([&](int64_t piece, int64_t from, int64_t length) {
    double best = 0;
    reduction.rows[type](x + from * itemsize, 1, length, &best);
    bests[piece] = value_at(element, &best);
  });
  double best = 0;
  const auto wide = static_cast<int>(Element::float64);
  reduction.rows[wide](bests.data(), 1, pieces, &best);
  for_each_piece([&](int64_t piece, int64_t from, int64_t length) {
    counts[piece] = rule.count[type](x + from * itemsize, length, best);
  });
  int64_t count = 0;
  for (const int64_t part : counts) count += part;
  const double incoming = value_at(element, gradient);
  for_each_piece([&](int64_t, int64_t from, int64_t length) {
    rule.share[type](x + from * itemsize, length, best, incoming, count, out + from * itemsize);
  });
}

void run(const ExtremeRule& rule, Element element, const Split& split, const char* gradient,
         const char* x, char* out) {
  const int type = static_cast<int>(element);
  const int64_t itemsize = element == Element::float64 ? 8 : 4;
  const auto [outer, r, inner] = split;
  Unlocked unlocked(outer * r * inner);
  if (inner > 1) {
    const int64_t tiles = (inner - 1) / kColumnsPerTask + 1;
    const int64_t per_tile = r * std::min(inner, kColumnsPerTask);
    parallel_chunks(cut(outer * tiles, Cost::medium, per_tile), [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t block = task / tiles, column = task % tiles * kColumnsPerTask;
        const int64_t at = (block * split.r * split.inner + column) * itemsize;
        rule.columns[type](gradient + (block * split.inner + column) * itemsize, x + at, split.r,
                           split.inner, std::min(kColumnsPerTask, split.inner - column), out + at);
      }
    });
  } else if (r <= kRowPiece) {
    parallel_chunks(cut(outer, Cost::medium, r), [&](int64_t begin, int64_t end) {
      const int64_t at = begin * split.r * itemsize;
      rule.rows[type](gradient + begin * itemsize, x + at, end - begin, split.r, out + at);
    });
  } else {
    for (int64_t row = 0; row < outer; ++row) {
      share_long_row(rule, element, itemsize, gradient + row * itemsize, x + row * r * itemsize, r,
                     out + row * r * itemsize);
    }
  }
}

// grad_output, x, axis, keepdims
PyObject* call_extreme_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const ExtremeRule& rule = *static_cast<const ExtremeRule*>(definition);
  if (count != 4 || !is_plain_array(arguments[0]) || !is_plain_array(arguments[1]) ||
      !PyBool_Check(arguments[3])) {
    return not_implemented();
  }
  PyArrayObject* gradient = reinterpret_cast<PyArrayObject*>(arguments[0]);
  PyArrayObject* x = reinterpret_cast<PyArrayObject*>(arguments[1]);
  Storage storage;
  Split split;
  bool reduced[kMaxDimensions];
  if (!find_storage(PyArray_TYPE(x), storage) || PyArray_TYPE(gradient) != storage.typenum ||
      PyArray_SIZE(x) == 0 || !read_axes(arguments[2], PyArray_NDIM(x), reduced) ||
      !fits(gradient, x, reduced, arguments[3] == Py_True) ||
      !split.find(PyArray_NDIM(x), PyArray_DIMS(x), reduced) ||
      (split.inner > 1 && split.r > kLongest)) {
    return not_implemented();
  }
  const int wide = storage.element == Element::float64 ? NPY_FLOAT64 : NPY_FLOAT32;
  Reference incoming(contiguous_as(gradient, wide));
  Reference source(incoming ? contiguous_as(x, wide) : nullptr);
  Reference result(source
                       ? new_array(wide, PyArray_NDIM(source.array()), PyArray_DIMS(source.array()))
                       : nullptr);
  if (!result) return nullptr;
  run(rule, storage.element, split, static_cast<const char*>(PyArray_DATA(incoming.array())),
      static_cast<const char*>(PyArray_DATA(source.array())),
      static_cast<char*>(PyArray_DATA(result.array())));
  return contiguous_as(result.array(), storage.typenum);
}

}  // namespace

bool add_extreme_kernels(PyObject* kernels_by_name) {
  for (const ExtremeRule& rule : kernels().extreme_rules) {
    if (!add_kernel(kernels_by_name, rule.name, call_extreme_rule, &rule)) return false;
  }
  return true;
}

}  // namespace extensor
