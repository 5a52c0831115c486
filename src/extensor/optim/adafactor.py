"""Adafactor. Shazeer and Stern, "Adaptive Learning Rates with Sublinear Memory Cost", 2018."""

from __future__ import annotations

from typing import Any

from ml_dtypes import finfo

from extensor.arrays.shapes import count
from extensor.errors import value_error
from extensor.errors.keywords import also_takes
from extensor.optim.optimizer import Group, Optimizer, Params
from extensor.optim.update import Update, descent


def adafactor_update(
    xp: Any,
    parameter: Any,
    gradient: Any,
    row_var: Any,
    col_var: Any,
    variance: Any,
    step: float,
    lr: float,
    beta2_decay: float,
    eps1: float,
    eps2: float,
    d: float,
    weight_decay: float,
    maximize: float,
) -> tuple[Any, ...]:
    """``p -= rate * u``, with ``u`` the gradient over the root of a mean square, clipped to ``d``.

    Of a matrix the mean squares of rows and of columns are kept, whose product stands for that of
    each element.
    """
    gradient = descent(parameter, gradient, 0, maximize)
    fresh = step**beta2_decay
    rate = _larger(xp, _root_mean_square(xp, parameter), eps2) * min(lr, step**-0.5)
    if weight_decay:
        parameter = parameter * (1 - lr * weight_decay)
    square = gradient * gradient
    if variance is None:
        row_var = row_var + fresh * (_mean(xp, square, -1) - row_var)
        col_var = col_var + fresh * (_mean(xp, square, -2) - col_var)
        size = _larger(xp, _mean(xp, row_var, -2), eps1)
        spread = row_var * col_var / size
    else:
        spread = variance = variance + fresh * (square - variance)
    move = gradient / xp.sqrt(_larger(xp, spread, eps1 * eps1))
    excess = _larger(xp, _root_mean_square(xp, move) / d, 1.0)
    return parameter - rate / excess * move, row_var, col_var, variance


def _mean(xp: Any, x: Any, axis: int) -> Any:
    """The mean along an axis, which is kept; 0 of nothing."""
    return xp.sum(x, axis=axis, keepdims=True) / max(x.shape[axis], 1)


def _root_mean_square(xp: Any, x: Any) -> Any:
    """The root of the mean square; 0 of nothing."""
    return xp.sqrt(xp.sum(x * x) / max(count(x.shape), 1))


def _larger(xp: Any, x: Any, bound: Any) -> Any:
    return xp.maximum(x, xp.zeros((), dtype=x.dtype) + bound)


@also_takes(foreach=(None, False))
class Adafactor(Optimizer):
    """Adafactor: an adaptive method that keeps one number per row and column of a matrix.

    With ``g`` the gradient of the parameter ``p``, step number ``t`` computes::

        k = t**beta2_decay
        rate = max(eps[1], rms(p)) * min(lr, 1 / sqrt(t))
        p = p * (1 - lr * weight_decay)
        rows = (1 - k) * rows + k * mean(g**2, axis=-1)
        columns = (1 - k) * columns + k * mean(g**2, axis=-2)
        v = rows * columns / max(mean(rows), eps[0])
        u = g / max(sqrt(v), eps[0])
        p = p - rate * u / max(1, rms(u) / d)

    Here ``rms`` is the root of the mean square. Of a vector ``v`` itself is kept. Of a tensor with
    more axes the last two are rows and columns.

    Parameters
    ----------
    params : iterable of Tensor or dict
        Parameters to optimize, such as ``model.parameters()``; or parameter groups: dicts with
        "params" and options of their own, which default to the arguments below.
    lr : float, default 0.01
        Largest relative size of a step, and the rate of weight decay.
    beta2_decay : float, default -0.8
        Power of the number of the step that is the share of a new mean square; not above 0.
    eps : tuple of float or None and float, default (None, 0.001)
        Least root of a mean square, by default the precision of the first parameter of the group;
        and least size of a parameter, by which steps are scaled.
    d : float, default 1.0
        Root mean square at which updates are clipped, 1 or more.
    weight_decay : float, default 0.0
        Penalty on large parameters, apart from the gradient: each step first multiplies them by
        ``1 - lr * weight_decay``.
    maximize : bool, default False
        Whether to climb: gradients are negated.

    Raises
    ------
    ValueError
        If an option is out of range or a parameter cannot be optimized; see `Optimizer`.

    References
    ----------
    Shazeer and Stern, "Adafactor: Adaptive learning rates with sublinear memory cost", 2018.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([[1.0, 1.0], [1.0, 1.0]], requires_grad=True)
    >>> optimizer = ex.optim.Adafactor([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([[0.5, 0.5],
            [0.5, 0.5]], requires_grad=True)
    >>> optimizer.state[w]["row_var"].shape
    (2, 1)
    """

    update = Update(adafactor_update, roles=5, native=False)

    def __init__(
        self,
        params: Params,
        lr: float = 0.01,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr=lr,
            beta2_decay=beta2_decay,
            eps=eps,
            d=d,
            weight_decay=weight_decay,
            maximize=maximize,
        )

    def _check_options(self, group: Group) -> None:
        if not group["beta2_decay"] <= 0:
            requirement = "beta2_decay must be 0 or less"
            raise value_error("Adafactor", requirement, beta2_decay=group["beta2_decay"])
        if not group["d"] >= 1:
            raise value_error("Adafactor", "d must be 1 or greater", d=group["d"])

    def _attributes(self, group: Group, step: int) -> tuple[Any, ...]:
        eps1, eps2 = group["eps"]
        if eps1 is None:
            eps1 = finfo(group["params"][0].dtype).eps  # type: ignore[no-untyped-call]
        known = {**group, "step": step, "eps1": eps1, "eps2": eps2}
        return tuple([known[name] for name in self.update.attributes])

    def _state_shape(self, name: str, shape: tuple[int, ...]) -> tuple[int, ...] | None:
        if len(shape) < 2:
            return shape if name == "variance" else None
        kept = {"row_var": (*shape[:-1], 1), "col_var": (*shape[:-2], 1, shape[-1])}
        return kept.get(name)
