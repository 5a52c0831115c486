"""Broadcasting and its adjoint, the sum over the axes that it added or stretched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from extensor.arrays.shapes import Shape, Shapes, broadcast, is_broadcastable_to, target
from extensor.arrays.supplement import in_c_order
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.errors.explanation import explaining


@explaining
def broadcast_shapes(*shapes: Sequence[int]) -> Shape:
    """The shape that tensors of the given shapes broadcast to.

    Parameters
    ----------
    *shapes : int or sequence of ints
        The shapes.

    Returns
    -------
    tuple of int
        The shape to which they broadcast.

    Raises
    ------
    ValueError
        If they do not broadcast.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    named = {f"shape{i}": target("broadcast_shapes", s) for i, s in enumerate(shapes)}
    return broadcast("broadcast_shapes", named)


@explaining
def are_shapes_broadcastable(a: Sequence[int], b: Sequence[int]) -> bool:
    """True if tensors of shapes ``a`` and ``b`` broadcast against each other.

    Parameters
    ----------
    a, b : sequence of ints
        The shapes.

    Returns
    -------
    bool
        Whether they broadcast.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.are_shapes_broadcastable((2, 3), (2,))
    False
    """
    sizes = zip(reversed(tuple(a)), reversed(tuple(b)), strict=False)
    return all(m == n or 1 in (m, n) for m, n in sizes)


@explaining
def compute_broadcast_strides(shape: Sequence[int], target: Sequence[int]) -> Shape:
    """Element strides that read a contiguous tensor of ``shape`` as if it had shape ``target``.

    Parameters
    ----------
    shape : sequence of ints
        The shape of the tensor.
    target : sequence of ints
        The shape to read it in.

    Returns
    -------
    tuple of int
        A stride for each axis of ``target``, in elements; 0 where the tensor is stretched.

    Raises
    ------
    ValueError
        If ``shape`` does not broadcast to ``target``.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.compute_broadcast_strides((3, 1), (2, 3, 4))
    (0, 1, 0)
    """
    shape, target = tuple(shape), tuple(target)
    _broadcast_to_shape("compute_broadcast_strides", {"x": shape}, target)
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(0 if size == 1 else step)
        step *= size
    return (0,) * (len(target) - len(shape)) + tuple(reversed(strides))


def _broadcast_to_shape(name: str, given: Shapes, shape: Any) -> Shape:
    (source,) = given.values()
    wanted = target(name, shape)
    if not is_broadcastable_to(source, wanted):
        raise value_error(name, f"must broadcast to shape {wanted}", x_shape=tuple(source))
    return wanted


@op(kernel="broadcast_to", shape=_broadcast_to_shape, widen=False)
def broadcast_to(xp: Any, x: Array, shape: int | Shape) -> Any:
    """``x`` stretched to ``shape``, as a read-only view.

    Derivative: the sum over the stretched axes.

    Returns
    -------
    Tensor
        ``x`` in ``shape``, without a copy. It cannot be written to.

    Raises
    ------
    ValueError
        If ``x`` does not broadcast to ``shape``.

    >>> import extensor as ex
    >>> ex.broadcast_to([1.0, 2.0], (2, 2))
    tensor([[1., 2.],
            [1., 2.]])
    >>> ex.broadcast_to_backward([[1.0, 2.0], [3.0, 4.0]], (2,))
    tensor([4., 6.])
    """
    return xp.broadcast_to(x, target("broadcast_to", shape))


@broadcast_to.backward(kernel="reduce_to_shape", unfolds=True)
def broadcast_to_backward(grad_output: Tensor, input_shape: Shape) -> Tensor:
    """The sum of ``grad_output`` over the axes that were added or stretched."""
    return reduce_to_shape(grad_output, input_shape)


def _reduce_to_shape(name: str, given: Shapes, shape: Any) -> Shape:
    (source,) = given.values()
    wanted = target(name, shape)
    if not is_broadcastable_to(wanted, source):
        raise value_error(name, f"shape {wanted} must broadcast to that of grad", grad_shape=source)
    return wanted


@op(kernel="reduce_to_shape", shape=_reduce_to_shape)
def reduce_to_shape(xp: Any, grad: Array, shape: Shape) -> Any:
    """Sum ``grad`` over the axes that broadcasting from ``shape`` added or stretched.

    Derivative: ``grad_output`` broadcast back.

    Parameters
    ----------
    grad
        The gradient of a broadcast tensor.
    shape
        The shape before broadcasting.

    Returns
    -------
    Tensor
        The sum, in ``shape``.

    Raises
    ------
    ValueError
        If ``shape`` does not broadcast to the shape of ``grad``.

    >>> import extensor as ex
    >>> ex.reduce_to_shape(ex.ones((2, 3)), (3,))
    tensor([2., 2., 2.])
    >>> ex.reduce_to_shape([[1.0, 2.0], [3.0, 4.0]], (2,))
    tensor([4., 6.])
    >>> ex.reduce_to_shape_backward([1.0, 2.0], (2, 2))
    tensor([[1., 2.],
            [1., 2.]])
    """
    shape = target("reduce_to_shape", shape)
    if tuple(grad.shape) == shape:
        return grad
    added = grad.ndim - len(shape)
    stretched = [added + i for i, n in enumerate(shape) if n == 1 and grad.shape[added + i] != 1]
    axes = (*range(added), *stretched)
    total = xp.sum(in_c_order(grad), axis=axes, dtype=grad.dtype) if axes else grad
    return xp.reshape(total, shape)


@reduce_to_shape.backward(kernel="broadcast_to", unfolds=True)
def reduce_to_shape_backward(grad_output: Tensor, input_shape: Shape) -> Tensor:
    """``grad_output`` broadcast to the shape of the input."""
    return broadcast_to(grad_output, input_shape)


def summed_to(gradient: Tensor, shape: Shape) -> Tensor:
    """`reduce_to_shape`, without a call where there is nothing to sum."""
    return gradient if gradient.shape == shape else reduce_to_shape(gradient, shape)
