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
    "add",
    "add_backward",
    "all",
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
    "batch_norm",
    "batch_norm_backward",
    "binary_cross_entropy",
    "binary_cross_entropy_backward",
    "binary_cross_entropy_with_logits",
    "binary_cross_entropy_with_logits_backward",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "broadcast_shapes",
    "broadcast_to",
    "broadcast_to_backward",
    "cast",
    "cast_backward",
    "ceil",
    "ceil_backward",
    "chain_divide",
    "chain_divide_backward",
    "chain_rule",
    "chain_rule_backward",
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
    "conv_transpose1d",
    "conv_transpose1d_backward",
    "conv_transpose2d",
    "conv_transpose2d_backward",
    "cos",
    "cos_backward",
    "cosh",
    "cosh_backward",
    "cosine_embedding_loss",
    "cosine_embedding_loss_backward",
    "count_nonzero",
    "cross_entropy",
    "cross_entropy_backward",
    "cumsum",
    "cumsum_backward",
    "diag",
    "diag_backward",
    "divide",
    "divide_backward",
    "dot",
    "dot_backward",
    "dropout",
    "dropout2d",
    "dropout2d_backward",
    "dropout_backward",
    "einsum",
    "einsum_backward",
    "elu",
    "elu_backward",
    "embedding",
    "embedding_backward",
    "equal",
    "erf",
    "erf_backward",
    "exp",
    "exp_backward",
    "expand_dims",
    "expand_dims_backward",
    "expm1",
    "expm1_backward",
    "flatten",
    "flatten_backward",
    "flip",
    "flip_backward",
    "floor",
    "floor_backward",
    "floor_divide",
    "floor_divide_backward",
    "focal_loss",
    "focal_loss_backward",
    "gather",
    "gather_backward",
    "gelu",
    "gelu_backward",
    "getitem",
    "getitem_backward",
    "glu",
    "glu_backward",
    "greater",
    "greater_equal",
    "group_norm",
    "group_norm_backward",
    "gru",
    "gru_backward",
    "gru_cell",
    "gru_cell_backward",
    "hard_sigmoid",
    "hard_sigmoid_backward",
    "hard_swish",
    "hard_swish_backward",
    "hard_tanh",
    "hard_tanh_backward",
    "hinge_loss",
    "hinge_loss_backward",
    "huber_loss",
    "huber_loss_backward",
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
    "isfinite",
    "isinf",
    "isnan",
    "kl_div",
    "kl_div_backward",
    "l1_loss",
    "l1_loss_backward",
    "layer_norm",
    "layer_norm_backward",
    "leaky_relu",
    "leaky_relu_backward",
    "less",
    "less_equal",
    "lift",
    "lift_backward",
    "linear",
    "linear_backward",
    "log",
    "log10",
    "log10_backward",
    "log1p",
    "log1p_backward",
    "log2",
    "log2_backward",
    "log_backward",
    "log_softmax",
    "log_softmax_backward",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsumexp",
    "logsumexp_backward",
    "lstm",
    "lstm_backward",
    "lstm_cell",
    "lstm_cell_backward",
    "masked_fill",
    "masked_fill_backward",
    "matmul",
    "matmul_backward",
    "max",
    "max_backward",
    "max_pool1d",
    "max_pool1d_backward",
    "max_pool2d",
    "max_pool2d_backward",
    "max_reduce",
    "max_reduce_backward",
    "maximum",
    "maximum_backward",
    "mean",
    "mean_backward",
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
    "multiply",
    "multiply_backward",
    "negative",
    "negative_backward",
    "nll_loss",
    "nll_loss_backward",
    "norm",
    "norm_backward",
    "normal_cdf",
    "normal_cdf_backward",
    "normal_pdf",
    "normal_pdf_backward",
    "not_equal",
    "outer",
    "outer_backward",
    "pad",
    "pad_backward",
    "permute",
    "permute_backward",
    "place",
    "place_backward",
    "power",
    "power_backward",
    "prelu",
    "prelu_backward",
    "prod",
    "prod_backward",
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
    "round",
    "round_backward",
    "rsqrt",
    "rsqrt_backward",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_backward",
    "scatter_add",
    "scatter_add_backward",
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
    "sinh",
    "sinh_backward",
    "smooth_l1_loss",
    "smooth_l1_loss_backward",
    "softmax",
    "softmax_backward",
    "softplus",
    "softplus_backward",
    "softsign",
    "softsign_backward",
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
    "tensordot",
    "tensordot_backward",
    "tile",
    "tile_backward",
    "topk",
    "topk_backward",
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
    "unsqueeze",
    "unsqueeze_backward",
    "var",
    "var_backward",
    "where",
    "where_backward",
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
class binary_cross_entropy_gradients(NamedTuple):
    grad_prediction: Tensor
    grad_target: Tensor

@type_check_only
class binary_cross_entropy_with_logits_gradients(NamedTuple):
    grad_logits: Tensor
    grad_target: Tensor

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
class cosine_embedding_loss_gradients(NamedTuple):
    grad_x1: Tensor
    grad_x2: Tensor

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
class floor_divide_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class focal_loss_gradients(NamedTuple):
    grad_logits: Tensor
    grad_target: Tensor

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
class hinge_loss_gradients(NamedTuple):
    grad_prediction: Tensor
    grad_target: Tensor

@type_check_only
class huber_loss_gradients(NamedTuple):
    grad_prediction: Tensor
    grad_target: Tensor

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
class l1_loss_gradients(NamedTuple):
    grad_prediction: Tensor
    grad_target: Tensor

@type_check_only
class layer_norm_gradients(NamedTuple):
    grad_x: Tensor
    grad_weight: Tensor
    grad_bias: Tensor

@type_check_only
class linear_gradients(NamedTuple):
    grad_x: Tensor
    grad_weight: Tensor
    grad_bias: Tensor

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
class multiply_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

@type_check_only
class outer_gradients(NamedTuple):
    grad_a: Tensor
    grad_b: Tensor

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
class scatter_add_gradients(NamedTuple):
    grad_x: Tensor
    grad_updates: Tensor

@type_check_only
class smooth_l1_loss_gradients(NamedTuple):
    grad_prediction: Tensor
    grad_target: Tensor

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

def abs(x: TensorLike) -> Tensor:
    """The magnitude of ``x``. Derivative: ``sign(x)``, 0 at 0."""

def abs_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * sign(x)``."""

def acos(x: TensorLike) -> Tensor:
    """The angle in [0, pi] whose cosine is ``x``; NaN outside [-1, 1].

    Derivative: ``-1 / sqrt(1 - x**2)``, infinite at -1 and 1.
    """

def acos_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``-grad_output / sqrt(1 - x**2)``."""

def acosh(x: TensorLike) -> Tensor:
    """The number from 0 upwards whose hyperbolic cosine is ``x``; NaN below 1.

    Derivative: ``1 / sqrt(x**2 - 1)``, infinite at 1.
    """

def acosh_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output / sqrt(x**2 - 1)``."""

def adaptive_avg_pool1d(x: TensorLike, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The mean of each of ``output_size`` windows that cover ``x`` (batch, channels, length).

    Derivative: ``grad_output`` divided by the size of its window, to each element.
    """

def adaptive_avg_pool1d_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    output_size: int | Sequence[int | None] | None,
) -> Tensor:
    """``grad_output`` divided by the size of its window, to each element of the window."""

