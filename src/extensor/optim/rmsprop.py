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


_update = Update(rmsprop_update, roles=5)


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
    """One step of RMSprop: the new parameter, ``v`` and velocity (only momentum needs one).

    >>> import extensor as ex
    >>> parameter, v, velocity = ex.optim.rmsprop_step([1.0], [2.0], [0.0], lr=0.1, alpha=0.75)
    >>> parameter, v
    (tensor([0.8]), tensor([1.]))
    """
    given: Any = velocity
    if momentum and velocity is None:
        velocity = zeros_like(gradient)
    arrays = {
        "parameter": parameter,
        "gradient": gradient,
        "v": v,
        "mean": None,
        "velocity": velocity if momentum else None,
    }
    attributes = (lr, alpha, eps, weight_decay, momentum, False)
    changed, squares, _, moved = _update.pure(
        "rmsprop_step", arrays, attributes, ["mean", "velocity"]
    )
    return changed, squares, moved if momentum else given


@also_takes(**ONE_WAY, capturable=(False,))
class RMSprop(Optimizer):
    """Gradients divided by the root of a running mean of their squares."""

    update = _update
    state_names = ("v", "mean", "velocity")

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

    def _attributes(self, group: Group, step: int) -> tuple[Any, ...]:
        return (
            group["lr"],
            group["alpha"],
            group["eps"],
            group["weight_decay"],
            group["momentum"],
            group["maximize"],
        )
