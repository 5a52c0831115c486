// getitem, place, take, index_select, gather, scatter_add, and their rules.
#include "../../drivers/indexing.h"

#include <algorithm>

#include "../../drivers/copying.h"
#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "../tensor_object.h"
#include "assignment.h"
#include "families.h"
#include "view_index.h"

namespace extensor {
namespace {

// The shape of take's result: the axis replaced by those of the indices; false if there are too
// many, or too long ones.
bool taken_shape(const Shape& x, int axis, const Shape& indices, Shape& taken) {
  taken.ndim = x.ndim - 1 + indices.ndim;
  if (taken.ndim > kMaxDimensions) return false;
  int64_t* end = std::copy_n(x.lengths, axis, taken.lengths);
  end = std::copy_n(indices.lengths, indices.ndim, end);
  std::copy_n(x.lengths + axis + 1, x.ndim - axis - 1, end);
  return fits_memory(taken);
}

// Whether indices have the shape of x except along the axis; what broadcasts is left to Python.
bool agree_but_for(int axis, const Shape& indices, const Shape& x) {
  if (indices.ndim != x.ndim) return false;
  for (int i = 0; i < x.ndim; ++i) {
    if (i != axis && indices.lengths[i] != x.lengths[i]) return false;
  }
  return true;
}

bool add_movable(PyObject* object, Plan& plan, Layout& layout) {
  return add_array(object, plan, layout) && is_movable(layout.dtype);
}

bool add_indices(PyObject* object, Plan& plan, Layout& layout) {
  return add_array(object, plan, layout) && is_index(layout.dtype);
}

// The shape of an array that is to be made.
bool read_result_shape(PyObject* object, Shape& shape) {
  return read_shape(object, shape) && fits_memory(shape);
}

// The slices of x at the indices along an axis, both of which have been read.
bool plan_slices(int axis, ReadProblem& problem, Call& call) {
  Shape shape;
  if (!taken_shape(problem.x.shape, axis, problem.indices.shape, shape)) return false;
  problem.block = block_of(problem.x.shape, axis);
  call.add_fresh(problem.x.dtype, shape);
  call.nanoseconds = nanoseconds_of(problem, shape.size());
  call.depends_on_values = true;
  return true;
}

// x, indices, axis (None for take: of all elements)
template <bool kSelect>
bool plan_take(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  ReadProblem& problem = plan.call.solved_by<run_take>();
  if (count != 3 || !add_movable(arguments[0], plan, problem.x) ||
      !add_indices(arguments[1], plan, problem.indices) ||
      (kSelect && problem.indices.ndim() != 1)) {
    return false;
  }
  if (!kSelect && arguments[2] == Py_None) {
    problem.block = {1, problem.x.size, 1};
    plan.call.add_fresh(problem.x.dtype, problem.indices.shape);
    plan.call.nanoseconds = nanoseconds_of(problem, problem.indices.size);
    plan.call.depends_on_values = true;
    return true;
  }
  int axis;
  return read_axis(arguments[2], problem.x.ndim(), axis) && plan_slices(axis, problem, plan.call);
}

// indices, weight, padding_idx (which the forward only checks)
bool plan_embedding(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  ReadProblem& problem = plan.call.solved_by<run_take>();
  problem.from_end = false;
  if (count != 3 || !add_movable(arguments[1], plan, problem.x) ||
      !add_indices(arguments[0], plan, problem.indices) || problem.x.ndim() != 2) {
    return false;
  }
  const int rows = static_cast<int>(std::min<int64_t>(problem.x.length(0), 1 << 30));
  int padding;
  return (arguments[2] == Py_None || read_axis(arguments[2], rows, padding)) &&
         plan_slices(0, problem, plan.call);
}

// x, indices, axis
bool plan_gather(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  ReadProblem& problem = plan.call.solved_by<run_gather>();
  int axis;
  if (count != 3 || !add_movable(arguments[0], plan, problem.x) ||
      !add_indices(arguments[1], plan, problem.indices) ||
      !read_axis(arguments[2], problem.x.ndim(), axis) ||
      !agree_but_for(axis, problem.indices.shape, problem.x.shape)) {
    return false;
  }
  problem.block = block_of(problem.x.shape, axis);
  plan.call.add_fresh(problem.x.dtype, problem.indices.shape);
  plan.call.nanoseconds = nanoseconds_of(problem, problem.indices.size);
  plan.call.depends_on_values = true;
  return true;
}

// What is added to an array of this shape, whose updates and indices have been read.
bool plan_sums(const Shape& shape, int axis, AddProblem& problem, Call& call) {
  if (!find_storage(problem.updates.dtype, problem.storage)) return false;
  problem.block = block_of(shape, axis);
  problem.size = shape.size();
  call.add_fresh(problem.updates.dtype, shape);
  call.nanoseconds = nanoseconds_of(problem);
  call.depends_on_values = true;
  return true;
}

// The rule of plan_slices.
bool plan_slice_sums(const Shape& shape, int axis, AddProblem& problem, Call& call) {
  Shape expected;
  return taken_shape(shape, axis, problem.indices.shape, expected) &&
         expected == problem.updates.shape && plan_sums(shape, axis, problem, call);
}

// grad_output, x_shape, indices, axis
template <bool kSelect>
bool plan_take_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  AddProblem& problem = plan.call.solved_by<run_add_slices>();
  Shape shape;
  int axis;
  return count == 4 && add_array(arguments[0], plan, problem.updates) &&
         read_result_shape(arguments[1], shape) &&
         add_indices(arguments[2], plan, problem.indices) &&
         read_axis(arguments[3], shape.ndim, axis) && !(kSelect && problem.indices.ndim() != 1) &&
         plan_slice_sums(shape, axis, problem, plan.call);
}

// grad_output, indices, weight_shape, padding_idx (None)
bool plan_embedding_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  AddProblem& problem = plan.call.solved_by<run_add_slices>();
  Shape shape;
  return count == 4 && arguments[3] == Py_None && add_array(arguments[0], plan, problem.updates) &&
         add_indices(arguments[1], plan, problem.indices) &&
         read_result_shape(arguments[2], shape) && shape.ndim == 2 &&
         plan_slice_sums(shape, 0, problem, plan.call);
}

