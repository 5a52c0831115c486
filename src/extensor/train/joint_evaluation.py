"""Evaluation by several workers: each computes some batches, and the first measures all in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from extensor import random
from extensor.core.tensor import Tensor
from extensor.data.loader import DataLoader
from extensor.data.samplers import is_ours
from extensor.distributed.workers import Workers
from extensor.errors import value_error
from extensor.nn.preservation import preserve_state
from extensor.random.global_generators import watch_global_generators, were_drawn_from
from extensor.train.checks import check_batch, check_inputs
from extensor.train.dealing import deals
from extensor.train.evaluation import Measured, evaluating
from extensor.train.metrics import Metric
from extensor.train.outputs import as_array, packed, told_to_all, unpacked
from extensor.train.step import TrainStep
from extensor.train.trial import UncopiedError, copied_step, is_watched


def can_share(take_step: TrainStep, loader: Any) -> bool:
    """Whether batches can be dealt out, which the first of them shows to all workers.

    A model must give the same whenever it is asked, so a copy of it is asked twice. What is not a tensor
    is not sent.
    """
    if not deals(loader) or len(loader) < 2 or not is_ours(loader.sampler):
        return False
    if is_watched(take_step.model):
        return False
    state = random.get_state()
    with preserve_state(take_step.model, take_step.loss):
        watch_global_generators()
        batch = loader.first()
        check_batch("evaluate", "loader", batch)
        check_inputs("evaluate", take_step.model, batch[:-1])
        try:
            one = copied_step(take_step)
        except UncopiedError:
            return False
        models = (one.model, take_step.model)  # a helper in the copy may run the model itself
        before = [_bits(model.buffers()) for model in models]
        with evaluating(one.model, one.ema), evaluating(take_step.model, None):
            first, again = one.forward(batch), one.forward(batch)
        is_drawing = random.get_state() != state or were_drawn_from()
        is_unchanged = [_bits(model.buffers()) for model in models] == before
    is_same = isinstance(first[0], Tensor) and _bits(first) == _bits(again)
    return is_same and is_unchanged and not is_drawing


def _bits(tensors: Iterable[Any]) -> list[bytes]:
    return [np.asarray(tensor).tobytes() for tensor in tensors]


def evaluated_jointly(
    take_step: TrainStep,
    metrics_for: Callable[[Any], Mapping[str, Metric]] | None,
    loader: DataLoader,
    workers: Workers,
) -> dict[str, Any]:
    """What :func:`evaluated` gives, as plain values on every worker.

    Outputs are sent only if there are metrics.
    """
    state = random.get_state()
    found = Measured(metrics_for or (lambda _: {}))
    own: list[Any] = []

    def wanted(number: int) -> range:
        is_own = number % workers.size == workers.rank
        return range(loader.samples_in(number) if is_own else 0)

    watch_global_generators()
    with evaluating(take_step.model, take_step.ema):
        for number, batch in loader.dealt(wanted):
            if wanted(number):
                output, loss = take_step.evaluated(batch)
                own = [np.float64(float(loss)), np.int64(len(batch[0]))]
                own += [as_array(output), as_array(batch[-1])] if metrics_for else []
            if number % workers.size == workers.size - 1 or number == len(loader) - 1:
                every = workers.to_first(packed(own), "validation")
                workers.broadcast(b"", "validation")  # so that nobody waits for more than a round
                for told in every:
                    _add(found, *unpacked(told))
                own = []
    if random.get_state() != state or were_drawn_from():
        requirement = "models and data that draw in evaluation must do so for every batch"
        raise value_error("evaluate", requirement, workers=workers.size)
    return told_to_all(found.values() if workers.is_first else {})


def _add(found: Measured, *told: Any) -> None:
    """Take what a worker told into account: nothing, or of a batch, with its output or without."""
    if told:
        loss, samples, *rest = told
        found.add(loss.item(), samples.item(), *(rest or (None, None)))
