// einsum of two operands, as one product of stacks of matrices or element by element. What would
// need a copy first is left to the formula.
#include <algorithm>
#include <string_view>

#include "../../drivers/elementwise.h"
#include "../../drivers/matrix.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

constexpr int kMostLabels = 16;

// The labels of a term, each once.
struct Term {
  int count = 0;
  char labels[kMostLabels];

  int find(char label) const {
    const char* place = std::find(labels, labels + count, label);
    return place == labels + count ? -1 : static_cast<int>(place - labels);
  }
  bool has(char label) const { return find(label) >= 0; }
  void add(char label) { labels[count++] = label; }
};

bool read_term(std::string_view text, Term& term) {
  for (const char label : text) {
    const bool is_letter = (label >= 'a' && label <= 'z') || (label >= 'A' && label <= 'Z');
    if (!is_letter || term.count == kMostLabels || term.has(label)) return false;
    term.add(label);
  }
  return true;
}

// "ij,jk->ik"
bool read_spec(PyObject* object, Term* operands, Term& output) {
  if (!PyUnicode_CheckExact(object)) return false;
  Py_ssize_t length;
  const char* text = PyUnicode_AsUTF8AndSize(object, &length);
  if (text == nullptr) return false;
  const std::string_view spec(text, length);
  const size_t comma = spec.find(','), arrow = spec.find("->");
  return comma != spec.npos && arrow != spec.npos && comma < arrow &&
         read_term(spec.substr(0, comma), operands[0]) &&
         read_term(spec.substr(comma + 1, arrow - comma - 1), operands[1]) &&
         read_term(spec.substr(arrow + 2), output);
}

// An operand by its labels.
struct Labelled {
  Term term;
  Layout layout;

  int64_t length(char label) const { return layout.length(term.find(label)); }
  int64_t stride(char label) const {
    const int axis = term.find(label);
    return axis < 0 ? 0 : layout.strides[axis];
  }
};

// Several axes of an operand as one: their length and the stride that walks them in this order.
// False if there is none. A step of no axis is `itemsize`.
bool merge(const Labelled& x, const Term& labels, int64_t& length, int64_t& stride) {
  length = 1;
  stride = x.layout.itemsize;
  for (int i = labels.count - 1; i >= 0; --i) {
    const int64_t own = x.length(labels.labels[i]), step = x.stride(labels.labels[i]);
    if (own == 1) continue;
    if (length == 1) {
      stride = step;
    } else if (step != stride * length) {
      return false;
    }
    length *= own;
  }
  return true;
}

// The labels of a product, by where they stand.
struct Roles {
  Term batch, rows, columns, inner;

  // Those of the product, in the order in which it has them.
  Term of_product() const {
    Term whole;
    for (const Term* term : {&batch, &rows, &columns}) {
      for (int i = 0; i < term->count; ++i) whole.add(term->labels[i]);
    }
    return whole;
  }
};

bool divide_labels(const Labelled& a, const Labelled& b, const Term& output, Roles& roles) {
  for (int i = 0; i < output.count; ++i) {
    const char label = output.labels[i];
    const bool in_a = a.term.has(label), in_b = b.term.has(label);
    if (!in_a && !in_b) return false;
    if (in_a && in_b && a.length(label) != b.length(label)) return false;
    (in_a && in_b ? roles.batch : in_a ? roles.rows : roles.columns).add(label);
  }
  for (int i = 0; i < a.term.count; ++i) {
    const char label = a.term.labels[i];
    if (output.has(label)) continue;
    if (!b.term.has(label) || a.length(label) != b.length(label)) return false;
    roles.inner.add(label);
  }
  for (int i = 0; i < b.term.count; ++i) {
    if (!output.has(b.term.labels[i]) && !a.term.has(b.term.labels[i])) return false;
  }
  return true;
}

// The operand as it is walked along the axes of the output.
void lay_out(const Labelled& x, const Term& output, const Shape& shape, Layout& layout) {
  layout.dtype = x.layout.dtype;
  layout.itemsize = x.layout.itemsize;
  layout.c_contiguous = false;
  layout.shape = shape;
  layout.size = shape.size();
  for (int axis = 0; axis < shape.ndim; ++axis) {
    layout.strides[axis] = x.stride(output.labels[axis]);
  }
}

// Nothing is summed.
bool plan_outer(const Labelled& a, const Labelled& b, const Term& output, const Shape& shape,
                Plan& plan) {
  static const Elementwise& multiply = find_elementwise("multiply");
  PassProblem& problem = plan.call.solved_by<run_pass_call>();
  Operands operands;
  if (!find_storage(a.layout.dtype, operands.storage)) return false;
  operands.count = 2;
  operands.same_layout = false;
  operands.shape = shape;
  lay_out(a, output, shape, operands.layouts[0]);
  lay_out(b, output, shape, operands.layouts[1]);
  for (int i = 0; i < 2; ++i) operands.place[i] = i;
  plan_pass(multiply.pass[operands.storage.index()], multiply.cost, operands, 1, false, 0, problem);
  plan.call.add_fresh(operands.storage.dtype, shape);
  plan.call.nanoseconds = problem.pieces.nanoseconds;
  return true;
}

