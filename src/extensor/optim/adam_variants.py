"""NAdam, RAdam and Adamax. Dozat, 2016; Liu et al., 2020; Kingma and Ba, 2015, section 7."""

from __future__ import annotations

from typing import Any

from extensor.errors.keywords import ONE_WAY, also_takes
from extensor.optim.optimizer import Group, Optimizer, Params
from extensor.optim.update import Update, descent


def nadam_update(
    xp: Any,
    parameter: Any,
    gradient: Any,
    m: Any,
    v: Any,
    mu_product: Any,
    step: float,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    momentum_decay: float,
    decoupled_weight_decay: float,
    maximize: float,
) -> tuple[Any, ...]:
    """``p -= lr * (a * g + b * m) / (sqrt(v) + eps)`` with weights that follow from the momenta."""
    penalty = 0 if decoupled_weight_decay else weight_decay
    gradient = descent(parameter, gradient, penalty, maximize)
    if decoupled_weight_decay:
        parameter = parameter * (1 - lr * weight_decay)
    momentum = beta1 * (1 - 0.5 * 0.96 ** (step * momentum_decay))
    next_momentum = beta1 * (1 - 0.5 * 0.96 ** ((step + 1) * momentum_decay))
    mu_product = mu_product * momentum
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * (gradient * gradient)
    ahead = next_momentum / (1 - mu_product * next_momentum) * m
    move = (1 - momentum) / (1 - mu_product) * gradient + ahead
    scale = 1 / (1 - beta2**step) ** 0.5
    return parameter - lr * (move / (xp.sqrt(v) * scale + eps)), m, v, mu_product


def radam_update(
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
    decoupled_weight_decay: float,
    maximize: float,
) -> tuple[Any, Any, Any]:
    """``p -= lr * m`` at first, then ``p -= lr * r * m / (sqrt(v) + eps)``."""
    penalty = 0 if decoupled_weight_decay else weight_decay
    gradient = descent(parameter, gradient, penalty, maximize)
    if decoupled_weight_decay:
        parameter = parameter * (1 - lr * weight_decay)
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * (gradient * gradient)
    rate = lr / (1 - beta1**step)
    longest = 2 / (1 - beta2) - 1
    length = longest - 2 * step * beta2**step / (1 - beta2**step)
    if length <= 5:  # too few gradients to know the spread of their mean square
        return parameter - rate * m, m, v
    known = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
    rectified = rate * (known * (1 - beta2**step)) ** 0.5
    return parameter - rectified * (m / (xp.sqrt(v) + eps)), m, v


def adamax_update(
    xp: Any,
    parameter: Any,
    gradient: Any,
    m: Any,
    u: Any,
    step: float,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    maximize: float,
) -> tuple[Any, Any, Any]:
    """``p -= lr * m / u`` with ``u`` the largest magnitude of a gradient, which fades by ``beta2``."""
    gradient = descent(parameter, gradient, weight_decay, maximize)
    m = beta1 * m + (1 - beta1) * gradient
    u = xp.maximum(beta2 * u, xp.abs(gradient) + eps)
    return parameter - lr / (1 - beta1**step) * (m / u), m, u


