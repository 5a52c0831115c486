"""L-BFGS. Nocedal and Wright, "Numerical Optimization", algorithm 7.4."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from extensor.arrays.shapes import count
from extensor.core import changes, door, entries, modes, tracing
from extensor.core.tensor import Tensor, wrap
from extensor.errors import arguments, marked, shown, type_error, value_error
from extensor.optim import states
from extensor.optim.line_search import TriedPoint, strong_wolfe
from extensor.optim.optimizer import Group, Optimizer, Params
from extensor.optim.update import assign, rebind, state_dtype

_LEAST_CURVATURE = 1e-10  # a change of the gradient along a step that says something of the Hessian


class _History:
    """What is remembered of the iterations before: the state of the optimizer."""

    def __init__(self) -> None:
        self.iterations = 0
        self.evaluations = 0
        self.direction: Tensor | None = None
        self.gradient: Tensor | None = None
        self.step = 0.0
        self.scale = 1.0  # of the first guess of the inverse Hessian
        # Of each step the move, the change of the gradient, and 1 over their product.
        self.pairs: list[tuple[Tensor, Tensor, float]] = []

    def remember(self, gradient: Tensor, size: int) -> None:
        """Take in the last step, which ended at ``gradient``."""
        assert self.gradient is not None
        assert self.direction is not None
        turn, move = gradient - self.gradient, self.direction * self.step
        curvature = _product(turn, move)
        if curvature > _LEAST_CURVATURE:
            self.pairs = [*self.pairs, (move, turn, 1 / curvature)][-size:]
            self.scale = curvature / _product(turn, turn)

    def newton(self, gradient: Tensor) -> Tensor:
        """Minus the gradient times the estimate of the inverse Hessian: two loops over the memory."""
        direction, weights = -gradient, []
        for move, turn, ratio in reversed(self.pairs):
            weights.append(_product(move, direction) * ratio)
            direction = direction - weights[-1] * turn
        direction = direction * self.scale
        for (move, turn, ratio), weight in zip(self.pairs, reversed(weights), strict=True):
            direction = direction + (weight - _product(turn, direction) * ratio) * move
        return direction


def _product(a: Tensor, b: Tensor) -> float:
    return float(a.dot(b))


class LBFGS(Optimizer):
    """L-BFGS: Newton's method with an estimate of the inverse Hessian from the last steps.

    Each call of `step` makes up to ``max_iter`` iterations. It calls a closure for the loss and the
    gradients at each point that it tries, so the closure must always compute the same function: the
    loss of all samples, without dropout. All parameters are one vector, in one group.

    Parameters
    ----------
    params : iterable of Tensor
        Parameters to optimize, such as ``model.parameters()``.
    lr : float, default 1.0
        Length of a step in multiples of the direction; with a line search that of its first trial.
    max_iter : int, default 20
        Most iterations in a step.
    max_eval : int, optional
        Most calls of the closure in a step, by default ``max_iter * 5 // 4``.
    tolerance_grad : float, default 1e-07
        Magnitude of all gradients at which a step ends.
    tolerance_change : float, default 1e-09
        Change of the loss or of all parameters at which a step ends.
    history_size : int, default 100
        Number of steps that the estimate is made of. Each takes the memory of two gradients.
    line_search_fn : {"strong_wolfe"}, optional
        Line search that chooses the length of each step. By default all are ``lr`` long, the first
        one shorter.

    Raises
    ------
    ValueError
        If an option is out of range, a parameter cannot be optimized, or there are several groups.

    Notes
    -----
    It cannot be a part of a compiled function, as it decides by the losses how to go on.

    References
    ----------
    Nocedal and Wright, "Numerical optimization", 2006.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.tensor([-1.2, 1.0], dtype=ex.float64, requires_grad=True)
    >>> optimizer = ex.optim.LBFGS([w], max_iter=50, line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2
    ...     loss.backward()
    ...     return loss
    >>> start = optimizer.step(closure)
    >>> w.detach().round()
    tensor([1., 1.], dtype=float64)
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        self._history = _History()
        super().__init__(
            params,
            lr=lr,
            max_iter=max_iter,
            max_eval=max_iter * 5 // 4 if max_eval is None else max_eval,
            tolerance_grad=tolerance_grad,
            tolerance_change=tolerance_change,
            history_size=history_size,
            line_search_fn=line_search_fn,
        )

    @property
    def state_names(self) -> tuple[str, ...]:
        return ()  # no arrays of each parameter: all are one vector

    def _check_options(self, group: Group) -> None:
        if self.param_groups and group["params"] is not self.param_groups[0]["params"]:
            raise value_error("LBFGS", "there must be one group", groups=2)
        for name in ("max_iter", "max_eval", "history_size"):
            arguments.integer("LBFGS", name, group[name], least=1)
        for name in ("tolerance_grad", "tolerance_change"):
            arguments.number("LBFGS", name, group[name], least=0)
        arguments.choice("LBFGS", "line_search_fn", group["line_search_fn"], (None, "strong_wolfe"))

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Make up to ``max_iter`` iterations, then step the automatic schedules.

        Parameters
        ----------
        closure : callable
            Function without arguments that clears the gradients, computes them and returns the
            loss. It is called once for each point that is tried, with gradients enabled.

        Returns
        -------
        object
            The result of the first call of ``closure``.

        Raises
        ------
        TypeError
            If there is no closure, or it does not return a number.
        ValueError
            If a gradient does not have the shape of its parameter, or a parameter is read-only.
        """
        if closure is None:
            raise marked(TypeError("LBFGS: step needs a closure that returns the loss, got None"))
        if tracing.current() is not None:
            raise value_error("LBFGS", "step cannot be compiled", closure=shown(closure))
        with modes.no_grad():
            first = self._iterate(closure)
        for schedule in self.schedules:
            if schedule.automatic:
                schedule.step()
        return first

    def _iterate(self, closure: Callable[[], Any]) -> Any:
        group, history = self.param_groups[0], self._history
        first, loss, gradient = self._evaluate(closure)
        evaluations = 1
        if _largest(gradient) <= group["tolerance_grad"]:
            return first
        most = int(group["max_iter"])
        for iteration in range(1, most + 1):
            history.iterations += 1
            step = float(group["lr"])
            if history.gradient is None:
                history.direction = -gradient
                step *= min(1.0, 1 / float(abs(gradient).sum()))
            else:
                history.remember(gradient, group["history_size"])
                history.direction = history.newton(gradient)
            history.gradient, history.step, before = gradient, step, loss
            slope = _product(gradient, history.direction)
            if slope > -group["tolerance_change"]:
                break
            start = TriedPoint(0.0, loss, gradient, slope)
            if group["line_search_fn"] is not None:
                trials = group["max_eval"] - evaluations
                found, used = self._search(closure, start, step, trials)
                history.step, loss, gradient = found.step, found.loss, found.gradient
                evaluations += used
            else:
                self._move(self._flat(), history.direction, step)
                if iteration < most:
                    _, loss, gradient = self._evaluate(closure)
                    evaluations += 1
            if (
                evaluations >= group["max_eval"]
                or _largest(gradient) <= group["tolerance_grad"]
                or _largest(history.direction * history.step) <= group["tolerance_change"]
                or abs(loss - before) < group["tolerance_change"]
            ):
                break
        return first

    def _search(
        self, closure: Callable[[], Any], start: TriedPoint, step: float, trials: int
    ) -> tuple[TriedPoint, int]:
        """The point that a line search chooses, to which the parameters are moved."""
        origin, direction = self._flat(), self._history.direction
        assert direction is not None

        def evaluate(step: float) -> TriedPoint:
            self._move(origin, direction, step)
            _, loss, gradient = self._evaluate(closure)
            return TriedPoint(step, loss, gradient, _product(gradient, direction))

        tolerance = self.param_groups[0]["tolerance_change"]
        found = strong_wolfe(evaluate, start, step, _largest(direction), tolerance, trials)
        self._move(origin, direction, found[0].step)
        return found

    def _evaluate(self, closure: Callable[[], Any]) -> tuple[Any, float, Tensor]:
        """What the closure returns, also as a number, and the gradients as a vector."""
        with modes.enable_grad():
            result = closure()
        self._history.evaluations += 1
        try:
            loss = float(result)
        except (TypeError, ValueError):
            kind = type(result).__name__
            raise type_error("LBFGS", "the closure must return the loss", result=kind) from None
        gradients = []
        for index, parameter in enumerate(self._parameters):
            if parameter.grad is None:
                gradients.append(np.zeros(parameter.shape, self._dtype))
            else:
                self._check_gradient(index, parameter)
                gradients.append(parameter.grad._array)
        return result, loss, wrap(joined(gradients, self._dtype))

    def _flat(self) -> Tensor:
        """A copy of all parameters, as a vector."""
        return wrap(joined([x._array for x in self._parameters], self._dtype))

    def _move(self, origin: Tensor, direction: Tensor, step: float) -> None:
        """Put the parameters ``step`` times the direction away from ``origin``."""
        moved = (origin + step * direction)._array
        arrays = [parameter._array for parameter in self._parameters]
        sources, begin = [], 0
        for array in arrays:
            size = count(array.shape)
            sources.append(moved[begin : begin + size].reshape(array.shape))
            begin += size
        rebind(self._parameters, arrays, assign(list(arrays), sources))
        changes.mark_all([x._array for x in self._parameters], modes.mode.anomaly)

    @property
    def _parameters(self) -> list[Tensor]:
        parameters: list[Tensor] = self.param_groups[0]["params"]
        return parameters

    @property
    def _dtype(self) -> Any:
        return np.result_type(*[state_dtype(x._array) for x in self._parameters])

    @property
    def state(self) -> dict[Tensor, dict[str, Any]]:
        """Return the numbers of iterations and of calls of the closure, under the first parameter."""
        history = self._history
        if not history.evaluations:
            return {}
        counts = {"n_iter": history.iterations, "func_evals": history.evaluations}
        return {self._parameters[0]: counts}

    def _state(self, copied: bool) -> dict[str, Any]:
        history = self._history
        kept = states.saved(self._histories, copied)
        kept["state.n_iter"] = history.iterations
        kept["state.func_evals"] = history.evaluations
        if history.gradient is None or history.direction is None:
            return kept
        kept["state.step"] = history.step
        kept["state.scale"] = history.scale
        vectors = {"gradient": history.gradient, "direction": history.direction}
        for i, (move, turn, _) in enumerate(history.pairs):
            vectors |= {f"moves.{i}": move, f"turns.{i}": turn}
        kept |= {f"state.{k}": x._array.copy() if copied else x._array for k, x in vectors.items()}
        return kept

    def _prepared_state(self, state_dict: Any) -> Callable[[], None]:
        op = "LBFGS.load_state_dict"
        rest = dict(entries.mapping(op, state_dict))
        made = _History()
        made.iterations = entries.count(op, "state.n_iter", rest.pop("state.n_iter", None))
        made.evaluations = entries.count(op, "state.func_evals", rest.pop("state.func_evals", None))
        if "state.gradient" in rest:
            made.step = float(entries.number(op, "state.step", rest.pop("state.step", None)))
            made.scale = float(entries.number(op, "state.scale", rest.pop("state.scale", None)))
            made.gradient = self._vector(op, rest, "state.gradient")
            made.direction = self._vector(op, rest, "state.direction")
            while f"state.moves.{len(made.pairs)}" in rest:
                names = [f"state.{name}.{len(made.pairs)}" for name in ("moves", "turns")]
                move, turn = (self._vector(op, rest, name) for name in names)
                made.pairs.append((move, turn, 1 / _product(turn, move)))

        def check(group: Group) -> None:
            self._check_options(group)

        commit = states.prepared(op, rest, self._histories, check, lambda _: (), lambda *_: None)

        def take_over() -> None:
            commit()
            self._history = made

        return take_over

    def _vector(self, op: str, rest: dict[str, Any], key: str) -> Tensor:
        if key not in rest:
            raise value_error(op, "an entry is missing", key=key)
        size = sum(x.size for x in self._parameters)
        array = states.array_like(op, key, rest.pop(key), (size,), self._dtype)
        return wrap(array.astype(self._dtype))


@door.through_door
def joined(arrays: list[Any], dtype: Any) -> Any:
    """The elements of all arrays, as a vector."""
    xp = door.namespace(arrays[0])
    return xp.concat([xp.astype(xp.reshape(x, (-1,)), dtype) for x in arrays])


def _largest(x: Tensor) -> float:
    """The largest magnitude; 0 of nothing."""
    return float(abs(x).max()) if x.size else 0.0
