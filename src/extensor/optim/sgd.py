"""Stochastic gradient descent, with momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from extensor.core.creation import zeros_like
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.errors.explanation import explaining
from extensor.errors.keywords import ONE_WAY, also_takes
from extensor.optim.optimizer import Group, Optimizer, Params
from extensor.optim.update import Update, descent

if TYPE_CHECKING:
    from extensor.typing import TensorLike


def sgd_update(
    xp: Any,
    parameter: Any,
    gradient: Any,
    velocity: Any,
    step: float,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: float,
    maximize: float,
) -> tuple[Any, Any]:
    """``v = momentum * v + (1 - dampening) * g``, ``p -= lr * v``; the first ``v`` is ``g``."""
    gradient = descent(parameter, gradient, weight_decay, maximize)
    if velocity is not None:
        kept = 1 if not dampening or step == 1 else 1 - dampening
        velocity = momentum * velocity + kept * gradient
        gradient = gradient + momentum * velocity if nesterov else velocity
    return parameter - lr * gradient, velocity


_update = Update(sgd_update, roles=3, optional=1)


@explaining
def sgd_step(
    parameter: TensorLike,
    gradient: TensorLike,
    lr: float,
    momentum: float = 0.0,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    nesterov: bool = False,
    velocity: TensorLike | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Compute one step of gradient descent, without changing its inputs.

    See `SGD` for the formula.

    Parameters
    ----------
    parameter : tensor_like
        The parameter. It is not changed.
    gradient : tensor_like
        Its gradient, of the same shape.
    lr : float
        Learning rate.
    momentum : float, default 0.0
        Share of the velocity that each step keeps.
    dampening : float, default 0.0
        Share of the gradient that does not enter the velocity, from the second step on.
    weight_decay : float, default 0.0
        Penalty on large parameters: ``weight_decay * p`` is added to the gradient of ``p``.
    nesterov : bool, default False
        Whether to look ahead: the step follows ``g + momentum * v`` instead of ``v``.
    velocity : tensor_like, optional
        The velocity of the step before, None in the first step. Only momentum needs it.

    Returns
    -------
    parameter : Tensor
        The new parameter.
    velocity : Tensor or None
        The new velocity. Without momentum it is the argument, as given.

    Raises
    ------
    ValueError
        If the shapes differ.
    TypeError
        If the parameter is not floating or an option is not a number.

    See Also
    --------
    SGD : The optimizer.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.optim.sgd_step([1.0, 2.0], [0.5, -0.5], lr=0.1)
    (tensor([0.95, 2.05]), None)
    >>> ex.optim.sgd_step([1.0], [1.0], lr=0.1, momentum=0.9, velocity=[2.0])
    (tensor([0.72]), tensor([2.8]))
    """
    step = 1 if velocity is None else 2
    given: Any = velocity
    if momentum and velocity is None:
        velocity = zeros_like(gradient)
    values = (parameter, gradient, velocity if momentum else None)
    attributes = (step, lr, momentum, dampening, weight_decay, nesterov, False)
    changed, moved = _update.pure("sgd_step", values, attributes)
    return changed, moved if momentum else given


@also_takes(**ONE_WAY, fused=(None, False))
class SGD(Optimizer):
    """Stochastic gradient descent, with momentum, weight decay and Nesterov's look ahead.

    With ``g`` the gradient of the parameter ``p`` and ``v`` its velocity, each step computes::

        g = g + weight_decay * p
        v = momentum * v + (1 - dampening) * g    (v = g in the first step)
        p = p - lr * v                            (lr * g without momentum)

    Parameters
    ----------
    params : iterable of Tensor or dict
        Parameters to optimize, such as ``model.parameters()``; or parameter groups: dicts with
        "params" and options of their own, which default to the arguments below.
    lr : float, default 0.001
        Learning rate.
    momentum : float, default 0.0
        Share of the velocity that each step keeps. 0 needs no memory for velocities.
    dampening : float, default 0.0
        Share of the gradient that does not enter the velocity, from the second step on.
    weight_decay : float, default 0.0
        Penalty on large parameters: ``weight_decay * p`` is added to the gradient of ``p``.
    nesterov : bool, default False
        Whether to look ahead: the step follows ``g + momentum * v`` instead of ``v``. It needs a
        momentum and no dampening.
    maximize : bool, default False
        Whether to climb: gradients are negated.

    Raises
    ------
    ValueError
        If an option is out of range or a parameter cannot be optimized; see `Optimizer`.

    See Also
    --------
    sgd_step : One step as a function.

    References
    ----------
    Sutskever et al., "On the importance of initialization and momentum in deep learning", 2013.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = ex.optim.SGD([w], lr=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.8, 1.6], requires_grad=True)
    """

    update = _update

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr=lr,
            momentum=momentum,
            dampening=dampening,
            weight_decay=weight_decay,
            nesterov=nesterov,
            maximize=maximize,
        )

    def _check_options(self, group: Group) -> None:
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            options = {name: group[name] for name in ("momentum", "dampening")}
            raise value_error("SGD", "nesterov needs momentum and no dampening", **options)

    def _used(self, group: Group, state: Sequence[list[Any]]) -> Sequence[list[Any]]:
        return state if group["momentum"] else ([],)
