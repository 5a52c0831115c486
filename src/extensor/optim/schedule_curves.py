"""Schedules that follow a curve for some steps: lines, powers and products of factors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from extensor.errors import value_error
from extensor.optim.optimizer import Optimizer
from extensor.optim.schedules import Schedule, along_line

_MOST_FACTORS = 10**7


class LinearLR(Schedule):
    """Line from ``start_factor * lr`` to ``end_factor * lr``, which then stays.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer whose rates are set, at once and after every step of the schedule.
    start_factor : float, default 1/3
        Factor of the first rate, above 0 and at most 1.
    end_factor : float, default 1.0
        Factor of the last rate, from 0 to 1.
    total_iters : int, default 5
        Number of steps of the line.
    last_epoch : int, default -1
        Number of steps taken before, minus 1, for a run that is continued.
    automatic : bool, default False
        Whether the optimizer steps the schedule after each of its own steps. By default, call
        `step` yourself.

    Raises
    ------
    ValueError
        If a factor is out of range or ``total_iters`` is not positive.

    See Also
    --------
    WarmupLR : The same from 0 by default.

    Examples
    --------
    >>> import extensor as ex
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule = ex.optim.LinearLR(optimizer, start_factor=0.5, total_iters=4)
    >>> [round(schedule.rates_at(count)[0], 3) for count in range(6)]
    [0.5, 0.625, 0.75, 0.875, 1.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
        automatic: bool = False,
    ) -> None:
        if not 0 < start_factor <= 1:
            requirement = "start_factor must be above 0 and at most 1"
            raise value_error("LinearLR", requirement, start_factor=start_factor)
        if not 0 <= end_factor <= 1:
            raise value_error("LinearLR", "end_factor must be in [0, 1]", end_factor=end_factor)
        self._positive(total_iters=total_iters)
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch, automatic)

    def rate(self, count: int, lr: float, index: int) -> float:
        part = min(1.0, count / self.total_iters)
        return lr * along_line(self.start_factor, self.end_factor, part)


class ConstantLR(Schedule):
    """Rate multiplied by ``factor`` in the first steps.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer whose rates are set, at once and after every step of the schedule.
    factor : float, default 1/3
        Factor of the rate, from 0 to 1.
    total_iters : int, default 5
        Number of steps for which it holds.
    last_epoch : int, default -1
        Number of steps taken before, minus 1, for a run that is continued.
    automatic : bool, default False
        Whether the optimizer steps the schedule after each of its own steps. By default, call
        `step` yourself.

    Raises
    ------
    ValueError
        If ``factor`` is out of range or ``total_iters`` is negative.

    Examples
    --------
    >>> import extensor as ex
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule = ex.optim.ConstantLR(optimizer, factor=0.5, total_iters=2)
    >>> [round(schedule.rates_at(count)[0], 3) for count in range(4)]
    [0.5, 0.5, 1.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
        automatic: bool = False,
    ) -> None:
        if not 0 <= factor <= 1:
            raise value_error("ConstantLR", "factor must be in [0, 1]", factor=factor)
        if not total_iters >= 0:
            requirement = "total_iters must be 0 or greater"
            raise value_error("ConstantLR", requirement, total_iters=total_iters)
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch, automatic)

    def rate(self, count: int, lr: float, index: int) -> float:
        return lr * self.factor if count < self.total_iters else lr


class PolynomialLR(Schedule):
    """Power of a line down to 0: ``lr * (1 - count / total_iters) ** power``.

    After ``total_iters`` steps the rate stays 0.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer whose rates are set, at once and after every step of the schedule.
    total_iters : int, default 5
        Number of steps to 0.
    power : float, default 1.0
        Power of the line.
    last_epoch : int, default -1
        Number of steps taken before, minus 1, for a run that is continued.
    automatic : bool, default False
        Whether the optimizer steps the schedule after each of its own steps. By default, call
        `step` yourself.

    Raises
    ------
    ValueError
        If ``total_iters`` is not positive or ``power`` is negative.

    Examples
    --------
    >>> import extensor as ex
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule = ex.optim.PolynomialLR(optimizer, total_iters=4, power=2.0)
    >>> [round(schedule.rates_at(count)[0], 3) for count in range(6)]
    [1.0, 0.562, 0.25, 0.062, 0.0, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
        automatic: bool = False,
    ) -> None:
        self._positive(total_iters=total_iters)
        if not power >= 0:
            raise value_error("PolynomialLR", "power must be 0 or greater", power=power)
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch, automatic)

    def rate(self, count: int, lr: float, index: int) -> float:
        return float(lr * (1 - min(1.0, count / self.total_iters)) ** self.power)


class MultiplicativeLR(Schedule):
    """Rate multiplied in each step by a function of its number: ``lr * f(1) * ... * f(count)``.

    Each factor is computed once.

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

    See Also
    --------
    LambdaLR : One factor for each number of steps.

    Examples
    --------
    >>> import extensor as ex
    >>> optimizer = ex.optim.SGD([ex.zeros(2, requires_grad=True)], lr=1.0)
    >>> schedule = ex.optim.MultiplicativeLR(optimizer, lambda count: 0.5)
    >>> [round(schedule.rates_at(count)[0], 3) for count in range(4)]
    [1.0, 0.5, 0.25, 0.125]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
        automatic: bool = False,
    ) -> None:
        self.lr_lambda = lr_lambda
        self._products: dict[int, list[float]] = {}  # of each group, of its first factors
        super().__init__(optimizer, last_epoch, automatic)

    def rate(self, count: int, lr: float, index: int) -> float:
        if count > _MOST_FACTORS:
            requirement = f"count must be at most {_MOST_FACTORS}, as all factors are multiplied"
            raise value_error("MultiplicativeLR", requirement, count=count)
        function: Any = self._of_group("lr_lambda", self.lr_lambda, index)
        products = self._products.setdefault(index, [1.0])
        while len(products) <= count:
            products.append(products[-1] * float(function(len(products))))
        return lr * products[count]
