"""Maxima of windows together with their places, and their way back."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

from extensor.arrays.shapes import Shape, Shapes, check_shape
from extensor.arrays.supplement import set_at
from extensor.core.creation import zeros
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.gathering import scatter_add
from extensor.ops.pooling import SHARED as SHARED
from extensor.ops.pooling import gap_to_best, least, pooled, sliding
from extensor.ops.windows import Ints, Sliding, for_axes


def _with_places(name: str, axes: int, shapes: Shapes, *how: Any) -> Shape:
    result = pooled(name, axes, shapes, *how)
    (shape,) = shapes.values()
    for axis in sliding(name, tuple(shape[-axes:]), *how):
        seen = {i for _, windows, _ in axis.overlaps() for i in range(windows.start, windows.stop)}
        if len(seen) < axis.windows:
            got = {"padding": how[2], "dilation": how[3]}
            raise value_error(name, "each window must see an element", **got)
    return result


def whole_places(xp: Any, sizes: Shape) -> Any:
    """The place of each element in the flattened axes."""
    return xp.reshape(xp.arange(prod(sizes)), sizes)


def winners(xp: Any, x: Any, along: list[Sliding]) -> tuple[Any, Any]:
    """The largest element of each window and its place in the flattened axes, the first of several.

    One axis after the other, from the first, whose rows are contiguous.
    """
    places = whole_places(xp, x.shape[x.ndim - len(along) :])
    for i, axis in enumerate(along, start=x.ndim - len(along)):
        x, places = _winners_along(xp, x, xp.broadcast_to(places, x.shape), i, axis)
    return x, places


def _winners_along(xp: Any, x: Any, places: Any, i: int, axis: Sliding) -> tuple[Any, Any]:
    shape = (*x.shape[:i], axis.windows, *x.shape[i + 1 :])
    best, won = xp.full(shape, least(xp, x.dtype), dtype=x.dtype), xp.full(shape, -1)
    front = (slice(None),) * i
    for _, windows, elements in axis.overlaps():
        to, seen, held = (*front, windows), x[(*front, elements)], best[(*front, windows)]
        place = places[(*front, elements)]
        wins = (won[to] < 0) | beats(seen, place, held, won[to])
        best = set_at(best, to, xp.where(wins, seen, held))
        won = set_at(won, to, xp.where(wins, place, won[to]))
    return best, won


def beats(seen: Any, place: Any, held: Any, won: Any) -> Any:
    """Whether an element is larger than the one held, or equal and before it; NaN is largest."""
    is_nan, was_nan = seen != seen, held != held
    equal = (seen == held) | (is_nan & was_nan)
    return (seen > held) | (is_nan & ~was_nan) | (equal & (place < won))


def put_back(name: str, gradient: Tensor, shape: Shape, indices: Tensor, axes: int) -> Tensor:
    """Zeros of ``shape`` with ``gradient`` added at ``indices`` into the flattened last axes."""
    check_shape(name, "grad_output", gradient.shape, indices.shape)
    front = shape[: len(shape) - axes]
    flat = (*front, prod(gradient.shape[len(front) :]))
    nothing = zeros((*front, prod(shape[len(front) :])), gradient.dtype)
    added = scatter_add(nothing, indices.reshape(flat), gradient.reshape(flat), axis=-1)
    return added.reshape(shape)


@op(shape=for_axes(1, _with_places), kinks=partial(gap_to_best, 1))
def max_pool1d_with_indices(
    xp: Any,
    x: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> tuple[Any, Any]:
    """The largest element of each window of sequences, as in `max_pool1d`, and its place.

    Derivative: ``grad_output`` (of the maxima) to the elements at ``indices``.

    Parameters
    ----------
    x : (batch, channels, length)
        The sequences. The batch axis may be missing.

    Returns
    -------
    tuple of Tensor
        The maxima, and the index of each into the flattened axes behind the channels, int64. Of
        equal elements it is that of the first.

    >>> import extensor as ex
    >>> ex.max_pool1d_with_indices([[[1.0, 3.0, 2.0, 0.0]]], 2)
    (tensor([[[3., 2.]]]), tensor([[[1, 2]]]))
    >>> ex.max_pool1d_with_indices_backward([[[1.0, 1.0]]], (1, 1, 4), [[[1, 2]]], 2)
    tensor([[[0., 1., 1., 0.]]])
    """
    how = (kernel_size, stride, padding, dilation, ceil_mode)
    return winners(xp, x, sliding("max_pool1d_with_indices", x.shape[x.ndim - 1 :], *how))


@max_pool1d_with_indices.backward()
def max_pool1d_with_indices_backward(
    grad_output: Tensor,
    input_shape: Shape,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` added at ``indices``."""
    name = "max_pool1d_with_indices_backward"
    return put_back(name, grad_output, input_shape, indices, 1)


