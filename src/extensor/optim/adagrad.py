"""Adagrad and Adadelta. Duchi et al., 2011; Zeiler, 2012."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from extensor.core.tensor import Tensor
from extensor.errors.explanation import explaining
from extensor.errors.keywords import ONE_WAY, also_takes
from extensor.optim.optimizer import Group, Optimizer, Params
from extensor.optim.update import Update, descent

if TYPE_CHECKING:
    from extensor.typing import TensorLike


def adagrad_update(
    xp: Any,
    parameter: Any,
    gradient: Any,
    total: Any,
    step: float,
    lr: float,
    lr_decay: float,
    weight_decay: float,
    eps: float,
    maximize: float,
) -> tuple[Any, Any]:
    """``p -= lr * g / (sqrt(total) + eps)`` with ``total`` the sum of all squares so far."""
    gradient = descent(parameter, gradient, weight_decay, maximize)
    rate = lr / (1 + (step - 1) * lr_decay)
    total = total + gradient * gradient
    return parameter - rate * (gradient / (xp.sqrt(total) + eps)), total


def adadelta_update(
    xp: Any,
    parameter: Any,
    gradient: Any,
    v: Any,
    moved: Any,
    lr: float,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: float,
) -> tuple[Any, Any, Any]:
    """``p -= lr * d`` with ``d = sqrt(moved + eps) / sqrt(v + eps) * g``.

    ``v`` is a running mean of the squares of gradients, ``moved`` one of the squares of the ``d``.
    """
    gradient = descent(parameter, gradient, weight_decay, maximize)
    v = rho * v + (1 - rho) * (gradient * gradient)
    move = xp.sqrt(moved + eps) / xp.sqrt(v + eps) * gradient
    moved = rho * moved + (1 - rho) * (move * move)
    return parameter - lr * move, v, moved


_adagrad = Update(adagrad_update, roles=3)
_adadelta = Update(adadelta_update, roles=4)


@explaining
def adagrad_step(
    parameter: TensorLike,
    gradient: TensorLike,
    total: TensorLike,
    step: int = 1,
    lr: float = 0.01,
    lr_decay: float = 0.0,
    weight_decay: float = 0.0,
    eps: float = 1e-10,
) -> tuple[Tensor, Tensor]:
    """Step number ``step`` of Adagrad, counted from 1: the new parameter and total of squares.

    >>> import extensor as ex
    >>> ex.optim.adagrad_step([1.0], [3.0], [16.0], lr=0.1)
    (tensor([0.94]), tensor([25.]))
    """
    arrays = {"parameter": parameter, "gradient": gradient, "total": total}
    attributes = (step, lr, lr_decay, weight_decay, eps, False)
    changed, totals = _adagrad.pure("adagrad_step", arrays, attributes)
    return changed, totals


@also_takes(**ONE_WAY, fused=(None, False))
class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of all their squares."""

    update = _adagrad
    state_names = ("total",)

    def __init__(
        self,
        params: Params,
        lr: float = 0.01,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr=lr,
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            eps=eps,
            maximize=maximize,
        )

    def _initial(self, name: str, group: Group) -> float:
        return float(group["initial_accumulator_value"])

    def _attributes(self, group: Group, step: int) -> tuple[Any, ...]:
        return (
            step,
            group["lr"],
            group["lr_decay"],
            group["weight_decay"],
            group["eps"],
            group["maximize"],
        )


@also_takes(**ONE_WAY, capturable=(False,))
class Adadelta(Optimizer):
    """Steps whose size follows from the ratio of past steps to past gradients."""

    update = _adadelta
    state_names = ("v", "moved")

    def __init__(
        self,
        params: Params,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params, lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize
        )

    def _attributes(self, group: Group, step: int) -> tuple[Any, ...]:
        return (
            group["lr"],
            group["rho"],
            group["eps"],
            group["weight_decay"],
            group["maximize"],
        )
