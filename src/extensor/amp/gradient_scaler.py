"""The factor that keeps small gradients of float16 from vanishing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, isfinite
from typing import Any

import numpy as np

from extensor.core import entries, tracing
from extensor.core.tensor import Tensor, wrap
from extensor.errors import shown, type_error, value_error
from extensor.errors.explanation import checked, explaining
from extensor.optim.clipping import gradients_of, multiply_gradients_of, norm_array, norm_of
from extensor.optim.optimizer import Optimizer


class GradScaler:
    """Multiplies a loss so that float16 gradients do not vanish, and finds the factor by itself.

    A step whose gradients are not all finite is left out and the factor shrinks; after
    ``growth_interval`` good steps it grows.

    Parameters
    ----------
    init_scale : float, default 65536.0
        The first factor.
    growth_factor : float, default 2.0
        What the factor is multiplied by after ``growth_interval`` good steps.
    backoff_factor : float, default 0.5
        What the factor is multiplied by after a step that was left out.
    growth_interval : int, default 2000
        How many good steps in a row let the factor grow.
    enabled : bool, default True
        If False, losses and gradients are left as they are.

    Examples
    --------
    >>> import extensor as ex
    >>> w = ex.ones(2, requires_grad=True)
    >>> optimizer = ex.optim.SGD([w], lr=0.5)
    >>> scaler = ex.amp.GradScaler(init_scale=8.0)
    >>> scaler.scale((w * w).sum()).backward()
    >>> scaler.step(optimizer)
    True
    >>> scaler.update()
    >>> w
    tensor([0., 0.], requires_grad=True)
    """

    @checked
    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if not growth_factor > 1:
            raise value_error(
                "GradScaler", "growth_factor must be > 1", growth_factor=growth_factor
            )
        if not 0 < backoff_factor < 1:
            requirement = "backoff_factor must be in (0, 1)"
            raise value_error("GradScaler", requirement, backoff_factor=backoff_factor)
        if growth_interval < 1:
            requirement = "growth_interval must be 1 or more"
            raise value_error("GradScaler", requirement, growth_interval=growth_interval)
        self._scale = float(init_scale)
        self.growth_factor = growth_factor
        self.backoff_factor = backoff_factor
        self.growth_interval = growth_interval
        self.enabled = enabled
        self._good_steps = 0
        self._finite: dict[int, bool] = {}  # by optimizer, since the last update
        self._stepped: set[int] = set()

    def get_scale(self) -> float:
        """Return the current factor; 1 if the scaler is not enabled."""
        return tracing.number(self, "_scale") if self.enabled else 1.0

    def scale(self, loss: Tensor) -> Tensor:
        """Return the loss multiplied by the current factor.

        Parameters
        ----------
        loss : Tensor
            The loss.

        Returns
        -------
        Tensor
            The loss times the factor.
        """
        if not isinstance(loss, Tensor):
            raise type_error("scale", "loss must be a tensor", loss=shown(loss))
        return loss * tracing.number(self, "_scale") if self.enabled else loss

    @explaining
    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients by the factor, in place. Call it before clipping them.

        Parameters
        ----------
        optimizer : Optimizer
            The optimizer whose gradients are divided.

        Raises
        ------
        RuntimeError
            If they were divided since the last `update`, or there is no gradient.
        """
        if not self.enabled:
            return
        finite, _ = self._outcomes()
        if id(optimizer) in finite:
            raise RuntimeError("unscale_: gradients are already unscaled, call update() first")
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        gradients = gradients_of("unscale_", parameters)
        if not gradients:
            raise RuntimeError("unscale_: no parameter has a gradient, call backward() first")
        trace = tracing.current()
        if trace is None:
            finite[id(optimizer)] = isfinite(norm_of(gradients, inf))
        elif trace.hides_values:
            finite[id(optimizer)] = trace.formula("is_finite", _is_finite, (gradients,))
        else:
            finite[id(optimizer)] = norm_array(gradients, inf) < inf
        scale = tracing.number(self, "_scale")
        multiply_gradients_of(parameters, gradients, 1 / scale)

    def note_unscaled(self, optimizer: object, is_finite: bool) -> None:
        """Record that the gradients are already divided by the factor, and whether all were finite.

        Parameters
        ----------
        optimizer : object
            The optimizer.
        is_finite : bool
            Whether all its gradients are finite.
        """
        self._finite[id(optimizer)] = is_finite

    @explaining
    def step(self, optimizer: Optimizer) -> bool:
        """``optimizer.step()`` with the gradients unscaled, unless one is not finite: then False.

        In a compiled function the answer is a tensor, as it is only known when the function runs.

        Parameters
        ----------
        optimizer : Optimizer
            The optimizer to step.

        Returns
        -------
        bool
            Whether the step was taken.

        Raises
        ------
        RuntimeError
            If the optimizer was stepped since the last `update`.
        """
        if self.enabled:
            finite, stepped = self._outcomes()
            if id(optimizer) in stepped:
                raise RuntimeError("step: the optimizer was already stepped, call update() first")
            if id(optimizer) not in finite:
                self.unscale_(optimizer)
            stepped.add(id(optimizer))
            trace = tracing.current()
            if trace is not None:
                trace.moved_if(optimizer, finite[id(optimizer)], optimizer.step)
                return wrap(finite[id(optimizer)])  # type: ignore[return-value]
            if not finite[id(optimizer)]:
                return False
        optimizer.step()
        return True

    def update(self) -> None:
        """Adapt the factor to the results of the steps since the last update."""
        if not self.enabled:
            return
        found, stepped = self._outcomes()
        if not found:
            raise RuntimeError("update: no step was taken, call step(optimizer) first")
        trace = tracing.current()
        if trace is None:
            self._adapt(list(found.values()))
        else:
            trace.later(self._adapt, *found.values())
        found.clear()
        stepped.clear()

    def _outcomes(self) -> tuple[dict[int, Any], set[int]]:
        """The outcomes of the steps since the last update, by optimizer, and the steps that were taken."""
        trace = tracing.current()
        if trace is None:
            return self._finite, self._stepped
        kept: tuple[dict[int, Any], set[int]] = trace.scratch(self, lambda: ({}, set()))
        return kept

    def _adapt(self, finite: list[bool]) -> None:
        if all(finite):
            self._good_steps += 1
            if self._good_steps == self.growth_interval:
                self._good_steps = 0
                if isfinite(self._scale * self.growth_factor):
                    self._scale *= self.growth_factor
        else:
            self._good_steps = 0
            self._scale *= self.backoff_factor

    def state_dict(self) -> dict[str, Any]:
        """Return everything that is needed to continue."""
        return {"scale": self._scale, "good_steps": self._good_steps}

    @explaining
    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a state that :meth:`state_dict` returned.

        Parameters
        ----------
        state_dict : dict
            The state.
        """
        self._prepared_state(state_dict)()

    def _prepared_state(self, state_dict: Any) -> Callable[[], None]:
        """A function that takes over ``state_dict``, which has been checked to fit."""
        op = "GradScaler.load_state_dict"
        given = entries.with_keys(op, state_dict, ["scale", "good_steps"])
        scale = float(entries.number(op, "scale", given["scale"]))
        if not (isfinite(scale) and scale > 0):
            raise value_error(op, "scale must be finite and greater than 0", scale=scale)
        good_steps = entries.count(op, "good_steps", given["good_steps"])
        return partial(vars(self).update, _scale=scale, _good_steps=good_steps)


def _is_finite(gradients: list[Any]) -> Any:
    """Whether all elements of all arrays are finite, as an array."""
    return np.asarray(isfinite(norm_of(gradients, inf)))
