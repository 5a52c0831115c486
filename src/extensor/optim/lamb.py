"""LAMB. You et al., "Large Batch Optimization for Deep Learning", 2020, algorithm 2."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.optim.optimizer import Optimizer, Params
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
    """LAMB: Adam for large batches, whose steps are in proportion to the norm of each parameter.

    With ``g`` the gradient of the parameter ``p``, step number ``t`` computes::

        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        u = (m / (1 - beta1**t)) / (sqrt(v / (1 - beta2**t)) + eps) + weight_decay * p
        p = p - lr * norm(p) / norm(u) * u

    The ratio of the norms is 1 if one of them is 0.

    Parameters
    ----------
    params : iterable of Tensor or dict
        Parameters to optimize, such as ``model.parameters()``; or parameter groups: dicts with
        "params" and options of their own, which default to the arguments below.
    lr : float, default 0.001
        Learning rate.
    betas : tuple of two floats, default (0.9, 0.999)
        ``beta1`` and ``beta2``, the shares that the running means keep in each step, in [0, 1).
    eps : float, default 1e-06
        Number added to the denominator.
    weight_decay : float, default 0.0
        Penalty on large parameters, as the formula has it.
    maximize : bool, default False
        Whether to climb: gradients are negated.

    Raises
    ------
    ValueError
        If an option is out of range or a parameter cannot be optimized; see `Optimizer`.

    References
    ----------
    You et al., "Large batch optimization for deep learning: Training BERT in 76 minutes", 2020.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = ex.optim.LAMB([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.84188616, 1.841886  ], requires_grad=True)
    """

    update = Update(lamb_update, roles=4)

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
