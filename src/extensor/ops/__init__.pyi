"""The ops and their rules. Written by tools/exports.py from the registry."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, type_check_only

from extensor.core.tensor import Tensor
from extensor.random.generator import Generator
from extensor.typing import DTypeLike, Index, TensorLike
from extensor.ops.broadcasting import are_shapes_broadcastable as are_shapes_broadcastable
from extensor.ops.broadcasting import broadcast_shapes as broadcast_shapes
from extensor.ops.broadcasting import compute_broadcast_strides as compute_broadcast_strides
from extensor.ops.joining import meshgrid as meshgrid

__all__ = [
    "abs",
    "abs_backward",
    "acos",
    "acos_backward",
    "acosh",
    "acosh_backward",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool1d_backward",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool2d_backward",
    "adaptive_avg_pool3d",
    "adaptive_avg_pool3d_backward",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_backward",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool1d_with_indices_backward",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_backward",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool2d_with_indices_backward",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_backward",
    "adaptive_max_pool3d_with_indices",
    "adaptive_max_pool3d_with_indices_backward",
    "add",
    "add_backward",
    "affine_grid",
    "affine_grid_backward",
    "all",
    "alpha_dropout",
    "alpha_dropout_backward",
    "any",
    "are_shapes_broadcastable",
    "argmax",
    "argmin",
    "argsort",
    "asin",
    "asin_backward",
    "asinh",
    "asinh_backward",
    "atan",
    "atan2",
    "atan2_backward",
    "atan_backward",
    "atanh",
    "atanh_backward",
    "avg_pool1d",
    "avg_pool1d_backward",
    "avg_pool2d",
    "avg_pool2d_backward",
    "avg_pool3d",
    "avg_pool3d_backward",
    "batch_norm",
    "batch_norm_backward",
    "bilinear",
    "bilinear_backward",
    "binary_cross_entropy",
    "binary_cross_entropy_backward",
    "binary_cross_entropy_with_logits",
    "binary_cross_entropy_with_logits_backward",
    "bincount",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "broadcast_shapes",
    "broadcast_to",
    "broadcast_to_backward",
    "bucketize",
    "cast",
    "cast_backward",
    "cdist",
    "cdist_backward",
    "ceil",
    "ceil_backward",
    "celu",
    "celu_backward",
    "chain_divide",
    "chain_divide_backward",
    "chain_rule",
    "chain_rule_backward",
    "channel_shuffle",
    "channel_shuffle_backward",
    "cholesky",
    "cholesky_backward",
    "clip",
    "clip_backward",
    "clone",
    "clone_backward",
    "compute_broadcast_strides",
    "concatenate",
    "concatenate_backward",
    "conv1d",
    "conv1d_backward",
    "conv2d",
    "conv2d_backward",
    "conv2d_grad_weight",
    "conv2d_grad_weight_backward",
    "conv2d_grad_x",
    "conv2d_grad_x_backward",
    "conv3d",
    "conv3d_backward",
    "conv_transpose1d",
    "conv_transpose1d_backward",
    "conv_transpose2d",
    "conv_transpose2d_backward",
    "conv_transpose3d",
    "conv_transpose3d_backward",
    "copysign",
    "copysign_backward",
    "cos",
    "cos_backward",
    "cosh",
    "cosh_backward",
    "cosine_embedding_loss",
    "cosine_embedding_loss_backward",
    "cosine_similarity",
    "cosine_similarity_backward",
    "count_nonzero",
    "cross",
    "cross_backward",
    "cross_entropy",
    "cross_entropy_backward",
    "ctc_loss",
    "ctc_loss_backward",
    "cummax",
    "cummax_backward",
    "cummin",
    "cummin_backward",
    "cumprod",
    "cumprod_backward",
    "cumsum",
    "cumsum_backward",
    "det",
    "det_backward",
    "diag",
    "diag_backward",
    "diag_embed",
    "diag_embed_backward",
    "diagonal",
    "diagonal_backward",
    "digamma",
    "digamma_backward",
    "divide",
    "divide_backward",
    "dot",
    "dot_backward",
    "dropout",
    "dropout1d",
    "dropout1d_backward",
    "dropout2d",
    "dropout2d_backward",
    "dropout3d",
    "dropout3d_backward",
    "dropout_backward",
    "eigh",
    "eigh_backward",
    "einsum",
    "einsum_backward",
    "elu",
    "elu_backward",
    "embedding",
    "embedding_backward",
    "embedding_bag",
    "embedding_bag_backward",
    "equal",
    "erf",
    "erf_backward",
    "erfc",
    "erfc_backward",
    "erfinv",
    "erfinv_backward",
    "exp",
    "exp2",
    "exp2_backward",
    "exp_backward",
    "expand_dims",
    "expand_dims_backward",
    "expm1",
    "expm1_backward",
    "feature_alpha_dropout",
    "feature_alpha_dropout_backward",
    "flatten",
    "flatten_backward",
    "flip",
    "flip_backward",
    "floor",
    "floor_backward",
    "floor_divide",
    "floor_divide_backward",
    "fmod",
    "fmod_backward",
    "focal_loss",
    "focal_loss_backward",
    "fold",
    "fold_backward",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool2d_with_indices_backward",
    "fractional_max_pool3d_with_indices",
    "fractional_max_pool3d_with_indices_backward",
    "gather",
    "gather_backward",
    "gaussian_nll_loss",
    "gaussian_nll_loss_backward",
    "gelu",
    "gelu_backward",
    "getitem",
    "getitem_backward",
    "glu",
    "glu_backward",
    "greater",
    "greater_equal",
    "grid_sample",
    "grid_sample_backward",
    "group_norm",
    "group_norm_backward",
    "gru",
    "gru_backward",
    "gru_cell",
    "gru_cell_backward",
    "hard_shrink",
    "hard_shrink_backward",
    "hard_sigmoid",
    "hard_sigmoid_backward",
    "hard_swish",
    "hard_swish_backward",
    "hard_tanh",
    "hard_tanh_backward",
    "heaviside",
    "heaviside_backward",
    "hinge_embedding_loss",
    "hinge_embedding_loss_backward",
    "hinge_loss",
    "hinge_loss_backward",
    "huber_loss",
    "huber_loss_backward",
    "hypot",
    "hypot_backward",
    "identity",
    "identity_backward",
    "index_add",
    "index_add_backward",
    "index_select",
    "index_select_backward",
    "index_set",
    "index_set_backward",
    "instance_norm",
    "instance_norm_backward",
    "interpolate",
    "interpolate_backward",
    "inv",
    "inv_backward",
    "isfinite",
    "isinf",
    "isnan",
    "kl_div",
    "kl_div_backward",
    "kron",
    "kron_backward",
    "kthvalue",
    "kthvalue_backward",
    "l1_loss",
    "l1_loss_backward",
    "layer_norm",
    "layer_norm_backward",
    "leaky_relu",
    "leaky_relu_backward",
    "lerp",
    "lerp_backward",
    "less",
    "less_equal",
    "lgamma",
    "lgamma_backward",
    "lift",
    "lift_backward",
    "linear",
    "linear_backward",
    "local_response_norm",
    "local_response_norm_backward",
    "log",
    "log10",
    "log10_backward",
    "log1p",
    "log1p_backward",
    "log2",
    "log2_backward",
    "log_backward",
    "log_sigmoid",
    "log_sigmoid_backward",
    "log_softmax",
    "log_softmax_backward",
    "logaddexp",
    "logaddexp2",
    "logaddexp2_backward",
    "logaddexp_backward",
    "logcumsumexp",
    "logcumsumexp_backward",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsumexp",
    "logsumexp_backward",
    "lp_pool1d",
    "lp_pool1d_backward",
    "lp_pool2d",
    "lp_pool2d_backward",
    "lp_pool3d",
    "lp_pool3d_backward",
    "lstm",
    "lstm_backward",
    "lstm_cell",
    "lstm_cell_backward",
    "margin_ranking_loss",
    "margin_ranking_loss_backward",
    "masked_fill",
    "masked_fill_backward",
    "matmul",
    "matmul_backward",
    "matrix_power",
    "matrix_power_backward",
    "max",
    "max_backward",
    "max_pool1d",
    "max_pool1d_backward",
    "max_pool1d_with_indices",
    "max_pool1d_with_indices_backward",
    "max_pool2d",
    "max_pool2d_backward",
    "max_pool2d_with_indices",
    "max_pool2d_with_indices_backward",
    "max_pool3d",
    "max_pool3d_backward",
    "max_pool3d_with_indices",
    "max_pool3d_with_indices_backward",
    "max_reduce",
    "max_reduce_backward",
    "max_unpool1d",
    "max_unpool1d_backward",
    "max_unpool2d",
    "max_unpool2d_backward",
    "max_unpool3d",
    "max_unpool3d_backward",
    "maximum",
    "maximum_backward",
    "mean",
    "mean_backward",
    "median",
    "median_backward",
    "meshgrid",
    "min",
    "min_backward",
    "min_reduce",
    "min_reduce_backward",
    "minimum",
    "minimum_backward",
    "mish",
    "mish_backward",
    "modulo",
    "modulo_backward",
    "moveaxis",
    "moveaxis_backward",
    "mse_loss",
    "mse_loss_backward",
    "multi_margin_loss",
    "multi_margin_loss_backward",
    "multilabel_margin_loss",
    "multilabel_margin_loss_backward",
    "multilabel_soft_margin_loss",
    "multilabel_soft_margin_loss_backward",
    "multiply",
    "multiply_backward",
    "nan_to_num",
    "nan_to_num_backward",
    "nanmean",
    "nanmean_backward",
    "nansum",
    "nansum_backward",
    "negative",
    "negative_backward",
    "nll_loss",
    "nll_loss_backward",
    "nonzero",
    "norm",
    "norm_backward",
    "normal_cdf",
    "normal_cdf_backward",
    "normal_pdf",
    "normal_pdf_backward",
    "normalize",
    "normalize_backward",
    "not_equal",
    "outer",
    "outer_backward",
    "pad",
    "pad_backward",
    "pairwise_distance",
    "pairwise_distance_backward",
    "permute",
    "permute_backward",
    "pixel_shuffle",
    "pixel_shuffle_backward",
    "pixel_unshuffle",
    "pixel_unshuffle_backward",
    "place",
    "place_backward",
    "poisson_nll_loss",
    "poisson_nll_loss_backward",
    "polygamma",
    "polygamma_backward",
    "power",
    "power_backward",
    "prelu",
    "prelu_backward",
    "prod",
    "prod_backward",
    "quantile",
    "quantile_backward",
    "ravel",
    "ravel_backward",
    "reciprocal",
    "reciprocal_backward",
    "reduce_to_shape",
    "reduce_to_shape_backward",
    "relu",
    "relu6",
    "relu6_backward",
    "relu_backward",
    "repeat",
    "repeat_backward",
    "reshape",
    "reshape_backward",
    "rms_norm",
    "rms_norm_backward",
    "rnn",
    "rnn_backward",
    "rnn_cell",
    "rnn_cell_backward",
    "roll",
    "roll_backward",
    "rot90",
    "rot90_backward",
    "round",
    "round_backward",
    "rrelu",
    "rrelu_backward",
    "rsqrt",
    "rsqrt_backward",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_backward",
    "scatter",
    "scatter_add",
    "scatter_add_backward",
    "scatter_backward",
    "scatter_reduce",
    "scatter_reduce_backward",
    "searchsorted",
    "selu",
    "selu_backward",
    "sigmoid",
    "sigmoid_backward",
    "sign",
    "sign_backward",
    "silu",
    "silu_backward",
    "sin",
    "sin_backward",
    "sinc",
    "sinc_backward",
    "sinh",
    "sinh_backward",
    "slogdet",
    "slogdet_backward",
    "smooth_l1_loss",
    "smooth_l1_loss_backward",
    "soft_margin_loss",
    "soft_margin_loss_backward",
    "soft_shrink",
    "soft_shrink_backward",
    "softmax",
    "softmax_backward",
    "softmin",
    "softmin_backward",
    "softplus",
    "softplus_backward",
    "softsign",
    "softsign_backward",
    "solve",
    "solve_backward",
    "sort",
    "sort_backward",
    "split",
    "split_backward",
    "sqrt",
    "sqrt_backward",
    "square",
    "square_backward",
    "squeeze",
    "squeeze_backward",
    "stack",
    "stack_backward",
    "std",
    "std_backward",
    "subtract",
    "subtract_backward",
    "sum",
    "sum_backward",
    "swapaxes",
    "swapaxes_backward",
    "take",
    "take_backward",
    "tan",
    "tan_backward",
    "tanh",
    "tanh_backward",
    "tanh_shrink",
    "tanh_shrink_backward",
    "tensordot",
    "tensordot_backward",
    "threshold",
    "threshold_backward",
    "tile",
    "tile_backward",
    "topk",
    "topk_backward",
    "trace",
    "trace_backward",
    "transpose",
    "transpose_backward",
    "tril",
    "tril_backward",
    "triplet_loss",
    "triplet_loss_backward",
    "triu",
    "triu_backward",
    "trunc",
    "trunc_backward",
    "unfold",
    "unfold_backward",
    "unique",
    "unique_counts",
    "unique_inverse",
    "unsqueeze",
    "unsqueeze_backward",
    "var",
    "var_backward",
    "where",
    "where_backward",
    "xlogy",
    "xlogy_backward",
]

@type_check_only
class add_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class atan2_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class batch_norm_gradients(NamedTuple):
    grad_x: Tensor
    grad_weight: Tensor
    grad_bias: Tensor

@type_check_only
class bilinear_gradients(NamedTuple):
    grad_x1: Tensor
    grad_x2: Tensor
    grad_weight: Tensor
    grad_bias: Tensor

@type_check_only
class binary_cross_entropy_gradients(NamedTuple):
    grad_prediction: Tensor
    grad_target: Tensor

@type_check_only
class binary_cross_entropy_with_logits_gradients(NamedTuple):
    grad_logits: Tensor
    grad_target: Tensor

@type_check_only
class cdist_gradients(NamedTuple):
    grad_x1: Tensor
    grad_x2: Tensor

@type_check_only
class chain_divide_gradients(NamedTuple):
    grad_gradient: Tensor
    grad_denominator: Tensor

@type_check_only
class chain_rule_gradients(NamedTuple):
    grad_gradient: Tensor
    grad_derivative: Tensor

@type_check_only
class conv1d_gradients(NamedTuple):
    grad_x: Tensor
    grad_weight: Tensor
    grad_bias: Tensor

@type_check_only
class conv2d_gradients(NamedTuple):
    grad_x: Tensor
    grad_weight: Tensor
    grad_bias: Tensor

@type_check_only
class conv2d_grad_weight_gradients(NamedTuple):
    grad_gradient: Tensor
    grad_x: Tensor

@type_check_only
class conv2d_grad_x_gradients(NamedTuple):
    grad_gradient: Tensor
    grad_weight: Tensor

@type_check_only
class conv3d_gradients(NamedTuple):
    grad_x: Tensor
    grad_weight: Tensor
    grad_bias: Tensor

@type_check_only
class conv_transpose1d_gradients(NamedTuple):
    grad_x: Tensor
    grad_weight: Tensor
    grad_bias: Tensor

@type_check_only
class conv_transpose2d_gradients(NamedTuple):
    grad_x: Tensor
    grad_weight: Tensor
    grad_bias: Tensor

@type_check_only
class conv_transpose3d_gradients(NamedTuple):
    grad_x: Tensor
    grad_weight: Tensor
    grad_bias: Tensor

@type_check_only
class copysign_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class cosine_embedding_loss_gradients(NamedTuple):
    grad_x1: Tensor
    grad_x2: Tensor

@type_check_only
class cosine_similarity_gradients(NamedTuple):
    grad_x1: Tensor
    grad_x2: Tensor

@type_check_only
class cross_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class cross_entropy_gradients(NamedTuple):
    grad_logits: Tensor
    grad_target: Tensor | None

@type_check_only
class divide_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class dot_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class embedding_bag_gradients(NamedTuple):
    grad_weight: Tensor
    grad_per_sample_weights: Tensor

@type_check_only
class floor_divide_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class fmod_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class focal_loss_gradients(NamedTuple):
    grad_logits: Tensor
    grad_target: Tensor

@type_check_only
class gaussian_nll_loss_gradients(NamedTuple):
    grad_x: Tensor
    grad_target: Tensor
    grad_var: Tensor

@type_check_only
class grid_sample_gradients(NamedTuple):
    grad_x: Tensor
    grad_grid: Tensor

@type_check_only
class group_norm_gradients(NamedTuple):
    grad_x: Tensor
    grad_weight: Tensor
    grad_bias: Tensor

@type_check_only
class gru_gradients(NamedTuple):
    grad_x: Tensor
    grad_h0: Tensor
    grad_w_ih: Tensor
    grad_w_hh: Tensor
    grad_b_ih: Tensor
    grad_b_hh: Tensor

@type_check_only
class gru_cell_gradients(NamedTuple):
    grad_x: Tensor
    grad_h: Tensor
    grad_w_ih: Tensor
    grad_w_hh: Tensor
    grad_b_ih: Tensor
    grad_b_hh: Tensor

@type_check_only
class heaviside_gradients(NamedTuple):
    grad_x: Tensor
    grad_values: Tensor

@type_check_only
class hinge_loss_gradients(NamedTuple):
    grad_prediction: Tensor
    grad_target: Tensor

@type_check_only
class huber_loss_gradients(NamedTuple):
    grad_prediction: Tensor
    grad_target: Tensor

@type_check_only
class hypot_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class index_add_gradients(NamedTuple):
    grad_x: Tensor
    grad_updates: Tensor

@type_check_only
class index_set_gradients(NamedTuple):
    grad_x: Tensor
    grad_updates: Tensor

@type_check_only
class instance_norm_gradients(NamedTuple):
    grad_x: Tensor
    grad_weight: Tensor
    grad_bias: Tensor

@type_check_only
class kl_div_gradients(NamedTuple):
    grad_x: Tensor
    grad_target: Tensor

@type_check_only
class kron_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class l1_loss_gradients(NamedTuple):
    grad_prediction: Tensor
    grad_target: Tensor

@type_check_only
class layer_norm_gradients(NamedTuple):
    grad_x: Tensor
    grad_weight: Tensor
    grad_bias: Tensor

@type_check_only
class lerp_gradients(NamedTuple):
    grad_start: Tensor
    grad_end: Tensor
    grad_weight: Tensor

@type_check_only
class linear_gradients(NamedTuple):
    grad_x: Tensor
    grad_weight: Tensor
    grad_bias: Tensor

@type_check_only
class logaddexp_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class logaddexp2_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class lstm_gradients(NamedTuple):
    grad_x: Tensor
    grad_h0: Tensor
    grad_c0: Tensor
    grad_w_ih: Tensor
    grad_w_hh: Tensor
    grad_b_ih: Tensor
    grad_b_hh: Tensor

@type_check_only
class lstm_cell_gradients(NamedTuple):
    grad_x: Tensor
    grad_h: Tensor
    grad_c: Tensor
    grad_w_ih: Tensor
    grad_w_hh: Tensor
    grad_b_ih: Tensor
    grad_b_hh: Tensor

@type_check_only
class margin_ranking_loss_gradients(NamedTuple):
    grad_x1: Tensor
    grad_x2: Tensor

@type_check_only
class matmul_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class maximum_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class minimum_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class modulo_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class mse_loss_gradients(NamedTuple):
    grad_prediction: Tensor
    grad_target: Tensor

@type_check_only
class multilabel_soft_margin_loss_gradients(NamedTuple):
    grad_x: Tensor
    grad_target: Tensor

@type_check_only
class multiply_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class outer_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class pairwise_distance_gradients(NamedTuple):
    grad_x1: Tensor
    grad_x2: Tensor

@type_check_only
class poisson_nll_loss_gradients(NamedTuple):
    grad_x: Tensor
    grad_target: Tensor

@type_check_only
class power_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class prelu_gradients(NamedTuple):
    grad_x: Tensor
    grad_alpha: Tensor

@type_check_only
class rms_norm_gradients(NamedTuple):
    grad_x: Tensor
    grad_weight: Tensor

@type_check_only
class rnn_gradients(NamedTuple):
    grad_x: Tensor
    grad_h0: Tensor
    grad_w_ih: Tensor
    grad_w_hh: Tensor
    grad_b_ih: Tensor
    grad_b_hh: Tensor

@type_check_only
class rnn_cell_gradients(NamedTuple):
    grad_x: Tensor
    grad_h: Tensor
    grad_w_ih: Tensor
    grad_w_hh: Tensor
    grad_b_ih: Tensor
    grad_b_hh: Tensor

@type_check_only
class scaled_dot_product_attention_gradients(NamedTuple):
    grad_q: Tensor
    grad_k: Tensor
    grad_v: Tensor
    grad_mask: Tensor | None

@type_check_only
class scatter_gradients(NamedTuple):
    grad_x: Tensor
    grad_updates: Tensor

@type_check_only
class scatter_add_gradients(NamedTuple):
    grad_x: Tensor
    grad_updates: Tensor

@type_check_only
class scatter_reduce_gradients(NamedTuple):
    grad_x: Tensor
    grad_updates: Tensor

@type_check_only
class smooth_l1_loss_gradients(NamedTuple):
    grad_prediction: Tensor
    grad_target: Tensor

@type_check_only
class soft_margin_loss_gradients(NamedTuple):
    grad_x: Tensor
    grad_target: Tensor

@type_check_only
class solve_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class subtract_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class tensordot_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class triplet_loss_gradients(NamedTuple):
    grad_anchor: Tensor
    grad_positive: Tensor
    grad_negative: Tensor

@type_check_only
class where_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class xlogy_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

def abs(x: TensorLike) -> Tensor:
    """The magnitude of ``x``.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    abs_backward : Its gradient.

    Notes
    -----
    Derivative: ``sign(x)``, 0 at 0.
    """

def abs_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * sign(x)``.

    The backward pass of `abs`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `abs`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def acos(x: TensorLike) -> Tensor:
    """The angle in [0, pi] whose cosine is ``x``; NaN outside [-1, 1].

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    acos_backward : Its gradient.

    Notes
    -----
    Derivative: ``-1 / sqrt(1 - x**2)``, infinite at -1 and 1.

    Integers and booleans are converted to the default dtype first.
    """

def acos_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``-grad_output / sqrt(1 - x**2)``.

    The backward pass of `acos`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `acos`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def acosh(x: TensorLike) -> Tensor:
    """The number from 0 upwards whose hyperbolic cosine is ``x``; NaN below 1.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    acosh_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 / sqrt(x**2 - 1)``, infinite at 1.

    Integers and booleans are converted to the default dtype first.
    """

def acosh_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output / sqrt(x**2 - 1)``.

    The backward pass of `acosh`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `acosh`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def adaptive_avg_pool1d(x: TensorLike, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The means of ``output_size`` windows that cover sequences, as in `adaptive_avg_pool2d`.

    Parameters
    ----------
    x : tensor_like, (batch, channels, length)
        The sequences. The batch axis may be missing.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    Tensor
        The means, of shape (batch, channels, output_size).

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    adaptive_avg_pool1d_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` divided by the size of its window, to each element.
    """

def adaptive_avg_pool1d_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    output_size: int | Sequence[int | None] | None,
) -> Tensor:
    """``grad_output`` divided by the size of its window, to each element of the window.

    The backward pass of `adaptive_avg_pool1d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `adaptive_avg_pool1d`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def adaptive_avg_pool2d(x: TensorLike, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The means of ``output_size`` windows that cover pictures.

    Along an axis of ``n`` elements window ``i`` of ``m`` goes from ``i * n // m`` to
    ``(i + 1) * n / m``, rounded up, so that neighbours may share an element.

    Parameters
    ----------
    x : tensor_like, (batch, channels, height, width)
        The pictures. The batch axis may be missing.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    Tensor
        The means, of shape ``(batch, channels, *output_size)``.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    adaptive_avg_pool2d_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` divided by the size of its window, to each element.
    """

def adaptive_avg_pool2d_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    output_size: int | Sequence[int | None] | None,
) -> Tensor:
    """``grad_output`` divided by the size of its window, to each element of the window.

    The backward pass of `adaptive_avg_pool2d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `adaptive_avg_pool2d`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def adaptive_avg_pool3d(x: TensorLike, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The means of ``output_size`` windows that cover volumes, as in `adaptive_avg_pool2d`.

    Parameters
    ----------
    x : tensor_like, (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    Tensor
        The means, of shape ``(batch, channels, *output_size)``.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    adaptive_avg_pool3d_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` divided by the size of its window, to each element.
    """

def adaptive_avg_pool3d_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    output_size: int | Sequence[int | None] | None,
) -> Tensor:
    """``grad_output`` divided by the size of its window, to each element of the window.

    The backward pass of `adaptive_avg_pool3d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `adaptive_avg_pool3d`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def adaptive_max_pool1d(x: TensorLike, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The largest elements of ``output_size`` windows that cover sequences.

    The windows are those of `adaptive_avg_pool2d`. NaN counts as largest.

    Parameters
    ----------
    x : tensor_like, (batch, channels, length)
        The sequences. The batch axis may be missing.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    Tensor
        The maxima, of shape ``(batch, channels, *output_size)``.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    adaptive_max_pool1d_backward : Its gradient.

    Notes
    -----
    Derivative:
    ``grad_output`` to the largest element of its window, the first of several.
    """

