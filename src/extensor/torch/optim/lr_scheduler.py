"""``torch.optim.lr_scheduler``: the schedules of ``ex.optim``, and a base for those of scripts."""

from __future__ import annotations

from functools import wraps
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
__all__ = sorted([*_NAMES, "LRScheduler"])


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
    return type(kind.__name__, (kind, LRScheduler), members)


def __getattr__(name: str) -> Any:
    if name in core.__all__ and name not in _NOT_PYTORCH:
        kind = getattr(core, name)
        if isinstance(kind, type) and issubclass(kind, core.Schedule):
            globals()[name] = found = derived(kind)
            return found
    raise missing(name, {}, "torch.optim.lr_scheduler")


def __dir__() -> list[str]:
    return sorted(__all__)
