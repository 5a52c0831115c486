"""Dropout: elements or whole channels set to 0 at random while training."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from extensor.arrays.dtypes import bool_, is_floating
from extensor.arrays.shapes import Shape, Shapes, check_shape
from extensor.core.creation import zeros_like
from extensor.core.op import Array, Indices, op
from extensor.core.tensor import Tensor, to_array, wrap
from extensor.errors import type_error, value_error
from extensor.ops.selection import where
from extensor.ops.windows import as_batch, for_axes
from extensor.random.generator import Generator, drawn
from extensor.random.philox import random_bernoulli

SHARED = """
Parameters
----------
p
    The probability of a 0, from 0 to 1.
training
    Whether to drop anything. If False, ``x`` is returned as it is.
generator
    The source of the mask, by default ``ex.random.default_generator``.
mask : booleans
    The mask of the forward: true where a value stayed. None if nothing was dropped.

Returns
-------
Tensor
    The result, in the shape of ``x``.

Raises
------
ValueError
    If ``p`` is not in [0, 1].
"""


def drawn_mask(name: str, shape: Shape, p: Any, training: bool, generator: Generator | None) -> Any:
    """True where an element stays, with probability ``1 - p``; None where all do."""
    if not isinstance(p, int | float | np.number):
        raise type_error(name, "p must be a number", p=type(p).__name__)
    if not 0 <= p <= 1:
        raise value_error(name, "p must be in [0, 1]", p=p)
    if not training or p == 0:
        return None
    threshold = ceil((1 - p) * 2**32)
    return wrap(drawn(name, generator, random_bernoulli, shape, bool_, threshold))


def as_tensor(name: str, x: Any) -> Tensor:
    return x if isinstance(x, Tensor) else wrap(to_array(x, op=name))


def as_x(name: str, shapes: Shapes, *_: Any) -> Shape:
    return tuple(shapes["x"])


def check_floating(name: str, x: Any, mask: Any, *_: Any) -> None:
    # The mean of integers cannot be kept; where nothing is dropped they stay what they are.
    if mask is not None and not is_floating(x.dtype):
        raise type_error(
            name, "x must be floating to drop from (x.astype makes it so)", x_dtype=str(x.dtype)
        )


def _scale(p: float) -> float:
    """The factor that keeps the mean as it was; where nothing stays, any number does."""
    return 1 / (1 - p) if p < 1 else 0.0


def _drop(grad_output: Tensor, mask: Tensor | None, p: float) -> Tensor:
    if mask is None:
        return grad_output
    return where(mask, grad_output * _scale(p), zeros_like(grad_output))


def _dropout(
    x: Any, p: float = 0.5, training: bool = True, generator: Generator | None = None
) -> tuple[Any, ...]:
    x = as_tensor("dropout", x)
    return x, drawn_mask("dropout", x.shape, p, training, generator), p


@op(kernel="dropout", shape=as_x, check=check_floating, arguments=_dropout)
def dropout(xp: Any, x: Array, mask: Indices | None, p: float) -> Any:
    """Elements of ``x`` set to 0 with probability ``p``, the others divided by ``1 - p``.

    Derivative: ``1 / (1 - p)`` where the element stayed, else 0.

    Parameters
    ----------
    x
        The input.

    >>> import extensor as ex
    >>> ex.dropout(ex.ones(6), 0.5, generator=ex.random.Generator(0))
    tensor([2., 0., 0., 0., 0., 2.])
    >>> ex.dropout_backward([1.0, 1.0], [True, False], 0.75)
    tensor([4., 0.])
    >>> x = ex.ones(4)
    >>> ex.dropout(x, 0.5, generator=ex.random.Generator(0))
    tensor([2., 0., 0., 0.])
    >>> ex.dropout(x, training=False)
    tensor([1., 1., 1., 1.])
    """
    return x if mask is None else xp.where(mask, x * _scale(p), xp.zeros((), dtype=x.dtype))


@dropout.backward(kernel="dropout_backward")
def dropout_backward(grad_output: Tensor, mask: Tensor | None, p: float = 0.5) -> Tensor:
    """``grad_output / (1 - p)`` where ``mask`` is true, else 0."""
    if mask is not None:
        check_shape("dropout_backward", "grad_output", grad_output.shape, mask.shape)
    return _drop(grad_output, mask, p)


def _channel_mask(name: str, x: Tensor, p: Any, training: bool, generator: Any) -> Any:
    if x.ndim < 2:
        raise value_error(name, "x must have a batch axis and a channel axis", x_shape=x.shape)
    return drawn_mask(name, (*x.shape[:2], *(1,) * (x.ndim - 2)), p, training, generator)


def channel_mask(
    name: str, x: Tensor, axes: int, p: Any, training: bool, generator: Generator | None
) -> Any:
    """The mask of the channels, which ``axes`` axes follow; the batch axis may be missing."""
    front = x.shape[: max(x.ndim - axes, 0)]
    return drawn_mask(name, (*front, *(1,) * (x.ndim - len(front))), p, training, generator)


def _as_batch(name: str, axes: int, shapes: Shapes, *_: Any) -> Shape:
    as_batch(name, shapes["x"], axes)
    return tuple(shapes["x"])


def _drop_channels(
    name: str, grad_output: Tensor, mask: Tensor | None, p: float, axes: int
) -> Tensor:
    if mask is not None:
        wanted = (*grad_output.shape[: grad_output.ndim - axes], *(1,) * axes)
        check_shape(name, "mask", mask.shape, wanted)
    return _drop(grad_output, mask, p)


def _dropout2d(
    x: Any, p: float = 0.5, training: bool = True, generator: Generator | None = None
) -> tuple[Any, ...]:
    x = as_tensor("dropout2d", x)
    return x, _channel_mask("dropout2d", x, p, training, generator), p


@op(kernel="dropout2d", shape=as_x, check=check_floating, arguments=_dropout2d)
def dropout2d(xp: Any, x: Array, mask: Indices | None, p: float) -> Any:
    """Channels of ``x`` set to 0 with probability ``p``, the others divided by ``1 - p``.

    Derivative: ``1 / (1 - p)`` where the channel stayed, else 0.

    Parameters
    ----------
    x : (batch, channels, ...)
        The input.

    >>> import extensor as ex
    >>> ex.dropout2d(ex.ones((1, 3, 2)), 0.5, generator=ex.random.Generator(0))
    tensor([[[2., 2.],
             [0., 0.],
             [0., 0.]]])
    >>> ex.dropout2d_backward([[[1.0], [1.0]]], [[[True], [False]]], 0.5)
    tensor([[[2.],
             [0.]]])
    """
    return x if mask is None else xp.where(mask, x * _scale(p), xp.zeros((), dtype=x.dtype))


@dropout2d.backward(kernel="dropout2d_backward")
def dropout2d_backward(grad_output: Tensor, mask: Tensor | None, p: float = 0.5) -> Tensor:
    """``grad_output / (1 - p)`` where ``mask``, a bool for each channel, is true, else 0."""
    return _drop_channels("dropout2d_backward", grad_output, mask, p, grad_output.ndim - 2)


def _dropout1d(
    x: Any, p: float = 0.5, training: bool = True, generator: Generator | None = None
) -> tuple[Any, ...]:
    x = as_tensor("dropout1d", x)
    return x, channel_mask("dropout1d", x, 1, p, training, generator), p


@op(
    kernel="dropout2d",
    shape=for_axes(1, _as_batch),
    check=check_floating,
    arguments=_dropout1d,
)
def dropout1d(xp: Any, x: Array, mask: Indices | None, p: float) -> Any:
    """Channels of sequences set to 0 with probability ``p``, the others divided by ``1 - p``.

    Derivative: ``1 / (1 - p)`` where the channel stayed, else 0.

    Parameters
    ----------
    x : (batch, channels, length)
        The sequences. The batch axis may be missing.

    >>> import extensor as ex
    >>> x = ex.ones((1, 2, 2))
    >>> ex.dropout1d(x, 0.5, generator=ex.random.Generator(0)).flatten()
    tensor([2., 2., 0., 0.])
    >>> ex.dropout1d_backward([[[1.0], [1.0]]], [[[True], [False]]], 0.5).flatten()
    tensor([2., 0.])
    """
    return x if mask is None else xp.where(mask, x * _scale(p), xp.zeros((), dtype=x.dtype))


@dropout1d.backward(kernel="dropout2d_backward")
def dropout1d_backward(grad_output: Tensor, mask: Tensor | None, p: float = 0.5) -> Tensor:
    """``grad_output / (1 - p)`` where ``mask``, a bool for each channel, is true, else 0."""
    return _drop_channels("dropout1d_backward", grad_output, mask, p, 1)


def _dropout3d(
    x: Any, p: float = 0.5, training: bool = True, generator: Generator | None = None
) -> tuple[Any, ...]:
    x = as_tensor("dropout3d", x)
    return x, channel_mask("dropout3d", x, 3, p, training, generator), p


@op(
    kernel="dropout2d",
    shape=for_axes(3, _as_batch),
    check=check_floating,
    arguments=_dropout3d,
)
def dropout3d(xp: Any, x: Array, mask: Indices | None, p: float) -> Any:
    """Channels of volumes set to 0 with probability ``p``, the others divided by ``1 - p``.

    Derivative: ``1 / (1 - p)`` where the channel stayed, else 0.

    Parameters
    ----------
    x : (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.

    >>> import extensor as ex
    >>> x = ex.ones((1, 2, 1, 1, 2))
    >>> ex.dropout3d(x, 0.5, generator=ex.random.Generator(0)).flatten()
    tensor([2., 2., 0., 0.])
    >>> mask = ex.tensor([True, False]).reshape(1, 2, 1, 1, 1)
    >>> ex.dropout3d_backward(mask * 1.0, mask, 0.5).flatten()
    tensor([2., 0.])
    """
    return x if mask is None else xp.where(mask, x * _scale(p), xp.zeros((), dtype=x.dtype))


@dropout3d.backward(kernel="dropout2d_backward")
def dropout3d_backward(grad_output: Tensor, mask: Tensor | None, p: float = 0.5) -> Tensor:
    """``grad_output / (1 - p)`` where ``mask``, a bool for each channel, is true, else 0."""
    return _drop_channels("dropout3d_backward", grad_output, mask, p, 3)
