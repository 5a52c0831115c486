"""RMSprop. Hinton, lecture 6e, 2012; centered as in Graves, 2013."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from extensor.core.creation import zeros_like
from extensor.core.tensor import Tensor
from extensor.errors.explanation import explaining
from extensor.errors.keywords import ONE_WAY, also_takes
from extensor.optim.optimizer import Group, Optimizer, Params
from extensor.optim.update import Update, descent

if TYPE_CHECKING:
    from extensor.typing import TensorLike


def rmsprop_update(
    xp: Any,
    parameter: Any,
    gradient: Any,
    v: Any,
    mean: Any,
    velocity: Any,
    lr: float,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    maximize: float,
) -> tuple[Any, ...]:
    """``p -= lr * g / (sqrt(v) + eps)`` with ``v`` a running mean of squares, or a variance."""
    gradient = descent(parameter, gradient, weight_decay, maximize)
    v = alpha * v + (1 - alpha) * (gradient * gradient)
    spread = v
    if mean is not None:
        mean = alpha * mean + (1 - alpha) * gradient
        # Rounding can take a variance of zero below it.
        spread = xp.maximum(v - mean * mean, xp.zeros((), dtype=v.dtype))
    move = gradient / (xp.sqrt(spread) + eps)
    if velocity is not None:
        move = velocity = momentum * velocity + move
    return parameter - lr * move, v, mean, velocity


_update = Update(rmsprop_update, roles=5, optional=2)


@explaining
def rmsprop_step(
    parameter: TensorLike,
    gradient: TensorLike,
    v: TensorLike,
    lr: float = 0.01,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    momentum: float = 0.0,
    velocity: TensorLike | None = None,
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Compute one step of RMSprop, without changing its inputs.

    See `RMSprop` for the formula.

    Parameters
    ----------
    parameter : tensor_like
        The parameter. It is not changed.
    gradient : tensor_like
        Its gradient, of the same shape.
    v : tensor_like
        Running mean of the squares of the gradients; zeros before the first step.
    lr : float, default 0.01
        Learning rate.
    alpha : float, default 0.99
        Share that ``v`` keeps in each step.
    eps : float, default 1e-08
        Number added to the denominator.
    weight_decay : float, default 0.0
        Penalty on large parameters: ``weight_decay * p`` is added to the gradient of ``p``.
    momentum : float, default 0.0
        Share of the velocity that each step keeps.
    velocity : tensor_like, optional
        The velocity of the step before, None in the first step. Only momentum needs it.

    Returns
    -------
    parameter : Tensor
        The new parameter.
    v : Tensor
        The new running mean of squares.
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
    RMSprop : The optimizer.

    Examples
    --------
    >>> import extensor as ex
    >>> parameter, v, velocity = ex.optim.rmsprop_step([1.0], [2.0], [0.0], lr=0.1, alpha=0.75)
    >>> parameter, v
    (tensor([0.8]), tensor([1.]))
    """
    given: Any = velocity
    if momentum and velocity is None:
        velocity = zeros_like(gradient)
    values = (parameter, gradient, v, None, velocity if momentum else None)
    attributes = (lr, alpha, eps, weight_decay, momentum, False)
    changed, squares, _, moved = _update.pure("rmsprop_step", values, attributes)
    return changed, squares, moved if momentum else given


@also_takes(**ONE_WAY, capturable=(False,))
class RMSprop(Optimizer):
    """RMSprop: gradients divided by the root of a running mean of their squares.

    With ``g`` the gradient of the parameter ``p``, each step computes::

        g = g + weight_decay * p
        v = alpha * v + (1 - alpha) * g**2
        velocity = momentum * velocity + g / (sqrt(v) + eps)
        p = p - lr * velocity

    Parameters
    ----------
    params : iterable of Tensor or dict
        Parameters to optimize, such as ``model.parameters()``; or parameter groups: dicts with
        "params" and options of their own, which default to the arguments below.
    lr : float, default 0.01
        Learning rate.
    alpha : float, default 0.99
        Share that ``v`` keeps in each step.
    eps : float, default 1e-08
        Number added to the denominator.
    weight_decay : float, default 0.0
        Penalty on large parameters: ``weight_decay * p`` is added to the gradient of ``p``.
    momentum : float, default 0.0
        Share of the velocity that each step keeps.
    centered : bool, default False
        Whether to divide by the root of a running variance: ``v`` minus the square of a running
        mean of the gradients.
    maximize : bool, default False
        Whether to climb: gradients are negated.

    Raises
    ------
    ValueError
        If an option is out of range or a parameter cannot be optimized; see `Optimizer`.

    See Also
    --------
    rmsprop_step : One step as a function.

    References
    ----------
    Hinton, "Neural networks for machine learning", lecture 6e, 2012. ``centered``: Graves,
    "Generating sequences with recurrent neural networks", 2013.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = ex.optim.RMSprop([w], lr=0.01)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.90000004, 1.9       ], requires_grad=True)
    """

    update = _update

    def __init__(
        self,
        params: Params,
        lr: float = 0.01,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr=lr,
            alpha=alpha,
            eps=eps,
            weight_decay=weight_decay,
            momentum=momentum,
            centered=centered,
            maximize=maximize,
        )

    def _used(self, group: Group, state: Sequence[list[Any]]) -> Sequence[list[Any]]:
        v, mean, velocity = state
        return (v, mean if group["centered"] else [], velocity if group["momentum"] else [])
