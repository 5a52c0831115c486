// The families of kernels. Each adds its own by name to the dictionary `kernels`; false with a
// Python error set.
#pragma once

#include "arrays.h"

namespace extensor {

bool add_arranged_kernels(PyObject* kernels);
bool add_attention_kernels(PyObject* kernels);
bool add_convolution_kernels(PyObject* kernels);
bool add_copy_kernels(PyObject* kernels);
bool add_cross_entropy_kernels(PyObject* kernels);
bool add_elementwise_kernels(PyObject* kernels);
bool add_gather_kernels(PyObject* kernels);
bool add_gru_kernels(PyObject* kernels);
bool add_index_kernels(PyObject* kernels);
bool add_joining_kernels(PyObject* kernels);
bool add_loss_kernels(PyObject* kernels);
bool add_lstm_kernels(PyObject* kernels);
bool add_matrix_kernels(PyObject* kernels);
bool add_moment_kernels(PyObject* kernels);
bool add_normalization_kernels(PyObject* kernels);
bool add_optimizer_kernels(PyObject* kernels);
bool add_pooling_kernels(PyObject* kernels);
bool add_random_kernels(PyObject* kernels);
bool add_reduction_kernels(PyObject* kernels);
bool add_rnn_kernels(PyObject* kernels);
bool add_row_kernels(PyObject* kernels);
bool add_search_kernels(PyObject* kernels);
bool add_selection_kernels(PyObject* kernels);
bool add_view_kernels(PyObject* kernels);

}  // namespace extensor
