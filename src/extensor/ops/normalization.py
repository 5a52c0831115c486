"""Normalization of each sample alone: over its last axes, or over groups of its channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extensor.arrays.dtypes import get_default_dtype, is_floating
from extensor.arrays.shapes import Shape, Shapes, check_shape, count, target
from extensor.arrays.supplement import in_c_order
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.broadcasting import reduce_to_shape
from extensor.ops.chain import chain_rule
from extensor.ops.exponential import rsqrt
from extensor.ops.reduction import mean, reduced_count

SHARED = """
Parameters
----------
weight
    Factors for the normalized values, by default 1.
bias
    Numbers to add to them, by default 0.
eps
    A number that is added to the variance, so that the root is never 0.
running_mean, running_var : (channels,)
    Running statistics of the channels. They have no gradient.
momentum
    The weight of the present batch in the running statistics.

Returns
-------
Tensor
    The normalized values, in the shape of ``x``.

Raises
------
ValueError
    If the shapes do not fit.
"""


def moments(xp: Any, x: Any, axes: Shape) -> tuple[Any, Any, Any]:
    """``x - mean``, and the mean and the variance over ``axes``, kept as size 1.

    Everything is measured from the first element: so equal elements are exactly 0 from their mean,
    and far from 0 no digits are lost.
    """
    x, n = in_c_order(x), reduced_count(x.shape, axes)
    first = x[_first(x.ndim, axes)]
    shifted = x - first
    shift = xp.sum(shifted, axis=axes, keepdims=True) / n
    centred = shifted - shift
    return centred, first + shift, xp.sum(centred * centred, axis=axes, keepdims=True) / n


def _first(ndim: int, axes: Shape) -> tuple[slice, ...]:
    """The index of the first element along all ``axes``."""
    return tuple(slice(0, 1) if i in axes else slice(None) for i in range(ndim))


def scaled(xp: Any, x: Any, weight: Any, bias: Any, shape: Shape) -> Any:
    """``x * weight + bias``, with ``shape`` the one in which the two broadcast to ``x``.

    A missing bias is a zero that is added all the same: so no zero has a sign.
    """
    if weight is not None:
        x = x * xp.reshape(weight, shape)
    return x + (0.0 if bias is None else xp.reshape(bias, shape))


def normalized(x: Tensor, axes: Shape, eps: float) -> tuple[Tensor, Tensor]:
    """``(x - mean) * scale`` and ``scale = 1 / sqrt(var + eps)``, differentiable."""
    shifted = x - x.detach()[_first(x.ndim, axes)]
    centred = shifted - mean(shifted, axes, keepdims=True)
    scale = rsqrt(mean(centred * centred, axes, keepdims=True) + eps)
    return centred * scale, scale


def through_moments(gradient: Tensor, unit: Tensor, scale: Tensor, axes: Shape) -> Tensor:
    """From the gradient of ``unit``, which :func:`normalized` gave, to that of its input.

    A shift or a stretch of the input changes nothing, so what points along them is taken out.
    """
    shift = mean(gradient, axes, keepdims=True)
    stretch = mean(chain_rule(gradient, unit), axes, keepdims=True)
    return chain_rule(gradient - shift - chain_rule(stretch, unit), scale)


def through_weight(grad_output: Tensor, weight: Tensor | None, shape: Shape) -> Tensor:
    """``grad_output * weight``: the gradient of what the weight multiplies."""
    return grad_output if weight is None else chain_rule(grad_output, weight.reshape(shape))


def to_parameter(gradient: Tensor, shape: Shape) -> Tensor:
    """``gradient`` summed to a weight or bias that broadcast in ``shape``, and has one axis."""
    return reduce_to_shape(gradient, shape).reshape((count(shape),))


def check_parameters(name: str, shapes: Shapes, wanted: Shape) -> None:
    """All inputs but ``x``, where they are given, have the shape ``wanted``."""
    for parameter, shape in shapes.items():
        if parameter != "x":
            check_shape(name, parameter, shape, wanted)


def _trailing(name: str, shapes: Shapes, normalized_shape: Any, *_: Any) -> Shape:
    x, wanted = tuple(shapes["x"]), target(name, normalized_shape, "normalized_shape")
    if not wanted or x[max(len(x) - len(wanted), 0) :] != wanted:
        raise value_error(
            name,
            "normalized_shape must be the sizes of the last axes of x",
            normalized_shape=normalized_shape,
            x_shape=x,
        )
    check_parameters(name, shapes, wanted)
    return x


def _last_axes(ndim: int, normalized_shape: int | Sequence[int]) -> Shape:
    number = len(normalized_shape) if isinstance(normalized_shape, list | tuple) else 1
    return tuple(range(ndim - number, ndim))


def _layer_norm(
    x: Any,
    normalized_shape: int | Sequence[int],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
) -> tuple[Any, ...]:
    return x, weight, bias, normalized_shape, eps


@op(kernel="layer_norm", shape=_trailing, floats=True, arguments=_layer_norm)
def layer_norm(
    xp: Any,
    x: Array,
    weight: Array | None,
    bias: Array | None,
    normalized_shape: int | Sequence[int],
    eps: float = 1e-5,
) -> Any:
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over the last axes, sample by sample.

    Derivative: in ``x``, with ``u = (x - mean) / sqrt(var + eps)`` and
    ``g = grad_output * weight``: ``(g - mean(g) - u * mean(g * u)) / sqrt(var + eps)``; in
    ``weight``: ``u``; in ``bias``: 1.

    Parameters
    ----------
    normalized_shape
        The sizes of the axes to normalize over, and the shape of ``weight`` and ``bias``.

    >>> import extensor as ex
    >>> ex.layer_norm([[1.0, 3.0], [7.0, 7.0]], 2, eps=3.0)
    tensor([[-0.5,  0.5],
            [ 0. ,  0. ]])
    >>> ex.layer_norm_backward([[1.0, 1.0]], [[1.0, 3.0]], 2).grad_bias
    tensor([1., 1.])
    """
    centred, _, variance = moments(xp, x, _last_axes(x.ndim, normalized_shape))
    shape = target("layer_norm", normalized_shape)
    return scaled(xp, centred / xp.sqrt(variance + eps), weight, bias, shape)


