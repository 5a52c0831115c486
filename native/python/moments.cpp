#include <atomic>
#include <cmath>

#include "arguments.h"
#include "families.h"
#include "kernel.h"
#include "legacy_copying.h"
#include "legacy_operands.h"
#include "legacy_reduction.h"
#include "moments_groups.h"

namespace extensor {
namespace {

using moments::Groups;
using moments::Layout;
using moments::Wanted;

// x and the axes over which it is reduced.
struct Problem {
  PyArrayObject* x = nullptr;
  Storage storage;
  bool reduced[kMaxDimensions];
  npy_intp shape[kMaxDimensions];  // of the result
  int ndim = 0;
  Layout layout;

  bool read(PyObject* object, PyObject* axes, PyObject* keepdims) {
    if (!is_plain_array(object) || !PyBool_Check(keepdims)) return false;
    x = reinterpret_cast<PyArrayObject*>(object);
    if (!find_storage(PyArray_TYPE(x), storage) || PyArray_SIZE(x) == 0 ||
        !read_axes(axes, PyArray_NDIM(x), reduced)) {
      return false;
    }
    ndim = reduced_shape(x, reduced, keepdims == Py_True, shape);
    return layout.find(PyArray_NDIM(x), PyArray_DIMS(x), reduced);
  }
  // Whether an array has a number for each group.
  bool fits(PyObject* object) const {
    if (!is_plain_array(object)) return false;
    PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
    return PyArray_TYPE(array) == storage.typenum && PyArray_NDIM(array) == ndim &&
           PyArray_CompareLists(PyArray_DIMS(array), shape, ndim);
  }
  bool is_wide() const { return storage.element == Element::float64; }
  int typenum() const { return is_wide() ? NPY_FLOAT64 : NPY_FLOAT32; }
};

struct Spread {
  const char* name;
  bool root;
};
constexpr Spread kSpreads[] = {{"var", false}, {"std", true}};

// Variances, or their roots. What is not finite is left to the formula: false.
template <typename T>
bool write_spreads(const Moments* found, int64_t count, double n, double freedom, bool root,
                   T* out) {
  bool finite = true;
  for (int64_t i = 0; i < count; ++i) {
    const double variance = found[i].variance * n / freedom;
    finite &= std::isfinite(found[i].variance);
    out[i] = static_cast<T>(root ? std::sqrt(variance) : variance);
  }
  return finite;
}

// x, axis, keepdims, ddof
PyObject* call_spread(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const Spread& spread = *static_cast<const Spread*>(definition);
  Problem problem;
  double ddof;
  if (count != 4 || !problem.read(arguments[0], arguments[1], arguments[2]) ||
      !read_number(arguments[3], ddof)) {
    return not_implemented();
  }
  Reference source(contiguous_as(problem.x, problem.typenum()));
  Reference result(source ? new_array(problem.typenum(), problem.ndim, problem.shape) : nullptr);
  if (!result) return nullptr;
  const double n = static_cast<double>(problem.layout.size()), freedom = n > ddof ? n - ddof : 0;
  void* const out = PyArray_DATA(result.array());
  std::atomic<bool> finite = true;
  bool done;
  {
    Unlocked unlocked(PyArray_SIZE(source.array()) / 4);
    const Groups groups(problem.layout, problem.storage.element, PyArray_DATA(source.array()));
    done = groups.find(Wanted::variance, [&](int64_t first, int64_t count, const Moments* found) {
      const bool well = problem.is_wide() ? write_spreads(found, count, n, freedom, spread.root,
                                                          static_cast<double*>(out) + first)
                                          : write_spreads(found, count, n, freedom, spread.root,
                                                          static_cast<float*>(out) + first);
      if (!well) finite.store(false, std::memory_order_relaxed);
    });
  }
  if (!done) return PyErr_NoMemory();
  if (!finite) return not_implemented();
  return contiguous_as(result.array(), problem.storage.typenum);
}

// Rules whose gradient is (x - centre) * factor * grad_output / size, with a size for each group.
struct SpreadRule {
  const char* name;
  Wanted centre;
  bool has_size;  // the output
  double factor;  // before the division by n - ddof, where there is one
};
constexpr SpreadRule kRules[] = {{"var_backward", Wanted::mean, false, 2},
                                 {"std_backward", Wanted::mean, true, 1},
                                 {"norm_backward", Wanted::nothing, true, 1}};

// The scale of each group is its gradient times the factor, over its size; 0 where that is 0. False
// for what is left to the formula: means that are not finite, and scales that are not, or have lost
// digits.
template <typename T>
bool set_scales(const T* gradients, const T* sizes, double factor, int64_t count, Moments* found) {
  bool good = true;
  for (int64_t i = 0; i < count; ++i) {
    const double size = sizes == nullptr ? 1 : sizes[i];
    const bool zero = gradients[i] == 0 || size == 0;
    found[i].scale = zero ? 0 : gradients[i] * factor / size;
    good &= std::isfinite(found[i].first + found[i].shift + size) &&
            (zero || std::isnormal(static_cast<T>(found[i].scale)));
  }
  return good;
}

PyObject* run_rule(const SpreadRule& rule, const Problem& problem, PyObject* gradient,
                   PyObject* output, double factor) {
  Reference given(contiguous_as(reinterpret_cast<PyArrayObject*>(gradient), problem.typenum()));
  Reference source(given ? contiguous_as(problem.x, problem.typenum()) : nullptr);
  Reference result(source ? new_array(problem.typenum(), PyArray_NDIM(source.array()),
                                      PyArray_DIMS(source.array()))
                          : nullptr);
  if (!result) return nullptr;
  Reference size;
  if (output != nullptr) {
    size.reset(contiguous_as(reinterpret_cast<PyArrayObject*>(output), problem.typenum()));
    if (!size) return nullptr;
  }
  std::atomic<bool> good = true;
  bool done;
  {
    Unlocked unlocked(PyArray_SIZE(source.array()) / 4);
    const void* const gradients = PyArray_DATA(given.array());
    const void* const sizes = size ? PyArray_DATA(size.array()) : nullptr;
    const auto set = [&]<typename T>(T, int64_t first, int64_t count, Moments* found) {
      const T* own_sizes = sizes == nullptr ? nullptr : static_cast<const T*>(sizes) + first;
      return set_scales(static_cast<const T*>(gradients) + first, own_sizes, factor, count, found);
    };
    const Groups groups(problem.layout, problem.storage.element, PyArray_DATA(source.array()));
    done = groups.find_and_scale(rule.centre, PyArray_DATA(result.array()),
                                 [&](int64_t first, int64_t count, Moments* found) {
                                   const bool well = problem.is_wide()
                                                         ? set(0.0, first, count, found)
                                                         : set(0.0f, first, count, found);
                                   if (!well) good.store(false, std::memory_order_relaxed);
                                 });
  }
  if (!done) return PyErr_NoMemory();
  if (!good) return not_implemented();
  return contiguous_as(result.array(), problem.storage.typenum);
}

// grad_output, x, output if the rule has it, axis, keepdims, ddof
PyObject* call_spread_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const SpreadRule& rule = *static_cast<const SpreadRule*>(definition);
  PyObject* const* attributes = arguments + 2 + rule.has_size;
  Problem problem;
  double ddof;
  if (count != 5 + rule.has_size || !problem.read(arguments[1], attributes[0], attributes[1]) ||
      !problem.fits(arguments[0]) || (rule.has_size && !problem.fits(arguments[2])) ||
      !read_number(attributes[2], ddof)) {
    return not_implemented();
  }
  const double freedom = static_cast<double>(problem.layout.size()) - ddof;
  if (!(freedom > 0)) return not_implemented();
  return run_rule(rule, problem, arguments[0], rule.has_size ? arguments[2] : nullptr,
                  rule.factor / freedom);
}

// grad_output, x, output, ord, axis, keepdims
PyObject* call_norm_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count) {
  const SpreadRule& rule = *static_cast<const SpreadRule*>(definition);
  Problem problem;
  double ord;
  if (count != 6 || !problem.read(arguments[1], arguments[4], arguments[5]) ||
      !problem.fits(arguments[0]) || !problem.fits(arguments[2]) ||
      !read_number(arguments[3], ord) || ord != 2) {
    return not_implemented();
  }
  return run_rule(rule, problem, arguments[0], arguments[2], rule.factor);
}

}  // namespace

bool add_moment_kernels(PyObject* kernels_by_name) {
  for (const Spread& spread : kSpreads) {
    if (!add_kernel(kernels_by_name, spread.name, call_spread, &spread)) return false;
  }
  for (const SpreadRule& rule : kRules) {
    const KernelCall call = rule.centre == Wanted::nothing ? call_norm_rule : call_spread_rule;
    if (!add_kernel(kernels_by_name, rule.name, call, &rule)) return false;
  }
  return true;
}

}  // namespace extensor
