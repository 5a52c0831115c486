"""Learning rates as functions of a count of steps.

A schedule maps the rate a group began with (``initial_lr``) to the present one, and nothing but its
own count decides how: neither the order of calls nor what the rate was before. Several schedules
of one optimizer are composed in the order of their making.
"""

from __future__ import annotations

import operator
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import wraps
from math import cos, inf, pi
from typing import Any

import numpy as np

from extensor.core import entries, tracing
from extensor.core.modes import switched
from extensor.errors import value_error
from extensor.errors.explanation import checked, explaining, wrap_constructor
from extensor.optim.optimizer import Group, Optimizer


def _with_fractions(annotation: str) -> str:
    """A count may be half of another: any number will do."""
    return annotation.replace("int", "float") if "[" not in annotation else annotation


def _check_arguments(written: Callable[..., None]) -> Callable[..., None]:
    """A constructor whose arguments are looked at; numbers of NumPy's become Python's.

    What a rate is computed from would otherwise be rounded to as few digits as they have.
    """

    looked_at = checked(written, read=_with_fractions)

    @wraps(written)
    def function(*args: Any, **kwargs: Any) -> None:
        named = {name: _plain(value) for name, value in kwargs.items()}
        looked_at(*map(_plain, args), **named)

    return function


def _plain(value: Any) -> Any:
    is_number = isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biuf"
    return value.item() if is_number and value.ndim == 0 else value


