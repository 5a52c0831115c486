"""Diagonals of any two axes: read, written into zeros, and summed."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays.shapes import Shape, Shapes, axis_index, same
from extensor.arrays.supplement import set_at
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.broadcasting import broadcast_to
from extensor.ops.indexing import place
from extensor.ops.movement import moveaxis

SHARED = """
Parameters
----------
offset
    The number of the diagonal: 0 is the main one, positive ones are above it.
axis1, axis2
    The axes of the rows and of the columns.

Raises
------
ValueError
    If the axes are out of range or the same.
"""


def _axes(name: str, ndim: int, offset: Any, axis1: Any, axis2: Any) -> tuple[int, int]:
    if isinstance(offset, bool) or not isinstance(offset, int | np.integer):
        raise type_error(name, "offset must be an int", offset=offset)
    rows = axis_index(name, axis1, ndim, "axis1")
    columns = axis_index(name, axis2, ndim, "axis2")
    if rows == columns:
        raise value_error(name, "axis1 and axis2 must differ", axis1=axis1, axis2=axis2)
    return rows, columns


def _length(rows: int, columns: int, offset: int) -> int:
    return max(0, min(rows + min(offset, 0), columns - max(offset, 0)))


def _diagonal_shape(name: str, shapes: Shapes, offset: int, axis1: int, axis2: int) -> Shape:
    shape = same(name, shapes)
    rows, columns = _axes(name, len(shape), offset, axis1, axis2)
    rest = [size for axis, size in enumerate(shape) if axis not in (rows, columns)]
    return (*rest, _length(shape[rows], shape[columns], offset))


def _index(length: int, offset: int) -> tuple[Any, Any, Any]:
    """The diagonal of the last two axes."""
    steps, offset = (
        np.arange(length),
        int(offset) if length else 0,
    )  # else it may be beyond any index
    return ..., steps + max(0, -offset), steps + max(0, offset)


def _last_diagonal(xp: Any, x: Any, offset: int) -> Any:
    if _length(x.shape[-2], x.shape[-1], offset) == 0:  # it may be beyond any index
        return xp.zeros((*x.shape[:-2], 0), dtype=x.dtype)
    return xp.linalg.diagonal(x, offset=int(offset))


@op(shape=_diagonal_shape, widen=False)
def diagonal(xp: Any, x: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """A diagonal of two axes of ``x``, as the last axis of the result.

    Derivative: zeros with ``grad_output`` on that diagonal.

    Returns
    -------
    Tensor
        The diagonals. Their axis stands behind all others.

    >>> import extensor as ex
    >>> ex.diagonal([[1.0, 2.0], [3.0, 4.0]], offset=1)
    tensor([2.])
    >>> ex.diagonal_backward([1.0, 5.0], (2, 2))
    tensor([[1., 0.],
            [0., 5.]])
    """
    axes = _axes("diagonal", x.ndim, offset, axis1, axis2)
    moved = xp.moveaxis(x, axes, (-2, -1))
    return _last_diagonal(xp, moved, offset)


@diagonal.backward()
def diagonal_backward(
    grad_output: Tensor, input_shape: Shape, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` on the diagonal."""
    axes = _axes("diagonal_backward", len(input_shape), offset, axis1, axis2)
    sides = tuple(input_shape[axis] for axis in axes)
    whole = (*grad_output.shape[:-1], *sides)
    placed = place(grad_output, whole, _index(grad_output.shape[-1], offset))
    return moveaxis(placed, (-2, -1), axes)


def _embedded(name: str, shapes: Shapes, offset: int, axis1: int, axis2: int) -> Shape:
    shape = same(name, shapes)
    if not shape:
        raise value_error(name, "x must have at least one axis", x_shape=shape)
    axes = _axes(name, len(shape) + 1, offset, axis1, axis2)
    rest = iter(shape[:-1])
    side = shape[-1] + abs(int(offset))
    return tuple(side if axis in axes else next(rest) for axis in range(len(shape) + 1))


@op(shape=_embedded, widen=False)
def diag_embed(xp: Any, x: Array, offset: int = 0, axis1: int = -2, axis2: int = -1) -> Any:
    """Zeros with the last axis of ``x`` on a diagonal of two new axes.

    Derivative: that diagonal of ``grad_output``.

    Returns
    -------
    Tensor
        The matrices, with the new axes at ``axis1`` and ``axis2``.

    >>> import extensor as ex
    >>> ex.diag_embed([1.0, 2.0])
    tensor([[1., 0.],
            [0., 2.]])
    >>> ex.diag_embed_backward([[1.0, 2.0], [3.0, 4.0]], (2,))
    tensor([1., 4.])
    """
    axes = _axes("diag_embed", x.ndim + 1, offset, axis1, axis2)
    side = x.shape[-1] + abs(int(offset))
    whole = xp.zeros((*x.shape[:-1], side, side), dtype=x.dtype)
    return xp.moveaxis(set_at(whole, _index(x.shape[-1], offset), x), (-2, -1), axes)


@diag_embed.backward()
def diag_embed_backward(
    grad_output: Tensor, input_shape: Shape, offset: int = 0, axis1: int = -2, axis2: int = -1
) -> Tensor:
    """The diagonal of ``grad_output``."""
    return diagonal(grad_output, offset, axis1, axis2)


def _trace_shape(name: str, shapes: Shapes, offset: int, axis1: int, axis2: int) -> Shape:
    return _diagonal_shape(name, shapes, offset, axis1, axis2)[:-1]


@op(shape=_trace_shape)
def trace(xp: Any, x: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The sum of a diagonal of two axes of ``x``. Derivative: ``grad_output`` on the diagonal.

    Returns
    -------
    Tensor
        The sums, in the shape of ``x`` without the two axes.

    >>> import extensor as ex
    >>> ex.trace([[1.0, 2.0], [3.0, 4.0]])
    tensor(5.)
    >>> ex.trace_backward(1.0, (2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    axes = _axes("trace", x.ndim, offset, axis1, axis2)
    moved = xp.moveaxis(x, axes, (-2, -1))
    return xp.sum(_last_diagonal(xp, moved, offset), axis=-1)


@trace.backward()
def trace_backward(
    grad_output: Tensor, input_shape: Shape, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` all along the diagonal."""
    shapes = {"x": input_shape}
    along = _diagonal_shape("trace_backward", shapes, offset, axis1, axis2)
    spread = broadcast_to(grad_output.reshape((*grad_output.shape, 1)), along)
    return diagonal_backward(spread, input_shape, offset, axis1, axis2)
