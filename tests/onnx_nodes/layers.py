"""Nodes of convolution, pooling and normalization."""

from __future__ import annotations

from math import inf
from typing import Any

import extensor as ex
from extensor import Tensor

CONVOLUTIONS = {3: ex.conv1d, 4: ex.conv2d}
TRANSPOSED = {3: ex.conv_transpose1d, 4: ex.conv_transpose2d}
MAX_POOLS = {3: ex.max_pool1d, 4: ex.max_pool2d}
AVERAGE_POOLS = {3: ex.avg_pool1d, 4: ex.avg_pool2d}


class Windows:
    """The attributes that ONNX gives to all windows, with its defaults filled in."""

    def __init__(
        self,
        size: tuple[int, ...],
        kernel: Any,
        strides: Any = None,
        dilations: Any = None,
        pads: Any = None,
        auto_pad: str = "NOTSET",
    ) -> None:
        axes = len(size)
        self.kernel = tuple(kernel)
        self.stride = tuple(strides or (1,) * axes)
        self.dilation = tuple(dilations or (1,) * axes)
        if auto_pad.startswith("SAME"):
            totals = [
                max(0, (-(-n // s) - 1) * s + d * (k - 1) + 1 - n)
                for n, k, s, d in zip(size, self.kernel, self.stride, self.dilation, strict=True)
            ]
            halves = (halved(total, auto_pad) for total in totals)
            self.before, self.after = zip(*halves, strict=True)
        else:
            both = tuple(pads or (0,) * 2 * axes)
            self.before, self.after = both[:axes], both[axes:]

    @property
    def ours(self) -> bool:
        """Whether our functions know such padding: the same at both ends, half a window at most."""
        small = all(2 * p <= k for p, k in zip(self.before, self.kernel, strict=True))
        return small and self.before == self.after

    def padding(self) -> tuple[int, ...]:
        return self.before if self.ours else (0,) * len(self.before)

    def padded(self, x: Tensor, value: float = 0.0) -> Tensor:
        """``x``, to which padding that is not ours is added beforehand."""
        if self.ours:
            return x
        return ex.pad(x, [(0, 0), (0, 0), *zip(self.before, self.after, strict=True)], value=value)

    def spread(self, size: tuple[int, ...]) -> list[int]:
        """The size of what as many windows as ``size`` reach: a transposed convolution's output."""
        each = zip(size, self.kernel, self.stride, self.dilation, strict=True)
        return [(n - 1) * s + d * (k - 1) + 1 for n, k, s, d in each]


def halved(total: int, auto_pad: str) -> tuple[int, int]:
    """The padding before and after; only SAME_UPPER has the odd one after."""
    less, more = total // 2, total - total // 2
    return (less, more) if auto_pad == "SAME_UPPER" else (more, less)


def _conv(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    group: int = 1,
    kernel_shape: Any = None,
    **how: Any,
) -> Tensor:
    along = Windows(x.shape[2:], kernel_shape or weight.shape[2:], **how)
    return CONVOLUTIONS[x.ndim](
        along.padded(x), weight, bias, along.stride, along.padding(), along.dilation, group
    )


def _conv_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    group: int = 1,
    kernel_shape: Any = None,
    output_padding: Any = 0,
    output_shape: Any = None,
    auto_pad: str = "NOTSET",
    **how: Any,
) -> Tensor:
    """The whole output, of which the padding is cut off: a wanted shape may cut unevenly."""
    along = Windows(x.shape[2:], kernel_shape or weight.shape[2:], **how)
    if auto_pad.startswith("SAME"):
        output_shape = [n * s for n, s in zip(x.shape[2:], along.stride, strict=True)]
    if output_shape is not None:
        missing = zip(output_shape, along.spread(x.shape[2:]), strict=True)
        output_padding = [max(0, wanted - size) for wanted, size in missing]
    whole = TRANSPOSED[x.ndim](
        x, weight, bias, along.stride, 0, output_padding, group, along.dilation
    )
    sizes, ends = whole.shape[2:], list(zip(along.before, along.after, strict=True))
    if output_shape is not None:
        ends = [halved(n - out, auto_pad) for n, out in zip(sizes, output_shape, strict=True)]
    inside = (slice(before, n - after) for n, (before, after) in zip(sizes, ends, strict=True))
    return whole[(..., *inside)]


def _max_pool(
    x: Tensor, *, kernel_shape: Any, ceil_mode: int = 0, storage_order: int = 0, **how: Any
) -> Tensor:
    along = Windows(x.shape[2:], kernel_shape, **how)
    return MAX_POOLS[x.ndim](
        along.padded(x, -inf),
        along.kernel,
        along.stride,
        along.padding(),
        along.dilation,
        bool(ceil_mode),
    )


def _average_pool(
    x: Tensor, *, kernel_shape: Any, ceil_mode: int = 0, count_include_pad: int = 0, **how: Any
) -> Tensor:
    along = Windows(x.shape[2:], kernel_shape, **how)
    if set(along.dilation) != {1}:
        raise NotImplementedError("windows with gaps")

    def average(padded: Tensor) -> Tensor:
        return AVERAGE_POOLS[x.ndim](
            padded,
            along.kernel,
            along.stride,
            along.padding(),
            bool(ceil_mode),
            bool(count_include_pad),
        )

    if along.ours or count_include_pad:
        return average(along.padded(x))
    return average(along.padded(x)) / average(along.padded(ex.ones_like(x)))


def _batch_normalization(
    x: Tensor,
    scale: Tensor,
    bias: Tensor,
    mean: Tensor,
    var: Tensor,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
) -> Any:
    """ONNX's momentum is the share of the old, ours that of the new."""
    moved, training = (ex.clone(mean), ex.clone(var)), bool(training_mode)
    output = ex.batch_norm(x, *moved, scale, bias, training, 1 - momentum, epsilon)
    if not training:
        return output
    # ONNX divides the running variance by n, we as PyTorch by n - 1.
    own = ex.var(x, axis=(0, *range(2, x.ndim)))
    return output, moved[0], momentum * var + (1 - momentum) * own


def _instance_normalization(
    x: Tensor, scale: Tensor, bias: Tensor, *, epsilon: float = 1e-5
) -> Tensor:
    return ex.instance_norm(x, None, None, scale, bias, eps=epsilon)


def _group_normalization(
    x: Tensor,
    scale: Tensor,
    bias: Tensor,
    *,
    num_groups: int,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Tensor:
    return ex.group_norm(x, num_groups, scale, bias, epsilon)


def _layer_normalization(
    x: Tensor,
    scale: Tensor,
    bias: Tensor | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> tuple[Tensor, Tensor, Tensor]:
    axes = tuple(range(axis % x.ndim, x.ndim))
    output = ex.layer_norm(x, x.shape[axis:], scale, bias, epsilon)
    variance = ex.var(x, axes, keepdims=True)
    return output, ex.mean(x, axes, keepdims=True), ex.rsqrt(variance + epsilon)


def _mean_variance_normalization(x: Tensor, *, axes: Any = (0, 2, 3)) -> Tensor:
    over = {"axis": tuple(axes), "keepdims": True}
    return (x - ex.mean(x, **over)) / (ex.std(x, **over) + 1e-9)


def _rms_normalization(
    x: Tensor, scale: Tensor, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1
) -> Tensor:
    return ex.rms_norm(x, x.shape[axis:], scale, epsilon)


NODES: dict[str, Any] = {
    "AveragePool": _average_pool,
    "BatchNormalization": _batch_normalization,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "GlobalAveragePool": lambda x: ex.adaptive_avg_pool2d(x, 1),
    "GlobalMaxPool": lambda x: ex.max_pool2d(x, x.shape[2:]),
    "GroupNormalization": _group_normalization,
    "InstanceNormalization": _instance_normalization,
    "LayerNormalization": _layer_normalization,
    "MaxPool": _max_pool,
    "MeanVarianceNormalization": _mean_variance_normalization,
    "RMSNormalization": _rms_normalization,
}
