"""Reading and adding along an axis, at indices that are a tensor."""

from __future__ import annotations

from typing import Any

from extensor.arrays.shapes import Shape, Shapes, axis_index, axis_or_none, count
from extensor.arrays.supplement import add_at, along_axis
from extensor.core.creation import zeros
from extensor.core.op import Array, Indices, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.broadcasting import reduce_to_shape
from extensor.ops.indexing import place
from extensor.ops.indices import (
    check_indices,
    check_updates,
)


def _gather_shape(name: str, shapes: Shapes, axis: int) -> Shape:
    x, indices = tuple(shapes["x"]), tuple(shapes["indices"])
    got = {"x_shape": x, "indices_shape": indices}
    if len(x) != len(indices):
        raise value_error(name, "indices must have as many axes as x", **got)
    along = axis_or_none(name, axis, len(x))
    result = []
    for position, (m, n) in enumerate(zip(x, indices, strict=True)):
        if position != along and m != n and 1 not in (m, n):
            raise value_error(name, f"sizes must be equal or 1 except along axis {along}", **got)
        result.append(n if position == along or m == 1 else m)
    return tuple(result)


def _check_gather(name: str, x: Any, indices: Any, axis: int) -> None:
    if axis_or_none(name, axis, x.ndim) is None:
        check_indices(name, indices, 1, "a 0-d tensor")
        return
    _check_take(name, x, indices, axis)


@op(kernel="gather", shape=_gather_shape, check=_check_gather, widen=False)
def gather(xp: Any, x: Array, indices: Indices, axis: int) -> Any:
    """Elements of ``x`` at ``indices`` along ``axis``, line by line.

    This is NumPy's ``take_along_axis``: the other axes broadcast. Derivative: ``grad_output``
    added where it was read.

    Parameters
    ----------
    indices : ints with as many axes as ``x``
        The positions along ``axis``; negative ones count from the end.
    axis
        The axis of the positions.

    Returns
    -------
    Tensor
        The elements, in the shape of ``indices``.

    Raises
    ------
    ValueError
        If an index or ``axis`` is out of range.

    >>> import extensor as ex
    >>> ex.gather([[1.0, 2.0], [3.0, 4.0]], [[0], [1]], axis=1)
    tensor([[1.],
            [4.]])
    >>> ex.gather([[1.0, 2.0], [3.0, 4.0]], [[1], [0]], axis=1)
    tensor([[2.],
            [3.]])
    >>> ex.gather_backward([[1.0], [2.0]], (2, 2), [[1], [0]], axis=1)
    tensor([[0., 1.],
            [2., 0.]])
    """
    return xp.take_along_axis(x, indices, axis=axis) if x.ndim else x


@gather.backward(kernel="gather_backward")
def gather_backward(grad_output: Tensor, x_shape: Shape, indices: Tensor, axis: int) -> Tensor:
    """Zeros of ``x_shape`` with ``grad_output`` added at ``indices``."""
    if not x_shape:
        return grad_output
    whole = list(grad_output.shape)
    axis = axis_index("gather_backward", axis, len(whole))
    whole[axis] = x_shape[axis]
    return reduce_to_shape(
        scatter_add(zeros(tuple(whole), grad_output.dtype), indices, grad_output, axis), x_shape
    )


def scatter_shape(name: str, shapes: Shapes, axis: int) -> Shape:
    x, updates = tuple(shapes["x"]), tuple(shapes["updates"])
    chosen = _gather_shape(name, {"x": x, "indices": shapes["indices"]}, axis)
    along = axis_or_none(name, axis, len(x))
    if along is not None and (*chosen[:along], x[along], *chosen[along + 1 :]) != x:
        raise value_error(
            name,
            f"indices must not be larger than x except along axis {along}",
            x_shape=x,
            indices_shape=tuple(shapes["indices"]),
        )
    check_updates(name, updates, chosen)
    return x


def check_scatter(name: str, x: Any, indices: Any, updates: Any, axis: int) -> None:
    _check_gather(name, x, indices, axis)


@op(kernel="scatter_add", shape=scatter_shape, check=check_scatter)
def scatter_add(xp: Any, x: Array, indices: Indices, updates: Array, axis: int) -> Any:
    """A copy of ``x`` with ``updates`` added at ``indices`` along ``axis``, line by line.

    Derivative: ``grad_output`` to ``x``, ``grad_output`` read at ``indices`` to ``updates``.

    Parameters
    ----------
    x
        The tensor to copy.
    indices : ints with as many axes as ``x``
        The positions along ``axis``; negative ones count from the end.
    updates
        The values to add, in the shape of ``indices``.
    axis
        The axis of the positions.

    Returns
    -------
    Tensor
        The copy, in the shape of ``x``.

    Raises
    ------
    ValueError
        If the shapes do not fit, or an index or ``axis`` is out of range.

    >>> import extensor as ex
    >>> ex.scatter_add([0.0, 0.0, 0.0], [2, 0, 2], [1.0, 2.0, 3.0], axis=0)
    tensor([2., 0., 4.])
    >>> ex.scatter_add([0.0, 0.0], [1, 1], [2.0, 3.0], axis=0)
    tensor([0., 5.])
    >>> ex.scatter_add_backward([1.0, 5.0], (2,), [1, 1], (2,), axis=0).grad_updates
    tensor([5., 5.])
    """
    if x.ndim == 0:
        return x + updates
    index = along_axis(xp, indices, x.shape, axis_index("scatter_add", axis, x.ndim))
    return add_at(xp, xp.asarray(x, copy=True), index, updates)


