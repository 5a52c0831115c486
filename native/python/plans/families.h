// The families of kernels, each in the file of its name.
#pragma once

#include "../arrays.h"

namespace extensor {

// Adds the kernels of all families by name to the dictionary `kernels`. Returns false with a Python
// error set.
bool add_kernels(PyObject* kernels);

// The same for one family.
bool add_activation_kernels(PyObject* kernels);
bool add_assignment_kernels(PyObject* kernels);
bool add_attention_kernels(PyObject* kernels);
bool add_axes_kernels(PyObject* kernels);
bool add_broadcasting_kernels(PyObject* kernels);
bool add_convolution_kernels(PyObject* kernels);
bool add_copy_kernels(PyObject* kernels);
bool add_cross_entropy_kernels(PyObject* kernels);
bool add_cumulative_kernels(PyObject* kernels);
bool add_dropout_kernels(PyObject* kernels);
bool add_einsum_kernels(PyObject* kernels);
bool add_elementwise_kernels(PyObject* kernels);
bool add_gru_kernels(PyObject* kernels);
bool add_index_kernels(PyObject* kernels);
bool add_integer_kernels(PyObject* kernels);
bool add_joining_kernels(PyObject* kernels);
bool add_logic_kernels(PyObject* kernels);
bool add_loss_kernels(PyObject* kernels);
bool add_lstm_kernels(PyObject* kernels);
bool add_matrix_kernels(PyObject* kernels);
bool add_movement_kernels(PyObject* kernels);
bool add_normalization_kernels(PyObject* kernels);
bool add_optimizer_kernels(PyObject* kernels);
bool add_pooling_kernels(PyObject* kernels);
bool add_random_kernels(PyObject* kernels);
bool add_reduction_kernels(PyObject* kernels);
bool add_rnn_kernels(PyObject* kernels);
bool add_search_kernels(PyObject* kernels);
bool add_selection_kernels(PyObject* kernels);
bool add_softmax_kernels(PyObject* kernels);
bool add_sorting_kernels(PyObject* kernels);
bool add_statistics_kernels(PyObject* kernels);

}  // namespace extensor
