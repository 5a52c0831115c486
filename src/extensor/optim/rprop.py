"""Rprop. Riedmiller and Braun, 1993."""

from __future__ import annotations

from typing import Any

from extensor.errors import value_error
from extensor.errors.keywords import ONE_WAY, also_takes
from extensor.optim.optimizer import Group, Optimizer, Params
from extensor.optim.update import Update, descent


def rprop_update(
    xp: Any,
    parameter: Any,
    gradient: Any,
    previous: Any,
    step_size: Any,
    eta_minus: float,
    eta_plus: float,
    least: float,
    most: float,
    maximize: float,
) -> tuple[Any, Any, Any]:
    """``p -= sign(g) * step_size``; a step grows while the sign of ``g`` stays, else it shrinks."""
    gradient = descent(parameter, gradient, 0, maximize)
    kept = gradient * previous
    step_size = xp.where(
        kept > 0, step_size * eta_plus, xp.where(kept < 0, step_size * eta_minus, step_size)
    )
    zero = xp.zeros((), dtype=step_size.dtype)
    step_size = xp.minimum(xp.maximum(step_size, zero + least), zero + most)
    # After a turn the parameter waits, and its next step keeps its size.
    gradient = xp.where(kept < 0, zero, gradient)
    return parameter - xp.sign(gradient) * step_size, gradient, step_size


@also_takes(**ONE_WAY, capturable=(False,))
class Rprop(Optimizer):
    """Rprop: steps along the signs of gradients, each parameter with a step size of its own.

    With ``g`` the gradient of the parameter ``p``, each step computes for each element::

        step_size = step_size * etas[1]    (if g has the sign of the step before)
        step_size = step_size * etas[0]    (if it has the other sign; then g = 0)
        p = p - sign(g) * step_size

    The step size begins at ``lr``, and changes of ``lr`` have no effect after the first step. It is
    a method for gradients of all samples, as those of small batches change their signs by chance.

    Parameters
    ----------
    params : iterable of Tensor or dict
        Parameters to optimize, such as ``model.parameters()``; or parameter groups: dicts with
        "params" and options of their own, which default to the arguments below.
    lr : float, default 0.01
        First step size.
    etas : tuple of two floats, default (0.5, 1.2)
        Factors by which a step size shrinks and grows, below and above 1.
    step_sizes : tuple of two floats, default (1e-06, 50.0)
        Least and largest step size.
    maximize : bool, default False
        Whether to climb: gradients are negated.

    Raises
    ------
    ValueError
        If an option is out of range or a parameter cannot be optimized; see `Optimizer`.

    References
    ----------
    Riedmiller and Braun, "A direct adaptive method for faster backpropagation learning: The RPROP
    algorithm", 1993.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = ex.optim.Rprop([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.5, -1.5], requires_grad=True)
    """

    update = Update(rprop_update, roles=4, native=False)

    def __init__(
        self,
        params: Params,
        lr: float = 0.01,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr=lr, etas=etas, step_sizes=step_sizes, maximize=maximize)

    def _check_options(self, group: Group) -> None:
        low, high = group["etas"]
        if not 0 < low < 1 < high:
            requirement = "etas must be a factor in (0, 1) and one above 1"
            raise value_error("Rprop", requirement, etas=group["etas"])
        least, most = group["step_sizes"]
        if not 0 <= least <= most:
            requirement = "step_sizes must be 0 or greater, the least first"
            raise value_error("Rprop", requirement, step_sizes=group["step_sizes"])

    def _attributes(self, group: Group, step: int) -> tuple[Any, ...]:
        return (*group["etas"], *group["step_sizes"], group["maximize"])

    def _initial(self, name: str, group: Group) -> float:
        return float(group["lr"]) if name == "step_size" else 0.0