@scatter_add.backward()
def scatter_add_backward(
    grad_output: Tensor, x_shape: Shape, indices: Tensor, updates_shape: Shape, axis: int
) -> tuple[Any, Any]:
    """``grad_output``, and ``grad_output`` read at ``indices``."""
    return grad_output, lambda: reduce_to_shape(gather(grad_output, indices, axis), updates_shape)


def _take_shape(name: str, shapes: Shapes, axis: int | None) -> Shape:
    x, indices = tuple(shapes["x"]), tuple(shapes["indices"])
    if axis is None:
        return indices
    axis = axis_index(name, axis, len(x))
    return (*x[:axis], *indices, *x[axis + 1 :])


def _check_take(name: str, x: Any, indices: Any, axis: int | None) -> None:
    if axis is None:
        check_indices(name, indices, count(x.shape), "the flattened tensor")
    else:
        axis = axis_index(name, axis, x.ndim)
        check_indices(name, indices, x.shape[axis], f"axis {axis}")


@op(kernel="take", shape=_take_shape, check=_check_take, widen=False)
def take(xp: Any, x: Array, indices: Indices, axis: int | None = None) -> Any:
    """Slices of ``x`` at ``indices`` along ``axis``, or elements of the flattened ``x``.

    Derivative: ``grad_output`` added where it was read.

    Parameters
    ----------
    indices : ints of any shape
        The positions; negative ones count from the end.
    axis
        The axis of the positions. By default ``x`` is flattened.

    Returns
    -------
    Tensor
        The slices; the axes of ``indices`` stand in the place of ``axis``.

    Raises
    ------
    ValueError
        If an index or ``axis`` is out of range.

    >>> import extensor as ex
    >>> ex.take([[1.0, 2.0], [3.0, 4.0]], [1, 1, 0], axis=0)
    tensor([[3., 4.],
            [3., 4.],
            [1., 2.]])
    >>> ex.take([[1.0, 2.0], [3.0, 4.0]], [1], axis=0)
    tensor([[3., 4.]])
    >>> ex.take_backward([1.0, 2.0], (3,), [0, 0])
    tensor([3., 0., 0.])
    """
    source = xp.reshape(x, (-1,)) if axis is None else x
    taken = xp.take(source, xp.reshape(indices, (-1,)), axis=0 if axis is None else axis)
    return xp.reshape(taken, _take_shape("take", {"x": x.shape, "indices": indices.shape}, axis))


@take.backward(kernel="take_backward")
def take_backward(
    grad_output: Tensor, x_shape: Shape, indices: Tensor, axis: int | None = None
) -> Tensor:
    """Zeros of ``x_shape`` with ``grad_output`` added at ``indices`` along ``axis``."""
    if axis is None:
        gradient: Tensor = place(grad_output, (count(x_shape),), indices).reshape(x_shape)
        return gradient
    axis = axis_index("take_backward", axis, len(x_shape))
    return place(grad_output, x_shape, (*(slice(None),) * axis, indices))


def _index_selected(name: str, shapes: Shapes, axis: int) -> Shape:
    if len(shapes["indices"]) != 1:
        raise value_error(
            name, "indices must have one axis", indices_shape=tuple(shapes["indices"])
        )
    return _take_shape(name, shapes, axis_index(name, axis, len(shapes["x"])))


@op(kernel="index_select", shape=_index_selected, check=_check_take, widen=False)
def index_select(xp: Any, x: Array, indices: Indices, axis: int) -> Any:
    """The slices of ``x`` at the 1-D ``indices`` along ``axis``.

    Derivative: ``grad_output`` added where it was read.

    Parameters
    ----------
    indices : (n,), ints
        The positions; negative ones count from the end.
    axis
        The axis of the positions.

    Returns
    -------
    Tensor
        The slices, with ``n`` elements along ``axis``.

    Raises
    ------
    ValueError
        If an index or ``axis`` is out of range.

    >>> import extensor as ex
    >>> ex.index_select([[1.0, 2.0], [3.0, 4.0]], [1], axis=1)
    tensor([[2.],
            [4.]])
    >>> ex.index_select([[1.0, 2.0], [3.0, 4.0]], [1, 1], axis=1)
    tensor([[2., 2.],
            [4., 4.]])
    >>> ex.index_select_backward([1.0, 2.0], (3,), [0, 0], axis=0)
    tensor([3., 0., 0.])
    """
    return xp.take(x, indices, axis=axis)


@index_select.backward(kernel="index_select_backward")
def index_select_backward(
    grad_output: Tensor, x_shape: Shape, indices: Tensor, axis: int
) -> Tensor:
    """Zeros of ``x_shape`` with ``grad_output`` added at ``indices`` along ``axis``."""
    axis = axis_index("index_select_backward", axis, len(x_shape))
    return place(grad_output, x_shape, (*(slice(None),) * axis, indices))
