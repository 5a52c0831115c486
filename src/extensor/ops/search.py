"""Where the extremes are, and what is true of whole axes. None of these has a gradient."""

from __future__ import annotations

from operator import index
from typing import Any

from extensor.arrays.shapes import (
    Shape,
    Shapes,
    axis_indices,
    axis_or_none,
    reduced,
    reduced_nonempty,
)
from extensor.core.op import Array, op
from extensor.ops.reduction import SHARED as SHARED
from extensor.ops.reduction import Axis


def _position(name: str, shapes: Shapes, axis: Any = None, keepdims: bool = False) -> Shape:
    (shape,) = shapes.values()
    if axis is not None:
        axis_or_none(name, axis, len(shape))
    return reduced_nonempty(name, shapes, axis, keepdims)


def _axis(x: Any, axis: int | None) -> int | None:
    return None if axis is None or not x.ndim else index(axis)


@op(kernel="argmax", shape=_position, differentiable=False)
def argmax(xp: Any, x: Array, axis: int | None = None, keepdims: bool = False) -> Any:
    """The index of the first largest element along ``axis``, or of all; NaN counts as largest.

    Parameters
    ----------
    axis
        The axis to search along. By default all elements are searched, as if flattened.

    Returns
    -------
    Tensor
        The indices, of dtype int64, in the shape of ``x`` without ``axis``, or with size 1
        there.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or there is no element to choose.

    >>> import extensor as ex
    >>> ex.argmax([[1.0, 5.0], [4.0, 3.0]], axis=1)
    tensor([1, 0])
    """
    return xp.argmax(x, axis=_axis(x, axis), keepdims=keepdims)


@op(kernel="argmin", shape=_position, differentiable=False)
def argmin(xp: Any, x: Array, axis: int | None = None, keepdims: bool = False) -> Any:
    """The index of the first smallest element along ``axis``, or of all; NaN counts as smallest.

    Parameters
    ----------
    axis
        The axis to search along. By default all elements are searched, as if flattened.

    Returns
    -------
    Tensor
        The indices, of dtype int64, in the shape of ``x`` without ``axis``, or with size 1
        there.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or there is no element to choose.

    >>> import extensor as ex
    >>> ex.argmin([[1.0, 5.0], [4.0, 3.0]], axis=1)
    tensor([0, 1])
    """
    return xp.argmin(x, axis=_axis(x, axis), keepdims=keepdims)


@op(kernel="any", shape=reduced, differentiable=False)
def any(xp: Any, x: Array, axis: Axis = None, keepdims: bool = False) -> Any:
    """True if an element over ``axis`` is true (not 0); False over nothing.

    >>> import extensor as ex
    >>> ex.any([[True, False], [False, False]], axis=1)
    tensor([ True, False])
    """
    return xp.any(x, axis=axis_indices("any", axis, x.ndim), keepdims=keepdims)


@op(kernel="all", shape=reduced, differentiable=False)
def all(xp: Any, x: Array, axis: Axis = None, keepdims: bool = False) -> Any:
    """True if every element over ``axis`` is true (not 0); True over nothing.

    >>> import extensor as ex
    >>> ex.all([[True, False], [True, True]], axis=1)
    tensor([False,  True])
    """
    return xp.all(x, axis=axis_indices("all", axis, x.ndim), keepdims=keepdims)


@op(kernel="count_nonzero", shape=reduced, differentiable=False)
def count_nonzero(xp: Any, x: Array, axis: Axis = None, keepdims: bool = False) -> Any:
    """The number of elements over ``axis`` that are not 0.

    >>> import extensor as ex
    >>> ex.count_nonzero([[1.0, 0.0], [2.0, 3.0]], axis=1)
    tensor([1, 2])
    """
    axes = axis_indices("count_nonzero", axis, x.ndim)
    return xp.count_nonzero(x, axis=axes, keepdims=keepdims)