@also_takes(**ONE_WAY, capturable=(False,))
class NAdam(Optimizer):
    """NAdam: Adam with Nesterov's momentum.

    With ``g`` the gradient of the parameter ``p``, step number ``t`` computes::

        g = g + weight_decay * p
        mu[t] = beta1 * (1 - 0.5 * 0.96**(t * momentum_decay))
        mu_product = mu_product * mu[t]
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        d = (1 - mu[t]) / (1 - mu_product) * g + mu[t + 1] / (1 - mu_product * mu[t + 1]) * m
        p = p - lr * d / (sqrt(v / (1 - beta2**t)) + eps)

    Parameters
    ----------
    params : iterable of Tensor or dict
        Parameters to optimize, such as ``model.parameters()``; or parameter groups: dicts with
        "params" and options of their own, which default to the arguments below.
    lr : float, default 0.002
        Learning rate.
    betas : tuple of two floats, default (0.9, 0.999)
        ``beta1`` and ``beta2``, the shares that the running means keep in each step, in [0, 1).
    eps : float, default 1e-08
        Number added to the denominator.
    weight_decay : float, default 0.0
        Penalty on large parameters: ``weight_decay * p`` is added to the gradient of ``p``.
    momentum_decay : float, default 0.004
        Speed at which the momentum rises from about half of ``beta1`` to ``beta1``.
    decoupled_weight_decay : bool, default False
        Whether to multiply ``p`` by ``1 - lr * weight_decay`` instead, as in `AdamW`.
    maximize : bool, default False
        Whether to climb: gradients are negated.

    Raises
    ------
    ValueError
        If an option is out of range or a parameter cannot be optimized; see `Optimizer`.

    See Also
    --------
    Adam : The same without Nesterov's momentum.

    References
    ----------
    Dozat, "Incorporating Nesterov momentum into Adam", 2016.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = ex.optim.NAdam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.8943548, 1.8943548], requires_grad=True)
    """

    update = Update(nadam_update, roles=5, native=False)

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay,
            maximize=maximize,
        )

    def _initial(self, name: str, group: Group) -> float:
        return 1.0 if name == "mu_product" else 0.0

    def _state_shape(self, name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        return () if name == "mu_product" else shape


@also_takes(**ONE_WAY, capturable=(False,))
class RAdam(Optimizer):
    """RAdam: Adam that takes plain steps until it has seen enough gradients to divide by.

    With ``g`` the gradient of the parameter ``p``, step number ``t`` computes::

        g = g + weight_decay * p
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        n = 2 / (1 - beta2) - 1
        k = n - 2 * t * beta2**t / (1 - beta2**t)
        r = sqrt((k - 4) * (k - 2) * n / ((n - 4) * (n - 2) * k))
        d = m / (1 - beta1**t)
        p = p - lr * r * d * sqrt(1 - beta2**t) / (sqrt(v) + eps)    (if k > 5)
        p = p - lr * d                                               (otherwise)

    Parameters
    ----------
    params : iterable of Tensor or dict
        Parameters to optimize, such as ``model.parameters()``; or parameter groups: dicts with
        "params" and options of their own, which default to the arguments below.
    lr : float, default 0.001
        Learning rate.
    betas : tuple of two floats, default (0.9, 0.999)
        ``beta1`` and ``beta2``, the shares that the running means keep in each step, in [0, 1).
    eps : float, default 1e-08
        Number added to the denominator.
    weight_decay : float, default 0.0
        Penalty on large parameters: ``weight_decay * p`` is added to the gradient of ``p``.
    decoupled_weight_decay : bool, default False
        Whether to multiply ``p`` by ``1 - lr * weight_decay`` instead, as in `AdamW`.
    maximize : bool, default False
        Whether to climb: gradients are negated.

    Raises
    ------
    ValueError
        If an option is out of range or a parameter cannot be optimized; see `Optimizer`.

    References
    ----------
    Liu et al., "On the variance of the adaptive learning rate and beyond", 2020.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = ex.optim.RAdam([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.8, 1.6], requires_grad=True)
    """

    update = Update(radam_update, roles=4, native=False)

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr=lr,
            betas=betas,
            eps=eps,
            weight_decay=weight_decay,
            decoupled_weight_decay=decoupled_weight_decay,
            maximize=maximize,
        )


@also_takes(**ONE_WAY, capturable=(False,))
class Adamax(Optimizer):
    """Adamax: Adam that divides by the largest magnitude of a gradient instead of a mean square.

    With ``g`` the gradient of the parameter ``p``, step number ``t`` computes::

        g = g + weight_decay * p
        m = beta1 * m + (1 - beta1) * g
        u = max(beta2 * u, abs(g) + eps)
        p = p - lr / (1 - beta1**t) * m / u

    Parameters
    ----------
    params : iterable of Tensor or dict
        Parameters to optimize, such as ``model.parameters()``; or parameter groups: dicts with
        "params" and options of their own, which default to the arguments below.
    lr : float, default 0.002
        Learning rate.
    betas : tuple of two floats, default (0.9, 0.999)
        ``beta1``, the share that the running mean keeps in each step, and ``beta2``, the factor by
        which the largest magnitude fades, in [0, 1).
    eps : float, default 1e-08
        Number added to magnitudes.
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
    Kingma and Ba, "Adam: A method for stochastic optimization", 2015.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = ex.optim.Adamax([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.5, 1.5], requires_grad=True)
    """

    update = Update(adamax_update, roles=4, native=False)

    def __init__(
        self,
        params: Params,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize
        )
