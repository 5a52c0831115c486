"""Activations that shrink or cut off their input, and a rectifier with random slopes."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays.dtypes import float32, is_floating
from extensor.arrays.shapes import Shape, Shapes, same
from extensor.arrays.supplement import in_c_order
from extensor.core.creation import zeros_like
from extensor.core.op import Array, Indices, op
from extensor.core.tensor import Tensor, to_array, wrap
from extensor.errors import type_error, value_error
from extensor.ops.activation import tanh
from extensor.ops.chain import chain_rule
from extensor.ops.rounding import abs, to_zero
from extensor.ops.selection import where
from extensor.random.continuous import uniform
from extensor.random.generator import Generator

SHARED = """
Parameters
----------
slope : floats
    The slopes of the forward, one for each element or one for all.
"""


def _not_negative(name: str, shapes: Shapes, lambd: float) -> Shape:
    if not lambd >= 0:
        raise value_error(name, "lambd must be 0 or greater", lambd=lambd)
    return same(name, shapes)


def _to_edges(x: Any, lambd: float) -> Any:
    return np.abs(np.abs(x) - lambd)


@op(shape=_not_negative, floats=True, kinks=_to_edges)
def soft_shrink(xp: Any, x: Array, lambd: float = 0.5) -> Any:
    """``x`` moved towards 0 by ``lambd``, and 0 where that would change its sign.

    Derivative: 1 where ``abs(x)`` is above ``lambd``, else 0.

    Parameters
    ----------
    lambd
        How far to move.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``lambd`` is negative.

    >>> import extensor as ex
    >>> ex.soft_shrink([-2.0, 0.25, 1.0])
    tensor([-1.5,  0. ,  0.5])
    >>> ex.soft_shrink_backward([1.0, 1.0], [0.25, 1.0])
    tensor([0., 1.])
    """
    return x - xp.clip(x, -lambd, lambd)


@soft_shrink.backward()
def soft_shrink_backward(grad_output: Tensor, x: Tensor, lambd: float = 0.5) -> Tensor:
    """``grad_output`` where ``abs(x) > lambd``, else 0."""
    return where(abs(x) > lambd, grad_output, zeros_like(grad_output))


@op(shape=_not_negative, floats=True, kinks=_to_edges)
def hard_shrink(xp: Any, x: Array, lambd: float = 0.5) -> Any:
    """``x`` where ``abs(x)`` is above ``lambd``, else 0.

    Derivative: 1 where ``abs(x)`` is above ``lambd``, else 0.

    Parameters
    ----------
    lambd
        The largest magnitude that becomes 0.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``lambd`` is negative.

    >>> import extensor as ex
    >>> ex.hard_shrink([-2.0, 0.25, 1.0])
    tensor([-2.,  0.,  1.])
    >>> ex.hard_shrink_backward([1.0, 1.0], [0.25, 1.0])
    tensor([0., 1.])
    """
    return xp.where(xp.abs(x) <= lambd, xp.zeros((), dtype=x.dtype), x)


@hard_shrink.backward()
def hard_shrink_backward(grad_output: Tensor, x: Tensor, lambd: float = 0.5) -> Tensor:
    """``grad_output`` where ``abs(x) > lambd``, else 0."""
    return where(abs(x) > lambd, grad_output, zeros_like(grad_output))


@op(shape=same, floats=True)
def tanh_shrink(xp: Any, x: Array) -> Any:
    """``x - tanh(x)``. Derivative: ``tanh(x)**2``.

    >>> import extensor as ex
    >>> ex.tanh_shrink([0.0, 1.0])
    tensor([0.        , 0.23840582])
    >>> ex.tanh_shrink_backward([1.0, 1.0], [0.0, 100.0])
    tensor([0., 1.])
    """
    x = in_c_order(x)
    return xp.where(xp.isinf(x), x, x - xp.tanh(x))


@tanh_shrink.backward()
def tanh_shrink_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output * tanh(x)**2``."""
    slope = tanh(x)
    return chain_rule(grad_output, slope * slope)


def _to_threshold(x: Any, threshold: float, value: float) -> Any:
    return np.abs(x - threshold)


@op(shape=same, floats=True, kinks=_to_threshold)
def threshold(xp: Any, x: Array, threshold: float, value: float) -> Any:
    """``x`` where it is above ``threshold``, else ``value``.

    Derivative: 1 where ``x`` is above ``threshold``, else 0.

    Parameters
    ----------
    threshold
        The number that ``x`` must exceed.
    value
        What stands for the other elements.

    >>> import extensor as ex
    >>> ex.threshold([-2.0, 0.5, 1.0], 0.5, 9.0)
    tensor([9., 9., 1.])
    >>> ex.threshold_backward([1.0, 1.0], [0.5, 1.0], 0.5, 9.0)
    tensor([0., 1.])
    """
    # What is not below or at the threshold stays, and so does NaN.
    return xp.where(x <= threshold, xp.asarray(value, dtype=x.dtype), x)


@threshold.backward()
def threshold_backward(grad_output: Tensor, x: Tensor, threshold: float, value: float) -> Tensor:
    """``grad_output`` where ``x > threshold``, else 0."""
    return where(x > threshold, grad_output, zeros_like(grad_output))


def _rrelu(
    x: Any,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Generator | None = None,
) -> tuple[Any, ...]:
    if not lower <= upper:
        requirement = "lower must not be above upper"
        raise value_error("rrelu", requirement, lower=lower, upper=upper)
    x = x if isinstance(x, Tensor) else wrap(to_array(x, op="rrelu"))
    if not training:
        return x, wrap(np.asarray((lower + upper) / 2))
    # In float32 whatever the dtype of x, so that a seed gives the same slopes.
    return x, uniform(lower, upper, x.shape, float32, generator=generator)


def _as_x(name: str, shapes: Shapes, *_: Any) -> Shape:
    x, slope = tuple(shapes["x"]), tuple(shapes["slope"])
    if slope not in ((), x):
        raise value_error(name, f"slope must have shape {x} or ()", slope_shape=slope)
    return x


def _check_slope(name: str, x: Any, slope: Any) -> None:
    if not is_floating(slope.dtype):
        raise type_error(name, "slope must be floating", slope_dtype=str(slope.dtype))


@op(
    shape=_as_x,
    check=_check_slope,
    floats=True,
    kinks=to_zero,
    arguments=_rrelu,
)
def rrelu(xp: Any, x: Array, slope: Indices) -> Any:
    """A leaky rectifier whose slope for negative inputs is random in training.

    Derivative: 1 where ``x`` is positive, else the slope, also at 0.

    Parameters
    ----------
    lower, upper
        Bounds of the slopes.
    training
        Whether to draw a slope for each element. If not, all are halfway between the bounds.
    generator
        The source of the slopes, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``lower`` is above ``upper``.

    >>> import extensor as ex
    >>> ex.rrelu([-2.0, 3.0], 0.25, 0.75)
    tensor([-1.,  3.])
    >>> ex.rrelu_backward([1.0, 1.0], [-2.0, 3.0], 0.5)
    tensor([0.5, 1. ])
    """
    return xp.where(x > 0, x, x * xp.astype(slope, x.dtype))


@rrelu.backward()
def rrelu_backward(grad_output: Tensor, x: Tensor, slope: Tensor) -> Tensor:
    """``grad_output`` where ``x`` is positive, else times ``slope``."""
    return where(x > 0, grad_output, grad_output * slope.astype(grad_output.dtype))
