// dropout and dropout2d, whose rules are they themselves.
#include "../../drivers/elementwise.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

// Whether a mask has the shape of x or, for whole channels, axes of size 1 after the first two.
bool is_mask_of(const Shape& mask, const Shape& x, bool channels) {
  if (mask.ndim != x.ndim || (channels && x.ndim < 2)) return false;
  for (int i = 0; i < x.ndim; ++i) {
    if (mask.lengths[i] != (channels && i > 1 ? 1 : x.lengths[i])) return false;
  }
  return true;
}

// x or grad_output, mask (None where nothing is dropped), p
template <bool kChannels>
bool plan_dropout(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                  Plan& plan) {
  const Elementwise& masked_scale = *static_cast<const Elementwise*>(definition);
  Operands operands;
  double p;
  if (count != 3) return false;
  if (!kChannels && arguments[1] == Py_None && is_plain_array(arguments[0])) {
    plan.add(arguments[0]);
    plan.call.add_same(0);
    return true;
  }
  PyObject* const inputs[] = {arguments[1], arguments[0]};
  if (!read_operands(inputs, 2, true, plan, 1, operands) || operands.is_number[1] ||
      !read_number(arguments[2], p) || !(p >= 0 && p <= 1) ||
      !is_mask_of(operands.layouts[0].shape, operands.layouts[1].shape, kChannels)) {
    return false;
  }
  plan.call.numbers[0] = p < 1 ? 1 / (1 - p) : 0;
  PassProblem& problem = plan.call.solved_by<run_pass_call>();
  plan_pass(masked_scale.pass[operands.storage.index()], masked_scale.cost, operands, 1, false, 0,
            problem);
  plan.call.add_fresh(operands.storage.dtype, operands.shape);
  plan.call.nanoseconds = problem.pieces.nanoseconds;
  return true;
}

}  // namespace

bool add_dropout_kernels(PyObject* kernels_by_name) {
  const Elementwise* masked_scale = &find_elementwise("masked_scale");
  return add_kernel(kernels_by_name, "dropout", plan_dropout<false>, masked_scale) &&
         add_kernel(kernels_by_name, "dropout_backward", plan_dropout<false>, masked_scale) &&
         add_kernel(kernels_by_name, "dropout2d", plan_dropout<true>, masked_scale) &&
         add_kernel(kernels_by_name, "dropout2d_backward", plan_dropout<true>, masked_scale);
}

}  // namespace extensor
