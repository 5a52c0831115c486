"""Arithmetic of floating-point numbers: signs, remainders, steps, blends and what is not finite."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
from ml_dtypes import finfo

from extensor.arrays.dtypes import is_floating
from extensor.arrays.shapes import Shape, Shapes, broadcast, same
from extensor.arrays.supplement import in_c_order
from extensor.core.creation import ones_like, zeros, zeros_like
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import shown, type_error
from extensor.errors.expectations import is_number
from extensor.ops.broadcasting import reduce_to_shape
from extensor.ops.chain import chain_divide, chain_rule
from extensor.ops.comparison import isfinite
from extensor.ops.rounding import abs, to_zero, trunc
from extensor.ops.selection import where
from extensor.ops.trigonometric import cos, sin

# The derivative of sin(u) / u in powers of u**2, over u; exact to rounding for |u| <= 1/2.
_SINC_SLOPE = (-1 / 3, 1 / 30, -1 / 840, 1 / 45360, -1 / 3991680, 1 / 518918400)


@op(shape=broadcast, floats=True, kinks=lambda a, b: np.minimum(np.abs(a), np.abs(b)))
def copysign(xp: Any, a: Array, b: Array) -> Any:
    """The magnitude of ``a`` with the sign of ``b``.

    Derivative: 1 where the signs are the same, else -1, and 0 where ``a`` is 0; for ``b`` 0.

    >>> import extensor as ex
    >>> ex.copysign([1.0, -2.0], [-1.0, 0.0])
    tensor([-1.,  2.])
    >>> ex.copysign_backward([1.0, 1.0], [1.0, -2.0], [-1.0, -3.0]).grad_a
    tensor([-1.,  1.])
    """
    return xp.copysign(a, b)


@copysign.backward()
def copysign_backward(grad_output: Tensor, a: Tensor, b: Tensor) -> tuple[Any, Any]:
    """``grad_output`` times the signs of ``a`` and ``b``, and zeros."""
    signs = copysign(ones_like(a), a.detach()) * copysign(ones_like(b), b.detach())
    slope = where(a == 0, 0.0, signs)
    return (
        lambda: reduce_to_shape(chain_rule(grad_output, slope), a.shape),
        lambda: zeros(b.shape, grad_output.dtype),
    )


def _to_multiple(a: Any, b: Any) -> Any:
    quotient = a / b
    return np.abs(quotient - np.round(quotient)) * np.minimum(np.abs(b), 1)


@op(shape=broadcast, floats=True, kinks=_to_multiple)
def fmod(xp: Any, a: Array, b: Array) -> Any:
    """The remainder of ``a / b`` with the sign of ``a``, as in C. Derivative: 1 and ``-trunc(a / b)``.

    >>> import extensor as ex
    >>> ex.fmod([7.0, -7.0], 3.0)
    tensor([ 1., -1.])
    >>> ex.fmod_backward([1.0], [-7.0], [3.0])
    fmod_gradients(grad_a=tensor([1.]), grad_b=tensor([2.]))
    """
    return xp.copysign(xp.remainder(xp.abs(a), xp.abs(b)), a)


@fmod.backward()
def fmod_backward(grad_output: Tensor, a: Tensor, b: Tensor) -> tuple[Any, Any]:
    """``grad_output`` and ``-grad_output * trunc(a / b)``."""
    return (
        lambda: reduce_to_shape(grad_output, a.shape),
        lambda: reduce_to_shape(chain_rule(grad_output, -trunc(a / b)), b.shape),
    )


@op(shape=broadcast, floats=True, kinks=lambda a, b: np.maximum(np.abs(a), np.abs(b)))
def hypot(xp: Any, a: Array, b: Array) -> Any:
    """``sqrt(a**2 + b**2)``, without overflow. Derivative: ``a / output`` and ``b / output``, 0 at 0.

    >>> import extensor as ex
    >>> ex.hypot([3.0, 1e30], [4.0, 0.0])
    tensor([5.e+00, 1.e+30])
    >>> ex.hypot_backward([1.0], [3.0], [4.0], [5.0])
    hypot_gradients(grad_a=tensor([0.6]), grad_b=tensor([0.8]))
    """
    return xp.hypot(a, b)


@hypot.backward()
def hypot_backward(grad_output: Tensor, a: Tensor, b: Tensor, output: Tensor) -> tuple[Any, Any]:
    """``grad_output * a / output`` and ``grad_output * b / output``."""
    gradient = where(output == 0, 0.0, grad_output)
    length = where(output == 0, 1.0, output)
    return (
        lambda: reduce_to_shape(chain_rule(gradient, a / length), a.shape),
        lambda: reduce_to_shape(chain_rule(gradient, b / length), b.shape),
    )


@op(shape=broadcast, floats=True, kinks=to_zero)
def heaviside(xp: Any, x: Array, values: Array) -> Any:
    """0 where ``x`` is negative, 1 where it is positive, and ``values`` where it is 0.

    Derivative: 0 for ``x``, and 1 for ``values`` where ``x`` is 0.

    Parameters
    ----------
    values
        The results where ``x`` is 0. They broadcast against ``x``.

    >>> import extensor as ex
    >>> ex.heaviside([-2.0, 0.0, 3.0], 0.5)
    tensor([0. , 0.5, 1. ])
    >>> ex.heaviside_backward([1.0, 1.0], [0.0, 3.0], [0.5, 0.5]).grad_values
    tensor([1., 0.])
    """
    one = xp.ones((), dtype=x.dtype)
    step = xp.where(x == 0, values, xp.where(x < 0, 0 * one, one))
    return xp.where(xp.isnan(x), x, step)


@heaviside.backward()
def heaviside_backward(grad_output: Tensor, x: Tensor, values: Tensor) -> tuple[Any, Any]:
    """Zeros, and ``grad_output`` where ``x`` is 0."""
    return (
        lambda: zeros(x.shape, grad_output.dtype),
        lambda: reduce_to_shape(where(x == 0, grad_output, 0.0), values.shape),
    )


@op(shape=broadcast, floats=True)
def lerp(xp: Any, start: Array, end: Array, weight: Array) -> Any:
    """The point between ``start`` and ``end``, ``start + weight * (end - start)``; exact at both.

    Derivative: ``1 - weight``, ``weight`` and ``end - start``.

    Parameters
    ----------
    start, end
        The points at the weights 0 and 1.
    weight
        How far along. All three broadcast against each other.

    Returns
    -------
    Tensor
        The result, in the shape to which all three broadcast.

    >>> import extensor as ex
    >>> ex.lerp([0.0, 2.0], [4.0, 4.0], 0.25)
    tensor([1. , 2.5])
    >>> ex.lerp_backward([1.0], [0.0], [4.0], [0.25]).grad_weight
    tensor([4.])
    """
    change = end - start
    return xp.where(weight < 0.5, start + weight * change, end - (1 - weight) * change)


@lerp.backward()
def lerp_backward(
    grad_output: Tensor, start: Tensor, end: Tensor, weight: Tensor
) -> tuple[Any, Any, Any]:
    """``grad_output`` times ``1 - weight``, ``weight`` and ``end - start``."""
    return (
        lambda: reduce_to_shape(chain_rule(grad_output, 1 - weight), start.shape),
        lambda: reduce_to_shape(chain_rule(grad_output, weight), end.shape),
        lambda: reduce_to_shape(chain_rule(grad_output, end - start), weight.shape),
    )


def _replacements(name: str, shapes: Shapes, nan: Any, posinf: Any, neginf: Any) -> Shape:
    for key, value in (("nan", nan), ("posinf", posinf), ("neginf", neginf)):
        if not is_number(value) and not (value is None and key != "nan"):
            raise type_error(name, f"{key} must be a number", **{key: shown(value)})
    return same(name, shapes)


@op(shape=_replacements, widen=False)
def nan_to_num(
    xp: Any,
    x: Array,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Any:
    """``x`` with NaN and infinities replaced by numbers.

    Derivative: 1 where ``x`` is finite, else 0.

    Parameters
    ----------
    nan
        What stands for NaN.
    posinf, neginf
        What stands for the infinities, by default the largest and the smallest number of the dtype.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    >>> import extensor as ex
    >>> ex.nan_to_num([float("nan"), 1.0, float("inf")], posinf=9.0)
    tensor([0., 1., 9.])
    >>> ex.nan_to_num_backward([1.0, 1.0], [float("nan"), 2.0])
    tensor([0., 1.])
    """
    if not is_floating(x.dtype):
        return xp.asarray(x, copy=True)
    limits = finfo(x.dtype) if xp is np else xp.finfo(x.dtype)  # type: ignore[no-untyped-call]
    largest = float(limits.max)
    high = largest if posinf is None else posinf
    low = -largest if neginf is None else neginf
    nan, high, low = (xp.asarray(number, dtype=x.dtype) for number in (nan, high, low))
    x = xp.where(xp.isnan(x), nan, x)
    return xp.where(xp.isinf(x), xp.where(x > 0, high, low), x)


@nan_to_num.backward()
def nan_to_num_backward(
    grad_output: Tensor,
    x: Tensor,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Tensor:
    """``grad_output`` where ``x`` is finite, else 0."""
    return where(isfinite(x), grad_output, zeros_like(grad_output))


@op(shape=same, floats=True)
def sinc(xp: Any, x: Array) -> Any:
    """``sin(pi * x) / (pi * x)``, and 1 at 0.

    Derivative: ``(cos(pi * x) - output) / x``, which keeps its digits near 0, where it is 0.

    >>> import extensor as ex
    >>> ex.sinc([0.0, 0.5])
    tensor([1.       , 0.6366198])
    >>> ex.sinc_backward([1.0, 1.0], [0.0, 0.5])
    tensor([ 0.       , -1.2732395])
    """
    x = in_c_order(x)
    zero, nearest = x == 0, xp.round(x)
    # The rounding of pi * x would cost the digits of the sine near its zeros.
    sine = xp.sin(pi * (x - nearest)) * (1 - 2 * xp.remainder(nearest, xp.full_like(x, 2)))
    return xp.where(zero, xp.ones_like(x), sine / xp.where(zero, 1.0, pi * x))


@sinc.backward()
def sinc_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output * (cos(pi * x) - sinc(x)) / x``."""
    angle = pi * x
    near = abs(angle) < 0.5
    small, large = where(near, angle, 0.0), where(near, ones_like(angle), angle)
    square = small * small
    series = zeros_like(small)
    for coefficient in reversed(_SINC_SLOPE):
        series = series * square + coefficient
    slope = chain_divide(cos(large) - chain_divide(sin(large), large), large)
    return chain_rule(grad_output, pi * where(near, series * small, slope))
