"""Products of vectors and matrices that are sums of few terms, and turns of two axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays.shapes import Shape, Shapes, axis_index, broadcast, same
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.broadcasting import reduce_to_shape


def _kron_shape(name: str, shapes: Shapes) -> Shape:
    a, b = (tuple(shape) for shape in shapes.values())
    ndim = max(len(a), len(b))
    a, b = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    return tuple(m * n for m, n in zip(a, b, strict=True))


def _woven(a: Shape, b: Shape) -> tuple[Shape, Shape]:
    """Shapes in which the axes of ``a`` and ``b`` alternate, with size 1 for those of the other."""
    ndim = max(len(a), len(b))
    a, b = (1,) * (ndim - len(a)) + a, (1,) * (ndim - len(b)) + b
    return (
        tuple(size for m in a for size in (m, 1)),
        tuple(size for n in b for size in (1, n)),
    )


@op(shape=_kron_shape)
def kron(xp: Any, a: Array, b: Array) -> Any:
    """The Kronecker product: ``b`` times each element of ``a``, as blocks.

    Derivative: the sums of ``grad_output`` times ``b`` over each block, and times ``a`` over all
    blocks.

    Parameters
    ----------
    a, b
        The factors. The one with fewer axes gets new ones in front.

    Returns
    -------
    Tensor
        The product. The size of each axis is the product of those of ``a`` and ``b``.

    >>> import extensor as ex
    >>> ex.kron([1.0, 10.0], [1.0, 2.0])
    tensor([ 1.,  2., 10., 20.])
    >>> ex.kron_backward([1.0, 1.0, 1.0, 1.0], [1.0, 10.0], [1.0, 2.0]).grad_a
    tensor([3., 3.])
    """
    first, second = _woven(a.shape, b.shape)
    product = xp.reshape(a, first) * xp.reshape(b, second)
    return xp.reshape(product, _kron_shape("kron", {"a": a.shape, "b": b.shape}))


@kron.backward()
def kron_backward(grad_output: Tensor, a: Tensor, b: Tensor) -> tuple[Any, Any]:
    """The sums of ``grad_output`` times ``b`` and times ``a``."""
    first, second = _woven(a.shape, b.shape)
    woven = tuple(m * n for m, n in zip(first, second, strict=True))
    gradient = grad_output.reshape(woven)
    return (
        lambda: reduce_to_shape(gradient * b.reshape(second), first).reshape(a.shape),
        lambda: reduce_to_shape(gradient * a.reshape(first), second).reshape(b.shape),
    )


def _cross_shape(name: str, shapes: Shapes, axis: int) -> Shape:
    for key, shape in shapes.items():
        if not shape or shape[axis_index(name, axis, len(shape))] != 3:
            got = {f"{key}_shape": tuple(shape), "axis": axis}
            raise value_error(name, "vectors must have 3 elements along axis", **got)
    whole = broadcast(name, shapes)
    if axis >= 0 and len({len(shape) for shape in shapes.values()}) > 1:
        requirement = "axis must be negative for operands of different numbers of axes"
        raise value_error(name, requirement, axis=axis)
    return whole


@op(shape=_cross_shape)
def cross(xp: Any, a: Array, b: Array, axis: int = -1) -> Any:
    """The cross product of vectors with three elements along ``axis``.

    Derivative: ``cross(b, grad_output)`` and ``cross(grad_output, a)``.

    Raises
    ------
    ValueError
        If the vectors do not have three elements, or the shapes do not broadcast.

    Returns
    -------
    Tensor
        The products, in the shape to which ``a`` and ``b`` broadcast.

    >>> import extensor as ex
    >>> ex.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    tensor([0., 0., 1.])
    >>> ex.cross_backward([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).grad_a
    tensor([1., 0., 0.])
    """

    def turned(x: Any, by: int) -> Any:
        return xp.roll(x, by, axis=axis)

    return turned(a, -1) * turned(b, 1) - turned(a, 1) * turned(b, -1)


@cross.backward()
def cross_backward(grad_output: Tensor, a: Tensor, b: Tensor, axis: int = -1) -> tuple[Any, Any]:
    """``cross(b, grad_output)`` and ``cross(grad_output, a)``, summed to the inputs' shapes."""
    return (
        lambda: reduce_to_shape(cross(b, grad_output, axis), a.shape),
        lambda: reduce_to_shape(cross(grad_output, a, axis), b.shape),
    )


def _turn(name: str, ndim: int, k: Any, axes: Any) -> tuple[int, int, int]:
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise type_error(name, "k must be an int", k=k)
    if len(axes) != 2:
        raise value_error(name, "axes must be two", axes=axes)
    first, second = (axis_index(name, axis, ndim, "axes") for axis in axes)
    if first == second:
        raise value_error(name, "axes must differ", axes=axes)
    return int(k) % 4, first, second


def _turned(name: str, shapes: Shapes, k: int, axes: tuple[int, int]) -> Shape:
    shape = list(same(name, shapes))
    quarters, first, second = _turn(name, len(shape), k, axes)
    if quarters % 2:
        shape[first], shape[second] = shape[second], shape[first]
    return tuple(shape)


@op(shape=_turned, widen=False)
def rot90(xp: Any, x: Array, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """``x`` turned by ``k`` quarters, from the first of the axes towards the second.

    Derivative: ``grad_output`` turned back.

    Parameters
    ----------
    k
        The number of quarter turns. Negative ones turn the other way.
    axes
        The plane of the turn.

    Returns
    -------
    Tensor
        The result; the two axes are exchanged if ``k`` is odd.

    Raises
    ------
    ValueError
        If the axes are out of range or the same.

    >>> import extensor as ex
    >>> ex.rot90([[1.0, 2.0], [3.0, 4.0]])
    tensor([[2., 4.],
            [1., 3.]])
    >>> ex.rot90_backward([[2.0, 4.0], [1.0, 3.0]], (2, 2))
    tensor([[1., 2.],
            [3., 4.]])
    """
    quarters, first, second = _turn("rot90", x.ndim, k, axes)
    order = list(range(x.ndim))
    order[first], order[second] = second, first
    if quarters == 0:
        return xp.asarray(x, copy=True)
    if quarters == 2:
        return xp.flip(x, axis=(first, second))
    if quarters == 1:
        return xp.permute_dims(xp.flip(x, axis=second), tuple(order))
    return xp.flip(xp.permute_dims(x, tuple(order)), axis=second)


@rot90.backward()
def rot90_backward(
    grad_output: Tensor, input_shape: Shape, k: int = 1, axes: tuple[int, int] = (0, 1)
) -> Tensor:
    """``grad_output`` turned back."""
    return rot90(grad_output, -k, axes)
