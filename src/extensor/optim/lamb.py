"""LAMB. You et al., "Large Batch Optimization for Deep Learning", 2020, algorithm 2."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.optim.optimizer import Group, Optimizer, Params
from extensor.optim.update import Update, descent


def lamb_update(
    xp: Any,
    parameter: Any,
    gradient: Any,
    m: Any,
    v: Any,
    step: float,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    maximize: float,
) -> tuple[Any, Any, Any]:
    """``p -= lr * |p| / |u| * u``, ``u`` the direction of AdamW; the ratio is 1 if a norm is 0."""
    gradient = descent(parameter, gradient, 0, maximize)
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * (gradient * gradient)
    scale = 1 / (1 - beta2**step) ** 0.5
    direction = m * (1 / (1 - beta1**step)) / (xp.sqrt(v) * scale + eps)
    direction = direction + weight_decay * parameter
    return parameter - lr * _ratio(xp, parameter, direction) * direction, m, v


def _ratio(xp: Any, parameter: Any, direction: Any) -> Any:
    norm, length = _norm(xp, parameter), _norm(xp, direction)
    usable = (norm > 0) & (length > 0)
    ratio = xp.where(usable, norm / xp.where(usable, length, 1.0), 1.0)
    return float(ratio) if xp is np else xp.astype(ratio, direction.dtype)


def _norm(xp: Any, x: Any) -> Any:
    wide = xp.astype(x, xp.float64)
    return xp.sqrt(xp.sum(wide * wide))


class LAMB(Optimizer):
    """Adam for large batches: each parameter moves in proportion to its own norm."""

    update = Update(lamb_update, roles=4)
    state_names = ("m", "v")

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize
        )

    def _attributes(self, group: Group, step: int) -> tuple[Any, ...]:
        return (
            step,
            group["lr"],
            *group["betas"],
            group["eps"],
            group["weight_decay"],
            group["maximize"],
        )
