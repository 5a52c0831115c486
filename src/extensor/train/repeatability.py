"""Models and data that give something else the second time, which no seed explains.

On several workers each is asked for other samples and micro-batches, so a count of calls or a generator
of their own would give other bits for each number of workers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor import random
from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor
from extensor.distributed.agreement import digest
from extensor.distributed.chance import chance_of
from extensor.errors import value_error
from extensor.nn.preservation import preserve_state
from extensor.random.global_generators import preserve_global_generators
from extensor.train.dealing import as_dealt, cut, samples_of
from extensor.train.step import Batch, TrainStep
from extensor.train.trial import UncopiedError, copied_step, is_watched

_ADVICE = (
    "a count of calls, the time, or a generator that is kept in an attribute; np.random, random and "
    "ex.random are seeded anew for each"
)


def repeatable_sample(dataset: Any, index: int) -> str:
    """A digest of a sample, which must be the same when it is read again."""
    found = []
    for _ in range(2):
        with preserve_global_generators(index):
            sample = dataset[index]
        row = sample if isinstance(sample, tuple | list) else (sample,)
        found.append(digest(*(np.asarray(x) for x in row)))
    if found[0] != found[1]:
        requirement = (
            "on several workers a data set must give the same sample whenever it is asked, so it "
            f"must depend on nothing but its index and seeds ({_ADVICE} sample)"
        )
        raise value_error("fit", requirement, dataset=type(dataset).__name__, sample=index)
    return found[0]


def check_repeatable(take_step: Any, batch: Any) -> None:
    """Refuse a model that gives something else when a micro-batch is computed again.

    A model with hooks is not tried, as somebody would hear of it.
    """
    whole = as_dealt(batch)
    here = range(whole.begin, whole.begin + len(whole.parts[0]) if whole.parts else 0)
    parts = [x for x in cut([whole.size], take_step.micro_batches) if x.begin in here]
    if not parts or is_watched(take_step.model):
        return
    samples = samples_of(whole, parts[0])
    with preserve_state(take_step.model, take_step.loss):
        try:
            one = copied_step(take_step)
        except UncopiedError:
            one = take_step
        try:
            first, again = (_result(one, take_step, samples) for _ in range(2))
        except Exception:  # the step itself raises it again, and says where
            return
    if first != again:
        requirement = (
            "on several workers a model must give the same for the same micro-batch, so it must "
            f"depend on nothing but its parameters, buffers and seeds ({_ADVICE} micro-batch)"
        )
        raise value_error("fit", requirement, model=type(take_step.model).__name__)


def _result(one: TrainStep, original: TrainStep, samples: Batch) -> list[str]:
    """Digests of what a step gives in training. Parameters and buffers, which it may change, are kept."""
    models = (one.model, original.model)  # a helper in the copy may run the model itself
    tensors = [x for model in models for x in (*model.parameters(), *model.buffers())]
    kept = [np.array(x._array) for x in tensors]
    for model in models:
        model.train()
    with no_grad(), chance_of(random.get_state()[0], 0, 0):
        output, loss = one.forward(samples)
        for tensor, array in zip(tensors, kept, strict=True):
            tensor[...] = array
    parts = output if isinstance(output, tuple | list) else (output,)
    return [digest(np.asarray(x)) for x in (*parts, loss) if isinstance(x, Tensor)]
