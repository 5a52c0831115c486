"""Lion. Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023."""

from __future__ import annotations

from typing import Any

from extensor.optim.optimizer import Optimizer, Params
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
    """Lion: steps of one size, in the direction of the sign of a running mean.

    With ``g`` the gradient of the parameter ``p``, each step computes::

        c = beta1 * m + (1 - beta1) * g
        p = p - lr * (sign(c) + weight_decay * p)
        m = beta2 * m + (1 - beta2) * g

    It needs a smaller learning rate than Adam, by a factor of 3 to 10, and a larger weight decay.

    Parameters
    ----------
    params : iterable of Tensor or dict
        Parameters to optimize, such as ``model.parameters()``; or parameter groups: dicts with
        "params" and options of their own, which default to the arguments below.
    lr : float, default 0.0001
        Learning rate.
    betas : tuple of two floats, default (0.9, 0.99)
        ``beta1`` and ``beta2``, the shares of the running mean in the direction and in the next
        mean, in [0, 1).
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
    Chen et al., "Symbolic discovery of optimization algorithms", 2023.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> w.grad = ex.tensor([0.1, -5.0, 0.0])
    >>> ex.optim.Lion([w], lr=0.5).step()
    >>> w
    tensor([0.5, 2.5, 3. ], requires_grad=True)
    """

    update = Update(lion_update, roles=3)

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
