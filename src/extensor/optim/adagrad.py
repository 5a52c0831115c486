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
    """Compute one step of Adagrad, without changing its inputs.

    See `Adagrad` for the formula.

    Parameters
    ----------
    parameter : tensor_like
        The parameter. It is not changed.
    gradient : tensor_like
        Its gradient, of the same shape.
    total : tensor_like
        Sum of the squares of all gradients before.
    step : int, default 1
        Number of this step, counted from 1. It matters only with ``lr_decay``.
    lr : float, default 0.01
        Learning rate.
    lr_decay : float, default 0.0
        Decay of the learning rate with the number of the step.
    weight_decay : float, default 0.0
        Penalty on large parameters: ``weight_decay * p`` is added to the gradient of ``p``.
    eps : float, default 1e-10
        Number added to the denominator.

    Returns
    -------
    parameter : Tensor
        The new parameter.
    total : Tensor
        The new sum of squares.

    Raises
    ------
    ValueError
        If the shapes differ.
    TypeError
        If the parameter is not floating or an option is not a number.

    See Also
    --------
    Adagrad : The optimizer.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.optim.adagrad_step([1.0], [3.0], [16.0], lr=0.1)
    (tensor([0.94]), tensor([25.]))
    """
    attributes = (step, lr, lr_decay, weight_decay, eps, False)
    changed, totals = _adagrad.pure("adagrad_step", (parameter, gradient, total), attributes)
    return changed, totals


@also_takes(**ONE_WAY, fused=(None, False))
class Adagrad(Optimizer):
    """Adagrad: gradients divided by the root of the sum of all their squares.

    With ``g`` the gradient of the parameter ``p``, step number ``t`` computes::

        g = g + weight_decay * p
        total = total + g**2
        p = p - lr / (1 + (t - 1) * lr_decay) * g / (sqrt(total) + eps)

    Parameters
    ----------
    params : iterable of Tensor or dict
        Parameters to optimize, such as ``model.parameters()``; or parameter groups: dicts with
        "params" and options of their own, which default to the arguments below.
    lr : float, default 0.01
        Learning rate.
    lr_decay : float, default 0.0
        Decay of the learning rate with the number of the step.
    weight_decay : float, default 0.0
        Penalty on large parameters: ``weight_decay * p`` is added to the gradient of ``p``.
    initial_accumulator_value : float, default 0.0
        Initial value of ``total``.
    eps : float, default 1e-10
        Number added to the denominator.
    maximize : bool, default False
        Whether to climb: gradients are negated.

    Raises
    ------
    ValueError
        If an option is out of range or a parameter cannot be optimized; see `Optimizer`.

    See Also
    --------
    adagrad_step : One step as a function.

    References
    ----------
    Duchi et al., "Adaptive subgradient methods for online learning and stochastic optimization",
    2011.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = ex.optim.Adagrad([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.5, 1.5], requires_grad=True)
    """

    update = _adagrad

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


@also_takes(**ONE_WAY, capturable=(False,))
class Adadelta(Optimizer):
    """Adadelta: steps whose size follows from the ratio of past steps to past gradients.

    With ``g`` the gradient of the parameter ``p``, each step computes::

        g = g + weight_decay * p
        v = rho * v + (1 - rho) * g**2
        d = sqrt(moved + eps) / sqrt(v + eps) * g
        moved = rho * moved + (1 - rho) * d**2
        p = p - lr * d

    Parameters
    ----------
    params : iterable of Tensor or dict
        Parameters to optimize, such as ``model.parameters()``; or parameter groups: dicts with
        "params" and options of their own, which default to the arguments below.
    lr : float, default 1.0
        Factor of all steps.
    rho : float, default 0.9
        Share that the running means keep in each step, in [0, 1).
    eps : float, default 1e-06
        Number added to both means before the roots are taken. It sets the size of the first steps.
    weight_decay : float, default 0.0
        Penalty on large parameters: ``weight_decay * p`` is added to the gradient of ``p``.
    maximize : bool, default False
        Whether to climb: gradients are negated.

    Raises
    ------
    ValueError
        If an option is out of range or a parameter cannot be optimized; see `Optimizer`.

    References
    ----------
    Zeiler, "ADADELTA: An adaptive learning rate method", 2012.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = ex.optim.Adadelta([w], eps=1.0)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([-0.69030845, -0.48069477], requires_grad=True)
    """

    update = _adadelta

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
