"""Negative log-likelihoods of numbers: normal and Poisson distributions."""

from __future__ import annotations

from math import log as natural_log
from math import pi
from typing import Any

import numpy as np

from extensor.arrays.shapes import Shape, Shapes, is_broadcastable_to
from extensor.arrays.supplement import in_c_order
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.broadcasting import reduce_to_shape
from extensor.ops.chain import chain_rule
from extensor.ops.exponential import exp, log
from extensor.ops.loss import SHARED as SHARED
from extensor.ops.loss import Reduction, paired, reduce, spread
from extensor.ops.selection import where


def _gaussian(name: str, shapes: Shapes, full: bool, eps: float, reduction: str) -> Shape:
    x, var = tuple(shapes["x"]), tuple(shapes["var"])
    if not eps > 0:
        raise value_error(name, "eps must be above 0", eps=eps)
    if not is_broadcastable_to(_column(x, var), x):
        requirement = "var must have the shape of x, or that without its last axis"
        raise value_error(name, requirement, x_shape=x, var_shape=var)
    return paired(name, {key: shapes[key] for key in ("x", "target")}, reduction)


def _column(x: Shape, var: Shape) -> Shape:
    """The shape of variances that hold for the whole last axis, with that axis."""
    return (*var, 1) if var == x[:-1] and var != x else var


def _check_variances(name: str, x: Any, target: Any, var: Any, *_: Any) -> None:
    with np.errstate(invalid="ignore"):  # NaN is not negative
        wrong = var < 0
    if wrong.any():
        raise value_error(name, "var must not be negative", var=float(var[wrong][0]))


def _to_eps(x: Any, target: Any, var: Any, full: bool, eps: float, reduction: str) -> Any:
    return np.min(np.abs(var - eps))


@op(shape=_gaussian, check=_check_variances, floats=True, kinks=_to_eps)
def gaussian_nll_loss(
    xp: Any,
    x: Array,
    target: Array,
    var: Array,
    full: bool = False,
    eps: float = 1e-6,
    reduction: Reduction = "mean",
) -> Any:
    """The negative log-likelihood ``(log(var) + (x - target)**2 / var) / 2`` of normal distributions.

    A variance below ``eps`` counts as ``eps``. Derivative: ``(x - target) / var``, its negative for
    ``target``, and ``(1 - (x - target)**2 / var) / (2 * var)``, the latter also where ``var`` was
    lifted.

    Parameters
    ----------
    x
        Means.
    target
        Values, in the shape of ``x``.
    var
        Variances, in the shape of ``x`` or without its last axis.
    full
        Whether to add the constant ``log(2 * pi) / 2``.
    eps
        The least variance.

    >>> import extensor as ex
    >>> ex.gaussian_nll_loss([1.0, 2.0], [1.0, 4.0], [1.0, 1.0], reduction="none")
    tensor([0., 2.])
    >>> ex.gaussian_nll_loss_backward(1.0, [2.0], [4.0], [4.0]).grad_x
    tensor([-0.5])
    """
    var = xp.reshape(var, _column(tuple(x.shape), tuple(var.shape)))
    var = in_c_order(xp.maximum(var, xp.asarray(eps, dtype=x.dtype)))
    gap = x - target
    losses = 0.5 * (xp.log(var) + gap * gap / var)
    return reduce(xp, losses + 0.5 * natural_log(2 * pi) if full else losses, reduction)


@gaussian_nll_loss.backward()
def gaussian_nll_loss_backward(
    grad_output: Tensor,
    x: Tensor,
    target: Tensor,
    var: Tensor,
    full: bool = False,
    eps: float = 1e-6,
    reduction: Reduction = "mean",
) -> tuple[Any, Any, Any]:
    """``grad_output`` times the derivatives in mean, target and variance."""
    column = var.reshape(_column(x.shape, var.shape))
    lifted = column + where(column < eps, eps - column, 0.0).detach()
    each = spread(grad_output, x.shape, reduction)
    gap = x - target
    gradient = chain_rule(each, gap / lifted)

    def of_variance() -> Tensor:
        slope = (1 - gap * gap / lifted) / (2 * lifted)
        return reduce_to_shape(chain_rule(each, slope), column.shape).reshape(var.shape)

    return gradient, lambda: -gradient, of_variance


def _poisson(
    name: str, shapes: Shapes, log_input: bool, full: bool, eps: float, reduction: str
) -> Shape:
    return paired(name, shapes, reduction)


def _to_one(x: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: str) -> Any:
    return np.abs(target - 1) if full else np.full(np.shape(x), np.inf)


@op(shape=_poisson, floats=True, kinks=_to_one)
def poisson_nll_loss(
    xp: Any,
    x: Array,
    target: Array,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: Reduction = "mean",
) -> Any:
    """The negative log-likelihood ``exp(x) - target * x`` of Poisson distributions.

    Without ``log_input`` it is ``x - target * log(x + eps)``. Derivative: ``exp(x) - target`` or
    ``1 - target / (x + eps)``; for ``target`` ``-x`` or ``-log(x + eps)``, with ``full`` plus
    ``log(target) + 1 / (2 * target)`` above 1.

    Parameters
    ----------
    x
        Logarithms of expected counts, or expected counts.
    target
        Counts, in the shape of ``x``.
    log_input
        Whether ``x`` holds logarithms.
    full
        Whether to add Stirling's approximation of ``log(target!)`` for targets above 1.
    eps
        Number added to ``x`` before its logarithm is taken.

    >>> import extensor as ex
    >>> ex.poisson_nll_loss([0.0, 1.0], [1.0, 2.0], reduction="none")
    tensor([1.       , 0.7182817])
    >>> ex.poisson_nll_loss_backward(1.0, [0.0], [3.0]).grad_x
    tensor([-2.])
    """
    x, target = in_c_order(x), in_c_order(target)
    losses = xp.exp(x) - target * x if log_input else x - target * xp.log(x + eps)
    if full:
        many = xp.where(target > 1, target, xp.ones_like(target))
        stirling = many * xp.log(many) - many + 0.5 * xp.log(2 * pi * many)
        losses = losses + xp.where(target > 1, stirling, xp.zeros_like(target))
    return reduce(xp, losses, reduction)


@poisson_nll_loss.backward()
def poisson_nll_loss_backward(
    grad_output: Tensor,
    x: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: Reduction = "mean",
) -> tuple[Any, Any]:
    """``grad_output`` times the derivatives in the expected count and in the count."""
    each = spread(grad_output, x.shape, reduction)

    def of_target() -> Tensor:
        slope = -x if log_input else -log(x + eps)
        if full:
            many = where(target > 1, target, 1.0)
            slope = slope + where(target > 1, log(many) + 0.5 / many, 0.0)
        return chain_rule(each, slope)

    if log_input:
        return lambda: chain_rule(each, exp(x) - target), of_target
    return lambda: chain_rule(each, 1 - target / (x + eps)), of_target