// grad_output, x_shape, indices, axis
bool plan_gather_rule(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  AddProblem& problem = plan.call.solved_by<run_add_elements>();
  Shape shape;
  int axis;
  return count == 4 && add_array(arguments[0], plan, problem.updates) &&
         read_result_shape(arguments[1], shape) &&
         add_indices(arguments[2], plan, problem.indices) &&
         read_axis(arguments[3], shape.ndim, axis) &&
         problem.updates.shape == problem.indices.shape &&
         agree_but_for(axis, problem.indices.shape, shape) &&
         plan_sums(shape, axis, problem, plan.call);
}

// x, indices, updates, axis
bool plan_scatter_add(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  AddProblem& problem = plan.call.solved_by<run_add_elements>();
  problem.to_zeros = false;
  int axis;
  return count == 4 && add_array(arguments[2], plan, problem.updates) &&
         add_indices(arguments[1], plan, problem.indices) &&
         add_array(arguments[0], plan, problem.x) && problem.x.dtype == problem.updates.dtype &&
         read_axis(arguments[3], problem.x.ndim(), axis) &&
         problem.updates.shape == problem.indices.shape &&
         agree_but_for(axis, problem.indices.shape, problem.x.shape) &&
         plan_sums(problem.x.shape, axis, problem, plan.call);
}

// The array behind an index that is one array of integers; null for any other index. Borrowed.
PyArrayObject* array_index(PyObject* index) {
  PyObject* object = is_tensor(index) ? as_tensor(index)->array : index;
  if (!is_plain_array(object)) return nullptr;
  PyArrayObject* array = reinterpret_cast<PyArrayObject*>(object);
  return PyArray_NDIM(array) > 0 && is_index(dtype_of(PyArray_TYPE(array))) ? array : nullptr;
}

// Adds such an array, which is held: the tensor it came from may get another one meanwhile.
void add_array_index(PyArrayObject* array, Plan& plan, Layout& layout) {
  PyObject* object = reinterpret_cast<PyObject*>(array);
  plan.hold(Py_NewRef(object));
  plan.add(object, layout);
}

