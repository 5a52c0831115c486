"""A learning rate to begin with, found by a short run in which the rate grows. Smith, 2017."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from copy import copy, deepcopy
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from extensor import random
from extensor.data import DataLoader
from extensor.errors import arguments, type_error, value_error
from extensor.experiments.api import Experiment
from extensor.nn.preservation import preserve_state
from extensor.train.data_adapters import check_loader
from extensor.train.nonfinite import NotFiniteError
from extensor.train.step_strategy import Batch, LocalStep
from extensor.train.trainer import Trainer

_BELOW = 10  # times less than the rate of the lowest loss: there it is about to rise
_PARTS = 10  # of the steps; the first part shows the loss as it is, since nothing is learned yet
_FALL = 0.01  # of the first losses: a smaller fall may be chance


@dataclass(frozen=True, eq=False)
class RateTest:
    """The losses at growing learning rates, and the rate that they suggest.

    `tune_lr` returns it. All parameters are attributes.

    Parameters
    ----------
    rates : numpy.ndarray, (steps,)
        Learning rate of each step.
    losses : numpy.ndarray, (steps,)
        Loss of the batches of each step, before its update.
    smooth : numpy.ndarray, (steps,)
        Running mean of ``losses``.
    minimum : float
        Rate at which ``smooth`` is lowest.
    steepest : float
        Rate in the middle of the tenth of the steps in which ``smooth`` falls most.
    suggestion : float or None
        The lesser of ``steepest`` and a tenth of ``minimum``, or None if no rate lowered the loss.
    diverged : bool
        Whether the loss rose before the rates ended. If not, ``minimum`` may be one of the last rates.

    Examples
    --------
    >>> import numpy as np
    >>> from extensor.train import RateTest
    >>> rates, losses = np.array([0.01, 0.1, 1.0]), np.array([0.9, 0.3, 2.0])
    >>> found = RateTest(rates, losses, losses, 0.1, 0.01, 0.01, True)
    >>> found.suggestion, float(found.rates[found.losses.argmin()])
    (0.01, 0.1)
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
    """Find a learning rate by a short run in which the rate grows.

    Each rate exceeds the last by the same factor, in all groups of the optimizer. Schedules and averages
    pause. The run ends early when the loss is not finite, or when its running mean has risen to twice the
    first losses. Afterwards model, optimizer, random numbers and loader are as before, to the last bit.

    Parameters
    ----------
    experiment : Experiment or Trainer
        The training to try.
    loader : iterable of batches, optional
        The batches, repeated as often as needed. A trainer needs them. Default: the training data of
        the experiment.
    low : float, default 1e-7
        The first rate, greater than 0.
    high : float, default 10.0
        The last rate, greater than `low`.
    steps : int, default 200
        Number of steps, 10 or more.
    smoothing : float, default 0.95
        Share of the past in the running mean of the losses, at least 0 and less than 1.

    Returns
    -------
    RateTest
        The losses at each rate, and a suggestion.

    Raises
    ------
    ValueError
        If a parameter is out of its range, or the loader gives no batch.
    TypeError
        If a trainer gets no loader, or the loader cannot be iterated again.
    NotFiniteError
        If the first loss is NaN or infinite.

    See Also
    --------
    Trainer : Its optimizer takes the rate.

    References
    ----------
    L. N. Smith, "Cyclical Learning Rates for Training Neural Networks", 2017.

    Examples
    --------
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
    optimizer, loss = trainer.optimizer, trainer.take_step.loss
    changed: list[Any] = [trainer.model, loss, optimizer, *optimizer._histories]
    with ExitStack() as kept:
        kept.enter_context(preserve_state(*changed))
        if isinstance(experiment, Experiment) and trainer.step == 0:
            random.set_state(experiment.generator_state)
        twin = kept.enter_context(_preserve_loader(loader))
        batches = kept.enter_context(closing(_groups(twin, trainer.accumulate)))
        optimizer.schedules = []
        optimizer.zero_grad()  # gradients that are there would be added to
        trainer.model.zero_grad()
        trainer.model.train()
        take_step = copy(trainer.take_step)
        take_step.ema, take_step.scaler = None, deepcopy(take_step.scaler)
        return _test_rates(take_step, batches, rates, smoothing)


def _test_rates(
    take_step: LocalStep, batches: Iterator[tuple[Batch, ...]], rates: Any, smoothing: float
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
    rates, means = rates[: len(losses)], np.array(smooth)
    lowest = int(means.argmin())
    minimum = float(rates[lowest])
    steepest = float(rates[_steepest(means[: lowest + 1], max(1, len(rates) // _PARTS))])
    is_falling = start - means[lowest] > _FALL * abs(start)
    suggestion = min(steepest, minimum / _BELOW) if is_falling else None
    return RateTest(rates, np.array(losses), means, minimum, steepest, suggestion, diverged)


def _steepest(smooth: Any, span: int) -> int:
    """The middle of the ``span`` steps in which the loss falls most.

    The logarithms of the rates are equally spaced. The first steps are left out, as few losses make
    their mean.
    """
    falls = smooth[span:-span] - smooth[2 * span :]
    return int(falls.argmax()) + span + span // 2 if len(falls) else len(smooth) - 1


def _groups(loader: Iterable[Any], accumulate: int) -> Generator[tuple[Batch, ...], None, None]:
    """The batches of a step, again from the beginning when they are over."""
    while True:
        batches = iter(loader)
        group = tuple(islice(batches, accumulate))
        if not group:
            raise value_error("tune_lr", "loader must give at least one batch", batches=0)
        while group:
            yield group
            group = tuple(islice(batches, accumulate))


@contextmanager
def _preserve_loader(loader: Any) -> Iterator[Any]:
    """A loader of the same batches, whose use leaves ``loader`` unchanged."""
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