class Schedule:
    """Base class of learning-rate schedules.

    A schedule computes the learning rate of each group from the initial rate and the number of its
    steps, in `rate`, which a subclass defines. It sets the rates when it is created and after each
    `step`. Several schedules of one optimizer are composed in the order of their creation: each
    begins with the rate that the one before returns.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer whose rates are set, at once and after every step of the schedule.
    last_epoch : int, default -1
        Number of steps taken before, minus 1, for a run that is continued.
    automatic : bool, default False
        Whether the optimizer steps the schedule after each of its own steps. By default, call
        `step` yourself.

    Attributes
    ----------
    count : int
        Number of steps so far.

    Raises
    ------
    ValueError
        If ``last_epoch`` is less than -1.

    Notes
    -----
    A group keeps its initial rate as the option "initial_lr".

    Examples
    --------
    >>> import extensor as ex
    >>> class Inverse(ex.optim.Schedule):
    ...     def rate(self, count, lr, index):
    ...         return lr / (1 + count)
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule = Inverse(optimizer)
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    @explaining
    def __init__(self, optimizer: Optimizer, last_epoch: int = -1, automatic: bool = False) -> None:
        if last_epoch < -1:
            raise value_error(self._name, "last_epoch must be -1 or more", last_epoch=last_epoch)
        self.optimizer = optimizer
        self.automatic = automatic
        self.count = int(last_epoch) + 1
        self.rates_at(self.count)  # what does not fit must leave the optimizer as it is
        optimizer.schedules.append(self)
        self._apply()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        wrap_constructor(cls, _check_arguments)

    def rate(self, count: int, lr: float, index: int) -> float:
        """Compute the learning rate of a group. Subclasses define it.

        Parameters
        ----------
        count : int
            Number of steps of the schedule.
        lr : float
            Initial rate of the group, or the rate from the schedule before.
        index : int
            Index of the group.

        Returns
        -------
        float
            The rate.
        """
        raise NotImplementedError(f"{self._name}: needs a method rate")

    @explaining
    def rates_at(self, count: int) -> list[float]:
        """Compute the rates of all groups after some number of steps, without setting them.

        Parameters
        ----------
        count : int
            Number of steps of this schedule. Other schedules are left out.

        Returns
        -------
        list of float
            A rate for each group.

        Raises
        ------
        ValueError
            If ``count`` is negative.
        """
        count = operator.index(count)
        if count < 0:
            raise value_error(self._name, "count must be 0 or more", count=count)
        groups = self.optimizer.param_groups
        began = [group["initial_lr"] if "initial_lr" in group else group["lr"] for group in groups]
        return [self.rate(count, lr, i) for i, lr in enumerate(began)]

    def step(self) -> None:
        """Count one step, and set the rates."""
        trace = tracing.current()
        if trace is not None:
            trace.scratch(self.optimizer, list).append(self)
            trace.later(self._step_after_run)
            return
        self.count += 1
        self._apply()

    def _step_after_run(self, _: list[bool]) -> None:
        self.step()

    def _apply(self) -> None:
        for index, group in enumerate(self.optimizer.param_groups):
            group.setdefault("initial_lr", group["lr"])
            lr: float = group["initial_lr"]
            for schedule in self.optimizer.schedules:
                lr = schedule.rate(schedule.count, lr, index)
                schedule.also_set(group, index)
            group["lr"] = float(lr)

    def also_set(self, group: Group, index: int) -> None:
        """Set other options of a group that depend on the count. Subclasses may define it.

        Parameters
        ----------
        group : dict
            The group.
        index : int
            Its index.
        """

    def remove(self) -> None:
        """Detach the schedule from its optimizer. The rates are those of the remaining schedules."""
        self.optimizer.schedules.remove(self)
        self._apply()

    def get_last_lr(self) -> list[float]:
        """Return the present rate of each group.

        Returns
        -------
        list of float
            The rates.
        """
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Return the numbers that are needed to continue.

        Returns
        -------
        dict of str to number
            The numbers, such as "count".
        """
        return {"count": self.count}

    @explaining
    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned, and set the rates.

        Parameters
        ----------
        state_dict : dict
            The dict.

        Raises
        ------
        ValueError
            If entries are missing or unknown, or give no rates. Nothing changes then.
        """
        self._prepared_state(state_dict)()

    def _prepared_state(self, state_dict: Any) -> Callable[[], None]:
        """A function that takes over ``state_dict``, which has been checked to fit."""
        op = f"{self._name}.load_state_dict"
        now = self.state_dict()
        given = entries.with_keys(op, state_dict, now)
        found = {key: entries.like(op, key, given[key], now[key]) for key in now}
        self._check_state(op, found)

        def commit() -> None:
            self.__dict__.update(found)
            self._apply()

        return commit

    def _check_state(self, op: str, state: dict[str, Any]) -> None:
        """Raise if there are no rates at such a state; this one is left as it is."""
        try:
            with switched(self, **state):
                self.rates_at(self.count)
        except (ArithmeticError, ValueError) as error:
            raise value_error(op, f"count must be one that has rates ({error})", **state) from None

    @property
    def _name(self) -> str:
        return type(self).__name__

    def _of_group(self, name: str, given: Any, index: int) -> Any:
        """The value for group ``index``: ``given`` is one for all groups, or a list of one for each."""
        if not isinstance(given, list | tuple):
            return given
        groups = len(self.optimizer.param_groups)
        if len(given) != groups:
            raise value_error(self._name, f"{name} must have {groups} values", values=len(given))
        return given[index]

    def _positive(self, **values: float) -> None:
        for name, value in values.items():
            if not value > 0:
                raise value_error(self._name, f"{name} must be greater than 0", **{name: value})


class LambdaLR(Schedule):
    """Rate given by a function: ``lr * f(count)``.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer whose rates are set, at once and after every step of the schedule.
    lr_lambda : callable or sequence of callables
        Function of the number of steps that returns a factor; or one for each group.
    last_epoch : int, default -1
        Number of steps taken before, minus 1, for a run that is continued.
    automatic : bool, default False
        Whether the optimizer steps the schedule after each of its own steps. By default, call
        `step` yourself.

    Raises
    ------
    ValueError
        If there is not one function for each group.

    Examples
    --------
    >>> import extensor as ex
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule = ex.optim.LambdaLR(optimizer, lambda count: 1 / (1 + count))
    >>> [round(schedule.rates_at(count)[0], 3) for count in range(4)]
    [1.0, 0.5, 0.333, 0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
        automatic: bool = False,
    ) -> None:
        self.lr_lambda = lr_lambda
        super().__init__(optimizer, last_epoch, automatic)

    def rate(self, count: int, lr: float, index: int) -> float:
        return float(lr * self._of_group("lr_lambda", self.lr_lambda, index)(count))


