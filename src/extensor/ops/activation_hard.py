"""Activations made of straight lines, and one parabola: cheap stand-ins for the smooth ones.

At a corner the slope is the outer one, 0 or 1, as with ``relu``.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.arrays.shapes import Shape, Shapes, same
from extensor.arrays.supplement import clamped
from extensor.core.creation import zeros_like
from extensor.core.door import namespace
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.chain import chain_rule
from extensor.ops.selection import where


def _between(x: Tensor, low: float, high: float, grad_output: Tensor) -> Tensor:
    """``grad_output`` where ``low < x < high``, else 0."""
    return where((x > low) & (x < high), grad_output, zeros_like(grad_output))


def _to_corners(x: Any, low: float, high: float) -> Any:
    return np.minimum(np.abs(x - low), np.abs(x - high))


@op(kernel="relu6", shape=same, kinks=lambda x: _to_corners(x, 0, 6))
def relu6(xp: Any, x: Array) -> Any:
    """The rectifier with an upper bound, ``min(max(x, 0), 6)``.

    Derivative: 1 between 0 and 6, else 0, also at both.

    >>> import extensor as ex
    >>> ex.relu6([-1.0, 3.0, 8.0])
    tensor([0., 3., 6.])
    >>> ex.relu6_backward([1.0, 1.0, 1.0], [-1.0, 3.0, 6.0])
    tensor([0., 1., 0.])
    """
    return clamped(xp, x, 0, 6)


@relu6.backward(kernel="relu6_backward")
def relu6_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output`` where ``0 < x < 6``, else 0."""
    return _between(x, 0, 6, grad_output)


@op(kernel="hard_sigmoid", shape=same, floats=True, kinks=lambda x: _to_corners(x, -3, 3))
def hard_sigmoid(xp: Any, x: Array) -> Any:
    """A piecewise linear sigmoid, ``min(max(x + 3, 0), 6) / 6``.

    Derivative: 1/6 between -3 and 3, else 0, also at both.

    >>> import extensor as ex
    >>> ex.hard_sigmoid([-4.0, 0.0, 1.5])
    tensor([0.  , 0.5 , 0.75])
    >>> ex.hard_sigmoid_backward([6.0, 6.0], [0.0, 3.0])
    tensor([1., 0.])
    """
    return xp.clip(x + 3, 0, 6) / 6


@hard_sigmoid.backward(kernel="hard_sigmoid_backward")
def hard_sigmoid_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output / 6`` where ``-3 < x < 3``, else 0."""
    return _between(x, -3, 3, grad_output / 6)


@op(kernel="hard_swish", shape=same, floats=True, kinks=lambda x: _to_corners(x, -3, 3))
def hard_swish(xp: Any, x: Array) -> Any:
    """A piecewise quadratic swish, ``x * min(max(x + 3, 0), 6) / 6``.

    Derivative: ``(2 * x + 3) / 6`` between -3 and 3, 0 from -3 downwards and 1 from 3 upwards.

    >>> import extensor as ex
    >>> ex.hard_swish([-3.0, 1.0, 3.0])
    tensor([0.       , 0.6666667, 3.       ])
    >>> ex.hard_swish_backward([1.0, 1.0, 1.0], [-3.0, 0.0, 3.0])
    tensor([0. , 0.5, 1. ])
    """
    return xp.where(x <= -3, xp.zeros((), dtype=x.dtype), x * (xp.clip(x + 3, 0, 6) / 6))


@hard_swish.backward(kernel="hard_swish_backward")
def hard_swish_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output`` times 0, ``(2 * x + 3) / 6`` or 1."""
    slope = where(x < 3, (2 * x + 3) / 6, 1.0)
    return chain_rule(grad_output, where(x <= -3, 0.0, slope))


def _hardtanh_shape(name: str, shapes: Shapes, min_val: float, max_val: float) -> Shape:
    if not min_val < max_val:
        raise value_error(name, "min_val must be below max_val", min_val=min_val, max_val=max_val)
    return same(name, shapes)


def _range(x: Any) -> tuple[int, int]:
    """The least and the largest of the integers of ``x``'s dtype; booleans are 0 and 1."""
    xp = namespace(x)
    return (0, 1) if x.dtype == xp.bool else (xp.iinfo(x.dtype).min, xp.iinfo(x.dtype).max)


def _check_whole(name: str, x: Any, min_val: float, max_val: float) -> None:
    if is_floating(x.dtype):
        return
    got = {"min_val": min_val, "max_val": max_val, "x_dtype": str(x.dtype)}
    if any(isfinite(bound) and bound != int(bound) for bound in (min_val, max_val)):
        raise value_error(name, "bounds of integers must be whole numbers", **got)
    least, largest = _range(x)
    if min_val > largest or max_val < least:
        raise value_error(name, "bounds must be in the range of x's dtype", **got)


@op(kernel="hard_tanh", shape=_hardtanh_shape, check=_check_whole, kinks=_to_corners)
def hard_tanh(xp: Any, x: Array, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """``x`` limited to ``[min_val, max_val]``.

    Derivative: 1 between the bounds, else 0, also at both.

    It differs from ``clip`` in nothing but the slope at the bounds.

    Parameters
    ----------
    min_val, max_val
        The bounds. For an ``x`` of integers they must be whole numbers.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``min_val`` is not below ``max_val``.

    >>> import extensor as ex
    >>> ex.hard_tanh([-2.0, 0.5, 1.0])
    tensor([-1. ,  0.5,  1. ])
    >>> ex.hard_tanh_backward([1.0, 1.0, 1.0], [-2.0, 0.5, 1.0])
    tensor([0., 1., 0.])
    """
    if not is_floating(x.dtype):
        least, largest = _range(x)
        min_val, max_val = int(max(min_val, least)), int(min(max_val, largest))
    return clamped(xp, x, min_val, max_val)


@hard_tanh.backward(kernel="hard_tanh_backward")
def hard_tanh_backward(
    grad_output: Tensor, x: Tensor, min_val: float = -1.0, max_val: float = 1.0
) -> Tensor:
    """``grad_output`` where ``min_val < x < max_val``, else 0."""
    return _between(x, min_val, max_val, grad_output)