// The batch axes of an operand, in the order of the output.
void lay_out_batch(const Labelled& x, const Term& batch, Layout& layout) {
  layout.itemsize = x.layout.itemsize;
  layout.shape.ndim = batch.count;
  for (int axis = 0; axis < batch.count; ++axis) {
    layout.shape.lengths[axis] = x.length(batch.labels[axis]);
    layout.strides[axis] = x.stride(batch.labels[axis]);
  }
}

// The product, whose axes are those of batch, rows and columns in this order.
bool plan_product(const Labelled& a, const Labelled& b, const Roles& roles, Plan& plan) {
  StackedMatmulProblem& problem = plan.call.solved_by<run_stacked_matmul>();
  Product& product = problem.product;
  const int64_t itemsize = a.layout.itemsize;
  Matrix &left = product.a, &right = product.b;
  if (!merge(a, roles.rows, left.rows, left.row_stride) ||
      !merge(a, roles.inner, left.columns, left.column_stride) ||
      !merge(b, roles.inner, right.rows, right.row_stride) ||
      !merge(b, roles.columns, right.columns, right.column_stride)) {
    return false;
  }
  for (Matrix* matrix : {&left, &right}) {
    if (matrix->row_stride % itemsize != 0 || matrix->column_stride % itemsize != 0) return false;
    matrix->row_stride /= itemsize;
    matrix->column_stride /= itemsize;
  }
  Layout of_a, of_b;
  lay_out_batch(a, roles.batch, of_a);
  lay_out_batch(b, roles.batch, of_b);
  const Layout* const layouts[] = {&of_a, &of_b};
  Loops& loops = problem.loops;
  if (!make_loops(of_a.shape, layouts, 2, loops)) return false;
  coalesce(loops);
  const int last = loops.ndim - 1;
  for (int axis = 0; axis <= last; ++axis) {
    if (loops.strides[0][axis] % itemsize != 0 || loops.strides[1][axis] % itemsize != 0) {
      return false;
    }
  }
  problem.dtype = a.layout.dtype;
  product.batch = loops.size;
  plan.call.nanoseconds = product.nanoseconds();
  product.batch = loops.shape[last];
  product.a_batch = loops.strides[0][last] / itemsize;
  product.b_batch = loops.strides[1][last] / itemsize;
  return true;
}

// A result with the axes of `made`, shown in the order of the output.
void add_reordered(const Term& made, const Shape& shape, const Term& output, const Shape& shown,
                   DType dtype, Plan& plan) {
  plan.call.add_fresh(dtype, shape).returned = false;
  const Layout layout = contiguous_layout(dtype, shape);
  Output& view = plan.call.add_view(~0, true);
  view.dtype = dtype;
  view.shape = shown;
  for (int axis = 0; axis < shown.ndim; ++axis) {
    view.strides[axis] = layout.strides[made.find(output.labels[axis])];
  }
}

// The lengths of labels, each of which an operand has.
Shape shape_of(const Term& term, const Labelled& a, const Labelled& b) {
  Shape shape;
  shape.ndim = term.count;
  for (int axis = 0; axis < term.count; ++axis) {
    const char label = term.labels[axis];
    shape.lengths[axis] = a.term.has(label) ? a.length(label) : b.length(label);
  }
  return shape;
}

bool plan_two(const Labelled& a, const Labelled& b, const Term& output, Plan& plan) {
  Roles roles;
  if (a.layout.size == 0 || b.layout.size == 0 || !divide_labels(a, b, output, roles)) return false;
  const Shape shape = shape_of(output, a, b);
  if (!fits_memory(shape)) return false;
  if (roles.inner.count == 0) return plan_outer(a, b, output, shape, plan);
  const DType dtype = a.layout.dtype;
  if ((!is_computed(dtype) && dtype != DType::bfloat16) || !plan_product(a, b, roles, plan)) {
    return false;
  }
  const Term made = roles.of_product();
  if (std::equal(made.labels, made.labels + made.count, output.labels)) {
    plan.call.add_fresh(dtype, shape);
  } else {
    add_reordered(made, shape_of(made, a, b), output, shape, dtype, plan);
  }
  return true;
}

// operands, spec
bool plan_einsum(const void*, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  PyObject* const arrays = count == 2 ? read_arrays(arguments[0], plan) : nullptr;
  if (arrays == nullptr || PyTuple_GET_SIZE(arrays) != 2) return false;
  Labelled operands[2];
  Term output, terms[2];
  if (!read_spec(arguments[1], terms, output)) return false;
  for (int i = 0; i < 2; ++i) {
    operands[i].term = terms[i];
    if (!add_array(PyTuple_GET_ITEM(arrays, i), plan, operands[i].layout) ||
        operands[i].layout.ndim() != terms[i].count) {
      return false;
    }
  }
  return operands[0].layout.dtype == operands[1].layout.dtype &&
         plan_two(operands[0], operands[1], output, plan);
}

}  // namespace

bool add_einsum_kernels(PyObject* kernels_by_name) {
  return add_kernel(kernels_by_name, "einsum", plan_einsum, nullptr);
}

}  // namespace extensor