def _power(base: float, exponent: int) -> float:
    """``base ** exponent``, infinite where that is too large; of integers it could take for ever."""
    try:
        return float(base) ** exponent
    except OverflowError:
        return inf


class StepLR(Schedule):
    """Rate multiplied by ``gamma`` every ``step_size`` steps.

    It is ``lr * gamma ** (count // step_size)``.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer whose rates are set, at once and after every step of the schedule.
    step_size : int
        Number of steps between reductions.
    gamma : float, default 0.1
        Factor of the learning rate.
    last_epoch : int, default -1
        Number of steps taken before, minus 1, for a run that is continued.
    automatic : bool, default False
        Whether the optimizer steps the schedule after each of its own steps. By default, call
        `step` yourself.

    Raises
    ------
    ValueError
        If ``step_size`` is not positive.

    Examples
    --------
    >>> import extensor as ex
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule = ex.optim.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> [round(schedule.rates_at(count)[0], 3) for count in range(5)]
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
        automatic: bool = False,
    ) -> None:
        self._positive(step_size=step_size)
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch, automatic)

    def rate(self, count: int, lr: float, index: int) -> float:
        return lr * _power(self.gamma, count // self.step_size)


class MultiStepLR(Schedule):
    """Rate multiplied by ``gamma`` at each milestone.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer whose rates are set, at once and after every step of the schedule.
    milestones : sequence of ints
        Numbers of steps from which on another factor ``gamma`` holds, in any order.
    gamma : float, default 0.1
        Factor of the learning rate.
    last_epoch : int, default -1
        Number of steps taken before, minus 1, for a run that is continued.
    automatic : bool, default False
        Whether the optimizer steps the schedule after each of its own steps. By default, call
        `step` yourself.

    Examples
    --------
    >>> import extensor as ex
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule = ex.optim.MultiStepLR(optimizer, milestones=[1, 3], gamma=0.5)
    >>> [round(schedule.rates_at(count)[0], 3) for count in range(5)]
    [1.0, 0.5, 0.5, 0.25, 0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
        automatic: bool = False,
    ) -> None:
        self.milestones = sorted(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch, automatic)

    def rate(self, count: int, lr: float, index: int) -> float:
        return lr * _power(self.gamma, bisect_right(self.milestones, count))


class ExponentialLR(Schedule):
    """Rate multiplied by ``gamma`` at every step: ``lr * gamma ** count``.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer whose rates are set, at once and after every step of the schedule.
    gamma : float
        Factor of the learning rate.
    last_epoch : int, default -1
        Number of steps taken before, minus 1, for a run that is continued.
    automatic : bool, default False
        Whether the optimizer steps the schedule after each of its own steps. By default, call
        `step` yourself.

    Examples
    --------
    >>> import extensor as ex
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule = ex.optim.ExponentialLR(optimizer, gamma=0.5)
    >>> [round(schedule.rates_at(count)[0], 3) for count in range(4)]
    [1.0, 0.5, 0.25, 0.125]
    """

    def __init__(
        self, optimizer: Optimizer, gamma: float, last_epoch: int = -1, automatic: bool = False
    ) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch, automatic)

    def rate(self, count: int, lr: float, index: int) -> float:
        return lr * _power(self.gamma, count)


def along_cosine(start: float, end: float, part: float) -> float:
    """From ``start`` to ``end`` as ``part`` goes from 0 to 1, flat at both ends."""
    return along_line(end, start, (1 + cos(pi * part)) / 2)


def along_line(start: float, end: float, part: float) -> float:
    """From ``start`` to ``end`` as ``part`` goes from 0 to 1, evenly."""
    return float(start) * (1 - part) + float(end) * part  # exact at both ends


