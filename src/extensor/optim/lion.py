"""Lion. Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023."""

from __future__ import annotations

from typing import Any

from extensor.optim.optimizer import Group, Optimizer, Params
from extensor.optim.update import Update, descent


def lion_update(
    xp: Any,
    parameter: Any,
    gradient: Any,
    m: Any,
    lr: float,
    beta1: float,
    beta2: float,
    weight_decay: float,
    maximize: float,
) -> tuple[Any, Any]:
    """``p -= lr * (sign(c) + weight_decay * p)`` with ``c = beta1 * m + (1 - beta1) * g``.

    Then ``m`` moves towards ``g`` in the same way, by ``beta2``.
    """
    gradient = descent(parameter, gradient, 0, maximize)
    direction = xp.sign(beta1 * m + (1 - beta1) * gradient)
    m = beta2 * m + (1 - beta2) * gradient
    return parameter * (1 - lr * weight_decay) - lr * direction, m


class Lion(Optimizer):
    """Steps of one size, in the direction of the sign of an average; takes a smaller lr than Adam.

    >>> import extensor as ex
    >>> w = ex.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> w.grad = ex.tensor([0.1, -5.0, 0.0])
    >>> ex.optim.Lion([w], lr=0.5).step()
    >>> w
    tensor([0.5, 2.5, 3. ], requires_grad=True)
    """

    update = Update(lion_update, roles=3)
    state_names = ("m",)

    def __init__(
        self,
        params: Params,
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr=lr, betas=betas, weight_decay=weight_decay, maximize=maximize)

    def _attributes(self, group: Group, step: int) -> tuple[Any, ...]:
        return (group["lr"], *group["betas"], group["weight_decay"], group["maximize"])
