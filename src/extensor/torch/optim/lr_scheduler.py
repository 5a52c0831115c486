"""``torch.optim.lr_scheduler``: the schedules of ``ex.optim``, and a base for those of scripts."""

from __future__ import annotations

from functools import wraps
from math import cos, pi
from typing import Any

from extensor import optim as core
from extensor.arrays.dtypes import cache
from extensor.errors.torch_names import missing

_NOT_PYTORCH = {"Schedule", "WarmupCosineLR", "WarmupLR"}
_NAMES = [
    name
    for name in core.__all__
    if name not in _NOT_PYTORCH
    and isinstance(getattr(core, name), type)
    and issubclass(getattr(core, name), core.Schedule)
]
__all__ = sorted(
    {
        *_NAMES,
        "ConstantLR",
        "LRScheduler",
        "LinearLR",
        "MultiplicativeLR",
        "PolynomialLR",
        "CosineAnnealingWarmRestarts",
        "SequentialLR",
        "ChainedScheduler",
    }
)


class LRScheduler:
    """Base class of schedules: a script's own one writes ``get_lr``.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer whose rates are set.
    last_epoch : int, default -1
        The number of the last step, for a run that is continued.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> class Halved(torch.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [lr / 2**self.last_epoch for lr in self.base_lrs]
    >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
    >>> schedule = Halved(optimizer)
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            if last_epoch == -1:
                group["initial_lr"] = group["lr"]
            elif "initial_lr" not in group:
                raise KeyError("LRScheduler: groups need initial_lr to continue")
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self.step()

    def get_lr(self) -> list[float]:
        """The rates for ``last_epoch``. Subclasses define it."""
        raise NotImplementedError(f"{type(self).__name__}: needs a method get_lr")

    def step(self, epoch: int | None = None) -> None:
        """Count one step, and set the rates."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        for group, lr in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            group["lr"] = float(lr)
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def get_last_lr(self) -> list[float]:
        """The present rates."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimizer."""
        return {key: x for key, x in vars(self).items() if key not in ("optimizer", *self._kept)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        vars(self).update(state_dict)

    _kept: tuple[str, ...] = ()


_LRScheduler = LRScheduler


class _Factor(LRScheduler):
    """Rates that are the initial ones times a factor of the number of steps."""

    def factor(self, count: int) -> float:
        raise NotImplementedError

    def get_lr(self) -> list[float]:
        # From step to step, as PyTorch does, so that several schedules multiply.
        if self.last_epoch == 0:
            return [group["lr"] * self.factor(0) for group in self.optimizer.param_groups]
        before, now = self.factor(self.last_epoch - 1), self.factor(self.last_epoch)
        return [group["lr"] * (now / before) for group in self.optimizer.param_groups]


class ConstantLR(_Factor):
    """A smaller rate for the first steps.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    factor : float, default 1/3
        What the rate is multiplied by at first.
    total_iters : int, default 5
        For how many steps.
    last_epoch : int, default -1
        The number of the last step.
    """

    def __init__(
        self, optimizer: Any, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        self.first, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def factor(self, count: int) -> float:
        return self.first if count < self.total_iters else 1.0


class LinearLR(_Factor):
    """A factor that goes from one number to another along a line.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    start_factor : float, default 1/3
        The first factor.
    end_factor : float, default 1.0
        The last factor.
    total_iters : int, default 5
        The number of steps between them.
    last_epoch : int, default -1
        The number of the last step.
    """

    def __init__(
        self,
        optimizer: Any,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def factor(self, count: int) -> float:
        part = min(count, self.total_iters) / self.total_iters
        return self.start_factor + (self.end_factor - self.start_factor) * part


class PolynomialLR(_Factor):
    """A factor that falls to 0 as a power of the steps that are left.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    total_iters : int, default 5
        The number of steps.
    power : float, default 1.0
        The power.
    last_epoch : int, default -1
        The number of the last step.
    """

    def __init__(
        self, optimizer: Any, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self.last_epoch > self.total_iters:
            return [float(group["lr"]) for group in self.optimizer.param_groups]
        return super().get_lr()

    def factor(self, count: int) -> float:
        return float((1.0 - min(count, self.total_iters) / self.total_iters) ** self.power)


class MultiplicativeLR(LRScheduler):
    """Each step multiplies the rate by a function of the number of steps.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    lr_lambda : callable or list of callables
        Function of the number of steps; or one for each group.
    last_epoch : int, default -1
        The number of the last step.
    """

    _kept = ("lr_lambdas",)

    def __init__(self, optimizer: Any, lr_lambda: Any, last_epoch: int = -1) -> None:
        groups = len(optimizer.param_groups)
        self.lr_lambdas = (
            list(lr_lambda) if isinstance(lr_lambda, list | tuple) else [lr_lambda] * groups
        )
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        groups = self.optimizer.param_groups
        if self.last_epoch == 0:
            return [group["lr"] for group in groups]
        return [
            group["lr"] * function(self.last_epoch)
            for group, function in zip(groups, self.lr_lambdas, strict=True)
        ]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine from the rate down to ``eta_min``, again and again.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    T_0 : int
        The number of steps of the first fall.
    T_mult : int, default 1
        How many times longer each further fall is.
    eta_min : float, default 0.0
        The lowest rate.
    last_epoch : int, default -1
        The number of the last step.
    """

    def __init__(
        self, optimizer: Any, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:  # PyTorch's names
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        begin, length = 0.0, float(self.T_0)
        while self.last_epoch - begin >= length:
            begin, length = begin + length, length * self.T_mult
        half = (1 + cos(pi * (self.last_epoch - begin) / length)) / 2
        return [self.eta_min + (lr - self.eta_min) * half for lr in self.base_lrs]


class SequentialLR(LRScheduler):
    """One schedule after the other.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer.
    schedulers : list
        The schedules.
    milestones : list of int
        The step at which each but the first begins.
    last_epoch : int, default -1
        The number of the last step.
    """

    def __init__(
        self, optimizer: Any, schedulers: list[Any], milestones: list[int], last_epoch: int = -1
    ) -> None:
        for scheduler in schedulers:
            if isinstance(scheduler, core.Schedule):
                # All schedules of the core act at once; here one does after the other.
                optimizer.schedules.remove(scheduler)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "SequentialLR: there must be a milestone for each schedule but the first"
            )
        self.optimizer, self.milestones, self._schedulers = optimizer, milestones, schedulers
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        _step_alone(schedulers[0], 0)

    def step(self, epoch: int | None = None) -> None:
        """Count one step, which is one of the schedule whose turn it is."""
        self.last_epoch += 1
        turn = sum(self.last_epoch >= milestone for milestone in self.milestones)
        if turn and self.milestones[turn - 1] == self.last_epoch:
            _step_alone(self._schedulers[turn], 0)
        else:
            _step_alone(self._schedulers[turn], None)

    def state_dict(self) -> dict[str, Any]:
        """The counts of all schedules."""
        parts = {str(i): scheduler.state_dict() for i, scheduler in enumerate(self._schedulers)}
        return {"last_epoch": self.last_epoch, "schedulers": parts}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned."""
        self.last_epoch = state_dict["last_epoch"]
        for i, scheduler in enumerate(self._schedulers):
            scheduler.load_state_dict(state_dict["schedulers"][str(i)])


def _step_alone(scheduler: Any, count: int | None) -> None:
    """A step, or the beginning, of a schedule while no other of the core's acts."""
    if not isinstance(scheduler, core.Schedule):
        if count is not None:
            scheduler.last_epoch = -1
            for group, lr in zip(scheduler.optimizer.param_groups, scheduler.base_lrs, strict=True):
                group["lr"] = lr
        scheduler.step()
        return
    scheduler.count = scheduler.count + 1 if count is None else count
    rates = scheduler.rates_at(scheduler.count)
    for index, group in enumerate(scheduler.optimizer.param_groups):
        group["lr"] = rates[index]
        scheduler.also_set(group, index)


class ChainedScheduler:
    """Several schedules that step together.

    Parameters
    ----------
    schedulers : list
        The schedules.
    optimizer : Optimizer, optional
        Their optimizer.
    """

    def __init__(self, schedulers: list[Any], optimizer: Any = None) -> None:
        self._schedulers = list(schedulers)
        self.optimizer = optimizer or schedulers[0].optimizer

    def step(self) -> None:
        """A step of each."""
        for scheduler in self._schedulers:
            scheduler.step()

    def get_last_lr(self) -> list[float]:
        """The present rates."""
        return [group["lr"] for group in self.optimizer.param_groups]


@cache
def derived(kind: Any) -> type:
    """A schedule of the core as a class of this package."""

    @wraps(kind.__init__)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        kwargs.pop("verbose", None)
        kind.__init__(self, *args, **kwargs)

    def step(self: Any, *given: Any, **named: Any) -> None:
        if kind.__name__ == "ReduceLROnPlateau":
            kind.step(self, *given, **named)
        elif given or named:
            self.count = int(given[0] if given else named["epoch"])
            self._apply()
        else:
            kind.step(self)

    members = {
        "__module__": "extensor.torch.optim.lr_scheduler",
        "__doc__": kind.__doc__,
        "__init__": __init__,
        "step": step,
        "last_epoch": property(lambda self: self.count),
        "base_lrs": property(lambda self: [g["initial_lr"] for g in self.optimizer.param_groups]),
        "get_lr": kind.get_last_lr,
    }
    return type(kind.__name__, (kind,), members)


def __getattr__(name: str) -> Any:
    if name in core.__all__ and name not in _NOT_PYTORCH:
        kind = getattr(core, name)
        if isinstance(kind, type) and issubclass(kind, core.Schedule):
            globals()[name] = found = derived(kind)
            return found
    raise missing(name, {}, "torch.optim.lr_scheduler")


def __dir__() -> list[str]:
    return sorted(__all__)
