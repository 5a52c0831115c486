"""Schedules that begin again: cycles between two rates, and cosines with restarts."""

from __future__ import annotations

from collections.abc import Callable
from math import floor, inf
from typing import Any

from extensor.core import tracing
from extensor.errors import arguments, shown, value_error
from extensor.optim.optimizer import Group, Optimizer
from extensor.optim.schedules import Schedule, along_cosine

_MODES = ("triangular", "triangular2", "exp_range")


class CyclicLR(Schedule):
    """Lines up from ``base_lr`` to ``max_lr`` and down again, over and over.

    The momentum goes the other way. The initial rate of the optimizer does not matter.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer whose rates are set, at once and after every step of the schedule.
    base_lr : float or list of floats
        Lowest rate, or one for each group.
    max_lr : float or list of floats
        Highest rate, or one for each group.
    step_size_up : int, default 2000
        Number of steps up.
    step_size_down : int, optional
        Number of steps down, by default as many as up.
    mode : {"triangular", "triangular2", "exp_range"}, default "triangular"
        Height of the cycles: all the same, halved in each cycle, or multiplied by ``gamma`` in each
        step.
    gamma : float, default 1.0
        Factor of the height in mode "exp_range".
    scale_fn : callable, optional
        Function of a number that returns the height, from 0 to 1, in place of ``mode``.
    scale_mode : {"cycle", "iterations"}, default "cycle"
        Whether ``scale_fn`` takes the number of the cycle, counted from 1, or that of steps.
    cycle_momentum : bool, default True
        Whether to set the option "momentum" too, or the first of "betas".
    base_momentum : float or list of floats, default 0.8
        Momentum at the highest rate, or one for each group.
    max_momentum : float or list of floats, default 0.9
        Momentum at the lowest rate, or one for each group.
    last_epoch : int, default -1
        Number of steps taken before, minus 1, for a run that is continued.
    automatic : bool, default False
        Whether the optimizer steps the schedule after each of its own steps. By default, call
        `step` yourself.

    Raises
    ------
    ValueError
        If a number is out of range, a mode is unknown, a list does not have one value for each
        group, or with ``cycle_momentum`` a group has no momentum.

    References
    ----------
    Smith, "Cyclical learning rates for training neural networks", 2017.

    Examples
    --------
    >>> import extensor as ex
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> schedule = ex.optim.CyclicLR(optimizer, 0.1, 0.5, step_size_up=2, mode="triangular2")
    >>> [round(schedule.rates_at(count)[0], 3) for count in range(8)]
    [0.1, 0.3, 0.5, 0.3, 0.1, 0.2, 0.3, 0.2]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
        automatic: bool = False,
    ) -> None:
        down = step_size_up if step_size_down is None else step_size_down
        self._positive(step_size_up=step_size_up, step_size_down=down)
        arguments.choice("CyclicLR", "mode", mode, _MODES)
        arguments.choice("CyclicLR", "scale_mode", scale_mode, ("cycle", "iterations"))
        self.base_lr = base_lr
        self.max_lr = max_lr
        self.step_size_up = step_size_up
        self.period = step_size_up + down
        self.mode = mode
        self.gamma = gamma
        self.scale_fn = scale_fn
        self.scale_mode = scale_mode
        self.momenta = (base_momentum, max_momentum) if cycle_momentum else None
        self.optimizer = optimizer
        for index, group in enumerate(optimizer.param_groups):
            self._momenta(index)  # what does not fit must leave the optimizer as it is
            if cycle_momentum and not group.keys() & {"momentum", "betas"}:
                requirement = "with cycle_momentum groups must have momentum or betas"
                raise value_error("CyclicLR", requirement, optimizer=type(optimizer).__name__)
        super().__init__(optimizer, last_epoch, automatic)

    def rate(self, count: int, lr: float, index: int) -> float:
        base = self._of_group("base_lr", self.base_lr, index)
        top = self._of_group("max_lr", self.max_lr, index)
        return float(base + (top - base) * self._height(count))

    def also_set(self, group: Group, index: int) -> None:
        if self.momenta is None:
            return
        base, top = self._momenta(index)
        momentum = top - (top - base) * self._height(self.count)
        if "betas" in group:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum

    def _momenta(self, index: int) -> list[float]:
        """The lower and the upper momentum of a group."""
        names = ("base_momentum", "max_momentum")
        pairs = zip(names, self.momenta or (), strict=False)
        return [self._of_group(name, given, index) for name, given in pairs]

    def _height(self, count: int) -> float:
        """How far up the rate is, from 0 to 1."""
        cycles, place = divmod(count, self.period)
        up = self.step_size_up
        part = place / up if place <= up else (self.period - place) / (self.period - up)
        if self.scale_fn is not None:
            return part * self.scale_fn(cycles + 1 if self.scale_mode == "cycle" else count)
        if self.mode == "triangular2":
            return float(part * 0.5**cycles)
        return part * _power(self.gamma, count) if self.mode == "exp_range" else part


def _power(base: float, exponent: int) -> float:
    try:
        return float(base) ** exponent
    except OverflowError:
        return inf


class CosineAnnealingWarmRestarts(Schedule):
    """Half cosines from the initial rate to ``eta_min``, each ``T_mult`` times as long as the last.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer whose rates are set, at once and after every step of the schedule.
    T_0 : int
        Number of steps of the first half cosine.
    T_mult : int, default 1
        Factor of the length of each further one.
    eta_min : float, default 0.0
        Lowest rate.
    last_epoch : int, default -1
        Number of steps taken before, minus 1, for a run that is continued.
    automatic : bool, default False
        Whether the optimizer steps the schedule after each of its own steps. By default, call
        `step` yourself.

    Raises
    ------
    ValueError
        If ``T_0`` or ``T_mult`` is less than 1.

    References
    ----------
    Loshchilov and Hutter, "SGDR: Stochastic gradient descent with warm restarts", 2017.

    Examples
    --------
    >>> import extensor as ex
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule = ex.optim.CosineAnnealingWarmRestarts(optimizer, T_0=2, T_mult=2)
    >>> [round(schedule.rates_at(count)[0], 3) for count in range(7)]
    [1.0, 0.5, 1.0, 0.854, 0.5, 0.146, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,  # noqa: N803  as PyTorch has it
        T_mult: int = 1,  # noqa: N803
        eta_min: float = 0.0,
        last_epoch: int = -1,
        automatic: bool = False,
    ) -> None:
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if not value >= 1:
                requirement = f"{name} must be 1 or greater"
                raise value_error("CosineAnnealingWarmRestarts", requirement, **{name: value})
        self.T_0 = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.fraction = 0.0  # of a step, where steps are parts of an epoch
        super().__init__(optimizer, last_epoch, automatic)

    def rate(self, count: int, lr: float, index: int) -> float:
        length, place = float(self.T_0), count + self.fraction
        if self.T_mult == 1:
            place %= length
        while place >= length:
            place -= length
            length *= self.T_mult
        return along_cosine(lr, self.eta_min, place / length)

    def step(self, epoch: float | None = None) -> None:
        """Count one step, or go to some number of steps, and set the rates.

        Parameters
        ----------
        epoch : float, optional
            Number of steps to go to. It may be between two steps: ``epoch + batch / batches`` sets
            the rates in each batch, with ``T_0`` counted in epochs.

        Raises
        ------
        ValueError
            If ``epoch`` is negative, or given in a compiled function.
        """
        if epoch is None:
            super().step()
            return
        if tracing.current() is not None:
            requirement = "epoch must not be given in a compiled function"
            raise value_error("CosineAnnealingWarmRestarts", requirement, epoch=shown(epoch))
        arguments.number("CosineAnnealingWarmRestarts", "epoch", epoch, least=0)
        if epoch == inf:
            raise value_error("CosineAnnealingWarmRestarts", "epoch must be finite", epoch=epoch)
        self.count = floor(epoch)
        self.fraction = float(epoch - self.count)
        self._apply()

    def state_dict(self) -> dict[str, Any]:
        return {"count": self.count, "fraction": self.fraction}

    def _check_state(self, op: str, state: dict[str, Any]) -> None:
        if not 0 <= state["fraction"] < 1:
            raise value_error(op, "fraction must be in [0, 1)", fraction=state["fraction"])
        super()._check_state(op, state)
