"""Elements in another order, and the parts of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays.shapes import Shape, Shapes, axis_indices, count
from extensor.arrays.supplement import set_at
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.indexing import place

Axis = int | tuple[int, ...] | None


def _flip(name: str, shapes: Shapes, axis: Axis) -> Shape:
    (shape,) = shapes.values()
    axis_indices(name, axis, len(shape))
    return tuple(shape)


@op(kernel="flip", shape=_flip, widen=False)
def flip(xp: Any, x: Array, axis: Axis = None) -> Any:
    """``x`` in reverse order along axes. Derivative: ``grad_output`` backwards.

    Parameters
    ----------
    axis
        The axis or axes to reverse, by default all.

    Returns
    -------
    Tensor
        The elements in reverse order, in the shape of ``x``, as a view.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or names an axis twice.

    >>> import extensor as ex
    >>> ex.flip([1.0, 2.0, 3.0])
    tensor([3., 2., 1.])
    >>> ex.flip_backward([1.0, 2.0, 3.0])
    tensor([3., 2., 1.])
    """
    return xp.flip(x, axis=axis_indices("flip", axis, x.ndim))


@flip.backward(kernel="flip", unfolds=True)
def flip_backward(grad_output: Tensor, axis: Axis = None) -> Tensor:
    """``grad_output`` backwards along ``axis``."""
    return flip(grad_output, axis_indices("flip_backward", axis, grad_output.ndim))


def _roll(name: str, shapes: Shapes, shift: Any, axis: Axis) -> Shape:
    (shape,) = shapes.values()
    shifts = shift if isinstance(shift, list | tuple) else (shift,)
    if any(isinstance(n, bool) or not isinstance(n, int | np.integer) for n in shifts):
        raise type_error(name, "shift must be ints", shift=shift)
    axes = axis if isinstance(axis, list | tuple) else (axis,)
    if len(shifts) not in (1, len(axes)):
        raise value_error(name, "shift and axis must have the same length", shift=shift, axis=axis)
    axis_indices(name, axis, len(shape))
    return tuple(shape)


def _within(shift: int, size: int) -> int:
    """The same place on a ring of ``size``."""
    return int(shift) % max(size, 1)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


@op(shape=_roll, widen=False)
def roll(xp: Any, x: Array, shift: int | tuple[int, ...], axis: Axis = None) -> Any:
    """Elements moved along axes; those that leave at one end come back at the other.

    Derivative: ``grad_output`` rolled back.

    Parameters
    ----------
    shift
        The number of places, one for each axis. Negative numbers move towards the beginning.
    axis
        The axis or axes. By default the flattened ``x`` is rolled.

    Returns
    -------
    Tensor
        The rolled elements, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``shift`` and ``axis`` have different lengths or ``axis`` is out of range.

    >>> import extensor as ex
    >>> ex.roll([1.0, 2.0, 3.0], 1)
    tensor([3., 1., 2.])
    >>> ex.roll_backward([1.0, 2.0, 3.0], 1)
    tensor([2., 3., 1.])
    """
    if axis is None or not x.ndim:
        return xp.roll(x, _within(sum(_as_tuple(shift)), count(x.shape)))
    axes, shifts = _as_tuple(axis), _as_tuple(shift)
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    sizes = [x.shape[a] for a in axes]
    shifts = tuple(_within(n, size) for n, size in zip(shifts, sizes, strict=True))
    return xp.roll(x, shifts, axis=axes)


@roll.backward()
def roll_backward(grad_output: Tensor, shift: int | tuple[int, ...], axis: Axis = None) -> Tensor:
    """``grad_output`` rolled back."""
    _roll("roll_backward", {"grad_output": grad_output.shape}, shift, axis)
    back = tuple(-n for n in shift) if isinstance(shift, list | tuple) else -shift
    return roll(grad_output, back, axis)


def _diagonal_length(shape: Shape, k: int) -> int:
    return max(0, min(shape[0] + min(k, 0), shape[1] - max(k, 0)))


def _diagonal(length: int, k: int) -> tuple[Any, Any]:
    """The index of diagonal ``k``."""
    k = k if length else 0  # of nothing it may be beyond any index
    along = np.arange(length)
    return along - min(k, 0), along + max(k, 0)


def _check_diagonal(name: str, k: Any) -> None:
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise type_error(name, "k must be an int", k=k)


def _diag(name: str, shapes: Shapes, k: int) -> Shape:
    (shape,) = shapes.values()
    _check_diagonal(name, k)
    if len(shape) not in (1, 2):
        raise value_error(name, "x must have 1 or 2 axes", x_shape=tuple(shape))
    if len(shape) == 1:
        return (shape[0] + abs(k),) * 2
    return (_diagonal_length(shape, k),)


@op(shape=_diag, widen=False)
def diag(xp: Any, x: Array, k: int = 0) -> Any:
    """A matrix with ``x`` on diagonal ``k``, or, if ``x`` is a matrix, its diagonal ``k``.

    Derivative: ``grad_output``'s diagonal, or a matrix with ``grad_output`` on it.

    Parameters
    ----------
    x : (n,) or (n, m)
        A vector or a matrix.
    k
        The number of the diagonal: 0 is the main one, positive ones are above it.

    Returns
    -------
    Tensor
        A square matrix for a vector, a vector for a matrix.

    Raises
    ------
    ValueError
        If ``x`` has neither one nor two axes.

    >>> import extensor as ex
    >>> ex.diag([1.0, 2.0])
    tensor([[1., 0.],
            [0., 2.]])
    >>> ex.diag([[1.0, 2.0], [3.0, 4.0]], k=1)
    tensor([2.])
    >>> ex.diag_backward([[1.0, 2.0], [3.0, 4.0]], (2,))
    tensor([1., 4.])
    """
    if x.ndim == 2:
        if _diagonal_length(x.shape, k) == 0:
            return xp.zeros((0,), dtype=x.dtype)
        return xp.linalg.diagonal(x, offset=k)
    whole = xp.zeros((x.shape[0] + abs(k),) * 2, dtype=x.dtype)
    return set_at(whole, _diagonal(x.shape[0], k), x)


@diag.backward()
def diag_backward(grad_output: Tensor, input_shape: Shape, k: int = 0) -> Tensor:
    """The diagonal of ``grad_output``, or a matrix of ``input_shape`` with it on the diagonal."""
    if len(input_shape) == 1:
        return diag(grad_output, k)
    return place(grad_output, input_shape, _diagonal(grad_output.shape[0], k))


def _matrices(name: str, shapes: Shapes, k: int) -> Shape:
    (shape,) = shapes.values()
    _check_diagonal(name, k)
    if len(shape) < 2:
        raise value_error(name, "x must have at least 2 axes", x_shape=tuple(shape))
    return tuple(shape)


def _inside(shape: Shape, k: int) -> int:
    """The diagonal, or the nearest beyond a corner, where all that are further out are alike."""
    return int(max(-shape[-2], min(k, shape[-1])))


@op(shape=_matrices, widen=False)
def tril(xp: Any, x: Array, k: int = 0) -> Any:
    """``x`` with zeros above diagonal ``k`` of its last two axes. Derivative: the same part.

    Parameters
    ----------
    x : (..., n, m)
        The matrices.
    k
        The number of the last diagonal that stays: 0 is the main one, positive ones are above
        it.

    Returns
    -------
    Tensor
        The lower triangles, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``x`` has fewer than two axes.

    >>> import extensor as ex
    >>> ex.tril(ex.ones((2, 2)))
    tensor([[1., 0.],
            [1., 1.]])
    >>> ex.tril([[1.0, 2.0], [3.0, 4.0]])
    tensor([[1., 0.],
            [3., 4.]])
    >>> ex.tril_backward([[1.0, 1.0], [1.0, 1.0]])
    tensor([[1., 0.],
            [1., 1.]])
    """
    return xp.tril(x, k=_inside(x.shape, k))


@tril.backward()
def tril_backward(grad_output: Tensor, k: int = 0) -> Tensor:
    """``grad_output`` with zeros above diagonal ``k``."""
    _matrices("tril_backward", {"grad_output": grad_output.shape}, k)
    return tril(grad_output, k)


@op(shape=_matrices, widen=False)
def triu(xp: Any, x: Array, k: int = 0) -> Any:
    """``x`` with zeros below diagonal ``k`` of its last two axes. Derivative: the same part.

    Parameters
    ----------
    x : (..., n, m)
        The matrices.
    k
        The number of the first diagonal that stays: 0 is the main one, positive ones are above
        it.

    Returns
    -------
    Tensor
        The upper triangles, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``x`` has fewer than two axes.

    >>> import extensor as ex
    >>> ex.triu(ex.ones((2, 2)))
    tensor([[1., 1.],
            [0., 1.]])
    >>> ex.triu([[1.0, 2.0], [3.0, 4.0]])
    tensor([[1., 2.],
            [0., 4.]])
    >>> ex.triu_backward([[1.0, 1.0], [1.0, 1.0]])
    tensor([[1., 1.],
            [0., 1.]])
    """
    return xp.triu(x, k=_inside(x.shape, k))


@triu.backward()
def triu_backward(grad_output: Tensor, k: int = 0) -> Tensor:
    """``grad_output`` with zeros below diagonal ``k``."""
    _matrices("triu_backward", {"grad_output": grad_output.shape}, k)
    return triu(grad_output, k)
