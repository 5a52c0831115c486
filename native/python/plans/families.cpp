#include "families.h"

namespace extensor {

bool add_kernels(PyObject* kernels) {
  constexpr bool (*kFamilies[])(PyObject*) = {
      add_activation_kernels,    add_assignment_kernels,    add_attention_kernels,
      add_axes_kernels,          add_broadcasting_kernels,  add_convolution_kernels,
      add_copy_kernels,          add_cross_entropy_kernels, add_cumulative_kernels,
      add_dropout_kernels,       add_einsum_kernels,        add_elementwise_kernels,
      add_gru_kernels,           add_index_kernels,         add_integer_kernels,
      add_joining_kernels,       add_logic_kernels,         add_loss_kernels,
      add_lstm_kernels,          add_matrix_kernels,        add_movement_kernels,
      add_normalization_kernels, add_optimizer_kernels,     add_pooling_kernels,
      add_random_kernels,        add_reduction_kernels,     add_rnn_kernels,
      add_search_kernels,        add_selection_kernels,     add_softmax_kernels,
      add_sorting_kernels,       add_statistics_kernels,
  };
  for (const auto add_family : kFamilies) {
    if (!add_family(kernels)) return false;
  }
  return true;
}

}  // namespace extensor
