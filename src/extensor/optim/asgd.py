"""ASGD. Polyak and Juditsky, "Acceleration of Stochastic Approximation by Averaging", 1992."""

from __future__ import annotations

from typing import Any

from extensor.errors.keywords import ONE_WAY, also_takes
from extensor.optim.optimizer import Group, Optimizer, Params
from extensor.optim.update import Update, descent


def asgd_update(
    xp: Any,
    parameter: Any,
    gradient: Any,
    ax: Any,
    eta: Any,
    mu: Any,
    step: float,
    lr: float,
    lambd: float,
    alpha: float,
    t0: float,
    weight_decay: float,
    maximize: float,
) -> tuple[Any, ...]:
    """``p -= eta * (g + lambd * p)``, and ``ax`` moves towards ``p`` by ``mu`` of the way.

    The rate ``eta`` and the weight ``mu`` of the next step are state.
    """
    gradient = descent(parameter, gradient, weight_decay, maximize)
    parameter = parameter * (1 - lambd * eta) - eta * gradient
    ax = xp.where(mu == 1, parameter, ax + mu * (parameter - ax))
    one = xp.ones_like(mu)
    return parameter, ax, lr / (1 + lambd * lr * step) ** alpha * one, 1 / max(1, step - t0) * one


@also_takes(**ONE_WAY, capturable=(False,))
class ASGD(Optimizer):
    """Averaged SGD: a falling rate, and the mean of the parameters from some step on.

    With ``g`` the gradient of the parameter ``p``, step number ``t`` computes::

        g = g + weight_decay * p
        p = p * (1 - lambd * eta) - eta * g
        ax = ax + mu * (p - ax)
        eta = lr / (1 + lambd * lr * t)**alpha
        mu = 1 / max(1, t - t0)

    Both ``eta``, at first ``lr``, and ``mu``, at first 1, hold from the next step on. So a schedule
    takes effect one step later than in other optimizers, as in PyTorch. The mean of each parameter
    is in ``optimizer.state[p]["ax"]``.

    Parameters
    ----------
    params : iterable of Tensor or dict
        Parameters to optimize, such as ``model.parameters()``; or parameter groups: dicts with
        "params" and options of their own, which default to the arguments below.
    lr : float, default 0.01
        Learning rate.
    lambd : float, default 0.0001
        Decay of the parameters, and of the rate.
    alpha : float, default 0.75
        Power by which the rate falls.
    t0 : float, default 1000000.0
        Number of the step after which parameters are averaged.
    weight_decay : float, default 0.0
        Penalty on large parameters: ``weight_decay * p`` is added to the gradient of ``p``.
    maximize : bool, default False
        Whether to climb: gradients are negated.

    Raises
    ------
    ValueError
        If an option is out of range or a parameter cannot be optimized; see `Optimizer`.

    See Also
    --------
    EMA : Averages of the parameters of any optimizer.

    References
    ----------
    Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", 1992.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = ex.optim.ASGD([w], lr=0.25, lambd=0.0)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.5, 1. ], requires_grad=True)
    """

    update = Update(asgd_update, roles=5, native=False)

    def __init__(
        self,
        params: Params,
        lr: float = 0.01,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr=lr,
            lambd=lambd,
            alpha=alpha,
            t0=t0,
            weight_decay=weight_decay,
            maximize=maximize,
        )

    def _initial(self, name: str, group: Group) -> float:
        return {"eta": float(group["lr"]), "mu": 1.0}.get(name, 0.0)

    def _state_shape(self, name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape if name == "ax" else ()
