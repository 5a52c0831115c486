// A kernel here takes lists of arrays, one list for each role (parameters, gradients, state), and
// numbers. An update returns the first list, whose arrays it has changed.
#include "../../drivers/optimizer.h"

#include <algorithm>
#include <cmath>

#include "../../drivers/copying.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

bool have_one_shape(PyArrayObject* a, PyArrayObject* b) {
  return PyArray_NDIM(a) == PyArray_NDIM(b) &&
         std::equal(PyArray_DIMS(a), PyArray_DIMS(a) + PyArray_NDIM(a), PyArray_DIMS(b));
}

// The dtype of a parameter, or of another array of the same parameter.
bool read_dtype(PyArrayObject* array, PyArrayObject* parameter, int role, ModelEntry& entry) {
  if (role > 0 && PyArray_TYPE(array) == PyArray_TYPE(parameter)) {
    entry.half[role] = entry.half[0];
    return true;
  }
  Storage storage;
  if (!find_storage(dtype_of(PyArray_TYPE(array)), storage)) return false;
  if (role == 0) entry.element = storage.element;
  entry.half[role] = storage.half;
  entry.any_half = entry.any_half || storage.half != nullptr;
  return storage.element == entry.element;
}

// One array of one parameter.
bool read_array(PyObject* object, size_t number, int role, Plan& plan, Model& model) {
  if (!is_plain_array(object)) return false;
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
  PyArrayObject* parameter =
      role == 0 ? array : reinterpret_cast<PyArrayObject*>(plan.inputs()[number]);
  ModelEntry& entry = model.entries[number];
  if (role == 0) entry.size = PyArray_SIZE(array);
  if (role > 0 && !have_one_shape(array, parameter)) return false;
  if (!read_dtype(array, parameter, role, entry)) return false;
  const bool contiguous = PyArray_IS_C_CONTIGUOUS(array);
  if (role != model.read_only && !(contiguous && PyArray_ISWRITEABLE(array))) return false;
  if (!contiguous) describe(array, model.copy_in_run(number));
  plan.add_held(object);
  return true;
}

// A role from `required` on may be an empty list. The parameters are the first inputs.
bool read_lists(PyObject* const* lists, int roles, int required, int read_only, Plan& plan,
                Model& model) {
  for (int role = 0; role < roles; ++role) {
    if (!PyList_CheckExact(lists[role])) return false;
  }
  const Py_ssize_t count = PyList_GET_SIZE(lists[0]);
  model.roles = roles;
  model.read_only = read_only;
  model.entries.resize(count);
  plan.reserve(count * roles);
  for (int role = 0; role < roles; ++role) {
    const Py_ssize_t length = PyList_GET_SIZE(lists[role]);
    const bool absent = length == 0 && role >= required;
    model.first[role] = absent ? -1 : plan.input_count();
    if (absent) continue;
    if (length != count) return false;
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (!read_array(PyList_GET_ITEM(lists[role], i), i, role, plan, model)) return false;
    }
  }
  return true;
}

// Python's and NumPy's floats, ints and bools.
bool read_attributes(PyObject* const* arguments, Py_ssize_t count, double* values) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (PyFloat_Check(arguments[i])) {
      values[i] = PyFloat_AS_DOUBLE(arguments[i]);
    } else if (!read_number(arguments[i], values[i])) {
      return false;
    }
  }
  return true;
}

int64_t nanoseconds_of_copies(const Model& model) {
  int64_t nanoseconds = 0;
  for (const Model::Strided& array : model.strided) {
    nanoseconds += nanoseconds_of_copy(array.layout);
  }
  return nanoseconds;
}

static_assert(kUpdateAttributes <= Call::kMaxNumbers);

bool plan_update(const void* definition, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  const UpdateKernel& kernel = *static_cast<const UpdateKernel*>(definition);
  if (count != kernel.arrays + kernel.attributes ||
      !read_attributes(arguments + kernel.arrays, kernel.attributes, plan.call.numbers)) {
    return false;
  }
  UpdateProblem& problem = plan.call.solved_by_shared<run_update>();
  problem.kernel = &kernel;
  Model& model = problem.model;
  if (!read_lists(arguments, kernel.arrays, kernel.required, kGradientRole, plan, model)) {
    return false;
  }
  model.finish(kernel.cost, false);
  plan.call.changed_inputs = plan.input_count();
  plan.call.nanoseconds = model.nanoseconds + nanoseconds_of_copies(model);
  plan.returned = arguments[0];
  return true;
}

bool plan_lamb(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  if (count != kLambArrays + kLambAttributes ||
      !read_attributes(arguments + kLambArrays, kLambAttributes, plan.call.numbers)) {
    return false;
  }
  Model& model = plan.call.solved_by_shared<run_lamb>();
  if (!read_lists(arguments, kLambArrays, kLambArrays, kGradientRole, plan, model)) return false;
  model.finish(Cost::medium, true);
  plan.call.changed_inputs = plan.input_count();
  plan.call.nanoseconds = 2 * model.nanoseconds + nanoseconds_of_copies(model);
  plan.returned = arguments[0];
  return true;
}

// A list of arrays and the order of the norm, 2 or infinity; gives a 0-d float64 array.
bool plan_norm(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  double order;
  if (count != 2 || !read_attributes(arguments + 1, 1, &order) ||
      !(order == 2 || order == HUGE_VAL)) {
    return false;
  }
  NormProblem& problem = plan.call.solved_by_shared<run_norm>();
  problem.largest = order != 2;
  if (!read_lists(arguments, 1, 1, 0, plan, problem.model)) return false;
  problem.model.finish(Cost::light, false);
  plan.call.nanoseconds = problem.model.nanoseconds + nanoseconds_of_copies(problem.model);
  plan.call.add_fresh(DType::float64, 0, nullptr);
  return true;
}

}  // namespace

bool add_optimizer_kernels(PyObject* kernels_by_name) {
  for (const UpdateKernel& kernel : kernels().updates) {
    if (!add_kernel(kernels_by_name, kernel.name, plan_update, &kernel)) return false;
  }
  return add_kernel(kernels_by_name, "lamb_update", plan_lamb, nullptr) &&
         add_kernel(kernels_by_name, "gradient_norm", plan_norm, nullptr);
}

}  // namespace extensor
