"""What must be right before the first step, and is known to be wrong by then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from extensor.train.logs import run_of
from extensor.train.monitors import ALWAYS, check_monitors
from extensor.train.part_checks import check_parts_fit
from extensor.train.trial import first_batch, tried, tried_metrics

if TYPE_CHECKING:
    from extensor.train.trainer import Trainer


def check_ready(trainer: Trainer, train: Any, validation: Any) -> bool:
    """Refuse what could only fail; returns whether a batch to train on has been tried."""
    for callback in trainer.callbacks:
        if callback.writes:
            run_of(trainer, type(callback).__name__)
    batch = first_batch(train)
    trained: dict[str, Any] | None = None
    if batch is not None:
        trained = tried_in_training(trainer, batch, train)
    names = [*ALWAYS]
    if not trainer.running_metrics.partial:
        names += _numbers(trainer.running_metrics.given, trained)
    if validation is not None:
        others = _numbers(trainer.given_metrics, _tried_in_validation(trainer, validation))
        names += [f"validation_{name}" for name in ("loss", *others)]
    check_monitors(trainer, names, validation is not None)
    return batch is not None


def tried_in_training(trainer: Trainer, batch: Any, train: Any = None) -> dict[str, Any] | None:
    """What the running metrics give for a batch, if it could be tried."""
    output = tried(trainer.take_step, batch, "train", train)
    if output is None:
        return None
    check_parts_fit(trainer.take_step, batch, train, trainer.accumulate)
    trainer.know(output)
    return tried_metrics(trainer.running_metrics.metrics, output, batch[-1])


def _tried_in_validation(trainer: Trainer, validation: Any) -> dict[str, Any] | None:
    batch = first_batch(validation)
    if batch is None or not trainer.is_evaluated_here:
        return None
    output = tried(trainer.take_step, batch, "validation", validation)
    if output is None:
        return None
    trainer.know(output)
    return tried_metrics(trainer.metrics, output, batch[-1])


def _numbers(given: Any, values: dict[str, Any] | None) -> list[str]:
    """The names of metrics that are numbers, as far as that is known."""
    return [
        name
        for name in given
        if values is None or name not in values or isinstance(values[name], int | float)
    ]
