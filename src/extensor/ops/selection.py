"""Choosing between two tensors, element by element."""

from __future__ import annotations

from typing import Any

from extensor.arrays.dtypes import bool_
from extensor.arrays.shapes import Shape, broadcast
from extensor.core.creation import zeros_like
from extensor.core.op import Array, Indices, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error
from extensor.ops.broadcasting import reduce_to_shape


def _check_condition(name: str, cond: Any, a: Any, b: Any) -> None:
    if cond.dtype != bool_:
        raise type_error(name, "cond must be bool", cond_dtype=str(cond.dtype))


@op(kernel="where", shape=broadcast, check=_check_condition, widen=False)
def where(xp: Any, cond: Indices, a: Array, b: Array) -> Any:
    """``a`` where ``cond`` is true, else ``b``. Derivative: ``grad_output`` to the one that was taken.

    >>> import extensor as ex
    >>> ex.where([True, False], [1.0, 2.0], 0.0)
    tensor([1., 0.])
    """
    return xp.where(cond, a, b)


@where.backward(kernel="where_backward")
def where_backward(
    grad_output: Tensor, cond: Tensor, a_shape: Shape, b_shape: Shape
) -> tuple[Any, Any]:
    """``grad_output`` to the input that was taken, zeros to the other, summed to their shapes."""
    zero = zeros_like(grad_output)
    return (
        lambda: reduce_to_shape(where(cond, grad_output, zero), a_shape),
        lambda: reduce_to_shape(where(cond, zero, grad_output), b_shape),
    )