@layer_norm.backward(kernel="layer_norm_backward")
def layer_norm_backward(
    grad_output: Tensor,
    x: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float = 1e-5,
) -> tuple[Any, Any, Any]:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last two without them too.

    The mean and the variance are computed again: that is quicker than to read them from memory.
    """
    axes = _last_axes(x.ndim, normalized_shape)
    shape = x.shape[axes[0] :]
    unit, scale = normalized(x, axes, eps)

    def to_x() -> Tensor:
        return through_moments(through_weight(grad_output, weight, shape), unit, scale, axes)

    return (
        to_x,
        lambda: reduce_to_shape(chain_rule(grad_output, unit), shape),
        lambda: reduce_to_shape(grad_output, shape),
    )


def _rms_norm(
    x: Any, normalized_shape: int | Sequence[int], weight: Any = None, eps: float | None = None
) -> tuple[Any, ...]:
    return x, weight, normalized_shape, eps


def _least(xp: Any, eps: float | None, dtype: Any) -> float:
    floating = dtype if is_floating(dtype) else get_default_dtype()
    return float(xp.finfo(floating).eps) if eps is None else eps


@op(kernel="rms_norm", shape=_trailing, floats=True, arguments=_rms_norm)
def rms_norm(
    xp: Any,
    x: Array,
    weight: Array | None,
    normalized_shape: int | Sequence[int],
    eps: float | None = None,
) -> Any:
    """``x / sqrt(mean(x**2) + eps) * weight`` over the last axes, sample by sample.

    Derivative: in ``x``, with ``u = x / sqrt(mean(x**2) + eps)`` and
    ``g = grad_output * weight``: ``(g - u * mean(g * u)) / sqrt(mean(x**2) + eps)``; in
    ``weight``: ``u``.

    Parameters
    ----------
    normalized_shape
        The sizes of the axes to normalize over, and the shape of ``weight``.
    eps
        A number that is added to the mean square, by default the distance from 1 to the next
        number of the dtype.

    >>> import extensor as ex
    >>> ex.rms_norm([3.0, 4.0, 0.0, 0.0], 4)
    tensor([1.2, 1.6, 0. , 0. ])
    >>> ex.rms_norm_backward([1.0, 0.0], [3.0, 4.0], 2).grad_x
    tensor([ 0.18101934, -0.13576451])
    """
    axes = _last_axes(x.ndim, normalized_shape)
    x, n = in_c_order(x), reduced_count(x.shape, axes)
    square = xp.sum(x * x, axis=axes, keepdims=True) / n
    unit = x / xp.sqrt(square + _least(xp, eps, x.dtype))
    return scaled(xp, unit, weight, None, target("rms_norm", normalized_shape))


@rms_norm.backward(kernel="rms_norm_backward")
def rms_norm_backward(
    grad_output: Tensor,
    x: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> tuple[Any, Any]:
    """The gradients of ``x`` and ``weight``; by hand the last without one too."""
    axes = _last_axes(x.ndim, normalized_shape)
    shape = x.shape[axes[0] :]
    scale = rsqrt(mean(x * x, axes, keepdims=True) + _least(np, eps, x.dtype))
    unit = x * scale

    def to_x() -> Tensor:
        gradient = through_weight(grad_output, weight, shape)
        stretch = mean(chain_rule(gradient, unit), axes, keepdims=True)
        return chain_rule(gradient - chain_rule(stretch, unit), scale)

    return to_x, lambda: reduce_to_shape(chain_rule(grad_output, unit), shape)


def _group_norm_shape(name: str, shapes: Shapes, num_groups: int, *_: Any) -> Shape:
    x = tuple(shapes["x"])
    if len(x) < 2:
        raise value_error(name, "x must have a batch axis and a channel axis", x_shape=x)
    is_int = isinstance(num_groups, int) and not isinstance(num_groups, bool)
    if not is_int or num_groups < 1 or x[1] % num_groups:
        raise value_error(
            name,
            "num_groups must divide the number of channels",
            num_groups=num_groups,
            channels=x[1],
        )
    check_parameters(name, shapes, x[1:2])
    return x


def beside_channels(shape: Shape) -> Shape:
    """The shape in which one number per channel broadcasts along axis 1 of ``shape``."""
    return (shape[1], *(1,) * (len(shape) - 2))


def _in_groups(shape: Shape, num_groups: int) -> Shape:
    """(batch, groups, elements of a group): the last axis is what is normalized."""
    return (shape[0], num_groups, shape[1] // num_groups * count(shape[2:]))


def _group_norm(
    x: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> tuple[Any, ...]:
    return x, weight, bias, num_groups, eps


@op(kernel="group_norm", shape=_group_norm_shape, floats=True, arguments=_group_norm)
def group_norm(
    xp: Any,
    x: Array,
    weight: Array | None,
    bias: Array | None,
    num_groups: int,
    eps: float = 1e-5,
) -> Any:
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over groups of channels, sample by sample.

    Derivative: as for ``layer_norm``, over a group.

    Parameters
    ----------
    x : (batch, channels, ...)
        The input.
    num_groups
        The number of groups. It must divide the number of channels.
    weight, bias : (channels,)
        Factors for the normalized values, and numbers to add to them; by default 1 and 0.

    >>> import extensor as ex
    >>> ex.group_norm([[1.0, 3.0, 7.0, 7.0]], 2, eps=3.0)
    tensor([[-0.5,  0.5,  0. ,  0. ]])
    >>> ex.group_norm_backward([[1.0, 0.0, 0.0, 0.0]], [[1.0, 3.0, 5.0, 5.0]], 2).grad_weight
    tensor([-0.999995,  0.      ,  0.      ,  0.      ])
    """
    groups = xp.reshape(in_c_order(x), _in_groups(x.shape, num_groups))
    centred, _, variance = moments(xp, groups, (2,))
    unit = xp.reshape(centred / xp.sqrt(variance + eps), x.shape)
    return scaled(xp, unit, weight, bias, beside_channels(x.shape))


@group_norm.backward(kernel="group_norm_backward")
def group_norm_backward(
    grad_output: Tensor,
    x: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    eps: float = 1e-5,
) -> tuple[Any, Any, Any]:
    """The gradients of ``x``, ``weight`` and ``bias``; by hand the last two without them too."""
    shape, groups = beside_channels(x.shape), _in_groups(x.shape, num_groups)
    unit, scale = normalized(x.reshape(groups), (2,), eps)

    def to_x() -> Tensor:
        gradient = through_weight(grad_output, weight, shape).reshape(groups)
        found: Tensor = through_moments(gradient, unit, scale, (2,)).reshape(x.shape)
        return found

    return (
        to_x,
        lambda: to_parameter(chain_rule(grad_output, unit.reshape(x.shape)), shape),
        lambda: to_parameter(grad_output, shape),
    )
