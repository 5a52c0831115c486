// Losses of pairs of numbers and their rules. Their parameters are the first numbers of a call.
#include "../../drivers/loss.h"

#include <algorithm>

#include "../arguments.h"
#include "../kernel.h"
#include "../operands.h"
#include "families.h"

namespace extensor {
namespace {

// What the sum of the losses is divided by, or one of these.
constexpr int64_t kNoSum = 0, kNotForKernels = -1;

int64_t read_divisor(PyObject* reduction, const LossKernel& loss, const Layout& prediction) {
  if (is_text(reduction, "mean")) return prediction.size;
  if (is_text(reduction, "sum")) return 1;
  if (is_text(reduction, "none")) return kNoSum;
  const bool by_batch = loss.by_batch && prediction.ndim() > 0;
  return by_batch && is_text(reduction, "batchmean") ? prediction.length(0) : kNotForKernels;
}

bool read_loss_parameters(const LossKernel& loss, PyObject* const* arguments, Plan& plan) {
  return read_parameters(arguments, loss.parameters, plan, 0) &&
         (loss.accepts == nullptr || loss.accepts(plan.call.numbers));
}

bool all_none(PyObject* const* arguments, int count) {
  return std::all_of(arguments, arguments + count, [](PyObject* x) { return x == Py_None; });
}

bool are_pair(const Layout& prediction, const Layout& target) {
  return is_computed(prediction.dtype) && target.dtype == prediction.dtype && prediction.size > 0 &&
         target.shape == prediction.shape;
}

// The loss of each pair.
bool plan_each_loss(const LossKernel& loss, PyObject* const* arguments, Plan& plan) {
  Operands operands;
  if (loss.checked || !read_operands(arguments, 2, false, plan, loss.parameters, operands) ||
      operands.is_number[0] || operands.is_number[1] ||
      !are_pair(operands.layouts[0], operands.layouts[1])) {
    return false;
  }
  PassProblem& problem = plan.call.solved_by<run_pass_call>();
  plan_pass(loss.each[operands.storage.index()], loss.cost, operands, 1, false, 0, problem);
  plan.call.add_fresh(operands.storage.dtype, operands.shape);
  plan.call.nanoseconds = problem.pieces.nanoseconds;
  return true;
}

// prediction, target, weights (all None), reduction, parameters
bool plan_loss(const void* definition, PyObject* const* arguments, Py_ssize_t count, Plan& plan) {
  const LossKernel& loss = *static_cast<const LossKernel*>(definition);
  if (count != 3 + loss.weights + loss.parameters || !all_none(arguments + 2, loss.weights) ||
      !read_loss_parameters(loss, arguments + 3 + loss.weights, plan)) {
    return false;
  }
  PyObject* const reduction = arguments[2 + loss.weights];
  if (is_text(reduction, "none")) return plan_each_loss(loss, arguments, plan);
  LossSumProblem& problem = plan.call.solved_by<run_loss_sum>();
  if (!add_array(arguments[0], plan, problem.prediction) ||
      !add_array(arguments[1], plan, problem.target) ||
      !are_pair(problem.prediction, problem.target)) {
    return false;
  }
  const int64_t divisor = read_divisor(reduction, loss, problem.prediction);
  if (divisor == kNotForKernels) return false;
  find_storage(problem.prediction.dtype, problem.storage);
  plan_loss_sum(loss, divisor, 0, problem);
  plan.call.depends_on_values = loss.checked;
  plan.call.add_fresh(problem.storage.dtype, 0, nullptr);
  plan.call.nanoseconds = problem.tasks.nanoseconds;
  return true;
}

// grad_output, prediction, target, reduction, weights (all None), parameters, needs
bool plan_loss_rule(const void* definition, PyObject* const* arguments, Py_ssize_t count,
                    Plan& plan) {
  const LossKernel& loss = *static_cast<const LossKernel*>(definition);
  Operands operands;
  bool needs[2];
  if (count != 5 + loss.weights + loss.parameters || !all_none(arguments + 4, loss.weights) ||
      !read_loss_parameters(loss, arguments + 4 + loss.weights, plan) ||
      !read_operands(arguments, 3, false, plan, loss.parameters, operands) ||
      operands.is_number[0] || operands.is_number[1] || operands.is_number[2] ||
      !are_pair(operands.layouts[1], operands.layouts[2]) ||
      !read_either(arguments[count - 1], needs)) {
    return false;
  }
  const Layout &gradient = operands.layouts[0], &prediction = operands.layouts[1];
  const int64_t divisor = read_divisor(arguments[3], loss, prediction);
  if (divisor == kNotForKernels ||
      (divisor == kNoSum ? !(gradient.shape == prediction.shape) : gradient.ndim() != 0)) {
    return false;
  }
  LossRuleProblem& problem = plan.call.solved_by<run_loss_rule>();
  problem.divisor = divisor;
  plan_pass(loss.rule.pass(operands.storage.element, needs[0], needs[1]), loss.rule.cost, operands,
            2, false, 0, problem.pass);
  for (const bool needed : needs) {
    needed ? plan.call.add_fresh(operands.storage.dtype, prediction.shape)
           : plan.call.add(Output::Kind::absent);
  }
  plan.call.several = true;
  plan.call.nanoseconds = problem.pass.pieces.nanoseconds;
  return true;
}

}  // namespace

bool add_loss_kernels(PyObject* kernels_by_name) {
  for (const LossKernel& loss : kernels().losses) {
    if (!add_kernel(kernels_by_name, loss.name, plan_loss, &loss) ||
        !add_kernel(kernels_by_name, loss.rule.name, plan_loss_rule, &loss)) {
      return false;
    }
  }
  return true;
}

}  // namespace extensor
