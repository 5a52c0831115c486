"""A learning rate to begin with, found by a short run in which the rate grows. Smith, 2017."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from extensor import random
from extensor.core.tensor import Tensor
from extensor.data import DataLoader
from extensor.errors import arguments, type_error, value_error
from extensor.nn.preservation import preserve_state
from extensor.optim import Optimizer
from extensor.train.checks import check_loader
from extensor.train.experiments import Experiment
from extensor.train.nonfinite import NotFiniteError
from extensor.train.step import Batch, TrainStep
from extensor.train.trainer import Trainer

_BELOW = 10  # times less than the rate of the lowest loss: there it is about to rise
_PARTS = 10  # of the steps; the first part shows the loss as it is, since nothing is learned yet
_FALL = 0.01  # of the first losses: what is less may be chance


@dataclass(frozen=True, eq=False)
class RateTest:
    """What :func:`tune_lr` found, as arrays over its steps.

    ``losses[i]`` is the loss of a batch before the step with ``rates[i]``, ``smooth`` their running
    mean. ``minimum`` is the rate at which that is lowest, ``steepest`` the middle of that tenth of
    the steps in which it falls most. ``suggestion`` is the lesser of ``steepest`` and a tenth of
    ``minimum``, or None if no rate lowered the loss. ``diverged`` is False if the loss had not risen
    when the rates were over: then the minimum may be that of the last ones.
    """

    rates: Any
    losses: Any
    smooth: Any
    minimum: float
    steepest: float
    suggestion: float | None
    diverged: bool


def tune_lr(
    experiment: Experiment | Trainer,
    loader: Iterable[Any] | None = None,
    *,
    low: float = 1e-7,
    high: float = 10.0,
    steps: int = 200,
    smoothing: float = 0.95,
) -> RateTest:
    """Train for a few steps with rates from ``low`` to ``high``, and see where the loss falls.

    Each rate is greater than the last by the same factor, and all groups of the optimizer have it;
    schedules and averages wait. It ends early when the loss is no longer finite, or its running
    mean, in which the past has the share ``smoothing``, has risen to twice the first losses. Of an
    experiment it is the data to train on, with a trainer ``loader`` gives the batches.

    Afterwards all is as it was, to the last bit: model, optimizer, random numbers and loader.

    >>> import numpy as np, extensor as ex
    >>> from extensor.data import ArrayDataset, DataLoader
    >>> _ = ex.random.manual_seed(0)
    >>> x = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]
    >>> model = ex.nn.Linear(1, 1)
    >>> optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    >>> trainer = ex.train.Trainer(model, ex.mse_loss, optimizer, callbacks=[])
    >>> found = ex.train.tune_lr(trainer, DataLoader(ArrayDataset(x, 3 * x + 1), batch_size=8))
    >>> found.diverged, f"{found.suggestion:.1g}"
    (True, '0.2')
    """
    low = arguments.number("tune_lr", "low", low, above=0)
    high = arguments.number("tune_lr", "high", high, above=low)
    steps = arguments.integer("tune_lr", "steps", steps, 10)
    smoothing = arguments.number("tune_lr", "smoothing", smoothing, least=0)
    if smoothing >= 1:
        raise value_error("tune_lr", "smoothing must be less than 1", smoothing=smoothing)
    if not np.isfinite(high):
        raise value_error("tune_lr", "high must be finite", high=high)
    trainer = experiment.trainer if isinstance(experiment, Experiment) else experiment
    if isinstance(experiment, Experiment) and loader is None:
        loader = experiment.train_loader
    requirement = "an Experiment or a Trainer"
    arguments.instance("tune_lr", "experiment", trainer, Trainer, requirement)
    if loader is None:
        raise type_error("tune_lr", "a trainer needs a loader of batches", loader=None)
    check_loader("tune_lr", "loader", loader)
    rates = low * (high / low) ** (np.arange(steps) / (steps - 1))
    with ExitStack() as kept:
        kept.enter_context(
            preserve_state(trainer.model, trainer.take_step.loss, *_trained(trainer.optimizer))
        )
        if isinstance(experiment, Experiment) and trainer.step == 0:
            random.set_state(experiment.generator_state)
        twin = kept.enter_context(_loader_kept(loader))
        batches = kept.enter_context(closing(_groups(twin, trainer.accumulate)))
        kept.enter_context(_optimizer_kept(trainer.optimizer))
        trainer.optimizer.zero_grad()  # gradients that are there would be added to
        trainer.model.zero_grad()
        trainer.model.train()
        take_step = copy(trainer.take_step)
        take_step.ema, take_step.scaler = None, deepcopy(take_step.scaler)
        return _tested(take_step, batches, rates, smoothing)


def _tested(
    take_step: TrainStep, batches: Iterator[tuple[Batch, ...]], rates: Any, smoothing: float
) -> RateTest:
    losses: list[float] = []
    smooth: list[float] = []
    average, first, diverged = 0.0, len(rates) // _PARTS, False
    for number, rate in enumerate(rates.tolist(), 1):
        for group in take_step.optimizer.param_groups:
            group["lr"] = rate
        try:
            losses.append(take_step(next(batches)).loss)
        except NotFiniteError:
            diverged = True
            if losses:
                break
            raise
        average = smoothing * average + (1 - smoothing) * losses[-1]
        smooth.append(average / (1 - smoothing**number))
        start = float(np.mean(losses[:first]))
        if number > first and smooth[-1] > start + max(abs(start), start - min(smooth)):
            diverged = True
            break
    return _judged(rates[: len(losses)], np.array(losses), np.array(smooth), start, diverged)


def _judged(rates: Any, losses: Any, smooth: Any, start: float, diverged: bool) -> RateTest:
    lowest = int(smooth.argmin())
    fell = start - smooth[lowest] > _FALL * abs(start)
    minimum = float(rates[lowest])
    steepest = float(rates[_steepest(smooth[: lowest + 1], max(1, len(rates) // _PARTS))])
    suggestion = min(steepest, minimum / _BELOW) if fell else None
    return RateTest(rates, losses, smooth, minimum, steepest, suggestion, diverged)


def _steepest(smooth: Any, span: int) -> int:
    """The middle of those ``span`` steps in which the loss falls most.

    The rates have the same distance in logarithms. The first steps are left out: their mean is of
    few.
    """
    falls = smooth[span:-span] - smooth[2 * span :]
    return int(falls.argmax()) + span + span // 2 if len(falls) else len(smooth) - 1


def _groups(loader: Iterable[Any], accumulate: int) -> Generator[tuple[Batch, ...], None, None]:
    """The batches of a step, again from the beginning when they are over."""
    while True:
        group: tuple[Batch, ...] = ()
        empty = True
        for batch in loader:
            empty = False
            group = (*group, batch)
            if len(group) == accumulate:
                yield group
                group = ()
        if empty:
            raise value_error("tune_lr", "loader must give at least one batch", batches=0)
        if group:
            yield group


@contextmanager
def _loader_kept(loader: Any) -> Iterator[Any]:
    """A loader of the same batches; what is done with it does not show in the other."""
    if isinstance(loader, DataLoader):
        twin = copy(loader)
        twin.generator = copy(loader.generator)
        yield twin
        return
    if iter(loader) is loader:
        requirement = "loader must begin anew each time it is iterated"
        raise type_error("tune_lr", requirement, loader=type(loader).__name__)
    has_state = hasattr(loader, "state_dict") and hasattr(loader, "load_state_dict")
    state = loader.state_dict() if has_state else None
    try:
        yield loader
    finally:
        if has_state:
            loader.load_state_dict(state)


def _trained(optimizer: Optimizer) -> list[Tensor]:
    return [tensor for group in optimizer.param_groups for tensor in group["params"]]


@contextmanager
def _optimizer_kept(optimizer: Optimizer) -> Iterator[None]:
    """The state, options and schedules, put back at the end; meanwhile there are no schedules."""
    state = optimizer.state_dict()
    groups = [dict(group) for group in optimizer.param_groups]
    schedules, optimizer.schedules = optimizer.schedules, []
    try:
        yield
    finally:
        optimizer.schedules = schedules
        optimizer.load_state_dict(state)
        for group, options in zip(optimizer.param_groups, groups, strict=True):
            group.clear()
            group.update(options)
