// setitem, and index_set and index_add of what a view shows.
#include "assignment.h"

#include <algorithm>
#include <cstdlib>

#include "../../drivers/assignment.h"
#include "../../drivers/copying.h"
#include "../../drivers/elementwise.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"
#include "view_index.h"

namespace extensor {
namespace {

// The first and the last byte of an array's elements.
struct Span {
  const char *first, *last;
};
Span span_of(const Layout& layout, PyObject* array) {
  const char* data = PyArray_BYTES(reinterpret_cast<PyArrayObject*>(array));
  Span span = {data, data + layout.itemsize - 1};
  for (int axis = 0; axis < layout.ndim(); ++axis) {
    const int64_t reach = (layout.length(axis) - 1) * layout.strides[axis];
    (reach < 0 ? span.first : span.last) += reach;
  }
  return span;
}

bool may_overlap(const Layout& a, PyObject* first, const Layout& b, PyObject* second) {
  if (a.size == 0 || b.size == 0) return false;
  const Span x = span_of(a, first), y = span_of(b, second);
  return x.first <= y.last && y.first <= x.last;
}

// Whether each element of an array has memory of its own, as far as strides say so at once.
bool has_distinct_elements(const Layout& layout) {
  if (layout.size < 2) return true;
  int order[kMaxDimensions], axes = 0;
  for (int axis = 0; axis < layout.ndim(); ++axis) {
    if (layout.length(axis) > 1) order[axes++] = axis;
  }
  const auto step = [&](int axis) { return std::abs(layout.strides[axis]); };
  std::sort(order, order + axes, [&](int a, int b) { return step(a) < step(b); });
  int64_t extent = layout.itemsize;
  for (int i = 0; i < axes; ++i) {
    if (step(order[i]) < extent) return false;
    extent += (layout.length(order[i]) - 1) * step(order[i]);
  }
  return true;
}

bool broadcasts_to(const Shape& shape, const Shape& whole) {
  const int added = whole.ndim - shape.ndim;
  if (added < 0) return false;
  for (int axis = 0; axis < shape.ndim; ++axis) {
    if (shape.lengths[axis] != 1 && shape.lengths[axis] != whole.lengths[added + axis])
      return false;
  }
  return true;
}

bool is_in_c_order(const Layout& layout) {
  int64_t stride = layout.itemsize;
  for (int axis = layout.ndim() - 1; axis >= 0; --axis) {
    if (layout.length(axis) != 1 && layout.strides[axis] != stride) return false;
    stride *= layout.length(axis);
  }
  return true;
}

// The part of x, or of a copy of it in C order, that the index shows.
bool read_part(PyObject* index, const Layout& x, AssignmentProblem& problem) {
  Layout& part = problem.part;
  part.dtype = x.dtype;
  part.itemsize = x.itemsize;
  if (!read_view_index(index, x, part.shape, part.strides, problem.offset)) return false;
  part.size = part.shape.size();
  part.c_contiguous = is_in_c_order(part);
  return true;
}

// An array that broadcasts to the part, or a number.
bool read_value(PyObject* value, Plan& plan, AssignmentProblem& problem) {
  const Layout& part = problem.part;
  if (!PyArray_Check(value)) {
    problem.value = -1;
    return read_number_of(part.dtype, value, plan.call.numbers[0]);
  }
  problem.value = plan.input_count();
  return add_array(value, plan, problem.layout) &&
         broadcasts_to(problem.layout.shape, part.shape) &&
         (problem.layout.dtype == part.dtype || can_cast(problem.layout.dtype, part.dtype));
}

// array, index, value; gives the array
bool plan_setitem(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  AssignmentProblem& problem = plan.call.solved_by<run_assignment>();
  Layout& x = problem.x;
  if (count != 3 || !add_array(arguments[0], plan, x) || !x.writeable || !is_movable(x.dtype) ||
      !has_distinct_elements(x) || !read_part(arguments[1], x, problem) ||
      !read_value(arguments[2], plan, problem) ||
      (problem.value >= 0 && may_overlap(x, arguments[0], problem.layout, arguments[2]))) {
    return false;
  }
  plan.call.add_same(0);
  plan.call.changed_inputs = 1;
  plan.call.nanoseconds = nanoseconds_of_copy(problem.part);
  return true;
}

// x, updates, index, of one dtype
bool read_update(PyObject* const* arguments, Plan& plan, AssignmentProblem& problem) {
  Layout& x = problem.x;
  if (!add_array(arguments[0], plan, x) || !is_movable(x.dtype) ||
      !read_part(arguments[2], contiguous_layout(x.dtype, x.shape), problem) ||
      !read_value(arguments[1], plan, problem) ||
      (problem.value >= 0 && problem.layout.dtype != x.dtype)) {
    return false;
  }
  plan.call.add_fresh(x.dtype, x.shape);
  plan.call.nanoseconds = nanoseconds_of_copy(x) + 2 * nanoseconds_of_copy(problem.part);
  return true;
}

bool plan_index_set(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  AssignmentProblem& problem = plan.call.solved_by<run_copy_with_part>();
  return count == 3 && read_update(arguments, plan, problem);
}

}  // namespace

bool plan_part_sum(PyObject* const* arguments, Plan& plan) {
  AssignmentProblem& problem = plan.call.solved_by<run_copy_with_sum>();
  Operands operands;
  if (!read_update(arguments, plan, problem) || !find_storage(problem.x.dtype, operands.storage)) {
    return false;
  }
  operands.count = 2;
  operands.same_layout = false;
  operands.shape = problem.part.shape;
  copy_layout(problem.part, operands.layouts[0]);
  operands.place[0] = 0;
  operands.is_number[1] = problem.value < 0;
  operands.place[1] = operands.is_number[1] ? 0 : 1;
  if (!operands.is_number[1]) copy_layout(problem.layout, operands.layouts[1]);
  static const Elementwise& add = find_elementwise("add");
  plan_pass(add.pass[operands.storage.index()], add.cost, operands, 1, false, 0, problem.sum);
  return true;
}

bool add_assignment_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "setitem", plan_setitem, nullptr) &&
         add_kernel(kernels_by_name, "index_set", plan_index_set, nullptr);
}

}  // namespace extensor
