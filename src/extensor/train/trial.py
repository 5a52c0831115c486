"""One batch tried before training: what does not fit is found before anything is changed.

A run must end with the same bits as if nothing had been tried. So it is a copy of the model that is
tried, the model itself is put back afterwards in case a helper runs it, and what cannot be tried
without a trace is not: code of users may count its calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from copy import copy, deepcopy
from functools import partial
from types import FunctionType
from typing import Any

from extensor.core.door import watchers
from extensor.core.modes import no_grad
from extensor.data.dataset import ArrayDataset
from extensor.data.folder import ImageFolder
from extensor.data.loader import DataLoader
from extensor.data.samplers import RandomSampler, SequentialSampler, is_ours
from extensor.nn.module import Module
from extensor.nn.preservation import preserve_state
from extensor.train.checks import check_batch, check_inputs
from extensor.train.metrics import Metric
from extensor.train.step import TrainStep
from extensor.train.tasks import check_target, check_values, loss_name


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


def tried(take_step: TrainStep, batch: Any, name: str, loader: Any = None) -> Any:
    """The model's output for ``batch``, if it fits the loss; None if that cannot be tried.

    A model may give other outputs in training than in evaluation. Of a batch to ``"train"`` on, one
    of them must fit. The targets of all samples of ``loader`` are looked at, if it says them.
    """
    check_batch("fit", name, batch)
    check_inputs("fit", take_step.model, batch[:-1])
    if is_watched(take_step.model):
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


def is_watched(model: Module) -> bool:
    """True if somebody would hear of a call of the model."""
    return bool(watchers) or any(module._hooks for module in model.modules())


class UncopiedError(Exception):
    """A model that cannot be copied cannot be tried."""


def _output(take_step: TrainStep, batch: Any, targets: Any, training: bool) -> Any:
    one = copied_step(take_step)
    *inputs, target = batch
    with preserve_state(take_step.model, take_step.loss), no_grad(), one.precision():
        for model in (one.model, take_step.model):  # which a helper in the copy may run
            model.train(training)
        output = one.model(*inputs)
        check_target("fit", one.loss, output, target)
        check_values("fit", one.loss, output, target if targets is None else targets)
        if loss_name(one.loss) is not None or not _is_function(one.loss):
            one.value(output, target)
    return output


def copied_step(take_step: TrainStep) -> TrainStep:
    """A step with a model and a loss of its own; what no call changes is shared."""
    one = copy(take_step)
    memo: dict[int, Any] = {id(x): x for x in take_step.model.parameters()}
    if loss_name(take_step.loss) is not None:
        memo[id(take_step.loss)] = take_step.loss
    try:
        one.model, one.loss = deepcopy((take_step.model, take_step.loss), memo)
    except Exception:
        raise UncopiedError from None
    return one


def _is_function(loss: Any) -> bool:
    while isinstance(loss, partial):
        loss = loss.func
    return isinstance(loss, FunctionType)


def tried_metrics(metrics: Mapping[str, Metric], output: Any, target: Any) -> dict[str, Any]:
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
