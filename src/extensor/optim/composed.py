"""Schedules made of others: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from extensor.errors import value_error
from extensor.optim.cycles import ReduceLROnPlateau
from extensor.optim.optimizer import Group, Optimizer
from extensor.optim.schedules import Schedule


class _Composed(Schedule):
    """A schedule that takes over others, which then follow its count and not their own."""

    schedules: list[Schedule]

    def _take_over(
        self, optimizer: Optimizer, schedules: Sequence[Schedule], last_epoch: int, automatic: bool
    ) -> None:
        self.schedules = list(schedules)
        for index, schedule in enumerate(self.schedules):
            if isinstance(schedule, ReduceLROnPlateau):
                requirement = "schedulers must follow a count, not a metric"
                raise value_error(self._name, requirement, index=index)
            if schedule not in optimizer.schedules or schedule in self.schedules[:index]:
                requirement = "schedulers must be schedules of the optimizer, each given once"
                raise value_error(self._name, requirement, index=index)
        Schedule.__init__(self, optimizer, last_epoch, automatic)
        for schedule in self.schedules:
            optimizer.schedules.remove(schedule)
        self._apply()


class SequentialLR(_Composed):
    """Schedules one after the other: at each milestone the next one begins, at its first rate.

    The schedules follow the steps of this one from now on; do not step them.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer whose rates are set, at once and after every step of the schedule.
    schedulers : sequence of Schedule
        Schedules of the optimizer, one more than there are milestones.
    milestones : sequence of ints
        Numbers of steps at which the next schedule begins, in increasing order.
    last_epoch : int, default -1
        Number of steps taken before, minus 1, for a run that is continued.
    automatic : bool, default False
        Whether the optimizer steps the schedule after each of its own steps. By default, call
        `step` yourself.

    Raises
    ------
    ValueError
        If the numbers of schedules and milestones do not fit, the milestones do not increase, or a
        schedule is of another optimizer or follows a metric.

    Examples
    --------
    >>> import extensor as ex
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0)
    >>> warmup = ex.optim.ConstantLR(optimizer, factor=0.1, total_iters=2)
    >>> decay = ex.optim.ExponentialLR(optimizer, gamma=0.5)
    >>> schedule = ex.optim.SequentialLR(optimizer, [warmup, decay], milestones=[2])
    >>> [round(schedule.rates_at(count)[0], 3) for count in range(5)]
    [0.1, 0.1, 1.0, 0.5, 0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[Schedule],
        milestones: Sequence[int],
        last_epoch: int = -1,
        automatic: bool = False,
    ) -> None:
        if len(schedulers) != len(milestones) + 1:
            requirement = "there must be one milestone between any two schedulers"
            counts = {"schedulers": len(schedulers), "milestones": len(milestones)}
            raise value_error("SequentialLR", requirement, **counts)
        self.milestones = list(milestones)
        if any(b <= a for a, b in zip([0, *self.milestones], self.milestones, strict=False)):
            requirement = "milestones must increase from 1 on"
            raise value_error("SequentialLR", requirement, milestones=self.milestones)
        self._take_over(optimizer, schedulers, last_epoch, automatic)

    def _present(self, count: int) -> tuple[Schedule, int]:
        """The schedule that holds after ``count`` steps, and the number of those that are its own."""
        place = bisect_right(self.milestones, count)
        return self.schedules[place], count - [0, *self.milestones][place]

    def rate(self, count: int, lr: float, index: int) -> float:
        schedule, own = self._present(count)
        return schedule.rate(own, lr, index)

    def also_set(self, group: Group, index: int) -> None:
        schedule, own = self._present(self.count)
        schedule.count = own
        schedule.also_set(group, index)


class ChainedScheduler(_Composed):
    """Several schedules as one: each step of it steps them all.

    Each begins with the rate that the one before returns, as those of an optimizer always do. The
    schedules follow the steps of this one from now on; do not step them.

    Parameters
    ----------
    schedulers : sequence of Schedule
        Schedules of one optimizer.
    optimizer : Optimizer, optional
        The optimizer, by default that of the first schedule.
    automatic : bool, default False
        Whether the optimizer steps the schedule after each of its own steps. By default, call
        `step` yourself.

    Raises
    ------
    ValueError
        If there is no schedule, or one is of another optimizer or follows a metric.

    Examples
    --------
    >>> import extensor as ex
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0)
    >>> warmup = ex.optim.ConstantLR(optimizer, factor=0.5, total_iters=2)
    >>> decay = ex.optim.ExponentialLR(optimizer, gamma=0.5)
    >>> schedule = ex.optim.ChainedScheduler([warmup, decay])
    >>> [round(schedule.rates_at(count)[0], 3) for count in range(4)]
    [0.5, 0.25, 0.25, 0.125]
    """

    def __init__(
        self,
        schedulers: Sequence[Schedule],
        optimizer: Optimizer | None = None,
        automatic: bool = False,
    ) -> None:
        if not schedulers:
            raise value_error("ChainedScheduler", "there must be a schedule", schedulers=0)
        self._starts = [schedule.count for schedule in schedulers]
        self._take_over(optimizer or schedulers[0].optimizer, schedulers, -1, automatic)

    def rate(self, count: int, lr: float, index: int) -> float:
        for schedule, start in zip(self.schedules, self._starts, strict=True):
            lr = schedule.rate(start + count, lr, index)
        return lr

    def also_set(self, group: Group, index: int) -> None:
        for schedule, start in zip(self.schedules, self._starts, strict=True):
            schedule.count = start + self.count
            schedule.also_set(group, index)