// x, index
bool plan_getitem(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  ReadProblem& problem = plan.call.solved_by<run_take>();
  if (count != 2 || !add_movable(arguments[0], plan, problem.x)) return false;
  if (PyArrayObject* indices = array_index(arguments[1])) {
    add_array_index(indices, plan, problem.indices);
    return problem.x.ndim() > 0 && plan_slices(0, problem, plan.call);
  }
  plan.call.computes_nothing();
  Output& view = plan.call.add_view(0, true);
  view.dtype = problem.x.dtype;
  return read_view_index(arguments[1], problem.x, view.shape, view.strides, view.offset);
}

// x, shape, index: what a view shows of zeros is set to x.
bool plan_part(PyObject* const* arguments, const Shape& shape, Plan& plan) {
  PlaceProblem& problem = plan.call.solved_by<run_place>();
  Storage storage;
  if (!add_array(arguments[0], plan, problem.x) || !find_storage(problem.x.dtype, storage)) {
    return false;
  }
  const Layout whole = contiguous_layout(problem.x.dtype, shape);
  Layout& part = problem.part;
  if (!read_view_index(arguments[2], whole, part.shape, part.strides, problem.offset) ||
      !(part.shape == problem.x.shape)) {
    return false;
  }
  part.dtype = whole.dtype;
  part.itemsize = whole.itemsize;
  part.size = problem.x.size;
  problem.bytes = whole.size * whole.itemsize;
  plan.call.add_fresh(whole.dtype, shape);
  plan.call.nanoseconds = problem.bytes / 16 + nanoseconds_of_copy(problem.x);
  return true;
}

// x, shape, index: for place, and for the rule of getitem, which is the same.
bool plan_place(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  Shape shape;
  if (count != 3 || !read_result_shape(arguments[1], shape)) return false;
  PyArrayObject* indices = array_index(arguments[2]);
  if (indices == nullptr) return plan_part(arguments, shape, plan);
  AddProblem& problem = plan.call.solved_by<run_add_slices>();
  if (shape.ndim == 0 || !add_array(arguments[0], plan, problem.updates)) return false;
  add_array_index(indices, plan, problem.indices);
  return plan_slice_sums(shape, 0, problem, plan.call);
}

// x, updates, index
bool plan_index_add(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  if (count != 3) return false;
  PyArrayObject* indices = array_index(arguments[2]);
  if (indices == nullptr) return plan_part_sum(arguments, plan);
  AddProblem& problem = plan.call.solved_by<run_add_slices>();
  problem.to_zeros = false;
  if (!add_array(arguments[1], plan, problem.updates)) return false;
  add_array_index(indices, plan, problem.indices);
  return add_array(arguments[0], plan, problem.x) && problem.x.ndim() > 0 &&
         problem.x.dtype == problem.updates.dtype &&
         plan_slice_sums(problem.x.shape, 0, problem, plan.call);
}

}  // namespace

bool add_index_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "take", plan_take<false>, nullptr) &&
         add_kernel(kernels_by_name, "take_backward", plan_take_rule<false>, nullptr) &&
         add_kernel(kernels_by_name, "index_select", plan_take<true>, nullptr) &&
         add_kernel(kernels_by_name, "index_select_backward", plan_take_rule<true>, nullptr) &&
         add_kernel(kernels_by_name, "embedding", plan_embedding, nullptr) &&
         add_kernel(kernels_by_name, "embedding_backward", plan_embedding_rule, nullptr) &&
         add_kernel(kernels_by_name, "gather", plan_gather, nullptr) &&
         add_kernel(kernels_by_name, "gather_backward", plan_gather_rule, nullptr) &&
         add_kernel(kernels_by_name, "scatter_add", plan_scatter_add, nullptr) &&
         add_kernel(kernels_by_name, "getitem", plan_getitem, nullptr) &&
         add_kernel(kernels_by_name, "getitem_backward", plan_place, nullptr) &&
         add_kernel(kernels_by_name, "index_add", plan_index_add, nullptr) &&
         add_kernel(kernels_by_name, "place", plan_place, nullptr);
}

}  // namespace extensor
