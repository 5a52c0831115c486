"""Losses of yes-or-no predictions: as probabilities, as logits, as scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays import supplement
from extensor.arrays.shapes import Shape, Shapes
from extensor.core.op import Array, Indices, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.activation import sigmoid
from extensor.ops.activation_smooth import softplus
from extensor.ops.arithmetic import maximum, power
from extensor.ops.chain import chain_divide, chain_rule, lift
from extensor.ops.exponential import log, log1p
from extensor.ops.loss import SHARED as SHARED
from extensor.ops.loss import Reduction, as_weight, paired, reduce, spread, weighted
from extensor.ops.selection import where

# As PyTorch: the logarithm of a probability of 0 counts as -100, and p * (1 - p) as at least 1e-12.
LEAST_LOG = -100.0
LEAST_DENOMINATOR = 1e-12


def _in_dtype(xp: Any, weight: Any, like: Any) -> Any:
    return xp.astype(weight, like.dtype, copy=False)


def _binary_cross_entropy(
    prediction: Any, target: Any, reduction: Reduction = "mean", weight: Any = None
) -> tuple[Any, ...]:
    return prediction, target, as_weight("binary_cross_entropy", weight), reduction


def _check_probabilities(
    name: str, prediction: Any, target: Any, weight: Any, reduction: str
) -> None:
    with np.errstate(invalid="ignore"):  # NaN is neither
        outside = (prediction < 0) | (prediction > 1)
    if outside.any():
        first = float(prediction[outside][0])
        raise value_error(name, "prediction must be in [0, 1]", prediction=first)


@op(
    kernel="binary_cross_entropy",
    shape=paired,
    check=_check_probabilities,
    floats=True,
    arguments=_binary_cross_entropy,
)
def binary_cross_entropy(
    xp: Any,
    prediction: Array,
    target: Array,
    weight: Indices | None = None,
    reduction: Reduction = "mean",
) -> Any:
    """The binary cross-entropy of probabilities.

    It is ``-(target * log(prediction) + (1 - target) * log(1 - prediction))``, times
    ``weight``. Each logarithm is at least -100, so a sure mistake costs 100. Derivative in
    ``prediction`` p: ``(p - target) / (p * (1 - p))``, a denominator below 1e-12 lifted to it;
    in ``target``: ``log(1 - p) - log(p)``. ``weight`` has no gradient.

    Parameters
    ----------
    prediction
        Probabilities, from 0 to 1.
    target
        Labels 0 and 1, or probabilities, in the shape of ``prediction``.
    weight
        Factors of the losses, to whose shape they broadcast.

    >>> import extensor as ex
    >>> ex.binary_cross_entropy([0.5, 1.0, 0.0], [1.0, 1.0, 1.0], "none")
    tensor([  0.6931472,   0.       , 100.       ])
    >>> ex.binary_cross_entropy_backward(1.0, [0.5, 0.75], [1.0, 0.0], "sum").grad_prediction
    tensor([-2.,  4.])
    """
    least = xp.asarray(LEAST_LOG, dtype=prediction.dtype)
    yes = xp.maximum(xp.log(prediction), least)
    no = xp.maximum(xp.log1p(-prediction), least)
    # Subtracted from 0, as the negative of 0 would print a minus.
    losses = 0 - target * yes - (1 - target) * no
    if weight is not None:
        losses = losses * _in_dtype(xp, weight, losses)
    return reduce(xp, losses, reduction)


@binary_cross_entropy.backward(kernel="binary_cross_entropy_backward")
def binary_cross_entropy_backward(
    grad_output: Tensor,
    prediction: Tensor,
    target: Tensor,
    reduction: Reduction = "mean",
    weight: Tensor | None = None,
) -> tuple[Any, Any]:
    """``grad_output`` times ``(p - target) / (p * (1 - p))`` and ``log(1 - p) - log(p)``."""
    each = weighted(spread(grad_output, prediction.shape, reduction), weight)

    def to_prediction() -> Tensor:
        denominator = lift(prediction * (1 - prediction), LEAST_DENOMINATOR)
        return chain_divide(chain_rule(each, prediction - target), denominator)

    def to_target() -> Tensor:
        yes = maximum(log(prediction), LEAST_LOG)
        no = maximum(log1p(-prediction), LEAST_LOG)
        return chain_rule(each, no - yes)

    return to_prediction, to_target


def _losses_of_logits(xp: Any, logits: Any, target: Any) -> tuple[Any, Any]:
    """The parts of the cross-entropy of targets 1 and 0, without overflow."""
    zero = xp.zeros((), dtype=logits.dtype)
    tail = xp.log1p(xp.exp(-xp.abs(logits)))
    yes = supplement.gated(xp, target, xp.maximum(-logits, zero) + tail)
    return yes, supplement.gated(xp, 1 - target, xp.maximum(logits, zero) + tail)


def _binary_cross_entropy_with_logits(
    logits: Any,
    target: Any,
    reduction: Reduction = "mean",
    weight: Any = None,
    pos_weight: Any = None,
) -> tuple[Any, ...]:
    name = "binary_cross_entropy_with_logits"
    return logits, target, as_weight(name, weight), as_weight(name, pos_weight), reduction


@op(
    kernel="binary_cross_entropy_with_logits",
    shape=paired,
    floats=True,
    arguments=_binary_cross_entropy_with_logits,
)
def binary_cross_entropy_with_logits(
    xp: Any,
    logits: Array,
    target: Array,
    weight: Indices | None = None,
    pos_weight: Indices | None = None,
    reduction: Reduction = "mean",
) -> Any:
    """The binary cross-entropy of ``sigmoid(logits)``, computed without overflow or cancellation.

    Derivative in ``logits`` x:
    ``(1 - target) * sigmoid(x) - pos_weight * target * sigmoid(-x)``, so
    ``sigmoid(x) - target`` without ``pos_weight``; in ``target``:
    ``pos_weight * softplus(-x) - softplus(x)``.

    Parameters
    ----------
    target
        Labels 0 and 1, or probabilities, in the shape of ``logits``.
    weight
        Factors of the losses, to whose shape they broadcast. They have no gradient.
    pos_weight
        Factors of the losses of positive targets. They broadcast too, and have no gradient.

    >>> import extensor as ex
    >>> ex.binary_cross_entropy_with_logits([10000.0, -10000.0], [1.0, 1.0], "none")
    tensor([    0., 10000.])
    >>> ex.binary_cross_entropy_with_logits_backward(1.0, [0.0], [1.0]).grad_logits
    tensor([-0.5])
    """
    yes, no = _losses_of_logits(xp, logits, target)
    if pos_weight is not None:
        yes = yes * _in_dtype(xp, pos_weight, yes)
    losses = yes + no
    if weight is not None:
        losses = losses * _in_dtype(xp, weight, losses)
    return reduce(xp, losses, reduction)


@binary_cross_entropy_with_logits.backward(kernel="binary_cross_entropy_with_logits_backward")
def binary_cross_entropy_with_logits_backward(
    grad_output: Tensor,
    logits: Tensor,
    target: Tensor,
    reduction: Reduction = "mean",
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
) -> tuple[Any, Any]:
    """``grad_output`` times the derivatives in ``logits`` and ``target``."""
    each = weighted(spread(grad_output, logits.shape, reduction), weight)

    def to_logits() -> Tensor:
        yes = weighted(target, pos_weight)
        return chain_rule(each, (1 - target) * sigmoid(logits) - yes * sigmoid(-logits))

    def to_target() -> Tensor:
        if pos_weight is None:
            return chain_rule(each, -logits)
        return chain_rule(each, weighted(softplus(-logits), pos_weight) - softplus(logits))

    return to_logits, to_target


def _focal(name: str, shapes: Shapes, alpha: float, gamma: float, reduction: str) -> Shape:
    if not (0 <= alpha <= 1 or alpha == -1):
        raise value_error(name, "alpha must be in [0, 1], or -1 for no balance", alpha=alpha)
    if not gamma >= 0:
        raise value_error(name, "gamma must be 0 or greater", gamma=gamma)
    return paired(name, shapes, reduction)


@op(shape=_focal, floats=True)
def focal_loss(
    xp: Any,
    logits: Array,
    target: Array,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: Reduction = "mean",
) -> Any:
    """The binary cross-entropy of ``logits`` times ``balance * miss**gamma`` (Lin et al. 2017).

    ``miss`` is the probability given to the wrong answer,
    ``target * sigmoid(-logits) + (1 - target) * sigmoid(logits)``, and ``balance`` is
    ``alpha * target + (1 - alpha) * (1 - target)``, or 1 with ``alpha=-1``. Derivative: by the
    product rule, for ``logits`` and ``target``, with its digits where the answer is right and sure.

    Parameters
    ----------
    target
        Labels 0 and 1, or probabilities, in the shape of ``logits``.
    alpha
        The weight of positive targets, from 0 to 1; -1 for no weights.
    gamma
        How strongly easy samples are discounted; 0 gives the cross-entropy.

    >>> import extensor as ex
    >>> ex.focal_loss([0.0, 10000.0], [1.0, 1.0], alpha=1.0, reduction="none")
    tensor([0.1732868, 0.       ])
    >>> ex.focal_loss_backward(1.0, [0.0, 10000.0], [1.0, 1.0], reduction="sum").grad_logits
    tensor([-0.0745717,  0.       ])
    """
    yes, no = _losses_of_logits(xp, logits, target)
    miss = target * supplement.sigmoid(xp, -logits) + (1 - target) * supplement.sigmoid(xp, logits)
    losses = supplement.gated(xp, miss**gamma, yes + no)
    if alpha >= 0:
        losses = losses * (alpha * target + (1 - alpha) * (1 - target))
    return reduce(xp, losses, reduction)


@focal_loss.backward()
def focal_loss_backward(
    grad_output: Tensor,
    logits: Tensor,
    target: Tensor,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: Reduction = "mean",
) -> tuple[Any, Any]:
    """``grad_output`` times the derivatives in ``logits`` and ``target``."""
    each = spread(grad_output, logits.shape, reduction)
    yes, no = sigmoid(logits), sigmoid(-logits)
    miss = target * no + (1 - target) * yes
    loss = chain_rule(target, softplus(-logits)) + chain_rule(1 - target, softplus(logits))
    balance = alpha * target + (1 - alpha) * (1 - target) if alpha >= 0 else 1.0
    focus = power(miss, gamma)

    def product_rule(loss_slope: Tensor, miss_slope: Tensor) -> Tensor:
        """The derivative of ``loss * miss**gamma``."""
        first = chain_rule(focus, loss_slope)
        if gamma == 0:
            return first
        return first + gamma * chain_rule(chain_rule(miss_slope, loss), power(miss, gamma - 1))

    def to_logits() -> Tensor:
        slope = product_rule((1 - target) * yes - target * no, (1 - 2 * target) * yes * no)
        return chain_rule(each, balance * slope)

    def to_target() -> Tensor:
        slope = balance * product_rule(-logits, no - yes)
        if alpha >= 0:
            slope = slope + (2 * alpha - 1) * chain_rule(focus, loss)
        return chain_rule(each, slope)

    return to_logits, to_target


def _to_margin(prediction: Any, target: Any, reduction: str) -> Any:
    return np.abs(1 - prediction * target)


@op(kernel="hinge_loss", shape=paired, floats=True, kinks=_to_margin)
def hinge_loss(xp: Any, prediction: Array, target: Array, reduction: Reduction = "mean") -> Any:
    """The hinge loss ``max(0, 1 - target * prediction)``.

    Derivative: ``-target`` and ``-prediction`` where the product is below 1, else 0, also at 1.

    Parameters
    ----------
    target
        Labels -1 and 1, in the shape of ``prediction``.

    >>> import extensor as ex
    >>> ex.hinge_loss([0.5, -2.0, 3.0], [1.0, 1.0, 1.0], "none")
    tensor([0.5, 3. , 0. ])
    >>> ex.hinge_loss_backward(1.0, [0.5, 3.0], [1.0, 1.0], "sum").grad_prediction
    tensor([-1.,  0.])
    """
    margin = 1 - target * prediction
    return reduce(xp, xp.maximum(margin, xp.zeros((), dtype=margin.dtype)), reduction)


@hinge_loss.backward(kernel="hinge_loss_backward")
def hinge_loss_backward(
    grad_output: Tensor, prediction: Tensor, target: Tensor, reduction: Reduction = "mean"
) -> tuple[Any, Any]:
    """``-grad_output * target`` and ``-grad_output * prediction`` where the product is below 1."""
    each = where(target * prediction < 1, -spread(grad_output, prediction.shape, reduction), 0.0)
    return lambda: chain_rule(each, target), lambda: chain_rule(each, prediction)
