"""Sums, means and other reductions along axes."""

from __future__ import annotations

from typing import Any

from extensor.op import Array, op
from extensor.ops.broadcasting import broadcast_to
from extensor.ops.shapes import Shape, axis_indices, reduced, with_axes
from extensor.tensor import Tensor

Axis = int | tuple[int, ...] | None


def expanded(grad_output: Tensor, input_shape: Shape, axis: Axis, keepdims: bool) -> Tensor:
    """A reduction's gradient with the reduced axes put back, as size 1."""
    if keepdims:
        return grad_output
    axes = axis_indices("expanded", axis, len(input_shape))
    return grad_output.reshape(with_axes(input_shape, axes))


@op(kernel="sum", shape=reduced)
def sum(xp: Any, x: Array, axis: Axis = None, keepdims: bool = False) -> Any:
    """The sum over ``axis``. Derivative: ``grad_output`` to every element.

    >>> import extensor as ex
    >>> ex.sum([[1.0, 2.0], [3.0, 4.0]], axis=0)
    tensor([4., 6.])
    """
    axis = tuple(axis) if isinstance(axis, list) else axis
    return xp.sum(x, axis=axis, keepdims=keepdims)


@sum.backward(kernel="sum_backward")
def sum_backward(
    grad_output: Tensor, input_shape: Shape, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """``grad_output`` broadcast to ``input_shape``."""
    return broadcast_to(expanded(grad_output, input_shape, axis, keepdims), input_shape)
