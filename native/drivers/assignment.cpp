#include "assignment.h"

#include "copying.h"

namespace extensor {
namespace {

void write_part(const AssignmentProblem& problem, const Buffers& buffers, char* part) {
  const DType dtype = problem.part.dtype;
  if (problem.value < 0) {
    char number[8];
    store_number(dtype, buffers.numbers[0], number);
    return copy_elements(contiguous_layout(dtype, {0, {}}), number, problem.part, part);
  }
  const char* const data = buffers.inputs[problem.value];
  if (problem.layout.dtype == dtype) {
    return copy_elements(problem.layout, data, problem.part, part);
  }
  // Without memory, so that what is written cannot be half of several arrays.
  if (problem.part.c_contiguous && problem.layout.c_contiguous &&
      problem.layout.size == problem.part.size) {
    return convert_all(problem.layout.dtype, dtype, data, part, problem.part.size);
  }
  const Contiguous converted(problem.layout, data, dtype);
  copy_elements(contiguous_layout(dtype, problem.layout.shape), converted.data(), problem.part,
                part);
}

}  // namespace

void run_assignment(const AssignmentProblem& problem, const Buffers& buffers) {
  write_part(problem, buffers, buffers.inputs[0] + problem.offset);
}

void run_copy_with_part(const AssignmentProblem& problem, const Buffers& buffers) {
  char* const copy = buffers.outputs[0];
  copy_contiguous(problem.x, buffers.inputs[0], copy);
  write_part(problem, buffers, copy + problem.offset);
}

void run_copy_with_sum(const AssignmentProblem& problem, const Buffers& buffers) {
  char* const copy = buffers.outputs[0];
  copy_contiguous(problem.x, buffers.inputs[0], copy);
  char* const part = copy + problem.offset;
  const Layout& layout = problem.part;
  TemporaryBlock sum(layout.size * layout.itemsize);
  char* const inputs[] = {part, problem.value < 0 ? nullptr : buffers.inputs[problem.value]};
  char* const sums[] = {sum.data()};
  run_pass(problem.sum, inputs, sums, buffers.numbers);
  copy_elements(contiguous_layout(layout.dtype, layout.shape), sum.data(), layout, part);
}

}  // namespace extensor
