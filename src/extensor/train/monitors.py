"""Numbers of the log that callbacks and schedules wait for, looked for before the first step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from extensor.errors import value_error
from extensor.errors.suggestions import nearest
from extensor.optim import ReduceLROnPlateau
from extensor.train.callback import Callback
from extensor.train.callbacks import Best

if TYPE_CHECKING:
    from extensor.train.trainer import Trainer

ALWAYS = ("epoch", "step", "loss", "lr")
_VALIDATION = "validation_"


def check_monitors(trainer: Trainer, names: Sequence[str], validates: bool) -> None:
    """Refuse a callback or schedule that watches a number which no epoch will have."""
    for who, monitor in _watched(trainer):
        unknown = monitor.startswith(_VALIDATION) and not trainer.is_evaluated_here
        if monitor in names or (unknown and validates):
            continue
        if monitor.startswith(_VALIDATION) and not validates:
            requirement = f"monitor must be one of {list(names)} without validation data"
            requirement += " (fit(..., validation=0.2) has some)"
        else:
            requirement = f"monitor must be a number of the log{nearest(monitor, names)}"
        raise value_error(who, requirement, monitor=monitor)


def _watched(trainer: Trainer) -> Iterable[tuple[str, str]]:
    if any(isinstance(each, ReduceLROnPlateau) for each in trainer.optimizer.schedules):
        yield "ReduceLROnPlateau", trainer.monitor
    for callback in trainer.callbacks:
        if _adds_numbers(callback):
            return
        if isinstance(callback, Best):
            yield type(callback).__name__, callback.monitor


def _adds_numbers(callback: Callback) -> bool:
    """A callback of the user's may put a number of its own into the record, for those after it."""
    own = type(callback).epoch_ended
    return own is not Callback.epoch_ended and own.__module__.split(".")[0] != "extensor"
