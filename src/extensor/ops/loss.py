"""Losses: how they are reduced, and the ones that compare numbers or distributions."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from extensor.arrays.dtypes import float32, is_half
from extensor.arrays.shapes import Shape, Shapes, count, is_broadcastable_to
from extensor.arrays.supplement import gated, in_c_order
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor, to_array, wrap
from extensor.errors import arguments, value_error
from extensor.ops.chain import chain_rule
from extensor.ops.exponential import exp, log
from extensor.ops.rounding import clip, sign

SHARED = """
Parameters
----------
prediction
    The output of a model.
target
    The values to predict, in the shape of ``prediction``.
logits
    The output of a model, before any sigmoid or softmax.
reduction
    "mean" and "sum" give one number for the batch, "none" the loss of each element or sample.

Returns
-------
Tensor
    The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".

Raises
------
ValueError
    If the shapes do not fit, or ``reduction`` is none of the names.
"""

Reduction = Literal["mean", "sum", "none"]
DivergenceReduction = Reduction | Literal["batchmean"]
REDUCTIONS = ("mean", "sum", "none")


def reduced_shape(
    name: str, reduction: Any, shape: Shape, allowed: tuple[str, ...] = REDUCTIONS
) -> Shape:
    """The shape of a loss whose elements have ``shape``; an unknown reduction is an error."""
    arguments.choice(name, "reduction", reduction, allowed)
    return tuple(shape) if reduction == "none" else ()


def paired(
    name: str,
    shapes: Shapes,
    reduction: str,
    *_: Any,
    allowed: tuple[str, ...] = REDUCTIONS,
) -> Shape:
    """Two inputs of one shape, and weights that broadcast to it.

    The two do not broadcast: (n, 1) against (n,) would give n * n losses, and no one would notice.
    """
    (first, shape), (second, other), *weights = shapes.items()
    if tuple(shape) != tuple(other):
        got = {f"{first}_shape": tuple(shape), f"{second}_shape": tuple(other)}
        raise value_error(name, f"{second} must have the shape of {first}", **got)
    for weight, size in weights:
        if size is not None and not is_broadcastable_to(size, shape):
            got = {f"{weight}_shape": tuple(size)}
            raise value_error(name, f"{weight} must broadcast to shape {tuple(shape)}", **got)
    return reduced_shape(name, reduction, shape, allowed)


def divisor(shape: Shape, reduction: str) -> int:
    """The divisor of the sum of losses of ``shape``."""
    if reduction == "batchmean":
        return shape[0] if shape else 1
    return count(shape) if reduction == "mean" else 1


def reduce(xp: Any, losses: Any, reduction: str) -> Any:
    """The losses as they are, their sum or their mean; the mean of nothing is NaN."""
    if reduction == "none":
        return losses
    return xp.sum(in_c_order(losses)) / divisor(losses.shape, reduction)


def spread(grad_output: Tensor, shape: Shape, reduction: str) -> Tensor:
    """The gradient of each of the losses of ``shape``, in a form that broadcasts to them."""
    number = divisor(shape, reduction)
    return grad_output / number if number > 1 else grad_output


def as_weight(name: str, weight: Any) -> Tensor | None:
    """A weight as a tensor; one of 16 bits in float32, as it must not make the loss one."""
    if weight is None:
        return None
    array = to_array(weight, op=name)
    return wrap(array.astype(float32) if is_half(array.dtype) else array)


def weighted(gradient: Tensor, weight: Tensor | None) -> Tensor:
    """``gradient`` times ``weight``, in the dtype of the gradient."""
    return gradient if weight is None else chain_rule(gradient, weight.astype(gradient.dtype))


@op(kernel="mse_loss", shape=paired, floats=True)
def mse_loss(xp: Any, prediction: Array, target: Array, reduction: Reduction = "mean") -> Any:
    """The squared error, ``(prediction - target)**2``.

    Derivative: ``2 * (prediction - target)``, divided by the number of elements for a mean, and
    the negative of that for ``target``.

    >>> import extensor as ex
    >>> ex.mse_loss([1.0, 2.0], [0.0, 4.0])
    tensor(2.5)
    >>> ex.mse_loss_backward(1.0, [1.0, 2.0], [0.0, 4.0]).grad_prediction
    tensor([ 1., -2.])
    """
    return reduce(xp, xp.square(prediction - target), reduction)


@mse_loss.backward(kernel="mse_loss_backward")
def mse_loss_backward(
    grad_output: Tensor, prediction: Tensor, target: Tensor, reduction: Reduction = "mean"
) -> tuple[Any, Any]:
    """``2 * grad_output * (prediction - target)`` and its negative."""
    each = spread(grad_output, prediction.shape, reduction)
    gradient = chain_rule(each, 2 * (prediction - target))
    return gradient, lambda: -gradient


def _gap(prediction: Any, target: Any, reduction: str) -> Any:
    return np.abs(prediction - target)


@op(kernel="l1_loss", shape=paired, floats=True, kinks=_gap)
def l1_loss(xp: Any, prediction: Array, target: Array, reduction: Reduction = "mean") -> Any:
    """The absolute error, ``|prediction - target|``.

    Derivative: the sign of the difference, 0 where there is none, and its negative for
    ``target``.

    >>> import extensor as ex
    >>> ex.l1_loss([1.0, 2.0], [3.0, 2.0])
    tensor(1.)
    >>> ex.l1_loss_backward(1.0, [1.0, 2.0, 3.0], [0.0, 2.0, 5.0], "sum").grad_prediction
    tensor([ 1.,  0., -1.])
    """
    return reduce(xp, xp.abs(prediction - target), reduction)


@l1_loss.backward(kernel="l1_loss_backward")
def l1_loss_backward(
    grad_output: Tensor, prediction: Tensor, target: Tensor, reduction: Reduction = "mean"
) -> tuple[Any, Any]:
    """``grad_output * sign(prediction - target)`` and its negative."""
    each = spread(grad_output, prediction.shape, reduction)
    gradient = chain_rule(each, sign(prediction - target))
    return gradient, lambda: -gradient


def _smooth_l1(name: str, shapes: Shapes, reduction: str, beta: float) -> Shape:
    if not beta >= 0:
        raise value_error(name, "beta must be 0 or greater", beta=beta)
    return paired(name, shapes, reduction)


def _to_bend(prediction: Any, target: Any, reduction: str, bend: float) -> Any:
    return np.abs(np.abs(prediction - target) - bend)


@op(kernel="smooth_l1_loss", shape=_smooth_l1, floats=True, kinks=_to_bend)
def smooth_l1_loss(
    xp: Any, prediction: Array, target: Array, reduction: Reduction = "mean", beta: float = 1.0
) -> Any:
    """The smooth absolute error, a parabola for small errors and a line for large ones.

    It is ``d**2 / (2 * beta)`` where ``d`` is below ``beta``, else ``d - beta / 2``.
    ``d`` is ``|prediction - target|``. Derivative: ``(prediction - target) / beta`` held
    between -1 and 1, and its negative for ``target``. With ``beta=0`` it is ``l1_loss``.

    Parameters
    ----------
    beta
        The error at which the parabola ends.

    >>> import extensor as ex
    >>> ex.smooth_l1_loss([0.5, 3.0], [0.0, 0.0], "none")
    tensor([0.125, 2.5  ])
    >>> ex.smooth_l1_loss_backward([1.0, 1.0], [0.5, 3.0], [0.0, 0.0], "none").grad_prediction
    tensor([0.5, 1. ])
    """
    size = xp.abs(prediction - target)
    if beta == 0:
        return reduce(xp, size, reduction)
    losses = xp.where(size < beta, 0.5 * size * (size / beta), size - 0.5 * beta)
    return reduce(xp, losses, reduction)


@smooth_l1_loss.backward(kernel="smooth_l1_loss_backward")
def smooth_l1_loss_backward(
    grad_output: Tensor,
    prediction: Tensor,
    target: Tensor,
    reduction: Reduction = "mean",
    beta: float = 1.0,
) -> tuple[Any, Any]:
    """``grad_output`` times ``(prediction - target) / beta`` held in [-1, 1], and its negative."""
    each = spread(grad_output, prediction.shape, reduction)
    difference = prediction - target
    slope = sign(difference) if beta == 0 else clip(difference / beta, -1.0, 1.0)
    gradient = chain_rule(each, slope)
    return gradient, lambda: -gradient


def _huber(name: str, shapes: Shapes, reduction: str, delta: float) -> Shape:
    if not delta > 0:
        raise value_error(name, "delta must be above 0", delta=delta)
    return paired(name, shapes, reduction)


@op(kernel="huber_loss", shape=_huber, floats=True, kinks=_to_bend)
def huber_loss(
    xp: Any, prediction: Array, target: Array, reduction: Reduction = "mean", delta: float = 1.0
) -> Any:
    """The Huber loss, a parabola for small errors and a line for large ones.

    It is ``d**2 / 2`` where ``d`` is up to ``delta``, else ``delta * (d - delta / 2)``.
    ``d`` is ``|prediction - target|``. Derivative: ``prediction - target`` held between
    ``-delta`` and ``delta``, and its negative for ``target``.

    Parameters
    ----------
    delta
        The error at which the parabola ends.

    >>> import extensor as ex
    >>> ex.huber_loss_backward(1.0, [0.5, 3.0], [0.0, 0.0], "sum", delta=2.0).grad_prediction
    tensor([0.5, 2. ])
    >>> ex.huber_loss([0.5, 3.0], [0.0, 0.0], "none")
    tensor([0.125, 2.5  ])
    """
    size = xp.abs(prediction - target)
    losses = xp.where(size <= delta, 0.5 * size * size, delta * (size - 0.5 * delta))
    return reduce(xp, losses, reduction)


@huber_loss.backward(kernel="huber_loss_backward")
def huber_loss_backward(
    grad_output: Tensor,
    prediction: Tensor,
    target: Tensor,
    reduction: Reduction = "mean",
    delta: float = 1.0,
) -> tuple[Any, Any]:
    """``grad_output`` times ``prediction - target`` held in [-delta, delta], and its negative."""
    each = spread(grad_output, prediction.shape, reduction)
    gradient = chain_rule(each, clip(prediction - target, -delta, delta))
    return gradient, lambda: -gradient


def _kl_shape(name: str, shapes: Shapes, reduction: str, *_: Any) -> Shape:
    return paired(name, shapes, reduction, allowed=(*REDUCTIONS[:2], "batchmean", "none"))


@op(kernel="kl_div", shape=_kl_shape, floats=True)
def kl_div(
    xp: Any,
    x: Array,
    target: Array,
    reduction: DivergenceReduction = "mean",
    log_target: bool = False,
) -> Any:
    """The Kullback-Leibler divergence, ``target * (log(target) - x)``; 0 where ``target`` is 0.

    Derivative: ``-target``, and ``log(target) + 1 - x`` (-inf at 0); with ``log_target``
    ``-exp(target)``, and ``exp(target) * (target + 1 - x)``.

    Parameters
    ----------
    x
        Log-probabilities.
    target
        Probabilities, or their logarithms with ``log_target``, in the shape of ``x``.
    reduction
        "batchmean" divides the sum by the size of axis 0, which gives the divergence; "mean"
        divides by the number of elements.
    log_target
        Whether ``target`` holds logarithms.

    >>> import extensor as ex
    >>> ex.kl_div([[0.0, -1.0]], [[1.0, 0.0]], "batchmean")
    tensor(0.)
    >>> ex.kl_div_backward(1.0, [0.0, -1.0], [0.25, 0.75], "sum").grad_x
    tensor([-0.25, -0.75])
    """
    if log_target:
        losses = gated(xp, xp.exp(target), target - x)
    else:
        losses = gated(xp, target, xp.log(target) - x)
    return reduce(xp, losses, reduction)


@kl_div.backward(kernel="kl_div_backward")
def kl_div_backward(
    grad_output: Tensor,
    x: Tensor,
    target: Tensor,
    reduction: DivergenceReduction = "mean",
    log_target: bool = False,
) -> tuple[Any, Any]:
    """``-grad_output * target`` and ``grad_output * (log(target) + 1 - x)``."""
    each = spread(grad_output, x.shape, reduction)
    if log_target:
        return (
            lambda: chain_rule(each, -exp(target)),
            lambda: chain_rule(each, chain_rule(exp(target), target - x + 1)),
        )
    return (
        lambda: chain_rule(each, -target),
        lambda: chain_rule(each, log(target) - x + 1),
    )
