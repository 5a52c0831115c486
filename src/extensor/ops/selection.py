"""Choosing between two tensors, or a tensor and a number, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays.dtypes import bool_, is_floating
from extensor.arrays.shapes import Shape, broadcast
from extensor.core.creation import zeros_like
from extensor.core.op import Array, Indices, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.broadcasting import reduce_to_shape


def _check_condition(name: str, cond: Any, a: Any, b: Any) -> None:
    if cond.dtype != bool_:
        raise type_error(name, "cond must be bool", cond_dtype=str(cond.dtype))


@op(kernel="where", shape=broadcast, check=_check_condition, widen=False)
def where(xp: Any, cond: Indices, a: Array, b: Array) -> Any:
    """Elements of ``a`` where ``cond`` is true, else of ``b``.

    Derivative: ``grad_output`` to the one that was taken.

    Parameters
    ----------
    cond : bools
        Where to take ``a``. It broadcasts with ``a`` and ``b``.
    a, b
        The values to choose from.

    Returns
    -------
    Tensor
        The chosen elements, in the shape to which all three broadcast.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    >>> import extensor as ex
    >>> ex.where([True, False], [1.0, 2.0], 0.0)
    tensor([1., 0.])
    >>> ex.where([True, False], [1.0, 2.0], [-1.0, -2.0])
    tensor([ 1., -2.])
    >>> ex.where_backward([1.0, 1.0], [True, False], (2,), (2,))
    where_gradients(grad_a=tensor([1., 0.]), grad_b=tensor([0., 1.]))
    """
    return xp.where(cond, a, b)


@where.backward(kernel="where_backward", unfolds=True)
def where_backward(
    grad_output: Tensor, cond: Tensor, a_shape: Shape, b_shape: Shape
) -> tuple[Any, Any]:
    """``grad_output`` to the input that was taken, zeros to the other, summed to their shapes."""
    zero = zeros_like(grad_output)
    return (
        lambda: reduce_to_shape(where(cond, grad_output, zero), a_shape),
        lambda: reduce_to_shape(where(cond, zero, grad_output), b_shape),
    )


def check_fill(name: str, dtype: Any, value: Any) -> None:
    """A number to fill with: one that ``dtype`` can hold."""
    if isinstance(value, Tensor) or not isinstance(value, int | float | np.number | np.bool_):
        raise type_error(name, "value must be a number", value=type(value).__name__)
    if is_floating(dtype):
        return
    low, high = (0, 1) if dtype == bool_ else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if not (low <= value <= high and value == int(value)):
        raise value_error(name, f"value must fit dtype {dtype}", value=value)


def _check_mask(name: str, x: Any, mask: Any, value: float) -> None:
    if mask.dtype != bool_:
        raise type_error(name, "mask must be bool", mask_dtype=str(mask.dtype))
    check_fill(name, x.dtype, value)


@op(kernel="masked_fill", shape=broadcast, check=_check_mask, widen=False)
def masked_fill(xp: Any, x: Array, mask: Indices, value: float) -> Any:
    """A copy of ``x`` with ``value`` where ``mask`` is true.

    Derivative: ``grad_output``, 0 where filled.

    Parameters
    ----------
    mask : bools
        Where to write ``value``. It broadcasts with ``x``.
    value
        The number to write.

    Returns
    -------
    Tensor
        The copy, in the shape to which ``x`` and ``mask`` broadcast.

    >>> import extensor as ex
    >>> ex.masked_fill([1.0, 2.0], [True, False], float("-inf"))
    tensor([-inf,   2.])
    >>> ex.masked_fill([1.0, 2.0], [False, True], -1.0)
    tensor([ 1., -1.])
    >>> ex.masked_fill_backward([1.0, 1.0], (2,), [False, True])
    tensor([1., 0.])
    """
    return xp.where(mask, xp.asarray(value, dtype=x.dtype), x)


@masked_fill.backward(kernel="masked_fill_backward")
def masked_fill_backward(grad_output: Tensor, x_shape: Shape, mask: Tensor) -> Tensor:
    """``grad_output`` with zeros where ``mask`` is true, summed to ``x_shape``."""
    return reduce_to_shape(masked_fill(grad_output, mask, 0.0), x_shape)
