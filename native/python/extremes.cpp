#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <vector>

#include "families.h"
#include "legacy_axis_rule.h"

namespace extensor {
namespace {

constexpr int64_t kRowPiece = 65536;   // elements of a row that one task looks at
constexpr int64_t kLongest = 1 << 24;  // float32 counts the winners of a column up to here

const Reduction& reduction_of(std::string_view name) {
  const auto all = kernels().reductions;
  return *std::find_if(all.begin(), all.end(),
                       [&](const Reduction& reduction) { return name == reduction.name; });
}

double value_at(Element element, const void* data) {
  return element == Element::float64 ? *static_cast<const double*>(data)
                                     : *static_cast<const float*>(data);
}

// The best of a row that one task can look at.
double best_of(const Reduction& reduction, Element element, const char* x, int64_t n) {
  double best = 0;
  reduction.rows[static_cast<int>(element)](x, 1, n, &best);
  return value_at(element, &best);
}

// A row in pieces, each with its best.
struct LongRow {
  const char* x;
  int64_t n, itemsize;
  std::vector<double> bests;
  double best = 0;

  LongRow(const Reduction& reduction, Element element, const char* row, int64_t length)
      : x(row),
        n(length),
        itemsize(element == Element::float64 ? 8 : 4),
        bests((length - 1) / kRowPiece + 1) {
    for_each_piece([&](int64_t piece, int64_t from, int64_t length) {
      bests[piece] = best_of(reduction, element, x + from * itemsize, length);
    });
    const auto wide = static_cast<int>(Element::float64);
    reduction.rows[wide](bests.data(), 1, static_cast<int64_t>(bests.size()), &best);
  }
  template <typename Work>
  void for_each_piece(Work work) const {
    const Cut tasks = cut(static_cast<int64_t>(bests.size()), Cost::light, kRowPiece);
    parallel_chunks(tasks, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        const int64_t from = piece * kRowPiece;
        work(piece, from, std::min(kRowPiece, n - from));
      }
    });
  }
};

// One row, by many tasks: what is best, how many have it, what each gets.
void share_long_row(const ExtremeRule& rule, Element element, const char* gradient, const char* x,
                    int64_t n, char* out) {
  const int type = static_cast<int>(element);
  const LongRow row(reduction_of(rule.reduction), element, x, n);
  std::vector<int64_t> counts(row.bests.size());
  row.for_each_piece([&](int64_t piece, int64_t from, int64_t length) {
    counts[piece] = rule.count[type](x + from * row.itemsize, length, row.best);
  });
  const int64_t count = std::accumulate(counts.begin(), counts.end(), int64_t{0});
  const double incoming = value_at(element, gradient);
  row.for_each_piece([&](int64_t, int64_t from, int64_t length) {
    rule.share[type](x + from * row.itemsize, length, row.best, incoming, count,
                     out + from * row.itemsize);
  });
}

// grad_output, x, axis, keepdims
PyObject* call_extreme_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const ExtremeRule& rule = *static_cast<const ExtremeRule*>(definition);
  AxisProblem problem;
  if (count != 4 || !problem.read(arguments) || (problem.inner > 1 && problem.r > kLongest)) {
    return not_implemented();
  }
  if (!problem.hold()) return nullptr;
  {
    Unlocked unlocked(PyArray_SIZE(problem.source.array()));
    if (problem.inner > 1 || problem.r <= kRowPiece) {
      problem.run(rule.whole);
    } else {
      for (int64_t row = 0; row < problem.outer; ++row) {
        share_long_row(rule, problem.storage.element, problem.gradient_at(row),
                       problem.x_at(row * problem.r), problem.r, problem.out_at(row * problem.r));
      }
    }
  }
  return problem.narrowed();
}

// Where the best element of a row is.
struct Position {
  const char *name, *reduction;
};
constexpr Position kPositions[] = {{"argmax", "max_reduce"}, {"argmin", "min_reduce"}};

// In a long row the first piece with the best is the only one looked at again.
int64_t place_in_long_row(const Reduction& reduction, Element element, const char* x, int64_t n) {
  const LongRow row(reduction, element, x, n);
  const auto piece = std::find_if(row.bests.begin(), row.bests.end(), [&](double best) {
    return best == row.best || std::isnan(best);
  });
  const int64_t from = (piece - row.bests.begin()) * kRowPiece;
  return from + kernels().search.first[static_cast<int>(element)](
                    x + from * row.itemsize, std::min(kRowPiece, n - from), row.best);
}

void find_places(const Reduction& reduction, Element element, const char* x, int64_t rows,
                 int64_t n, int64_t* out) {
  const int64_t row_bytes = n * (element == Element::float64 ? 8 : 4);
  if (n > kRowPiece) {
    for (int64_t row = 0; row < rows; ++row) {
      out[row] = place_in_long_row(reduction, element, x + row * row_bytes, n);
    }
    return;
  }
  const auto search = kernels().search.first[static_cast<int>(element)];
  parallel_chunks(cut(rows, Cost::light, n + 16), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const char* own = x + row * row_bytes;
      out[row] = search(own, n, best_of(reduction, element, own, n));
    }
  });
}

// x, axis, keepdims: all axes or the last one.
PyObject* call_position(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const Position& position = *static_cast<const Position*>(definition);
  if (count != 3 || !is_plain_array(arguments[0]) || !PyBool_Check(arguments[2])) {
    return not_implemented();
  }
  PyArrayObject* x = reinterpret_cast<PyArrayObject*>(arguments[0]);
  const int ndim = PyArray_NDIM(x);
  Storage storage;
  int axis = ndim - 1;
  bool reduced[kMaxDimensions];
  npy_intp shape[kMaxDimensions];
  if (!find_storage(PyArray_TYPE(x), storage) || PyArray_SIZE(x) == 0 ||
      !read_axes(arguments[1], ndim, reduced) ||
      (arguments[1] != Py_None && (!read_axis(arguments[1], ndim, axis) || axis != ndim - 1))) {
    return not_implemented();
  }
  const int out_ndim = reduced_shape(x, reduced, arguments[2] == Py_True, shape);
  const bool wide = storage.element == Element::float64;
  Reference source(contiguous_as(x, wide ? NPY_FLOAT64 : NPY_FLOAT32));
  Reference result(source ? new_array(NPY_INT64, out_ndim, shape) : nullptr);
  if (!result) return nullptr;
  const int64_t rows = PyArray_SIZE(result.array()), n = PyArray_SIZE(source.array()) / rows;
  Unlocked unlocked(rows * n / 4);
  find_places(reduction_of(position.reduction), storage.element, PyArray_BYTES(source.array()),
              rows, n, static_cast<int64_t*>(PyArray_DATA(result.array())));
  return result.release();
}

}  // namespace

bool add_extreme_kernels(PyObject* kernels_by_name) {
  for (const Position& position : kPositions) {
    if (!add_kernel(kernels_by_name, position.name, call_position, &position)) return false;
  }
  for (const ExtremeRule& rule : kernels().extreme_rules) {
    if (!add_kernel(kernels_by_name, rule.name, call_extreme_rule, &rule)) return false;
  }
  return true;
}

}  // namespace extensor