class CosineAnnealingLR(Schedule):
    """Half a cosine from the initial rate to ``eta_min``.

    It is ``eta_min + (lr - eta_min) * (1 + cos(pi * count / T_max)) / 2``. After ``T_max`` steps
    the rate rises again.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer whose rates are set, at once and after every step of the schedule.
    T_max : int
        Number of steps from the initial rate to ``eta_min``.
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
        If ``T_max`` is not positive.

    Examples
    --------
    >>> import extensor as ex
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule = ex.optim.CosineAnnealingLR(optimizer, T_max=4)
    >>> [round(schedule.rates_at(count)[0], 3) for count in range(6)]
    [1.0, 0.854, 0.5, 0.146, 0.0, 0.146]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,  # noqa: N803  as PyTorch has it
        eta_min: float = 0.0,
        last_epoch: int = -1,
        automatic: bool = False,
    ) -> None:
        self._positive(T_max=T_max)
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch, automatic)

    def rate(self, count: int, lr: float, index: int) -> float:
        return along_cosine(lr, self.eta_min, count / self.T_max)


class WarmupLR(Schedule):
    """Line from ``start_factor * lr`` to ``lr``, then ``lr``.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer whose rates are set, at once and after every step of the schedule.
    warmup_steps : int
        Number of steps of the line.
    start_factor : float, default 0.0
        Factor of the first rate.
    last_epoch : int, default -1
        Number of steps taken before, minus 1, for a run that is continued.
    automatic : bool, default False
        Whether the optimizer steps the schedule after each of its own steps. By default, call
        `step` yourself.

    Raises
    ------
    ValueError
        If ``warmup_steps`` is not positive.

    Examples
    --------
    >>> import extensor as ex
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule = ex.optim.WarmupLR(optimizer, warmup_steps=4)
    >>> [round(schedule.rates_at(count)[0], 3) for count in range(6)]
    [0.0, 0.25, 0.5, 0.75, 1.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        warmup_steps: int,
        start_factor: float = 0.0,
        last_epoch: int = -1,
        automatic: bool = False,
    ) -> None:
        self._positive(warmup_steps=warmup_steps)
        self.warmup_steps = warmup_steps
        self.start_factor = start_factor
        super().__init__(optimizer, last_epoch, automatic)

    def rate(self, count: int, lr: float, index: int) -> float:
        return along_line(self.start_factor * lr, lr, min(1.0, count / self.warmup_steps))


class WarmupCosineLR(Schedule):
    """Line up to the initial rate, then half a cosine down to ``min_lr``.

    After ``total_steps`` steps the rate stays at ``min_lr``.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer whose rates are set, at once and after every step of the schedule.
    warmup_steps : int
        Number of steps of the line.
    total_steps : int
        Number of steps of line and cosine together.
    min_lr : float, default 0.0
        Last rate.
    start_factor : float, default 0.0
        Factor of the first rate.
    last_epoch : int, default -1
        Number of steps taken before, minus 1, for a run that is continued.
    automatic : bool, default False
        Whether the optimizer steps the schedule after each of its own steps. By default, call
        `step` yourself.

    Raises
    ------
    ValueError
        If ``warmup_steps`` is negative or not less than ``total_steps``.

    Examples
    --------
    >>> import extensor as ex
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule = ex.optim.WarmupCosineLR(optimizer, warmup_steps=2, total_steps=6)
    >>> [round(schedule.rates_at(count)[0], 3) for count in range(8)]
    [0.0, 0.5, 1.0, 0.854, 0.5, 0.146, 0.0, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        warmup_steps: int,
        total_steps: int,
        min_lr: float = 0.0,
        start_factor: float = 0.0,
        last_epoch: int = -1,
        automatic: bool = False,
    ) -> None:
        if not 0 <= warmup_steps < total_steps:
            raise value_error(
                "WarmupCosineLR",
                "warmup_steps must be 0 or more and less than total_steps",
                warmup_steps=warmup_steps,
                total_steps=total_steps,
            )
        self.warmup_steps = warmup_steps
        self.total_steps = total_steps
        self.min_lr = min_lr
        self.start_factor = start_factor
        super().__init__(optimizer, last_epoch, automatic)

    def rate(self, count: int, lr: float, index: int) -> float:
        if count < self.warmup_steps:
            return along_line(self.start_factor * lr, lr, count / self.warmup_steps)
        part = (count - self.warmup_steps) / (self.total_steps - self.warmup_steps)
        return along_cosine(lr, self.min_lr, min(1.0, part))
