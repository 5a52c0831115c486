"""Where values stand, how often they occur, and which there are. None of these has a gradient."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from extensor.arrays.shapes import Shape, Shapes
from extensor.core.op import Array, Indices, op
from extensor.errors import arguments, type_error, value_error


def _sorted_lines(name: str, shapes: Shapes, side: str) -> Shape:
    arguments.choice(name, "side", side, ("left", "right"))
    x, values = tuple(shapes["x"]), tuple(shapes["values"])
    if not x or (len(x) > 1 and x[:-1] != values[:-1]):
        requirement = "x must have one axis, or all axes of values but the last"
        raise value_error(name, requirement, x_shape=x, values_shape=values)
    return values


@op(shape=_sorted_lines, differentiable=False)
def searchsorted(xp: Any, x: Array, values: Array, side: Literal["left", "right"] = "left") -> Any:
    """The indices at which ``values`` would be inserted into the sorted ``x``, so that it stays sorted.

    With several lines in ``x``, those of ``values`` are looked for in them one by one.

    Parameters
    ----------
    x : (n,) or (..., n)
        Numbers in increasing order along the last axis.
    values
        The numbers to look for.
    side
        Whether equal numbers count as larger ("left", the first place) or as smaller ("right").

    Returns
    -------
    Tensor
        The indices, of dtype int64, in the shape of ``values``.

    Raises
    ------
    ValueError
        If the shapes do not fit or ``side`` is unknown.

    >>> import extensor as ex
    >>> ex.searchsorted([1.0, 3.0, 3.0, 5.0], [3.0, 4.0])
    tensor([1, 3])
    >>> ex.searchsorted([1.0, 3.0, 3.0, 5.0], [3.0, 4.0], side="right")
    tensor([3, 3])
    """
    if x.ndim == 1:
        places = xp.searchsorted(x, xp.reshape(values, (-1,)), side=side)
        return xp.astype(xp.reshape(places, values.shape), xp.int64)
    lines = xp.reshape(x, (-1, x.shape[-1]))
    wanted = xp.reshape(values, (lines.shape[0], -1))
    found = [xp.searchsorted(lines[k], wanted[k], side=side) for k in range(lines.shape[0])]
    places = xp.stack(found) if found else xp.zeros((0,), dtype=xp.int64)
    return xp.astype(xp.reshape(places, values.shape), xp.int64)


def _one_line(name: str, shapes: Shapes, *_: Any) -> Shape:
    boundaries = tuple(shapes["boundaries"])
    if len(boundaries) != 1:
        raise value_error(name, "boundaries must have one axis", boundaries_shape=boundaries)
    return tuple(shapes["x"])


@op(shape=_one_line, differentiable=False)
def bucketize(xp: Any, x: Array, boundaries: Array, right: bool = False) -> Any:
    """The number of the bucket of each element: the bucket ``i`` ends at ``boundaries[i]``.

    Parameters
    ----------
    boundaries : (n,)
        Numbers in increasing order.
    right
        Whether a boundary belongs to the bucket on its right, or to that on its left.

    Returns
    -------
    Tensor
        The numbers, from 0 to ``n``, of dtype int64, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``boundaries`` does not have one axis.

    >>> import extensor as ex
    >>> ex.bucketize([0.5, 2.0, 9.0], [1.0, 2.0, 3.0])
    tensor([0, 1, 3])
    >>> ex.bucketize([0.5, 2.0, 9.0], [1.0, 2.0, 3.0], right=True)
    tensor([0, 2, 3])
    """
    side = "right" if right else "left"
    places = xp.searchsorted(boundaries, xp.reshape(x, (-1,)), side=side)
    return xp.astype(xp.reshape(places, x.shape), xp.int64)


def _check_counted(name: str, x: Any, minlength: int) -> None:
    if x.ndim != 1:
        raise value_error(name, "x must have one axis", x_shape=tuple(x.shape))
    if np.dtype(x.dtype).kind not in "iu":
        raise type_error(name, "x must be integers", x_dtype=str(x.dtype))
    arguments.integer(name, "minlength", minlength, least=0)
    if x.size and x.min() < 0:
        raise value_error(name, "x must not be negative", x=int(x.min()))
    most = max(int(x.max()) + 1 if x.size else 0, minlength)
    if most >= 2**40:
        raise value_error(name, "numbers must be below 2**40", largest=most - 1)


@op(check=_check_counted, differentiable=False)
def bincount(xp: Any, x: Indices, minlength: int = 0) -> Any:
    """How often each number from 0 on occurs in ``x``.

    Parameters
    ----------
    x : (n,), ints
        Numbers from 0 on.
    minlength
        Least length of the result.

    Returns
    -------
    Tensor
        The counts, of dtype int64, up to that of the largest number.

    Raises
    ------
    ValueError
        If ``x`` does not have one axis or has negative numbers.

    >>> import extensor as ex
    >>> ex.bincount([0, 1, 1, 3])
    tensor([1, 2, 0, 1])
    """
    return np.bincount(np.asarray(x, np.int64), minlength=minlength).astype(np.int64)


@op(differentiable=False)
def nonzero(xp: Any, x: Array) -> tuple[Any, ...]:
    """The indices of the elements that are not 0, one tensor for each axis, as in NumPy.

    A 0-d tensor counts as a line of one element.

    Returns
    -------
    tuple of Tensor
        The indices along each axis, of dtype int64, in the order of the elements.

    >>> import extensor as ex
    >>> ex.nonzero([[1.0, 0.0], [2.0, 3.0]])
    (tensor([0, 1, 1]), tensor([0, 0, 1]))
    """
    return tuple(xp.nonzero(xp.reshape(x, (1,)) if x.ndim == 0 else x))


@op(differentiable=False)
def unique(xp: Any, x: Array) -> Any:
    """The distinct values of ``x`` in increasing order.

    Returns
    -------
    Tensor
        The values, along one axis.

    >>> import extensor as ex
    >>> ex.unique([3.0, 1.0, 3.0])
    tensor([1., 3.])
    """
    return xp.unique_values(x) if xp is not np else np.unique(x, equal_nan=False)


@op(differentiable=False)
def unique_inverse(xp: Any, x: Array) -> tuple[Any, Any]:
    """The distinct values of ``x`` in increasing order, and for each element the index of its value.

    Returns
    -------
    tuple of Tensor
        The values along one axis, and the indices of dtype int64 in the shape of ``x``.

    >>> import extensor as ex
    >>> ex.unique_inverse([3.0, 1.0, 3.0])
    (tensor([1., 3.]), tensor([1, 0, 1]))
    """
    return tuple(xp.unique_inverse(x))


@op(differentiable=False)
def unique_counts(xp: Any, x: Array) -> tuple[Any, Any]:
    """The distinct values of ``x`` in increasing order, and how often each of them occurs.

    Returns
    -------
    tuple of Tensor
        The values along one axis, and the counts of dtype int64.

    >>> import extensor as ex
    >>> ex.unique_counts([3.0, 1.0, 3.0])
    (tensor([1., 3.]), tensor([1, 2]))
    """
    return tuple(xp.unique_counts(x))
