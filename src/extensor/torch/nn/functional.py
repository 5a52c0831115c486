"""``torch.nn.functional``: layers and losses as functions, with PyTorch's arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from extensor import ops
from extensor.errors.torch_names import missing
from extensor.ops.in_place import overwrite
from extensor.torch import reductions
from extensor.torch.creation import one_hot as one_hot
from extensor.torch.creation import rand_like
from extensor.torch.elementwise import FUNCTIONS as ELEMENTWISE
from extensor.torch.elementwise import softplus as softplus
from extensor.torch.indexing import along
from extensor.torch.nn import losses
from extensor.torch.nn.losses import one_shape
from extensor.torch.reductions import ValuesAndIndices
from extensor.torch.tensor_class import functions_of, handed_out, named, wrapped

# PyTorch's names for functions of the core whose arguments are the same in the same order.
SAME = {
    "affine_grid": "affine_grid",
    "channel_shuffle": "channel_shuffle",
    "grid_sample": "grid_sample",
    "hardshrink": "hard_shrink",
    "logsigmoid": "log_sigmoid",
    "lp_pool1d": "lp_pool1d",
    "lp_pool2d": "lp_pool2d",
    "lp_pool3d": "lp_pool3d",
    "max_unpool1d": "max_unpool1d",
    "max_unpool2d": "max_unpool2d",
    "max_unpool3d": "max_unpool3d",
    "softshrink": "soft_shrink",
    "tanhshrink": "tanh_shrink",
    "adaptive_avg_pool1d": "adaptive_avg_pool1d",
    "adaptive_avg_pool2d": "adaptive_avg_pool2d",
    "adaptive_avg_pool3d": "adaptive_avg_pool3d",
    "conv1d": "conv1d",
    "conv2d": "conv2d",
    "conv3d": "conv3d",
    "conv_transpose1d": "conv_transpose1d",
    "conv_transpose2d": "conv_transpose2d",
    "conv_transpose3d": "conv_transpose3d",
    "fold": "fold",
    "group_norm": "group_norm",
    "layer_norm": "layer_norm",
    "linear": "linear",
    "local_response_norm": "local_response_norm",
    "mish": "mish",
    "pixel_shuffle": "pixel_shuffle",
    "pixel_unshuffle": "pixel_unshuffle",
    "rms_norm": "rms_norm",
    "softsign": "softsign",
    "unfold": "unfold",
}


def _same(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose first argument PyTorch calls ``input``."""

    @wraps(function)
    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        return handed_out(function(input, *args, **kwargs))

    return call


