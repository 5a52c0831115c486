"""Nodes of training: losses, dropout, and the steps of optimizers."""

from __future__ import annotations

from math import sqrt
from typing import Any

import extensor as ex
from extensor import Tensor

NEVER = -100  # a class that no target has


def _negative_log_likelihood(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int = NEVER,
) -> Tensor:
    return ex.nll_loss(x, target, reduction, weight, ignore_index)


def _softmax_cross_entropy(
    logits: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int = NEVER,
) -> tuple[Tensor, Tensor]:
    loss = ex.cross_entropy(logits, target, reduction, weight, ignore_index=ignore_index)
    return loss, ex.log_softmax(logits, axis=1)


def _dropout(
    x: Tensor, ratio: Any = 0.5, training: Tensor | None = None, *, seed: int = 0
) -> tuple[Tensor, Tensor]:
    """Where nothing is dropped: random numbers can not be compared."""
    p = 0.5 if ratio is None else float(ratio)
    if training is not None and training.item() and p > 0:
        raise NotImplementedError("random numbers")
    dropped = ex.dropout(x, p, training is not None and training.item())
    return dropped, ex.ones_like(x, dtype=ex.bool_)


def _optimizer(step: Any, arrays: int) -> Any:
    """``step(rate, count, *arrays, **attributes)`` for each parameter.

    The node has the parameters of all, then the gradients of all, then each kind of state.
    """

    def node(rate: Tensor, count: Tensor, *tensors: Tensor, **attributes: Any) -> tuple[Any, ...]:
        number = len(tensors) // arrays
        results = [
            step(rate.item(), count.item(), *tensors[i::number], **attributes)
            for i in range(number)
        ]
        return tuple(tensor for kind in zip(*results, strict=True) for tensor in kind)

    return node


def _adagrad(
    rate: float,
    count: int,
    *arrays: Tensor,
    decay_factor: float,
    epsilon: float,
    norm_coefficient: float,
) -> Any:
    return ex.adagrad_step(*arrays, count + 1, rate, decay_factor, norm_coefficient, epsilon)


def _adam(
    rate: float,
    count: int,
    *arrays: Tensor,
    alpha: float,
    beta: float,
    epsilon: float,
    norm_coefficient: float,
) -> Any:
    """ONNX adds epsilon before the correction of ``v``, and corrects nothing at count 0."""
    step = count or 10**6  # so late that there is nothing to correct
    eps = epsilon / sqrt(1 - beta**step)
    return ex.adam_step(*arrays, step, rate, (alpha, beta), eps, norm_coefficient)


def _momentum(
    rate: float,
    count: int,
    x: Tensor,
    gradient: Tensor,
    velocity: Tensor,
    *,
    alpha: float,
    beta: float,
    mode: str,
    norm_coefficient: float,
) -> Any:
    dampening = 1 - beta if count else 0.0
    return ex.sgd_step(
        x, gradient, rate, alpha, dampening, norm_coefficient, mode == "nesterov", velocity
    )


NODES: dict[str, Any] = {
    "Adagrad": _optimizer(_adagrad, 3),
    "Adam": _optimizer(_adam, 4),
    "Dropout": _dropout,
    "Momentum": _optimizer(_momentum, 3),
    "NegativeLogLikelihoodLoss": _negative_log_likelihood,
    "SoftmaxCrossEntropyLoss": _softmax_cross_entropy,
}
