"""Other shapes and orders for the same elements. All are views where the memory allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from extensor.arrays.shapes import (
    Shape,
    Shapes,
    axis_index,
    axis_indices,
    axis_or_none,
    count,
    target,
)
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error

SHARED = """
Returns
-------
Tensor
    ``x`` in its new shape, as a view.

Raises
------
ValueError
    If an axis is out of range or named twice.
"""

Axis = int | tuple[int, ...] | None


def _reshape(name: str, shapes: Shapes, shape: Any) -> Shape:
    (source,) = shapes.values()
    sizes = list(shape) if isinstance(shape, list | tuple) else [shape]
    if sizes.count(-1) > 1:
        raise value_error(name, "only one size may be -1", shape=tuple(sizes))
    wanted = list(target(name, [1 if size == -1 else size for size in sizes]))
    if -1 in sizes:
        known = count(wanted)
        wanted[sizes.index(-1)] = count(source) // known if known else 0
    if count(wanted) != count(source):
        raise value_error(name, f"{tuple(source)} has {count(source)} elements", shape=tuple(sizes))
    return tuple(wanted)


@op(kernel="reshape", shape=_reshape, widen=False)
def reshape(xp: Any, x: Array, shape: int | Shape) -> Any:
    """The elements in another shape; one size may be -1. Derivative: back to the old shape.

    Parameters
    ----------
    shape
        The new shape. One size may be -1, which is the size that is left.

    Returns
    -------
    Tensor
        ``x`` in ``shape``: a view where the memory allows it, else a copy.

    Raises
    ------
    ValueError
        If the number of elements differs.

    >>> import extensor as ex
    >>> ex.reshape([1.0, 2.0, 3.0, 4.0], (2, -1))
    tensor([[1., 2.],
            [3., 4.]])
    >>> ex.reshape_backward([[1.0, 2.0]], (2,))
    tensor([1., 2.])
    """
    return xp.reshape(x, _reshape("reshape", {"x": x.shape}, shape))


@reshape.backward(kernel="reshape", unfolds=True)
def reshape_backward(grad_output: Tensor, input_shape: Shape) -> Tensor:
    """``grad_output`` in ``input_shape``."""
    return reshape(grad_output, input_shape)


def _squeeze(name: str, shapes: Shapes, axis: Axis) -> Shape:
    (shape,) = shapes.values()
    if axis is None:
        return tuple(size for size in shape if size != 1)
    axes = axis_indices(name, axis, len(shape))
    if any(shape[i] != 1 for i in axes):
        raise value_error(name, "axis must have size 1", axis=axis, x_shape=tuple(shape))
    return tuple(size for i, size in enumerate(shape) if i not in axes)


def _check_ones_apart(name: str, grad_output: Tensor, input_shape: Shape) -> None:
    """Both shapes must be the same but for axes of size 1."""
    if [n for n in grad_output.shape if n != 1] != [n for n in input_shape if n != 1]:
        raise value_error(
            name,
            f"grad_output must have shape {tuple(input_shape)} but for axes of size 1",
            grad_output_shape=grad_output.shape,
        )


@op(kernel="squeeze", shape=_squeeze, widen=False)
def squeeze(xp: Any, x: Array, axis: Axis = None) -> Any:
    """``x`` without ``axis``, which must have size 1; None removes every such axis.

    Derivative: ``grad_output`` in the old shape.

    Parameters
    ----------
    axis
        The axis or axes to remove, by default all of size 1.

    Raises
    ------
    ValueError
        If an axis does not have size 1 or is out of range.

    >>> import extensor as ex
    >>> ex.squeeze([[1.0, 2.0]], axis=0)
    tensor([1., 2.])
    >>> ex.squeeze([[[1.0], [2.0]]], axis=0)
    tensor([[1.],
            [2.]])
    >>> ex.squeeze_backward([1.0, 2.0], (1, 2, 1))
    tensor([[[1.],
             [2.]]])
    """
    return xp.reshape(x, _squeeze("squeeze", {"x": x.shape}, axis))


@squeeze.backward(kernel="ones_backward", unfolds=True)
def squeeze_backward(grad_output: Tensor, input_shape: Shape) -> Tensor:
    """``grad_output`` in ``input_shape``."""
    _check_ones_apart("squeeze_backward", grad_output, input_shape)
    return reshape(grad_output, input_shape)


def _unsqueeze(name: str, shapes: Shapes, axis: Any) -> Shape:
    (shape,) = shapes.values()
    if axis is None:
        raise type_error(name, "axis must be an int or a tuple of ints", axis=axis)
    added = len(axis) if isinstance(axis, list | tuple) else 1
    axes = axis_indices(name, axis, len(shape) + added)
    sizes = iter(shape)
    return tuple(1 if i in axes else next(sizes) for i in range(len(shape) + added))


@op(kernel="unsqueeze", shape=_unsqueeze, widen=False)
def unsqueeze(xp: Any, x: Array, axis: int | tuple[int, ...]) -> Any:
    """``x`` with new axes of size 1. Derivative: the same without them.

    Parameters
    ----------
    axis
        The places of the new axes among those of the result.

    >>> import extensor as ex
    >>> ex.unsqueeze([1.0, 2.0], -1)
    tensor([[1.],
            [2.]])
    >>> ex.unsqueeze([1.0, 2.0], axis=0)
    tensor([[1., 2.]])
    >>> ex.unsqueeze_backward([[1.0, 2.0]], (2,))
    tensor([1., 2.])
    """
    return xp.reshape(x, _unsqueeze("unsqueeze", {"x": x.shape}, axis))


@unsqueeze.backward(kernel="ones_backward", unfolds=True)
def unsqueeze_backward(grad_output: Tensor, input_shape: Shape) -> Tensor:
    """``grad_output`` in ``input_shape``."""
    _check_ones_apart("unsqueeze_backward", grad_output, input_shape)
    return reshape(grad_output, input_shape)


expand_dims = unsqueeze
expand_dims_backward = unsqueeze_backward


def _flatten(name: str, shapes: Shapes, start_axis: int, end_axis: int) -> Shape:
    (shape,) = shapes.values()
    ndim = max(len(shape), 1)
    start = axis_index(name, start_axis, ndim, "start_axis")
    end = axis_index(name, end_axis, ndim, "end_axis")
    if start > end:
        raise value_error(
            name,
            "start_axis must not come after end_axis",
            start_axis=start_axis,
            end_axis=end_axis,
        )
    return (*shape[:start], count(shape[start : end + 1]), *shape[end + 1 :])


@op(kernel="flatten", shape=_flatten, widen=False)
def flatten(xp: Any, x: Array, start_axis: int = 0, end_axis: int = -1) -> Any:
    """The axes from ``start_axis`` to ``end_axis``, both included, as one.

    Derivative: ``grad_output`` in the old shape.

    Parameters
    ----------
    start_axis, end_axis
        The first and the last axis to join.

    Returns
    -------
    Tensor
        ``x`` with these axes as one: a view where the memory allows it.

    Raises
    ------
    ValueError
        If an axis is out of range or ``start_axis`` is behind ``end_axis``.

    >>> import extensor as ex
    >>> ex.flatten(ex.zeros((2, 3, 4)), start_axis=1).shape
    (2, 12)
    >>> ex.flatten([[1.0, 2.0], [3.0, 4.0]])
    tensor([1., 2., 3., 4.])
    >>> ex.flatten_backward([1.0, 2.0], (2, 1))
    tensor([[1.],
            [2.]])
    """
    return xp.reshape(x, _flatten("flatten", {"x": x.shape}, start_axis, end_axis))


@flatten.backward(kernel="flatten_backward", unfolds=True)
def flatten_backward(grad_output: Tensor, input_shape: Shape) -> Tensor:
    """``grad_output`` in ``input_shape``."""
    shape = tuple(input_shape)
    joined = len(shape) - grad_output.ndim
    possible = [
        (*shape[:i], count(shape[i : i + joined + 1]), *shape[i + joined + 1 :])
        for i in range(len(shape) - joined)
    ] or [(1,)]
    if grad_output.shape not in possible:
        raise value_error(
            "flatten_backward",
            f"grad_output must have shape {shape} with neighbouring axes joined",
            grad_output_shape=grad_output.shape,
        )
    return reshape(grad_output, input_shape)


def _ravel(name: str, shapes: Shapes) -> Shape:
    (shape,) = shapes.values()
    return (count(shape),)


@op(kernel="ravel", shape=_ravel, widen=False)
def ravel(xp: Any, x: Array) -> Any:
    """All elements along one axis. Derivative: ``grad_output`` in the old shape.

    Returns
    -------
    Tensor
        All elements, of shape ``(x.size,)``: a view where the memory allows it.

    >>> import extensor as ex
    >>> ex.ravel([[1.0, 2.0], [3.0, 4.0]])
    tensor([1., 2., 3., 4.])
    >>> ex.ravel_backward([1.0, 2.0], (2, 1))
    tensor([[1.],
            [2.]])
    """
    return xp.reshape(x, (count(x.shape),))


@ravel.backward(kernel="ravel_backward", unfolds=True)
def ravel_backward(grad_output: Tensor, input_shape: Shape) -> Tensor:
    """``grad_output`` in ``input_shape``."""
    return reshape(grad_output, input_shape)


def _order(name: str, axes: Sequence[int] | None, ndim: int) -> Shape:
    """The axes in their new order; None reverses them."""
    if axes is None:
        return tuple(reversed(range(ndim)))
    if not isinstance(axes, list | tuple):
        raise type_error(name, "axes must be a tuple of ints", axes=axes)
    order = tuple(axis_index(name, axis, ndim, "axes") for axis in axes)
    if sorted(order) != list(range(ndim)):
        raise value_error(name, f"axes must name each of {ndim} axes once", axes=tuple(axes))
    return order


def _inverse(order: Shape) -> Shape:
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def _permuted_shape(name: str, shapes: Shapes, axes: Sequence[int] | None) -> Shape:
    (shape,) = shapes.values()
    return tuple(shape[axis] for axis in _order(name, axes, len(shape)))


@op(kernel="transpose", shape=_permuted_shape, widen=False)
def transpose(xp: Any, x: Array, axes: Sequence[int] | None = None) -> Any:
    """``x`` with its axes in another order. Derivative: the axes put back.

    Parameters
    ----------
    axes
        The axes of ``x`` in their new order, by default reversed.

    Raises
    ------
    ValueError
        If ``axes`` does not name each axis once.

    >>> import extensor as ex
    >>> ex.transpose([[1.0, 2.0], [3.0, 4.0]])
    tensor([[1., 3.],
            [2., 4.]])
    >>> ex.transpose_backward([[1.0], [2.0]])
    tensor([[1., 2.]])
    """
    return xp.permute_dims(x, _order("transpose", axes, x.ndim))


@transpose.backward(kernel="transpose_backward", unfolds=True)
def transpose_backward(grad_output: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    """``grad_output`` with its axes put back."""
    return transpose(grad_output, _inverse(_order("transpose_backward", axes, grad_output.ndim)))


@op(kernel="transpose", shape=_permuted_shape, widen=False)
def permute(xp: Any, x: Array, axes: Sequence[int]) -> Any:
    """``x`` with its axes in another order. Derivative: the axes put back.

    Parameters
    ----------
    axes
        The axes of ``x`` in their new order.

    Raises
    ------
    ValueError
        If ``axes`` does not name each axis once.

    >>> import extensor as ex
    >>> ex.permute(ex.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    >>> ex.permute_backward([[1.0], [2.0]], (1, 0))
    tensor([[1., 2.]])
    """
    return xp.permute_dims(x, _order("permute", axes, x.ndim))


@permute.backward(kernel="transpose_backward", unfolds=True)
def permute_backward(grad_output: Tensor, axes: Sequence[int]) -> Tensor:
    """``grad_output`` with its axes put back."""
    return permute(grad_output, _inverse(_order("permute_backward", axes, grad_output.ndim)))


def _swapped_axes(name: str, axis1: int, axis2: int, ndim: int) -> Shape:
    order = list(range(ndim))
    first = axis_or_none(name, axis1, ndim, "axis1")
    second = axis_or_none(name, axis2, ndim, "axis2")
    if first is None or second is None:
        return ()
    order[first], order[second] = second, first
    return tuple(order)


def _swapaxes(name: str, shapes: Shapes, axis1: int, axis2: int) -> Shape:
    (shape,) = shapes.values()
    return tuple(shape[axis] for axis in _swapped_axes(name, axis1, axis2, len(shape)))


@op(kernel="swapaxes", shape=_swapaxes, widen=False)
def swapaxes(xp: Any, x: Array, axis1: int, axis2: int) -> Any:
    """``x`` with two axes exchanged. Derivative: the axes exchanged again.

    Parameters
    ----------
    axis1, axis2
        The axes to exchange.

    >>> import extensor as ex
    >>> ex.swapaxes(ex.zeros((2, 3, 4)), 0, -1).shape
    (4, 3, 2)
    >>> ex.swapaxes([[1.0, 2.0], [3.0, 4.0]], 0, 1)
    tensor([[1., 3.],
            [2., 4.]])
    >>> ex.swapaxes_backward([[1.0], [2.0]], 0, 1)
    tensor([[1., 2.]])
    """
    return xp.permute_dims(x, _swapped_axes("swapaxes", axis1, axis2, x.ndim))


@swapaxes.backward(kernel="swapaxes", unfolds=True)
def swapaxes_backward(grad_output: Tensor, axis1: int, axis2: int) -> Tensor:
    """``grad_output`` with the axes exchanged again."""
    return transpose(
        grad_output, _swapped_axes("swapaxes_backward", axis1, axis2, grad_output.ndim)
    )


def _moved_axes(name: str, source: Any, destination: Any, ndim: int) -> Shape:
    sources = source if isinstance(source, list | tuple) else (source,)
    destinations = destination if isinstance(destination, list | tuple) else (destination,)
    got = {"source": source, "destination": destination}
    if len(sources) != len(destinations):
        raise value_error(name, "source and destination must have the same length", **got)
    axis_indices(name, sources, ndim, "source")
    axis_indices(name, destinations, ndim, "destination")
    goes = {
        axis_index(name, end, max(ndim, 1)): axis_index(name, start, max(ndim, 1))
        for start, end in zip(sources, destinations, strict=True)
    }
    others = iter(i for i in range(ndim) if i not in goes.values())
    return tuple(goes[i] if i in goes else next(others) for i in range(ndim))


def _moveaxis(name: str, shapes: Shapes, source: Any, destination: Any) -> Shape:
    (shape,) = shapes.values()
    return tuple(shape[axis] for axis in _moved_axes(name, source, destination, len(shape)))


@op(kernel="moveaxis", shape=_moveaxis, widen=False)
def moveaxis(
    xp: Any, x: Array, source: int | tuple[int, ...], destination: int | tuple[int, ...]
) -> Any:
    """``x`` with axes moved from ``source`` to ``destination``. Derivative: the axes moved back.

    Parameters
    ----------
    source
        The axes to move.
    destination
        Their new places, as many as there are in ``source``.

    >>> import extensor as ex
    >>> ex.moveaxis(ex.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    >>> ex.moveaxis_backward([[1.0], [2.0]], 0, -1)
    tensor([[1., 2.]])
    """
    return xp.permute_dims(x, _moved_axes("moveaxis", source, destination, x.ndim))


@moveaxis.backward(kernel="moveaxis_backward", unfolds=True)
def moveaxis_backward(
    grad_output: Tensor, source: int | tuple[int, ...], destination: int | tuple[int, ...]
) -> Tensor:
    """``grad_output`` with the axes moved back."""
    return transpose(
        grad_output,
        _inverse(_moved_axes("moveaxis_backward", source, destination, grad_output.ndim)),
    )
