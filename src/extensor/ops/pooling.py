"""The largest element of windows. Along one axis it is along two with a height of 1."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

import numpy as np

from extensor.arrays.dtypes import bool_
from extensor.arrays.shapes import Shape, Shapes
from extensor.arrays.supplement import set_at
from extensor.core.creation import ones, zeros_like
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.indexing import place
from extensor.ops.movement import squeeze, unsqueeze
from extensor.ops.selection import where
from extensor.ops.windows import (
    Ints,
    Sliding,
    as_batch,
    counts,
    for_axes,
    in_plane,
    ints,
    of_one,
    overlaps,
)

SHARED = """
Parameters
----------
kernel_size
    The size of a window: a number, or one for each axis.
stride
    The distance between neighbouring windows, by default ``kernel_size``.
padding
    The number of elements to add on each side, at most half of ``kernel_size``.
dilation
    The distance between neighbouring elements of a window.
ceil_mode
    Whether the last window may end behind the padding, instead of being dropped.
output_size
    The size of the result: a number, or one for each axis, None for an axis that stays.

Raises
------
ValueError
    If ``x`` has another number of axes, or a window does not fit into it.
"""


def sliding(
    name: str,
    size: Shape,
    kernel_size: Ints,
    stride: Ints | None,
    padding: Ints,
    dilation: Ints,
    ceil_mode: bool,
) -> list[Sliding]:
    """The windows of a pooling along each axis."""
    axes = len(size)
    kernel = ints(name, "kernel_size", kernel_size, axes)
    strides = kernel if stride is None else ints(name, "stride", stride, axes)
    added = ints(name, "padding", padding, axes, least=0)
    dilations = ints(name, "dilation", dilation, axes)
    if any(2 * p > k for p, k in zip(added, kernel, strict=True)):
        got = {"padding": padding, "kernel_size": kernel_size}
        raise value_error(name, "padding must be at most half of kernel_size", **got)
    along = []
    for n, k, s, p, d in zip(size, kernel, strides, added, dilations, strict=True):
        room = n + 2 * p - d * (k - 1) - 1
        windows = (room + (s - 1 if ceil_mode else 0)) // s + 1
        if ceil_mode and (windows - 1) * s >= n + p:  # it would begin behind the last element
            windows -= 1
        along.append(Sliding(n, k, s, d, p, windows))
    if min(*size, *counts(along)) < 1:
        raise value_error(
            name,
            "the window must fit into the padded input",
            x_size=size,
            kernel_size=kernel_size,
            padding=padding,
            dilation=dilation,
        )
    return along


def pooled(name: str, axes: int, shapes: Shapes, *how: Any) -> Shape:
    """One element for each window."""
    (shape,) = shapes.values()
    x, alone = as_batch(name, shape, axes)
    return (*x[alone:2], *counts(sliding(name, x[2:], *how)))


def _largest(xp: Any, x: Any, along: list[Sliding]) -> Any:
    best = xp.full((*x.shape[:2], *counts(along)), least(xp, x.dtype), dtype=x.dtype)
    for _, windows, elements in overlaps(along):
        seen = x[elements]
        larger = xp.maximum(best[windows], seen) if x.dtype != xp.bool else best[windows] | seen
        best = set_at(best, windows, larger)
    return best


def least(xp: Any, dtype: Any) -> Any:
    """The least number of a dtype, the result of a window that sees no element."""
    if dtype == xp.bool:
        return False
    return xp.iinfo(dtype).min if xp.isdtype(dtype, "integral") else -inf


def gap_to_best(axes: int, x: Any, *how: Any) -> Any:
    """How far each element may move before another one is the largest of one of its windows."""
    if x.ndim == axes + 1:
        return gap_to_best(axes, x[None], *how)[0]
    along = sliding("gap_to_best", x.shape[2:], *how)
    best = np.full((*x.shape[:2], *counts(along)), -inf)
    second, gap = best.copy(), np.full(x.shape, inf)
    for _, windows, elements in overlaps(along):
        second[windows] = np.maximum(second[windows], np.minimum(best[windows], x[elements]))
        best[windows] = np.maximum(best[windows], x[elements])
    for _, windows, elements in overlaps(along):
        below = best[windows] - x[elements]
        own = np.where(below == 0, best[windows] - second[windows], below)
        gap[elements] = np.minimum(gap[elements], own)
    return gap


def spread(gradient: Tensor, along: list[Sliding], share: Callable[[Any, Any], Tensor]) -> Tensor:
    """``gradient`` with the ``share`` of each element of each window added to it."""
    for _, windows, elements in overlaps(along):
        gradient = gradient + place(share(windows, elements), gradient.shape, elements)
    return gradient


@op(kernel="max_pool2d", shape=for_axes(2, pooled), kinks=partial(gap_to_best, 2))
def max_pool2d(
    xp: Any,
    x: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Any:
    """The largest element of each window of pictures. NaN counts as largest.

    Windows may begin in the ``padding`` but see no element there. Derivative: ``grad_output``
    to the largest element of its window, the first of several, row by row.

    Parameters
    ----------
    x : (batch, channels, height, width)
        The pictures. The batch axis may be missing.

    Returns
    -------
    Tensor
        The maxima, of shape (batch, channels, height, width). An axis of ``n`` elements becomes
        ``(n + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1``, rounded up with
        ``ceil_mode``.

    >>> import extensor as ex
    >>> x = ex.tensor([[[[1.0, 2.0, 5.0, 5.0], [4.0, 3.0, 5.0, 5.0]]]])
    >>> ex.max_pool2d(x, 2)
    tensor([[[[4., 5.]]]])
    >>> ex.max_pool2d_backward([[[[1.0, 1.0]]]], x, 2)
    tensor([[[[0., 0., 1., 0.],
              [1., 0., 0., 0.]]]])
    """
    how = (kernel_size, stride, padding, dilation, ceil_mode)
    if x.ndim == 3:
        return of_one(max_pool2d.op, x, (), how)
    return _largest(xp, x, sliding("max_pool2d", x.shape[2:], *how))


@max_pool2d.backward(kernel="max_pool2d_backward")
def max_pool2d_backward(
    grad_output: Tensor,
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """``grad_output`` to the first of the largest elements of each window."""
    x = x.detach()
    how = (kernel_size, stride, padding, dilation, ceil_mode)
    if x.ndim == 3:
        return squeeze(max_pool2d_backward(unsqueeze(grad_output, 0), unsqueeze(x, 0), *how), 0)
    best = max_pool2d(x, *how)
    free = ones(best.shape, bool_)

    def to_winner(windows: Any, elements: Any) -> Tensor:
        nonlocal free
        seen = x[elements]
        wins = ((seen == best[windows]) | (seen != seen)) & free[windows]
        free = free.at[windows].set(free[windows] & ~wins)
        return where(wins, grad_output[windows], 0.0)

    along = sliding("max_pool2d_backward", x.shape[2:], *how)
    return spread(zeros_like(x), along, to_winner)


@op(kernel="max_pool1d", shape=for_axes(1, pooled), kinks=partial(gap_to_best, 1))
def max_pool1d(
    xp: Any,
    x: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Any:
    """The largest element of each window of sequences. NaN counts as largest.

    Derivative: ``grad_output`` to the largest element of its window, the first of several.

    Parameters
    ----------
    x : (batch, channels, length)
        The sequences. The batch axis may be missing.

    Returns
    -------
    Tensor
        The maxima, of shape (batch, channels, length). See `max_pool2d` for the length.

    >>> import extensor as ex
    >>> ex.max_pool1d([[[1.0, 3.0, 2.0, 2.0]]], 2)
    tensor([[[3., 2.]]])
    >>> ex.max_pool1d([[[1.0, 3.0, 2.0, 0.0]]], 2)
    tensor([[[3., 2.]]])
    >>> ex.max_pool1d_backward([[[1.0, 1.0]]], [[[1.0, 3.0, 2.0, 0.0]]], 2)
    tensor([[[0., 1., 1., 0.]]])
    """
    how = (kernel_size, stride, padding, dilation, ceil_mode)
    if x.ndim == 2:
        return of_one(max_pool1d.op, x, (), how)
    return _largest(xp, x, sliding("max_pool1d", x.shape[2:], *how))


@max_pool1d.backward()
def max_pool1d_backward(
    grad_output: Tensor,
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """``grad_output`` to the first of the largest elements of each window."""
    how = (in_plane(kernel_size, 1), in_plane(stride, 1), in_plane(padding, 0))
    plane = max_pool2d_backward(
        unsqueeze(grad_output, -2), unsqueeze(x, -2), *how, in_plane(dilation, 1), ceil_mode
    )
    return squeeze(plane, -2)
