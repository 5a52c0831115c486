"""One batch tried before training: what does not fit is found before anything is changed.

A run must end with the same bits as if nothing had been tried. So the model and the loss hold copies of
their attributes during the trial, and everything else they reach is put back afterwards. What cannot
be put back is not tried: hooks, watchers, iterators and objects that cannot be copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

from extensor.core.modes import no_grad
from extensor.data.dataset import ArrayDataset, RandomSampler, SequentialSampler, is_ours
from extensor.data.loader import DataLoader
from extensor.data.picture_files import ImageFolder
from extensor.errors import value_error
from extensor.errors.messages import MONITOR_NOT_LOGGED, suggestion
from extensor.nn.preservation import reaches_iterator
from extensor.optim import ReduceLROnPlateau
from extensor.train.callbacks import BestValue, Callback
from extensor.train.data_adapters import can_share_batches, check_batch, check_inputs
from extensor.train.logs import run_of
from extensor.train.loss_parts import check_loss_in_parts
from extensor.train.metrics import Metric
from extensor.train.metrics.registry import best_mode
from extensor.train.step_strategy import Batch, LocalStep
from extensor.train.tasks import (
    UncopiedError,
    check_target,
    check_values,
    is_watched,
    loss_name,
    on_trial,
)

if TYPE_CHECKING:
    from extensor.train.trainer import Trainer


def first_batch(loader: Any) -> Any:
    """The first batch, if it can be looked at without a trace; otherwise None."""
    if isinstance(loader, tuple | list):
        return loader[0] if loader else None
    if type(loader) is not DataLoader or not isinstance(loader.dataset, ArrayDataset | ImageFolder):
        return None
    parts = (loader.dataset, loader.sampler, *loader.transforms)
    if not len(loader) or not all(map(is_ours, parts)):
        return None
    return loader.first()


def rehearse(take_step: LocalStep, batch: Any, name: str, loader: Any = None) -> Any:
    """The model's output for ``batch``, if it fits the loss; None if that cannot be tried.

    A model may give other outputs in training than in evaluation. Of a batch to ``"train"`` on, one
    of them must fit. The targets of all samples of ``loader`` are looked at, if it says them.
    """
    check_batch("fit", name, batch)
    check_inputs("fit", take_step.model, batch[:-1])
    if is_watched(take_step.model) or reaches_iterator(take_step.model, take_step.loss):
        return None
    targets = _known_targets(loader)
    try:
        return _output(take_step, batch, targets, False)
    except UncopiedError:
        return None
    except Exception as error:
        if name != "train":
            raise
        try:
            return _output(take_step, batch, targets, True)
        except Exception:
            raise error from None


def _output(take_step: LocalStep, batch: Any, targets: Any, training: bool) -> Any:
    *inputs, target = batch
    model, loss = take_step.model, take_step.loss
    with on_trial(model, loss), no_grad(), take_step.precision():
        model.train(training)
        output = model(*inputs)
        check_target("fit", loss, output, target)
        check_values("fit", loss, output, target if targets is None else targets)
        if loss_name(loss) is not None or not _is_function(loss):
            take_step.value(output, target)
    return output


def _is_function(loss: Any) -> bool:
    while isinstance(loss, partial):
        loss = loss.func
    return isinstance(loss, FunctionType)


def rehearse_metrics(metrics: Mapping[str, Metric], output: Any, target: Any) -> dict[str, Any]:
    """What copies of the metrics give for an output; those that cannot be copied are left out.

    So are those that one batch is too little for.
    """
    values = {}
    with no_grad():
        for name, metric in metrics.items():
            try:
                one = deepcopy(metric)
            except Exception:
                continue
            one.reset()
            one.update(output, target)
            with suppress(Exception):
                values[name] = one.compute()
    return values


def _known_targets(loader: Any) -> Any:
    """The targets of all samples, if the loader gives all of them as they are; otherwise None."""
    if type(loader) is not DataLoader or type(loader.dataset) is not ArrayDataset:
        return None
    whole = isinstance(loader.sampler, RandomSampler | SequentialSampler) and not loader.transforms
    arrays = loader.dataset.arrays
    return arrays[-1] if whole and len(arrays) > 1 else None


ALWAYS = ("epoch", "step", "loss", "lr")
_VALIDATION = "validation_"


def check_ready(trainer: Trainer, train: Any, validation: Any) -> bool:
    """Refuse what could only fail; returns whether a training batch was tried."""
    for callback in trainer.callbacks:
        if callback.writes:
            run_of(trainer, type(callback).__name__)
    batch = first_batch(train)
    trained = None if batch is None else rehearse_training(trainer, batch, train)
    names = [*ALWAYS]
    if not trainer.running_metrics.partial:
        names += _numbers(trainer.running_metrics.given, trained)
    if validation is not None:
        others = _numbers(trainer.given_metrics, _rehearse_validation(trainer, validation))
        names += [f"validation_{name}" for name in ("loss", *others)]
    check_monitors(trainer, names, validation is not None)
    return batch is not None


def rehearse_training(trainer: Trainer, batch: Any, train: Any = None) -> dict[str, Any] | None:
    """What the running metrics give for a batch, if it could be tried."""
    take_step, accumulate = trainer.take_step, trainer.accumulate
    output = rehearse(take_step, batch, "train", train)
    if output is None:
        return None
    if len(batch[0]) > 1:
        with suppress(UncopiedError):
            if take_step.micro_batches or accumulate > 1:
                check_loss_in_parts(take_step, batch, accumulate)
            check_smallest_part(take_step, batch, train, accumulate)
    trainer.create_metrics(output)
    return rehearse_metrics(trainer.running_metrics.metrics, output, batch[-1])


def _rehearse_validation(trainer: Trainer, validation: Any) -> dict[str, Any] | None:
    batch = first_batch(validation)
    if batch is None or not trainer.is_evaluated_here:
        return None
    output = rehearse(trainer.take_step, batch, "validation", validation)
    if output is None:
        return None
    trainer.create_metrics(output)
    return rehearse_metrics(trainer.metrics, output, batch[-1])


def _numbers(given: Any, values: dict[str, Any] | None) -> list[str]:
    """The names of metrics that are numbers, as far as that is known."""
    return [
        name
        for name in given
        if values is None or name not in values or isinstance(values[name], int | float)
    ]


def check_monitors(trainer: Trainer, names: Sequence[str], validates: bool) -> None:
    """Refuse a callback or schedule that watches a number which no epoch will have."""
    for who, monitor in _monitors(trainer):
        unknown = monitor.startswith(_VALIDATION) and not trainer.is_evaluated_here
        if monitor in names or (unknown and validates):
            continue
        if monitor.startswith(_VALIDATION) and not validates:
            requirement = f"monitor must be one of {list(names)} without validation data"
            requirement += " (fit(..., validation=0.2) has some)"
            raise value_error(who, requirement, monitor=monitor)
        raise MONITOR_NOT_LOGGED.error(suggestion(monitor, names), monitor=monitor, who=who)
    for callback in trainer.callbacks:
        if isinstance(callback, BestValue) and not callback.is_mode_given:
            best_mode(type(callback).__name__, callback.monitor, None)


def _monitors(trainer: Trainer) -> Iterable[tuple[str, str]]:
    if any(isinstance(each, ReduceLROnPlateau) for each in trainer.optimizer.schedules):
        yield "ReduceLROnPlateau", trainer.monitor
    for callback in trainer.callbacks:
        # One of the user's may put a number of its own into the record, for those after it.
        own = type(callback).epoch_ended
        if own is not Callback.epoch_ended and own.__module__.split(".")[0] != "extensor":
            return
        if isinstance(callback, BestValue):
            yield type(callback).__name__, callback.monitor


def check_smallest_part(take_step: LocalStep, batch: Batch, loader: Any, accumulate: int) -> None:
    """Refuse data whose last part has one sample, if the model cannot be trained on one alone."""
    sizes = _batch_sizes(loader)
    if sizes is None or min(sizes := take_step.part_sizes(sizes, accumulate)) > 1:
        return
    error = _error_for(take_step, batch, 1)
    if error is None or _error_for(take_step, batch, 2) is not None:
        return
    is_cut = take_step.micro_batches is not None
    fewer = ", fewer micro_batches or sync_batch_norm=True" if is_cut else ""
    requirement = (
        f"no {'part of a ' if is_cut else ''}batch may have 1 sample, which the model cannot be "
        f"trained on alone ({error}): use another batch_size, DataLoader(drop_last=True){fewer}"
    )
    raise value_error("fit", requirement, sizes=sorted(set(sizes)))


def _batch_sizes(loader: Any) -> list[int] | None:
    """The number of samples of each batch; None if the loader does not say."""
    if isinstance(loader, DataLoader) and can_share_batches(loader):
        return [loader.samples_in(number) for number in range(len(loader))]
    return [len(batch[0]) for batch in loader] if isinstance(loader, tuple | list) else None


def _error_for(take_step: LocalStep, batch: Batch, samples: int) -> str | None:
    """What training on so many samples fails with."""
    with on_trial(take_step.model, take_step.loss):
        take_step.model.train()
        try:
            with no_grad(), take_step.precision():
                take_step.model(*(x[:samples] for x in batch[:-1]))
        except Exception as error:
            return str(error)
    return None
