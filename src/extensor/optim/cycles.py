"""Schedules that do more than follow a curve: the one-cycle policy, and waiting for a plateau."""

from __future__ import annotations

from math import inf
from typing import Any

from extensor.errors import arguments, marked, shown, type_error, value_error
from extensor.errors.expectations import is_number
from extensor.optim.optimizer import Group, Optimizer
from extensor.optim.schedules import Schedule, along_cosine, along_line

_CURVES = {"cos": along_cosine, "linear": along_line}


class OneCycleLR(Schedule):
    """One-cycle policy: the rate rises to ``max_lr`` and falls to almost nothing.

    The rate goes from ``max_lr / div_factor`` to ``max_lr`` in the first ``pct_start`` of the
    steps, then down to the first rate divided by ``final_div_factor``. The momentum goes the other
    way. After ``total_steps`` steps the rate stays. The initial rate of the optimizer does not
    matter.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer whose rates are set, at once and after every step of the schedule.
    max_lr : float or list of floats
        Highest rate, or one for each group.
    total_steps : int, optional
        Number of steps of the cycle; alternatively give ``epochs`` and ``steps_per_epoch``.
    epochs : int, optional
        Number of epochs, if ``total_steps`` is not given.
    steps_per_epoch : int, optional
        Number of steps in each epoch, if ``total_steps`` is not given.
    pct_start : float, default 0.3
        Share of the steps in which the rate rises, from 0 to 1.
    anneal_strategy : {"cos", "linear"}, default "cos"
        Curve between the rates.
    cycle_momentum : bool, default True
        Whether to set the option "momentum" too, or the first of "betas".
    base_momentum : float or list of floats, default 0.85
        Momentum at the highest rate, or one for each group.
    max_momentum : float or list of floats, default 0.95
        Momentum at the first and last rates, or one for each group.
    div_factor : float, default 25.0
        ``max_lr`` divided by the first rate.
    final_div_factor : float, default 10000.0
        First rate divided by the last one.
    three_phase : bool, default False
        Whether the rate first falls to the first rate, in as many steps as it rose, and then to the
        last one.
    last_epoch : int, default -1
        Number of steps taken before, minus 1, for a run that is continued.
    automatic : bool, default False
        Whether the optimizer steps the schedule after each of its own steps, which suits this
        schedule. By default, call `step` after each step of the optimizer.

    Raises
    ------
    ValueError
        If a number is out of range, ``anneal_strategy`` is unknown, or a list does not have one
        value for each group.

    References
    ----------
    Smith and Topin, "Super-convergence: Very fast training of neural networks using large learning
    rates", 2018.

    Examples
    --------
    >>> import extensor as ex
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> schedule = ex.optim.OneCycleLR(optimizer, max_lr=1.0, total_steps=10)
    >>> [round(schedule.rates_at(count)[0], 3) for count in (0, 1, 2, 5, 9)]
    [0.04, 0.52, 1.0, 0.611, 0.0]
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
        factors = {"div_factor": div_factor, "final_div_factor": final_div_factor}
        self._positive(total_steps=total_steps, **factors)
        if not 0 <= pct_start <= 1:
            raise value_error("OneCycleLR", "pct_start must be in [0, 1]", pct_start=pct_start)
        arguments.choice("OneCycleLR", "anneal_strategy", anneal_strategy, tuple(_CURVES))
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
    """Rate multiplied by ``factor`` whenever a metric has not improved for some steps.

    Call ``step(metric)`` after each epoch. The rate is reduced if more than ``patience`` steps in a
    row brought no improvement. In mode "min" an improvement is a metric below
    ``best * (1 - threshold)``, or below ``best - threshold`` with ``threshold_mode="abs"``; in mode
    "max" it is a metric above ``best * (1 + threshold)`` or ``best + threshold``.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer whose rates are set.
    mode : {"min", "max"}, default "min"
        Whether the metric should fall or rise.
    factor : float, default 0.1
        Factor of the rate, less than 1.
    patience : int, default 10
        Number of steps without improvement that are tolerated.
    threshold : float, default 0.0001
        Least improvement that counts.
    threshold_mode : {"rel", "abs"}, default "rel"
        Whether ``threshold`` is relative to the best value. Take "abs" for metrics that may be
        negative, since a relative threshold would tolerate worse values then, as in PyTorch.
    cooldown : int, default 0
        Number of steps after a reduction in which steps without improvement are not counted.
    min_lr : float or list of floats, default 0.0
        Lowest rate, or one for each group.
    eps : float, default 1e-08
        Reductions by this much or less are not made.

    Attributes
    ----------
    best : float
        Best value of the metric so far.
    reductions : int
        Number of reductions so far.

    Raises
    ------
    ValueError
        If ``mode`` or ``threshold_mode`` is unknown, ``factor`` is not less than 1, or ``min_lr``
        does not have one value for each group.

    Examples
    --------
    >>> import extensor as ex
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule = ex.optim.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    >>> for loss in (3.0, 2.0, 2.0, 2.0):
    ...     schedule.step(loss)
    >>> schedule.get_last_lr()
    [0.5]
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
        arguments.choice("ReduceLROnPlateau", "mode", mode, ("min", "max"))
        arguments.choice("ReduceLROnPlateau", "threshold_mode", threshold_mode, ("rel", "abs"))
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
        """Take the latest value of the metric, and set the rates.

        Parameters
        ----------
        metrics : float, optional
            The value, a number or a 0-d tensor. It is required.

        Raises
        ------
        TypeError
            If it is missing or not a number.
        """
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
