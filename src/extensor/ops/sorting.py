"""Orders along an axis. Sorts are stable; NaN counts as larger than every number."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays import supplement
from extensor.arrays.shapes import Shape, Shapes, axis_index, axis_or_none, same_along
from extensor.core.creation import zeros
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.gathering import scatter_add

SHARED = """
Parameters
----------
axis
    The axis to sort along.
descending
    Whether the largest elements come first.

Raises
------
ValueError
    If ``axis`` is out of range.
"""


def _line(shape: Shape) -> Shape:
    """A 0-d tensor is sorted as a line of one element."""
    return tuple(shape) or (1,)


def gap_to_neighbour(x: Any, *attributes: Any) -> Any:
    """Each element's distance to the nearest other along the axis: at 0 their order changes."""
    axis = attributes[-2]
    line = np.moveaxis(np.reshape(x, _line(x.shape)), axis, -1)
    order = np.argsort(line, axis=-1, stable=True)
    steps = np.diff(np.take_along_axis(line, order, -1), axis=-1)
    wide = np.full((*line.shape[:-1], 1), np.inf)
    nearest = np.minimum(
        np.concatenate([wide, steps], axis=-1), np.concatenate([steps, wide], axis=-1)
    )
    result = np.empty_like(nearest)
    np.put_along_axis(result, order, nearest, -1)
    return np.moveaxis(result, -1, axis).reshape(x.shape)


@op(kernel="argsort", shape=same_along, differentiable=False)
def argsort(xp: Any, x: Array, axis: int = -1, descending: bool = False) -> Any:
    """The indices that sort ``x`` along ``axis``; equal elements stay in their order.

    Returns
    -------
    Tensor
        The indices, of dtype int64, in the shape of ``x``.

    >>> import extensor as ex
    >>> ex.argsort([3.0, 1.0, 2.0, 1.0])
    tensor([1, 3, 2, 0])
    """
    line = xp.reshape(x, _line(x.shape))
    return xp.reshape(supplement.argsort(xp, line, axis, descending), x.shape)


def _put_back(gradient: Tensor, indices: Tensor, shape: Shape, axis: int) -> Tensor:
    """Zeros of ``shape`` with ``gradient`` at ``indices``."""
    if gradient.ndim == 0:
        return gradient
    return scatter_add(zeros(shape, gradient.dtype), indices, gradient, axis)


@op(shape=same_along, kinks=gap_to_neighbour)
def sort(xp: Any, x: Array, axis: int = -1, descending: bool = False) -> Any:
    """The elements of ``x`` in order along ``axis``. Derivative: to where each element came from.

    Of equal elements the first comes first, also in descending order.

    Returns
    -------
    Tensor
        The sorted elements, in the shape of ``x``.

    >>> import extensor as ex
    >>> ex.sort([3.0, 1.0, 2.0])
    tensor([1., 2., 3.])
    >>> ex.sort_backward([1.0, 10.0, 100.0], [3.0, 1.0, 2.0])
    tensor([100.,   1.,  10.])
    """
    result = xp.sort(xp.reshape(x, _line(x.shape)), axis=axis)
    return xp.reshape(xp.flip(result, axis=axis) if descending else result, x.shape)


# The order is found again rather than kept: sorting values is many times faster than finding their
# order, and indices take more memory than ``x``, which is there anyway.
@sort.backward()
def sort_backward(
    grad_output: Tensor, x: Tensor, axis: int = -1, descending: bool = False
) -> Tensor:
    """``grad_output`` put back to where each element came from."""
    return _put_back(grad_output, argsort(x, axis, descending), x.shape, axis)


def _topk(name: str, shapes: Shapes, k: Any, axis: int, *_: Any) -> Shape:
    (shape,) = shapes.values()
    line = list(_line(shape))
    axis = axis_or_none(name, axis, len(shape)) or 0
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise type_error(name, "k must be an int", k=k)
    least = 0 if shape else 1
    if not least <= k <= line[axis]:
        raise value_error(name, f"k must be in [{least}, {line[axis]}] for axis {axis}", k=k)
    line[axis] = int(k)
    return tuple(line) if shape else ()


@op(kernel="topk", shape=_topk, kinks=gap_to_neighbour)
def topk(xp: Any, x: Array, k: int, axis: int = -1, largest: bool = True) -> tuple[Any, Any]:
    """The ``k`` largest elements along ``axis``, largest first, and their indices.

    With ``largest=False`` the smallest, smallest first. Of equal elements the first is taken.
    Derivative: ``grad_output`` (of the values) to the elements taken, 0 to the others.

    Parameters
    ----------
    k
        The number of elements.
    axis
        The axis to search along.
    largest
        Whether to take the largest elements, or the smallest.

    Returns
    -------
    tuple of Tensor
        The elements, and their indices of dtype int64; ``k`` of each along ``axis``.

    Raises
    ------
    ValueError
        If ``k`` exceeds the size of ``axis`` or ``axis`` is out of range.

    >>> import extensor as ex
    >>> ex.topk([3.0, 1.0, 2.0], 2)
    (tensor([3., 2.]), tensor([0, 2]))
    >>> ex.topk_backward([1.0, 1.0], (4,), [2, 0])
    tensor([1., 0., 1., 0.])
    """
    line = xp.reshape(x, _line(x.shape))
    order = supplement.argsort(xp, line, axis, largest)
    first = (*(slice(None),) * axis_index("topk", axis, line.ndim), slice(0, k))
    shape = _topk("topk", {"x": x.shape}, k, axis)
    indices = xp.reshape(order[first], shape)
    return xp.reshape(xp.take_along_axis(line, order[first], axis=axis), shape), indices


@topk.backward()
def topk_backward(
    grad_output: Tensor, input_shape: Shape, indices: Tensor, axis: int = -1
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` at ``indices``."""
    return _put_back(grad_output, indices, input_shape, axis)