def adaptive_avg_pool2d(x: TensorLike, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The mean of each of ``output_size`` windows that cover ``x`` (batch, channels, height, width).

    ``output_size`` is an int or an int for each axis, None for an axis that stays. Along an axis of
    ``n`` elements window ``i`` of ``m`` goes from ``i * n // m`` to ``(i + 1) * n / m``, rounded up,
    so that neighbours may share an element. Derivative: ``grad_output`` divided by the size of its
    window, to each element.
    """

def adaptive_avg_pool2d_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    output_size: int | Sequence[int | None] | None,
) -> Tensor:
    """``grad_output`` divided by the size of its window, to each element of the window."""

def add(a: TensorLike, b: TensorLike) -> Tensor:
    """``a + b``. Derivative: ``grad_output`` for both, summed to their shapes."""

def add_backward(
    grad_output: TensorLike, a_shape: Sequence[int], b_shape: Sequence[int]
) -> add_gradients:
    """``grad_output`` for both, summed to their shapes."""

def all(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """True if every element over ``axis`` is true (not 0); True over nothing."""

def any(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """True if an element over ``axis`` is true (not 0); False over nothing."""

def argmax(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the first largest element along ``axis``, or of all; NaN counts as largest."""

def argmin(x: TensorLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the first smallest element along ``axis``, or of all; NaN counts as smallest."""

def argsort(x: TensorLike, axis: int = -1, descending: bool = False) -> Tensor:
    """The indices that sort ``x`` along ``axis``; equal elements stay in their order."""

def asin(x: TensorLike) -> Tensor:
    """The angle in [-pi/2, pi/2] whose sine is ``x``; NaN outside [-1, 1].

    Derivative: ``1 / sqrt(1 - x**2)``, infinite at -1 and 1.
    """

def asin_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output / sqrt(1 - x**2)``."""

def asinh(x: TensorLike) -> Tensor:
    """The number whose hyperbolic sine is ``x``. Derivative: ``1 / sqrt(1 + x**2)``."""

def asinh_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output / sqrt(1 + x**2)``."""

def atan(x: TensorLike) -> Tensor:
    """The angle in [-pi/2, pi/2] whose tangent is ``x``. Derivative: ``1 / (1 + x**2)``."""

def atan_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output / (1 + x**2)``."""

def atan2(a: TensorLike, b: TensorLike) -> Tensor:
    """The angle in [-pi, pi] of the point with height ``a`` and abscissa ``b``.

    Derivative: ``b / (a**2 + b**2)`` and ``-a / (a**2 + b**2)``, 0 for both at the origin.
    """

def atan2_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> atan2_gradients:
    """``grad_output * b / (a**2 + b**2)`` and ``-grad_output * a / (a**2 + b**2)``."""

def atanh(x: TensorLike) -> Tensor:
    """The number whose hyperbolic tangent is ``x``; NaN outside [-1, 1].

    Derivative: ``1 / (1 - x**2)``, infinite at -1 and 1.
    """

def atanh_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output / (1 - x**2)``."""

def avg_pool1d(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window of ``x`` (batch, channels, length), as :func:`avg_pool2d`.

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
    """``grad_output`` divided by the number of elements that count, to each element of the window."""

def avg_pool2d(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window of ``x`` (batch, channels, height, width).

    ``stride`` is ``kernel_size`` if not given. The ``padding`` counts as zeros or, without
    ``count_include_pad``, not at all; what lies behind it, with ``ceil_mode``, never counts.
    Each sum is divided by ``divisor_override`` instead, if that is given. Derivative: ``grad_output``
    divided by the number of elements that count, to each of them.
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
    """``grad_output`` divided by the number of elements that count, to each element of the window."""

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

    ``x`` is (batch, channels, ...), all else has a number for each channel. In training ``mean``
    and ``var`` are those of each channel, and the running statistics move towards them, in place:
    ``(1 - momentum) * running + momentum * own``, where the own variance is divided by n - 1. Else
    they are the running statistics. Derivative: in ``x`` in training as for ``layer_norm``, over a
    channel; else ``weight / sqrt(var + eps)``; in ``weight``: ``(x - mean) / sqrt(var + eps)``; in
    ``bias``: 1; the running statistics have none.
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
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last two without them too."""

def binary_cross_entropy(
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    weight: TensorLike | None = None,
) -> Tensor:
    """``-(target * log(prediction) + (1 - target) * log(1 - prediction))``, times ``weight``.

    Each logarithm is at least -100, so a sure mistake costs 100. Derivative in ``prediction`` p:
    ``(p - target) / (p * (1 - p))``, a denominator below 1e-12 lifted to it; in ``target``:
    ``log(1 - p) - log(p)``. ``weight`` broadcasts to the losses and has no gradient.
    """

def binary_cross_entropy_backward(
    grad_output: TensorLike,
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    weight: TensorLike | None = None,
) -> binary_cross_entropy_gradients:
    """``grad_output`` times ``(p - target) / (p * (1 - p))`` and ``log(1 - p) - log(p)``."""

def binary_cross_entropy_with_logits(
    logits: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    weight: TensorLike | None = None,
    pos_weight: TensorLike | None = None,
) -> Tensor:
    """The binary cross-entropy of ``sigmoid(logits)``, without overflow and with all its digits.

    ``pos_weight`` multiplies the part of ``target``, ``weight`` the whole; both broadcast to the
    losses and have no gradient. Derivative in ``logits`` x:
    ``(1 - target) * sigmoid(x) - pos_weight * target * sigmoid(-x)``, so ``sigmoid(x) - target``
    without ``pos_weight``; in ``target``: ``pos_weight * softplus(-x) - softplus(x)``.
    """

def binary_cross_entropy_with_logits_backward(
    grad_output: TensorLike,
    logits: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    weight: TensorLike | None = None,
    pos_weight: TensorLike | None = None,
) -> binary_cross_entropy_with_logits_gradients:
    """``grad_output`` times the derivatives in ``logits`` and ``target``."""

def bitwise_and(a: TensorLike, b: TensorLike) -> Tensor:
    """The bits that both have; of booleans, whether both are true."""

def bitwise_not(x: TensorLike) -> Tensor:
    """Every bit turned over; of booleans, whether it is false."""

def bitwise_or(a: TensorLike, b: TensorLike) -> Tensor:
    """The bits that either has; of booleans, whether either is true."""

def bitwise_xor(a: TensorLike, b: TensorLike) -> Tensor:
    """The bits that exactly one has; of booleans, whether exactly one is true."""

def broadcast_to(x: TensorLike, shape: int | Sequence[int]) -> Tensor:
    """``x`` stretched to ``shape``, as a read-only view. Derivative: the sum over the stretched axes."""

def broadcast_to_backward(grad_output: TensorLike, input_shape: Sequence[int]) -> Tensor:
    """The sum of ``grad_output`` over the axes that were added or stretched."""

def cast(x: TensorLike, dtype: DTypeLike) -> Tensor:
    """The same values in another dtype, as a copy. Derivative: ``grad_output`` in the dtype of ``x``."""

def cast_backward(grad_output: TensorLike, input_dtype: DTypeLike) -> Tensor:
    """``grad_output`` in the dtype that the input had."""

def ceil(x: TensorLike) -> Tensor:
    """The smallest whole number not below ``x``. Derivative: 0."""

def ceil_backward(grad_output: TensorLike) -> Tensor:
    """Zeros: the function is piecewise constant."""

def chain_divide(gradient: TensorLike, denominator: TensorLike) -> Tensor:
    """``gradient / denominator``, and exactly 0 where ``gradient`` is 0.

    Derivative: as for ``divide``.
    """

def chain_divide_backward(
    grad_output: TensorLike, gradient: TensorLike, denominator: TensorLike
) -> chain_divide_gradients:
    """``grad_output / denominator`` and ``-grad_output * gradient / denominator**2``."""

def chain_rule(gradient: TensorLike, derivative: TensorLike) -> Tensor:
    """``gradient * derivative``, and exactly 0 where ``gradient`` is 0.

    Derivative: as for ``multiply``.
    """

def chain_rule_backward(
    grad_output: TensorLike, gradient: TensorLike, derivative: TensorLike
) -> chain_rule_gradients:
    """``grad_output * derivative`` and ``grad_output * gradient``, summed to the inputs' shapes."""

def clip(x: TensorLike, min_val: float | None, max_val: float | None) -> Tensor:
    """``x`` held between ``min_val`` and ``max_val``; None is no bound.

    Where ``min_val`` exceeds ``max_val``, all is ``max_val``. Derivative: 1 inside, bounds included, else 0.
    """

def clip_backward(
    grad_output: TensorLike, x: TensorLike, min_val: float | None, max_val: float | None
) -> Tensor:
    """``grad_output`` where ``x`` is within the bounds, else 0."""

def clone(x: TensorLike) -> Tensor:
    """The same values in memory of their own. Derivative: ``grad_output``."""

def clone_backward(grad_output: TensorLike) -> Tensor:
    """``grad_output`` itself."""

def concatenate(tensors: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """The tensors one after another along ``axis``. Derivative: each gets its part."""

def concatenate_backward(
    grad_output: TensorLike, shapes: Sequence[Sequence[int]], axis: int = 0
) -> tuple[Tensor, ...]:
    """The part of ``grad_output`` that came from each tensor."""

def conv1d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | Literal["same", "valid"] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """``sum(weight[o, c, i] * x[n, c, s * p + d * i]) + bias[o]`` over c and i.

    ``x`` is (batch, in_channels, length), ``weight`` (out_channels, in_channels / groups, length);
    all else is as for :func:`conv2d`. Derivative: as for :func:`conv2d`, with a height of 1.
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
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too."""

def conv2d(
    x: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | Literal["same", "valid"] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """``sum(weight[o, c, i, j] * x[n, c, s * p + d * i, s * q + d * j]) + bias[o]`` over c, i and j.

    ``x`` is (batch, in_channels, height, width), ``weight`` (out_channels, in_channels / groups,
    height, width), ``bias`` (out_channels,) or None. ``padding`` is a number of zeros on each side;
    "same" keeps the size (with one more after than before where it is odd), "valid" is 0. Each of
    ``groups`` connects its share of the input's channels with its share of the output's.
    Derivative: :func:`conv2d_grad_x`, :func:`conv2d_grad_weight`, and the sum of ``grad_output`` for
    each channel.
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
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too."""

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
    summed. Derivative: :func:`conv2d` of ``x`` and ``grad_output``, and :func:`conv2d_grad_x` of
    ``gradient`` and ``grad_output``.
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
    """``grad_output`` seen as the weight of a convolution, whose output ``gradient`` belongs to."""

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
    it came from. Derivative: :func:`conv2d` of ``grad_output`` and ``weight``, and
    :func:`conv2d_grad_weight` of ``gradient`` and ``grad_output``.
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
    """``grad_output`` seen as the input of a convolution, whose output ``gradient`` belongs to."""

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
    """Each element of ``x`` times ``weight``, added to the window it stands for, plus ``bias``.

    ``x`` is (batch, in_channels, length), ``weight`` (in_channels, out_channels / groups, length);
    all else is as for :func:`conv_transpose2d`. Derivative: as for :func:`conv_transpose2d`, with a
    height of 1.
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
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too."""

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
    """Each element of ``x`` times ``weight``, added to the window it stands for, plus ``bias``.

    This is :func:`conv2d_grad_x` as a layer: ``x`` is (batch, in_channels, height, width),
    ``weight`` (in_channels, out_channels / groups, height, width), ``bias`` (out_channels,) or
    None. ``padding`` is taken off each side of the output; ``output_padding`` adds to its far end,
    where a strided convolution drops elements. Derivative: :func:`conv2d` of ``grad_output``,
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
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too."""

def cos(x: TensorLike) -> Tensor:
    """The cosine. Derivative: ``-sin(x)``."""

def cos_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``-grad_output * sin(x)``."""

def cosh(x: TensorLike) -> Tensor:
    """The hyperbolic cosine. Derivative: ``sinh(x)``."""

def cosh_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * sinh(x)``."""

def cosine_embedding_loss(
    x1: TensorLike,
    x2: TensorLike,
    target: TensorLike,
    margin: float = 0.0,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> Tensor:
    """``1 - cos`` where ``target`` is 1, ``max(0, cos - margin)`` where it is -1.

    ``cos`` is the cosine of the angle between ``x1`` and ``x2`` along the last axis. A vector
    shorter than 1e-6 counts as that long, so ``cos`` is 0 for a vector of zeros. Derivative of
    ``cos`` in ``x1``: ``(x2 / |x2| - cos * x1 / |x1|) / |x1|``, and so for ``x2``; 0 where the loss
    is 0. ``target`` has none.
    """

def cosine_embedding_loss_backward(
    grad_output: TensorLike,
    x1: TensorLike,
    x2: TensorLike,
    target: TensorLike,
    margin: float = 0.0,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> cosine_embedding_loss_gradients:
    """``grad_output`` times minus the derivative of ``cos``, or plus it for pairs to be parted."""

def count_nonzero(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """How many elements over ``axis`` are not 0."""

def cross_entropy(
    logits: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    weight: TensorLike | None = None,
    label_smoothing: float = 0.0,
    ignore_index: int = -100,
) -> Tensor:
    """``-sum(weight * target * log_softmax(logits))`` over the classes, without overflow.

    ``target`` is the class of each sample (integers, without the class axis) or a probability for
    each class (floats, in the shape of ``logits``). ``label_smoothing`` mixes it with equal
    probabilities for all classes. The mean over class indices is taken over the weights of the
    samples that are not ignored, NaN if all are; over probabilities, over the samples. Derivative:
    with ``q = weight * target``, in ``logits``: ``softmax(logits) * sum(q) - q``, 0 for what is
    ignored; in probabilities: ``-weight * log_softmax(logits)``; class indices and ``weight`` have
    none.
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
    """

def cumsum(x: TensorLike, axis: int = 0) -> Tensor:
    """The sum of each element and all before it along ``axis``.

    Derivative: the sum of ``grad_output`` at each element and all after it.
    """

def cumsum_backward(grad_output: TensorLike, axis: int = 0) -> Tensor:
    """The running sum of ``grad_output`` from the far end."""

def diag(x: TensorLike, k: int = 0) -> Tensor:
    """A matrix with ``x`` on diagonal ``k``, or, if ``x`` is a matrix, its diagonal ``k``.

    Derivative: ``grad_output``'s diagonal, or a matrix with ``grad_output`` on it.
    """

def diag_backward(grad_output: TensorLike, input_shape: Sequence[int], k: int = 0) -> Tensor:
    """The diagonal of ``grad_output``, or a matrix of ``input_shape`` with it on the diagonal."""

def divide(a: TensorLike, b: TensorLike) -> Tensor:
    """``a / b``. Derivative: ``grad_output / b`` and ``-grad_output * a / b**2``.

    The rule lifts a ``b`` whose magnitude is below ``eps`` to ``eps``, and leaves every other alone.
    """

def divide_backward(
    grad_output: TensorLike, a: TensorLike, b: TensorLike, eps: float = 1e-10
) -> divide_gradients:
    """``grad_output / b`` and ``-grad_output * a / b**2``, with ``b`` lifted to ``eps``."""

def dot(a: TensorLike, b: TensorLike) -> Tensor:
    """``sum(a * b)`` of two vectors. Derivative: ``grad_output * b`` and ``grad_output * a``."""

def dot_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> dot_gradients:
    """``grad_output * b`` and ``grad_output * a``."""

def dropout(
    x: TensorLike, p: float = 0.5, training: bool = True, generator: Generator | None = None
) -> Tensor:
    """Elements of ``x`` set to 0 with probability ``p``, the others divided by ``1 - p``.

    Without ``training`` it is ``x`` itself. The mask comes from ``generator``, or the default one
    (``ex.random``). Derivative: ``1 / (1 - p)`` where the element stayed, else 0.
    """

def dropout_backward(grad_output: TensorLike, mask: TensorLike | None, p: float = 0.5) -> Tensor:
    """``grad_output / (1 - p)`` where ``mask`` is true, else 0."""

def dropout2d(
    x: TensorLike, p: float = 0.5, training: bool = True, generator: Generator | None = None
) -> Tensor:
    """Channels of ``x``, which is (batch, channels, ...), set to 0 with probability ``p``.

    The others are divided by ``1 - p``. Without ``training`` it is ``x`` itself. The mask comes
    from ``generator``, or the default one. Derivative: ``1 / (1 - p)`` where the channel stayed,
    else 0.
    """

def dropout2d_backward(grad_output: TensorLike, mask: TensorLike | None, p: float = 0.5) -> Tensor:
    """``grad_output / (1 - p)`` where ``mask``, a bool for each channel, is true, else 0."""

def einsum(spec: str, *operands: TensorLike) -> Tensor:
    """``einsum(spec, *operands)``: products of labelled axes, summed over labels not in the output.

    ``spec`` has a letter for each axis, a term for each operand and, after ``->``, the output;
    without one the output is every label that stands once, in alphabetical order. ``...`` is for
    axes without a name, which broadcast, as do axes of size 1. A label twice in a term takes the
    diagonal. Operands are multiplied from left to right. Derivative: ``grad_output`` and the other
    operands in the same sum, with the term of the operand as the output.
    """

def einsum_backward(
    grad_output: TensorLike, operands: Sequence[TensorLike], spec: str
) -> tuple[Tensor, ...]:
    """For each operand, ``grad_output`` times the others, summed over labels not its own."""

def elu(x: TensorLike, alpha: float = 1.0) -> Tensor:
    """``x`` where it is positive, else ``alpha * (exp(x) - 1)``.

    Derivative: 1 or ``alpha * exp(x)``, ``alpha`` at 0.
    """

def elu_backward(grad_output: TensorLike, x: TensorLike, alpha: float = 1.0) -> Tensor:
    """``grad_output`` times 1 or ``alpha * exp(x)``."""

def embedding(indices: TensorLike, weight: TensorLike, padding_idx: int | None = None) -> Tensor:
    """The rows of ``weight``, which is (rows, features), at ``indices``.

    Derivative: ``grad_output`` added to each row as often as it was read, in the order of
    ``indices``; 0 for the row ``padding_idx``.
    """

def embedding_backward(
    grad_output: TensorLike,
    indices: TensorLike,
    weight_shape: Sequence[int],
    padding_idx: int | None = None,
) -> Tensor:
    """Zeros of ``weight_shape`` with ``grad_output`` added at ``indices``, but for the padding."""

def equal(a: TensorLike, b: TensorLike) -> Tensor:
    """True where ``a == b``."""

def erf(x: TensorLike) -> Tensor:
    """The error function. Derivative: ``2 / sqrt(pi) * exp(-x**2)``."""

def erf_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * 2 / sqrt(pi) * exp(-x**2)``."""

def exp(x: TensorLike) -> Tensor:
    """``e ** x``. Derivative: ``output``."""

def exp_backward(grad_output: TensorLike, output: TensorLike) -> Tensor:
    """``grad_output * output``."""

def expm1(x: TensorLike) -> Tensor:
    """``e ** x - 1``, with all its digits near 0. Derivative: ``exp(x)``."""

def expm1_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * exp(x)``."""

def flatten(x: TensorLike, start_axis: int = 0, end_axis: int = -1) -> Tensor:
    """The axes from ``start_axis`` to ``end_axis``, both included, as one.

    Derivative: ``grad_output`` in the old shape.
    """

def flatten_backward(grad_output: TensorLike, input_shape: Sequence[int]) -> Tensor:
    """``grad_output`` in ``input_shape``."""

def flip(x: TensorLike, axis: int | Sequence[int] | None = None) -> Tensor:
    """``x`` backwards along ``axis``, or along every axis. Derivative: ``grad_output`` backwards."""

def flip_backward(grad_output: TensorLike, axis: int | Sequence[int] | None = None) -> Tensor:
    """``grad_output`` backwards along ``axis``."""

def floor(x: TensorLike) -> Tensor:
    """The largest whole number not above ``x``. Derivative: 0."""

def floor_backward(grad_output: TensorLike) -> Tensor:
    """Zeros: the function is piecewise constant."""

def floor_divide(a: TensorLike, b: TensorLike) -> Tensor:
    """``floor(a / b)``. Derivative: 0 for both."""

def floor_divide_backward(
    grad_output: TensorLike, a_shape: Sequence[int], b_shape: Sequence[int]
) -> floor_divide_gradients:
    """Zeros: the function is piecewise constant."""

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
    ``alpha * target + (1 - alpha) * (1 - target)``, or 1 with ``alpha=-1``. Derivative: by the
    product rule, for ``logits`` and ``target``, with its digits where the answer is right and sure.
    """

def focal_loss_backward(
    grad_output: TensorLike,
    logits: TensorLike,
    target: TensorLike,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> focal_loss_gradients:
    """``grad_output`` times the derivatives in ``logits`` and ``target``."""

def gather(x: TensorLike, indices: TensorLike, axis: int) -> Tensor:
    """The elements of ``x`` at ``indices`` along ``axis``, line by line.

    This is NumPy's ``take_along_axis``: the other axes broadcast.
    Derivative: ``grad_output`` added where it was read.
    """

def gather_backward(
    grad_output: TensorLike, x_shape: Sequence[int], indices: TensorLike, axis: int
) -> Tensor:
    """Zeros of ``x_shape`` with ``grad_output`` added at ``indices``."""

def gelu(x: TensorLike, approximate: bool = False) -> Tensor:
    """``x * Phi(x)``, with ``Phi`` the standard normal distribution function.

    With ``approximate``, ``Phi(x)`` is ``(1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2``.
    Derivative: ``Phi(x) + x * Phi'(x)``. Both keep their digits where ``Phi`` is tiny, and are 0 at
    -inf.
    """

def gelu_backward(grad_output: TensorLike, x: TensorLike, approximate: bool = False) -> Tensor:
    """``grad_output * (Phi(x) + x * Phi'(x))``."""

def getitem(x: TensorLike, index: Index) -> Tensor:
    """``x[index]`` with all of NumPy's indices: slices, ints, None, ..., arrays of ints or bools.

    Without arrays the result is a view. Derivative: ``grad_output`` added where it was read, as
    often as it was read, and 0 elsewhere.
    """

def getitem_backward(grad_output: TensorLike, input_shape: Sequence[int], index: Index) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` added at ``index``."""

def glu(x: TensorLike, axis: int = -1) -> Tensor:
    """``a * sigmoid(b)`` for ``a`` and ``b`` the two halves of ``x`` along ``axis``.

    Derivative: ``sigmoid(b)`` and ``a * sigmoid(b) * sigmoid(-b)``, joined again.
    """

def glu_backward(grad_output: TensorLike, x: TensorLike, axis: int = -1) -> Tensor:
    """``grad_output`` times ``sigmoid(b)`` and ``a * sigmoid(b) * sigmoid(-b)``, joined again."""

def greater(a: TensorLike, b: TensorLike) -> Tensor:
    """True where ``a > b``."""

def greater_equal(a: TensorLike, b: TensorLike) -> Tensor:
    """True where ``a >= b``."""

def group_norm(
    x: TensorLike,
    num_groups: int,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over groups of channels, sample by sample.

    ``x`` is (batch, channels, ...), its channels in ``num_groups`` equal groups; ``weight`` and
    ``bias`` have a number for each channel. Derivative: as for ``layer_norm``, over a group.
    """

def group_norm_backward(
    grad_output: TensorLike,
    x: TensorLike,
    num_groups: int,
    weight: TensorLike | None = None,
    eps: float = 1e-05,
) -> group_norm_gradients:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last two without them too."""

def gru(
    x: TensorLike,
    h0: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
) -> Tensor:
    """The hidden states of all steps, from ``h = h0`` on; the last one is the last step's.

    With ``r, z, n`` the thirds of ``x @ w_ih.T + b_ih`` and ``u, v, w`` those of
    ``h @ w_hh.T + b_hh``, at each step ``r = sigmoid(r + u)``, ``z = sigmoid(z + v)``,
    ``n = tanh(n + r * w)`` and ``h = (1 - z) * n + z * h``. ``x`` is (steps, batch, inputs), ``h0``
    (batch, hidden), ``w_ih`` (3 * hidden, inputs), ``w_hh`` (3 * hidden, hidden). Derivative: with
    ``d`` and ``e`` the gradients of the two triples, found step by step from the last to the
    first: in ``x``: ``d @ w_ih``; in ``w_ih``: ``d.T @ x``; in ``w_hh``: ``e.T @ h``; in the biases:
    ``sum(d)`` and ``sum(e)``; in ``h0``: what reaches it through the first step.
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
    """The gradients of all inputs, by one walk through time; by hand of both biases too."""

def gru_cell(
    x: TensorLike,
    h: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
) -> Tensor:
    """One step of ``gru``: the new hidden state.

    ``x`` is (batch, inputs), all else as there. Derivative: as for ``gru``, of one step.
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
    """The gradients of all inputs; by hand of both biases too."""

def hard_sigmoid(x: TensorLike) -> Tensor:
    """``min(max(x + 3, 0), 6) / 6``. Derivative: 1/6 between -3 and 3, else 0, also at both."""

def hard_sigmoid_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output / 6`` where ``-3 < x < 3``, else 0."""

def hard_swish(x: TensorLike) -> Tensor:
    """``x * min(max(x + 3, 0), 6) / 6``.

    Derivative: ``(2 * x + 3) / 6`` between -3 and 3, 0 from -3 downwards and 1 from 3 upwards.
    """

def hard_swish_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output`` times 0, ``(2 * x + 3) / 6`` or 1."""

def hard_tanh(x: TensorLike, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """``min(max(x, min_val), max_val)``. Derivative: 1 between the bounds, else 0, also at both.

    It differs from ``clip`` in nothing but the slope at the bounds.
    """

def hard_tanh_backward(
    grad_output: TensorLike, x: TensorLike, min_val: float = -1.0, max_val: float = 1.0
) -> Tensor:
    """``grad_output`` where ``min_val < x < max_val``, else 0."""

def hinge_loss(
    prediction: TensorLike, target: TensorLike, reduction: Literal["mean", "sum", "none"] = "mean"
) -> Tensor:
    """``max(0, 1 - target * prediction)`` for targets of -1 and 1.

    Derivative: ``-target`` and ``-prediction`` where the product is below 1, else 0, also at 1.
    """

def hinge_loss_backward(
    grad_output: TensorLike,
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> hinge_loss_gradients:
    """``-grad_output * target`` and ``-grad_output * prediction`` where the product is below 1."""

def huber_loss(
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    delta: float = 1.0,
) -> Tensor:
    """``d**2 / 2`` where ``d`` is up to ``delta``, else ``delta * (d - delta / 2)``.

    ``d`` is ``|prediction - target|``.
    Derivative: ``prediction - target`` held between ``-delta`` and ``delta``, and its negative for
    ``target``.
    """

def huber_loss_backward(
    grad_output: TensorLike,
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    delta: float = 1.0,
) -> huber_loss_gradients:
    """``grad_output`` times ``prediction - target`` held in [-delta, delta], and its negative."""

def identity(x: TensorLike) -> Tensor:
    """The same values and the same memory, as a new place on the tape. Derivative: ``grad_output``."""

def identity_backward(grad_output: TensorLike) -> Tensor:
    """``grad_output`` itself."""

def index_add(x: TensorLike, updates: TensorLike, index: Index) -> Tensor:
    """A copy of ``x`` with ``updates`` added at ``index``: ``x.at[index].add(updates)``.

    An index named twice is added to twice. Derivative: ``grad_output`` to ``x``,
    ``grad_output[index]`` to ``updates``.
    """

def index_add_backward(
    grad_output: TensorLike, x_shape: Sequence[int], updates_shape: Sequence[int], index: Index
) -> index_add_gradients:
    """``grad_output``, and ``grad_output[index]`` summed to the shape of ``updates``."""

def index_select(x: TensorLike, indices: TensorLike, axis: int) -> Tensor:
    """The slices of ``x`` at the 1-D ``indices`` along ``axis``.

    Derivative: ``grad_output`` added where it was read.
    """

def index_select_backward(
    grad_output: TensorLike, x_shape: Sequence[int], indices: TensorLike, axis: int
) -> Tensor:
    """Zeros of ``x_shape`` with ``grad_output`` added at ``indices`` along ``axis``."""

def index_set(x: TensorLike, updates: TensorLike, index: Index) -> Tensor:
    """A copy of ``x`` with ``updates`` written at ``index``: ``x.at[index].set(updates)``.

    Where an index is named twice the last value stays. Derivative: ``grad_output`` to ``updates``
    where written, if the value stayed, and to ``x`` elsewhere.
    """

def index_set_backward(
    grad_output: TensorLike, x_shape: Sequence[int], updates_shape: Sequence[int], index: Index
) -> index_set_gradients:
    """``grad_output`` with zeros at ``index``, and ``grad_output[index]`` where a value stayed."""

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

    ``x`` is (batch, channels, ...), all else has a number for each channel. With
    ``use_input_stats`` running statistics, if given, move in place as for ``batch_norm``, towards
    the means over the batch; without, they are what is used. Derivative: as for ``batch_norm``,
    over a channel of a sample.
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
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last two without them too."""

def isfinite(x: TensorLike) -> Tensor:
    """True where ``x`` is neither NaN nor infinite."""

def isinf(x: TensorLike) -> Tensor:
    """True where ``x`` is infinite."""

def isnan(x: TensorLike) -> Tensor:
    """True where ``x`` is NaN."""

def kl_div(
    x: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none", "batchmean"] = "mean",
    log_target: bool = False,
) -> Tensor:
    """``target * (log(target) - x)`` for log-probabilities ``x``; 0 where ``target`` is 0.

    With ``log_target`` the target is given as logarithms too. ``"batchmean"`` divides the sum by
    the size of axis 0, if there is one, which gives the divergence; ``"mean"`` divides by the number
    of elements. Derivative: ``-target``, and ``log(target) + 1 - x`` (-inf at 0); with ``log_target``
    ``-exp(target)``, and ``exp(target) * (target + 1 - x)``.
    """

def kl_div_backward(
    grad_output: TensorLike,
    x: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none", "batchmean"] = "mean",
    log_target: bool = False,
) -> kl_div_gradients:
    """``-grad_output * target`` and ``grad_output * (log(target) + 1 - x)``."""

def l1_loss(
    prediction: TensorLike, target: TensorLike, reduction: Literal["mean", "sum", "none"] = "mean"
) -> Tensor:
    """``|prediction - target|``, its mean, or its sum.

    Derivative: the sign of the difference, 0 where there is none, and its negative for ``target``.
    """

def l1_loss_backward(
    grad_output: TensorLike,
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> l1_loss_gradients:
    """``grad_output * sign(prediction - target)`` and its negative."""

def layer_norm(
    x: TensorLike,
    normalized_shape: int | Sequence[int],
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over the last axes, sample by sample.

    ``normalized_shape`` are the sizes of those axes, and the shape of ``weight`` and ``bias``.
    Derivative: in ``x``, with ``u = (x - mean) / sqrt(var + eps)`` and ``g = grad_output * weight``:
    ``(g - mean(g) - u * mean(g * u)) / sqrt(var + eps)``; in ``weight``: ``u``; in ``bias``: 1.
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
    """

def leaky_relu(x: TensorLike, alpha: float = 0.01) -> Tensor:
    """``x`` where it is positive, else ``alpha * x``. Derivative: 1 or ``alpha``, ``alpha`` at 0."""

def leaky_relu_backward(grad_output: TensorLike, x: TensorLike, alpha: float = 0.01) -> Tensor:
    """``grad_output`` where ``x`` is positive, else ``alpha * grad_output``."""

def less(a: TensorLike, b: TensorLike) -> Tensor:
    """True where ``a < b``."""

def less_equal(a: TensorLike, b: TensorLike) -> Tensor:
    """True where ``a <= b``."""

def lift(x: TensorLike, least: float) -> Tensor:
    """``x``, with a magnitude below ``least`` raised to ``least`` (sign kept).

    Derivative: ``grad_output``, 0 where ``x`` was raised.
    """

def lift_backward(grad_output: TensorLike, x: TensorLike, least: float) -> Tensor:
    """``grad_output`` where ``x`` was not raised, else 0."""

def linear(x: TensorLike, weight: TensorLike, bias: TensorLike | None = None) -> Tensor:
    """``x @ weight.T + bias``: ``x`` is (..., in), ``weight`` (out, in), ``bias`` (out,) or None.

    Derivative: ``grad_output @ weight``, ``grad_output.T @ x`` and the sum of ``grad_output`` over
    all axes but the last.
    """

def linear_backward(grad_output: TensorLike, x: TensorLike, weight: TensorLike) -> linear_gradients:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last comes without one too."""

def log(x: TensorLike) -> Tensor:
    """The natural logarithm. Derivative: ``1 / x``, with ``x`` lifted to ``eps``."""

def log_backward(grad_output: TensorLike, x: TensorLike, eps: float = 1e-10) -> Tensor:
    """``grad_output / x``."""

def log10(x: TensorLike) -> Tensor:
    """The logarithm to base 10. Derivative: ``1 / (x * ln(10))``, denominator lifted to ``eps``."""

def log10_backward(grad_output: TensorLike, x: TensorLike, eps: float = 1e-10) -> Tensor:
    """``grad_output / (x * ln(10))``."""

def log1p(x: TensorLike) -> Tensor:
    """``ln(1 + x)``, with all its digits near 0. Derivative: ``1 / (1 + x)``, infinite at -1."""

def log1p_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output / (1 + x)``."""

def log2(x: TensorLike) -> Tensor:
    """The logarithm to base 2. Derivative: ``1 / (x * ln(2))``, denominator lifted to ``eps``."""

def log2_backward(grad_output: TensorLike, x: TensorLike, eps: float = 1e-10) -> Tensor:
    """``grad_output / (x * ln(2))``."""

def log_softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """``x - log(sum(exp(x)))`` over ``axis``, without overflow.

    Derivative: ``grad_output - exp(output) * sum(grad_output)``, exactly 0 for a single element.
    A row of -inf alone gives NaN; an axis of size 0 gives an empty result.
    """

def log_softmax_backward(grad_output: TensorLike, output: TensorLike, axis: int = -1) -> Tensor:
    """``grad_output - exp(output) * sum(grad_output)``."""

def logical_and(a: TensorLike, b: TensorLike) -> Tensor:
    """True where both are true (not 0)."""

def logical_not(x: TensorLike) -> Tensor:
    """True where ``x`` is false (0)."""

def logical_or(a: TensorLike, b: TensorLike) -> Tensor:
    """True where either is true (not 0)."""

def logical_xor(a: TensorLike, b: TensorLike) -> Tensor:
    """True where exactly one is true (not 0)."""

def logsumexp(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """``log(sum(exp(x)))`` over ``axis`` without overflow. Derivative: ``exp(x - output)``.

    -inf over nothing and over elements that are all -inf, where the derivative is 0.
    """

def logsumexp_backward(
    grad_output: TensorLike,
    x: TensorLike,
    output: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output * exp(x - output)``, the softmax of ``x``; 0 where all elements are -inf."""

def lstm(
    x: TensorLike,
    h0: TensorLike,
    c0: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
) -> tuple[Tensor, Tensor]:
    """The hidden states of all steps and the last cell, from ``h = h0`` and ``c = c0`` on.

    At each step ``i, f, g, o`` are the quarters of ``x @ w_ih.T + b_ih + h @ w_hh.T + b_hh``; then
    ``c = sigmoid(f) * c + sigmoid(i) * tanh(g)`` and ``h = sigmoid(o) * tanh(c)``. ``x`` is (steps,
    batch, inputs), the states are (batch, hidden), ``w_ih`` (4 * hidden, inputs), ``w_hh``
    (4 * hidden, hidden); the hidden states are (steps, batch, hidden). Derivative: with ``d`` the
    gradient of those quarters, found step by step from the last to the first: in ``x``:
    ``d @ w_ih``; in ``w_ih``: ``d.T @ x``; in ``w_hh``: ``d.T @ h``; in the biases: ``sum(d)``; in
    the states: what reaches them through the first step.
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
    """The gradients of all inputs, by one walk through time; by hand of both biases too."""

def lstm_cell(
    x: TensorLike,
    h: TensorLike,
    c: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
) -> tuple[Tensor, Tensor]:
    """One step of ``lstm``: the new hidden state and the new cell.

    ``x`` is (batch, inputs), all else as there. Derivative: as for ``lstm``, of one step.
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
    """The gradients of all inputs; by hand of both biases too."""

def masked_fill(x: TensorLike, mask: TensorLike, value: float) -> Tensor:
    """``value`` where ``mask`` is true, else ``x``. Derivative: ``grad_output``, 0 where filled."""

def masked_fill_backward(
    grad_output: TensorLike, x_shape: Sequence[int], mask: TensorLike
) -> Tensor:
    """``grad_output`` with zeros where ``mask`` is true, summed to ``x_shape``."""

def matmul(a: TensorLike, b: TensorLike) -> Tensor:
    """``a @ b``. Derivative: ``grad_output @ b.T`` and ``a.T @ grad_output``, summed over batches.

    A vector on the left is a row, on the right a column, whose axis is gone from the result; axes
    before the last two are a batch and broadcast.
    """

def matmul_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> matmul_gradients:
    """``grad_output @ b.T`` and ``a.T @ grad_output``, with vectors seen as a row and a column."""

def max_pool1d(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest element of each window of ``x`` (batch, channels, length), as :func:`max_pool2d`.

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
    """``grad_output`` to the first of the largest elements of each window."""

def max_pool2d(
    x: TensorLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """The largest element of each window of ``x`` (batch, channels, height, width).

    The batch axis may be missing, here and in every pooling and convolution. ``stride`` is
    ``kernel_size`` if not given. Windows may begin in the ``padding`` but see no element there; with
    ``ceil_mode`` the last may end behind it. NaN counts as largest. Derivative: ``grad_output`` to
    the largest element of its window, the first of several, row by row.
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
    """``grad_output`` to the first of the largest elements of each window."""

def max_reduce(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """The largest element over ``axis``, NaN if there is one (``max`` is the same function).

    Derivative: ``grad_output`` to the largest element; several that tie share it equally.
    """

def max_reduce_backward(
    grad_output: TensorLike,
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output`` to the largest elements, shared equally among those that tie."""

def maximum(a: TensorLike, b: TensorLike) -> Tensor:
    """The larger of ``a`` and ``b``; NaN if either is. Derivative: to the larger, a tie is shared equally."""

def maximum_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> maximum_gradients:
    """``grad_output`` to the larger input, half each where they tie."""

def mean(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """The mean over ``axis``, NaN over nothing. Derivative: ``grad_output / n`` to every element."""

def mean_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output / n`` broadcast to ``input_shape``."""

def min_reduce(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """The smallest element over ``axis``, NaN if there is one (``min`` is the same function).

    Derivative: ``grad_output`` to the smallest element; several that tie share it equally.
    """

def min_reduce_backward(
    grad_output: TensorLike,
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output`` to the smallest elements, shared equally among those that tie."""

def minimum(a: TensorLike, b: TensorLike) -> Tensor:
    """The smaller of ``a`` and ``b``; NaN if either is. Derivative: to the smaller, a tie is shared."""

def minimum_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> minimum_gradients:
    """``grad_output`` to the smaller input, half each where they tie."""

def mish(x: TensorLike) -> Tensor:
    """``x * tanh(softplus(x))``; 0 at -inf.

    Derivative: ``gate + x * (1 - gate**2) * sigmoid(x)`` with ``gate`` the tanh.
    """

def mish_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * (gate + x * (1 - gate**2) * sigmoid(x))``."""

def modulo(a: TensorLike, b: TensorLike) -> Tensor:
    """The remainder of ``a / b`` with the sign of ``b``. Derivative: 1 and ``-floor(a / b)``."""

def modulo_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> modulo_gradients:
    """``grad_output`` and ``-grad_output * floor(a / b)``."""

def moveaxis(
    x: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]
) -> Tensor:
    """``x`` with axes moved from ``source`` to ``destination``. Derivative: the axes moved back."""

def moveaxis_backward(
    grad_output: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]
) -> Tensor:
    """``grad_output`` with the axes moved back."""

def mse_loss(
    prediction: TensorLike, target: TensorLike, reduction: Literal["mean", "sum", "none"] = "mean"
) -> Tensor:
    """``(prediction - target)**2``, its mean, or its sum.

    Derivative: ``2 * (prediction - target)``, divided by the number of elements for a mean, and the
    negative of that for ``target``.
    """

def mse_loss_backward(
    grad_output: TensorLike,
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> mse_loss_gradients:
    """``2 * grad_output * (prediction - target)`` and its negative."""

def multiply(a: TensorLike, b: TensorLike) -> Tensor:
    """``a * b``. Derivative: ``grad_output * b`` and ``grad_output * a``."""

def multiply_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> multiply_gradients:
    """``grad_output * b`` and ``grad_output * a``, summed to the inputs' shapes."""

def negative(x: TensorLike) -> Tensor:
    """``-x``. Derivative: -1."""

def negative_backward(grad_output: TensorLike) -> Tensor:
    """``-grad_output``."""

def nll_loss(
    x: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    weight: TensorLike | None = None,
    ignore_index: int = -100,
) -> Tensor:
    """``-weight[target] * x[target]`` for log-probabilities ``x`` and the class of each sample.

    The mean is taken over the weights of the samples that are not ignored; NaN if all are.
    Derivative: ``-weight[target]`` at the target, 0 elsewhere and for what is ignored; for a mean
    divided by the sum of those weights.
    """

def nll_loss_backward(
    grad_output: TensorLike,
    x_shape: Sequence[int],
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    weight: TensorLike | None = None,
    ignore_index: int = -100,
) -> Tensor:
    """``-grad_output * weight[target]`` at the target, 0 elsewhere."""

def norm(
    x: TensorLike, ord: float = 2, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Tensor:
    """``sum(abs(x)**ord)**(1 / ord)`` over ``axis``, the largest magnitude for ``ord=inf``.

    Derivative: ``sign(x) * (abs(x) / output)**(ord - 1)``; 0 at elements that are 0, and so all
    over a vector of zeros; for ``ord=inf`` the sign, shared equally among the largest magnitudes.
    """

def norm_backward(
    grad_output: TensorLike,
    x: TensorLike,
    output: TensorLike,
    ord: float = 2,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output * sign(x) * (abs(x) / output)**(ord - 1)``, 0 where ``x`` is 0."""

def normal_cdf(x: TensorLike) -> Tensor:
    """The standard normal distribution function ``(1 + erf(x / sqrt(2))) / 2``.

    It keeps its digits in the lower tail. Derivative: ``normal_pdf(x)``.
    """

def normal_cdf_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * normal_pdf(x)``."""

def normal_pdf(x: TensorLike) -> Tensor:
    """The standard normal density ``exp(-x**2 / 2) / sqrt(2 * pi)``. Derivative: ``-x * output``."""

def normal_pdf_backward(grad_output: TensorLike, x: TensorLike, output: TensorLike) -> Tensor:
    """``-grad_output * x * output``, and 0 where ``output`` is, even at infinity."""

def not_equal(a: TensorLike, b: TensorLike) -> Tensor:
    """True where ``a != b``."""

def outer(a: TensorLike, b: TensorLike) -> Tensor:
    """``a[i] * b[j]`` for all i and j. Derivative: ``grad_output @ b`` and ``a @ grad_output``."""

def outer_backward(grad_output: TensorLike, a: TensorLike, b: TensorLike) -> outer_gradients:
    """``grad_output @ b`` and ``a @ grad_output``."""

def pad(
    x: TensorLike,
    pad_width: int | Sequence[int] | Sequence[Sequence[int]],
    mode: Literal["constant", "reflect", "symmetric", "edge", "replicate", "wrap", "circular"] = "constant",
    value: float = 0.0,
) -> Tensor:
    """``x`` with elements added before and after each axis; ``pad_width`` is NumPy's.

    ``mode`` is "constant" (``value``), "reflect" (the edge not repeated), "symmetric" (the edge
    repeated), "edge" or "replicate" (the last element), "wrap" or "circular" (from the other end).
    Derivative: ``grad_output`` without what was added; where that is a copy, added to its original.
    """

def pad_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    pad_width: int | Sequence[int] | Sequence[Sequence[int]],
    mode: Literal["constant", "reflect", "symmetric", "edge", "replicate", "wrap", "circular"] = "constant",
) -> Tensor:
    """``grad_output`` without what was added, or with it added to what it is a copy of."""

def permute(x: TensorLike, axes: Sequence[int]) -> Tensor:
    """``x`` with its axes in the order ``axes``. Derivative: the axes put back."""

def permute_backward(grad_output: TensorLike, axes: Sequence[int]) -> Tensor:
    """``grad_output`` with its axes put back."""

def place(x: TensorLike, shape: int | Sequence[int], index: Index) -> Tensor:
    """Zeros of ``shape`` with ``x`` added at ``index``. Derivative: ``grad_output[index]``."""

def place_backward(
    grad_output: TensorLike, input_shape: Sequence[int], shape: int | Sequence[int], index: Index
) -> Tensor:
    """``grad_output[index]``."""

def power(a: TensorLike, b: TensorLike) -> Tensor:
    """``a ** b`` for any real exponent. Derivative: ``b * a**(b - 1)`` and ``a**b * ln(a)``.

    The derivative in ``b`` is 0 where ``a`` is 0 and ``b`` is not negative, -inf where ``a`` is 0
    and ``b`` is negative, and NaN where ``a`` is negative. The rule lifts an ``a`` whose magnitude is
    below ``eps`` to ``eps`` where ``b < 1``, as only there it is a denominator.
    """

def power_backward(
    grad_output: TensorLike, a: TensorLike, b: TensorLike, eps: float = 1e-10
) -> power_gradients:
    """``b * a**(b - 1)`` and ``a**b * ln(a)``, times ``grad_output``."""

def prelu(x: TensorLike, alpha: TensorLike) -> Tensor:
    """``x`` where it is positive, else ``alpha * x``; one ``alpha``, or one per channel (axis 1).

    Derivative in ``x``: 1 or ``alpha``, ``alpha`` at 0. In ``alpha``: ``min(x, 0)``.
    """

def prelu_backward(grad_output: TensorLike, x: TensorLike, alpha: TensorLike) -> prelu_gradients:
    """``grad_output`` times 1 or ``alpha``, and times ``min(x, 0)``, summed over all but alpha."""

def prod(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """The product over ``axis``, 1 over nothing. Derivative: the product of all the other elements.

    It is never found by division, so one zero, or two, are exact in every order.
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
    """

def ravel(x: TensorLike) -> Tensor:
    """All elements along one axis. Derivative: ``grad_output`` in the old shape."""

def ravel_backward(grad_output: TensorLike, input_shape: Sequence[int]) -> Tensor:
    """``grad_output`` in ``input_shape``."""

def reciprocal(x: TensorLike) -> Tensor:
    """``1 / x``. Derivative: ``-output**2``, and infinite at 0."""

def reciprocal_backward(grad_output: TensorLike, output: TensorLike) -> Tensor:
    """``-grad_output * output**2``."""

def reduce_to_shape(grad: TensorLike, shape: Sequence[int]) -> Tensor:
    """Sum ``grad`` over the axes that broadcasting from ``shape`` added or stretched.

    Derivative: ``grad_output`` broadcast back.
    """

def reduce_to_shape_backward(grad_output: TensorLike, input_shape: Sequence[int]) -> Tensor:
    """``grad_output`` broadcast to the shape of the input."""

def relu(x: TensorLike) -> Tensor:
    """``max(x, 0)``. Derivative: 1 where ``x`` is positive, else 0, also at 0."""

def relu_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output`` where ``x`` is positive, else 0."""

def relu6(x: TensorLike) -> Tensor:
    """``min(max(x, 0), 6)``. Derivative: 1 between 0 and 6, else 0, also at both."""

def relu6_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output`` where ``0 < x < 6``, else 0."""

def repeat(x: TensorLike, repeats: int | Sequence[int], axis: int | None = None) -> Tensor:
    """Each element along ``axis``, or of the flattened ``x``, ``repeats`` times in a row.

    ``repeats`` may give a number for each element. Derivative: the sum over an element's copies.
    """

def repeat_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    repeats: int | Sequence[int],
    axis: int | None = None,
) -> Tensor:
    """The sum of ``grad_output`` over the copies of each element."""

def reshape(x: TensorLike, shape: int | Sequence[int]) -> Tensor:
    """The elements in another shape; one size may be -1. Derivative: back to the old shape."""

def reshape_backward(grad_output: TensorLike, input_shape: Sequence[int]) -> Tensor:
    """``grad_output`` in ``input_shape``."""

def rms_norm(
    x: TensorLike,
    normalized_shape: int | Sequence[int],
    weight: TensorLike | None = None,
    eps: float | None = None,
) -> Tensor:
    """``x / sqrt(mean(x**2) + eps) * weight`` over the last axes, sample by sample.

    ``normalized_shape`` are the sizes of those axes, and the shape of ``weight``. Without ``eps``
    it is the distance from 1 to the next number of the dtype. Derivative: in ``x``, with
    ``u = x / sqrt(mean(x**2) + eps)`` and ``g = grad_output * weight``:
    ``(g - u * mean(g * u)) / sqrt(mean(x**2) + eps)``; in ``weight``: ``u``.
    """

def rms_norm_backward(
    grad_output: TensorLike,
    x: TensorLike,
    normalized_shape: int | Sequence[int],
    weight: TensorLike | None = None,
    eps: float | None = None,
) -> rms_norm_gradients:
    """The gradients of ``x`` and ``weight``; by hand the last without one too."""

def rnn(
    x: TensorLike,
    h0: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
    nonlinearity: Literal["tanh", "relu"] = "tanh",
) -> Tensor:
    """``h = tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)``, step by step, from ``h = h0`` on.

    ``x`` is (steps, batch, inputs), ``h0`` (batch, hidden), ``w_ih`` (hidden, inputs), ``w_hh``
    (hidden, hidden); the output is (steps, batch, hidden), its last step the last state. The
    nonlinearity is "tanh" or "relu". Derivative: with ``d`` the gradient before the nonlinearity,
    ``(grad_output + d_next @ w_hh) * (1 - output**2)``: in ``x``: ``d @ w_ih``; in ``w_ih``:
    ``d.T @ x``; in ``w_hh``: ``d.T @ h``; in the biases: ``sum(d)``; in ``h0``: ``d @ w_hh`` of the
    first step.
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
    """The gradients of all inputs, by one walk through time; by hand of both biases too."""

def rnn_cell(
    x: TensorLike,
    h: TensorLike,
    w_ih: TensorLike,
    w_hh: TensorLike,
    b_ih: TensorLike | None = None,
    b_hh: TensorLike | None = None,
    nonlinearity: Literal["tanh", "relu"] = "tanh",
) -> Tensor:
    """``tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)``: one step of ``rnn``, or with "relu".

    Derivative: as for ``rnn``, of one step.
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
    """The gradients of all inputs; by hand of both biases too."""

def roll(
    x: TensorLike, shift: int | Sequence[int], axis: int | Sequence[int] | None = None
) -> Tensor:
    """The elements moved ``shift`` places along ``axis``, round from the end to the beginning.

    With ``axis=None`` the flattened tensor is rolled. Derivative: ``grad_output`` rolled back.
    """

def roll_backward(
    grad_output: TensorLike, shift: int | Sequence[int], axis: int | Sequence[int] | None = None
) -> Tensor:
    """``grad_output`` rolled back."""

def round(x: TensorLike) -> Tensor:
    """The nearest whole number, halves to the even one. Derivative: 0."""

def round_backward(grad_output: TensorLike) -> Tensor:
    """Zeros: the function is piecewise constant."""

def rsqrt(x: TensorLike) -> Tensor:
    """``1 / sqrt(x)``. Derivative: ``-output**3 / 2``, infinite at 0."""

def rsqrt_backward(grad_output: TensorLike, output: TensorLike) -> Tensor:
    """``-grad_output * output**3 / 2``."""

def scaled_dot_product_attention(
    q: TensorLike,
    k: TensorLike,
    v: TensorLike,
    mask: TensorLike | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """``softmax(q @ k.T * scale + mask) @ v`` for queries, keys and values of (..., length, features).

    ``scale`` is ``1 / sqrt(features)`` if it is not given. A mask of bools is true where a query
    may see a key, one of floats is added; with ``causal`` query i sees the keys up to i. A query
    that sees no key gives 0, with a derivative of 0 (as in PyTorch). Derivative: with weights
    ``P = softmax(...)`` and ``dS = P * (dP - sum(dP * P))``, where ``dP = grad_output @ v.T``: in
    ``q``: ``dS @ k * scale``; in ``k``: ``dS.T @ q * scale``; in ``v``: ``P.T @ grad_output``; in
    a mask of floats: ``dS``.
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
) -> scaled_dot_product_attention_gradients:
    """``dS @ k * scale``, ``dS.T @ q * scale``, ``P.T @ grad_output``, and ``dS`` of a mask of floats.

    ``logarithms`` are those of the sums that divide the weights, if they are known.
    """

def scatter_add(x: TensorLike, indices: TensorLike, updates: TensorLike, axis: int) -> Tensor:
    """A copy of ``x`` with ``updates`` added at ``indices`` along ``axis``, line by line.

    Derivative: ``grad_output`` to ``x``, ``grad_output`` read at ``indices`` to ``updates``.
    """

def scatter_add_backward(
    grad_output: TensorLike,
    x_shape: Sequence[int],
    indices: TensorLike,
    updates_shape: Sequence[int],
    axis: int,
) -> scatter_add_gradients:
    """``grad_output``, and ``grad_output`` read at ``indices``."""

def selu(x: TensorLike) -> Tensor:
    """``scale * elu(x, alpha)`` with ``scale`` 1.0507 and ``alpha`` 1.6733.

    Derivative: ``scale`` or ``scale * alpha * exp(x)``, the latter at 0.
    """

def selu_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * scale`` times 1 or ``alpha * exp(x)``."""

def sigmoid(x: TensorLike) -> Tensor:
    """``1 / (1 + exp(-x))``, without overflow. Derivative: ``output * (1 - output)``."""

def sigmoid_backward(grad_output: TensorLike, output: TensorLike) -> Tensor:
    """``grad_output * output * (1 - output)``."""

def sign(x: TensorLike) -> Tensor:
    """-1, 0 or 1: the sign of ``x``, NaN for NaN. Derivative: 0."""

def sign_backward(grad_output: TensorLike) -> Tensor:
    """Zeros: the function is piecewise constant."""

def silu(x: TensorLike) -> Tensor:
    """``x * sigmoid(x)``, also called swish; 0 at -inf.

    Derivative: ``sigmoid(x) * (1 + x * sigmoid(-x))``.
    """

def silu_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * sigmoid(x) * (1 + x * sigmoid(-x))``."""

def sin(x: TensorLike) -> Tensor:
    """The sine. Derivative: ``cos(x)``."""

def sin_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * cos(x)``."""

def sinh(x: TensorLike) -> Tensor:
    """The hyperbolic sine. Derivative: ``cosh(x)``."""

def sinh_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output * cosh(x)``."""

def smooth_l1_loss(
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    beta: float = 1.0,
) -> Tensor:
    """``d**2 / (2 * beta)`` where ``d`` is below ``beta``, else ``d - beta / 2``.

    ``d`` is ``|prediction - target|``.
    Derivative: ``(prediction - target) / beta`` held between -1 and 1, and its negative for
    ``target``. With ``beta=0`` it is ``l1_loss``.
    """

def smooth_l1_loss_backward(
    grad_output: TensorLike,
    prediction: TensorLike,
    target: TensorLike,
    reduction: Literal["mean", "sum", "none"] = "mean",
    beta: float = 1.0,
) -> smooth_l1_loss_gradients:
    """``grad_output`` times ``(prediction - target) / beta`` held in [-1, 1], and its negative."""

def softmax(x: TensorLike, axis: int = -1) -> Tensor:
    """``exp(x)`` divided by its sum over ``axis``, without overflow.

    Derivative: ``output * (grad_output - sum(grad_output * output))``, exactly 0 for one element.
    A row of -inf alone gives NaN, as 0 / 0; an axis of size 0 gives an empty result.
    """

def softmax_backward(grad_output: TensorLike, output: TensorLike, axis: int = -1) -> Tensor:
    """``output * (grad_output - sum(grad_output * output))``."""

def softplus(x: TensorLike, beta: float = 1.0) -> Tensor:
    """``log(1 + exp(beta * x)) / beta``, without overflow and so without a threshold.

    Derivative: ``sigmoid(beta * x)``.
    """

def softplus_backward(grad_output: TensorLike, x: TensorLike, beta: float = 1.0) -> Tensor:
    """``grad_output * sigmoid(beta * x)``."""

def softsign(x: TensorLike) -> Tensor:
    """``x / (1 + |x|)``, -1 and 1 at the infinities. Derivative: ``1 / (1 + |x|)**2``."""

def softsign_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``grad_output / (1 + |x|)**2``."""

def sort(x: TensorLike, axis: int = -1, descending: bool = False) -> Tensor:
    """The elements of ``x`` in order along ``axis``. Derivative: to where each element came from.

    Of equal elements the first comes first, also in descending order.
    """

def sort_backward(
    grad_output: TensorLike, x: TensorLike, axis: int = -1, descending: bool = False
) -> Tensor:
    """``grad_output`` put back to where each element came from."""

def split(
    x: TensorLike, indices_or_sections: int | Sequence[int], axis: int = 0
) -> tuple[Tensor, ...]:
    """``x`` cut along ``axis`` into equal sections, or before each index; the parts are views.

    Derivative: the gradients of the parts, joined.
    """

def split_backward(grad_outputs: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """The gradients of the parts, joined along ``axis``."""

def sqrt(x: TensorLike) -> Tensor:
    """The square root. Derivative: ``1 / (2 * output)``, denominator lifted to ``eps``."""

def sqrt_backward(grad_output: TensorLike, output: TensorLike, eps: float = 1e-10) -> Tensor:
    """``grad_output / (2 * output)``."""

def square(x: TensorLike) -> Tensor:
    """``x * x``. Derivative: ``2 * x``."""

def square_backward(grad_output: TensorLike, x: TensorLike) -> Tensor:
    """``2 * grad_output * x``."""

def squeeze(x: TensorLike, axis: int | Sequence[int] | None = None) -> Tensor:
    """``x`` without ``axis``, which must have size 1; None removes every such axis.

    Derivative: ``grad_output`` in the old shape.
    """

def squeeze_backward(grad_output: TensorLike, input_shape: Sequence[int]) -> Tensor:
    """``grad_output`` in ``input_shape``."""

def stack(tensors: Sequence[TensorLike], axis: int = 0) -> Tensor:
    """The tensors side by side along a new axis. Derivative: each gets its slice."""

def stack_backward(grad_output: TensorLike, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices of ``grad_output`` along ``axis``."""

def std(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False, ddof: float = 0
) -> Tensor:
    """``sqrt(var(x))`` over ``axis``. Derivative: ``(x - mean) / ((n - ddof) * output)``, 0 at 0."""

def std_backward(
    grad_output: TensorLike,
    x: TensorLike,
    output: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    ddof: float = 0,
) -> Tensor:
    """``grad_output * (x - mean) / ((n - ddof) * output)``, 0 where the output is 0."""

def subtract(a: TensorLike, b: TensorLike) -> Tensor:
    """``a - b``. Derivative: ``grad_output`` and ``-grad_output``."""

def subtract_backward(
    grad_output: TensorLike, a_shape: Sequence[int], b_shape: Sequence[int]
) -> subtract_gradients:
    """``grad_output`` and ``-grad_output``, summed to the inputs' shapes."""

def sum(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """The sum over ``axis``, 0 over nothing. Derivative: ``grad_output`` to every element."""

def sum_backward(
    grad_output: TensorLike,
    input_shape: Sequence[int],
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output`` broadcast to ``input_shape``."""

def swapaxes(x: TensorLike, axis1: int, axis2: int) -> Tensor:
    """``x`` with two axes exchanged. Derivative: the axes exchanged again."""

def swapaxes_backward(grad_output: TensorLike, axis1: int, axis2: int) -> Tensor:
    """``grad_output`` with the axes exchanged again."""

def take(x: TensorLike, indices: TensorLike, axis: int | None = None) -> Tensor:
    """The slices of ``x`` at ``indices`` along ``axis``, or the elements of the flattened ``x``.

    Derivative: ``grad_output`` added where it was read.
    """

def take_backward(
    grad_output: TensorLike, x_shape: Sequence[int], indices: TensorLike, axis: int | None = None
) -> Tensor:
    """Zeros of ``x_shape`` with ``grad_output`` added at ``indices`` along ``axis``."""

def tan(x: TensorLike) -> Tensor:
    """The tangent. Derivative: ``1 + output**2``."""

def tan_backward(grad_output: TensorLike, output: TensorLike) -> Tensor:
    """``grad_output * (1 + output**2)``."""

def tanh(x: TensorLike) -> Tensor:
    """The hyperbolic tangent. Derivative: ``1 - output**2``."""

def tanh_backward(grad_output: TensorLike, output: TensorLike) -> Tensor:
    """``grad_output * (1 - output**2)``."""

def tensordot(
    a: TensorLike, b: TensorLike, axes: int | Sequence[int | Sequence[int]] = 2
) -> Tensor:
    """The products of ``a`` and ``b`` summed over pairs of axes.

    ``axes`` is a pair: the axes of ``a``, and the axes of ``b`` they meet; or a number n, for the
    last n of ``a`` and the first n of ``b``. The result has the other axes of ``a``, then those of
    ``b``. Derivative: ``grad_output`` times the other input, summed over that input's own axes.
    """

def tensordot_backward(
    grad_output: TensorLike,
    a: TensorLike,
    b: TensorLike,
    axes: int | Sequence[int | Sequence[int]] = 2,
) -> tensordot_gradients:
    """``grad_output`` times ``b`` summed over the free axes of ``b``, and the same with ``a``."""

def tile(x: TensorLike, reps: int | Sequence[int]) -> Tensor:
    """``x`` laid side by side ``reps`` times along each axis. Derivative: the sum over the copies."""

def tile_backward(
    grad_output: TensorLike, input_shape: Sequence[int], reps: int | Sequence[int]
) -> Tensor:
    """The sum of ``grad_output`` over the copies."""

def topk(x: TensorLike, k: int, axis: int = -1, largest: bool = True) -> tuple[Tensor, Tensor]:
    """The ``k`` largest elements along ``axis``, largest first, and their indices.

    With ``largest=False`` the smallest, smallest first. Of equal elements the first is taken.
    Derivative: ``grad_output`` (of the values) to the elements taken, 0 to the others.
    """

def topk_backward(
    grad_output: TensorLike, input_shape: Sequence[int], indices: TensorLike, axis: int = -1
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` at ``indices``."""

def transpose(x: TensorLike, axes: Sequence[int] | None = None) -> Tensor:
    """``x`` with its axes in the order ``axes``; None reverses them. Derivative: the axes put back."""

def transpose_backward(grad_output: TensorLike, axes: Sequence[int] | None = None) -> Tensor:
    """``grad_output`` with its axes put back."""

def tril(x: TensorLike, k: int = 0) -> Tensor:
    """``x`` with zeros above diagonal ``k`` of its last two axes. Derivative: the same part."""

def tril_backward(grad_output: TensorLike, k: int = 0) -> Tensor:
    """``grad_output`` with zeros above diagonal ``k``."""

def triplet_loss(
    anchor: TensorLike,
    positive: TensorLike,
    negative: TensorLike,
    margin: float = 1.0,
    p: float = 2.0,
    swap: bool = False,
    reduction: Literal["mean", "sum", "none"] = "mean",
) -> Tensor:
    """``max(0, |anchor - positive| - |anchor - negative| + margin)``.

    The distances are p-norms along the last axis. With ``swap``, ``|positive - negative|``
    stands for the second one where it is smaller (Balntas et al. 2016). Derivative: the directions
    of the differences where the loss is positive, else 0; 0 for a distance of 0; a tie of the two
    second distances shares it equally. No epsilon is added to a difference, unlike in PyTorch.
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
    """``grad_output`` along the differences, where the loss is positive."""

def triu(x: TensorLike, k: int = 0) -> Tensor:
    """``x`` with zeros below diagonal ``k`` of its last two axes. Derivative: the same part."""

def triu_backward(grad_output: TensorLike, k: int = 0) -> Tensor:
    """``grad_output`` with zeros below diagonal ``k``."""

def trunc(x: TensorLike) -> Tensor:
    """``x`` without its fraction. Derivative: 0."""

def trunc_backward(grad_output: TensorLike) -> Tensor:
    """Zeros: the function is piecewise constant."""

def unsqueeze(x: TensorLike, axis: int | Sequence[int]) -> Tensor:
    """``x`` with new axes of size 1, at ``axis`` of the result. Derivative: the same without them."""

def unsqueeze_backward(grad_output: TensorLike, input_shape: Sequence[int]) -> Tensor:
    """``grad_output`` in ``input_shape``."""

def var(
    x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False, ddof: float = 0
) -> Tensor:
    """``sum((x - mean)**2) / (n - ddof)`` over ``axis``.

    Derivative: ``2 * (x - mean) / (n - ddof)``. NaN over nothing, and of a single element with
    ``ddof=1``, as in NumPy.
    """

def var_backward(
    grad_output: TensorLike,
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    ddof: float = 0,
) -> Tensor:
    """``grad_output * 2 * (x - mean) / (n - ddof)``."""

def where(cond: TensorLike, a: TensorLike, b: TensorLike) -> Tensor:
    """``a`` where ``cond`` is true, else ``b``. Derivative: ``grad_output`` to the one that was taken."""

def where_backward(
    grad_output: TensorLike, cond: TensorLike, a_shape: Sequence[int], b_shape: Sequence[int]
) -> where_gradients:
    """``grad_output`` to the input that was taken, zeros to the other, summed to their shapes."""

def expand_dims(x: TensorLike, axis: int | Sequence[int]) -> Tensor:
    """``x`` with new axes of size 1, at ``axis`` of the result. Derivative: the same without them."""

def expand_dims_backward(grad_output: TensorLike, input_shape: Sequence[int]) -> Tensor:
    """``grad_output`` in ``input_shape``."""

def max(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """The largest element over ``axis``, NaN if there is one (``max`` is the same function).

    Derivative: ``grad_output`` to the largest element; several that tie share it equally.
    """

def max_backward(
    grad_output: TensorLike,
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output`` to the largest elements, shared equally among those that tie."""

def min(x: TensorLike, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
    """The smallest element over ``axis``, NaN if there is one (``min`` is the same function).

    Derivative: ``grad_output`` to the smallest element; several that tie share it equally.
    """

def min_backward(
    grad_output: TensorLike,
    x: TensorLike,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output`` to the smallest elements, shared equally among those that tie."""