def adaptive_max_pool1d_backward(
    grad_output: TensorLike, x: TensorLike, output_size: int | Sequence[int | None] | None
) -> Tensor:
    """``grad_output`` to the first of the largest elements of each window.

    The backward pass of `adaptive_max_pool1d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `adaptive_max_pool1d`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, channels, length)
        The sequences. The batch axis may be missing.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def adaptive_max_pool1d_with_indices(
    x: TensorLike, output_size: int | Sequence[int | None] | None
) -> tuple[Tensor, Tensor]:
    """The largest elements of ``output_size`` windows, as in `adaptive_max_pool1d`, and their places.

    Parameters
    ----------
    x : tensor_like, (batch, channels, length)
        The sequences. The batch axis may be missing.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    tuple of Tensor
        The maxima, and the index of each into the flattened axes behind the channels, int64. Of
        equal elements it is that of the first.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    adaptive_max_pool1d_with_indices_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` (of the maxima) to the elements at ``indices``.
    """

def adaptive_max_pool1d_with_indices_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    indices: TensorLike,
    output_size: int | Sequence[int | None] | None,
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` added at ``indices``.

    The backward pass of `adaptive_max_pool1d_with_indices`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the first result of `adaptive_max_pool1d_with_indices`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like
        The second result of `adaptive_max_pool1d_with_indices`.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def adaptive_max_pool2d(x: TensorLike, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The largest elements of ``output_size`` windows that cover pictures.

    The windows are those of `adaptive_avg_pool2d`. NaN counts as largest.

    Parameters
    ----------
    x : tensor_like, (batch, channels, height, width)
        The pictures. The batch axis may be missing.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    Tensor
        The maxima, of shape ``(batch, channels, *output_size)``.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    adaptive_max_pool2d_backward : Its gradient.

    Notes
    -----
    Derivative:
    ``grad_output`` to the largest element of its window, the first of several.
    """

def adaptive_max_pool2d_backward(
    grad_output: TensorLike, x: TensorLike, output_size: int | Sequence[int | None] | None
) -> Tensor:
    """``grad_output`` to the first of the largest elements of each window.

    The backward pass of `adaptive_max_pool2d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `adaptive_max_pool2d`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, channels, height, width)
        The pictures. The batch axis may be missing.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def adaptive_max_pool2d_with_indices(
    x: TensorLike, output_size: int | Sequence[int | None] | None
) -> tuple[Tensor, Tensor]:
    """The largest elements of ``output_size`` windows, as in `adaptive_max_pool2d`, and their places.

    Parameters
    ----------
    x : tensor_like, (batch, channels, height, width)
        The pictures. The batch axis may be missing.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    tuple of Tensor
        The maxima, and the index of each into the flattened axes behind the channels, int64. Of
        equal elements it is that of the first.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    adaptive_max_pool2d_with_indices_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` (of the maxima) to the elements at ``indices``.
    """

def adaptive_max_pool2d_with_indices_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    indices: TensorLike,
    output_size: int | Sequence[int | None] | None,
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` added at ``indices``.

    The backward pass of `adaptive_max_pool2d_with_indices`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the first result of `adaptive_max_pool2d_with_indices`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like
        The second result of `adaptive_max_pool2d_with_indices`.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def adaptive_max_pool3d(x: TensorLike, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The largest elements of ``output_size`` windows that cover volumes.

    The windows are those of `adaptive_avg_pool2d`. NaN counts as largest.

    Parameters
    ----------
    x : tensor_like, (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    Tensor
        The maxima, of shape ``(batch, channels, *output_size)``.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    adaptive_max_pool3d_backward : Its gradient.

    Notes
    -----
    Derivative:
    ``grad_output`` to the largest element of its window, the first of several.
    """

def adaptive_max_pool3d_backward(
    grad_output: TensorLike, x: TensorLike, output_size: int | Sequence[int | None] | None
) -> Tensor:
    """``grad_output`` to the first of the largest elements of each window.

    The backward pass of `adaptive_max_pool3d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `adaptive_max_pool3d`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def adaptive_max_pool3d_with_indices(
    x: TensorLike, output_size: int | Sequence[int | None] | None
) -> tuple[Tensor, Tensor]:
    """The largest elements of ``output_size`` windows, as in `adaptive_max_pool3d`, and their places.

    Parameters
    ----------
    x : tensor_like, (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    tuple of Tensor
        The maxima, and the index of each into the flattened axes behind the channels, int64. Of
        equal elements it is that of the first.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    adaptive_max_pool3d_with_indices_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` (of the maxima) to the elements at ``indices``.
    """

def adaptive_max_pool3d_with_indices_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    indices: TensorLike,
    output_size: int | Sequence[int | None] | None,
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` added at ``indices``.

    The backward pass of `adaptive_max_pool3d_with_indices`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the first result of `adaptive_max_pool3d_with_indices`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like
        The second result of `adaptive_max_pool3d_with_indices`.
    output_size : int or sequence of ints
        The size of the result: a number, or one for each axis, None for an axis that stays.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def add(a: TensorLike, b: TensorLike) -> Tensor:
    """The sum ``a + b``.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        The result, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    add_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` for both, summed to their shapes.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def add_backward(
    grad_output: TensorLike, a_shape: Sequence[int], b_shape: Sequence[int]
) -> add_gradients:
    """``grad_output`` for both, summed to their shapes.

    The backward pass of `add`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `add`, of its shape. Its dtype must be floating.
    a_shape : sequence of ints
        Shape of ``a``.
    b_shape : sequence of ints
        Shape of ``b``.

    Returns
    -------
    add_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def affine_grid(
    theta: TensorLike, size: Sequence[int], align_corners: bool | None = None
) -> Tensor:
    """The places at which affine maps read pictures, for `grid_sample`.

    Parameters
    ----------
    theta : tensor_like, (batch, 2, 3)
        The matrices, or (batch, 3, 4) for volumes.
    size : sequence of ints
        The shape of the result of `grid_sample`.
    align_corners : bool, optional
        Whether -1 and 1 are the centres of the outermost elements instead of their edges, by default
        False.

    Returns
    -------
    Tensor
        The places, (batch, height, width, 2), or (batch, depth, height, width, 3).

    Raises
    ------
    ValueError
        If ``theta`` and ``size`` do not fit each other.

    See Also
    --------
    affine_grid_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` times the places of the elements, summed over these.

    Integers and booleans are converted to the default dtype first.
    """

def affine_grid_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    size: Sequence[int],
    align_corners: bool | None = None,
) -> Tensor:
    """``grad_output`` times the places of the elements.

    The backward pass of `affine_grid`: from the gradient of its result to that of ``theta``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `affine_grid`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``theta``.
    size : sequence of ints
        The shape of the result of `grid_sample`.
    align_corners : bool, optional
        Whether -1 and 1 are the centres of the outermost elements instead of their edges, by default
        False.

    Returns
    -------
    Tensor
        Gradient of ``theta``, of its shape and dtype.
    """

def all(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """True if every element over ``axis`` is true (not 0); True over nothing.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
        with size 1.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice.

    Notes
    -----
    The result has no gradient.
    """

def alpha_dropout(
    x: TensorLike, p: float = 0.5, training: bool = False, generator: Generator | None = None
) -> Tensor:
    """Elements set to the lowest value of `selu` with probability ``p``, then all scaled and shifted.

    With ``a = ((1 - p) * (1 + p * c**2))**-0.5`` for the value ``c = -1.7581`` an element becomes
    ``a * x - a * p * c`` where it stays, else ``a * c - a * p * c``. A mean of 0 and a variance of 1
    are kept.

    Parameters
    ----------
    x : tensor_like
        The input.
    p : float, default 0.5
        The probability of a 0, from 0 to 1.
    training : bool, default False
        Whether to drop anything. If False, ``x`` is returned as it is.
    generator : Generator, optional
        The source of the mask, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``p`` is not in [0, 1].

    See Also
    --------
    alpha_dropout_backward : Its gradient.

    Notes
    -----
    Derivative: ``a`` where the element stayed, else 0.
    """

def alpha_dropout_backward(
    grad_output: TensorLike, mask: TensorLike | None, p: float = 0.5
) -> Tensor:
    """``a * grad_output`` where ``mask`` is true, else 0.

    The backward pass of `alpha_dropout`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `alpha_dropout`, of its shape. Its dtype must be floating.
    mask : tensor_like, booleans
        The mask of the forward: true where a value stayed. None if nothing was dropped.
    p : float, default 0.5
        The probability of a 0, from 0 to 1.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def any(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """True if an element over ``axis`` is true (not 0); False over nothing.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
        with size 1.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice.

    Notes
    -----
    The result has no gradient.
    """

def argmax(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the first largest element along ``axis``, or of all; NaN counts as largest.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int, optional
        The axis to search along. By default all elements are searched, as if flattened.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The indices, of dtype int64, in the shape of ``x`` without ``axis``, or with size 1
        there.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or there is no element to choose.

    Notes
    -----
    The result has no gradient.
    """

def argmin(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the first smallest element along ``axis``, or of all; NaN counts as smallest.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int, optional
        The axis to search along. By default all elements are searched, as if flattened.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The indices, of dtype int64, in the shape of ``x`` without ``axis``, or with size 1
        there.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or there is no element to choose.

    Notes
    -----
    The result has no gradient.
    """

def argsort(x: TensorLike, axis: int = -1, descending: bool = False) -> Tensor:
    """The indices that sort ``x`` along ``axis``; equal elements stay in their order.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int, default -1
        The axis to sort along.
    descending : bool, default False
        Whether the largest elements come first.

    Returns
    -------
    Tensor
        The indices, of dtype int64, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``axis`` is out of range.

    Notes
    -----
    The result has no gradient.
    """

def asin(x: TensorLike) -> Tensor:
    """The angle in [-pi/2, pi/2] whose sine is ``x``; NaN outside [-1, 1].

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    asin_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 / sqrt(1 - x**2)``, infinite at -1 and 1.

    Integers and booleans are converted to the default dtype first.
    """

def asin_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output / sqrt(1 - x**2)``.

    The backward pass of `asin`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `asin`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def asinh(x: TensorLike) -> Tensor:
    """The number whose hyperbolic sine is ``x``.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    asinh_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 / sqrt(1 + x**2)``.

    Integers and booleans are converted to the default dtype first.
    """

def asinh_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output / sqrt(1 + x**2)``.

    The backward pass of `asinh`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `asinh`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def atan(x: TensorLike) -> Tensor:
    """The angle in [-pi/2, pi/2] whose tangent is ``x``.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    atan_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 / (1 + x**2)``.

    Integers and booleans are converted to the default dtype first.
    """

def atan_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output / (1 + x**2)``.

    The backward pass of `atan`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `atan`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def atan2(a: TensorLike, b: TensorLike) -> Tensor:
    """The angle in [-pi, pi] of the point with height ``a`` and abscissa ``b``.

    Parameters
    ----------
    a : tensor_like
        The heights.
    b : tensor_like
        The abscissas. They broadcast against ``a``.

    Returns
    -------
    Tensor
        The result, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    atan2_backward : Its gradient.

    Notes
    -----
    Derivative: ``b / (a**2 + b**2)`` and ``-a / (a**2 + b**2)``, 0 for both at the origin.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def atan2_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> atan2_gradients:
    """``grad_output * b / (a**2 + b**2)`` and ``-grad_output * a / (a**2 + b**2)``.

    The backward pass of `atan2`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `atan2`, of its shape. Its dtype must be floating.
    a : tensor_like
        The heights.
    b : tensor_like
        The abscissas. They broadcast against ``a``.

    Returns
    -------
    atan2_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def atanh(x: TensorLike) -> Tensor:
    """The number whose hyperbolic tangent is ``x``; NaN outside [-1, 1].

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    atanh_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 / (1 - x**2)``, infinite at -1 and 1.

    Integers and booleans are converted to the default dtype first.
    """

def atanh_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output / (1 - x**2)``.

    The backward pass of `atanh`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `atanh`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def avg_pool1d(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of sequences.

    Parameters
    ----------
    x : tensor_like, (batch, channels, length)
        The sequences. The batch axis may be missing.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.
    count_include_pad : bool, default True
        Whether the padding counts as zeros, or not at all.

    Returns
    -------
    Tensor
        The means, of shape (batch, channels, length). See `max_pool2d` for the length.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    avg_pool1d_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` divided by the number of elements that count, to each of them.
    """

def avg_pool1d_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """``grad_output`` divided by the number of elements that count, to each element of the window.

    The backward pass of `avg_pool1d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `avg_pool1d`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.
    count_include_pad : bool, default True
        Whether the padding counts as zeros, or not at all.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def avg_pool2d(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of pictures.

    Parameters
    ----------
    x : tensor_like, (batch, channels, height, width)
        The pictures. The batch axis may be missing.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.
    count_include_pad : bool, default True
        Whether the padding counts as zeros, or not at all. What lies behind it, with
        ``ceil_mode``, never counts.
    divisor_override : int, optional
        A number by which sums are divided, instead of the number of elements.

    Returns
    -------
    Tensor
        The means, of shape (batch, channels, height, width). See `max_pool2d` for the sizes.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    avg_pool2d_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` divided by the number of elements that count, to each of them.
    """

def avg_pool2d_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """``grad_output`` divided by the number of elements that count, to each element of the window.

    The backward pass of `avg_pool2d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `avg_pool2d`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.
    count_include_pad : bool, default True
        Whether the padding counts as zeros, or not at all. What lies behind it, with
        ``ceil_mode``, never counts.
    divisor_override : int, optional
        A number by which sums are divided, instead of the number of elements.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def avg_pool3d(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of volumes.

    Parameters
    ----------
    x : tensor_like, (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.
    count_include_pad : bool, default True
        Whether the padding counts as zeros, or not at all. What lies behind it, with
        ``ceil_mode``, never counts.
    divisor_override : int, optional
        A number by which sums are divided, instead of the number of elements.

    Returns
    -------
    Tensor
        The means, of shape (batch, channels, depth, height, width). See `max_pool2d` for the sizes.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    avg_pool3d_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` divided by the number of elements that count, to each of them.
    """

def avg_pool3d_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """``grad_output`` divided by the number of elements that count, to each element of the window.

    The backward pass of `avg_pool3d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `avg_pool3d`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.
    count_include_pad : bool, default True
        Whether the padding counts as zeros, or not at all. What lies behind it, with
        ``ceil_mode``, never counts.
    divisor_override : int, optional
        A number by which sums are divided, instead of the number of elements.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def batch_norm(
    x: TensorLike,
    running_mean: TensorLike | None,
    running_var: TensorLike | None,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, channel by channel.

    In training, ``mean`` and ``var`` are those of each channel of ``x``, and the running
    statistics move towards them, in place: ``(1 - momentum) * running + momentum * own``, where
    the own variance is divided by n - 1. Otherwise they are the running statistics.

    Parameters
    ----------
    x : tensor_like, (batch, channels, ...)
        The input.
    running_mean, running_var : tensor_like, (channels,)
        Running statistics of the channels. They have no gradient.
    weight, bias : tensor_like, (channels,), optional
        Factors for the normalized values, and numbers to add to them; by default 1 and 0.
    training : bool, default False
        Whether to normalize with the statistics of ``x`` and to update the running ones.
    momentum : float, default 0.1
        The weight of the present batch in the running statistics.
    eps : float, default 1e-05
        A number that is added to the variance, so that the root is never 0.

    Returns
    -------
    Tensor
        The normalized values, in the shape of ``x``.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    batch_norm_backward : Its gradient.

    Notes
    -----
    Derivative:
    in ``x`` in training as for ``layer_norm``, over a channel; else
    ``weight / sqrt(var + eps)``; in ``weight``: ``(x - mean) / sqrt(var + eps)``; in ``bias``:
    1; the running statistics have none.

    Integers and booleans are converted to the default dtype first.
    """

def batch_norm_backward(
    grad_output: TensorLike,
    x: TensorLike,
    running_mean: TensorLike,
    running_var: TensorLike,
    weight: TensorLike | None = None,
    training: bool = False,
    eps: float = 1e-05,
) -> batch_norm_gradients:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last two without them too.

    The backward pass of `batch_norm`: from the gradient of its result to that of ``x`` and ``weight`` and ``bias``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `batch_norm`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, channels, ...)
        The input.
    running_mean, running_var : tensor_like, (channels,)
        Running statistics of the channels. They have no gradient.
    weight : tensor_like, (channels,), optional
        Factors for the normalized values, and numbers to add to them; by default 1 and 0.
    training : bool, default False
        Whether to normalize with the statistics of ``x`` and to update the running ones.
    eps : float, default 1e-05
        A number that is added to the variance, so that the root is never 0.

    Returns
    -------
    batch_norm_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_weight``, of the shape and dtype of ``weight``.
        - ``grad_bias``, of the shape and dtype of ``bias``.
    """

def bilinear(
    x1: TensorLike, x2: TensorLike, weight: TensorLike, bias: TensorLike | None = None
) -> Tensor:
    """``sum(x1[i] * weight[o, i, j] * x2[j])`` over i and j for each output o, plus ``bias``.

    Parameters
    ----------
    x1 : tensor_like, (..., in1)
        The first input.
    x2 : tensor_like, (..., in2)
        The second input.
    weight : tensor_like, (out, in1, in2)
        A matrix for each output.
    bias : tensor_like, (out,), optional
        Numbers to add to the outputs.

    Returns
    -------
    Tensor
        The result, (..., out).

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    bilinear_backward : Its gradient.

    Notes
    -----
    Derivative: the same sum with ``grad_output`` in the place of what it is taken by.

    Integers and booleans are converted to the default dtype first.
    """

def bilinear_backward(
    grad_output: TensorLike, x1: TensorLike, x2: TensorLike, weight: TensorLike
) -> bilinear_gradients:
    """The gradients of both inputs, ``weight`` and ``bias``; by hand the last comes without one too.

    The backward pass of `bilinear`: from the gradient of its result to that of ``x1`` and ``x2`` and ``weight`` and ``bias``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `bilinear`, of its shape. Its dtype must be floating.
    x1 : tensor_like, (..., in1)
        The first input.
    x2 : tensor_like, (..., in2)
        The second input.
    weight : tensor_like, (out, in1, in2)
        A matrix for each output.

    Returns
    -------
    bilinear_gradients
        Named tuple of the gradients:

        - ``grad_x1``, of the shape and dtype of ``x1``.
        - ``grad_x2``, of the shape and dtype of ``x2``.
        - ``grad_weight``, of the shape and dtype of ``weight``.
        - ``grad_bias``, of the shape and dtype of ``bias``.
    """

def binary_cross_entropy(
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    weight: TensorLike | None = None,
) -> Tensor:
    """The binary cross-entropy of probabilities.

    It is ``-(target * log(prediction) + (1 - target) * log(1 - prediction))``, times
    ``weight``. Each logarithm is at least -100, so a sure mistake costs 100.

    Parameters
    ----------
    prediction : tensor_like
        Probabilities, from 0 to 1.
    target : tensor_like
        Labels 0 and 1, or probabilities, in the shape of ``prediction``.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.
    weight : tensor_like, optional
        Factors of the losses, to whose shape they broadcast.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    binary_cross_entropy_backward : Its gradient.

    Notes
    -----
    Derivative in
    ``prediction`` p: ``(p - target) / (p * (1 - p))``, a denominator below 1e-12 lifted to it;
    in ``target``: ``log(1 - p) - log(p)``. ``weight`` has no gradient.

    Integers and booleans are converted to the default dtype first.
    """

def binary_cross_entropy_backward(
    grad_output: TensorLike,
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    weight: TensorLike | None = None,
) -> binary_cross_entropy_gradients:
    """``grad_output`` times ``(p - target) / (p * (1 - p))`` and ``log(1 - p) - log(p)``.

    The backward pass of `binary_cross_entropy`: from the gradient of its result to that of ``prediction`` and ``target``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `binary_cross_entropy`, of its shape. Its dtype must be floating.
    prediction : tensor_like
        Probabilities, from 0 to 1.
    target : tensor_like
        Labels 0 and 1, or probabilities, in the shape of ``prediction``.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.
    weight : tensor_like, optional
        Factors of the losses, to whose shape they broadcast.

    Returns
    -------
    binary_cross_entropy_gradients
        Named tuple of the gradients:

        - ``grad_prediction``, of the shape and dtype of ``prediction``.
        - ``grad_target``, of the shape and dtype of ``target``.
    """

def binary_cross_entropy_with_logits(
    logits: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    weight: TensorLike | None = None,
    pos_weight: TensorLike | None = None,
) -> Tensor:
    """The binary cross-entropy of ``sigmoid(logits)``, computed without overflow or cancellation.

    Parameters
    ----------
    logits : tensor_like
        The output of a model, before any sigmoid or softmax.
    target : tensor_like
        Labels 0 and 1, or probabilities, in the shape of ``logits``.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.
    weight : tensor_like, optional
        Factors of the losses, to whose shape they broadcast. They have no gradient.
    pos_weight : tensor_like, optional
        Factors of the losses of positive targets. They broadcast too, and have no gradient.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    binary_cross_entropy_with_logits_backward : Its gradient.

    Notes
    -----
    Derivative in ``logits`` x:
    ``(1 - target) * sigmoid(x) - pos_weight * target * sigmoid(-x)``, so
    ``sigmoid(x) - target`` without ``pos_weight``; in ``target``:
    ``pos_weight * softplus(-x) - softplus(x)``.

    Integers and booleans are converted to the default dtype first.
    """

def binary_cross_entropy_with_logits_backward(
    grad_output: TensorLike,
    logits: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    weight: TensorLike | None = None,
    pos_weight: TensorLike | None = None,
) -> binary_cross_entropy_with_logits_gradients:
    """``grad_output`` times the derivatives in ``logits`` and ``target``.

    The backward pass of `binary_cross_entropy_with_logits`: from the gradient of its result to that of ``logits`` and ``target``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `binary_cross_entropy_with_logits`, of its shape. Its dtype must be floating.
    logits : tensor_like
        The output of a model, before any sigmoid or softmax.
    target : tensor_like
        Labels 0 and 1, or probabilities, in the shape of ``logits``.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.
    weight : tensor_like, optional
        Factors of the losses, to whose shape they broadcast. They have no gradient.
    pos_weight : tensor_like, optional
        Factors of the losses of positive targets. They broadcast too, and have no gradient.

    Returns
    -------
    binary_cross_entropy_with_logits_gradients
        Named tuple of the gradients:

        - ``grad_logits``, of the shape and dtype of ``logits``.
        - ``grad_target``, of the shape and dtype of ``target``.
    """

def bincount(x: TensorLike, minlength: int = 0) -> Tensor:
    """How often each number from 0 on occurs in ``x``.

    Parameters
    ----------
    x : tensor_like, (n,), ints
        Numbers from 0 on.
    minlength : int, default 0
        Least length of the result.

    Returns
    -------
    Tensor
        The counts, of dtype int64, up to that of the largest number.

    Raises
    ------
    ValueError
        If ``x`` does not have one axis or has negative numbers.

    Notes
    -----
    The result has no gradient.
    """

def bitwise_and(a: TensorLike, b: TensorLike) -> Tensor:
    """The bits that both have; of booleans, whether both are true.

    Parameters
    ----------
    a, b : tensor_like
        Integers or booleans.

    Returns
    -------
    Tensor
        The bits, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    TypeError
        If an operand is floating.

    Notes
    -----
    The result has no gradient.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def bitwise_not(x: TensorLike) -> Tensor:
    """The complement of every bit; of booleans, whether it is false.

    Parameters
    ----------
    x : tensor_like
        Integers or booleans.

    Returns
    -------
    Tensor
        The bits, in the shape of ``x``.

    Raises
    ------
    TypeError
        If ``x`` is floating.

    Notes
    -----
    The result has no gradient.
    """

def bitwise_or(a: TensorLike, b: TensorLike) -> Tensor:
    """The bits that either has; of booleans, whether either is true.

    Parameters
    ----------
    a, b : tensor_like
        Integers or booleans.

    Returns
    -------
    Tensor
        The bits, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    TypeError
        If an operand is floating.

    Notes
    -----
    The result has no gradient.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def bitwise_xor(a: TensorLike, b: TensorLike) -> Tensor:
    """The bits that exactly one has; of booleans, whether exactly one is true.

    Parameters
    ----------
    a, b : tensor_like
        Integers or booleans.

    Returns
    -------
    Tensor
        The bits, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    TypeError
        If an operand is floating.

    Notes
    -----
    The result has no gradient.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def broadcast_to(x: TensorLike, shape: int | Sequence[int]) -> Tensor:
    """``x`` stretched to ``shape``, as a read-only view.

    Parameters
    ----------
    x : tensor_like
        The input.
    shape : int or sequence of ints
        The shape of the result.

    Returns
    -------
    Tensor
        ``x`` in ``shape``, without a copy. It cannot be written to.

    Raises
    ------
    ValueError
        If ``x`` does not broadcast to ``shape``.

    See Also
    --------
    broadcast_to_backward : Its gradient.

    Notes
    -----
    Derivative: the sum over the stretched axes.
    """

def broadcast_to_backward(grad_output: TensorLike, input_shape: Sequence[int]) -> Tensor:
    """The sum of ``grad_output`` over the axes that were added or stretched.

    The backward pass of `broadcast_to`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `broadcast_to`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def bucketize(x: TensorLike, boundaries: TensorLike, right: bool = False) -> Tensor:
    """The number of the bucket of each element: the bucket ``i`` ends at ``boundaries[i]``.

    Parameters
    ----------
    x : tensor_like
        The input.
    boundaries : tensor_like, (n,)
        Numbers in increasing order.
    right : bool, default False
        Whether a boundary belongs to the bucket on its right, or to that on its left.

    Returns
    -------
    Tensor
        The numbers, from 0 to ``n``, of dtype int64, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``boundaries`` does not have one axis.

    Notes
    -----
    The result has no gradient.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def cast(x: TensorLike, dtype: DTypeLike) -> Tensor:
    """The same values in another dtype, as a copy.

    Parameters
    ----------
    x : tensor_like
        The input.
    dtype : dtype_like
        The dtype of the result.

    Returns
    -------
    Tensor
        A copy of ``x`` in ``dtype``.

    Raises
    ------
    TypeError
        If ``dtype`` is not supported.

    See Also
    --------
    cast_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` in the dtype of ``x``.
    """

def cast_backward(grad_output: TensorLike, input_dtype: DTypeLike) -> Tensor:
    """``grad_output`` in the dtype that the input had.

    The backward pass of `cast`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `cast`, of its shape. Its dtype must be floating.
    input_dtype : dtype_like
        Dtype of ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def cdist(x1: TensorLike, x2: TensorLike, p: float = 2.0) -> Tensor:
    """The p-norm of the difference of every row of ``x1`` and every row of ``x2``.

    Parameters
    ----------
    x1 : tensor_like, (..., n, features)
        Vectors.
    x2 : tensor_like, (..., m, features)
        Vectors to compare them with.
    p : float, default 2.0
        The order of the norm, 0 or greater.

    Returns
    -------
    Tensor, (..., n, m)
        The distances.

    Raises
    ------
    ValueError
        If the shapes do not fit or ``p`` is negative.

    See Also
    --------
    cdist_backward : Its gradient.

    Notes
    -----
    Derivative: the sums of those of the norms over the rows of the other; 0 for a distance of 0, and
    for ``p=0``, which counts the elements that differ.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.

    All differences are in memory at once: n times m vectors.
    """

def cdist_backward(
    grad_output: TensorLike, x1: TensorLike, x2: TensorLike, p: float = 2.0
) -> cdist_gradients:
    """``grad_output`` along all differences, summed over the rows of the other.

    The backward pass of `cdist`: from the gradient of its result to that of ``x1`` and ``x2``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `cdist`, of its shape. Its dtype must be floating.
    x1 : tensor_like, (..., n, features)
        Vectors.
    x2 : tensor_like, (..., m, features)
        Vectors to compare them with.
    p : float, default 2.0
        The order of the norm, 0 or greater.

    Returns
    -------
    cdist_gradients
        Named tuple of the gradients:

        - ``grad_x1``, of the shape and dtype of ``x1``.
        - ``grad_x2``, of the shape and dtype of ``x2``.
    """

def ceil(x: TensorLike) -> Tensor:
    """The smallest whole number not below ``x``.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    ceil_backward : Its gradient.

    Notes
    -----
    Derivative: 0.
    """

def ceil_backward(grad_output: TensorLike) -> Tensor:
    """Zeros: the function is piecewise constant.

    The backward pass of `ceil`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `ceil`, of its shape. Its dtype must be floating.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def celu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """The continuously differentiable `elu`: ``alpha * (exp(x / alpha) - 1)`` where ``x`` is negative.

    Elsewhere it is ``x``.

    Parameters
    ----------
    x : tensor_like
        The input.
    alpha : float, default 1.0
        Minus the value that is approached at -inf.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``alpha`` is 0.

    See Also
    --------
    celu_backward : Its gradient.

    Notes
    -----
    Derivative: 1 or ``exp(x / alpha)``.

    Integers and booleans are converted to the default dtype first.
    """

def celu_backward(grad_output: TensorLike, x: TensorLike, alpha: float = 1.0) -> Tensor:
    """``grad_output`` times 1 or ``exp(x / alpha)``.

    The backward pass of `celu`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `celu`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    alpha : float, default 1.0
        Minus the value that is approached at -inf.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def chain_divide(gradient: TensorLike, denominator: TensorLike) -> Tensor:
    """``gradient / denominator``, and exactly 0 where ``gradient`` is 0.

    Parameters
    ----------
    gradient : tensor_like
        The gradient that comes in.
    denominator : tensor_like
        The number to divide it by.

    Returns
    -------
    Tensor
        The quotient, in the shape to which both broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    chain_divide_backward : Its gradient.

    Notes
    -----
    Derivative: as for ``divide``.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def chain_divide_backward(
    grad_output: TensorLike, gradient: TensorLike, denominator: TensorLike
) -> chain_divide_gradients:
    """``grad_output / denominator`` and ``-grad_output * gradient / denominator**2``.

    The backward pass of `chain_divide`: from the gradient of its result to that of ``gradient`` and ``denominator``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `chain_divide`, of its shape. Its dtype must be floating.
    gradient : tensor_like
        The gradient that comes in.
    denominator : tensor_like
        The number to divide it by.

    Returns
    -------
    chain_divide_gradients
        Named tuple of the gradients:

        - ``grad_gradient``, of the shape and dtype of ``gradient``.
        - ``grad_denominator``, of the shape and dtype of ``denominator``.
    """

def chain_rule(gradient: TensorLike, derivative: TensorLike) -> Tensor:
    """``gradient * derivative``, and exactly 0 where ``gradient`` is 0.

    Parameters
    ----------
    gradient : tensor_like
        The gradient that comes in.
    derivative : tensor_like
        The derivative to multiply it by.

    Returns
    -------
    Tensor
        The product, in the shape to which both broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    chain_rule_backward : Its gradient.

    Notes
    -----
    Derivative: as for ``multiply``.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.

    Rules multiply with it, so that a gradient of zero stays zero even where a derivative is
    infinite or NaN.
    """

def chain_rule_backward(
    grad_output: TensorLike, gradient: TensorLike, derivative: TensorLike
) -> chain_rule_gradients:
    """``grad_output * derivative`` and ``grad_output * gradient``, summed to the inputs' shapes.

    The backward pass of `chain_rule`: from the gradient of its result to that of ``gradient`` and ``derivative``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `chain_rule`, of its shape. Its dtype must be floating.
    gradient : tensor_like
        The gradient that comes in.
    derivative : tensor_like
        The derivative to multiply it by.

    Returns
    -------
    chain_rule_gradients
        Named tuple of the gradients:

        - ``grad_gradient``, of the shape and dtype of ``gradient``.
        - ``grad_derivative``, of the shape and dtype of ``derivative``.
    """

def channel_shuffle(x: TensorLike, groups: int) -> Tensor:
    """The channels of ``groups`` groups in turn: the first of each group, the second of each, ...

    Parameters
    ----------
    x : tensor_like, (batch, channels, ...)
        The input.
    groups : int
        The number of groups, which must divide the channels.

    Returns
    -------
    Tensor
        The same channels in another order.

    Raises
    ------
    ValueError
        If ``groups`` does not divide the channels.

    See Also
    --------
    channel_shuffle_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` with its channels put back.
    """

def channel_shuffle_backward(
    grad_output: TensorLike, input_shape: Sequence[int], groups: int
) -> Tensor:
    """``grad_output`` with its channels put back.

    The backward pass of `channel_shuffle`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `channel_shuffle`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    groups : int
        The number of groups, which must divide the channels.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def cholesky(x: TensorLike) -> Tensor:
    """The lower triangle ``L`` with ``L @ L.T`` the symmetric part of ``x``, ``(x + x.T) / 2``.

    Parameters
    ----------
    x : tensor_like, (..., n, n)
        Square matrices.

    Returns
    -------
    Tensor
        Lower triangles with positive diagonals, in the shape of ``x``.

    Raises
    ------
    ValueError
        If the last two axes are not of one size, or a matrix does not allow it.

    See Also
    --------
    cholesky_backward : Its gradient.

    Notes
    -----
    Derivative: with ``P`` the lower triangle of ``L.T @ grad_output``, its diagonal halved, the
    symmetric part of ``inv(L).T @ P @ inv(L)``.

    Integers and booleans are converted to the default dtype first.
    """

def cholesky_backward(grad_output: TensorLike, output: TensorLike) -> Tensor:
    """The symmetric part of ``inv(L).T @ P @ inv(L)``.

    The backward pass of `cholesky`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `cholesky`, of its shape. Its dtype must be floating.
    output : tensor_like
        The result of `cholesky`.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def clip(x: TensorLike, min_val: float | None, max_val: float | None) -> Tensor:
    """``x`` limited to ``[min_val, max_val]``.

    If ``min_val`` exceeds ``max_val``, every element becomes ``max_val``.

    Parameters
    ----------
    x : tensor_like
        The input.
    min_val, max_val : float
        The bounds; None for no bound.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    clip_backward : Its gradient.

    Notes
    -----
    Derivative: 1 inside,
    bounds included, else 0.
    """

def clip_backward(
    grad_output: TensorLike, x: TensorLike, min_val: float | None, max_val: float | None
) -> Tensor:
    """``grad_output`` where ``x`` is within the bounds, else 0.

    The backward pass of `clip`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `clip`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    min_val, max_val : float
        The bounds; None for no bound.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def clone(x: TensorLike) -> Tensor:
    """The same values in memory of their own.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        A copy of ``x``.

    See Also
    --------
    clone_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output``.
    """

def clone_backward(grad_output: TensorLike) -> Tensor:
    """``grad_output`` itself.

    The backward pass of `clone`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `clone`, of its shape. Its dtype must be floating.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def concatenate(tensors: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """The tensors one after another along ``axis``.

    Parameters
    ----------
    tensors : sequence of tensor_like
        The tensors, of the same shape but for ``axis``.
    axis : int, default 0
        The axis to join along.

    Returns
    -------
    Tensor
        The joined tensor.

    Raises
    ------
    ValueError
        If there is no tensor, their shapes differ elsewhere, or ``axis`` is out of range.

    See Also
    --------
    concatenate_backward : Its gradient.

    Notes
    -----
    Derivative: each gets its part.
    """

def concatenate_backward(
    grad_output: TensorLike, shapes: Sequence[Sequence[int]], axis: int = 0
) -> tuple[Tensor, ...]:
    """The part of ``grad_output`` that came from each tensor.

    The backward pass of `concatenate`: from the gradient of its result to that of ``tensors``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `concatenate`, of its shape. Its dtype must be floating.
    shapes : sequence of sequences of ints
        Shapes of ``tensors``.
    axis : int, default 0
        The axis to join along.

    Returns
    -------
    tuple of Tensor
        Gradient of each of ``tensors``, of its shape and dtype.
    """

def conv1d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | Literal["same", "valid"] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """The convolution (in fact cross-correlation) of sequences with ``weight``, plus ``bias``.

    Element p of output channel o is ``sum(weight[o, c, i] * x[n, c, s * p + d * i]) + bias[o]``
    over c and i, for the stride s and the dilation d.

    Parameters
    ----------
    x : tensor_like, (batch, in_channels, length)
        The sequences. The batch axis may be missing.
    weight : tensor_like, (out_channels, in_channels / groups, length)
        The windows.
    bias : tensor_like, (out_channels,), optional
        Numbers to add to the channels of the result.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.
    padding : int or sequence of ints or {'same', 'valid'}, default 0
        The number of zeros on each side of ``x``: a number, or one for each axis. "same" keeps the
        size, with one zero more after than before where the number is odd; "valid" is 0.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.
    groups : int, default 1
        The number of groups. Each connects its share of the input's channels with its share of the
        output's.

    Returns
    -------
    Tensor
        The result, of shape (batch, out_channels, length). ``n`` elements become
        ``(n + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1``.

    Raises
    ------
    ValueError
        If the shapes do not fit, ``groups`` does not divide the channels, or the padded input is
        smaller than a window.

    See Also
    --------
    conv1d_backward : Its gradient.

    Notes
    -----
    Derivative: as for :func:`conv2d`, with a
    height of 1.
    """

def conv1d_backward(
    grad_output: TensorLike,
    x: TensorLike,
    weight: TensorLike,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | Literal["same", "valid"] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> conv1d_gradients:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too.

    The backward pass of `conv1d`: from the gradient of its result to that of ``x`` and ``weight`` and ``bias``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `conv1d`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, in_channels, length)
        The sequences. The batch axis may be missing.
    weight : tensor_like, (out_channels, in_channels / groups, length)
        The windows.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.
    padding : int or sequence of ints or {'same', 'valid'}, default 0
        The number of zeros on each side of ``x``: a number, or one for each axis. "same" keeps the
        size, with one zero more after than before where the number is odd; "valid" is 0.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.
    groups : int, default 1
        The number of groups. Each connects its share of the input's channels with its share of the
        output's.

    Returns
    -------
    conv1d_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_weight``, of the shape and dtype of ``weight``.
        - ``grad_bias``, of the shape and dtype of ``bias``.
    """

def conv2d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | Literal["same", "valid"] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """The convolution (in fact cross-correlation) of pictures with ``weight``, plus ``bias``.

    Element p, q of output channel o is
    ``sum(weight[o, c, i, j] * x[n, c, s * p + d * i, s * q + d * j]) + bias[o]`` over c, i and
    j, for the stride s and the dilation d.

    Parameters
    ----------
    x : tensor_like, (batch, in_channels, height, width)
        The pictures. The batch axis may be missing.
    weight : tensor_like, (out_channels, in_channels / groups, height, width)
        The windows.
    bias : tensor_like, (out_channels,), optional
        Numbers to add to the channels of the result.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.
    padding : int or sequence of ints or {'same', 'valid'}, default 0
        The number of zeros on each side of ``x``: a number, or one for each axis. "same" keeps the
        size, with one zero more after than before where the number is odd; "valid" is 0.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.
    groups : int, default 1
        The number of groups. Each connects its share of the input's channels with its share of the
        output's.

    Returns
    -------
    Tensor
        The result, of shape (batch, out_channels, height, width). An axis of ``n`` elements
        becomes ``(n + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1``.

    Raises
    ------
    ValueError
        If the shapes do not fit, ``groups`` does not divide the channels, or the padded input is
        smaller than a window.

    See Also
    --------
    conv2d_backward : Its gradient.

    Notes
    -----
    Derivative: :func:`conv2d_grad_x`,
    :func:`conv2d_grad_weight`, and the sum of ``grad_output`` for each channel.
    """

def conv2d_backward(
    grad_output: TensorLike,
    x: TensorLike,
    weight: TensorLike,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | Literal["same", "valid"] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> conv2d_gradients:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too.

    The backward pass of `conv2d`: from the gradient of its result to that of ``x`` and ``weight`` and ``bias``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `conv2d`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, in_channels, height, width)
        The pictures. The batch axis may be missing.
    weight : tensor_like, (out_channels, in_channels / groups, height, width)
        The windows.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.
    padding : int or sequence of ints or {'same', 'valid'}, default 0
        The number of zeros on each side of ``x``: a number, or one for each axis. "same" keeps the
        size, with one zero more after than before where the number is odd; "valid" is 0.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.
    groups : int, default 1
        The number of groups. Each connects its share of the input's channels with its share of the
        output's.

    Returns
    -------
    conv2d_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_weight``, of the shape and dtype of ``weight``.
        - ``grad_bias``, of the shape and dtype of ``bias``.
    """

def conv2d_grad_weight(
    gradient: TensorLike,
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | Literal["same", "valid"] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of the weight of :func:`conv2d`, whose height and width are ``kernel_size``.

    ``gradient`` is that of the output: each of its elements times the window of ``x`` it came from,
    summed.

    Parameters
    ----------
    gradient : tensor_like, (batch, out_channels, height, width)
        The gradient of the result of `conv2d`.
    x : tensor_like, (batch, in_channels, height, width)
        The input of `conv2d`.
    kernel_size : int or sequence of ints
        The height and the width of a window.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.
    padding : int or sequence of ints or {'same', 'valid'}, default 0
        The number of zeros on each side of ``x``: a number, or one for each axis. "same" keeps the
        size, with one zero more after than before where the number is odd; "valid" is 0.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.
    groups : int, default 1
        The number of groups. Each connects its share of the input's channels with its share of the
        output's.

    Returns
    -------
    Tensor
        The gradient, of shape ``(out_channels, in_channels / groups, *kernel_size)``.

    Raises
    ------
    ValueError
        If the shapes do not fit, ``groups`` does not divide the channels, or the padded input is
        smaller than a window.

    See Also
    --------
    conv2d_grad_weight_backward : Its gradient.

    Notes
    -----
    Derivative: :func:`conv2d` of ``x`` and ``grad_output``, and :func:`conv2d_grad_x` of
    ``gradient`` and ``grad_output``.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def conv2d_grad_weight_backward(
    grad_output: TensorLike,
    gradient: TensorLike,
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | Literal["same", "valid"] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> conv2d_grad_weight_gradients:
    """``grad_output`` seen as the weight of a convolution, whose output ``gradient`` belongs to.

    The backward pass of `conv2d_grad_weight`: from the gradient of its result to that of ``gradient`` and ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `conv2d_grad_weight`, of its shape. Its dtype must be floating.
    gradient : tensor_like, (batch, out_channels, height, width)
        The gradient of the result of `conv2d`.
    x : tensor_like, (batch, in_channels, height, width)
        The input of `conv2d`.
    kernel_size : int or sequence of ints
        The height and the width of a window.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.
    padding : int or sequence of ints or {'same', 'valid'}, default 0
        The number of zeros on each side of ``x``: a number, or one for each axis. "same" keeps the
        size, with one zero more after than before where the number is odd; "valid" is 0.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.
    groups : int, default 1
        The number of groups. Each connects its share of the input's channels with its share of the
        output's.

    Returns
    -------
    conv2d_grad_weight_gradients
        Named tuple of the gradients:

        - ``grad_gradient``, of the shape and dtype of ``gradient``.
        - ``grad_x``, of the shape and dtype of ``x``.
    """

def conv2d_grad_x(
    gradient: TensorLike,
    weight: TensorLike,
    size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | Literal["same", "valid"] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of the input of :func:`conv2d`, whose height and width are ``size``.

    ``gradient`` is that of the output: each of its elements, times ``weight``, is added to the window
    it came from.

    Parameters
    ----------
    gradient : tensor_like, (batch, out_channels, height, width)
        The gradient of the result of `conv2d`.
    weight : tensor_like, (out_channels, in_channels / groups, height, width)
        The windows.
    size : int or sequence of ints
        The height and the width of the input of `conv2d`.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.
    padding : int or sequence of ints or {'same', 'valid'}, default 0
        The number of zeros on each side of ``x``: a number, or one for each axis. "same" keeps the
        size, with one zero more after than before where the number is odd; "valid" is 0.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.
    groups : int, default 1
        The number of groups. Each connects its share of the input's channels with its share of the
        output's.

    Returns
    -------
    Tensor
        The gradient, of shape ``(batch, in_channels, *size)``.

    Raises
    ------
    ValueError
        If the shapes do not fit, ``groups`` does not divide the channels, or the padded input is
        smaller than a window.

    See Also
    --------
    conv2d_grad_x_backward : Its gradient.

    Notes
    -----
    Derivative: :func:`conv2d` of ``grad_output`` and ``weight``, and
    :func:`conv2d_grad_weight` of ``gradient`` and ``grad_output``.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def conv2d_grad_x_backward(
    grad_output: TensorLike,
    gradient: TensorLike,
    weight: TensorLike,
    size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | Literal["same", "valid"] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> conv2d_grad_x_gradients:
    """``grad_output`` seen as the input of a convolution, whose output ``gradient`` belongs to.

    The backward pass of `conv2d_grad_x`: from the gradient of its result to that of ``gradient`` and ``weight``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `conv2d_grad_x`, of its shape. Its dtype must be floating.
    gradient : tensor_like, (batch, out_channels, height, width)
        The gradient of the result of `conv2d`.
    weight : tensor_like, (out_channels, in_channels / groups, height, width)
        The windows.
    size : int or sequence of ints
        The height and the width of the input of `conv2d`.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.
    padding : int or sequence of ints or {'same', 'valid'}, default 0
        The number of zeros on each side of ``x``: a number, or one for each axis. "same" keeps the
        size, with one zero more after than before where the number is odd; "valid" is 0.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.
    groups : int, default 1
        The number of groups. Each connects its share of the input's channels with its share of the
        output's.

    Returns
    -------
    conv2d_grad_x_gradients
        Named tuple of the gradients:

        - ``grad_gradient``, of the shape and dtype of ``gradient``.
        - ``grad_weight``, of the shape and dtype of ``weight``.
    """

def conv3d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | Literal["same", "valid"] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """The convolution (in fact cross-correlation) of volumes with ``weight``, plus ``bias``.

    The formula is that of :func:`conv2d` with one axis more.

    Parameters
    ----------
    x : tensor_like, (batch, in_channels, depth, height, width)
        The volumes. The batch axis may be missing.
    weight : tensor_like, (out_channels, in_channels / groups, depth, height, width)
        The windows.
    bias : tensor_like, (out_channels,), optional
        Numbers to add to the channels of the result.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.
    padding : int or sequence of ints or {'same', 'valid'}, default 0
        The number of zeros on each side of ``x``: a number, or one for each axis. "same" keeps the
        size, with one zero more after than before where the number is odd; "valid" is 0.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.
    groups : int, default 1
        The number of groups. Each connects its share of the input's channels with its share of the
        output's.

    Returns
    -------
    Tensor
        The result, of shape (batch, out_channels, depth, height, width). An axis of ``n`` elements
        becomes ``(n + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1``.

    Raises
    ------
    ValueError
        If the shapes do not fit, ``groups`` does not divide the channels, or the padded input is
        smaller than a window.

    See Also
    --------
    conv3d_backward : Its gradient.

    Notes
    -----
    Derivative: that of :func:`conv2d` with
    the slices of a window as channels.
    """

def conv3d_backward(
    grad_output: TensorLike,
    x: TensorLike,
    weight: TensorLike,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | Literal["same", "valid"] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> conv3d_gradients:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too.

    The backward pass of `conv3d`: from the gradient of its result to that of ``x`` and ``weight`` and ``bias``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `conv3d`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, in_channels, depth, height, width)
        The volumes. The batch axis may be missing.
    weight : tensor_like, (out_channels, in_channels / groups, depth, height, width)
        The windows.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.
    padding : int or sequence of ints or {'same', 'valid'}, default 0
        The number of zeros on each side of ``x``: a number, or one for each axis. "same" keeps the
        size, with one zero more after than before where the number is odd; "valid" is 0.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.
    groups : int, default 1
        The number of groups. Each connects its share of the input's channels with its share of the
        output's.

    Returns
    -------
    conv3d_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_weight``, of the shape and dtype of ``weight``.
        - ``grad_bias``, of the shape and dtype of ``bias``.
    """

def conv_transpose1d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Tensor:
    """The transposed convolution of sequences, as `conv_transpose2d` of pictures.

    Parameters
    ----------
    x : tensor_like, (batch, in_channels, length)
        The input. The batch axis may be missing.
    weight : tensor_like, (in_channels, out_channels / groups, length)
        The windows.
    bias : tensor_like, (out_channels,), optional
        Numbers to add to the channels of the result.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.
    padding : int or sequence of ints, default 0
        The number of elements to take off each side of the result.
    output_padding : int or sequence of ints, default 0
        The number of elements to add to the far end of the result, where a strided convolution
        drops elements.
    groups : int, default 1
        The number of groups. Each connects its share of the input's channels with its share of the
        output's.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.

    Returns
    -------
    Tensor
        The result, of shape (batch, out_channels, length). ``n`` elements become
        ``(n - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1``.

    Raises
    ------
    ValueError
        If the shapes do not fit, ``groups`` does not divide the channels, or the padded input is
        smaller than a window.

    See Also
    --------
    conv_transpose1d_backward : Its gradient.

    Notes
    -----
    Derivative: as for :func:`conv_transpose2d`, with a height of 1.
    """

def conv_transpose1d_backward(
    grad_output: TensorLike,
    x: TensorLike,
    weight: TensorLike,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> conv_transpose1d_gradients:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too.

    The backward pass of `conv_transpose1d`: from the gradient of its result to that of ``x`` and ``weight`` and ``bias``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `conv_transpose1d`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, in_channels, length)
        The input. The batch axis may be missing.
    weight : tensor_like, (in_channels, out_channels / groups, length)
        The windows.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.
    padding : int or sequence of ints, default 0
        The number of elements to take off each side of the result.
    output_padding : int or sequence of ints, default 0
        The number of elements to add to the far end of the result, where a strided convolution
        drops elements.
    groups : int, default 1
        The number of groups. Each connects its share of the input's channels with its share of the
        output's.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.

    Returns
    -------
    conv_transpose1d_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_weight``, of the shape and dtype of ``weight``.
        - ``grad_bias``, of the shape and dtype of ``bias``.
    """

def conv_transpose2d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Tensor:
    """The transposed convolution, which adds ``weight`` times each element to a window.

    This is :func:`conv2d_grad_x` as a layer.

    Parameters
    ----------
    x : tensor_like, (batch, in_channels, height, width)
        The input. The batch axis may be missing.
    weight : tensor_like, (in_channels, out_channels / groups, height, width)
        The windows.
    bias : tensor_like, (out_channels,), optional
        Numbers to add to the channels of the result.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.
    padding : int or sequence of ints, default 0
        The number of elements to take off each side of the result.
    output_padding : int or sequence of ints, default 0
        The number of elements to add to the far end of the result, where a strided convolution
        drops elements.
    groups : int, default 1
        The number of groups. Each connects its share of the input's channels with its share of the
        output's.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.

    Returns
    -------
    Tensor
        The result, of shape (batch, out_channels, height, width). An axis of ``n`` elements
        becomes
        ``(n - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1``.

    Raises
    ------
    ValueError
        If the shapes do not fit, ``groups`` does not divide the channels, or the padded input is
        smaller than a window.

    See Also
    --------
    conv_transpose2d_backward : Its gradient.

    Notes
    -----
    Derivative: :func:`conv2d` of ``grad_output``,
    :func:`conv2d_grad_weight` of ``x`` and ``grad_output``, and the sum for each channel.
    """

def conv_transpose2d_backward(
    grad_output: TensorLike,
    x: TensorLike,
    weight: TensorLike,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> conv_transpose2d_gradients:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too.

    The backward pass of `conv_transpose2d`: from the gradient of its result to that of ``x`` and ``weight`` and ``bias``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `conv_transpose2d`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, in_channels, height, width)
        The input. The batch axis may be missing.
    weight : tensor_like, (in_channels, out_channels / groups, height, width)
        The windows.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.
    padding : int or sequence of ints, default 0
        The number of elements to take off each side of the result.
    output_padding : int or sequence of ints, default 0
        The number of elements to add to the far end of the result, where a strided convolution
        drops elements.
    groups : int, default 1
        The number of groups. Each connects its share of the input's channels with its share of the
        output's.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.

    Returns
    -------
    conv_transpose2d_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_weight``, of the shape and dtype of ``weight``.
        - ``grad_bias``, of the shape and dtype of ``bias``.
    """

def conv_transpose3d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Tensor:
    """The transposed convolution of volumes, as `conv_transpose2d` of pictures.

    Parameters
    ----------
    x : tensor_like, (batch, in_channels, depth, height, width)
        The input. The batch axis may be missing.
    weight : tensor_like, (in_channels, out_channels / groups, depth, height, width)
        The windows.
    bias : tensor_like, (out_channels,), optional
        Numbers to add to the channels of the result.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.
    padding : int or sequence of ints, default 0
        The number of elements to take off each side of the result.
    output_padding : int or sequence of ints, default 0
        The number of elements to add to the far end of the result, where a strided convolution
        drops elements.
    groups : int, default 1
        The number of groups. Each connects its share of the input's channels with its share of the
        output's.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.

    Returns
    -------
    Tensor
        The result, of shape (batch, out_channels, depth, height, width). An axis of ``n`` elements
        becomes
        ``(n - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1``.

    Raises
    ------
    ValueError
        If the shapes do not fit, ``groups`` does not divide the channels, or the padded input is
        smaller than a window.

    See Also
    --------
    conv_transpose3d_backward : Its gradient.

    Notes
    -----
    Derivative: that of :func:`conv_transpose2d` with the slices of a window as channels.
    """

def conv_transpose3d_backward(
    grad_output: TensorLike,
    x: TensorLike,
    weight: TensorLike,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> conv_transpose3d_gradients:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too.

    The backward pass of `conv_transpose3d`: from the gradient of its result to that of ``x`` and ``weight`` and ``bias``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `conv_transpose3d`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, in_channels, depth, height, width)
        The input. The batch axis may be missing.
    weight : tensor_like, (in_channels, out_channels / groups, depth, height, width)
        The windows.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.
    padding : int or sequence of ints, default 0
        The number of elements to take off each side of the result.
    output_padding : int or sequence of ints, default 0
        The number of elements to add to the far end of the result, where a strided convolution
        drops elements.
    groups : int, default 1
        The number of groups. Each connects its share of the input's channels with its share of the
        output's.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.

    Returns
    -------
    conv_transpose3d_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_weight``, of the shape and dtype of ``weight``.
        - ``grad_bias``, of the shape and dtype of ``bias``.
    """

def copysign(a: TensorLike, b: TensorLike) -> Tensor:
    """The magnitude of ``a`` with the sign of ``b``.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        The result, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    copysign_backward : Its gradient.

    Notes
    -----
    Derivative: 1 where the signs are the same, else -1, and 0 where ``a`` is 0; for ``b`` 0.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def copysign_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> copysign_gradients:
    """``grad_output`` times the signs of ``a`` and ``b``, and zeros.

    The backward pass of `copysign`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `copysign`, of its shape. Its dtype must be floating.
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    copysign_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def cos(x: TensorLike) -> Tensor:
    """The cosine.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    cos_backward : Its gradient.

    Notes
    -----
    Derivative: ``-sin(x)``.

    Integers and booleans are converted to the default dtype first.
    """

def cos_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``-grad_output * sin(x)``.

    The backward pass of `cos`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `cos`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def cosh(x: TensorLike) -> Tensor:
    """The hyperbolic cosine.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    cosh_backward : Its gradient.

    Notes
    -----
    Derivative: ``sinh(x)``.

    Integers and booleans are converted to the default dtype first.
    """

def cosh_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * sinh(x)``.

    The backward pass of `cosh`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `cosh`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def cosine_embedding_loss(
    x1: TensorLike,
    x2: TensorLike,
    target: TensorLike,
    margin: float = 0.0,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> Tensor:
    """``1 - cos`` where ``target`` is 1, ``max(0, cos - margin)`` where it is -1.

    Parameters
    ----------
    x1, x2 : tensor_like, (..., features)
        The vectors to compare.
    target : tensor_like, (...), -1 or 1
        Whether the vectors should be alike (1) or not (-1).
    margin : float, default 0.0
        The cosine above which unlike vectors cost something, from -1 to 1.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    cosine_embedding_loss_backward : Its gradient.

    Notes
    -----
    Derivative of ``cos`` in ``x1``: ``(x2 / |x2| - cos * x1 / |x1|) / |x1|``, and so for
    ``x2``; 0 where the loss is 0. ``target`` has none.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def cosine_embedding_loss_backward(
    grad_output: TensorLike,
    x1: TensorLike,
    x2: TensorLike,
    target: TensorLike,
    margin: float = 0.0,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> cosine_embedding_loss_gradients:
    """``grad_output`` times minus the derivative of ``cos``, or plus it for pairs to be parted.

    The backward pass of `cosine_embedding_loss`: from the gradient of its result to that of ``x1`` and ``x2``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `cosine_embedding_loss`, of its shape. Its dtype must be floating.
    x1, x2 : tensor_like, (..., features)
        The vectors to compare.
    target : tensor_like, (...), -1 or 1
        Whether the vectors should be alike (1) or not (-1).
    margin : float, default 0.0
        The cosine above which unlike vectors cost something, from -1 to 1.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    cosine_embedding_loss_gradients
        Named tuple of the gradients:

        - ``grad_x1``, of the shape and dtype of ``x1``.
        - ``grad_x2``, of the shape and dtype of ``x2``.
    """

def cosine_similarity(x1: TensorLike, x2: TensorLike, axis: int = 1, eps: float = 1e-08) -> Tensor:
    """The cosine of the angle between vectors, ``sum(x1 * x2) / (|x1| * |x2|)``.

    Parameters
    ----------
    x1, x2 : tensor_like
        The vectors, along ``axis``. They broadcast against each other.
    axis : int, default 1
        The axis of the vectors, in the shape to which both broadcast.
    eps : float, default 1e-08
        The least length to divide by.

    Returns
    -------
    Tensor
        The cosines, in the shape to which both broadcast, without ``axis``.

    Raises
    ------
    ValueError
        If the shapes do not broadcast, ``axis`` is out of range or ``eps`` is not positive.

    See Also
    --------
    cosine_similarity_backward : Its gradient.

    Notes
    -----
    Derivative in ``x1``: ``(x2 / |x2| - cos * x1 / |x1|) / |x1|``, and so for ``x2``. A vector
    shorter than ``eps`` is divided by ``eps``.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def cosine_similarity_backward(
    grad_output: TensorLike, x1: TensorLike, x2: TensorLike, axis: int = 1, eps: float = 1e-08
) -> cosine_similarity_gradients:
    """``grad_output`` times the derivatives of the cosine, summed to the inputs' shapes.

    The backward pass of `cosine_similarity`: from the gradient of its result to that of ``x1`` and ``x2``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `cosine_similarity`, of its shape. Its dtype must be floating.
    x1, x2 : tensor_like
        The vectors, along ``axis``. They broadcast against each other.
    axis : int, default 1
        The axis of the vectors, in the shape to which both broadcast.
    eps : float, default 1e-08
        The least length to divide by.

    Returns
    -------
    cosine_similarity_gradients
        Named tuple of the gradients:

        - ``grad_x1``, of the shape and dtype of ``x1``.
        - ``grad_x2``, of the shape and dtype of ``x2``.
    """

def count_nonzero(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """The number of elements over ``axis`` that are not 0.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
        with size 1.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice.

    Notes
    -----
    The result has no gradient.
    """

def cross(a: TensorLike, b: TensorLike, axis: int = -1) -> Tensor:
    """The cross product of vectors with three elements along ``axis``.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.
    axis : int, default -1
        The axis. A negative number counts from the last one.

    Returns
    -------
    Tensor
        The products, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the vectors do not have three elements, or the shapes do not broadcast.

    See Also
    --------
    cross_backward : Its gradient.

    Notes
    -----
    Derivative: ``cross(b, grad_output)`` and ``cross(grad_output, a)``.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def cross_backward(
    grad_output: TensorLike, a: TensorLike, b: TensorLike, axis: int = -1
) -> cross_gradients:
    """``cross(b, grad_output)`` and ``cross(grad_output, a)``, summed to the inputs' shapes.

    The backward pass of `cross`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `cross`, of its shape. Its dtype must be floating.
    a, b : tensor_like
        The operands. They broadcast against each other.
    axis : int, default -1
        The axis. A negative number counts from the last one.

    Returns
    -------
    cross_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def cross_entropy(
    logits: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    weight: TensorLike | None = None,
    label_smoothing: float = 0.0,
    ignore_index: int = -100,
) -> Tensor:
    """The cross-entropy ``-sum(weight * target * log_softmax(logits))`` over the classes.

    It is computed without overflow. The mean over class indices is taken over the weights of the
    samples that are not ignored, NaN if all are; over probabilities, over the samples.

    Parameters
    ----------
    logits : tensor_like, (batch, classes, ...) or (classes,)
        The output of a model, before softmax.
    target : tensor_like, (batch, ...), ints, or floats in the shape of ``logits``
        The class of each sample, or a probability for each class.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.
    weight : tensor_like, (classes,), optional
        Weights of the classes, by default 1.
    label_smoothing : float, default 0.0
        The share of equal probabilities that is mixed into the target, from 0 to 1.
    ignore_index : int, default -100
        A class whose samples do not count.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    cross_entropy_backward : Its gradient.

    Notes
    -----
    Derivative: with
    ``q = weight * target``, in ``logits``: ``softmax(logits) * sum(q) - q``, 0 for what is
    ignored; in probabilities: ``-weight * log_softmax(logits)``; class indices and ``weight``
    have none.

    Integers and booleans are converted to the default dtype first.
    """

def cross_entropy_backward(
    grad_output: TensorLike,
    logits: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    weight: TensorLike | None = None,
    label_smoothing: float = 0.0,
    ignore_index: int = -100,
) -> cross_entropy_gradients:
    """``grad_output`` times ``softmax(logits) * sum(q) - q`` and ``-weight * log_softmax(logits)``.

    ``grad_target`` is None for class indices.

    The backward pass of `cross_entropy`: from the gradient of its result to that of ``logits`` and ``target``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `cross_entropy`, of its shape. Its dtype must be floating.
    logits : tensor_like, (batch, classes, ...) or (classes,)
        The output of a model, before softmax.
    target : tensor_like, (batch, ...), ints, or floats in the shape of ``logits``
        The class of each sample, or a probability for each class.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.
    weight : tensor_like, (classes,), optional
        Weights of the classes, by default 1.
    label_smoothing : float, default 0.0
        The share of equal probabilities that is mixed into the target, from 0 to 1.
    ignore_index : int, default -100
        A class whose samples do not count.

    Returns
    -------
    cross_entropy_gradients
        Named tuple of the gradients:

        - ``grad_logits``, of the shape and dtype of ``logits``.
        - ``grad_target``, of the shape and dtype of ``target``. None if it is not floating.
    """

def ctc_loss(
    log_probs: TensorLike,
    targets: TensorLike,
    input_lengths: TensorLike,
    target_lengths: TensorLike,
    blank: int = 0,
    reduction: Literal["mean", "sum", "none"] = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """The connectionist temporal classification loss: minus the log-probability of the labels.

    It sums over all ways to spread the labels over the steps, with blanks between them.

    Parameters
    ----------
    log_probs : tensor_like, (steps, batch, classes) or (steps, classes)
        Log-probabilities of the classes in each step, such as those of `log_softmax`.
    targets : tensor_like, (batch, length), ints, or all labels in one line
        The labels, none of them ``blank``.
    input_lengths : tensor_like, (batch,), ints
        The number of steps of each sample.
    target_lengths : tensor_like, (batch,), ints
        The number of labels of each sample.
    blank : int, default 0
        The class that stands for no label.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" divides each loss by the number of labels and takes the mean, "sum" adds the losses
        up, "none" returns that of each sample.
    zero_infinity : bool, default False
        Whether losses that are infinite become 0.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or a label or a length is out of range.

    See Also
    --------
    ctc_loss_backward : Its gradient.

    Notes
    -----
    Derivative:
    minus the probability that a path which gives the labels is at the class in the step; 0 where the
    loss is infinite, as no path is long enough. PyTorch adds ``exp(log_probs)``, which makes no
    difference behind a log-softmax.

    Integers and booleans are converted to the default dtype first.
    """

def ctc_loss_backward(
    grad_output: TensorLike,
    log_probs: TensorLike,
    targets: TensorLike,
    input_lengths: TensorLike,
    target_lengths: TensorLike,
    blank: int = 0,
    reduction: Literal["mean", "sum", "none"] = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Minus ``grad_output`` times the probabilities to be at each class in each step.

    The backward pass of `ctc_loss`: from the gradient of its result to that of ``log_probs``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `ctc_loss`, of its shape. Its dtype must be floating.
    log_probs : tensor_like, (steps, batch, classes) or (steps, classes)
        Log-probabilities of the classes in each step, such as those of `log_softmax`.
    targets : tensor_like, (batch, length), ints, or all labels in one line
        The labels, none of them ``blank``.
    input_lengths : tensor_like, (batch,), ints
        The number of steps of each sample.
    target_lengths : tensor_like, (batch,), ints
        The number of labels of each sample.
    blank : int, default 0
        The class that stands for no label.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" divides each loss by the number of labels and takes the mean, "sum" adds the losses
        up, "none" returns that of each sample.
    zero_infinity : bool, default False
        Whether losses that are infinite become 0.

    Returns
    -------
    Tensor
        Gradient of ``log_probs``, of its shape and dtype.
    """

def cummax(x: TensorLike, axis: int = 0) -> tuple[Tensor, Tensor]:
    """The largest of each element and all before it along ``axis``, and its index.

    Of equal elements the last is taken; NaN counts as largest.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int, default 0
        The axis to go along.

    Returns
    -------
    tuple of Tensor
        The running maxima, and their indices of dtype int64, both in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``axis`` is out of range.

    See Also
    --------
    cummax_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` (of the
    values) added to the elements taken.
    """

def cummax_backward(
    grad_output: TensorLike, input_shape: Sequence[int], indices: TensorLike, axis: int = 0
) -> Tensor:
    """``grad_output`` added at ``indices``.

    The backward pass of `cummax`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the first result of `cummax`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like
        The second result of `cummax`.
    axis : int, default 0
        The axis to go along.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def cummin(x: TensorLike, axis: int = 0) -> tuple[Tensor, Tensor]:
    """The smallest of each element and all before it along ``axis``, and its index.

    Of equal elements the last is taken; NaN counts as smallest.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int, default 0
        The axis to go along.

    Returns
    -------
    tuple of Tensor
        The running minima, and their indices of dtype int64, both in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``axis`` is out of range.

    See Also
    --------
    cummin_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` (of the
    values) added to the elements taken.
    """

def cummin_backward(
    grad_output: TensorLike, input_shape: Sequence[int], indices: TensorLike, axis: int = 0
) -> Tensor:
    """``grad_output`` added at ``indices``.

    The backward pass of `cummin`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the first result of `cummin`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like
        The second result of `cummin`.
    axis : int, default 0
        The axis to go along.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def cumprod(x: TensorLike, axis: int = 0) -> Tensor:
    """The product of each element and all before it along ``axis``.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int, default 0
        The axis to go along.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``axis`` is out of range.

    See Also
    --------
    cumprod_backward : Its gradient.

    Notes
    -----
    Derivative: at each element the product of those before it, times the sum over all results from
    it on of ``grad_output`` and the factors in between; exact for any number of zeros.
    """

def cumprod_backward(grad_output: TensorLike, x: TensorLike, axis: int = 0) -> Tensor:
    """The sums of ``grad_output`` times the products of all other factors.

    The backward pass of `cumprod`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `cumprod`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    axis : int, default 0
        The axis to go along.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def cumsum(x: TensorLike, axis: int = 0) -> Tensor:
    """The sum of each element and all before it along ``axis``.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int, default 0
        The axis to sum along.

    Returns
    -------
    Tensor
        The running sums, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``axis`` is out of range.

    See Also
    --------
    cumsum_backward : Its gradient.

    Notes
    -----
    Derivative: the sum of ``grad_output`` at each element and all after it.
    """

def cumsum_backward(grad_output: TensorLike, axis: int = 0) -> Tensor:
    """The running sum of ``grad_output`` from the far end.

    The backward pass of `cumsum`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `cumsum`, of its shape. Its dtype must be floating.
    axis : int, default 0
        The axis to sum along.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def det(x: TensorLike) -> Tensor:
    """The determinant.

    Parameters
    ----------
    x : tensor_like, (..., n, n)
        Square matrices.

    Returns
    -------
    Tensor
        The determinants, in the shape of the batch.

    Raises
    ------
    ValueError
        If the last two axes are not of one size, or a matrix does not allow it.

    See Also
    --------
    det_backward : Its gradient.

    Notes
    -----
    Derivative: ``output * inv(x).T``; refused where a matrix has no inverse.

    Integers and booleans are converted to the default dtype first.
    """

def det_backward(grad_output: TensorLike, x: TensorLike, output: TensorLike) -> Tensor:
    """``grad_output * output * inv(x).T``.

    The backward pass of `det`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `det`, of its shape. Its dtype must be floating.
    x : tensor_like, (..., n, n)
        Square matrices.
    output : tensor_like
        The result of `det`.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def diag(x: TensorLike, k: int = 0) -> Tensor:
    """A matrix with ``x`` on diagonal ``k``, or, if ``x`` is a matrix, its diagonal ``k``.

    Parameters
    ----------
    x : tensor_like, (n,) or (n, m)
        A vector or a matrix.
    k : int, default 0
        The number of the diagonal: 0 is the main one, positive ones are above it.

    Returns
    -------
    Tensor
        A square matrix for a vector, a vector for a matrix.

    Raises
    ------
    ValueError
        If ``x`` has neither one nor two axes.

    See Also
    --------
    diag_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output``'s diagonal, or a matrix with ``grad_output`` on it.
    """

def diag_backward(grad_output: TensorLike, input_shape: Sequence[int], k: int = 0) -> Tensor:
    """The diagonal of ``grad_output``, or a matrix of ``input_shape`` with it on the diagonal.

    The backward pass of `diag`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `diag`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    k : int, default 0
        The number of the diagonal: 0 is the main one, positive ones are above it.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def diag_embed(x: TensorLike, offset: int = 0, axis1: int = -2, axis2: int = -1) -> Tensor:
    """Zeros with the last axis of ``x`` on a diagonal of two new axes.

    Parameters
    ----------
    x : tensor_like
        The input.
    offset : int, default 0
        The number of the diagonal: 0 is the main one, positive ones are above it.
    axis1 : int, default -2
        The axes of the rows and of the columns.
    axis2 : int, default -1
        The axes of the rows and of the columns.

    Returns
    -------
    Tensor
        The matrices, with the new axes at ``axis1`` and ``axis2``.

    Raises
    ------
    ValueError
        If the axes are out of range or the same.

    See Also
    --------
    diag_embed_backward : Its gradient.

    Notes
    -----
    Derivative: that diagonal of ``grad_output``.
    """

def diag_embed_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    offset: int = 0,
    axis1: int = -2,
    axis2: int = -1,
) -> Tensor:
    """The diagonal of ``grad_output``.

    The backward pass of `diag_embed`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `diag_embed`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    offset : int, default 0
        The number of the diagonal: 0 is the main one, positive ones are above it.
    axis1 : int, default -2
        The axes of the rows and of the columns.
    axis2 : int, default -1
        The axes of the rows and of the columns.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def diagonal(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """A diagonal of two axes of ``x``, as the last axis of the result.

    Parameters
    ----------
    x : tensor_like
        The input.
    offset : int, default 0
        The number of the diagonal: 0 is the main one, positive ones are above it.
    axis1 : int, default 0
        The axes of the rows and of the columns.
    axis2 : int, default 1
        The axes of the rows and of the columns.

    Returns
    -------
    Tensor
        The diagonals. Their axis stands behind all others.

    Raises
    ------
    ValueError
        If the axes are out of range or the same.

    See Also
    --------
    diagonal_backward : Its gradient.

    Notes
    -----
    Derivative: zeros with ``grad_output`` on that diagonal.
    """

def diagonal_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` on the diagonal.

    The backward pass of `diagonal`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `diagonal`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    offset : int, default 0
        The number of the diagonal: 0 is the main one, positive ones are above it.
    axis1 : int, default 0
        The axes of the rows and of the columns.
    axis2 : int, default 1
        The axes of the rows and of the columns.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def digamma(x: TensorLike) -> Tensor:
    """The derivative of ``lgamma``; -inf at 0, NaN at -1, -2, ...

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    digamma_backward : Its gradient.

    Notes
    -----
    Derivative: ``polygamma(x, 1)``.

    Integers and booleans are converted to the default dtype first.
    """

def digamma_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * polygamma(x, 1)``.

    The backward pass of `digamma`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `digamma`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def divide(a: TensorLike, b: TensorLike) -> Tensor:
    """The quotient ``a / b``. Infinite or NaN where ``b`` is 0.

    The rule lifts a ``b`` whose magnitude is below ``eps`` to ``eps``, and leaves every other alone.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        The result, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    divide_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output / b`` and ``-grad_output * a / b**2``.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def divide_backward(
    grad_output: TensorLike, a: TensorLike, b: TensorLike, eps: float = 1e-10
) -> divide_gradients:
    """``grad_output / b`` and ``-grad_output * a / b**2``, with ``b`` lifted to ``eps``.

    The backward pass of `divide`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `divide`, of its shape. Its dtype must be floating.
    a, b : tensor_like
        The operands. They broadcast against each other.
    eps : float, default 1e-10
        A denominator whose magnitude is below ``eps`` is raised to it, others are kept; 0 gives plain
        IEEE results. The tape passes the value that `gradient_eps` sets.

    Returns
    -------
    divide_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def dot(a: TensorLike, b: TensorLike) -> Tensor:
    """The scalar product of two vectors, ``sum(a * b)``.

    Parameters
    ----------
    a, b : tensor_like, (n,)
        The vectors.

    Returns
    -------
    Tensor
        The product, with no axis.

    Raises
    ------
    ValueError
        If ``a`` and ``b`` are not vectors of one length.

    See Also
    --------
    dot_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output * b`` and ``grad_output * a``.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def dot_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> dot_gradients:
    """``grad_output * b`` and ``grad_output * a``.

    The backward pass of `dot`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `dot`, of its shape. Its dtype must be floating.
    a, b : tensor_like, (n,)
        The vectors.

    Returns
    -------
    dot_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def dropout(
    x: TensorLike, p: float = 0.5, training: bool = True, generator: Generator | None = None
) -> Tensor:
    """Elements of ``x`` set to 0 with probability ``p``, the others divided by ``1 - p``.

    Parameters
    ----------
    x : tensor_like
        The input.
    p : float, default 0.5
        The probability of a 0, from 0 to 1.
    training : bool, default True
        Whether to drop anything. If False, ``x`` is returned as it is.
    generator : Generator, optional
        The source of the mask, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``p`` is not in [0, 1].

    See Also
    --------
    dropout_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 / (1 - p)`` where the element stayed, else 0.
    """

def dropout_backward(grad_output: TensorLike, mask: TensorLike | None, p: float = 0.5) -> Tensor:
    """``grad_output / (1 - p)`` where ``mask`` is true, else 0.

    The backward pass of `dropout`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `dropout`, of its shape. Its dtype must be floating.
    mask : tensor_like, booleans
        The mask of the forward: true where a value stayed. None if nothing was dropped.
    p : float, default 0.5
        The probability of a 0, from 0 to 1.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def dropout1d(
    x: TensorLike, p: float = 0.5, training: bool = True, generator: Generator | None = None
) -> Tensor:
    """Channels of sequences set to 0 with probability ``p``, the others divided by ``1 - p``.

    Parameters
    ----------
    x : tensor_like, (batch, channels, length)
        The sequences. The batch axis may be missing.
    p : float, default 0.5
        The probability of a 0, from 0 to 1.
    training : bool, default True
        Whether to drop anything. If False, ``x`` is returned as it is.
    generator : Generator, optional
        The source of the mask, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``p`` is not in [0, 1].

    See Also
    --------
    dropout1d_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 / (1 - p)`` where the channel stayed, else 0.
    """

def dropout1d_backward(grad_output: TensorLike, mask: TensorLike | None, p: float = 0.5) -> Tensor:
    """``grad_output / (1 - p)`` where ``mask``, a bool for each channel, is true, else 0.

    The backward pass of `dropout1d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `dropout1d`, of its shape. Its dtype must be floating.
    mask : tensor_like, booleans
        The mask of the forward: true where a value stayed. None if nothing was dropped.
    p : float, default 0.5
        The probability of a 0, from 0 to 1.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def dropout2d(
    x: TensorLike, p: float = 0.5, training: bool = True, generator: Generator | None = None
) -> Tensor:
    """Channels of ``x`` set to 0 with probability ``p``, the others divided by ``1 - p``.

    Parameters
    ----------
    x : tensor_like, (batch, channels, ...)
        The input.
    p : float, default 0.5
        The probability of a 0, from 0 to 1.
    training : bool, default True
        Whether to drop anything. If False, ``x`` is returned as it is.
    generator : Generator, optional
        The source of the mask, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``p`` is not in [0, 1].

    See Also
    --------
    dropout2d_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 / (1 - p)`` where the channel stayed, else 0.
    """

def dropout2d_backward(grad_output: TensorLike, mask: TensorLike | None, p: float = 0.5) -> Tensor:
    """``grad_output / (1 - p)`` where ``mask``, a bool for each channel, is true, else 0.

    The backward pass of `dropout2d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `dropout2d`, of its shape. Its dtype must be floating.
    mask : tensor_like, booleans
        The mask of the forward: true where a value stayed. None if nothing was dropped.
    p : float, default 0.5
        The probability of a 0, from 0 to 1.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def dropout3d(
    x: TensorLike, p: float = 0.5, training: bool = True, generator: Generator | None = None
) -> Tensor:
    """Channels of volumes set to 0 with probability ``p``, the others divided by ``1 - p``.

    Parameters
    ----------
    x : tensor_like, (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.
    p : float, default 0.5
        The probability of a 0, from 0 to 1.
    training : bool, default True
        Whether to drop anything. If False, ``x`` is returned as it is.
    generator : Generator, optional
        The source of the mask, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``p`` is not in [0, 1].

    See Also
    --------
    dropout3d_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 / (1 - p)`` where the channel stayed, else 0.
    """

def dropout3d_backward(grad_output: TensorLike, mask: TensorLike | None, p: float = 0.5) -> Tensor:
    """``grad_output / (1 - p)`` where ``mask``, a bool for each channel, is true, else 0.

    The backward pass of `dropout3d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `dropout3d`, of its shape. Its dtype must be floating.
    mask : tensor_like, booleans
        The mask of the forward: true where a value stayed. None if nothing was dropped.
    p : float, default 0.5
        The probability of a 0, from 0 to 1.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def eigh(x: TensorLike) -> tuple[Tensor, Tensor]:
    """The eigenvalues, in increasing order, and eigenvectors of the symmetric part of ``x``.

    Parameters
    ----------
    x : tensor_like, (..., n, n)
        Square matrices.

    Returns
    -------
    tuple of Tensor
        The eigenvalues, of shape (..., n), and the eigenvectors as columns, in the shape of ``x``.
        The signs of eigenvectors are arbitrary.

    Raises
    ------
    ValueError
        If the last two axes are not of one size, or a matrix does not allow it.

    See Also
    --------
    eigh_backward : Its gradient.

    Notes
    -----
    Derivative: with ``V`` the vectors as columns, the symmetric part of
    ``V @ (diag(g) + (V.T @ h) / (w[j] - w[i])) @ V.T`` for the gradients ``g`` of the values ``w``
    and ``h`` of the vectors. Vectors of equal eigenvalues have none: it is infinite there, unless
    ``V.T @ h`` is 0.

    Integers and booleans are converted to the default dtype first.
    """

def eigh_backward(grad_outputs: Sequence[TensorLike], x: TensorLike) -> Tensor:
    """``V @ (diag(g) + (V.T @ h) / (w[j] - w[i])) @ V.T``, its symmetric part.

    The backward pass of `eigh`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_outputs : sequence of tensor_like
        Gradients of the results of `eigh`, one for each, of their shapes.
    x : tensor_like, (..., n, n)
        Square matrices.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def einsum(spec: str, *operands: TensorLike) -> Tensor:
    """Products of labelled axes, summed over the labels that the output lacks.

    Operands are multiplied from left to right.

    Parameters
    ----------
    spec : str
        A term for each operand, separated by commas, and after ``->`` the output. A term has a
        letter for each axis and ``...`` for axes without a name, which broadcast, as do axes of
        size 1. A label twice in a term takes the diagonal. Without ``->`` the output has every
        label that stands once, in alphabetical order.
    *operands : tensor_like
        The tensors, one for each term.

    Returns
    -------
    Tensor
        The sums, with the axes of the output.

    Raises
    ------
    ValueError
        If ``spec`` does not fit the operands, or the sizes of a label differ.

    See Also
    --------
    einsum_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` and the other
    operands in the same sum, with the term of the operand as the output.
    """

def einsum_backward(
    grad_output: TensorLike, operands: Sequence[TensorLike], spec: str
) -> tuple[Tensor, ...]:
    """For each operand, ``grad_output`` times the others, summed over labels not its own.

    The backward pass of `einsum`: from the gradient of its result to that of ``operands``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `einsum`, of its shape. Its dtype must be floating.
    operands : sequence of tensor_like
        The tensors, one for each term.
    spec : str
        A term for each operand, separated by commas, and after ``->`` the output. A term has a
        letter for each axis and ``...`` for axes without a name, which broadcast, as do axes of
        size 1. A label twice in a term takes the diagonal. Without ``->`` the output has every
        label that stands once, in alphabetical order.

    Returns
    -------
    tuple of Tensor
        Gradient of each of ``operands``, of its shape and dtype.
    """

def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """The exponential linear unit: ``x`` where it is positive, else ``alpha * (exp(x) - 1)``.

    Parameters
    ----------
    x : tensor_like
        The input.
    alpha : float, default 1.0
        Minus the value that is approached at -inf.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    elu_backward : Its gradient.

    Notes
    -----
    Derivative: 1 or ``alpha * exp(x)``, ``alpha`` at 0.

    Integers and booleans are converted to the default dtype first.
    """

def elu_backward(grad_output: TensorLike, x: TensorLike, alpha: float = 1.0) -> Tensor:
    """``grad_output`` times 1 or ``alpha * exp(x)``.

    The backward pass of `elu`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `elu`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    alpha : float, default 1.0
        Minus the value that is approached at -inf.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def embedding(indices: TensorLike, weight: TensorLike, padding_idx: int | None = None) -> Tensor:
    """The rows of ``weight`` at ``indices``.

    Parameters
    ----------
    indices : tensor_like, ints of any shape
        The numbers of the rows, from 0 up.
    weight : tensor_like, (rows, features)
        The table.
    padding_idx : int, optional
        A row that gets no gradient.

    Returns
    -------
    Tensor
        The rows, of shape ``(*indices.shape, features)``.

    Raises
    ------
    ValueError
        If an index or ``padding_idx`` is out of range.

    See Also
    --------
    embedding_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` added to each row as often as it was read, in the order of
    ``indices``; 0 for the row ``padding_idx``.
    """

def embedding_backward(
    grad_output: TensorLike,
    indices: TensorLike,
    weight_shape: Sequence[int],
    padding_idx: int | None = None,
) -> Tensor:
    """Zeros of ``weight_shape`` with ``grad_output`` added at ``indices``, but for the padding.

    The backward pass of `embedding`: from the gradient of its result to that of ``weight``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `embedding`, of its shape. Its dtype must be floating.
    indices : tensor_like, ints of any shape
        The numbers of the rows, from 0 up.
    weight_shape : sequence of ints
        Shape of ``weight``.
    padding_idx : int, optional
        A row that gets no gradient.

    Returns
    -------
    Tensor
        Gradient of ``weight``, of its shape and dtype.
    """

def embedding_bag(
    indices: TensorLike,
    weight: TensorLike,
    offsets: TensorLike | None = None,
    per_sample_weights: TensorLike | None = None,
    mode: Literal["sum", "mean", "max"] = "mean",
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The sum, mean or maximum of the rows of ``weight`` at the indices of each bag.

    An empty bag gives 0.

    Parameters
    ----------
    indices : tensor_like, (bags, length) or (n,), ints
        The numbers of the rows, a bag in each row of them, or all bags one after the other.
    weight : tensor_like, (rows, features)
        The table.
    offsets : tensor_like, (bags,), ints, optional
        The position of the first index of each bag, for 1-D ``indices``.
    per_sample_weights : tensor_like, in the shape of ``indices``, optional
        A factor for each row, for sums only.
    mode : {'sum', 'mean', 'max'}, default 'mean'
        What is made of a bag.
    include_last_offset : bool, default False
        Whether ``offsets`` end with the number of indices.
    padding_idx : int, optional
        A row that does not count and gets no gradient.

    Returns
    -------
    Tensor
        The bags, (bags, features).

    Raises
    ------
    ValueError
        If an index is out of range, or the offsets do not rise.

    See Also
    --------
    embedding_bag_backward : Its gradient.

    Notes
    -----
    Derivative: in ``weight`` ``grad_output`` of its bag to each row, times its
    factor, divided by the size of the bag for means; for maxima to the first of the largest. In
    ``per_sample_weights`` the product of the row and ``grad_output``.
    """

def embedding_bag_backward(
    grad_output: TensorLike,
    indices: TensorLike,
    weight: TensorLike,
    offsets: TensorLike | None = None,
    per_sample_weights: TensorLike | None = None,
    mode: Literal["sum", "mean", "max"] = "mean",
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> embedding_bag_gradients:
    """To the rows that each bag is made of, and to their factors; by hand without factors too.

    The backward pass of `embedding_bag`: from the gradient of its result to that of ``weight`` and ``per_sample_weights``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `embedding_bag`, of its shape. Its dtype must be floating.
    indices : tensor_like, (bags, length) or (n,), ints
        The numbers of the rows, a bag in each row of them, or all bags one after the other.
    weight : tensor_like, (rows, features)
        The table.
    offsets : tensor_like, (bags,), ints, optional
        The position of the first index of each bag, for 1-D ``indices``.
    per_sample_weights : tensor_like, in the shape of ``indices``, optional
        A factor for each row, for sums only.
    mode : {'sum', 'mean', 'max'}, default 'mean'
        What is made of a bag.
    include_last_offset : bool, default False
        Whether ``offsets`` end with the number of indices.
    padding_idx : int, optional
        A row that does not count and gets no gradient.

    Returns
    -------
    embedding_bag_gradients
        Named tuple of the gradients:

        - ``grad_weight``, of the shape and dtype of ``weight``.
        - ``grad_per_sample_weights``, of the shape and dtype of ``per_sample_weights``.
    """

def equal(a: TensorLike, b: TensorLike) -> Tensor:
    """True where ``a == b``, element by element.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Notes
    -----
    The result has no gradient.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def erf(x: TensorLike) -> Tensor:
    """The error function.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    erf_backward : Its gradient.

    Notes
    -----
    Derivative: ``2 / sqrt(pi) * exp(-x**2)``.

    Integers and booleans are converted to the default dtype first.
    """

def erf_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * 2 / sqrt(pi) * exp(-x**2)``.

    The backward pass of `erf`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `erf`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def erfc(x: TensorLike) -> Tensor:
    """The complementary error function ``1 - erf(x)``, with all its digits where it is tiny.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    erfc_backward : Its gradient.

    Notes
    -----
    Derivative: ``-2 / sqrt(pi) * exp(-x**2)``.

    Integers and booleans are converted to the default dtype first.
    """

def erfc_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``-grad_output * 2 / sqrt(pi) * exp(-x**2)``.

    The backward pass of `erfc`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `erfc`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def erfinv(x: TensorLike) -> Tensor:
    """The inverse of the error function; infinite at -1 and 1, NaN outside.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    erfinv_backward : Its gradient.

    Notes
    -----
    Derivative: ``sqrt(pi) / 2 * exp(output**2)``.

    Integers and booleans are converted to the default dtype first.
    """

def erfinv_backward(grad_output: TensorLike, output: TensorLike) -> Tensor:
    """``grad_output * sqrt(pi) / 2 * exp(output**2)``.

    The backward pass of `erfinv`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `erfinv`, of its shape. Its dtype must be floating.
    output : tensor_like
        The result of `erfinv`.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def exp(x: TensorLike) -> Tensor:
    """The exponential, ``e ** x``.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    exp_backward : Its gradient.

    Notes
    -----
    Derivative: ``output``.

    Integers and booleans are converted to the default dtype first.
    """

def exp_backward(grad_output: TensorLike, output: TensorLike) -> Tensor:
    """``grad_output * output``.

    The backward pass of `exp`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `exp`, of its shape. Its dtype must be floating.
    output : tensor_like
        The result of `exp`.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def exp2(x: TensorLike) -> Tensor:
    """``2 ** x``.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    exp2_backward : Its gradient.

    Notes
    -----
    Derivative: ``output * log(2)``.

    Integers and booleans are converted to the default dtype first.
    """

def exp2_backward(grad_output: TensorLike, output: TensorLike) -> Tensor:
    """``grad_output * output * log(2)``.

    The backward pass of `exp2`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `exp2`, of its shape. Its dtype must be floating.
    output : tensor_like
        The result of `exp2`.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def expm1(x: TensorLike) -> Tensor:
    """``e ** x - 1``, accurate near 0 too.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    expm1_backward : Its gradient.

    Notes
    -----
    Derivative: ``exp(x)``.

    Integers and booleans are converted to the default dtype first.
    """

def expm1_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * exp(x)``.

    The backward pass of `expm1`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `expm1`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def feature_alpha_dropout(
    x: TensorLike, p: float = 0.5, training: bool = False, generator: Generator | None = None
) -> Tensor:
    """Channels set to the lowest value of `selu` with probability ``p``, as in `alpha_dropout`.

    Parameters
    ----------
    x : tensor_like, (batch, channels, ...)
        The input.
    p : float, default 0.5
        The probability of a 0, from 0 to 1.
    training : bool, default False
        Whether to drop anything. If False, ``x`` is returned as it is.
    generator : Generator, optional
        The source of the mask, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``p`` is not in [0, 1].

    See Also
    --------
    feature_alpha_dropout_backward : Its gradient.

    Notes
    -----
    Derivative: ``a`` where the channel stayed, else 0.
    """

def feature_alpha_dropout_backward(
    grad_output: TensorLike, mask: TensorLike | None, p: float = 0.5
) -> Tensor:
    """``a * grad_output`` where ``mask``, a bool for each channel, is true, else 0.

    The backward pass of `feature_alpha_dropout`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `feature_alpha_dropout`, of its shape. Its dtype must be floating.
    mask : tensor_like, booleans
        The mask of the forward: true where a value stayed. None if nothing was dropped.
    p : float, default 0.5
        The probability of a 0, from 0 to 1.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def flatten(x: TensorLike, start_axis: int = 0, end_axis: int = -1) -> Tensor:
    """The axes from ``start_axis`` to ``end_axis``, both included, as one.

    Parameters
    ----------
    x : tensor_like
        The input.
    start_axis : int, default 0
        The first and the last axis to join.
    end_axis : int, default -1
        The first and the last axis to join.

    Returns
    -------
    Tensor
        ``x`` with these axes as one: a view where the memory allows it.

    Raises
    ------
    ValueError
        If an axis is out of range or ``start_axis`` is behind ``end_axis``.

    See Also
    --------
    flatten_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` in the old shape.
    """

def flatten_backward(grad_output: TensorLike, input_shape: Sequence[int]) -> Tensor:
    """``grad_output`` in ``input_shape``.

    The backward pass of `flatten`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `flatten`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def flip(x: TensorLike, axis: int | Sequence[int] | None = None) -> Tensor:
    """``x`` in reverse order along axes.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reverse, by default all.

    Returns
    -------
    Tensor
        The elements in reverse order, in the shape of ``x``, as a view.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice.

    See Also
    --------
    flip_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` backwards.
    """

def flip_backward(grad_output: TensorLike, axis: int | Sequence[int] | None = None) -> Tensor:
    """``grad_output`` backwards along ``axis``.

    The backward pass of `flip`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `flip`, of its shape. Its dtype must be floating.
    axis : int or sequence of ints, optional
        The axis or axes to reverse, by default all.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def floor(x: TensorLike) -> Tensor:
    """The largest whole number not above ``x``.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    floor_backward : Its gradient.

    Notes
    -----
    Derivative: 0.
    """

def floor_backward(grad_output: TensorLike) -> Tensor:
    """Zeros: the function is piecewise constant.

    The backward pass of `floor`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `floor`, of its shape. Its dtype must be floating.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def floor_divide(a: TensorLike, b: TensorLike) -> Tensor:
    """The quotient rounded down, ``floor(a / b)``.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        The result, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    floor_divide_backward : Its gradient.

    Notes
    -----
    Derivative: 0 for both.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def floor_divide_backward(
    grad_output: TensorLike, a_shape: Sequence[int], b_shape: Sequence[int]
) -> floor_divide_gradients:
    """Zeros: the function is piecewise constant.

    The backward pass of `floor_divide`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `floor_divide`, of its shape. Its dtype must be floating.
    a_shape : sequence of ints
        Shape of ``a``.
    b_shape : sequence of ints
        Shape of ``b``.

    Returns
    -------
    floor_divide_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def fmod(a: TensorLike, b: TensorLike) -> Tensor:
    """The remainder of ``a / b`` with the sign of ``a``, as in C.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        The result, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    fmod_backward : Its gradient.

    Notes
    -----
    Derivative: 1 and ``-trunc(a / b)``.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def fmod_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> fmod_gradients:
    """``grad_output`` and ``-grad_output * trunc(a / b)``.

    The backward pass of `fmod`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `fmod`, of its shape. Its dtype must be floating.
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    fmod_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def focal_loss(
    logits: TensorLike,
    target: TensorLike,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> Tensor:
    """The binary cross-entropy of ``logits`` times ``balance * miss**gamma`` (Lin et al. 2017).

    ``miss`` is the probability given to the wrong answer,
    ``target * sigmoid(-logits) + (1 - target) * sigmoid(logits)``, and ``balance`` is
    ``alpha * target + (1 - alpha) * (1 - target)``, or 1 with ``alpha=-1``.

    Parameters
    ----------
    logits : tensor_like
        The output of a model, before any sigmoid or softmax.
    target : tensor_like
        Labels 0 and 1, or probabilities, in the shape of ``logits``.
    alpha : float, default 0.25
        The weight of positive targets, from 0 to 1; -1 for no weights.
    gamma : float, default 2.0
        How strongly easy samples are discounted; 0 gives the cross-entropy.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    focal_loss_backward : Its gradient.

    Notes
    -----
    Derivative: by the
    product rule, for ``logits`` and ``target``, with its digits where the answer is right and sure.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def focal_loss_backward(
    grad_output: TensorLike,
    logits: TensorLike,
    target: TensorLike,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> focal_loss_gradients:
    """``grad_output`` times the derivatives in ``logits`` and ``target``.

    The backward pass of `focal_loss`: from the gradient of its result to that of ``logits`` and ``target``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `focal_loss`, of its shape. Its dtype must be floating.
    logits : tensor_like
        The output of a model, before any sigmoid or softmax.
    target : tensor_like
        Labels 0 and 1, or probabilities, in the shape of ``logits``.
    alpha : float, default 0.25
        The weight of positive targets, from 0 to 1; -1 for no weights.
    gamma : float, default 2.0
        How strongly easy samples are discounted; 0 gives the cross-entropy.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    focal_loss_gradients
        Named tuple of the gradients:

        - ``grad_logits``, of the shape and dtype of ``logits``.
        - ``grad_target``, of the shape and dtype of ``target``.
    """

def fold(
    x: TensorLike,
    output_size: int | Sequence[int],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """Columns added to pictures, each to the window that it is of: the adjoint of `unfold`.

    Parameters
    ----------
    x : tensor_like, (batch, channels * kernel height * kernel width, windows)
        The columns. The batch axis may be missing.
    output_size : int or sequence of ints
        The height and width of the pictures: a number for squares.
    kernel_size : int or sequence of ints
        The height and width of a window: a number for a square.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.
    padding : int or sequence of ints, default 0
        The number of zeros on each side: a number, or one for each axis.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.

    Returns
    -------
    Tensor
        The pictures, (batch, channels, height, width).

    Raises
    ------
    ValueError
        If the columns are not as many as there are windows, or not as long.

    See Also
    --------
    fold_backward : Its gradient.

    Notes
    -----
    Derivative: ``unfold`` of ``grad_output``.
    """

def fold_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    output_size: int | Sequence[int],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """``unfold`` of ``grad_output``: each element of each window from where it was added.

    The backward pass of `fold`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `fold`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    output_size : int or sequence of ints
        The height and width of the pictures: a number for squares.
    kernel_size : int or sequence of ints
        The height and width of a window: a number for a square.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.
    padding : int or sequence of ints, default 0
        The number of zeros on each side: a number, or one for each axis.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def fractional_max_pool2d_with_indices(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    samples: TensorLike | None = None,
    generator: Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """The largest elements of windows of pictures at drawn distances, and their places.

    The windows along an axis of ``n`` elements begin at ``floor((i + u) * a) - floor(u * a)`` with
    ``a = (n - kernel_size) / (output_size - 1)`` and a number ``u`` from 0 to 1 drawn for each axis of
    each channel.

    Parameters
    ----------
    x : tensor_like, (batch, channels, height, width)
        The pictures. The batch axis may be missing.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    output_size : int or sequence of ints, optional
        The sizes of the result: a number, or one for each axis.
    output_ratio : float or sequence of floats, optional
        The sizes of the result as shares of those of ``x``, instead of ``output_size``.
    samples : tensor_like, (batch, channels, 2), floats, optional
        The numbers ``u``, instead of drawing them.
    generator : Generator, optional
        The source of these numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    tuple of Tensor
        The maxima, and the index of each into the flattened axes behind the channels, int64.

    Raises
    ------
    ValueError
        If the windows do not fit into ``x``.

    See Also
    --------
    fractional_max_pool2d_with_indices_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` (of the maxima) to the elements at ``indices``.
    """

def fractional_max_pool2d_with_indices_backward(
    grad_output: TensorLike, x_shape: Sequence[int], indices: TensorLike
) -> Tensor:
    """Zeros of ``x_shape`` with ``grad_output`` added at ``indices``.

    The backward pass of `fractional_max_pool2d_with_indices`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the first result of `fractional_max_pool2d_with_indices`, of its shape. Its dtype must be floating.
    x_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like
        The second result of `fractional_max_pool2d_with_indices`.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def fractional_max_pool3d_with_indices(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    output_size: int | Sequence[int] | None = None,
    output_ratio: float | Sequence[float] | None = None,
    samples: TensorLike | None = None,
    generator: Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """The largest elements of windows of volumes at drawn distances, and their places.

    The windows along an axis of ``n`` elements begin at ``floor((i + u) * a) - floor(u * a)`` with
    ``a = (n - kernel_size) / (output_size - 1)`` and a number ``u`` from 0 to 1 drawn for each axis of
    each channel.

    Parameters
    ----------
    x : tensor_like, (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    output_size : int or sequence of ints, optional
        The sizes of the result: a number, or one for each axis.
    output_ratio : float or sequence of floats, optional
        The sizes of the result as shares of those of ``x``, instead of ``output_size``.
    samples : tensor_like, (batch, channels, 3), floats, optional
        The numbers ``u``, instead of drawing them.
    generator : Generator, optional
        The source of these numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    tuple of Tensor
        The maxima, and the index of each into the flattened axes behind the channels, int64.

    Raises
    ------
    ValueError
        If the windows do not fit into ``x``.

    See Also
    --------
    fractional_max_pool3d_with_indices_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` (of the maxima) to the elements at ``indices``.
    """

def fractional_max_pool3d_with_indices_backward(
    grad_output: TensorLike, x_shape: Sequence[int], indices: TensorLike
) -> Tensor:
    """Zeros of ``x_shape`` with ``grad_output`` added at ``indices``.

    The backward pass of `fractional_max_pool3d_with_indices`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the first result of `fractional_max_pool3d_with_indices`, of its shape. Its dtype must be floating.
    x_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like
        The second result of `fractional_max_pool3d_with_indices`.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def gather(x: TensorLike, indices: TensorLike, axis: int) -> Tensor:
    """Elements of ``x`` at ``indices`` along ``axis``, line by line.

    This is NumPy's ``take_along_axis``: the other axes broadcast.

    Parameters
    ----------
    x : tensor_like
        The input.
    indices : tensor_like, ints with as many axes as ``x``
        The positions along ``axis``; negative ones count from the end.
    axis : int
        The axis of the positions.

    Returns
    -------
    Tensor
        The elements, in the shape of ``indices``.

    Raises
    ------
    ValueError
        If an index or ``axis`` is out of range.

    See Also
    --------
    gather_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output``
    added where it was read.
    """

def gather_backward(
    grad_output: TensorLike, x_shape: Sequence[int], indices: TensorLike, axis: int
) -> Tensor:
    """Zeros of ``x_shape`` with ``grad_output`` added at ``indices``.

    The backward pass of `gather`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `gather`, of its shape. Its dtype must be floating.
    x_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like, ints with as many axes as ``x``
        The positions along ``axis``; negative ones count from the end.
    axis : int
        The axis of the positions.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def gaussian_nll_loss(
    x: TensorLike,
    target: TensorLike,
    var: TensorLike,
    full: bool = False,
    eps: float = 1e-06,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> Tensor:
    """The negative log-likelihood ``(log(var) + (x - target)**2 / var) / 2`` of normal distributions.

    A variance below ``eps`` counts as ``eps``.

    Parameters
    ----------
    x : tensor_like
        Means.
    target : tensor_like
        Values, in the shape of ``x``.
    var : tensor_like
        Variances, in the shape of ``x`` or without its last axis.
    full : bool, default False
        Whether to add the constant ``log(2 * pi) / 2``.
    eps : float, default 1e-06
        The least variance.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    gaussian_nll_loss_backward : Its gradient.

    Notes
    -----
    Derivative: ``(x - target) / var``, its negative for
    ``target``, and ``(1 - (x - target)**2 / var) / (2 * var)``, the latter also where ``var`` was
    lifted.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def gaussian_nll_loss_backward(
    grad_output: TensorLike,
    x: TensorLike,
    target: TensorLike,
    var: TensorLike,
    full: bool = False,
    eps: float = 1e-06,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> gaussian_nll_loss_gradients:
    """``grad_output`` times the derivatives in mean, target and variance.

    The backward pass of `gaussian_nll_loss`: from the gradient of its result to that of ``x`` and ``target`` and ``var``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `gaussian_nll_loss`, of its shape. Its dtype must be floating.
    x : tensor_like
        Means.
    target : tensor_like
        Values, in the shape of ``x``.
    var : tensor_like
        Variances, in the shape of ``x`` or without its last axis.
    full : bool, default False
        Whether to add the constant ``log(2 * pi) / 2``.
    eps : float, default 1e-06
        The least variance.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    gaussian_nll_loss_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_target``, of the shape and dtype of ``target``.
        - ``grad_var``, of the shape and dtype of ``var``.
    """

def gelu(x: TensorLike, approximate: bool = False) -> Tensor:
    """The Gaussian error linear unit ``x * Phi(x)``, where ``Phi`` is the normal distribution.

    With ``approximate``, ``Phi(x)`` is
    ``(1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2``.

    Parameters
    ----------
    x : tensor_like
        The input.
    approximate : bool, default False
        Whether to use the tanh formula, as in GPT-2, instead of the exact function.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    TypeError
        If ``approximate`` is not a bool. PyTorch's strings "none" and "tanh" are False and True
        here.

    See Also
    --------
    gelu_backward : Its gradient.

    Notes
    -----
    Derivative: ``Phi(x) + x * Phi'(x)``. Both keep their digits where ``Phi`` is tiny, and are
    0 at -inf.

    Integers and booleans are converted to the default dtype first.
    """

def gelu_backward(grad_output: TensorLike, x: TensorLike, approximate: bool = False) -> Tensor:
    """``grad_output * (Phi(x) + x * Phi'(x))``.

    The backward pass of `gelu`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `gelu`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    approximate : bool, default False
        Whether to use the tanh formula, as in GPT-2, instead of the exact function.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def getitem(x: TensorLike, index: Index) -> Tensor:
    """``x[index]`` with all of NumPy's indices: slices, ints, None, ..., arrays of ints or bools.

    Without arrays the result is a view.

    Parameters
    ----------
    x : tensor_like
        The tensor to read.
    index : index
        Anything that indexes a NumPy array: ints, slices, ``None``, ``...``, arrays of ints or bools, or a
        tuple of these.

    Returns
    -------
    Tensor
        The elements at ``index``: a view of ``x``, or a copy if ``index`` has arrays.

    Raises
    ------
    IndexError
        If an index is out of range or there are too many of them.

    See Also
    --------
    getitem_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` added where it was read, as
    often as it was read, and 0 elsewhere.
    """

def getitem_backward(grad_output: TensorLike, input_shape: Sequence[int], index: Index) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` added at ``index``.

    The backward pass of `getitem`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `getitem`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    index : index
        Anything that indexes a NumPy array: ints, slices, ``None``, ``...``, arrays of ints or bools, or a
        tuple of these.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def glu(x: TensorLike, axis: int = -1) -> Tensor:
    """The gated linear unit ``a * sigmoid(b)``, for the two halves ``a`` and ``b`` of ``x``.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int, default -1
        The axis to halve. Its size must be even.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` with ``axis`` halved.

    Raises
    ------
    ValueError
        If the size of ``axis`` is odd or ``axis`` is out of range.

    See Also
    --------
    glu_backward : Its gradient.

    Notes
    -----
    Derivative: ``sigmoid(b)`` and ``a * sigmoid(b) * sigmoid(-b)``, joined again.

    Integers and booleans are converted to the default dtype first.
    """

def glu_backward(grad_output: TensorLike, x: TensorLike, axis: int = -1) -> Tensor:
    """``grad_output`` times ``sigmoid(b)`` and ``a * sigmoid(b) * sigmoid(-b)``, joined again.

    The backward pass of `glu`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `glu`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    axis : int, default -1
        The axis to halve. Its size must be even.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def greater(a: TensorLike, b: TensorLike) -> Tensor:
    """True where ``a > b``, element by element.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Notes
    -----
    The result has no gradient.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def greater_equal(a: TensorLike, b: TensorLike) -> Tensor:
    """True where ``a >= b``, element by element.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Notes
    -----
    The result has no gradient.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def grid_sample(
    x: TensorLike,
    grid: TensorLike,
    mode: Literal["bilinear", "nearest", "bicubic"] = "bilinear",
    padding_mode: Literal["zeros", "border", "reflection"] = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """``x`` read at the places of ``grid``, whose numbers go from -1 to 1 along each axis.

    Parameters
    ----------
    x : tensor_like, (batch, channels, height, width)
        The pictures, or volumes with a depth before the height.
    grid : tensor_like, (batch, out_height, out_width, 2)
        The places (x, y) to read, or (x, y, z) in volumes. NaN counts as -1.
    mode : {'bilinear', 'nearest', 'bicubic'}, default 'bilinear'
        "bilinear" interpolates linearly along each axis, "nearest" takes the nearest element,
        "bicubic" interpolates with cubic polynomials, in pictures only.
    padding_mode : {'zeros', 'border', 'reflection'}, default 'zeros'
        What lies outside: zeros, the element at the border, or the mirror image.
    align_corners : bool, optional
        Whether -1 and 1 are the centres of the outermost elements instead of their edges, by default
        False.

    Returns
    -------
    Tensor
        The elements read, (batch, channels, out_height, out_width).

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    grid_sample_backward : Its gradient.

    Notes
    -----
    Derivative: in ``x`` ``grad_output`` times the weight of each element that is read, in ``grid`` the
    elements times the derivatives of their weights; 0 for "nearest".

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def grid_sample_backward(
    grad_output: TensorLike,
    x: TensorLike,
    grid: TensorLike,
    mode: Literal["bilinear", "nearest", "bicubic"] = "bilinear",
    padding_mode: Literal["zeros", "border", "reflection"] = "zeros",
    align_corners: bool | None = None,
) -> grid_sample_gradients:
    """To the elements read, and to the places that the weights depend on.

    The backward pass of `grid_sample`: from the gradient of its result to that of ``x`` and ``grid``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `grid_sample`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, channels, height, width)
        The pictures, or volumes with a depth before the height.
    grid : tensor_like, (batch, out_height, out_width, 2)
        The places (x, y) to read, or (x, y, z) in volumes. NaN counts as -1.
    mode : {'bilinear', 'nearest', 'bicubic'}, default 'bilinear'
        "bilinear" interpolates linearly along each axis, "nearest" takes the nearest element,
        "bicubic" interpolates with cubic polynomials, in pictures only.
    padding_mode : {'zeros', 'border', 'reflection'}, default 'zeros'
        What lies outside: zeros, the element at the border, or the mirror image.
    align_corners : bool, optional
        Whether -1 and 1 are the centres of the outermost elements instead of their edges, by default
        False.

    Returns
    -------
    grid_sample_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_grid``, of the shape and dtype of ``grid``.
    """

def group_norm(
    x: TensorLike,
    num_groups: int,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over groups of channels, sample by sample.

    Parameters
    ----------
    x : tensor_like, (batch, channels, ...)
        The input.
    num_groups : int
        The number of groups. It must divide the number of channels.
    weight, bias : tensor_like, (channels,), optional
        Factors for the normalized values, and numbers to add to them; by default 1 and 0.
    eps : float, default 1e-05
        A number that is added to the variance, so that the root is never 0.

    Returns
    -------
    Tensor
        The normalized values, in the shape of ``x``.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    group_norm_backward : Its gradient.

    Notes
    -----
    Derivative: as for ``layer_norm``, over a group.

    Integers and booleans are converted to the default dtype first.
    """

def group_norm_backward(
    grad_output: TensorLike,
    x: TensorLike,
    num_groups: int,
    weight: TensorLike | None = None,
    eps: float = 1e-05,
) -> group_norm_gradients:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last two without them too.

    The backward pass of `group_norm`: from the gradient of its result to that of ``x`` and ``weight`` and ``bias``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `group_norm`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, channels, ...)
        The input.
    num_groups : int
        The number of groups. It must divide the number of channels.
    weight : tensor_like, (channels,), optional
        Factors for the normalized values, and numbers to add to them; by default 1 and 0.
    eps : float, default 1e-05
        A number that is added to the variance, so that the root is never 0.

    Returns
    -------
    group_norm_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_weight``, of the shape and dtype of ``weight``.
        - ``grad_bias``, of the shape and dtype of ``bias``.
    """

def gru(
    x: TensorLike,
    h0: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
) -> Tensor:
    """A gated recurrent unit: the hidden states of all steps, from ``h = h0`` on.

    With ``r, z, n`` the thirds of ``x @ w_ih.T + b_ih`` and ``u, v, w`` those of
    ``h @ w_hh.T + b_hh``, at each step ``r = sigmoid(r + u)``, ``z = sigmoid(z + v)``,
    ``n = tanh(n + r * w)`` and ``h = (1 - z) * n + z * h``.

    Parameters
    ----------
    x : tensor_like, (steps, batch, inputs)
        The sequences.
    h0 : tensor_like, (batch, hidden)
        The hidden state before the first step.
    w_ih : tensor_like, (3 * hidden, inputs)
        Weight of the inputs, for the three gates one below the other.
    w_hh : tensor_like, (3 * hidden, hidden)
        Weight of the hidden state.
    b_ih, b_hh : tensor_like, (3 * hidden,), optional
        What is added to the two products.

    Returns
    -------
    Tensor
        The hidden states, of shape (steps, batch, hidden).

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    gru_backward : Its gradient.

    Notes
    -----
    Derivative: with ``d`` and ``e``
    the gradients of the two triples, found step by step from the last to the first: in ``x``:
    ``d @ w_ih``; in ``w_ih``: ``d.T @ x``; in ``w_hh``: ``e.T @ h``; in the biases: ``sum(d)``
    and ``sum(e)``; in ``h0``: what reaches it through the first step.

    Integers and booleans are converted to the default dtype first.
    """

def gru_backward(
    grad_output: TensorLike,
    x: TensorLike,
    h0: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None,
    b_hh: TensorLike | None,
    output: TensorLike,
    gates: TensorLike | None = None,
) -> gru_gradients:
    """The gradients of all inputs, by one walk through time; by hand of both biases too.

    The backward pass of `gru`: from the gradient of its result to that of ``x`` and ``h0`` and ``w_ih`` and ``w_hh`` and ``b_ih`` and ``b_hh``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `gru`, of its shape. Its dtype must be floating.
    x : tensor_like, (steps, batch, inputs)
        The sequences.
    h0 : tensor_like, (batch, hidden)
        The hidden state before the first step.
    w_ih : tensor_like, (3 * hidden, inputs)
        Weight of the inputs, for the three gates one below the other.
    w_hh : tensor_like, (3 * hidden, hidden)
        Weight of the hidden state.
    b_ih, b_hh : tensor_like, (3 * hidden,)
        What is added to the two products.
    output : tensor_like
        The result of `gru`.
    gates : tensor_like, optional
        Values from the forward. They are computed again if not given.

    Returns
    -------
    gru_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_h0``, of the shape and dtype of ``h0``.
        - ``grad_w_ih``, of the shape and dtype of ``w_ih``.
        - ``grad_w_hh``, of the shape and dtype of ``w_hh``.
        - ``grad_b_ih``, of the shape and dtype of ``b_ih``.
        - ``grad_b_hh``, of the shape and dtype of ``b_hh``.
    """

def gru_cell(
    x: TensorLike,
    h: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
) -> Tensor:
    """One step of `gru`: the new hidden state.

    Parameters
    ----------
    x : tensor_like, (batch, inputs)
        The inputs of the step.
    h : tensor_like, (batch, hidden)
        The hidden state.
    w_ih : tensor_like, (3 * hidden, inputs)
        Weight of the inputs, for the three gates one below the other.
    w_hh : tensor_like, (3 * hidden, hidden)
        Weight of the hidden state.
    b_ih, b_hh : tensor_like, (3 * hidden,), optional
        What is added to the two products.

    Returns
    -------
    Tensor
        The new hidden state, of shape (batch, hidden).

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    gru_cell_backward : Its gradient.

    Notes
    -----
    Derivative: as for ``gru``, of one step.

    Integers and booleans are converted to the default dtype first.
    """

def gru_cell_backward(
    grad_output: TensorLike,
    x: TensorLike,
    h: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None,
    b_hh: TensorLike | None,
    output: TensorLike,
    gates: TensorLike | None = None,
) -> gru_cell_gradients:
    """The gradients of all inputs; by hand of both biases too.

    The backward pass of `gru_cell`: from the gradient of its result to that of ``x`` and ``h`` and ``w_ih`` and ``w_hh`` and ``b_ih`` and ``b_hh``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `gru_cell`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, inputs)
        The inputs of the step.
    h : tensor_like, (batch, hidden)
        The hidden state.
    w_ih : tensor_like, (3 * hidden, inputs)
        Weight of the inputs, for the three gates one below the other.
    w_hh : tensor_like, (3 * hidden, hidden)
        Weight of the hidden state.
    b_ih, b_hh : tensor_like, (3 * hidden,)
        What is added to the two products.
    output : tensor_like
        The result of `gru_cell`.
    gates : tensor_like, optional
        Values from the forward. They are computed again if not given.

    Returns
    -------
    gru_cell_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_h``, of the shape and dtype of ``h``.
        - ``grad_w_ih``, of the shape and dtype of ``w_ih``.
        - ``grad_w_hh``, of the shape and dtype of ``w_hh``.
        - ``grad_b_ih``, of the shape and dtype of ``b_ih``.
        - ``grad_b_hh``, of the shape and dtype of ``b_hh``.
    """

def hard_shrink(x: TensorLike, lambd: float = 0.5) -> Tensor:
    """``x`` where ``abs(x)`` is above ``lambd``, else 0.

    Parameters
    ----------
    x : tensor_like
        The input.
    lambd : float, default 0.5
        The largest magnitude that becomes 0.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``lambd`` is negative.

    See Also
    --------
    hard_shrink_backward : Its gradient.

    Notes
    -----
    Derivative: 1 where ``abs(x)`` is above ``lambd``, else 0.

    Integers and booleans are converted to the default dtype first.
    """

def hard_shrink_backward(grad_output: TensorLike, x: TensorLike, lambd: float = 0.5) -> Tensor:
    """``grad_output`` where ``abs(x) > lambd``, else 0.

    The backward pass of `hard_shrink`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `hard_shrink`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    lambd : float, default 0.5
        The largest magnitude that becomes 0.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def hard_sigmoid(x: TensorLike) -> Tensor:
    """A piecewise linear sigmoid, ``min(max(x + 3, 0), 6) / 6``.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    hard_sigmoid_backward : Its gradient.

    Notes
    -----
    Derivative: 1/6 between -3 and 3, else 0, also at both.

    Integers and booleans are converted to the default dtype first.
    """

def hard_sigmoid_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output / 6`` where ``-3 < x < 3``, else 0.

    The backward pass of `hard_sigmoid`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `hard_sigmoid`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def hard_swish(x: TensorLike) -> Tensor:
    """A piecewise quadratic swish, ``x * min(max(x + 3, 0), 6) / 6``.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    hard_swish_backward : Its gradient.

    Notes
    -----
    Derivative: ``(2 * x + 3) / 6`` between -3 and 3, 0 from -3 downwards and 1 from 3 upwards.

    Integers and booleans are converted to the default dtype first.
    """

def hard_swish_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output`` times 0, ``(2 * x + 3) / 6`` or 1.

    The backward pass of `hard_swish`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `hard_swish`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def hard_tanh(x: TensorLike, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """``x`` limited to ``[min_val, max_val]``.

    It differs from ``clip`` in nothing but the slope at the bounds.

    Parameters
    ----------
    x : tensor_like
        The input.
    min_val : float, default -1.0
        The bounds. For an ``x`` of integers they must be whole numbers.
    max_val : float, default 1.0
        The bounds. For an ``x`` of integers they must be whole numbers.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``min_val`` is not below ``max_val``.

    See Also
    --------
    hard_tanh_backward : Its gradient.

    Notes
    -----
    Derivative: 1 between the bounds, else 0, also at both.
    """

def hard_tanh_backward(
    grad_output: TensorLike, x: TensorLike, min_val: float = -1.0, max_val: float = 1.0
) -> Tensor:
    """``grad_output`` where ``min_val < x < max_val``, else 0.

    The backward pass of `hard_tanh`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `hard_tanh`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    min_val : float, default -1.0
        The bounds. For an ``x`` of integers they must be whole numbers.
    max_val : float, default 1.0
        The bounds. For an ``x`` of integers they must be whole numbers.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def heaviside(x: TensorLike, values: TensorLike) -> Tensor:
    """0 where ``x`` is negative, 1 where it is positive, and ``values`` where it is 0.

    Parameters
    ----------
    x : tensor_like
        The input.
    values : tensor_like
        The results where ``x`` is 0. They broadcast against ``x``.

    Returns
    -------
    Tensor
        The result, in the shape to which ``x`` and ``values`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    heaviside_backward : Its gradient.

    Notes
    -----
    Derivative: 0 for ``x``, and 1 for ``values`` where ``x`` is 0.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def heaviside_backward(
    grad_output: TensorLike, x: TensorLike, values: TensorLike
) -> heaviside_gradients:
    """Zeros, and ``grad_output`` where ``x`` is 0.

    The backward pass of `heaviside`: from the gradient of its result to that of ``x`` and ``values``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `heaviside`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    values : tensor_like
        The results where ``x`` is 0. They broadcast against ``x``.

    Returns
    -------
    heaviside_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_values``, of the shape and dtype of ``values``.
    """

def hinge_embedding_loss(
    x: TensorLike,
    target: TensorLike,
    margin: float = 1.0,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> Tensor:
    """``x`` where ``target`` is 1, ``max(0, margin - x)`` where it is -1.

    Parameters
    ----------
    x : tensor_like
        Distances between pairs.
    target : tensor_like, -1 or 1
        Whether a pair should be alike (1) or not (-1).
    margin : float, default 1.0
        The distance from which unlike pairs cost nothing.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    hinge_embedding_loss_backward : Its gradient.

    Notes
    -----
    Derivative: 1 where ``target`` is 1; -1 where it is -1 and ``x`` is below ``margin``; else 0.

    Integers and booleans are converted to the default dtype first.
    """

def hinge_embedding_loss_backward(
    grad_output: TensorLike,
    x: TensorLike,
    target: TensorLike,
    margin: float = 1.0,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> Tensor:
    """``grad_output`` where ``target`` is 1, its negative where it is -1 and ``x`` below ``margin``.

    The backward pass of `hinge_embedding_loss`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `hinge_embedding_loss`, of its shape. Its dtype must be floating.
    x : tensor_like
        Distances between pairs.
    target : tensor_like, -1 or 1
        Whether a pair should be alike (1) or not (-1).
    margin : float, default 1.0
        The distance from which unlike pairs cost nothing.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def hinge_loss(
    prediction: TensorLike, target: TensorLike, reduction: Literal["mean", "sum", "none"] = "mean"
) -> Tensor:
    """The hinge loss ``max(0, 1 - target * prediction)``.

    Parameters
    ----------
    prediction : tensor_like
        The output of a model.
    target : tensor_like
        Labels -1 and 1, in the shape of ``prediction``.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    hinge_loss_backward : Its gradient.

    Notes
    -----
    Derivative: ``-target`` and ``-prediction`` where the product is below 1, else 0, also at 1.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def hinge_loss_backward(
    grad_output: TensorLike,
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> hinge_loss_gradients:
    """``-grad_output * target`` and ``-grad_output * prediction`` where the product is below 1.

    The backward pass of `hinge_loss`: from the gradient of its result to that of ``prediction`` and ``target``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `hinge_loss`, of its shape. Its dtype must be floating.
    prediction : tensor_like
        The output of a model.
    target : tensor_like
        Labels -1 and 1, in the shape of ``prediction``.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    hinge_loss_gradients
        Named tuple of the gradients:

        - ``grad_prediction``, of the shape and dtype of ``prediction``.
        - ``grad_target``, of the shape and dtype of ``target``.
    """

def huber_loss(
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    delta: float = 1.0,
) -> Tensor:
    """The Huber loss, a parabola for small errors and a line for large ones.

    It is ``d**2 / 2`` where ``d`` is up to ``delta``, else ``delta * (d - delta / 2)``.
    ``d`` is ``|prediction - target|``.

    Parameters
    ----------
    prediction : tensor_like
        The output of a model.
    target : tensor_like
        The values to predict, in the shape of ``prediction``.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.
    delta : float, default 1.0
        The error at which the parabola ends.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    huber_loss_backward : Its gradient.

    Notes
    -----
    Derivative: ``prediction - target`` held between
    ``-delta`` and ``delta``, and its negative for ``target``.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def huber_loss_backward(
    grad_output: TensorLike,
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    delta: float = 1.0,
) -> huber_loss_gradients:
    """``grad_output`` times ``prediction - target`` held in [-delta, delta], and its negative.

    The backward pass of `huber_loss`: from the gradient of its result to that of ``prediction`` and ``target``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `huber_loss`, of its shape. Its dtype must be floating.
    prediction : tensor_like
        The output of a model.
    target : tensor_like
        The values to predict, in the shape of ``prediction``.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.
    delta : float, default 1.0
        The error at which the parabola ends.

    Returns
    -------
    huber_loss_gradients
        Named tuple of the gradients:

        - ``grad_prediction``, of the shape and dtype of ``prediction``.
        - ``grad_target``, of the shape and dtype of ``target``.
    """

def hypot(a: TensorLike, b: TensorLike) -> Tensor:
    """``sqrt(a**2 + b**2)``, without overflow.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        The result, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    hypot_backward : Its gradient.

    Notes
    -----
    Derivative: ``a / output`` and ``b / output``, 0 at 0.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def hypot_backward(
    grad_output: TensorLike, a: TensorLike, b: TensorLike, output: TensorLike
) -> hypot_gradients:
    """``grad_output * a / output`` and ``grad_output * b / output``.

    The backward pass of `hypot`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `hypot`, of its shape. Its dtype must be floating.
    a, b : tensor_like
        The operands. They broadcast against each other.
    output : tensor_like
        The result of `hypot`.

    Returns
    -------
    hypot_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def identity(x: TensorLike) -> Tensor:
    """The same values and the same memory, as a new place on the tape.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        A new tensor on the memory of ``x``.

    See Also
    --------
    identity_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output``.
    """

def identity_backward(grad_output: TensorLike) -> Tensor:
    """``grad_output`` itself.

    The backward pass of `identity`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `identity`, of its shape. Its dtype must be floating.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def index_add(x: TensorLike, updates: TensorLike, index: Index) -> Tensor:
    """A copy of ``x`` with ``updates`` added at ``index``: ``x.at[index].add(updates)``.

    An index named twice is added to twice.

    Parameters
    ----------
    x : tensor_like
        The tensor to copy.
    updates : tensor_like
        The values to add. They broadcast to what ``index`` selects.
    index : index
        Anything that indexes a NumPy array: ints, slices, ``None``, ``...``, arrays of ints or bools, or a
        tuple of these.

    Returns
    -------
    Tensor
        The copy, in the shape of ``x``.

    Raises
    ------
    IndexError
        If an index is out of range.

    See Also
    --------
    index_add_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` to ``x``,
    ``grad_output[index]`` to ``updates``.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def index_add_backward(
    grad_output: TensorLike, x_shape: Sequence[int], updates_shape: Sequence[int], index: Index
) -> index_add_gradients:
    """``grad_output``, and ``grad_output[index]`` summed to the shape of ``updates``.

    The backward pass of `index_add`: from the gradient of its result to that of ``x`` and ``updates``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `index_add`, of its shape. Its dtype must be floating.
    x_shape : sequence of ints
        Shape of ``x``.
    updates_shape : sequence of ints
        Shape of ``updates``.
    index : index
        Anything that indexes a NumPy array: ints, slices, ``None``, ``...``, arrays of ints or bools, or a
        tuple of these.

    Returns
    -------
    index_add_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_updates``, of the shape and dtype of ``updates``.
    """

def index_select(x: TensorLike, indices: TensorLike, axis: int) -> Tensor:
    """The slices of ``x`` at the 1-D ``indices`` along ``axis``.

    Parameters
    ----------
    x : tensor_like
        The input.
    indices : tensor_like, (n,), ints
        The positions; negative ones count from the end.
    axis : int
        The axis of the positions.

    Returns
    -------
    Tensor
        The slices, with ``n`` elements along ``axis``.

    Raises
    ------
    ValueError
        If an index or ``axis`` is out of range.

    See Also
    --------
    index_select_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` added where it was read.
    """

def index_select_backward(
    grad_output: TensorLike, x_shape: Sequence[int], indices: TensorLike, axis: int
) -> Tensor:
    """Zeros of ``x_shape`` with ``grad_output`` added at ``indices`` along ``axis``.

    The backward pass of `index_select`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `index_select`, of its shape. Its dtype must be floating.
    x_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like, (n,), ints
        The positions; negative ones count from the end.
    axis : int
        The axis of the positions.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def index_set(x: TensorLike, updates: TensorLike, index: Index) -> Tensor:
    """A copy of ``x`` with ``updates`` written at ``index``: ``x.at[index].set(updates)``.

    Where an index is named twice the last value stays.

    Parameters
    ----------
    x : tensor_like
        The tensor to copy.
    updates : tensor_like
        The values to write. They broadcast to what ``index`` selects.
    index : index
        Anything that indexes a NumPy array: ints, slices, ``None``, ``...``, arrays of ints or bools, or a
        tuple of these.

    Returns
    -------
    Tensor
        The copy, in the shape of ``x``.

    Raises
    ------
    IndexError
        If an index is out of range.

    See Also
    --------
    index_set_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` to ``updates``
    where written, if the value stayed, and to ``x`` elsewhere.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def index_set_backward(
    grad_output: TensorLike, x_shape: Sequence[int], updates_shape: Sequence[int], index: Index
) -> index_set_gradients:
    """``grad_output`` with zeros at ``index``, and ``grad_output[index]`` where a value stayed.

    The backward pass of `index_set`: from the gradient of its result to that of ``x`` and ``updates``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `index_set`, of its shape. Its dtype must be floating.
    x_shape : sequence of ints
        Shape of ``x``.
    updates_shape : sequence of ints
        Shape of ``updates``.
    index : index
        Anything that indexes a NumPy array: ints, slices, ``None``, ``...``, arrays of ints or bools, or a
        tuple of these.

    Returns
    -------
    index_set_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_updates``, of the shape and dtype of ``updates``.
    """

def instance_norm(
    x: TensorLike,
    running_mean: TensorLike | None = None,
    running_var: TensorLike | None = None,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, for each channel of each sample.

    Parameters
    ----------
    x : tensor_like, (batch, channels, ...)
        The input.
    running_mean, running_var : tensor_like, (channels,), optional
        Running statistics of the channels. They have no gradient.
    weight, bias : tensor_like, (channels,), optional
        Factors for the normalized values, and numbers to add to them; by default 1 and 0.
    use_input_stats : bool, default True
        Whether to normalize with the statistics of ``x``. Running statistics, if given, then
        move in place as for `batch_norm`, towards the means over the batch. If False, they are
        used instead.
    momentum : float, default 0.1
        The weight of the present batch in the running statistics.
    eps : float, default 1e-05
        A number that is added to the variance, so that the root is never 0.

    Returns
    -------
    Tensor
        The normalized values, in the shape of ``x``.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    instance_norm_backward : Its gradient.

    Notes
    -----
    Derivative: as for ``batch_norm``, over a channel of a sample.

    Integers and booleans are converted to the default dtype first.
    """

def instance_norm_backward(
    grad_output: TensorLike,
    x: TensorLike,
    running_mean: TensorLike | None = None,
    running_var: TensorLike | None = None,
    weight: TensorLike | None = None,
    use_input_stats: bool = True,
    eps: float = 1e-05,
) -> instance_norm_gradients:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last two without them too.

    The backward pass of `instance_norm`: from the gradient of its result to that of ``x`` and ``weight`` and ``bias``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `instance_norm`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, channels, ...)
        The input.
    running_mean, running_var : tensor_like, (channels,), optional
        Running statistics of the channels. They have no gradient.
    weight : tensor_like, (channels,), optional
        Factors for the normalized values, and numbers to add to them; by default 1 and 0.
    use_input_stats : bool, default True
        Whether to normalize with the statistics of ``x``. Running statistics, if given, then
        move in place as for `batch_norm`, towards the means over the batch. If False, they are
        used instead.
    eps : float, default 1e-05
        A number that is added to the variance, so that the root is never 0.

    Returns
    -------
    instance_norm_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_weight``, of the shape and dtype of ``weight``.
        - ``grad_bias``, of the shape and dtype of ``bias``.
    """

def interpolate(
    x: TensorLike,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: Literal["nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area"] = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """``x`` resampled to another size along all axes behind batch and channels.

    Element ``i`` of the result lies at ``(i + 0.5) * step - 0.5`` of the input, with
    ``step = 1 / scale_factor`` or ``old size / new size``; with ``align_corners`` at ``i * step``
    with ``step = (old size - 1) / (new size - 1)``. "nearest" takes element ``floor(i * step)``,
    "nearest-exact" ``floor((i + 0.5) * step)``.

    Parameters
    ----------
    x : tensor_like, (batch, channels, ...)
        Sequences, pictures or volumes.
    size : int or sequence of ints, optional
        The new size: a number, or one for each axis.
    scale_factor : float or sequence of floats, optional
        The factor by which sizes grow, instead of ``size``: a number, or one for each axis. Sizes
        are rounded down.
    mode : {'nearest', 'nearest-exact', 'linear', 'bilinear', 'bicubic', 'trilinear', 'area'}, default 'nearest'
        "nearest" and "nearest-exact" copy elements, "linear", "bilinear" and "trilinear" interpolate
        linearly along 1, 2 and 3 axes, "bicubic" with cubic polynomials along 2. "area" takes the
        means of windows, as `adaptive_avg_pool2d` does.
    align_corners : bool, optional
        Whether the first and last elements of both axes lie upon each other, for the modes that
        interpolate.
    recompute_scale_factor : bool, optional
        Whether ``step`` follows from the sizes although ``scale_factor`` is given.
    antialias : bool, default False
        Whether "bilinear" and "bicubic" average over all elements where an axis shrinks.

    Returns
    -------
    Tensor
        The result, of shape ``(batch, channels, *size)``.

    Raises
    ------
    ValueError
        If the mode does not fit the number of axes, or not exactly one of ``size`` and
        ``scale_factor`` is given.

    See Also
    --------
    interpolate_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` to the elements that it is made of, times their weights.
    """

def interpolate_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: Literal["nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area"] = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """``grad_output`` to the elements that it is made of, times their weights.

    The backward pass of `interpolate`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `interpolate`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    size : int or sequence of ints, optional
        The new size: a number, or one for each axis.
    scale_factor : float or sequence of floats, optional
        The factor by which sizes grow, instead of ``size``: a number, or one for each axis. Sizes
        are rounded down.
    mode : {'nearest', 'nearest-exact', 'linear', 'bilinear', 'bicubic', 'trilinear', 'area'}, default 'nearest'
        "nearest" and "nearest-exact" copy elements, "linear", "bilinear" and "trilinear" interpolate
        linearly along 1, 2 and 3 axes, "bicubic" with cubic polynomials along 2. "area" takes the
        means of windows, as `adaptive_avg_pool2d` does.
    align_corners : bool, optional
        Whether the first and last elements of both axes lie upon each other, for the modes that
        interpolate.
    recompute_scale_factor : bool, optional
        Whether ``step`` follows from the sizes although ``scale_factor`` is given.
    antialias : bool, default False
        Whether "bilinear" and "bicubic" average over all elements where an axis shrinks.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def inv(x: TensorLike) -> Tensor:
    """The inverse of a matrix.

    Parameters
    ----------
    x : tensor_like, (..., n, n)
        Square matrices.

    Returns
    -------
    Tensor
        The inverses, in the shape of ``x``.

    Raises
    ------
    ValueError
        If the last two axes are not of one size, or a matrix does not allow it.

    See Also
    --------
    inv_backward : Its gradient.

    Notes
    -----
    Derivative: ``-output.T @ grad_output @ output.T``.

    Integers and booleans are converted to the default dtype first.
    """

def inv_backward(grad_output: TensorLike, output: TensorLike) -> Tensor:
    """``-output.T @ grad_output @ output.T``.

    The backward pass of `inv`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `inv`, of its shape. Its dtype must be floating.
    output : tensor_like
        The result of `inv`.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def isfinite(x: TensorLike) -> Tensor:
    """True where ``x`` is neither NaN nor infinite.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

    Notes
    -----
    The result has no gradient.
    """

def isinf(x: TensorLike) -> Tensor:
    """True where ``x`` is infinite.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

    Notes
    -----
    The result has no gradient.
    """

def isnan(x: TensorLike) -> Tensor:
    """True where ``x`` is NaN.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

    Notes
    -----
    The result has no gradient.
    """

def kl_div(
    x: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none", "batchmean"] = "mean",
    log_target: bool = False,
) -> Tensor:
    """The Kullback-Leibler divergence, ``target * (log(target) - x)``; 0 where ``target`` is 0.

    Parameters
    ----------
    x : tensor_like
        Log-probabilities.
    target : tensor_like
        Probabilities, or their logarithms with ``log_target``, in the shape of ``x``.
    reduction : {'mean', 'sum', 'none'} or {'batchmean'}, default 'mean'
        "batchmean" divides the sum by the size of axis 0, which gives the divergence; "mean"
        divides by the number of elements.
    log_target : bool, default False
        Whether ``target`` holds logarithms.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    kl_div_backward : Its gradient.

    Notes
    -----
    Derivative: ``-target``, and ``log(target) + 1 - x`` (-inf at 0); with ``log_target``
    ``-exp(target)``, and ``exp(target) * (target + 1 - x)``.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def kl_div_backward(
    grad_output: TensorLike,
    x: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none", "batchmean"] = "mean",
    log_target: bool = False,
) -> kl_div_gradients:
    """``-grad_output * target`` and ``grad_output * (log(target) + 1 - x)``.

    The backward pass of `kl_div`: from the gradient of its result to that of ``x`` and ``target``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `kl_div`, of its shape. Its dtype must be floating.
    x : tensor_like
        Log-probabilities.
    target : tensor_like
        Probabilities, or their logarithms with ``log_target``, in the shape of ``x``.
    reduction : {'mean', 'sum', 'none'} or {'batchmean'}, default 'mean'
        "batchmean" divides the sum by the size of axis 0, which gives the divergence; "mean"
        divides by the number of elements.
    log_target : bool, default False
        Whether ``target`` holds logarithms.

    Returns
    -------
    kl_div_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_target``, of the shape and dtype of ``target``.
    """

def kron(a: TensorLike, b: TensorLike) -> Tensor:
    """The Kronecker product: ``b`` times each element of ``a``, as blocks.

    Parameters
    ----------
    a, b : tensor_like
        The factors. The one with fewer axes gets new ones in front.

    Returns
    -------
    Tensor
        The product. The size of each axis is the product of those of ``a`` and ``b``.

    See Also
    --------
    kron_backward : Its gradient.

    Notes
    -----
    Derivative: the sums of ``grad_output`` times ``b`` over each block, and times ``a`` over all
    blocks.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def kron_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> kron_gradients:
    """The sums of ``grad_output`` times ``b`` and times ``a``.

    The backward pass of `kron`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `kron`, of its shape. Its dtype must be floating.
    a, b : tensor_like
        The factors. The one with fewer axes gets new ones in front.

    Returns
    -------
    kron_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def kthvalue(
    x: TensorLike, k: int, axis: int = -1, keepdims: bool = False
) -> tuple[Tensor, Tensor]:
    """The ``k``-th smallest element along ``axis``, and its index; NaN counts as largest.

    Of equal elements the first comes first.

    Parameters
    ----------
    x : tensor_like
        The input.
    k : int
        The rank, from 1 on.
    axis : int, default -1
        The axis to search along.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    tuple of Tensor
        The elements, and their indices of dtype int64.

    Raises
    ------
    ValueError
        If ``k`` or ``axis`` is out of range.

    See Also
    --------
    kthvalue_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` (of the values) to the
    elements taken.
    """

def kthvalue_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    indices: TensorLike,
    k: int,
    axis: int = -1,
    keepdims: bool = False,
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` at ``indices``.

    The backward pass of `kthvalue`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the first result of `kthvalue`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like
        The second result of `kthvalue`.
    k : int
        The rank, from 1 on.
    axis : int, default -1
        The axis to search along.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def l1_loss(
    prediction: TensorLike, target: TensorLike, reduction: Literal["mean", "sum", "none"] = "mean"
) -> Tensor:
    """The absolute error, ``|prediction - target|``.

    Parameters
    ----------
    prediction : tensor_like
        The output of a model.
    target : tensor_like
        The values to predict, in the shape of ``prediction``.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    l1_loss_backward : Its gradient.

    Notes
    -----
    Derivative: the sign of the difference, 0 where there is none, and its negative for
    ``target``.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def l1_loss_backward(
    grad_output: TensorLike,
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> l1_loss_gradients:
    """``grad_output * sign(prediction - target)`` and its negative.

    The backward pass of `l1_loss`: from the gradient of its result to that of ``prediction`` and ``target``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `l1_loss`, of its shape. Its dtype must be floating.
    prediction : tensor_like
        The output of a model.
    target : tensor_like
        The values to predict, in the shape of ``prediction``.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    l1_loss_gradients
        Named tuple of the gradients:

        - ``grad_prediction``, of the shape and dtype of ``prediction``.
        - ``grad_target``, of the shape and dtype of ``target``.
    """

def layer_norm(
    x: TensorLike,
    normalized_shape: int | Sequence[int],
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over the last axes, sample by sample.

    Parameters
    ----------
    x : tensor_like
        The input.
    normalized_shape : int or sequence of ints
        The sizes of the axes to normalize over, and the shape of ``weight`` and ``bias``.
    weight : tensor_like, optional
        Factors for the normalized values, by default 1.
    bias : tensor_like, optional
        Numbers to add to them, by default 0.
    eps : float, default 1e-05
        A number that is added to the variance, so that the root is never 0.

    Returns
    -------
    Tensor
        The normalized values, in the shape of ``x``.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    layer_norm_backward : Its gradient.

    Notes
    -----
    Derivative: in ``x``, with ``u = (x - mean) / sqrt(var + eps)`` and
    ``g = grad_output * weight``: ``(g - mean(g) - u * mean(g * u)) / sqrt(var + eps)``; in
    ``weight``: ``u``; in ``bias``: 1.

    Integers and booleans are converted to the default dtype first.
    """

def layer_norm_backward(
    grad_output: TensorLike,
    x: TensorLike,
    normalized_shape: int | Sequence[int],
    weight: TensorLike | None = None,
    eps: float = 1e-05,
) -> layer_norm_gradients:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last two without them too.

    The mean and the variance are computed again: that is quicker than to read them from memory.

    The backward pass of `layer_norm`: from the gradient of its result to that of ``x`` and ``weight`` and ``bias``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `layer_norm`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    normalized_shape : int or sequence of ints
        The sizes of the axes to normalize over, and the shape of ``weight`` and ``bias``.
    weight : tensor_like, optional
        Factors for the normalized values, by default 1.
    eps : float, default 1e-05
        A number that is added to the variance, so that the root is never 0.

    Returns
    -------
    layer_norm_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_weight``, of the shape and dtype of ``weight``.
        - ``grad_bias``, of the shape and dtype of ``bias``.
    """

def leaky_relu(x: TensorLike, alpha: float = 0.01) -> Tensor:
    """The leaky rectifier: ``x`` where it is positive, else ``alpha * x``.

    Parameters
    ----------
    x : tensor_like
        The input.
    alpha : float, default 0.01
        Slope for negative ``x``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    leaky_relu_backward : Its gradient.

    Notes
    -----
    Derivative: 1 or ``alpha``, ``alpha`` at 0.

    Integers and booleans are converted to the default dtype first.
    """

def leaky_relu_backward(grad_output: TensorLike, x: TensorLike, alpha: float = 0.01) -> Tensor:
    """``grad_output`` where ``x`` is positive, else ``alpha * grad_output``.

    The backward pass of `leaky_relu`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `leaky_relu`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    alpha : float, default 0.01
        Slope for negative ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def lerp(start: TensorLike, end: TensorLike, weight: TensorLike) -> Tensor:
    """The point between ``start`` and ``end``, ``start + weight * (end - start)``; exact at both.

    Parameters
    ----------
    start, end : tensor_like
        The points at the weights 0 and 1.
    weight : tensor_like
        How far along. All three broadcast against each other.

    Returns
    -------
    Tensor
        The result, in the shape to which all three broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    lerp_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 - weight``, ``weight`` and ``end - start``.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def lerp_backward(
    grad_output: TensorLike, start: TensorLike, end: TensorLike, weight: TensorLike
) -> lerp_gradients:
    """``grad_output`` times ``1 - weight``, ``weight`` and ``end - start``.

    The backward pass of `lerp`: from the gradient of its result to that of ``start`` and ``end`` and ``weight``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `lerp`, of its shape. Its dtype must be floating.
    start, end : tensor_like
        The points at the weights 0 and 1.
    weight : tensor_like
        How far along. All three broadcast against each other.

    Returns
    -------
    lerp_gradients
        Named tuple of the gradients:

        - ``grad_start``, of the shape and dtype of ``start``.
        - ``grad_end``, of the shape and dtype of ``end``.
        - ``grad_weight``, of the shape and dtype of ``weight``.
    """

def less(a: TensorLike, b: TensorLike) -> Tensor:
    """True where ``a < b``, element by element.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Notes
    -----
    The result has no gradient.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def less_equal(a: TensorLike, b: TensorLike) -> Tensor:
    """True where ``a <= b``, element by element.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Notes
    -----
    The result has no gradient.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def lgamma(x: TensorLike) -> Tensor:
    """The logarithm of the magnitude of the gamma function; inf at 0, -1, -2, ...

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    lgamma_backward : Its gradient.

    Notes
    -----
    Derivative: ``digamma(x)``.

    Integers and booleans are converted to the default dtype first.
    """

def lgamma_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * digamma(x)``.

    The backward pass of `lgamma`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `lgamma`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def lift(x: TensorLike, least: float) -> Tensor:
    """``x``, with a magnitude below ``least`` raised to ``least`` (sign kept).

    Parameters
    ----------
    x : tensor_like
        The input.
    least : float
        The least magnitude. 0 changes nothing.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    lift_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output``, 0 where ``x`` was raised.

    Integers and booleans are converted to the default dtype first.
    """

def lift_backward(grad_output: TensorLike, x: TensorLike, least: float) -> Tensor:
    """``grad_output`` where ``x`` was not raised, else 0.

    The backward pass of `lift`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `lift`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    least : float
        The least magnitude. 0 changes nothing.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def linear(x: TensorLike, weight: TensorLike, bias: TensorLike | None = None) -> Tensor:
    """A linear layer, ``x @ weight.T + bias``.

    Parameters
    ----------
    x : tensor_like, (..., in)
        The inputs.
    weight : tensor_like, (out, in)
        The weight.
    bias : tensor_like, (out,), optional
        Numbers to add to the outputs.

    Returns
    -------
    Tensor
        The outputs, of shape (..., out).

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    linear_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output @ weight``, ``grad_output.T @ x`` and the sum of ``grad_output``
    over all axes but the last.
    """

def linear_backward(grad_output: TensorLike, x: TensorLike, weight: TensorLike) -> linear_gradients:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too.

    The backward pass of `linear`: from the gradient of its result to that of ``x`` and ``weight`` and ``bias``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `linear`, of its shape. Its dtype must be floating.
    x : tensor_like, (..., in)
        The inputs.
    weight : tensor_like, (out, in)
        The weight.

    Returns
    -------
    linear_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_weight``, of the shape and dtype of ``weight``.
        - ``grad_bias``, of the shape and dtype of ``bias``.
    """

def local_response_norm(
    x: TensorLike, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """``x / (k + alpha / size * sum(x**2))**beta``, with a sum over ``size`` channels around each.

    Parameters
    ----------
    x : tensor_like, (batch, channels, ...)
        The input.
    size : int
        The number of channels in a sum; an even one has one more before than behind.
    alpha : float, default 0.0001
        The factor of the mean of squares.
    beta : float, default 0.75
        The exponent.
    k : float, default 1.0
        The number to which it is added.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``x`` has fewer than 3 axes, or ``size`` is less than 1.

    See Also
    --------
    local_response_norm_backward : Its gradient.

    Notes
    -----
    Derivative: with the base ``s`` of the power, ``s**-beta`` and, from each channel that sees the
    element, ``-2 * alpha * beta / size`` times the product of both elements and ``s**(-beta - 1)``.

    Integers and booleans are converted to the default dtype first.
    """

def local_response_norm_backward(
    grad_output: TensorLike,
    x: TensorLike,
    size: int,
    alpha: float = 0.0001,
    beta: float = 0.75,
    k: float = 1.0,
) -> Tensor:
    """Through the numerator of each element, and through the sums that it is in.

    The backward pass of `local_response_norm`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `local_response_norm`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, channels, ...)
        The input.
    size : int
        The number of channels in a sum; an even one has one more before than behind.
    alpha : float, default 0.0001
        The factor of the mean of squares.
    beta : float, default 0.75
        The exponent.
    k : float, default 1.0
        The number to which it is added.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def log(x: TensorLike) -> Tensor:
    """The natural logarithm. -inf at 0, NaN below.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    log_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 / x``, with ``x`` lifted to ``eps``.

    Integers and booleans are converted to the default dtype first.
    """

def log_backward(grad_output: TensorLike, x: TensorLike, eps: float = 1e-10) -> Tensor:
    """``grad_output / x``.

    The backward pass of `log`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `log`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    eps : float, default 1e-10
        A denominator whose magnitude is below ``eps`` is raised to it, others are kept; 0 gives plain
        IEEE results. The tape passes the value that `gradient_eps` sets.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def log10(x: TensorLike) -> Tensor:
    """The logarithm to base 10. -inf at 0, NaN below.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    log10_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 / (x * ln(10))``, denominator lifted to ``eps``.

    Integers and booleans are converted to the default dtype first.
    """

def log10_backward(grad_output: TensorLike, x: TensorLike, eps: float = 1e-10) -> Tensor:
    """``grad_output / (x * ln(10))``.

    The backward pass of `log10`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `log10`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    eps : float, default 1e-10
        A denominator whose magnitude is below ``eps`` is raised to it, others are kept; 0 gives plain
        IEEE results. The tape passes the value that `gradient_eps` sets.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def log1p(x: TensorLike) -> Tensor:
    """``ln(1 + x)``, accurate near 0 too. -inf at -1, NaN below.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    log1p_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 / (1 + x)``, infinite at -1.

    Integers and booleans are converted to the default dtype first.
    """

def log1p_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output / (1 + x)``.

    The backward pass of `log1p`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `log1p`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def log2(x: TensorLike) -> Tensor:
    """The logarithm to base 2. -inf at 0, NaN below.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    log2_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 / (x * ln(2))``, denominator lifted to ``eps``.

    Integers and booleans are converted to the default dtype first.
    """

def log2_backward(grad_output: TensorLike, x: TensorLike, eps: float = 1e-10) -> Tensor:
    """``grad_output / (x * ln(2))``.

    The backward pass of `log2`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `log2`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    eps : float, default 1e-10
        A denominator whose magnitude is below ``eps`` is raised to it, others are kept; 0 gives plain
        IEEE results. The tape passes the value that `gradient_eps` sets.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def log_sigmoid(x: TensorLike) -> Tensor:
    """``log(sigmoid(x))``, without overflow.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    log_sigmoid_backward : Its gradient.

    Notes
    -----
    Derivative: ``sigmoid(-x)``.

    Integers and booleans are converted to the default dtype first.
    """

def log_sigmoid_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * sigmoid(-x)``.

    The backward pass of `log_sigmoid`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `log_sigmoid`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def log_softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """The logarithm of `softmax`, ``x - log(sum(exp(x)))`` over ``axis``, without overflow.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int, default -1
        The axis whose probabilities are to sum to 1.

    Returns
    -------
    Tensor
        Log-probabilities, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``axis`` is out of range.

    See Also
    --------
    log_softmax_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output - exp(output) * sum(grad_output)``, exactly 0 for a single
    element. A row of -inf alone gives NaN; an axis of size 0 gives an empty result.

    Integers and booleans are converted to the default dtype first.
    """

def log_softmax_backward(grad_output: TensorLike, output: TensorLike, axis: int = -1) -> Tensor:
    """``grad_output - exp(output) * sum(grad_output)``.

    The backward pass of `log_softmax`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `log_softmax`, of its shape. Its dtype must be floating.
    output : tensor_like
        The result of `log_softmax`.
    axis : int, default -1
        The axis whose probabilities are to sum to 1.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def logaddexp(a: TensorLike, b: TensorLike) -> Tensor:
    """``log(exp(a) + exp(b))``, without overflow.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        The result, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    logaddexp_backward : Its gradient.

    Notes
    -----
    Derivative: ``sigmoid(a - b)`` and ``sigmoid(b - a)``, a half for both at the same infinity.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def logaddexp_backward(
    grad_output: TensorLike, a: TensorLike, b: TensorLike
) -> logaddexp_gradients:
    """``grad_output`` times ``sigmoid(a - b)`` and ``sigmoid(b - a)``.

    The backward pass of `logaddexp`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `logaddexp`, of its shape. Its dtype must be floating.
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    logaddexp_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def logaddexp2(a: TensorLike, b: TensorLike) -> Tensor:
    """``log2(2**a + 2**b)``, without overflow.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        The result, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    logaddexp2_backward : Its gradient.

    Notes
    -----
    Derivative: ``sigmoid((a - b) * log(2))`` and ``sigmoid((b - a) * log(2))``, a half for both at
    the same infinity.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def logaddexp2_backward(
    grad_output: TensorLike, a: TensorLike, b: TensorLike
) -> logaddexp2_gradients:
    """``grad_output`` times the sigmoids of ``a - b`` and ``b - a``, times ``log(2)`` both.

    The backward pass of `logaddexp2`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `logaddexp2`, of its shape. Its dtype must be floating.
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    logaddexp2_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def logcumsumexp(x: TensorLike, axis: int = 0) -> Tensor:
    """The logarithm of the running sum of ``exp(x)`` along ``axis``, without overflow.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int, default 0
        The axis to go along.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``axis`` is out of range.

    See Also
    --------
    logcumsumexp_backward : Its gradient.

    Notes
    -----
    Derivative: ``exp(x[k] - output[j])`` for each result ``j`` from ``k`` on; 0 at -inf.

    Integers and booleans are converted to the default dtype first.
    """

def logcumsumexp_backward(
    grad_output: TensorLike, x: TensorLike, output: TensorLike, axis: int = 0
) -> Tensor:
    """The sums of ``grad_output[j] * exp(x[k] - output[j])`` over all ``j`` from ``k`` on.

    The backward pass of `logcumsumexp`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `logcumsumexp`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    output : tensor_like
        The result of `logcumsumexp`.
    axis : int, default 0
        The axis to go along.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def logical_and(a: TensorLike, b: TensorLike) -> Tensor:
    """True where both are true (not 0).

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Notes
    -----
    The result has no gradient.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def logical_not(x: TensorLike) -> Tensor:
    """True where ``x`` is false (0).

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

    Notes
    -----
    The result has no gradient.
    """

def logical_or(a: TensorLike, b: TensorLike) -> Tensor:
    """True where either is true (not 0).

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Notes
    -----
    The result has no gradient.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def logical_xor(a: TensorLike, b: TensorLike) -> Tensor:
    """True where exactly one is true (not 0).

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Notes
    -----
    The result has no gradient.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def logsumexp(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """``log(sum(exp(x)))`` over ``axis``, without overflow.

    -inf over nothing and over elements that are all -inf, where the derivative is 0.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
        with size 1.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice.

    See Also
    --------
    logsumexp_backward : Its gradient.

    Notes
    -----
    Derivative: ``exp(x - output)``.

    Integers and booleans are converted to the default dtype first.
    """

def logsumexp_backward(
    grad_output: TensorLike,
    x: TensorLike,
    output: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output * exp(x - output)``, the softmax of ``x``; 0 where all elements are -inf.

    The backward pass of `logsumexp`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `logsumexp`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    output : tensor_like
        The result of `logsumexp`.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def lp_pool1d(
    x: TensorLike,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The norm of each window of sequences, ``sum(x**p)**(1 / p)`` for ``p = norm_type``.

    Where the sum is negative, the result is 0.

    Parameters
    ----------
    x : tensor_like, (batch, channels, length)
        The sequences. The batch axis may be missing.
    norm_type : float
        The exponent: 1 for sums, 2 for Euclidean norms.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    ceil_mode : bool, default False
        Whether the last window may end behind the input, instead of being dropped. Its sum is
        multiplied as if it were full.

    Returns
    -------
    Tensor
        The norms, of shape (batch, channels, length). See `max_pool2d` for the sizes.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    lp_pool1d_backward : Its gradient.

    Notes
    -----
    Derivative: ``x**(p - 1) * output**(1 - p)``, 0 where
    the output is 0.
    """

def lp_pool1d_backward(
    grad_output: TensorLike,
    x: TensorLike,
    output: TensorLike,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """``grad_output * x**(p - 1) * output**(1 - p)``, summed over the windows of each element.

    The backward pass of `lp_pool1d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `lp_pool1d`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, channels, length)
        The sequences. The batch axis may be missing.
    output : tensor_like
        The result of `lp_pool1d`.
    norm_type : float
        The exponent: 1 for sums, 2 for Euclidean norms.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    ceil_mode : bool, default False
        Whether the last window may end behind the input, instead of being dropped. Its sum is
        multiplied as if it were full.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def lp_pool2d(
    x: TensorLike,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The norm of each window of pictures, ``sum(x**p)**(1 / p)`` for ``p = norm_type``.

    Where the sum is negative, the result is 0.

    Parameters
    ----------
    x : tensor_like, (batch, channels, height, width)
        The pictures. The batch axis may be missing.
    norm_type : float
        The exponent: 1 for sums, 2 for Euclidean norms.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    ceil_mode : bool, default False
        Whether the last window may end behind the input, instead of being dropped. Its sum is
        multiplied as if it were full.

    Returns
    -------
    Tensor
        The norms, of shape (batch, channels, height, width). See `max_pool2d` for the sizes.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    lp_pool2d_backward : Its gradient.

    Notes
    -----
    Derivative: ``x**(p - 1) * output**(1 - p)``, 0 where
    the output is 0.
    """

def lp_pool2d_backward(
    grad_output: TensorLike,
    x: TensorLike,
    output: TensorLike,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """``grad_output * x**(p - 1) * output**(1 - p)``, summed over the windows of each element.

    The backward pass of `lp_pool2d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `lp_pool2d`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, channels, height, width)
        The pictures. The batch axis may be missing.
    output : tensor_like
        The result of `lp_pool2d`.
    norm_type : float
        The exponent: 1 for sums, 2 for Euclidean norms.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    ceil_mode : bool, default False
        Whether the last window may end behind the input, instead of being dropped. Its sum is
        multiplied as if it were full.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def lp_pool3d(
    x: TensorLike,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The norm of each window of volumes, ``sum(x**p)**(1 / p)`` for ``p = norm_type``.

    Where the sum is negative, the result is 0.

    Parameters
    ----------
    x : tensor_like, (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.
    norm_type : float
        The exponent: 1 for sums, 2 for Euclidean norms.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    ceil_mode : bool, default False
        Whether the last window may end behind the input, instead of being dropped. Its sum is
        multiplied as if it were full.

    Returns
    -------
    Tensor
        The norms, of shape (batch, channels, depth, height, width). See `max_pool2d` for the sizes.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    lp_pool3d_backward : Its gradient.

    Notes
    -----
    Derivative: ``x**(p - 1) * output**(1 - p)``, 0 where
    the output is 0.
    """

def lp_pool3d_backward(
    grad_output: TensorLike,
    x: TensorLike,
    output: TensorLike,
    norm_type: float,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """``grad_output * x**(p - 1) * output**(1 - p)``, summed over the windows of each element.

    The backward pass of `lp_pool3d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `lp_pool3d`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.
    output : tensor_like
        The result of `lp_pool3d`.
    norm_type : float
        The exponent: 1 for sums, 2 for Euclidean norms.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    ceil_mode : bool, default False
        Whether the last window may end behind the input, instead of being dropped. Its sum is
        multiplied as if it were full.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def lstm(
    x: TensorLike,
    h0: TensorLike,
    c0: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
) -> tuple[Tensor, Tensor]:
    """A long short-term memory: the hidden states of all steps and the last cell.

    At each step ``i, f, g, o`` are the quarters of ``x @ w_ih.T + b_ih + h @ w_hh.T + b_hh``;
    then ``c = sigmoid(f) * c + sigmoid(i) * tanh(g)`` and ``h = sigmoid(o) * tanh(c)``.

    Parameters
    ----------
    x : tensor_like, (steps, batch, inputs)
        The sequences.
    h0 : tensor_like, (batch, hidden)
        The hidden state before the first step.
    c0 : tensor_like, (batch, hidden)
        The cell before the first step.
    w_ih : tensor_like, (4 * hidden, inputs)
        Weight of the inputs, for the four gates one below the other.
    w_hh : tensor_like, (4 * hidden, hidden)
        Weight of the hidden state.
    b_ih, b_hh : tensor_like, (4 * hidden,), optional
        What is added to the two products.

    Returns
    -------
    tuple of Tensor
        The hidden states, of shape (steps, batch, hidden), and the last cell, of shape (batch,
        hidden).

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    lstm_backward : Its gradient.

    Notes
    -----
    Derivative: with ``d`` the gradient of those quarters, found step by step from the last to
    the first: in ``x``: ``d @ w_ih``; in ``w_ih``: ``d.T @ x``; in ``w_hh``: ``d.T @ h``; in
    the biases: ``sum(d)``; in the states: what reaches them through the first step.

    Integers and booleans are converted to the default dtype first.
    """

def lstm_backward(
    grad_outputs: Sequence[TensorLike],
    x: TensorLike,
    h0: TensorLike,
    c0: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
    gates: TensorLike | None = None,
    cells: TensorLike | None = None,
) -> lstm_gradients:
    """The gradients of all inputs, by one walk through time; by hand of both biases too.

    The backward pass of `lstm`: from the gradient of its result to that of ``x`` and ``h0`` and ``c0`` and ``w_ih`` and ``w_hh`` and ``b_ih`` and ``b_hh``.

    Parameters
    ----------
    grad_outputs : sequence of tensor_like
        Gradients of the results of `lstm`, one for each, of their shapes.
    x : tensor_like, (steps, batch, inputs)
        The sequences.
    h0 : tensor_like, (batch, hidden)
        The hidden state before the first step.
    c0 : tensor_like, (batch, hidden)
        The cell before the first step.
    w_ih : tensor_like, (4 * hidden, inputs)
        Weight of the inputs, for the four gates one below the other.
    w_hh : tensor_like, (4 * hidden, hidden)
        Weight of the hidden state.
    b_ih, b_hh : tensor_like, (4 * hidden,), optional
        What is added to the two products.
    gates, cells : tensor_like, optional
        Values from the forward. They are computed again if not given.

    Returns
    -------
    lstm_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_h0``, of the shape and dtype of ``h0``.
        - ``grad_c0``, of the shape and dtype of ``c0``.
        - ``grad_w_ih``, of the shape and dtype of ``w_ih``.
        - ``grad_w_hh``, of the shape and dtype of ``w_hh``.
        - ``grad_b_ih``, of the shape and dtype of ``b_ih``.
        - ``grad_b_hh``, of the shape and dtype of ``b_hh``.
    """

def lstm_cell(
    x: TensorLike,
    h: TensorLike,
    c: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
) -> tuple[Tensor, Tensor]:
    """One step of `lstm`: the new hidden state and the new cell.

    Parameters
    ----------
    x : tensor_like, (batch, inputs)
        The inputs of the step.
    h : tensor_like, (batch, hidden)
        The hidden state.
    c : tensor_like, (batch, hidden)
        The cell.
    w_ih : tensor_like, (4 * hidden, inputs)
        Weight of the inputs, for the four gates one below the other.
    w_hh : tensor_like, (4 * hidden, hidden)
        Weight of the hidden state.
    b_ih, b_hh : tensor_like, (4 * hidden,), optional
        What is added to the two products.

    Returns
    -------
    tuple of Tensor
        The new hidden state and the new cell, of shape (batch, hidden).

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    lstm_cell_backward : Its gradient.

    Notes
    -----
    Derivative: as for ``lstm``, of one step.

    Integers and booleans are converted to the default dtype first.
    """

def lstm_cell_backward(
    grad_outputs: Sequence[TensorLike],
    x: TensorLike,
    h: TensorLike,
    c: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
    gates: TensorLike | None = None,
    cells: TensorLike | None = None,
) -> lstm_cell_gradients:
    """The gradients of all inputs; by hand of both biases too.

    The backward pass of `lstm_cell`: from the gradient of its result to that of ``x`` and ``h`` and ``c`` and ``w_ih`` and ``w_hh`` and ``b_ih`` and ``b_hh``.

    Parameters
    ----------
    grad_outputs : sequence of tensor_like
        Gradients of the results of `lstm_cell`, one for each, of their shapes.
    x : tensor_like, (batch, inputs)
        The inputs of the step.
    h : tensor_like, (batch, hidden)
        The hidden state.
    c : tensor_like, (batch, hidden)
        The cell.
    w_ih : tensor_like, (4 * hidden, inputs)
        Weight of the inputs, for the four gates one below the other.
    w_hh : tensor_like, (4 * hidden, hidden)
        Weight of the hidden state.
    b_ih, b_hh : tensor_like, (4 * hidden,), optional
        What is added to the two products.
    gates, cells : tensor_like, optional
        Values from the forward. They are computed again if not given.

    Returns
    -------
    lstm_cell_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_h``, of the shape and dtype of ``h``.
        - ``grad_c``, of the shape and dtype of ``c``.
        - ``grad_w_ih``, of the shape and dtype of ``w_ih``.
        - ``grad_w_hh``, of the shape and dtype of ``w_hh``.
        - ``grad_b_ih``, of the shape and dtype of ``b_ih``.
        - ``grad_b_hh``, of the shape and dtype of ``b_hh``.
    """

def margin_ranking_loss(
    x1: TensorLike,
    x2: TensorLike,
    target: TensorLike,
    margin: float = 0.0,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> Tensor:
    """``max(0, margin - target * (x1 - x2))``: which of two scores should be larger, and by how much.

    Parameters
    ----------
    x1, x2 : tensor_like
        The scores to compare. They broadcast against each other.
    target : tensor_like, -1 or 1
        Whether the first score should be larger (1) or the second (-1).
    margin : float, default 0.0
        The least difference that costs nothing.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    margin_ranking_loss_backward : Its gradient.

    Notes
    -----
    Derivative: ``-target`` and ``target`` where the loss is positive, else 0.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def margin_ranking_loss_backward(
    grad_output: TensorLike,
    x1: TensorLike,
    x2: TensorLike,
    target: TensorLike,
    margin: float = 0.0,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> margin_ranking_loss_gradients:
    """``-grad_output * target`` and its negative, where the loss is positive.

    The backward pass of `margin_ranking_loss`: from the gradient of its result to that of ``x1`` and ``x2``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `margin_ranking_loss`, of its shape. Its dtype must be floating.
    x1, x2 : tensor_like
        The scores to compare. They broadcast against each other.
    target : tensor_like, -1 or 1
        Whether the first score should be larger (1) or the second (-1).
    margin : float, default 0.0
        The least difference that costs nothing.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    margin_ranking_loss_gradients
        Named tuple of the gradients:

        - ``grad_x1``, of the shape and dtype of ``x1``.
        - ``grad_x2``, of the shape and dtype of ``x2``.
    """

def masked_fill(x: TensorLike, mask: TensorLike, value: float) -> Tensor:
    """A copy of ``x`` with ``value`` where ``mask`` is true.

    Parameters
    ----------
    x : tensor_like
        The input.
    mask : tensor_like, bools
        Where to write ``value``. It broadcasts with ``x``.
    value : float
        The number to write.

    Returns
    -------
    Tensor
        The copy, in the shape to which ``x`` and ``mask`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    masked_fill_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output``, 0 where filled.
    """

def masked_fill_backward(
    grad_output: TensorLike, x_shape: Sequence[int], mask: TensorLike
) -> Tensor:
    """``grad_output`` with zeros where ``mask`` is true, summed to ``x_shape``.

    The backward pass of `masked_fill`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `masked_fill`, of its shape. Its dtype must be floating.
    x_shape : sequence of ints
        Shape of ``x``.
    mask : tensor_like, bools
        Where to write ``value``. It broadcasts with ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def matmul(a: TensorLike, b: TensorLike) -> Tensor:
    """The matrix product ``a @ b``.

    A vector on the left is a row, on the right a column, whose axis is gone from the result;
    axes before the last two are a batch and broadcast.

    Parameters
    ----------
    a : tensor_like, (..., n, k) or (k,)
        The left matrix, or a batch of them.
    b : tensor_like, (..., k, m) or (k,)
        The right matrix, or a batch of them.

    Returns
    -------
    Tensor
        The product, of shape (..., n, m).

    Raises
    ------
    ValueError
        If the inner dimensions differ, the batches do not broadcast, or an operand has no axis.

    See Also
    --------
    matmul_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output @ b.T`` and
    ``a.T @ grad_output``, summed over batches.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def matmul_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> matmul_gradients:
    """``grad_output @ b.T`` and ``a.T @ grad_output``, with vectors seen as a row and a column.

    The backward pass of `matmul`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `matmul`, of its shape. Its dtype must be floating.
    a : tensor_like, (..., n, k) or (k,)
        The left matrix, or a batch of them.
    b : tensor_like, (..., k, m) or (k,)
        The right matrix, or a batch of them.

    Returns
    -------
    matmul_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def matrix_power(x: TensorLike, n: int) -> Tensor:
    """The product of ``n`` times ``x``; of its inverse, if ``n`` is negative.

    Parameters
    ----------
    x : tensor_like, (..., n, n)
        Square matrices.
    n : int
        The power, from -1000 to 1000.

    Returns
    -------
    Tensor
        The powers, in the shape of ``x``.

    Raises
    ------
    ValueError
        If the last two axes are not of one size, or a matrix does not allow it.

    See Also
    --------
    matrix_power_backward : Its gradient.

    Notes
    -----
    Derivative: the sum of ``(x.T)**k @ grad_output @ (x.T)**(n - 1 - k)`` over all ``k`` below ``n``.

    Integers and booleans are converted to the default dtype first.
    """

def matrix_power_backward(grad_output: TensorLike, x: TensorLike, n: int) -> Tensor:
    """The sum of ``(x.T)**k @ grad_output @ (x.T)**(n - 1 - k)``.

    The backward pass of `matrix_power`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `matrix_power`, of its shape. Its dtype must be floating.
    x : tensor_like, (..., n, n)
        Square matrices.
    n : int
        The power, from -1000 to 1000.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def max_pool1d(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest element of each window of sequences. NaN counts as largest.

    Parameters
    ----------
    x : tensor_like, (batch, channels, length)
        The sequences. The batch axis may be missing.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.

    Returns
    -------
    Tensor
        The maxima, of shape (batch, channels, length). See `max_pool2d` for the length.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    max_pool1d_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` to the largest element of its window, the first of several.
    """

def max_pool1d_backward(
    grad_output: TensorLike,
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """``grad_output`` to the first of the largest elements of each window.

    The backward pass of `max_pool1d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `max_pool1d`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, channels, length)
        The sequences. The batch axis may be missing.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def max_pool1d_with_indices(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    """The largest element of each window of sequences, as in `max_pool1d`, and its place.

    Parameters
    ----------
    x : tensor_like, (batch, channels, length)
        The sequences. The batch axis may be missing.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.

    Returns
    -------
    tuple of Tensor
        The maxima, and the index of each into the flattened axes behind the channels, int64. Of
        equal elements it is that of the first.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    max_pool1d_with_indices_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` (of the maxima) to the elements at ``indices``.
    """

def max_pool1d_with_indices_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    indices: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` added at ``indices``.

    The backward pass of `max_pool1d_with_indices`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the first result of `max_pool1d_with_indices`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like
        The second result of `max_pool1d_with_indices`.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def max_pool2d(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest element of each window of pictures. NaN counts as largest.

    Windows may begin in the ``padding`` but see no element there.

    Parameters
    ----------
    x : tensor_like, (batch, channels, height, width)
        The pictures. The batch axis may be missing.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.

    Returns
    -------
    Tensor
        The maxima, of shape (batch, channels, height, width). An axis of ``n`` elements becomes
        ``(n + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1``, rounded up with
        ``ceil_mode``.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    max_pool2d_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output``
    to the largest element of its window, the first of several, row by row.
    """

def max_pool2d_backward(
    grad_output: TensorLike,
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """``grad_output`` to the first of the largest elements of each window.

    The backward pass of `max_pool2d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `max_pool2d`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, channels, height, width)
        The pictures. The batch axis may be missing.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def max_pool2d_with_indices(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    """The largest element of each window of pictures, as in `max_pool2d`, and its place.

    Parameters
    ----------
    x : tensor_like, (batch, channels, height, width)
        The pictures. The batch axis may be missing.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.

    Returns
    -------
    tuple of Tensor
        The maxima, and the index of each into the flattened axes behind the channels, int64. Of
        equal elements it is that of the first.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    max_pool2d_with_indices_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` (of the maxima) to the elements at ``indices``.
    """

def max_pool2d_with_indices_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    indices: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` added at ``indices``.

    The backward pass of `max_pool2d_with_indices`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the first result of `max_pool2d_with_indices`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like
        The second result of `max_pool2d_with_indices`.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def max_pool3d(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest element of each window of volumes. NaN counts as largest.

    Windows may begin in the ``padding`` but see no element there.

    Parameters
    ----------
    x : tensor_like, (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.

    Returns
    -------
    Tensor
        The maxima, of shape (batch, channels, depth, height, width). See `max_pool2d` for the sizes.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    max_pool3d_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output``
    to the largest element of its window, the first of several, slice by slice and row by row.
    """

def max_pool3d_backward(
    grad_output: TensorLike,
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """``grad_output`` to the first of the largest elements of each window.

    The backward pass of `max_pool3d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `max_pool3d`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def max_pool3d_with_indices(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    """The largest element of each window of volumes, as in `max_pool3d`, and its place.

    Parameters
    ----------
    x : tensor_like, (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.

    Returns
    -------
    tuple of Tensor
        The maxima, and the index of each into the flattened axes behind the channels, int64. Of
        equal elements it is that of the first.

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    max_pool3d_with_indices_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` (of the maxima) to the elements at ``indices``.
    """

def max_pool3d_with_indices_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    indices: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` added at ``indices``.

    The backward pass of `max_pool3d_with_indices`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the first result of `max_pool3d_with_indices`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like
        The second result of `max_pool3d_with_indices`.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def max_reduce(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """The largest element over ``axis``, NaN if there is one (``max`` is the same function).

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
        with size 1.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice, or if a reduced axis has size 0.

    See Also
    --------
    max_reduce_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` to the largest element; several that tie share it equally.
    """

def max_reduce_backward(
    grad_output: TensorLike,
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output`` to the largest elements, shared equally among those that tie.

    The backward pass of `max_reduce`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `max_reduce`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def max_unpool1d(
    x: TensorLike,
    indices: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: int | Sequence[int] | None = None,
) -> Tensor:
    """Zeros with the maxima of sequences where `max_pool1d_with_indices` found them.

    Where an index comes twice, the last value stays.

    Parameters
    ----------
    x : tensor_like, (batch, channels, length)
        The maxima. The batch axis may be missing.
    indices : tensor_like, ints in the shape of ``x``
        Their places in the flattened axes behind the channels of the result.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    output_size : int or sequence of ints, optional
        The sizes of the result, by default the least that the windows need.

    Returns
    -------
    Tensor
        The result. An axis of ``n`` elements becomes
        ``(n - 1) * stride - 2 * padding + kernel_size`` or ``output_size``.

    Raises
    ------
    ValueError
        If an index is out of range, or ``output_size`` is a ``stride`` or more from the default.

    See Also
    --------
    max_unpool1d_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` at ``indices``, 0
    for a value that did not stay.
    """

def max_unpool1d_backward(
    grad_output: TensorLike,
    x_shape: Sequence[int],
    indices: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: int | Sequence[int] | None = None,
) -> Tensor:
    """``grad_output`` at ``indices``, 0 for a value that did not stay.

    The backward pass of `max_unpool1d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `max_unpool1d`, of its shape. Its dtype must be floating.
    x_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like, ints in the shape of ``x``
        Their places in the flattened axes behind the channels of the result.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    output_size : int or sequence of ints, optional
        The sizes of the result, by default the least that the windows need.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def max_unpool2d(
    x: TensorLike,
    indices: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: int | Sequence[int] | None = None,
) -> Tensor:
    """Zeros with the maxima of pictures where `max_pool2d_with_indices` found them.

    Where an index comes twice, the last value stays.

    Parameters
    ----------
    x : tensor_like, (batch, channels, height, width)
        The maxima. The batch axis may be missing.
    indices : tensor_like, ints in the shape of ``x``
        Their places in the flattened axes behind the channels of the result.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    output_size : int or sequence of ints, optional
        The sizes of the result, by default the least that the windows need.

    Returns
    -------
    Tensor
        The result. An axis of ``n`` elements becomes
        ``(n - 1) * stride - 2 * padding + kernel_size`` or ``output_size``.

    Raises
    ------
    ValueError
        If an index is out of range, or ``output_size`` is a ``stride`` or more from the default.

    See Also
    --------
    max_unpool2d_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` at ``indices``, 0
    for a value that did not stay.
    """

def max_unpool2d_backward(
    grad_output: TensorLike,
    x_shape: Sequence[int],
    indices: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: int | Sequence[int] | None = None,
) -> Tensor:
    """``grad_output`` at ``indices``, 0 for a value that did not stay.

    The backward pass of `max_unpool2d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `max_unpool2d`, of its shape. Its dtype must be floating.
    x_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like, ints in the shape of ``x``
        Their places in the flattened axes behind the channels of the result.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    output_size : int or sequence of ints, optional
        The sizes of the result, by default the least that the windows need.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def max_unpool3d(
    x: TensorLike,
    indices: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: int | Sequence[int] | None = None,
) -> Tensor:
    """Zeros with the maxima of volumes where `max_pool3d_with_indices` found them.

    Where an index comes twice, the last value stays.

    Parameters
    ----------
    x : tensor_like, (batch, channels, depth, height, width)
        The maxima. The batch axis may be missing.
    indices : tensor_like, ints in the shape of ``x``
        Their places in the flattened axes behind the channels of the result.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    output_size : int or sequence of ints, optional
        The sizes of the result, by default the least that the windows need.

    Returns
    -------
    Tensor
        The result. An axis of ``n`` elements becomes
        ``(n - 1) * stride - 2 * padding + kernel_size`` or ``output_size``.

    Raises
    ------
    ValueError
        If an index is out of range, or ``output_size`` is a ``stride`` or more from the default.

    See Also
    --------
    max_unpool3d_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` at ``indices``, 0
    for a value that did not stay.
    """

def max_unpool3d_backward(
    grad_output: TensorLike,
    x_shape: Sequence[int],
    indices: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    output_size: int | Sequence[int] | None = None,
) -> Tensor:
    """``grad_output`` at ``indices``, 0 for a value that did not stay.

    The backward pass of `max_unpool3d`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `max_unpool3d`, of its shape. Its dtype must be floating.
    x_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like, ints in the shape of ``x``
        Their places in the flattened axes behind the channels of the result.
    kernel_size : int or sequence of ints
        The size of a window: a number, or one for each axis.
    stride : int or sequence of ints, optional
        The distance between neighbouring windows, by default ``kernel_size``.
    padding : int or sequence of ints, default 0
        The number of elements to add on each side, at most half of ``kernel_size``.
    output_size : int or sequence of ints, optional
        The sizes of the result, by default the least that the windows need.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def maximum(a: TensorLike, b: TensorLike) -> Tensor:
    """The larger of ``a`` and ``b``; NaN if either is.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        The result, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    maximum_backward : Its gradient.

    Notes
    -----
    Derivative: to the larger, a tie is shared equally.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def maximum_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> maximum_gradients:
    """``grad_output`` to the larger input, half each where they tie.

    The backward pass of `maximum`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `maximum`, of its shape. Its dtype must be floating.
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    maximum_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def mean(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """The mean over ``axis``, NaN over nothing.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
        with size 1.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice.

    See Also
    --------
    mean_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output / n`` to every element.

    Integers and booleans are converted to the default dtype first.
    """

def mean_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output / n`` broadcast to ``input_shape``.

    The backward pass of `mean`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `mean`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def median(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """The middle element over ``axis``, or the mean of the two middle ones, as in NumPy.

    NaN if an element is.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
        with size 1.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice, or if a reduced axis has size 0.

    See Also
    --------
    median_backward : Its gradient.

    Notes
    -----
    Derivative: 1 for the middle element, or a half for both; of equal
    elements the first in order.

    Integers and booleans are converted to the default dtype first.
    """

def median_backward(
    grad_output: TensorLike,
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output`` to the middle element, or half of it to both.

    The backward pass of `median`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `median`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def min_reduce(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """The smallest element over ``axis``, NaN if there is one (``min`` is the same function).

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
        with size 1.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice, or if a reduced axis has size 0.

    See Also
    --------
    min_reduce_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` to the smallest element; several that tie share it equally.
    """

def min_reduce_backward(
    grad_output: TensorLike,
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output`` to the smallest elements, shared equally among those that tie.

    The backward pass of `min_reduce`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `min_reduce`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def minimum(a: TensorLike, b: TensorLike) -> Tensor:
    """The smaller of ``a`` and ``b``; NaN if either is.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        The result, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    minimum_backward : Its gradient.

    Notes
    -----
    Derivative: to the smaller, a tie is shared.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def minimum_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> minimum_gradients:
    """``grad_output`` to the smaller input, half each where they tie.

    The backward pass of `minimum`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `minimum`, of its shape. Its dtype must be floating.
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    minimum_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def mish(x: TensorLike) -> Tensor:
    """``x * tanh(softplus(x))``; 0 at -inf.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    mish_backward : Its gradient.

    Notes
    -----
    Derivative: ``gate + x * (1 - gate**2) * sigmoid(x)`` with ``gate`` the tanh.

    Integers and booleans are converted to the default dtype first.
    """

def mish_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * (gate + x * (1 - gate**2) * sigmoid(x))``.

    The backward pass of `mish`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `mish`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def modulo(a: TensorLike, b: TensorLike) -> Tensor:
    """The remainder of ``a / b`` with the sign of ``b``.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        The result, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    modulo_backward : Its gradient.

    Notes
    -----
    Derivative: 1 and ``-floor(a / b)``.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def modulo_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> modulo_gradients:
    """``grad_output`` and ``-grad_output * floor(a / b)``.

    The backward pass of `modulo`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `modulo`, of its shape. Its dtype must be floating.
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    modulo_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def moveaxis(
    x: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]
) -> Tensor:
    """``x`` with axes moved from ``source`` to ``destination``.

    Parameters
    ----------
    x : tensor_like
        The input.
    source : int or sequence of ints
        The axes to move.
    destination : int or sequence of ints
        Their new places, as many as there are in ``source``.

    Returns
    -------
    Tensor
        ``x`` in its new shape, as a view.

    Raises
    ------
    ValueError
        If an axis is out of range or named twice.

    See Also
    --------
    moveaxis_backward : Its gradient.

    Notes
    -----
    Derivative: the axes moved back.
    """

def moveaxis_backward(
    grad_output: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]
) -> Tensor:
    """``grad_output`` with the axes moved back.

    The backward pass of `moveaxis`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `moveaxis`, of its shape. Its dtype must be floating.
    source : int or sequence of ints
        The axes to move.
    destination : int or sequence of ints
        Their new places, as many as there are in ``source``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def mse_loss(
    prediction: TensorLike, target: TensorLike, reduction: Literal["mean", "sum", "none"] = "mean"
) -> Tensor:
    """The squared error, ``(prediction - target)**2``.

    Parameters
    ----------
    prediction : tensor_like
        The output of a model.
    target : tensor_like
        The values to predict, in the shape of ``prediction``.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    mse_loss_backward : Its gradient.

    Notes
    -----
    Derivative: ``2 * (prediction - target)``, divided by the number of elements for a mean, and
    the negative of that for ``target``.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def mse_loss_backward(
    grad_output: TensorLike,
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> mse_loss_gradients:
    """``2 * grad_output * (prediction - target)`` and its negative.

    The backward pass of `mse_loss`: from the gradient of its result to that of ``prediction`` and ``target``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `mse_loss`, of its shape. Its dtype must be floating.
    prediction : tensor_like
        The output of a model.
    target : tensor_like
        The values to predict, in the shape of ``prediction``.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    mse_loss_gradients
        Named tuple of the gradients:

        - ``grad_prediction``, of the shape and dtype of ``prediction``.
        - ``grad_target``, of the shape and dtype of ``target``.
    """

def multi_margin_loss(
    x: TensorLike,
    target: TensorLike,
    p: int = 1,
    margin: float = 1.0,
    weight: TensorLike | None = None,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> Tensor:
    """The hinge loss of classes: the mean over all others of ``max(0, margin - x[target] + x)**p``.

    Parameters
    ----------
    x : tensor_like, (classes,) or (batch, classes)
        Scores.
    target : tensor_like, () or (batch,), ints
        The right classes.
    p : {1, 2}, default 1
        The power.
    margin : float, default 1.0
        By how much the score of the right class should exceed the others.
    weight : tensor_like, (classes,), optional
        Factors of the losses by their right classes. They have no gradient.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    multi_margin_loss_backward : Its gradient.

    Notes
    -----
    Derivative: ``p * max(0, ...)**(p - 1)`` over the number of classes for the others, and minus
    their sum for the target.

    Integers and booleans are converted to the default dtype first.
    """

def multi_margin_loss_backward(
    grad_output: TensorLike,
    x: TensorLike,
    target: TensorLike,
    p: int = 1,
    margin: float = 1.0,
    weight: TensorLike | None = None,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> Tensor:
    """``grad_output`` times the slopes of the others, and minus their sum for the target.

    The backward pass of `multi_margin_loss`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `multi_margin_loss`, of its shape. Its dtype must be floating.
    x : tensor_like, (classes,) or (batch, classes)
        Scores.
    target : tensor_like, () or (batch,), ints
        The right classes.
    p : {1, 2}, default 1
        The power.
    margin : float, default 1.0
        By how much the score of the right class should exceed the others.
    weight : tensor_like, (classes,), optional
        Factors of the losses by their right classes. They have no gradient.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def multilabel_margin_loss(
    x: TensorLike, target: TensorLike, reduction: Literal["mean", "sum", "none"] = "mean"
) -> Tensor:
    """The hinge loss of sets of labels: ``max(0, 1 - x[label] + x[other])`` over the number of classes.

    It is summed over all labels of a sample and all classes that are none.

    Parameters
    ----------
    x : tensor_like, (classes,) or (batch, classes)
        Scores.
    target : tensor_like, ints, in the shape of ``x``
        The labels of each sample, and -1 behind them.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    multilabel_margin_loss_backward : Its gradient.

    Notes
    -----
    Derivative: -1 for the
    label and 1 for the other in each positive term, over the number of classes.

    Integers and booleans are converted to the default dtype first.
    """

def multilabel_margin_loss_backward(
    grad_output: TensorLike,
    x: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> Tensor:
    """``grad_output`` to the others and its negative to the labels, for each positive term.

    The backward pass of `multilabel_margin_loss`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `multilabel_margin_loss`, of its shape. Its dtype must be floating.
    x : tensor_like, (classes,) or (batch, classes)
        Scores.
    target : tensor_like, ints, in the shape of ``x``
        The labels of each sample, and -1 behind them.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def multilabel_soft_margin_loss(
    x: TensorLike,
    target: TensorLike,
    weight: TensorLike | None = None,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> Tensor:
    """The mean over the classes of the binary cross-entropy of ``sigmoid(x)``.

    Parameters
    ----------
    x : tensor_like, (..., classes)
        Scores.
    target : tensor_like
        Labels 0 and 1, or probabilities, in the shape of ``x``.
    weight : tensor_like, optional
        Factors of the classes, which broadcast to ``x``. They have no gradient.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    multilabel_soft_margin_loss_backward : Its gradient.

    Notes
    -----
    Derivative: ``sigmoid(x) - target`` and ``-x``, times ``weight`` over the number of classes.

    Integers and booleans are converted to the default dtype first.
    """

def multilabel_soft_margin_loss_backward(
    grad_output: TensorLike,
    x: TensorLike,
    target: TensorLike,
    weight: TensorLike | None = None,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> multilabel_soft_margin_loss_gradients:
    """``grad_output * weight`` times ``sigmoid(x) - target`` and ``-x``.

    The backward pass of `multilabel_soft_margin_loss`: from the gradient of its result to that of ``x`` and ``target``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `multilabel_soft_margin_loss`, of its shape. Its dtype must be floating.
    x : tensor_like, (..., classes)
        Scores.
    target : tensor_like
        Labels 0 and 1, or probabilities, in the shape of ``x``.
    weight : tensor_like, optional
        Factors of the classes, which broadcast to ``x``. They have no gradient.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    multilabel_soft_margin_loss_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_target``, of the shape and dtype of ``target``.
    """

def multiply(a: TensorLike, b: TensorLike) -> Tensor:
    """The product ``a * b``, element by element.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        The result, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    multiply_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output * b`` and ``grad_output * a``.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def multiply_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> multiply_gradients:
    """``grad_output * b`` and ``grad_output * a``, summed to the inputs' shapes.

    The backward pass of `multiply`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `multiply`, of its shape. Its dtype must be floating.
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    multiply_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def nan_to_num(
    x: TensorLike, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """``x`` with NaN and infinities replaced by numbers.

    Parameters
    ----------
    x : tensor_like
        The input.
    nan : float, default 0.0
        What stands for NaN.
    posinf, neginf : float, optional
        What stands for the infinities, by default the largest and the smallest number of the dtype.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    nan_to_num_backward : Its gradient.

    Notes
    -----
    Derivative: 1 where ``x`` is finite, else 0.
    """

def nan_to_num_backward(
    grad_output: TensorLike,
    x: TensorLike,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Tensor:
    """``grad_output`` where ``x`` is finite, else 0.

    The backward pass of `nan_to_num`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `nan_to_num`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    nan : float, default 0.0
        What stands for NaN.
    posinf, neginf : float, optional
        What stands for the infinities, by default the largest and the smallest number of the dtype.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def nanmean(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """The mean over ``axis`` of the elements that are not NaN, NaN if there are none.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
        with size 1.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice.

    See Also
    --------
    nanmean_backward : Its gradient.

    Notes
    -----
    Derivative: 1 over the number of elements that are not NaN, and 0 for NaN.

    Integers and booleans are converted to the default dtype first.
    """

def nanmean_backward(
    grad_output: TensorLike,
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output`` over their number, to the elements that are not NaN.

    The backward pass of `nanmean`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `nanmean`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def nansum(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """The sum over ``axis`` of the elements that are not NaN.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
        with size 1.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice.

    See Also
    --------
    nansum_backward : Its gradient.

    Notes
    -----
    Derivative: 1, and 0 for NaN.

    Integers and booleans are converted to the default dtype first.
    """

def nansum_backward(
    grad_output: TensorLike,
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output`` to the elements that are not NaN.

    The backward pass of `nansum`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `nansum`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def negative(x: TensorLike) -> Tensor:
    """The negative, ``-x``.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    negative_backward : Its gradient.

    Notes
    -----
    Derivative: -1.
    """

def negative_backward(grad_output: TensorLike) -> Tensor:
    """``-grad_output``.

    The backward pass of `negative`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `negative`, of its shape. Its dtype must be floating.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def nll_loss(
    x: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    weight: TensorLike | None = None,
    ignore_index: int = -100,
) -> Tensor:
    """The negative log-likelihood, ``-weight[target] * x[target]`` for the class of each sample.

    The mean is taken over the weights of the samples that are not ignored; NaN if all are.

    Parameters
    ----------
    x : tensor_like, (batch, classes, ...) or (classes,)
        Log-probabilities.
    target : tensor_like, (batch, ...), ints
        The class of each sample.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.
    weight : tensor_like, (classes,), optional
        Weights of the classes, by default 1. They have no gradient.
    ignore_index : int, default -100
        A class whose samples do not count.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    nll_loss_backward : Its gradient.

    Notes
    -----
    Derivative: ``-weight[target]`` at the target, 0 elsewhere and for what is ignored; for a
    mean divided by the sum of those weights.

    Integers and booleans are converted to the default dtype first.
    """

def nll_loss_backward(
    grad_output: TensorLike,
    x_shape: Sequence[int],
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    weight: TensorLike | None = None,
    ignore_index: int = -100,
) -> Tensor:
    """``-grad_output * weight[target]`` at the target, 0 elsewhere.

    The backward pass of `nll_loss`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `nll_loss`, of its shape. Its dtype must be floating.
    x_shape : sequence of ints
        Shape of ``x``.
    target : tensor_like, (batch, ...), ints
        The class of each sample.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.
    weight : tensor_like, (classes,), optional
        Weights of the classes, by default 1. They have no gradient.
    ignore_index : int, default -100
        A class whose samples do not count.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def nonzero(x: TensorLike) -> tuple[Tensor, ...]:
    """The indices of the elements that are not 0, one tensor for each axis, as in NumPy.

    A 0-d tensor counts as a line of one element.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    tuple of Tensor
        The indices along each axis, of dtype int64, in the order of the elements.

    Notes
    -----
    The result has no gradient.
    """

def norm(
    x: TensorLike, ord: float = 2, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """The p-norm over ``axis``, ``sum(abs(x)**ord)**(1 / ord)``.

    For ``ord=inf`` it is the largest magnitude.

    Parameters
    ----------
    x : tensor_like
        The input.
    ord : float, default 2
        The order of the norm.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The norms, in the shape of ``x`` without the reduced axes, or with size 1 there.

    Raises
    ------
    ValueError
        If ``ord`` is not possible or ``axis`` is out of range.

    See Also
    --------
    norm_backward : Its gradient.

    Notes
    -----
    Derivative: ``sign(x) * (abs(x) / output)**(ord - 1)``; 0 at elements that are 0, and so all
    over a vector of zeros; for ``ord=inf`` the sign, shared equally among the largest
    magnitudes.

    Integers and booleans are converted to the default dtype first.
    """

def norm_backward(
    grad_output: TensorLike,
    x: TensorLike,
    output: TensorLike,
    ord: float = 2,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output * sign(x) * (abs(x) / output)**(ord - 1)``, 0 where ``x`` is 0.

    The backward pass of `norm`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `norm`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    output : tensor_like
        The result of `norm`.
    ord : float, default 2
        The order of the norm.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def normal_cdf(x: TensorLike) -> Tensor:
    """The standard normal distribution function ``(1 + erf(x / sqrt(2))) / 2``.

    It keeps its digits in the lower tail.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    normal_cdf_backward : Its gradient.

    Notes
    -----
    Derivative: ``normal_pdf(x)``.

    Integers and booleans are converted to the default dtype first.
    """

def normal_cdf_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * normal_pdf(x)``.

    The backward pass of `normal_cdf`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `normal_cdf`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def normal_pdf(x: TensorLike) -> Tensor:
    """The standard normal density ``exp(-x**2 / 2) / sqrt(2 * pi)``.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    normal_pdf_backward : Its gradient.

    Notes
    -----
    Derivative: ``-x * output``.

    Integers and booleans are converted to the default dtype first.
    """

def normal_pdf_backward(grad_output: TensorLike, x: TensorLike, output: TensorLike) -> Tensor:
    """``-grad_output * x * output``, and 0 where ``output`` is, even at infinity.

    The backward pass of `normal_pdf`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `normal_pdf`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    output : tensor_like
        The result of `normal_pdf`.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def normalize(x: TensorLike, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Tensor:
    """``x`` over its p-norm along ``axis``; a norm below ``eps`` counts as ``eps``.

    Parameters
    ----------
    x : tensor_like
        The input.
    p : float, default 2.0
        The order of the norm, above 0.
    axis : int, default 1
        The axis of the vectors.
    eps : float, default 1e-12
        The least norm to divide by.

    Returns
    -------
    Tensor
        Vectors of length 1, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or ``p`` is not positive.

    See Also
    --------
    normalize_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` over the norm, minus the derivative of the norm times
    ``sum(grad_output * output)`` over the norm.

    Integers and booleans are converted to the default dtype first.
    """

def normalize_backward(
    grad_output: TensorLike, x: TensorLike, p: float = 2.0, axis: int = 1, eps: float = 1e-12
) -> Tensor:
    """``grad_output`` over the norm, without what only changes the length.

    The backward pass of `normalize`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `normalize`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    p : float, default 2.0
        The order of the norm, above 0.
    axis : int, default 1
        The axis of the vectors.
    eps : float, default 1e-12
        The least norm to divide by.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def not_equal(a: TensorLike, b: TensorLike) -> Tensor:
    """True where ``a != b``, element by element.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Notes
    -----
    The result has no gradient.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def outer(a: TensorLike, b: TensorLike) -> Tensor:
    """The outer product of two vectors, ``a[i] * b[j]`` for all i and j.

    Parameters
    ----------
    a : tensor_like, (n,)
        The vector along the first axis.
    b : tensor_like, (m,)
        The vector along the second axis.

    Returns
    -------
    Tensor
        The products, of shape (n, m).

    See Also
    --------
    outer_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output @ b`` and ``a @ grad_output``.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def outer_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> outer_gradients:
    """``grad_output @ b`` and ``a @ grad_output``.

    The backward pass of `outer`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `outer`, of its shape. Its dtype must be floating.
    a : tensor_like, (n,)
        The vector along the first axis.
    b : tensor_like, (m,)
        The vector along the second axis.

    Returns
    -------
    outer_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def pad(
    x: TensorLike,
    pad_width: int | Sequence[int] | Sequence[Sequence[int]],
    mode: Literal["constant", "reflect", "symmetric", "edge", "replicate", "wrap", "circular"] = "constant",
    value: float = 0.0,
) -> Tensor:
    """``x`` with elements added before and after each axis.

    Parameters
    ----------
    x : tensor_like
        The input.
    pad_width : int or sequence of ints or sequence of sequences of ints
        As in NumPy: a number for all sides, a pair (before, after) for all axes, or such a pair
        for each axis.
    mode : {'constant', 'reflect', 'symmetric', 'edge', 'replicate', 'wrap', 'circular'}, default 'constant'
        Which elements are added. "constant": ``value``; "reflect": the mirror image without the
        edge; "symmetric": with the edge; "edge" or "replicate": the last element; "wrap" or
        "circular": those of the other end.
    value : float, default 0.0
        The element that "constant" adds.

    Returns
    -------
    Tensor
        The longer tensor.

    Raises
    ------
    ValueError
        If ``pad_width`` does not fit the axes, or an axis is too short for ``mode``.

    See Also
    --------
    pad_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` without what was added; where that is a copy, added to its
    original.
    """

def pad_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    pad_width: int | Sequence[int] | Sequence[Sequence[int]],
    mode: Literal["constant", "reflect", "symmetric", "edge", "replicate", "wrap", "circular"] = "constant",
) -> Tensor:
    """``grad_output`` without what was added, or with it added to what it is a copy of.

    The backward pass of `pad`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `pad`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    pad_width : int or sequence of ints or sequence of sequences of ints
        As in NumPy: a number for all sides, a pair (before, after) for all axes, or such a pair
        for each axis.
    mode : {'constant', 'reflect', 'symmetric', 'edge', 'replicate', 'wrap', 'circular'}, default 'constant'
        Which elements are added. "constant": ``value``; "reflect": the mirror image without the
        edge; "symmetric": with the edge; "edge" or "replicate": the last element; "wrap" or
        "circular": those of the other end.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def pairwise_distance(
    x1: TensorLike, x2: TensorLike, p: float = 2.0, eps: float = 1e-06, keepdims: bool = False
) -> Tensor:
    """The p-norm of ``x1 - x2 + eps`` along the last axis.

    Parameters
    ----------
    x1, x2 : tensor_like, (..., features)
        The vectors. They broadcast against each other.
    p : float, default 2.0
        The order of the norm, 0 or greater.
    eps : float, default 1e-06
        Number added to each difference, as in PyTorch, so that the derivative has no kink at 0.
    keepdims : bool, default False
        Whether the last axis stays, with size 1.

    Returns
    -------
    Tensor
        The distances, in the shape to which both broadcast, without the last axis.

    Raises
    ------
    ValueError
        If the shapes do not broadcast or ``p`` is negative.

    See Also
    --------
    pairwise_distance_backward : Its gradient.

    Notes
    -----
    Derivative: that of `norm` for ``x1``, and its negative for ``x2``; 0 for ``p=0``, which counts
    the elements that are not 0.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def pairwise_distance_backward(
    grad_output: TensorLike,
    x1: TensorLike,
    x2: TensorLike,
    p: float = 2.0,
    eps: float = 1e-06,
    keepdims: bool = False,
) -> pairwise_distance_gradients:
    """``grad_output`` along the differences, and its negative.

    The backward pass of `pairwise_distance`: from the gradient of its result to that of ``x1`` and ``x2``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `pairwise_distance`, of its shape. Its dtype must be floating.
    x1, x2 : tensor_like, (..., features)
        The vectors. They broadcast against each other.
    p : float, default 2.0
        The order of the norm, 0 or greater.
    eps : float, default 1e-06
        Number added to each difference, as in PyTorch, so that the derivative has no kink at 0.
    keepdims : bool, default False
        Whether the last axis stays, with size 1.

    Returns
    -------
    pairwise_distance_gradients
        Named tuple of the gradients:

        - ``grad_x1``, of the shape and dtype of ``x1``.
        - ``grad_x2``, of the shape and dtype of ``x2``.
    """

def permute(x: TensorLike, axes: Sequence[int]) -> Tensor:
    """``x`` with its axes in another order.

    Parameters
    ----------
    x : tensor_like
        The input.
    axes : sequence of ints
        The axes of ``x`` in their new order.

    Returns
    -------
    Tensor
        ``x`` in its new shape, as a view.

    Raises
    ------
    ValueError
        If ``axes`` does not name each axis once.

    See Also
    --------
    permute_backward : Its gradient.

    Notes
    -----
    Derivative: the axes put back.
    """

def permute_backward(grad_output: TensorLike, axes: Sequence[int]) -> Tensor:
    """``grad_output`` with its axes put back.

    The backward pass of `permute`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `permute`, of its shape. Its dtype must be floating.
    axes : sequence of ints
        The axes of ``x`` in their new order.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def pixel_shuffle(x: TensorLike, upscale_factor: int) -> Tensor:
    """Channels spread over squares of ``r = upscale_factor`` by ``r`` pixels.

    Pixel ``(i * r + a, j * r + b)`` of channel ``c`` comes from pixel ``(i, j)`` of channel
    ``c * r**2 + a * r + b``.

    Parameters
    ----------
    x : tensor_like, (..., channels * r**2, height, width)
        The pictures.
    upscale_factor : int
        The factor by which height and width grow.

    Returns
    -------
    Tensor
        The larger pictures, (..., channels, height * r, width * r).

    Raises
    ------
    ValueError
        If ``r**2`` does not divide the channels.

    See Also
    --------
    pixel_shuffle_backward : Its gradient.

    Notes
    -----
    Derivative: ``pixel_unshuffle`` of ``grad_output``.
    """

def pixel_shuffle_backward(
    grad_output: TensorLike, input_shape: Sequence[int], upscale_factor: int
) -> Tensor:
    """``pixel_unshuffle`` of ``grad_output``.

    The backward pass of `pixel_shuffle`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `pixel_shuffle`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    upscale_factor : int
        The factor by which height and width grow.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def pixel_unshuffle(x: TensorLike, downscale_factor: int) -> Tensor:
    """Squares of ``r = downscale_factor`` by ``r`` pixels gathered in channels.

    This is the inverse of `pixel_shuffle`.

    Parameters
    ----------
    x : tensor_like, (..., channels, height * r, width * r)
        The pictures.
    downscale_factor : int
        The factor by which height and width shrink.

    Returns
    -------
    Tensor
        The smaller pictures, (..., channels * r**2, height, width).

    Raises
    ------
    ValueError
        If ``r`` does not divide height and width.

    See Also
    --------
    pixel_unshuffle_backward : Its gradient.

    Notes
    -----
    Derivative: ``pixel_shuffle`` of ``grad_output``.
    """

def pixel_unshuffle_backward(
    grad_output: TensorLike, input_shape: Sequence[int], downscale_factor: int
) -> Tensor:
    """``pixel_shuffle`` of ``grad_output``.

    The backward pass of `pixel_unshuffle`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `pixel_unshuffle`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    downscale_factor : int
        The factor by which height and width shrink.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def place(x: TensorLike, shape: int | Sequence[int], index: Index) -> Tensor:
    """Zeros of ``shape`` with ``x`` added at ``index``.

    Parameters
    ----------
    x : tensor_like
        The values to add. They broadcast to what ``index`` selects.
    shape : int or sequence of ints
        The shape of the result.
    index : index
        Anything that indexes a NumPy array: ints, slices, ``None``, ``...``, arrays of ints or bools, or a
        tuple of these.

    Returns
    -------
    Tensor
        Zeros with ``x`` added, in ``shape``.

    See Also
    --------
    place_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output[index]``.
    """

def place_backward(
    grad_output: TensorLike, input_shape: Sequence[int], shape: int | Sequence[int], index: Index
) -> Tensor:
    """``grad_output[index]``.

    The backward pass of `place`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `place`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    shape : int or sequence of ints
        The shape of the result.
    index : index
        Anything that indexes a NumPy array: ints, slices, ``None``, ``...``, arrays of ints or bools, or a
        tuple of these.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def poisson_nll_loss(
    x: TensorLike,
    target: TensorLike,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-08,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> Tensor:
    """The negative log-likelihood ``exp(x) - target * x`` of Poisson distributions.

    Without ``log_input`` it is ``x - target * log(x + eps)``.

    Parameters
    ----------
    x : tensor_like
        Logarithms of expected counts, or expected counts.
    target : tensor_like
        Counts, in the shape of ``x``.
    log_input : bool, default True
        Whether ``x`` holds logarithms.
    full : bool, default False
        Whether to add Stirling's approximation of ``log(target!)`` for targets above 1.
    eps : float, default 1e-08
        Number added to ``x`` before its logarithm is taken.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    poisson_nll_loss_backward : Its gradient.

    Notes
    -----
    Derivative: ``exp(x) - target`` or
    ``1 - target / (x + eps)``; for ``target`` ``-x`` or ``-log(x + eps)``, with ``full`` plus
    ``log(target) + 1 / (2 * target)`` above 1.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def poisson_nll_loss_backward(
    grad_output: TensorLike,
    x: TensorLike,
    target: TensorLike,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-08,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> poisson_nll_loss_gradients:
    """``grad_output`` times the derivatives in the expected count and in the count.

    The backward pass of `poisson_nll_loss`: from the gradient of its result to that of ``x`` and ``target``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `poisson_nll_loss`, of its shape. Its dtype must be floating.
    x : tensor_like
        Logarithms of expected counts, or expected counts.
    target : tensor_like
        Counts, in the shape of ``x``.
    log_input : bool, default True
        Whether ``x`` holds logarithms.
    full : bool, default False
        Whether to add Stirling's approximation of ``log(target!)`` for targets above 1.
    eps : float, default 1e-08
        Number added to ``x`` before its logarithm is taken.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    poisson_nll_loss_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_target``, of the shape and dtype of ``target``.
    """

def polygamma(x: TensorLike, n: int) -> Tensor:
    """The ``n``-th derivative of ``digamma``.

    At 0, -1, -2, ... it is inf for odd ``n`` and NaN for even ones.

    Parameters
    ----------
    x : tensor_like
        The input.
    n : int
        The order, from 0 to 150.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``n`` is out of range.

    See Also
    --------
    polygamma_backward : Its gradient.

    Notes
    -----
    Derivative:
    ``polygamma(x, n + 1)``.

    Integers and booleans are converted to the default dtype first.
    """

def polygamma_backward(grad_output: TensorLike, x: TensorLike, n: int) -> Tensor:
    """``grad_output * polygamma(x, n + 1)``.

    The backward pass of `polygamma`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `polygamma`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    n : int
        The order, from 0 to 150.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def power(a: TensorLike, b: TensorLike) -> Tensor:
    """``a`` to the power ``b``, for any real exponent.

    The derivative in ``b`` is 0 where ``a`` is 0 and ``b`` is not negative, -inf where ``a`` is 0
    and ``b`` is negative, and NaN where ``a`` is negative. The rule lifts an ``a`` whose magnitude is
    below ``eps`` to ``eps`` where ``b < 1``, as only there it is a denominator.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        The result, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    power_backward : Its gradient.

    Notes
    -----
    Derivative: ``b * a**(b - 1)`` and ``a**b * ln(a)``.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def power_backward(
    grad_output: TensorLike, a: TensorLike, b: TensorLike, eps: float = 1e-10
) -> power_gradients:
    """``b * a**(b - 1)`` and ``a**b * ln(a)``, times ``grad_output``.

    The backward pass of `power`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `power`, of its shape. Its dtype must be floating.
    a, b : tensor_like
        The operands. They broadcast against each other.
    eps : float, default 1e-10
        A denominator whose magnitude is below ``eps`` is raised to it, others are kept; 0 gives plain
        IEEE results. The tape passes the value that `gradient_eps` sets.

    Returns
    -------
    power_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def prelu(x: TensorLike, alpha: TensorLike) -> Tensor:
    """The leaky rectifier with learnt slopes: ``x`` where it is positive, else ``alpha * x``.

    Parameters
    ----------
    x : tensor_like, (batch, channels, ...)
        The input; of any shape if there is one slope.
    alpha : tensor_like, one number or (channels,)
        Slope for negative ``x``: one, or one for each channel, which are axis 1.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``alpha`` is neither one number nor one for each channel.

    See Also
    --------
    prelu_backward : Its gradient.

    Notes
    -----
    Derivative in ``x``: 1 or ``alpha``, ``alpha`` at 0. In ``alpha``: ``min(x, 0)``.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def prelu_backward(grad_output: TensorLike, x: TensorLike, alpha: TensorLike) -> prelu_gradients:
    """``grad_output`` times 1 or ``alpha``, and times ``min(x, 0)``, summed over all but alpha.

    The backward pass of `prelu`: from the gradient of its result to that of ``x`` and ``alpha``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `prelu`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, channels, ...)
        The input; of any shape if there is one slope.
    alpha : tensor_like, one number or (channels,)
        Slope for negative ``x``: one, or one for each channel, which are axis 1.

    Returns
    -------
    prelu_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_alpha``, of the shape and dtype of ``alpha``.
    """

def prod(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """The product over ``axis``, 1 over nothing.

    It is never found by division, so one zero, or two, are exact in every order.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
        with size 1.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice.

    See Also
    --------
    prod_backward : Its gradient.

    Notes
    -----
    Derivative: the product of all the other elements.
    """

def prod_backward(
    grad_output: TensorLike,
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output`` times the product of all the other elements.

    The factors are multiplied in pairs, pairs of pairs and so on; then the gradient comes down that
    tree, multiplied at each step by the sibling. That is O(n), and made of products alone.

    The backward pass of `prod`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `prod`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def quantile(
    x: TensorLike, q: float, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """The number below which the share ``q`` of the elements over ``axis`` lies.

    Between two elements it lies on a line. NaN if an element is.

    Parameters
    ----------
    x : tensor_like
        The input.
    q : float
        The share, from 0 to 1.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The quantiles, in the shape of ``x`` without the reduced axes, or with size 1 there.

    Raises
    ------
    ValueError
        If ``q`` or ``axis`` is out of range, or a reduced axis has size 0.

    See Also
    --------
    quantile_backward : Its gradient.

    Notes
    -----
    Derivative: the weights of the two
    elements; of equal elements the first in order.

    Integers and booleans are converted to the default dtype first.
    """

def quantile_backward(
    grad_output: TensorLike,
    x: TensorLike,
    q: float,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output`` to the elements at the quantile, by their weights.

    The backward pass of `quantile`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `quantile`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    q : float
        The share, from 0 to 1.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def ravel(x: TensorLike) -> Tensor:
    """All elements along one axis.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        All elements, of shape ``(x.size,)``: a view where the memory allows it.

    Raises
    ------
    ValueError
        If an axis is out of range or named twice.

    See Also
    --------
    ravel_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` in the old shape.
    """

def ravel_backward(grad_output: TensorLike, input_shape: Sequence[int]) -> Tensor:
    """``grad_output`` in ``input_shape``.

    The backward pass of `ravel`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `ravel`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def reciprocal(x: TensorLike) -> Tensor:
    """The reciprocal, ``1 / x``. Infinite at 0.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    reciprocal_backward : Its gradient.

    Notes
    -----
    Derivative: ``-output**2``, and infinite at 0.

    Integers and booleans are converted to the default dtype first.
    """

def reciprocal_backward(grad_output: TensorLike, output: TensorLike) -> Tensor:
    """``-grad_output * output**2``.

    The backward pass of `reciprocal`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `reciprocal`, of its shape. Its dtype must be floating.
    output : tensor_like
        The result of `reciprocal`.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def reduce_to_shape(grad: TensorLike, shape: Sequence[int]) -> Tensor:
    """Sum ``grad`` over the axes that broadcasting from ``shape`` added or stretched.

    Parameters
    ----------
    grad : tensor_like
        The gradient of a broadcast tensor.
    shape : sequence of ints
        The shape before broadcasting.

    Returns
    -------
    Tensor
        The sum, in ``shape``.

    Raises
    ------
    ValueError
        If ``shape`` does not broadcast to the shape of ``grad``.

    See Also
    --------
    reduce_to_shape_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` broadcast back.
    """

def reduce_to_shape_backward(grad_output: TensorLike, input_shape: Sequence[int]) -> Tensor:
    """``grad_output`` broadcast to the shape of the input.

    The backward pass of `reduce_to_shape`: from the gradient of its result to that of ``grad``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `reduce_to_shape`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``grad``.

    Returns
    -------
    Tensor
        Gradient of ``grad``, of its shape and dtype.
    """

def relu(x: TensorLike) -> Tensor:
    """The rectified linear unit, ``max(x, 0)``.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    relu_backward : Its gradient.

    Notes
    -----
    Derivative: 1 where ``x`` is positive, else 0, also at 0.
    """

def relu_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output`` where ``x`` is positive, else 0.

    The backward pass of `relu`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `relu`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def relu6(x: TensorLike) -> Tensor:
    """The rectifier with an upper bound, ``min(max(x, 0), 6)``.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    relu6_backward : Its gradient.

    Notes
    -----
    Derivative: 1 between 0 and 6, else 0, also at both.
    """

def relu6_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output`` where ``0 < x < 6``, else 0.

    The backward pass of `relu6`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `relu6`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def repeat(x: TensorLike, repeats: int | Sequence[int], axis: int | None = None) -> Tensor:
    """Each element along ``axis``, or of the flattened ``x``, ``repeats`` times in a row.

    ``repeats`` may give a number for each element.

    Parameters
    ----------
    x : tensor_like
        The input.
    repeats : int or sequence of ints
        The number of copies, or one number for each element along ``axis``.
    axis : int, optional
        The axis to repeat along. By default the flattened ``x`` is repeated.

    Returns
    -------
    Tensor
        The result, longer along ``axis``.

    Raises
    ------
    ValueError
        If there is not one number for each element, or ``axis`` is out of range.

    See Also
    --------
    repeat_backward : Its gradient.

    Notes
    -----
    Derivative: the sum over an element's copies.
    """

def repeat_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    repeats: int | Sequence[int],
    axis: int | None = None,
) -> Tensor:
    """The sum of ``grad_output`` over the copies of each element.

    The backward pass of `repeat`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `repeat`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    repeats : int or sequence of ints
        The number of copies, or one number for each element along ``axis``.
    axis : int, optional
        The axis to repeat along. By default the flattened ``x`` is repeated.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def reshape(x: TensorLike, shape: int | Sequence[int]) -> Tensor:
    """The elements in another shape; one size may be -1.

    Parameters
    ----------
    x : tensor_like
        The input.
    shape : int or sequence of ints
        The new shape. One size may be -1, which is the size that is left.

    Returns
    -------
    Tensor
        ``x`` in ``shape``: a view where the memory allows it, else a copy.

    Raises
    ------
    ValueError
        If the number of elements differs.

    See Also
    --------
    reshape_backward : Its gradient.

    Notes
    -----
    Derivative: back to the old shape.
    """

def reshape_backward(grad_output: TensorLike, input_shape: Sequence[int]) -> Tensor:
    """``grad_output`` in ``input_shape``.

    The backward pass of `reshape`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `reshape`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def rms_norm(
    x: TensorLike,
    normalized_shape: int | Sequence[int],
    weight: TensorLike | None = None,
    eps: float | None = None,
) -> Tensor:
    """``x / sqrt(mean(x**2) + eps) * weight`` over the last axes, sample by sample.

    Parameters
    ----------
    x : tensor_like
        The input.
    normalized_shape : int or sequence of ints
        The sizes of the axes to normalize over, and the shape of ``weight``.
    weight : tensor_like, optional
        Factors for the normalized values, by default 1.
    eps : float, optional
        A number that is added to the mean square, by default the distance from 1 to the next
        number of the dtype.

    Returns
    -------
    Tensor
        The normalized values, in the shape of ``x``.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    rms_norm_backward : Its gradient.

    Notes
    -----
    Derivative: in ``x``, with ``u = x / sqrt(mean(x**2) + eps)`` and
    ``g = grad_output * weight``: ``(g - u * mean(g * u)) / sqrt(mean(x**2) + eps)``; in
    ``weight``: ``u``.

    Integers and booleans are converted to the default dtype first.
    """

def rms_norm_backward(
    grad_output: TensorLike,
    x: TensorLike,
    normalized_shape: int | Sequence[int],
    weight: TensorLike | None = None,
    eps: float | None = None,
) -> rms_norm_gradients:
    """The gradients of ``x`` and ``weight``; by hand the last without one too.

    The backward pass of `rms_norm`: from the gradient of its result to that of ``x`` and ``weight``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `rms_norm`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    normalized_shape : int or sequence of ints
        The sizes of the axes to normalize over, and the shape of ``weight``.
    weight : tensor_like, optional
        Factors for the normalized values, by default 1.
    eps : float, optional
        A number that is added to the mean square, by default the distance from 1 to the next
        number of the dtype.

    Returns
    -------
    rms_norm_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_weight``, of the shape and dtype of ``weight``.
    """

def rnn(
    x: TensorLike,
    h0: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
    nonlinearity: Literal["tanh", "relu"] = "tanh",
) -> Tensor:
    """A recurrent network: ``h = tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)``, step by step.

    Parameters
    ----------
    x : tensor_like, (steps, batch, inputs)
        The sequences.
    h0 : tensor_like, (batch, hidden)
        The hidden state before the first step.
    w_ih : tensor_like, (hidden, inputs)
        Weight of the inputs.
    w_hh : tensor_like, (hidden, hidden)
        Weight of the hidden state.
    b_ih, b_hh : tensor_like, (hidden,), optional
        What is added to the two products.
    nonlinearity : {'tanh', 'relu'}, default 'tanh'
        The function that is applied at each step.

    Returns
    -------
    Tensor
        The hidden states of all steps, of shape (steps, batch, hidden).

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    rnn_backward : Its gradient.

    Notes
    -----
    Derivative: with ``d`` the gradient before the nonlinearity,
    ``(grad_output + d_next @ w_hh) * (1 - output**2)``: in ``x``: ``d @ w_ih``; in ``w_ih``:
    ``d.T @ x``; in ``w_hh``: ``d.T @ h``; in the biases: ``sum(d)``; in ``h0``: ``d @ w_hh`` of
    the first step.

    Integers and booleans are converted to the default dtype first.
    """

def rnn_backward(
    grad_output: TensorLike,
    x: TensorLike,
    h0: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    output: TensorLike,
    nonlinearity: Literal["tanh", "relu"] = "tanh",
) -> rnn_gradients:
    """The gradients of all inputs, by one walk through time; by hand of both biases too.

    The backward pass of `rnn`: from the gradient of its result to that of ``x`` and ``h0`` and ``w_ih`` and ``w_hh`` and ``b_ih`` and ``b_hh``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `rnn`, of its shape. Its dtype must be floating.
    x : tensor_like, (steps, batch, inputs)
        The sequences.
    h0 : tensor_like, (batch, hidden)
        The hidden state before the first step.
    w_ih : tensor_like, (hidden, inputs)
        Weight of the inputs.
    w_hh : tensor_like, (hidden, hidden)
        Weight of the hidden state.
    output : tensor_like
        The result of `rnn`.
    nonlinearity : {'tanh', 'relu'}, default 'tanh'
        The function that is applied at each step.

    Returns
    -------
    rnn_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_h0``, of the shape and dtype of ``h0``.
        - ``grad_w_ih``, of the shape and dtype of ``w_ih``.
        - ``grad_w_hh``, of the shape and dtype of ``w_hh``.
        - ``grad_b_ih``, of the shape and dtype of ``b_ih``.
        - ``grad_b_hh``, of the shape and dtype of ``b_hh``.
    """

def rnn_cell(
    x: TensorLike,
    h: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
    nonlinearity: Literal["tanh", "relu"] = "tanh",
) -> Tensor:
    """One step of `rnn`: ``tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)``.

    Parameters
    ----------
    x : tensor_like, (batch, inputs)
        The inputs of the step.
    h : tensor_like, (batch, hidden)
        The hidden state.
    w_ih : tensor_like, (hidden, inputs)
        Weight of the inputs.
    w_hh : tensor_like, (hidden, hidden)
        Weight of the hidden state.
    b_ih, b_hh : tensor_like, (hidden,), optional
        What is added to the two products.
    nonlinearity : {'tanh', 'relu'}, default 'tanh'
        The function that is applied at each step.

    Returns
    -------
    Tensor
        The new hidden state, of shape (batch, hidden).

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    rnn_cell_backward : Its gradient.

    Notes
    -----
    Derivative: as for ``rnn``, of one step.

    Integers and booleans are converted to the default dtype first.
    """

def rnn_cell_backward(
    grad_output: TensorLike,
    x: TensorLike,
    h: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    output: TensorLike,
    nonlinearity: Literal["tanh", "relu"] = "tanh",
) -> rnn_cell_gradients:
    """The gradients of all inputs; by hand of both biases too.

    The backward pass of `rnn_cell`: from the gradient of its result to that of ``x`` and ``h`` and ``w_ih`` and ``w_hh`` and ``b_ih`` and ``b_hh``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `rnn_cell`, of its shape. Its dtype must be floating.
    x : tensor_like, (batch, inputs)
        The inputs of the step.
    h : tensor_like, (batch, hidden)
        The hidden state.
    w_ih : tensor_like, (hidden, inputs)
        Weight of the inputs.
    w_hh : tensor_like, (hidden, hidden)
        Weight of the hidden state.
    output : tensor_like
        The result of `rnn_cell`.
    nonlinearity : {'tanh', 'relu'}, default 'tanh'
        The function that is applied at each step.

    Returns
    -------
    rnn_cell_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_h``, of the shape and dtype of ``h``.
        - ``grad_w_ih``, of the shape and dtype of ``w_ih``.
        - ``grad_w_hh``, of the shape and dtype of ``w_hh``.
        - ``grad_b_ih``, of the shape and dtype of ``b_ih``.
        - ``grad_b_hh``, of the shape and dtype of ``b_hh``.
    """

def roll(
    x: TensorLike, shift: int | Sequence[int], axis: int | Sequence[int] | None = None
) -> Tensor:
    """Elements moved along axes; those that leave at one end come back at the other.

    Parameters
    ----------
    x : tensor_like
        The input.
    shift : int or sequence of ints
        The number of places, one for each axis. Negative numbers move towards the beginning.
    axis : int or sequence of ints, optional
        The axis or axes. By default the flattened ``x`` is rolled.

    Returns
    -------
    Tensor
        The rolled elements, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``shift`` and ``axis`` have different lengths or ``axis`` is out of range.

    See Also
    --------
    roll_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` rolled back.
    """

def roll_backward(
    grad_output: TensorLike, shift: int | Sequence[int], axis: int | Sequence[int] | None = None
) -> Tensor:
    """``grad_output`` rolled back.

    The backward pass of `roll`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `roll`, of its shape. Its dtype must be floating.
    shift : int or sequence of ints
        The number of places, one for each axis. Negative numbers move towards the beginning.
    axis : int or sequence of ints, optional
        The axis or axes. By default the flattened ``x`` is rolled.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def rot90(x: TensorLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Tensor:
    """``x`` turned by ``k`` quarters, from the first of the axes towards the second.

    Parameters
    ----------
    x : tensor_like
        The input.
    k : int, default 1
        The number of quarter turns. Negative ones turn the other way.
    axes : sequence of ints, default (0, 1)
        The plane of the turn.

    Returns
    -------
    Tensor
        The result; the two axes are exchanged if ``k`` is odd.

    Raises
    ------
    ValueError
        If the axes are out of range or the same.

    See Also
    --------
    rot90_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` turned back.
    """

def rot90_backward(
    grad_output: TensorLike, input_shape: Sequence[int], k: int = 1, axes: tuple[int, int] = (0, 1)
) -> Tensor:
    """``grad_output`` turned back.

    The backward pass of `rot90`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `rot90`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    k : int, default 1
        The number of quarter turns. Negative ones turn the other way.
    axes : sequence of ints, default (0, 1)
        The plane of the turn.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def round(x: TensorLike) -> Tensor:
    """The nearest whole number, halves to the even one.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    round_backward : Its gradient.

    Notes
    -----
    Derivative: 0.
    """

def round_backward(grad_output: TensorLike) -> Tensor:
    """Zeros: the function is piecewise constant.

    The backward pass of `round`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `round`, of its shape. Its dtype must be floating.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def rrelu(
    x: TensorLike,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """A leaky rectifier whose slope for negative inputs is random in training.

    Parameters
    ----------
    x : tensor_like
        The input.
    lower : float, default 0.125
        Bounds of the slopes.
    upper : float, default 0.3333333333333333
        Bounds of the slopes.
    training : bool, default False
        Whether to draw a slope for each element. If not, all are halfway between the bounds.
    generator : Generator, optional
        The source of the slopes, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``lower`` is above ``upper``.

    See Also
    --------
    rrelu_backward : Its gradient.

    Notes
    -----
    Derivative: 1 where ``x`` is positive, else the slope, also at 0.

    Integers and booleans are converted to the default dtype first.
    """

def rrelu_backward(grad_output: TensorLike, x: TensorLike, slope: TensorLike) -> Tensor:
    """``grad_output`` where ``x`` is positive, else times ``slope``.

    The backward pass of `rrelu`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `rrelu`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    slope : tensor_like, floats
        The slopes of the forward, one for each element or one for all.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def rsqrt(x: TensorLike) -> Tensor:
    """The reciprocal of the square root, ``1 / sqrt(x)``. Infinite at 0, NaN below.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    rsqrt_backward : Its gradient.

    Notes
    -----
    Derivative: ``-output**3 / 2``, infinite at 0.

    Integers and booleans are converted to the default dtype first.
    """

def rsqrt_backward(grad_output: TensorLike, output: TensorLike) -> Tensor:
    """``-grad_output * output**3 / 2``.

    The backward pass of `rsqrt`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `rsqrt`, of its shape. Its dtype must be floating.
    output : tensor_like
        The result of `rsqrt`.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def scaled_dot_product_attention(
    q: TensorLike,
    k: TensorLike,
    v: TensorLike,
    mask: TensorLike | None = None,
    causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Attention, ``softmax(q @ k.T * scale + mask) @ v``.

    A query that sees no key gives 0, with a derivative of 0 (as in PyTorch).

    Parameters
    ----------
    q : tensor_like, (..., queries, features)
        The queries.
    k : tensor_like, (..., keys, features)
        The keys.
    v : tensor_like, (..., keys, values)
        The values.
    mask : tensor_like, (..., queries, keys), optional
        Booleans, true where a query may see a key, or floats to add to the products.
    causal : bool, default False
        Whether query i sees only the keys up to i.
    scale : float, optional
        The factor of the products, by default ``1 / sqrt(features)``.
    enable_gqa : bool, default False
        Whether k and v may have fewer heads, on axis -3, than q. Neighbouring heads of q then share
        a head of these (grouped-query attention).

    Returns
    -------
    Tensor
        The results of the queries, of shape (..., queries, values).

    Raises
    ------
    ValueError
        If the shapes do not fit.

    See Also
    --------
    scaled_dot_product_attention_backward : Its gradient.

    Notes
    -----
    Derivative: with
    weights ``P = softmax(...)`` and ``dS = P * (dP - sum(dP * P))``, where
    ``dP = grad_output @ v.T``: in ``q``: ``dS @ k * scale``; in ``k``: ``dS.T @ q * scale``; in
    ``v``: ``P.T @ grad_output``; in a mask of floats: ``dS``.

    Integers and booleans are converted to the default dtype first.
    """

def scaled_dot_product_attention_backward(
    grad_output: TensorLike,
    q: TensorLike,
    k: TensorLike,
    v: TensorLike,
    mask: TensorLike | None,
    output: TensorLike,
    logarithms: TensorLike | None = None,
    causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> scaled_dot_product_attention_gradients:
    """``dS @ k * scale``, ``dS.T @ q * scale``, ``P.T @ grad_output``, and ``dS`` of a mask of floats.

    ``logarithms`` are those of the sums that divide the weights, if they are known.

    The backward pass of `scaled_dot_product_attention`: from the gradient of its result to that of ``q`` and ``k`` and ``v`` and ``mask``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `scaled_dot_product_attention`, of its shape. Its dtype must be floating.
    q : tensor_like, (..., queries, features)
        The queries.
    k : tensor_like, (..., keys, features)
        The keys.
    v : tensor_like, (..., keys, values)
        The values.
    mask : tensor_like, (..., queries, keys)
        Booleans, true where a query may see a key, or floats to add to the products.
    output : tensor_like
        The result of `scaled_dot_product_attention`.
    logarithms : tensor_like, optional
        Values from the forward. They are computed again if not given.
    causal : bool, default False
        Whether query i sees only the keys up to i.
    scale : float, optional
        The factor of the products, by default ``1 / sqrt(features)``.
    enable_gqa : bool, default False
        Whether k and v may have fewer heads, on axis -3, than q. Neighbouring heads of q then share
        a head of these (grouped-query attention).

    Returns
    -------
    scaled_dot_product_attention_gradients
        Named tuple of the gradients:

        - ``grad_q``, of the shape and dtype of ``q``.
        - ``grad_k``, of the shape and dtype of ``k``.
        - ``grad_v``, of the shape and dtype of ``v``.
        - ``grad_mask``, of the shape and dtype of ``mask``. None if it is not floating.
    """

def scatter(x: TensorLike, indices: TensorLike, updates: TensorLike, axis: int) -> Tensor:
    """A copy of ``x`` with ``updates`` written at ``indices`` along ``axis``, line by line.

    Of several values for one place the last stays.

    Parameters
    ----------
    x : tensor_like
        The tensor to copy.
    indices : tensor_like, ints with as many axes as ``x``
        The positions along ``axis``; negative ones count from the end.
    updates : tensor_like
        The values, which broadcast to the shape of ``indices``.
    axis : int
        The axis of the positions.

    Returns
    -------
    Tensor
        The copy, in the shape of ``x``.

    Raises
    ------
    ValueError
        If the shapes do not fit, or an index or ``axis`` is out of range.

    See Also
    --------
    scatter_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` where nothing was
    written to ``x``, and ``grad_output`` read at ``indices`` to the updates that stayed.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def scatter_backward(
    grad_output: TensorLike,
    x_shape: Sequence[int],
    indices: TensorLike,
    updates_shape: Sequence[int],
    axis: int,
) -> scatter_gradients:
    """``grad_output`` where nothing was written, and ``grad_output`` read at ``indices``.

    The backward pass of `scatter`: from the gradient of its result to that of ``x`` and ``updates``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `scatter`, of its shape. Its dtype must be floating.
    x_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like, ints with as many axes as ``x``
        The positions along ``axis``; negative ones count from the end.
    updates_shape : sequence of ints
        Shape of ``updates``.
    axis : int
        The axis of the positions.

    Returns
    -------
    scatter_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_updates``, of the shape and dtype of ``updates``.
    """

def scatter_add(x: TensorLike, indices: TensorLike, updates: TensorLike, axis: int) -> Tensor:
    """A copy of ``x`` with ``updates`` added at ``indices`` along ``axis``, line by line.

    Parameters
    ----------
    x : tensor_like
        The tensor to copy.
    indices : tensor_like, ints with as many axes as ``x``
        The positions along ``axis``; negative ones count from the end.
    updates : tensor_like
        The values to add, in the shape of ``indices``.
    axis : int
        The axis of the positions.

    Returns
    -------
    Tensor
        The copy, in the shape of ``x``.

    Raises
    ------
    ValueError
        If the shapes do not fit, or an index or ``axis`` is out of range.

    See Also
    --------
    scatter_add_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` to ``x``, ``grad_output`` read at ``indices`` to ``updates``.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def scatter_add_backward(
    grad_output: TensorLike,
    x_shape: Sequence[int],
    indices: TensorLike,
    updates_shape: Sequence[int],
    axis: int,
) -> scatter_add_gradients:
    """``grad_output``, and ``grad_output`` read at ``indices``.

    The backward pass of `scatter_add`: from the gradient of its result to that of ``x`` and ``updates``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `scatter_add`, of its shape. Its dtype must be floating.
    x_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like, ints with as many axes as ``x``
        The positions along ``axis``; negative ones count from the end.
    updates_shape : sequence of ints
        Shape of ``updates``.
    axis : int
        The axis of the positions.

    Returns
    -------
    scatter_add_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_updates``, of the shape and dtype of ``updates``.
    """

def scatter_reduce(
    x: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    axis: int,
    reduce: Literal["sum", "prod", "mean", "amax", "amin"],
    include_self: bool = True,
) -> Tensor:
    """A copy of ``x`` with ``updates`` combined at ``indices`` along ``axis``, line by line.

    Parameters
    ----------
    x : tensor_like
        The tensor to copy.
    indices : tensor_like, ints with as many axes as ``x``
        The positions along ``axis``; negative ones count from the end.
    updates : tensor_like
        The values, which broadcast to the shape of ``indices``.
    axis : int
        The axis of the positions.
    reduce : {'sum', 'prod', 'mean', 'amax', 'amin'}
        How values for the same place are combined.
    include_self : bool, default True
        Whether the value of ``x`` is one of them. If not, it stays only where nothing is written.

    Returns
    -------
    Tensor
        The copy, in the shape of ``x``.

    Raises
    ------
    ValueError
        If the shapes do not fit, or an index or ``axis`` is out of range.

    See Also
    --------
    scatter_reduce_backward : Its gradient.

    Notes
    -----
    Derivative: that of the sum, product, mean or extreme of the values at each place; several equal
    extremes share it equally.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def scatter_reduce_backward(
    grad_output: TensorLike,
    x: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    output: TensorLike,
    axis: int,
    reduce: Literal["sum", "prod", "mean", "amax", "amin"],
    include_self: bool = True,
) -> scatter_reduce_gradients:
    """``grad_output`` times the derivatives of the sums, products, means or extremes.

    The backward pass of `scatter_reduce`: from the gradient of its result to that of ``x`` and ``updates``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `scatter_reduce`, of its shape. Its dtype must be floating.
    x : tensor_like
        The tensor to copy.
    indices : tensor_like, ints with as many axes as ``x``
        The positions along ``axis``; negative ones count from the end.
    updates : tensor_like
        The values, which broadcast to the shape of ``indices``.
    output : tensor_like
        The result of `scatter_reduce`.
    axis : int
        The axis of the positions.
    reduce : {'sum', 'prod', 'mean', 'amax', 'amin'}
        How values for the same place are combined.
    include_self : bool, default True
        Whether the value of ``x`` is one of them. If not, it stays only where nothing is written.

    Returns
    -------
    scatter_reduce_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_updates``, of the shape and dtype of ``updates``.
    """

def searchsorted(
    x: TensorLike, values: TensorLike, side: Literal["left", "right"] = "left"
) -> Tensor:
    """The indices at which ``values`` would be inserted into the sorted ``x``, so that it stays sorted.

    With several lines in ``x``, those of ``values`` are looked for in them one by one.

    Parameters
    ----------
    x : tensor_like, (n,) or (..., n)
        Numbers in increasing order along the last axis.
    values : tensor_like
        The numbers to look for.
    side : {'left', 'right'}, default 'left'
        Whether equal numbers count as larger ("left", the first place) or as smaller ("right").

    Returns
    -------
    Tensor
        The indices, of dtype int64, in the shape of ``values``.

    Raises
    ------
    ValueError
        If the shapes do not fit or ``side`` is unknown.

    Notes
    -----
    The result has no gradient.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def selu(x: TensorLike) -> Tensor:
    """The scaled `elu`: ``scale * elu(x, alpha)`` with ``scale`` 1.0507 and ``alpha`` 1.6733.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    selu_backward : Its gradient.

    Notes
    -----
    Derivative: ``scale`` or ``scale * alpha * exp(x)``, the latter at 0.

    Integers and booleans are converted to the default dtype first.
    """

def selu_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * scale`` times 1 or ``alpha * exp(x)``.

    The backward pass of `selu`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `selu`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def sigmoid(x: TensorLike) -> Tensor:
    """The logistic function ``1 / (1 + exp(-x))``, without overflow.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    sigmoid_backward : Its gradient.

    Notes
    -----
    Derivative: ``output * (1 - output)``.

    Integers and booleans are converted to the default dtype first.
    """

def sigmoid_backward(grad_output: TensorLike, output: TensorLike) -> Tensor:
    """``grad_output * output * (1 - output)``.

    The backward pass of `sigmoid`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `sigmoid`, of its shape. Its dtype must be floating.
    output : tensor_like
        The result of `sigmoid`.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def sign(x: TensorLike) -> Tensor:
    """-1, 0 or 1: the sign of ``x``, NaN for NaN.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    sign_backward : Its gradient.

    Notes
    -----
    Derivative: 0.
    """

def sign_backward(grad_output: TensorLike) -> Tensor:
    """Zeros: the function is piecewise constant.

    The backward pass of `sign`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `sign`, of its shape. Its dtype must be floating.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def silu(x: TensorLike) -> Tensor:
    """The sigmoid linear unit ``x * sigmoid(x)``, also called swish; 0 at -inf.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    silu_backward : Its gradient.

    Notes
    -----
    Derivative: ``sigmoid(x) * (1 + x * sigmoid(-x))``.

    Integers and booleans are converted to the default dtype first.
    """

def silu_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * sigmoid(x) * (1 + x * sigmoid(-x))``.

    The backward pass of `silu`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `silu`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def sin(x: TensorLike) -> Tensor:
    """The sine.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    sin_backward : Its gradient.

    Notes
    -----
    Derivative: ``cos(x)``.

    Integers and booleans are converted to the default dtype first.
    """

def sin_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * cos(x)``.

    The backward pass of `sin`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `sin`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def sinc(x: TensorLike) -> Tensor:
    """``sin(pi * x) / (pi * x)``, and 1 at 0.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    sinc_backward : Its gradient.

    Notes
    -----
    Derivative: ``(cos(pi * x) - output) / x``, which keeps its digits near 0, where it is 0.

    Integers and booleans are converted to the default dtype first.
    """

def sinc_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * (cos(pi * x) - sinc(x)) / x``.

    The backward pass of `sinc`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `sinc`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def sinh(x: TensorLike) -> Tensor:
    """The hyperbolic sine.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    sinh_backward : Its gradient.

    Notes
    -----
    Derivative: ``cosh(x)``.

    Integers and booleans are converted to the default dtype first.
    """

def sinh_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * cosh(x)``.

    The backward pass of `sinh`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `sinh`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def slogdet(x: TensorLike) -> tuple[Tensor, Tensor]:
    """The sign of the determinant and the logarithm of its magnitude, without overflow.

    Parameters
    ----------
    x : tensor_like, (..., n, n)
        Square matrices.

    Returns
    -------
    tuple of Tensor
        The signs, and the logarithms, both in the shape of the batch; 0 and -inf for a matrix
        without an inverse.

    Raises
    ------
    ValueError
        If the last two axes are not of one size, or a matrix does not allow it.

    See Also
    --------
    slogdet_backward : Its gradient.

    Notes
    -----
    Derivative: ``inv(x).T`` for the logarithm, 0 for the sign; refused where a matrix has no
    inverse.

    Integers and booleans are converted to the default dtype first.
    """

def slogdet_backward(grad_outputs: Sequence[TensorLike], x: TensorLike) -> Tensor:
    """The gradient of the logarithm times ``inv(x).T``.

    The backward pass of `slogdet`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_outputs : sequence of tensor_like
        Gradients of the results of `slogdet`, one for each, of their shapes.
    x : tensor_like, (..., n, n)
        Square matrices.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def smooth_l1_loss(
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    beta: float = 1.0,
) -> Tensor:
    """The smooth absolute error, a parabola for small errors and a line for large ones.

    It is ``d**2 / (2 * beta)`` where ``d`` is below ``beta``, else ``d - beta / 2``.
    ``d`` is ``|prediction - target|``.

    Parameters
    ----------
    prediction : tensor_like
        The output of a model.
    target : tensor_like
        The values to predict, in the shape of ``prediction``.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.
    beta : float, default 1.0
        The error at which the parabola ends.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    smooth_l1_loss_backward : Its gradient.

    Notes
    -----
    Derivative: ``(prediction - target) / beta`` held
    between -1 and 1, and its negative for ``target``. With ``beta=0`` it is ``l1_loss``.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def smooth_l1_loss_backward(
    grad_output: TensorLike,
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    beta: float = 1.0,
) -> smooth_l1_loss_gradients:
    """``grad_output`` times ``(prediction - target) / beta`` held in [-1, 1], and its negative.

    The backward pass of `smooth_l1_loss`: from the gradient of its result to that of ``prediction`` and ``target``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `smooth_l1_loss`, of its shape. Its dtype must be floating.
    prediction : tensor_like
        The output of a model.
    target : tensor_like
        The values to predict, in the shape of ``prediction``.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.
    beta : float, default 1.0
        The error at which the parabola ends.

    Returns
    -------
    smooth_l1_loss_gradients
        Named tuple of the gradients:

        - ``grad_prediction``, of the shape and dtype of ``prediction``.
        - ``grad_target``, of the shape and dtype of ``target``.
    """

def soft_margin_loss(
    x: TensorLike, target: TensorLike, reduction: Literal["mean", "sum", "none"] = "mean"
) -> Tensor:
    """The logistic loss of labels -1 and 1, ``log(1 + exp(-target * x))``, without overflow.

    Parameters
    ----------
    x : tensor_like
        Scores.
    target : tensor_like
        Labels -1 and 1, in the shape of ``x``.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    soft_margin_loss_backward : Its gradient.

    Notes
    -----
    Derivative: ``-target * sigmoid(-target * x)`` and ``-x * sigmoid(-target * x)``.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def soft_margin_loss_backward(
    grad_output: TensorLike,
    x: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> soft_margin_loss_gradients:
    """``-grad_output * sigmoid(-target * x)`` times ``target`` and times ``x``.

    The backward pass of `soft_margin_loss`: from the gradient of its result to that of ``x`` and ``target``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `soft_margin_loss`, of its shape. Its dtype must be floating.
    x : tensor_like
        Scores.
    target : tensor_like
        Labels -1 and 1, in the shape of ``x``.
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    soft_margin_loss_gradients
        Named tuple of the gradients:

        - ``grad_x``, of the shape and dtype of ``x``.
        - ``grad_target``, of the shape and dtype of ``target``.
    """

def soft_shrink(x: TensorLike, lambd: float = 0.5) -> Tensor:
    """``x`` moved towards 0 by ``lambd``, and 0 where that would change its sign.

    Parameters
    ----------
    x : tensor_like
        The input.
    lambd : float, default 0.5
        How far to move.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``lambd`` is negative.

    See Also
    --------
    soft_shrink_backward : Its gradient.

    Notes
    -----
    Derivative: 1 where ``abs(x)`` is above ``lambd``, else 0.

    Integers and booleans are converted to the default dtype first.
    """

def soft_shrink_backward(grad_output: TensorLike, x: TensorLike, lambd: float = 0.5) -> Tensor:
    """``grad_output`` where ``abs(x) > lambd``, else 0.

    The backward pass of `soft_shrink`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `soft_shrink`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    lambd : float, default 0.5
        How far to move.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """``exp(x)`` divided by its sum over ``axis``, without overflow.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int, default -1
        The axis whose elements are to sum to 1.

    Returns
    -------
    Tensor
        Positive numbers that sum to 1 over ``axis``, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``axis`` is out of range.

    See Also
    --------
    softmax_backward : Its gradient.

    Notes
    -----
    Derivative: ``output * (grad_output - sum(grad_output * output))``, exactly 0 for one
    element. A row of -inf alone gives NaN, as 0 / 0; an axis of size 0 gives an empty result.

    Integers and booleans are converted to the default dtype first.
    """

def softmax_backward(grad_output: TensorLike, output: TensorLike, axis: int = -1) -> Tensor:
    """``output * (grad_output - sum(grad_output * output))``.

    The backward pass of `softmax`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `softmax`, of its shape. Its dtype must be floating.
    output : tensor_like
        The result of `softmax`.
    axis : int, default -1
        The axis whose elements are to sum to 1.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def softmin(x: TensorLike, axis: int = -1) -> Tensor:
    """``exp(-x)`` divided by its sum over ``axis``, without overflow.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int, default -1
        The axis. A negative number counts from the last one.

    Returns
    -------
    Tensor
        The weights, in the shape of ``x``.

    See Also
    --------
    softmin_backward : Its gradient.

    Notes
    -----
    Derivative: ``output * (sum(grad_output * output) - grad_output)``.

    Integers and booleans are converted to the default dtype first.
    """

def softmin_backward(grad_output: TensorLike, output: TensorLike, axis: int = -1) -> Tensor:
    """``output * (sum(grad_output * output) - grad_output)``.

    The backward pass of `softmin`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `softmin`, of its shape. Its dtype must be floating.
    output : tensor_like
        The result of `softmin`.
    axis : int, default -1
        The axis. A negative number counts from the last one.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def softplus(x: TensorLike, beta: float = 1.0) -> Tensor:
    """A smooth rectifier, ``log(1 + exp(beta * x)) / beta``.

    It does not overflow, so it needs no threshold.

    Parameters
    ----------
    x : tensor_like
        The input.
    beta : float, default 1.0
        The sharpness of the bend at 0.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    softplus_backward : Its gradient.

    Notes
    -----
    Derivative: ``sigmoid(beta * x)``.

    Integers and booleans are converted to the default dtype first.
    """

def softplus_backward(grad_output: TensorLike, x: TensorLike, beta: float = 1.0) -> Tensor:
    """``grad_output * sigmoid(beta * x)``.

    The backward pass of `softplus`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `softplus`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    beta : float, default 1.0
        The sharpness of the bend at 0.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def softsign(x: TensorLike) -> Tensor:
    """``x / (1 + |x|)``, which is -1 and 1 at the infinities.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    softsign_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 / (1 + |x|)**2``.

    Integers and booleans are converted to the default dtype first.
    """

def softsign_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output / (1 + |x|)**2``.

    The backward pass of `softsign`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `softsign`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def solve(a: TensorLike, b: TensorLike) -> Tensor:
    """The solution ``x`` of ``a @ x = b``.

    Parameters
    ----------
    a : tensor_like, (..., n, n)
        Square matrices.
    b : tensor_like, (n,) or (..., n, k)
        Right sides: one vector, or columns.

    Returns
    -------
    Tensor
        The solutions, in the shape of ``b`` with the batch of ``a``.

    Raises
    ------
    ValueError
        If the last two axes are not of one size, or a matrix does not allow it.

    See Also
    --------
    solve_backward : Its gradient.

    Notes
    -----
    Derivative: ``solve(a.T, grad_output)`` for ``b``, and minus that times ``output.T`` for ``a``.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def solve_backward(
    grad_output: TensorLike, a: TensorLike, b: TensorLike, output: TensorLike
) -> solve_gradients:
    """``solve(a.T, grad_output)`` for ``b``, and minus that times ``output.T`` for ``a``.

    The backward pass of `solve`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `solve`, of its shape. Its dtype must be floating.
    a : tensor_like, (..., n, n)
        Square matrices.
    b : tensor_like, (n,) or (..., n, k)
        Right sides: one vector, or columns.
    output : tensor_like
        The result of `solve`.

    Returns
    -------
    solve_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def sort(x: TensorLike, axis: int = -1, descending: bool = False) -> Tensor:
    """The elements of ``x`` in order along ``axis``.

    Of equal elements the first comes first, also in descending order.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int, default -1
        The axis to sort along.
    descending : bool, default False
        Whether the largest elements come first.

    Returns
    -------
    Tensor
        The sorted elements, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``axis`` is out of range.

    See Also
    --------
    sort_backward : Its gradient.

    Notes
    -----
    Derivative: to where each element came from.
    """

def sort_backward(
    grad_output: TensorLike, x: TensorLike, axis: int = -1, descending: bool = False
) -> Tensor:
    """``grad_output`` put back to where each element came from.

    The backward pass of `sort`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `sort`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    axis : int, default -1
        The axis to sort along.
    descending : bool, default False
        Whether the largest elements come first.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def split(
    x: TensorLike, indices_or_sections: int | Sequence[int], axis: int = 0
) -> tuple[Tensor, ...]:
    """``x`` cut along ``axis`` into equal sections, or before each index; the parts are views.

    Parameters
    ----------
    x : tensor_like
        The input.
    indices_or_sections : int or sequence of ints
        The number of equal sections, or the positions before which to cut.
    axis : int, default 0
        The axis to cut along.

    Returns
    -------
    tuple of Tensor
        The parts, as views of ``x``.

    Raises
    ------
    ValueError
        If the axis cannot be cut into equal sections, or ``axis`` is out of range.

    See Also
    --------
    split_backward : Its gradient.

    Notes
    -----
    Derivative: the gradients of the parts, joined.
    """

def split_backward(grad_outputs: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """The gradients of the parts, joined along ``axis``.

    The backward pass of `split`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_outputs : sequence of tensor_like
        Gradients of the results of `split`, one for each, of their shapes.
    axis : int, default 0
        The axis to cut along.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def sqrt(x: TensorLike) -> Tensor:
    """The square root. NaN below 0.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    sqrt_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 / (2 * output)``, denominator lifted to ``eps``.

    Integers and booleans are converted to the default dtype first.
    """

def sqrt_backward(grad_output: TensorLike, output: TensorLike, eps: float = 1e-10) -> Tensor:
    """``grad_output / (2 * output)``.

    The backward pass of `sqrt`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `sqrt`, of its shape. Its dtype must be floating.
    output : tensor_like
        The result of `sqrt`.
    eps : float, default 1e-10
        A denominator whose magnitude is below ``eps`` is raised to it, others are kept; 0 gives plain
        IEEE results. The tape passes the value that `gradient_eps` sets.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def square(x: TensorLike) -> Tensor:
    """The square, ``x * x``.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    square_backward : Its gradient.

    Notes
    -----
    Derivative: ``2 * x``.
    """

def square_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``2 * grad_output * x``.

    The backward pass of `square`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `square`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def squeeze(x: TensorLike, axis: int | Sequence[int] | None = None) -> Tensor:
    """``x`` without ``axis``, which must have size 1; None removes every such axis.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to remove, by default all of size 1.

    Returns
    -------
    Tensor
        ``x`` in its new shape, as a view.

    Raises
    ------
    ValueError
        If an axis does not have size 1 or is out of range.

    See Also
    --------
    squeeze_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` in the old shape.
    """

def squeeze_backward(grad_output: TensorLike, input_shape: Sequence[int]) -> Tensor:
    """``grad_output`` in ``input_shape``.

    The backward pass of `squeeze`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `squeeze`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def stack(tensors: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """The tensors side by side along a new axis.

    Parameters
    ----------
    tensors : sequence of tensor_like
        The tensors, of one shape.
    axis : int, default 0
        The place of the new axis in the result.

    Returns
    -------
    Tensor
        The joined tensor, with one axis more.

    Raises
    ------
    ValueError
        If there is no tensor, their shapes differ, or ``axis`` is out of range.

    See Also
    --------
    stack_backward : Its gradient.

    Notes
    -----
    Derivative: each gets its slice.
    """

def stack_backward(grad_output: TensorLike, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices of ``grad_output`` along ``axis``.

    The backward pass of `stack`: from the gradient of its result to that of ``tensors``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `stack`, of its shape. Its dtype must be floating.
    axis : int, default 0
        The place of the new axis in the result.

    Returns
    -------
    tuple of Tensor
        Gradient of each of ``tensors``, of its shape and dtype.
    """

def std(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False, ddof: float = 0
) -> Tensor:
    """The standard deviation over ``axis``, ``sqrt(var(x))``.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.
    ddof : float, default 0
        What is subtracted from the number of elements: 0, or 1 for an unbiased estimate.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
        with size 1.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice.

    See Also
    --------
    std_backward : Its gradient.

    Notes
    -----
    Derivative: ``(x - mean) / ((n - ddof) * output)``, 0 at 0.

    Integers and booleans are converted to the default dtype first.
    """

def std_backward(
    grad_output: TensorLike,
    x: TensorLike,
    output: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    ddof: float = 0,
) -> Tensor:
    """``grad_output * (x - mean) / ((n - ddof) * output)``, 0 where the output is 0.

    The backward pass of `std`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `std`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    output : tensor_like
        The result of `std`.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.
    ddof : float, default 0
        What is subtracted from the number of elements: 0, or 1 for an unbiased estimate.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def subtract(a: TensorLike, b: TensorLike) -> Tensor:
    """The difference ``a - b``.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        The result, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    subtract_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` and ``-grad_output``.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def subtract_backward(
    grad_output: TensorLike, a_shape: Sequence[int], b_shape: Sequence[int]
) -> subtract_gradients:
    """``grad_output`` and ``-grad_output``, summed to the inputs' shapes.

    The backward pass of `subtract`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `subtract`, of its shape. Its dtype must be floating.
    a_shape : sequence of ints
        Shape of ``a``.
    b_shape : sequence of ints
        Shape of ``b``.

    Returns
    -------
    subtract_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def sum(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """The sum over ``axis``, 0 over nothing.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
        with size 1.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice.

    See Also
    --------
    sum_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` to every element.
    """

def sum_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output`` broadcast to ``input_shape``.

    The backward pass of `sum`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `sum`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def swapaxes(x: TensorLike, axis1: int, axis2: int) -> Tensor:
    """``x`` with two axes exchanged.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis1, axis2 : int
        The axes to exchange.

    Returns
    -------
    Tensor
        ``x`` in its new shape, as a view.

    Raises
    ------
    ValueError
        If an axis is out of range or named twice.

    See Also
    --------
    swapaxes_backward : Its gradient.

    Notes
    -----
    Derivative: the axes exchanged again.
    """

def swapaxes_backward(grad_output: TensorLike, axis1: int, axis2: int) -> Tensor:
    """``grad_output`` with the axes exchanged again.

    The backward pass of `swapaxes`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `swapaxes`, of its shape. Its dtype must be floating.
    axis1, axis2 : int
        The axes to exchange.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def take(x: TensorLike, indices: TensorLike, axis: int | None = None) -> Tensor:
    """Slices of ``x`` at ``indices`` along ``axis``, or elements of the flattened ``x``.

    Parameters
    ----------
    x : tensor_like
        The input.
    indices : tensor_like, ints of any shape
        The positions; negative ones count from the end.
    axis : int, optional
        The axis of the positions. By default ``x`` is flattened.

    Returns
    -------
    Tensor
        The slices; the axes of ``indices`` stand in the place of ``axis``.

    Raises
    ------
    ValueError
        If an index or ``axis`` is out of range.

    See Also
    --------
    take_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` added where it was read.
    """

def take_backward(
    grad_output: TensorLike, x_shape: Sequence[int], indices: TensorLike, axis: int | None = None
) -> Tensor:
    """Zeros of ``x_shape`` with ``grad_output`` added at ``indices`` along ``axis``.

    The backward pass of `take`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `take`, of its shape. Its dtype must be floating.
    x_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like, ints of any shape
        The positions; negative ones count from the end.
    axis : int, optional
        The axis of the positions. By default ``x`` is flattened.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def tan(x: TensorLike) -> Tensor:
    """The tangent.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    tan_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 + output**2``.

    Integers and booleans are converted to the default dtype first.
    """

def tan_backward(grad_output: TensorLike, output: TensorLike) -> Tensor:
    """``grad_output * (1 + output**2)``.

    The backward pass of `tan`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `tan`, of its shape. Its dtype must be floating.
    output : tensor_like
        The result of `tan`.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def tanh(x: TensorLike) -> Tensor:
    """The hyperbolic tangent.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    tanh_backward : Its gradient.

    Notes
    -----
    Derivative: ``1 - output**2``.

    Integers and booleans are converted to the default dtype first.
    """

def tanh_backward(grad_output: TensorLike, output: TensorLike) -> Tensor:
    """``grad_output * (1 - output**2)``.

    The backward pass of `tanh`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `tanh`, of its shape. Its dtype must be floating.
    output : tensor_like
        The result of `tanh`.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def tanh_shrink(x: TensorLike) -> Tensor:
    """``x - tanh(x)``.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    tanh_shrink_backward : Its gradient.

    Notes
    -----
    Derivative: ``tanh(x)**2``.

    Integers and booleans are converted to the default dtype first.
    """

def tanh_shrink_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * tanh(x)**2``.

    The backward pass of `tanh_shrink`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `tanh_shrink`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def tensordot(
    a: TensorLike, b: TensorLike, axes: int | Sequence[int | Sequence[int]] = 2
) -> Tensor:
    """The products of ``a`` and ``b`` summed over pairs of axes.

    ``axes`` is a pair: the axes of ``a``, and the axes of ``b`` they meet; or a number n, for the
    last n of ``a`` and the first n of ``b``. The result has the other axes of ``a``, then those of
    ``b``.

    Parameters
    ----------
    a, b : tensor_like
        The operands.
    axes : int or sequence of ints or sequence of ints, default 2
        The axes of ``a`` and the axes of ``b`` to sum over, or how many of them.

    Returns
    -------
    Tensor
        The products, with the other axes of ``a``, then those of ``b``.

    Raises
    ------
    ValueError
        If the sizes of paired axes differ or an axis is out of range.

    See Also
    --------
    tensordot_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` times the other input, summed over that input's own axes.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def tensordot_backward(
    grad_output: TensorLike,
    a: TensorLike,
    b: TensorLike,
    axes: int | Sequence[int | Sequence[int]] = 2,
) -> tensordot_gradients:
    """``grad_output`` times ``b`` summed over the free axes of ``b``, and the same with ``a``.

    The backward pass of `tensordot`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `tensordot`, of its shape. Its dtype must be floating.
    a, b : tensor_like
        The operands.
    axes : int or sequence of ints or sequence of ints, default 2
        The axes of ``a`` and the axes of ``b`` to sum over, or how many of them.

    Returns
    -------
    tensordot_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def threshold(x: TensorLike, threshold: float, value: float) -> Tensor:
    """``x`` where it is above ``threshold``, else ``value``.

    Parameters
    ----------
    x : tensor_like
        The input.
    threshold : float
        The number that ``x`` must exceed.
    value : float
        What stands for the other elements.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    threshold_backward : Its gradient.

    Notes
    -----
    Derivative: 1 where ``x`` is above ``threshold``, else 0.

    Integers and booleans are converted to the default dtype first.
    """

def threshold_backward(
    grad_output: TensorLike, x: TensorLike, threshold: float, value: float
) -> Tensor:
    """``grad_output`` where ``x > threshold``, else 0.

    The backward pass of `threshold`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `threshold`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    threshold : float
        The number that ``x`` must exceed.
    value : float
        What stands for the other elements.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def tile(x: TensorLike, reps: int | Sequence[int]) -> Tensor:
    """``x`` laid side by side ``reps`` times along each axis.

    Parameters
    ----------
    x : tensor_like
        The input.
    reps : int or sequence of ints
        The number of copies along each axis. Axes that are missing on either side count as 1.

    Returns
    -------
    Tensor
        The copies side by side.

    See Also
    --------
    tile_backward : Its gradient.

    Notes
    -----
    Derivative: the sum over the copies.
    """

def tile_backward(
    grad_output: TensorLike, input_shape: Sequence[int], reps: int | Sequence[int]
) -> Tensor:
    """The sum of ``grad_output`` over the copies.

    The backward pass of `tile`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `tile`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    reps : int or sequence of ints
        The number of copies along each axis. Axes that are missing on either side count as 1.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def topk(x: TensorLike, k: int, axis: int = -1, largest: bool = True) -> tuple[Tensor, Tensor]:
    """The ``k`` largest elements along ``axis``, largest first, and their indices.

    With ``largest=False`` the smallest, smallest first. Of equal elements the first is taken.

    Parameters
    ----------
    x : tensor_like
        The input.
    k : int
        The number of elements.
    axis : int, default -1
        The axis to search along.
    largest : bool, default True
        Whether to take the largest elements, or the smallest.

    Returns
    -------
    tuple of Tensor
        The elements, and their indices of dtype int64; ``k`` of each along ``axis``.

    Raises
    ------
    ValueError
        If ``k`` exceeds the size of ``axis`` or ``axis`` is out of range.

    See Also
    --------
    topk_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` (of the values) to the elements taken, 0 to the others.
    """

def topk_backward(
    grad_output: TensorLike, input_shape: Sequence[int], indices: TensorLike, axis: int = -1
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` at ``indices``.

    The backward pass of `topk`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the first result of `topk`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    indices : tensor_like
        The second result of `topk`.
    axis : int, default -1
        The axis to search along.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def trace(x: TensorLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The sum of a diagonal of two axes of ``x``.

    Parameters
    ----------
    x : tensor_like
        The input.
    offset : int, default 0
        The number of the diagonal: 0 is the main one, positive ones are above it.
    axis1 : int, default 0
        The axes of the rows and of the columns.
    axis2 : int, default 1
        The axes of the rows and of the columns.

    Returns
    -------
    Tensor
        The sums, in the shape of ``x`` without the two axes.

    Raises
    ------
    ValueError
        If the axes are out of range or the same.

    See Also
    --------
    trace_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` on the diagonal.
    """

def trace_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` all along the diagonal.

    The backward pass of `trace`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `trace`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    offset : int, default 0
        The number of the diagonal: 0 is the main one, positive ones are above it.
    axis1 : int, default 0
        The axes of the rows and of the columns.
    axis2 : int, default 1
        The axes of the rows and of the columns.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def transpose(x: TensorLike, axes: Sequence[int] | None = None) -> Tensor:
    """``x`` with its axes in another order.

    Parameters
    ----------
    x : tensor_like
        The input.
    axes : sequence of ints, optional
        The axes of ``x`` in their new order, by default reversed.

    Returns
    -------
    Tensor
        ``x`` in its new shape, as a view.

    Raises
    ------
    ValueError
        If ``axes`` does not name each axis once.

    See Also
    --------
    transpose_backward : Its gradient.

    Notes
    -----
    Derivative: the axes put back.
    """

def transpose_backward(grad_output: TensorLike, axes: Sequence[int] | None = None) -> Tensor:
    """``grad_output`` with its axes put back.

    The backward pass of `transpose`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `transpose`, of its shape. Its dtype must be floating.
    axes : sequence of ints, optional
        The axes of ``x`` in their new order, by default reversed.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def tril(x: TensorLike, k: int = 0) -> Tensor:
    """``x`` with zeros above diagonal ``k`` of its last two axes.

    Parameters
    ----------
    x : tensor_like, (..., n, m)
        The matrices.
    k : int, default 0
        The number of the last diagonal that stays: 0 is the main one, positive ones are above
        it.

    Returns
    -------
    Tensor
        The lower triangles, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``x`` has fewer than two axes.

    See Also
    --------
    tril_backward : Its gradient.

    Notes
    -----
    Derivative: the same part.
    """

def tril_backward(grad_output: TensorLike, k: int = 0) -> Tensor:
    """``grad_output`` with zeros above diagonal ``k``.

    The backward pass of `tril`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `tril`, of its shape. Its dtype must be floating.
    k : int, default 0
        The number of the last diagonal that stays: 0 is the main one, positive ones are above
        it.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def triplet_loss(
    anchor: TensorLike,
    positive: TensorLike,
    negative: TensorLike,
    margin: float = 1.0,
    p: float = 2.0,
    swap: bool = False,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> Tensor:
    """The triplet loss, ``max(0, |anchor - positive| - |anchor - negative| + margin)``.

    The distances are p-norms along the last axis.

    Parameters
    ----------
    anchor, positive, negative : tensor_like, (..., features)
        Vectors: the second is to be near the first, the third far from it.
    margin : float, default 1.0
        How much farther the negative vector should be.
    p : float, default 2.0
        The order of the norm.
    swap : bool, default False
        Whether ``|positive - negative|`` stands for the second distance where it is smaller
        (Balntas et al. 2016).
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    Tensor
        The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

    Raises
    ------
    ValueError
        If the shapes do not fit, or ``reduction`` is none of the names.

    See Also
    --------
    triplet_loss_backward : Its gradient.

    Notes
    -----
    Derivative: the directions of the differences
    where the loss is positive, else 0; 0 for a distance of 0; a tie of the two second distances
    shares it equally. No epsilon is added to a difference, unlike in PyTorch.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def triplet_loss_backward(
    grad_output: TensorLike,
    anchor: TensorLike,
    positive: TensorLike,
    negative: TensorLike,
    margin: float = 1.0,
    p: float = 2.0,
    swap: bool = False,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> triplet_loss_gradients:
    """``grad_output`` along the differences, where the loss is positive.

    The backward pass of `triplet_loss`: from the gradient of its result to that of ``anchor`` and ``positive`` and ``negative``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `triplet_loss`, of its shape. Its dtype must be floating.
    anchor, positive, negative : tensor_like, (..., features)
        Vectors: the second is to be near the first, the third far from it.
    margin : float, default 1.0
        How much farther the negative vector should be.
    p : float, default 2.0
        The order of the norm.
    swap : bool, default False
        Whether ``|positive - negative|`` stands for the second distance where it is smaller
        (Balntas et al. 2016).
    reduction : {'mean', 'sum', 'none'}, default 'mean'
        "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

    Returns
    -------
    triplet_loss_gradients
        Named tuple of the gradients:

        - ``grad_anchor``, of the shape and dtype of ``anchor``.
        - ``grad_positive``, of the shape and dtype of ``positive``.
        - ``grad_negative``, of the shape and dtype of ``negative``.
    """

def triu(x: TensorLike, k: int = 0) -> Tensor:
    """``x`` with zeros below diagonal ``k`` of its last two axes.

    Parameters
    ----------
    x : tensor_like, (..., n, m)
        The matrices.
    k : int, default 0
        The number of the first diagonal that stays: 0 is the main one, positive ones are above
        it.

    Returns
    -------
    Tensor
        The upper triangles, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``x`` has fewer than two axes.

    See Also
    --------
    triu_backward : Its gradient.

    Notes
    -----
    Derivative: the same part.
    """

def triu_backward(grad_output: TensorLike, k: int = 0) -> Tensor:
    """``grad_output`` with zeros below diagonal ``k``.

    The backward pass of `triu`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `triu`, of its shape. Its dtype must be floating.
    k : int, default 0
        The number of the first diagonal that stays: 0 is the main one, positive ones are above
        it.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def trunc(x: TensorLike) -> Tensor:
    """``x`` without its fraction.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    See Also
    --------
    trunc_backward : Its gradient.

    Notes
    -----
    Derivative: 0.
    """

def trunc_backward(grad_output: TensorLike) -> Tensor:
    """Zeros: the function is piecewise constant.

    The backward pass of `trunc`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `trunc`, of its shape. Its dtype must be floating.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def unfold(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """The windows of pictures as columns, row by row, 0 in the padding.

    Parameters
    ----------
    x : tensor_like, (batch, channels, height, width)
        The pictures. The batch axis may be missing.
    kernel_size : int or sequence of ints
        The height and width of a window: a number for a square.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.
    padding : int or sequence of ints, default 0
        The number of zeros on each side: a number, or one for each axis.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.

    Returns
    -------
    Tensor
        The columns, (batch, channels * kernel height * kernel width, windows).

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    See Also
    --------
    unfold_backward : Its gradient.

    Notes
    -----
    Derivative: ``fold`` of ``grad_output``.
    """

def unfold_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    kernel_size: int | Sequence[int],
    dilation: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    stride: int | Sequence[int] = 1,
) -> Tensor:
    """``fold`` of ``grad_output``: each element of each window added to where it came from.

    The backward pass of `unfold`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `unfold`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.
    kernel_size : int or sequence of ints
        The height and width of a window: a number for a square.
    dilation : int or sequence of ints, default 1
        The distance between neighbouring elements of a window: a number, or one for each axis.
    padding : int or sequence of ints, default 0
        The number of zeros on each side: a number, or one for each axis.
    stride : int or sequence of ints, default 1
        The distance between neighbouring windows: a number, or one for each axis.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def unique(x: TensorLike) -> Tensor:
    """The distinct values of ``x`` in increasing order.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    Tensor
        The values, along one axis.

    Notes
    -----
    The result has no gradient.
    """

def unique_counts(x: TensorLike) -> tuple[Tensor, Tensor]:
    """The distinct values of ``x`` in increasing order, and how often each of them occurs.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    tuple of Tensor
        The values along one axis, and the counts of dtype int64.

    Notes
    -----
    The result has no gradient.
    """

def unique_inverse(x: TensorLike) -> tuple[Tensor, Tensor]:
    """The distinct values of ``x`` in increasing order, and for each element the index of its value.

    Parameters
    ----------
    x : tensor_like
        The input.

    Returns
    -------
    tuple of Tensor
        The values along one axis, and the indices of dtype int64 in the shape of ``x``.

    Notes
    -----
    The result has no gradient.
    """

def unsqueeze(x: TensorLike, axis: int | Sequence[int]) -> Tensor:
    """``x`` with new axes of size 1.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints
        The places of the new axes among those of the result.

    Returns
    -------
    Tensor
        ``x`` in its new shape, as a view.

    Raises
    ------
    ValueError
        If an axis is out of range or named twice.

    See Also
    --------
    unsqueeze_backward : Its gradient.

    Notes
    -----
    Derivative: the same without them.
    """

def unsqueeze_backward(grad_output: TensorLike, input_shape: Sequence[int]) -> Tensor:
    """``grad_output`` in ``input_shape``.

    The backward pass of `unsqueeze`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `unsqueeze`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def var(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False, ddof: float = 0
) -> Tensor:
    """The variance over ``axis``, ``sum((x - mean)**2) / (n - ddof)``.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.
    ddof : float, default 0
        What is subtracted from the number of elements: 0, or 1 for an unbiased estimate.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
        with size 1.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice.

    See Also
    --------
    var_backward : Its gradient.

    Notes
    -----
    Derivative: ``2 * (x - mean) / (n - ddof)``. NaN over nothing, and of a single element with
    ``ddof=1``, as in NumPy.

    Integers and booleans are converted to the default dtype first.
    """

def var_backward(
    grad_output: TensorLike,
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    ddof: float = 0,
) -> Tensor:
    """``grad_output * 2 * (x - mean) / (n - ddof)``.

    The backward pass of `var`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `var`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.
    ddof : float, default 0
        What is subtracted from the number of elements: 0, or 1 for an unbiased estimate.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def where(cond: TensorLike, a: TensorLike, b: TensorLike) -> Tensor:
    """Elements of ``a`` where ``cond`` is true, else of ``b``.

    Parameters
    ----------
    cond : tensor_like, bools
        Where to take ``a``. It broadcasts with ``a`` and ``b``.
    a, b : tensor_like
        The values to choose from.

    Returns
    -------
    Tensor
        The chosen elements, in the shape to which all three broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    where_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` to the one that was taken.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def where_backward(
    grad_output: TensorLike, cond: TensorLike, a_shape: Sequence[int], b_shape: Sequence[int]
) -> where_gradients:
    """``grad_output`` to the input that was taken, zeros to the other, summed to their shapes.

    The backward pass of `where`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `where`, of its shape. Its dtype must be floating.
    cond : tensor_like, bools
        Where to take ``a``. It broadcasts with ``a`` and ``b``.
    a_shape : sequence of ints
        Shape of ``a``.
    b_shape : sequence of ints
        Shape of ``b``.

    Returns
    -------
    where_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def xlogy(a: TensorLike, b: TensorLike) -> Tensor:
    """``a * log(b)``, and 0 where ``a`` is 0 unless ``b`` is NaN.

    Parameters
    ----------
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    Tensor
        The result, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    xlogy_backward : Its gradient.

    Notes
    -----
    Derivative: ``log(b)``, 0 where ``a`` is 0 and ``b`` is not above 0; and ``a / b``, 0 where ``a``
    is 0.

    Integers and booleans are converted to the default dtype first.

    Inputs of different dtypes are promoted to one dtype. Python numbers take the dtype of the tensor that they meet.
    """

def xlogy_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> xlogy_gradients:
    """``grad_output * log(b)`` and ``grad_output * a / b``.

    The backward pass of `xlogy`: from the gradient of its result to that of ``a`` and ``b``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `xlogy`, of its shape. Its dtype must be floating.
    a, b : tensor_like
        The operands. They broadcast against each other.

    Returns
    -------
    xlogy_gradients
        Named tuple of the gradients:

        - ``grad_a``, of the shape and dtype of ``a``.
        - ``grad_b``, of the shape and dtype of ``b``.
    """

def expand_dims(x: TensorLike, axis: int | Sequence[int]) -> Tensor:
    """``x`` with new axes of size 1.

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints
        The places of the new axes among those of the result.

    Returns
    -------
    Tensor
        ``x`` in its new shape, as a view.

    Raises
    ------
    ValueError
        If an axis is out of range or named twice.

    See Also
    --------
    unsqueeze_backward : Its gradient.

    Notes
    -----
    Derivative: the same without them.
    """

def expand_dims_backward(grad_output: TensorLike, input_shape: Sequence[int]) -> Tensor:
    """``grad_output`` in ``input_shape``.

    The backward pass of `unsqueeze`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `unsqueeze`, of its shape. Its dtype must be floating.
    input_shape : sequence of ints
        Shape of ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def max(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """The largest element over ``axis``, NaN if there is one (``max`` is the same function).

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
        with size 1.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice, or if a reduced axis has size 0.

    See Also
    --------
    max_reduce_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` to the largest element; several that tie share it equally.
    """

def max_backward(
    grad_output: TensorLike,
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output`` to the largest elements, shared equally among those that tie.

    The backward pass of `max_reduce`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `max_reduce`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """

def min(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """The smallest element over ``axis``, NaN if there is one (``min`` is the same function).

    Parameters
    ----------
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` without the reduced axes. With ``keepdims`` they stay,
        with size 1.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice, or if a reduced axis has size 0.

    See Also
    --------
    min_reduce_backward : Its gradient.

    Notes
    -----
    Derivative: ``grad_output`` to the smallest element; several that tie share it equally.
    """

def min_backward(
    grad_output: TensorLike,
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output`` to the smallest elements, shared equally among those that tie.

    The backward pass of `min_reduce`: from the gradient of its result to that of ``x``.

    Parameters
    ----------
    grad_output : tensor_like
        Gradient of the result of `min_reduce`, of its shape. Its dtype must be floating.
    x : tensor_like
        The input.
    axis : int or sequence of ints, optional
        The axis or axes to reduce, by default all. A negative number counts from the last axis.
    keepdims : bool, default False
        Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns
    -------
    Tensor
        Gradient of ``x``, of its shape and dtype.
    """
