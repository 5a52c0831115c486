"""Channels exchanged with places, and channels exchanged with each other."""

from __future__ import annotations

from typing import Any

from extensor.arrays.shapes import Shape, Shapes
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.windows import ints


def _shuffled(name: str, shapes: Shapes, upscale_factor: Any) -> Shape:
    (shape,) = shapes.values()
    (r,) = ints(name, "upscale_factor", upscale_factor, 1)
    if len(shape) < 3 or shape[-3] % r**2:
        raise value_error(
            name,
            "x must be (..., channels, height, width) with channels divisible by upscale_factor**2",
            x_shape=tuple(shape),
            upscale_factor=upscale_factor,
        )
    *front, channels, height, width = shape
    return (*front, channels // r**2, height * r, width * r)


def _unshuffled(name: str, shapes: Shapes, downscale_factor: Any) -> Shape:
    (shape,) = shapes.values()
    (r,) = ints(name, "downscale_factor", downscale_factor, 1)
    if len(shape) < 3 or shape[-2] % r or shape[-1] % r:
        raise value_error(
            name,
            "x must be (..., channels, height, width) with height and width divisible by "
            "downscale_factor",
            x_shape=tuple(shape),
            downscale_factor=downscale_factor,
        )
    *front, channels, height, width = shape
    return (*front, channels * r**2, height // r, width // r)


def _exchanged(xp: Any, x: Any, split: Shape, last: tuple[int, ...], joined: Shape) -> Any:
    """``x`` with its last axes split, permuted and joined again."""
    front = len(split) - len(last)
    axes = (*range(front), *(front + axis for axis in last))
    return xp.reshape(xp.permute_dims(xp.reshape(x, split), axes), joined)


@op(shape=_shuffled, widen=False)
def pixel_shuffle(xp: Any, x: Array, upscale_factor: int) -> Any:
    """Channels spread over squares of ``r = upscale_factor`` by ``r`` pixels.

    Pixel ``(i * r + a, j * r + b)`` of channel ``c`` comes from pixel ``(i, j)`` of channel
    ``c * r**2 + a * r + b``. Derivative: ``pixel_unshuffle`` of ``grad_output``.

    Parameters
    ----------
    x : (..., channels * r**2, height, width)
        The pictures.
    upscale_factor
        The factor by which height and width grow.

    Returns
    -------
    Tensor
        The larger pictures, (..., channels, height * r, width * r).

    Raises
    ------
    ValueError
        If ``r**2`` does not divide the channels.

    >>> import extensor as ex
    >>> ex.pixel_shuffle([[[1.0]], [[2.0]], [[3.0]], [[4.0]]], 2)
    tensor([[[1., 2.],
             [3., 4.]]])
    >>> ex.pixel_shuffle_backward([[[1.0, 2.0], [3.0, 4.0]]], (4, 1, 1), 2).flatten()
    tensor([1., 2., 3., 4.])
    """
    *front, channels, height, width = x.shape
    r = upscale_factor
    split = (*front, channels // r**2, r, r, height, width)
    joined = (*front, channels // r**2, height * r, width * r)
    return _exchanged(xp, x, split, (0, 3, 1, 4, 2), joined)


@pixel_shuffle.backward()
def pixel_shuffle_backward(grad_output: Tensor, input_shape: Shape, upscale_factor: int) -> Tensor:
    """``pixel_unshuffle`` of ``grad_output``."""
    return pixel_unshuffle(grad_output, upscale_factor)


@op(shape=_unshuffled, widen=False)
def pixel_unshuffle(xp: Any, x: Array, downscale_factor: int) -> Any:
    """Squares of ``r = downscale_factor`` by ``r`` pixels gathered in channels.

    This is the inverse of `pixel_shuffle`. Derivative: ``pixel_shuffle`` of ``grad_output``.

    Parameters
    ----------
    x : (..., channels, height * r, width * r)
        The pictures.
    downscale_factor
        The factor by which height and width shrink.

    Returns
    -------
    Tensor
        The smaller pictures, (..., channels * r**2, height, width).

    Raises
    ------
    ValueError
        If ``r`` does not divide height and width.

    >>> import extensor as ex
    >>> ex.pixel_unshuffle([[[1.0, 2.0], [3.0, 4.0]]], 2).flatten()
    tensor([1., 2., 3., 4.])
    >>> ex.pixel_unshuffle_backward([[[1.0]], [[2.0]], [[3.0]], [[4.0]]], (1, 2, 2), 2)
    tensor([[[1., 2.],
             [3., 4.]]])
    """
    *front, channels, height, width = x.shape
    r = downscale_factor
    split = (*front, channels, height // r, r, width // r, r)
    joined = (*front, channels * r**2, height // r, width // r)
    return _exchanged(xp, x, split, (0, 2, 4, 1, 3), joined)


@pixel_unshuffle.backward()
def pixel_unshuffle_backward(
    grad_output: Tensor, input_shape: Shape, downscale_factor: int
) -> Tensor:
    """``pixel_shuffle`` of ``grad_output``."""
    return pixel_shuffle(grad_output, downscale_factor)


def _channels_shuffled(name: str, shapes: Shapes, groups: Any) -> Shape:
    (shape,) = shapes.values()
    (count,) = ints(name, "groups", groups, 1)
    if len(shape) < 3 or shape[1] % count:
        got = {"x_shape": tuple(shape), "groups": groups}
        wanted = "x must be (batch, channels, ...) with channels divisible by groups"
        raise value_error(name, wanted, **got)
    return tuple(shape)


@op(shape=_channels_shuffled, widen=False)
def channel_shuffle(xp: Any, x: Array, groups: int) -> Any:
    """The channels of ``groups`` groups in turn: the first of each group, the second of each, ...

    Derivative: ``grad_output`` with its channels put back.

    Parameters
    ----------
    x : (batch, channels, ...)
        The input.
    groups
        The number of groups, which must divide the channels.

    Returns
    -------
    Tensor
        The same channels in another order.

    Raises
    ------
    ValueError
        If ``groups`` does not divide the channels.

    >>> import extensor as ex
    >>> ex.channel_shuffle([[[1.0], [2.0], [3.0], [4.0]]], 2).flatten()
    tensor([1., 3., 2., 4.])
    >>> ex.channel_shuffle_backward([[[1.0], [3.0], [2.0], [4.0]]], (1, 4, 1), 2).flatten()
    tensor([1., 2., 3., 4.])
    """
    batch, channels, *rest = x.shape
    split = (batch, groups, channels // groups, *rest)
    last = (1, 0, *range(2, len(rest) + 2))
    return _exchanged(xp, x, split, last, x.shape)


@channel_shuffle.backward()
def channel_shuffle_backward(grad_output: Tensor, input_shape: Shape, groups: int) -> Tensor:
    """``grad_output`` with its channels put back."""
    channels = input_shape[1]
    return channel_shuffle(grad_output, channels // groups) if channels else grad_output