@op(shape=for_axes(2, _with_places), kinks=partial(gap_to_best, 2))
def max_pool2d_with_indices(
    xp: Any,
    x: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> tuple[Any, Any]:
    """The largest element of each window of pictures, as in `max_pool2d`, and its place.

    Derivative: ``grad_output`` (of the maxima) to the elements at ``indices``.

    Parameters
    ----------
    x : (batch, channels, height, width)
        The pictures. The batch axis may be missing.

    Returns
    -------
    tuple of Tensor
        The maxima, and the index of each into the flattened axes behind the channels, int64. Of
        equal elements it is that of the first.

    >>> import extensor as ex
    >>> ex.max_pool2d_with_indices([[[[1.0, 2.0], [4.0, 3.0]]]], 2)
    (tensor([[[[4.]]]]), tensor([[[[2]]]]))
    >>> ex.max_pool2d_with_indices_backward([[[[5.0]]]], (1, 1, 2, 2), [[[[2]]]], 2)
    tensor([[[[0., 0.],
              [5., 0.]]]])
    """
    how = (kernel_size, stride, padding, dilation, ceil_mode)
    return winners(xp, x, sliding("max_pool2d_with_indices", x.shape[x.ndim - 2 :], *how))


@max_pool2d_with_indices.backward()
def max_pool2d_with_indices_backward(
    grad_output: Tensor,
    input_shape: Shape,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` added at ``indices``."""
    name = "max_pool2d_with_indices_backward"
    return put_back(name, grad_output, input_shape, indices, 2)


@op(shape=for_axes(3, _with_places), kinks=partial(gap_to_best, 3))
def max_pool3d_with_indices(
    xp: Any,
    x: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> tuple[Any, Any]:
    """The largest element of each window of volumes, as in `max_pool3d`, and its place.

    Derivative: ``grad_output`` (of the maxima) to the elements at ``indices``.

    Parameters
    ----------
    x : (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.

    Returns
    -------
    tuple of Tensor
        The maxima, and the index of each into the flattened axes behind the channels, int64. Of
        equal elements it is that of the first.

    >>> import extensor as ex
    >>> ex.max_pool3d_with_indices([[[[[1.0, 2.0], [4.0, 3.0]]]]], (1, 2, 2))
    (tensor([[[[[4.]]]]]), tensor([[[[[2]]]]]))
    >>> ex.max_pool3d_with_indices_backward([[[[[5.0]]]]], (1, 1, 1, 2, 2), [[[[[2]]]]], (1, 2, 2))
    tensor([[[[[0., 0.],
               [5., 0.]]]]])
    """
    how = (kernel_size, stride, padding, dilation, ceil_mode)
    return winners(xp, x, sliding("max_pool3d_with_indices", x.shape[x.ndim - 3 :], *how))


@max_pool3d_with_indices.backward()
def max_pool3d_with_indices_backward(
    grad_output: Tensor,
    input_shape: Shape,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` added at ``indices``."""
    name = "max_pool3d_with_indices_backward"
    return put_back(name, grad_output, input_shape, indices, 3)
