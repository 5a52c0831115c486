// The arguments and the outputs of recurrences.
#pragma once

#include <initializer_list>

#include "../../drivers/recurrent.h"
#include "../plan.h"

namespace extensor {

// The definition of a kernel that is a cell; that of a sequence is null.
inline constexpr const char* kCell = "cell";

class RecurrentPlan {
 public:
  RecurrentPlan(Plan& plan, RecurrentProblem& problem, const void* definition)
      : plan_(plan), problem_(problem) {
    problem.size.cell = definition != nullptr;
  }

  // The arguments that are arrays, or None: of one floating dtype.
  bool read_arrays(PyObject* const* arguments, int count);

  // From x, the array before h0, and h0. False if these do not fit each other or are empty.
  bool find_size(int x, int64_t gates);

  // Whether argument i is an array of this shape.
  bool has_shape(int i, std::initializer_list<int64_t> shape) const;
  bool is_sequence(int i, int64_t width) const;
  // Whether w_ih and w_hh, and b_ih and b_hh or None, have the sizes they must from argument `at`
  // on.
  bool weights_fit(int at) const;
  bool biases_fit(int at) const;

  // The outputs. Steps are an axis also of what a cell keeps for its rule.
  void add_sequence(int64_t width);
  void add_steps(int64_t width);
  void add_states();
  // The gradients that are asked for, of c0 in any case where there is one.
  void add_gradients(const bool* needs, bool with_cells);

 private:
  bool is_given(int i) const { return problem_.input[i] >= 0; }
  int64_t length(int i, int axis) const;
  void add(std::initializer_list<int64_t> shape);

  Plan& plan_;
  RecurrentProblem& problem_;
};

}  // namespace extensor
