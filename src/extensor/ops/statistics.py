"""Spread, size and smooth maximum along axes: reductions whose rules need more than a shape."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np

from extensor.arrays.shapes import Shape, Shapes, axis_indices, reduced, with_axes
from extensor.arrays.supplement import in_c_order
from extensor.core.creation import ones_like, zeros_like
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.arithmetic import power
from extensor.ops.chain import chain_rule
from extensor.ops.exponential import exp
from extensor.ops.reduction import SHARED as SHARED
from extensor.ops.reduction import (
    Axis,
    expanded,
    gap_to_top,
    mean,
    reduced_count,
    share_of_winners,
)
from extensor.ops.rounding import abs, sign
from extensor.ops.selection import where


def _one_over_freedom(input_shape: Shape, axis: Axis, ddof: float) -> float:
    """``1 / (n - ddof)``, NaN where that has no meaning."""
    freedom = reduced_count(input_shape, axis) - ddof
    return 1 / freedom if freedom > 0 else nan


def _variance(xp: Any, x: Any, axis: Axis, keepdims: bool, ddof: float) -> Any:
    axes = axis_indices("var", axis, x.ndim)
    x = in_c_order(x)
    n = reduced_count(x.shape, axes)
    centred = x - xp.sum(x, axis=axes, keepdims=True) / n
    return xp.sum(centred * centred, axis=axes, keepdims=keepdims) / (n - ddof if n > ddof else 0)


@op(kernel="var", shape=reduced, floats=True)
def var(xp: Any, x: Array, axis: Axis = None, keepdims: bool = False, ddof: float = 0) -> Any:
    """The variance over ``axis``, ``sum((x - mean)**2) / (n - ddof)``.

    Derivative: ``2 * (x - mean) / (n - ddof)``. NaN over nothing, and of a single element with
    ``ddof=1``, as in NumPy.

    Parameters
    ----------
    ddof
        What is subtracted from the number of elements: 0, or 1 for an unbiased estimate.

    >>> import extensor as ex
    >>> ex.var([1.0, 2.0, 3.0, 6.0])
    tensor(3.5)
    >>> ex.var_backward(1.0, [1.0, 2.0, 3.0, 6.0])
    tensor([-1. , -0.5,  0. ,  1.5])
    """
    return _variance(xp, x, axis, keepdims, ddof)


@var.backward(kernel="var_backward")
def var_backward(
    grad_output: Tensor, x: Tensor, axis: Axis = None, keepdims: bool = False, ddof: float = 0
) -> Tensor:
    """``grad_output * 2 * (x - mean) / (n - ddof)``."""
    centred = x - mean(x, axis, keepdims=True)
    derivative = centred * (2 * _one_over_freedom(x.shape, axis, ddof))
    return chain_rule(expanded(grad_output, x.shape, axis, keepdims), derivative)


def _deviation(x: Any, axis: Axis = None, keepdims: bool = False, ddof: float = 0) -> Any:
    return np.sqrt(_variance(np, x, axis, True, ddof))


@op(kernel="std", shape=reduced, floats=True, kinks=_deviation)
def std(xp: Any, x: Array, axis: Axis = None, keepdims: bool = False, ddof: float = 0) -> Any:
    """The standard deviation over ``axis``, ``sqrt(var(x))``.

    Derivative: ``(x - mean) / ((n - ddof) * output)``, 0 at 0.

    Parameters
    ----------
    ddof
        What is subtracted from the number of elements: 0, or 1 for an unbiased estimate.

    >>> import extensor as ex
    >>> ex.std([1.0, 1.0, 5.0, 5.0])
    tensor(2.)
    >>> x = ex.tensor([1.0, 1.0, 5.0, 5.0])
    >>> ex.std_backward(1.0, x, ex.std(x))
    tensor([-0.25, -0.25,  0.25,  0.25])
    """
    return xp.sqrt(_variance(xp, x, axis, keepdims, ddof))


@std.backward(kernel="std_backward")
def std_backward(
    grad_output: Tensor,
    x: Tensor,
    output: Tensor,
    axis: Axis = None,
    keepdims: bool = False,
    ddof: float = 0,
) -> Tensor:
    """``grad_output * (x - mean) / ((n - ddof) * output)``, 0 where the output is 0."""
    gradient, size = _without_zeros(grad_output, output)
    centred = x - mean(x, axis, keepdims=True)
    derivative = centred / expanded(size, x.shape, axis, keepdims)
    derivative = derivative * _one_over_freedom(x.shape, axis, ddof)
    return chain_rule(expanded(gradient, x.shape, axis, keepdims), derivative)


def _without_zeros(grad_output: Tensor, output: Tensor) -> tuple[Tensor, Tensor]:
    """Where the output is 0, a gradient of 0 and a denominator of 1."""
    zero = output == 0
    return (
        where(zero, zeros_like(grad_output), grad_output),
        where(zero, ones_like(output), output),
    )


@op(kernel="logsumexp", shape=reduced, floats=True)
def logsumexp(xp: Any, x: Array, axis: Axis = None, keepdims: bool = False) -> Any:
    """``log(sum(exp(x)))`` over ``axis``, without overflow. Derivative: ``exp(x - output)``.

    -inf over nothing and over elements that are all -inf, where the derivative is 0.

    >>> import extensor as ex
    >>> ex.logsumexp([1000.0, -1000.0])
    tensor(1000.)
    >>> ex.logsumexp_backward(1.0, [0.0, 0.0], ex.logsumexp([0.0, 0.0]))
    tensor([0.5, 0.5])
    """
    axes = axis_indices("logsumexp", axis, x.ndim)
    if reduced_count(x.shape, axes) == 0:
        return xp.full(reduced("logsumexp", {"x": x.shape}, axes, keepdims), -inf, dtype=x.dtype)
    top = xp.max(x, axis=axes, keepdims=True)
    shift = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
    result = xp.log(xp.sum(xp.exp(in_c_order(x) - shift), axis=axes, keepdims=True)) + shift
    return result if keepdims else xp.reshape(result, reduced("logsumexp", {"x": x.shape}, axes))


@logsumexp.backward(kernel="logsumexp_backward")
def logsumexp_backward(
    grad_output: Tensor, x: Tensor, output: Tensor, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """``grad_output * exp(x - output)``, the softmax of ``x``; 0 where all elements are -inf."""
    shift = where(output == -inf, zeros_like(output), output)
    weights = exp(x - expanded(shift, x.shape, axis, keepdims))
    return chain_rule(expanded(grad_output, x.shape, axis, keepdims), weights)


def _norm_shape(name: str, shapes: Shapes, ord: Any, axis: Axis, keepdims: bool) -> Shape:
    if not isinstance(ord, int | float) or not ord > 0:
        raise value_error(name, "ord must be a number greater than 0 (or inf)", ord=ord)
    return reduced(name, shapes, axis, keepdims)


def _norm_kinks(x: Any, ord: float = 2, axis: Axis = None, keepdims: bool = False) -> Any:
    if ord < 2:
        return np.abs(x)
    to_zero = np.broadcast_to(scaled_norm(np, x, ord, axis_indices("norm", axis, x.ndim)), x.shape)
    return np.minimum(to_zero, gap_to_top(np.abs(x), axis)) if ord == inf else to_zero


def scaled_norm(xp: Any, x: Any, ord: float, axes: Shape) -> Any:
    """The p-norm over ``axes``, which are kept, without overflow."""
    x = in_c_order(x)
    size = xp.abs(x)
    if reduced_count(x.shape, axes) == 0:
        return xp.zeros(with_axes(x.shape, axes), dtype=x.dtype)
    if ord == 1:
        return xp.sum(size, axis=axes, keepdims=True)
    top = xp.max(size, axis=axes, keepdims=True)
    if ord == inf:
        return top
    # Scaled to at most 1, so that no power overflows, or vanishes with all the others.
    scale = xp.where((top > 0) & xp.isfinite(top), top, xp.ones_like(top))
    if ord == 2:
        return scale * xp.sqrt(xp.sum(xp.square(x / scale), axis=axes, keepdims=True))
    return scale * xp.sum((size / scale) ** ord, axis=axes, keepdims=True) ** (1 / ord)


@op(kernel="norm", shape=_norm_shape, floats=True, kinks=_norm_kinks)
def norm(xp: Any, x: Array, ord: float = 2, axis: Axis = None, keepdims: bool = False) -> Any:
    """The p-norm over ``axis``, ``sum(abs(x)**ord)**(1 / ord)``.

    For ``ord=inf`` it is the largest magnitude.

    Derivative: ``sign(x) * (abs(x) / output)**(ord - 1)``; 0 at elements that are 0, and so all
    over a vector of zeros; for ``ord=inf`` the sign, shared equally among the largest
    magnitudes.

    Parameters
    ----------
    ord
        The order of the norm.

    Returns
    -------
    Tensor
        The norms, in the shape of ``x`` without the reduced axes, or with size 1 there.

    Raises
    ------
    ValueError
        If ``ord`` is not possible or ``axis`` is out of range.

    >>> import extensor as ex
    >>> ex.norm([3.0, -4.0])
    tensor(5.)
    >>> ex.norm_backward(1.0, [3.0, -4.0], 5.0)
    tensor([ 0.6, -0.8])
    """
    axes = axis_indices("norm", axis, x.ndim)
    result = scaled_norm(xp, x, ord, axes)
    return result if keepdims else xp.reshape(result, reduced("norm", {"x": x.shape}, axes))


@norm.backward(kernel="norm_backward")
def norm_backward(
    grad_output: Tensor,
    x: Tensor,
    output: Tensor,
    ord: float = 2,
    axis: Axis = None,
    keepdims: bool = False,
) -> Tensor:
    """``grad_output * sign(x) * (abs(x) / output)**(ord - 1)``, 0 where ``x`` is 0."""
    gradient, size = _without_zeros(grad_output, output)
    gradient = expanded(gradient, x.shape, axis, keepdims)
    size = expanded(size, x.shape, axis, keepdims)
    if ord == 1:
        derivative = sign(x)
    elif ord == 2:
        derivative = x / size
    elif ord == inf:
        derivative = sign(x) * share_of_winners(abs(x.detach()), size.detach(), axis)
    else:
        ratio = where(x == 0, ones_like(x), abs(x) / size)
        derivative = sign(x) * power(ratio, ord - 1)
    return chain_rule(gradient, derivative)