def _activation(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """An activation with ``inplace``, which writes the result into the input."""

    def call(input: Any, *args: Any, inplace: bool = False, **kwargs: Any) -> Any:
        if inplace:
            return overwrite(name, input, lambda x: function(x, *args, **kwargs), ())
        return handed_out(function(input, *args, **kwargs))

    call.__name__ = call.__qualname__ = name
    return call


def _positional_inplace(name: str, function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The same with ``inplace`` as the last of ``count`` positional arguments after the input."""
    activation = _activation(name, function)

    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) == count:
            *args, kwargs["inplace"] = args  # type: ignore[assignment]
        return activation(input, *args, **kwargs)

    call.__name__ = call.__qualname__ = name
    return call


relu = _positional_inplace("relu", ops.relu, 1)
relu6 = _positional_inplace("relu6", ops.relu6, 1)
selu = _positional_inplace("selu", ops.selu, 1)
silu = _positional_inplace("silu", ops.silu, 1)
mish = _positional_inplace("mish", ops.mish, 1)
elu = _positional_inplace("elu", lambda x, alpha=1.0: ops.elu(x, alpha), 2)
leaky_relu = _positional_inplace(
    "leaky_relu", lambda x, negative_slope=0.01: ops.leaky_relu(x, negative_slope), 2
)
hardtanh = _positional_inplace(
    "hardtanh", lambda x, min_val=-1.0, max_val=1.0: ops.hard_tanh(x, min_val, max_val), 3
)
hardswish = _positional_inplace("hardswish", ops.hard_swish, 1)
hardsigmoid = _positional_inplace("hardsigmoid", ops.hard_sigmoid, 1)
threshold = _positional_inplace(
    "threshold",
    lambda x, threshold, value: ops.cast(ops.threshold(x, threshold, value), x.dtype),
    3,
)
celu = _positional_inplace("celu", lambda x, alpha=1.0: ops.celu(x, alpha), 2)
rrelu = _positional_inplace(
    "rrelu",
    lambda x, lower=1 / 8, upper=1 / 3, training=False: ops.rrelu(x, lower, upper, training),
    4,
)
sigmoid = ELEMENTWISE["sigmoid"]
tanh = ELEMENTWISE["tanh"]


@named
def prelu(input: Any, weight: Any) -> Any:
    """``x``, and ``weight * x`` below zero."""
    return ops.prelu(input, weight)


@named
def gelu(input: Any, approximate: str = "none") -> Any:
    """``x * Phi(x)``, or its approximation by tanh."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"gelu: approximate must be 'none' or 'tanh', got {approximate!r}")
    return ops.gelu(input, approximate == "tanh")


@named
def glu(input: Any, dim: int = -1) -> Any:
    """One half of a dimension times the sigmoid of the other."""
    return ops.glu(input, dim)


@named
def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """``exp(x) / sum(exp(x))`` along a dimension."""
    return reductions.softmax(input, _needed("softmax", dim), dtype)


@named
def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """The logarithm of `softmax`."""
    return reductions.log_softmax(input, _needed("log_softmax", dim), dtype)


@named
def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """`softmax` of the negative."""
    return reductions.softmax(ops.negative(input), _needed("softmin", dim), dtype)


def _needed(op: str, dim: int | None) -> int:
    if dim is None:
        raise TypeError(f"{op}: needs dim; PyTorch guesses it and warns")
    return dim


@named
def gumbel_softmax(
    logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Any:
    """A sample of classes that can be differentiated."""
    uniform = rand_like(logits.detach())
    exponential = ops.negative(ops.log1p(ops.negative(uniform)))
    gumbels = ops.negative(ops.log(ops.maximum(exponential, np.finfo(logits.dtype).tiny)))
    soft = ops.softmax(ops.divide(ops.add(logits, gumbels), tau), dim)
    if not hard:
        return soft
    index = ops.argmax(soft, dim, True)
    zeros = wrapped(np.zeros(soft.shape, soft.dtype))
    sharp = ops.index_set(zeros, 1.0, along(index, dim, index))
    return ops.add(ops.subtract(sharp, soft.detach()), soft)


# Normalization, dropout, embedding, padding.


@named
def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """``x / max(norm(x), eps)`` along a dimension."""
    size = reductions.norm(input, p, dim, True)
    return ops.divide(input, ops.maximum(size, eps))


@named
def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Normalized by the mean and variance of the batch, or by running ones."""
    return ops.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


@named
def instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Normalized by the mean and variance of each channel of each sample."""
    return ops.instance_norm(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zeros with the chance ``p``, the others divided by ``1 - p``."""
    return _activation("dropout", ops.dropout)(input, p, training, inplace=inplace)


def _dropout_channels(name: str) -> Callable[..., Any]:
    def call(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
        function = getattr(ops, name)
        return _activation(name, function)(input, p, training, inplace=inplace)

    call.__name__ = call.__qualname__ = name
    return call


dropout1d, dropout2d, dropout3d, alpha_dropout, feature_alpha_dropout = (
    _dropout_channels(name)
    for name in "dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout".split()
)


@named
def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of ``weight`` at the indices ``input``."""
    if max_norm is not None or scale_grad_by_freq:
        raise NotImplementedError(
            "embedding: max_norm and scale_grad_by_freq are not implemented here"
        )
    if padding_idx is not None and padding_idx < 0:
        padding_idx += weight.shape[0]
    return ops.embedding(input, weight, padding_idx)


_PAD_MODES: dict[str, Any] = {
    "constant": "constant",
    "reflect": "reflect",
    "replicate": "edge",
    "circular": "wrap",
}


@named
def pad(input: Any, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
    """Elements before and after the last dimensions; the widths begin with the last one."""
    if mode not in _PAD_MODES:
        raise NotImplementedError(f"pad: mode must be one of {', '.join(_PAD_MODES)}, got {mode!r}")
    widths = [int(x) for x in pad]
    if len(widths) % 2 or len(widths) > 2 * input.ndim:
        raise RuntimeError(f"pad: needs two widths for each of at most {input.ndim} dimensions")
    pairs = [(widths[i], widths[i + 1]) for i in range(0, len(widths), 2)][::-1]
    pairs = [(0, 0)] * (input.ndim - len(pairs)) + pairs
    cut = tuple(
        slice(max(-a, 0), size - max(-b, 0))
        for (a, b), size in zip(pairs, input.shape, strict=True)
    )
    if any(a < 0 or b < 0 for a, b in pairs):
        input = ops.getitem(input, cut)
    wide = [(max(a, 0), max(b, 0)) for a, b in pairs]
    return ops.pad(input, wide, _PAD_MODES[mode], 0.0 if value is None else value)


# Pooling.


def _sizes(given: Any) -> Any:
    """A size for all dimensions may stand in a tuple of one, and no stride in an empty one."""
    if isinstance(given, tuple | list) and len(given) < 2:
        return given[0] if given else None
    return given


def _avg_pool(name: str, spatial: int) -> Callable[..., Any]:
    def call(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        function = getattr(ops, name)
        more = () if spatial == 1 else (divisor_override,)
        sizes = (_sizes(kernel_size), _sizes(stride), _sizes(padding))
        x = ops.unsqueeze(input, 0) if input.ndim == spatial + 1 else input
        made = function(x, *sizes, ceil_mode, count_include_pad, *more)
        return handed_out(ops.squeeze(made, 0) if x is not input else made)

    call.__name__ = call.__qualname__ = name
    return call


avg_pool1d, avg_pool2d, avg_pool3d = (_avg_pool(f"avg_pool{n}d", n) for n in (1, 2, 3))


def _max_pool(name: str, spatial: int) -> Callable[..., Any]:
    def call(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        function = getattr(ops, name)
        if return_indices:
            both = getattr(ops, f"{name}_with_indices")
            return ValuesAndIndices(
                *handed_out(both(input, kernel_size, stride, padding, dilation, ceil_mode))
            )
        # A picture without a batch.
        x = ops.unsqueeze(input, 0) if input.ndim == spatial + 1 else input
        made = function(x, kernel_size, stride, padding, dilation, ceil_mode)
        return handed_out(ops.squeeze(made, 0) if x is not input else made)

    call.__name__ = call.__qualname__ = name
    return call


max_pool1d, max_pool2d, max_pool3d = (_max_pool(f"max_pool{n}d", n) for n in (1, 2, 3))


def _adaptive_max_pool(name: str) -> Callable[..., Any]:
    def call(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        if return_indices:
            both = getattr(ops, f"{name}_with_indices")
            return ValuesAndIndices(*handed_out(both(input, output_size)))
        return handed_out(getattr(ops, name)(input, output_size))

    call.__name__ = call.__qualname__ = name
    return call


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (
    _adaptive_max_pool(f"adaptive_max_pool{n}d") for n in (1, 2, 3)
)


@named
def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: Any = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """Pictures in another size."""
    return ops.interpolate(
        input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias
    )


upsample = interpolate


@named
def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: Any = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """Sums, means or maxima of the rows of ``weight`` at bags of indices."""
    if max_norm is not None or scale_grad_by_freq:
        raise NotImplementedError(
            "embedding_bag: max_norm and scale_grad_by_freq are not implemented here"
        )
    return ops.embedding_bag(
        input, weight, offsets, per_sample_weights, mode, include_last_offset, padding_idx
    )


@named
def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """``x1 @ weight @ x2 + bias`` for each output."""
    return ops.bilinear(input1, input2, weight, bias)


# Attention and distances.


@named
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """``softmax(q @ k.T * scale + mask) @ v``."""
    if enable_gqa:
        times = query.shape[-3] // key.shape[-3]
        key, value = (ops.repeat(x, times, x.ndim - 3) for x in (key, value))
    if not dropout_p:
        return ops.scaled_dot_product_attention(query, key, value, attn_mask, is_causal, scale)
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    scores = ops.multiply(ops.matmul(query, ops.swapaxes(key, -1, -2)), factor)
    if is_causal:
        attn_mask = wrapped(np.tri(scores.shape[-2], scores.shape[-1], dtype=bool))
    if attn_mask is not None:
        if attn_mask.dtype == np.bool_:
            scores = ops.where(attn_mask, scores, float("-inf"))
        else:
            scores = ops.add(scores, attn_mask)
    return ops.matmul(ops.dropout(ops.softmax(scores, -1), dropout_p), value)


@named
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors."""
    x1, x2 = one_shape("cosine_similarity", x1, x2)
    a, b = (ops.maximum(ops.norm(x, 2, dim, True), eps) for x in (x1, x2))
    return ops.sum(ops.multiply(ops.divide(x1, a), ops.divide(x2, b)), dim)


def relu_(input: Any) -> Any:
    """`relu`, written into the input."""
    return relu(input, inplace=True)


globals().update(losses.FUNCTIONS)
for _name, _ours in SAME.items():
    if _name not in globals() and hasattr(ops, _ours):
        globals()[_name] = _same(getattr(ops, _ours))


_SHARED = {"one_hot", "sigmoid", "softplus", "tanh"}
__all__ = sorted(
    {*functions_of(globals()), *_SHARED, *(name for name in SAME if name in globals())}
)


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    raise missing(name, {}, "torch.nn.functional")
