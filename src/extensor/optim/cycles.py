"""Schedules that do more than follow a curve: the one-cycle policy, and waiting for a plateau."""

from __future__ import annotations

from math import inf
from typing import Any

from extensor.errors import marked, shown, type_error, value_error
from extensor.errors.expectations import is_number
from extensor.optim.optimizer import Group, Optimizer
from extensor.optim.schedules import Schedule, along_cosine, along_line

_CURVES = {"cos": along_cosine, "linear": along_line}


class OneCycleLR(Schedule):
    """Up to ``max_lr`` and down to almost nothing, momentum the other way. Smith and Topin, 2018.

    The rate goes from ``max_lr / div_factor`` up in ``pct_start`` of the steps, and down to that
    divided by ``final_div_factor``; with ``three_phase`` back to where it began first.
    ``total_steps`` may be given as ``epochs`` and ``steps_per_epoch``. After them the rate stays.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
        automatic: bool = False,
    ) -> None:
        if total_steps is None:
            total_steps = (epochs or 0) * (steps_per_epoch or 0)
        self._positive(total_steps=total_steps)
        for name, value in {"div_factor": div_factor, "final_div_factor": final_div_factor}.items():
            if not value > 0:
                raise value_error("OneCycleLR", f"{name} must be greater than 0", **{name: value})
        if not 0 <= pct_start <= 1:
            raise value_error("OneCycleLR", "pct_start must be in [0, 1]", pct_start=pct_start)
        if anneal_strategy not in _CURVES:
            raise value_error(
                "OneCycleLR",
                "anneal_strategy must be 'cos' or 'linear'",
                anneal_strategy=anneal_strategy,
            )
        self.max_lr = max_lr
        self.total_steps = total_steps
        self.curve = _CURVES[anneal_strategy]
        self.momenta = (base_momentum, max_momentum) if cycle_momentum else None
        self.optimizer = optimizer
        self._momenta(0)  # what does not fit must leave the optimizer as it is
        self.div_factor = div_factor
        self.final_div_factor = final_div_factor
        # Where each phase ends, counted in steps, and the heights there: 0 begin, 1 top, 2 end.
        top = float(pct_start) * total_steps - 1
        self.phases = [(top, 1, 1), (total_steps - 1, 2, 0)]
        if three_phase:
            self.phases = [(top, 1, 1), (2 * top, 0, 0), (total_steps - 1, 2, 0)]
        super().__init__(optimizer, last_epoch, automatic)

    def rate(self, count: int, lr: float, index: int) -> float:
        top = self._of_group("max_lr", self.max_lr, index)
        begin = top / self.div_factor
        heights = (begin, top, begin / self.final_div_factor)
        return self._along(count, [heights[rate] for _, rate, _ in self.phases], begin)

    def also_set(self, group: Group, index: int) -> None:
        if self.momenta is None:
            return
        base, top = self._momenta(index)
        turns = [base if low else top for _, _, low in self.phases]
        momentum = self._along(self.count, turns, top)
        if "betas" in group:
            group["betas"] = (momentum, *group["betas"][1:])
        elif "momentum" in group:
            group["momentum"] = momentum

    def _momenta(self, index: int) -> list[float]:
        """The lower and the upper momentum of a group."""
        names = ("base_momentum", "max_momentum")
        pairs = zip(names, self.momenta or (), strict=False)
        return [self._of_group(name, given, index) for name, given in pairs]

    def _along(self, count: int, ends: list[float], value: float) -> float:
        """The value at ``count`` on the way from ``value`` through the ends of all phases."""
        begin = 0.0
        for (end, *_), target in zip(self.phases, ends, strict=True):
            if count <= end:
                return self.curve(
                    value, target, (count - begin) / (end - begin) if end > begin else 1.0
                )
            begin, value = end, target
        return value


class ReduceLROnPlateau(Schedule):
    """``lr * factor`` whenever a metric has not improved for more than ``patience`` steps.

    The rate is a function of the number of reductions. An improvement is a metric below
    ``best * (1 - threshold)``, or below ``best - threshold`` with ``threshold_mode="abs"``; with
    ``mode="max"`` above ``best * (1 + threshold)`` or ``best + threshold``. As in PyTorch, the first
    of each is no margin but a concession where metrics are negative: take "abs" for those.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0.0,
        eps: float = 1e-8,
    ) -> None:
        if mode not in ("min", "max"):
            raise value_error("ReduceLROnPlateau", "mode must be 'min' or 'max'", mode=mode)
        if threshold_mode not in ("rel", "abs"):
            raise value_error(
                "ReduceLROnPlateau",
                "threshold_mode must be 'rel' or 'abs'",
                threshold_mode=threshold_mode,
            )
        if not factor < 1:
            raise value_error("ReduceLROnPlateau", "factor must be less than 1", factor=factor)
        self.factor = factor
        self.patience = patience
        self.cooldown = cooldown
        self.threshold = threshold
        self.relative = threshold_mode == "rel"
        self.sign = 1.0 if mode == "min" else -1.0
        self.min_lr = min_lr
        self.eps = eps
        self.best = self.sign * inf
        self.bad = 0
        self.cooling = 0
        self.reductions = 0
        super().__init__(optimizer)

    def rate(self, count: int, lr: float, index: int) -> float:
        least = self._of_group("min_lr", self.min_lr, index)
        for _ in range(self.reductions):
            lower = max(lr * self.factor, least)
            if lr - lower <= self.eps:
                break
            lr = lower
        return lr

    def step(self, metrics: Any = None) -> None:
        """Look at ``metrics``, the latest value of what should improve, and set the rates."""
        if metrics is None:
            raise marked(TypeError("ReduceLROnPlateau: step needs the metric, got metrics=None"))
        if not is_number(metrics):
            raise type_error("ReduceLROnPlateau", "step needs a number", metrics=shown(metrics))
        value = float(metrics)
        if self._improves(value):
            self.best = value
            self.bad = 0
        else:
            self.bad += 1
        if self.cooling > 0:
            self.cooling -= 1
            self.bad = 0
        if self.bad > self.patience:
            self.reductions += 1
            self.cooling = self.cooldown
            self.bad = 0
        super().step()

    def _improves(self, value: float) -> bool:
        edge = self.best
        if self.relative and abs(edge) < inf:
            edge *= 1 - self.sign * self.threshold
        elif not self.relative:
            edge -= self.sign * self.threshold
        return self.sign * value < self.sign * edge

    def state_dict(self) -> dict[str, Any]:
        names = ("count", "best", "bad", "cooling", "reductions")
        return {name: getattr(self, name) for name in names}
