"""What workers must have in common: checked before the first step, and while they train.

All have the same parameters, data, seeds and options, and make the same updates. Only a difference in the
program, such as a callback that changes a rate on one of them, hidden state in a model or data set, or a
broken machine can part them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from inspect import signature
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from extensor import random
from extensor.core import entries
from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor
from extensor.data.dataset import ArrayDataset, ShardSampler, is_ours
from extensor.data.loader import DataLoader
from extensor.distributed.consistency import check_alike, checksum, digest, machine_facts
from extensor.distributed.micro_batches import part_noise
from extensor.distributed.workers import Workers
from extensor.errors import value_error
from extensor.nn.module import Module
from extensor.nn.preservation import preserve_state, preserve_tensors
from extensor.random.global_generators import compare_draws, preserve_global_generators
from extensor.train.batch_sharding import as_shard, samples_of
from extensor.train.loss_parts import cut
from extensor.train.step_strategy import LocalStep
from extensor.train.tasks import UncopiedError, is_watched, on_trial
from extensor.train.trainer_state import options_in

if TYPE_CHECKING:
    from extensor.train.data_parallel import DataParallelStep
    from extensor.train.step_strategy import Batch

# Reading all parameters and states takes about as long as a small step, so this many steps make it
# less than two hundredths of the time; and no more than so many steps are lost.
CHECK_EVERY = 64
_SHOWN = 3  # names in an error
_SAMPLES = 16  # of a data set that is not in memory
_ADVICE = (
    "a count of calls, the time, numbers that it drew at an earlier call, or a generator that is kept "
    "in an attribute; np.random, random and ex.random are seeded anew for each"
)

Facts = dict[str, dict[str, str]]


def check_same_start(
    take_step: DataParallelStep, loaders: Mapping[str, Any], settings: Sequence[Any], step: int
) -> None:
    """Refuse to begin if the workers are not about to do the same.

    ``loaders`` are those to train on and to validate with, ``settings`` the trainer's own.
    """
    for name, loader in loaders.items():
        if isinstance(getattr(loader, "sampler", None), ShardSampler):
            requirement = (
                f"{name} must have the samples of all workers, which are dealt out here: a loader "
                "without a ShardSampler"
            )
            raise value_error("fit", requirement, sampler=repr(loader.sampler))
    from extensor import __version__

    options = take_step.options.as_created()
    validation = loaders["validation"]
    model = take_step.model.state_dict()
    check_alike(
        take_step.workers,
        machine_facts(__version__)
        | {
            "configuration": digest(
                type(take_step.optimizer).__name__,
                sorted(options.items(), key=str),
                take_step.settings(),
                *settings,
            ),
            "model": digest(*(x for name, t in model.items() for x in (name, np.asarray(t)))),
            "data": _data_digest(loaders["train"]),
            "data for validation": "" if validation is None else _data_digest(validation),
            "random numbers": digest(random.get_state()),
            "step": str(step),
        },
    )


def _data_digest(loader: Any) -> str:
    """Of all samples if they are in memory, else of some; and of the order that they come in."""
    dataset = getattr(loader, "dataset", None)
    state = loader.state_dict() if hasattr(loader, "state_dict") else None
    settings = [getattr(loader, name, None) for name in ("batch_size", "drop_last")]
    settings.append(type(getattr(loader, "sampler", None)).__name__)
    known = (len(loader) if hasattr(loader, "__len__") else None, *settings, state)
    if isinstance(dataset, ArrayDataset):
        return digest(*known, *(np.asarray(array) for array in dataset.arrays))
    if dataset is None or not hasattr(dataset, "__getitem__"):
        return digest(*known)
    chosen = np.unique(np.linspace(0, len(dataset) - 1, _SAMPLES).astype(int)).tolist()
    return digest(*known, len(dataset), *(repeatable_sample(dataset, index) for index in chosen))


def repeatable_sample(dataset: Any, index: int) -> str:
    """A digest of a sample, which must be the same when it is read again.

    A sample that draws only when it is read for the first time was kept. It would depend on the epoch
    in which this worker read it.
    """
    digests, draws = [], []
    for _ in range(2):
        with preserve_global_generators(index), compare_draws() as drawn:
            sample = dataset[index]
        row = sample if isinstance(sample, tuple | list) else (sample,)
        digests.append(digest(*(np.asarray(x) for x in row)))
        draws.append(drawn)
    if digests[0] != digests[1] or draws[0] != draws[1]:
        requirement = (
            "on several workers a data set must give the same sample whenever it is asked, so it "
            f"must depend on nothing but its index and seeds ({_ADVICE} sample)"
        )
        raise value_error("fit", requirement, dataset=type(dataset).__name__, sample=index)
    return digests[0]


def check_repeatable(take_step: LocalStep, batch: Any) -> None:
    """Refuse a model that gives something else when a micro-batch is computed again.

    Each worker computes other micro-batches, so a count of calls would give other bits for each number
    of workers. A model with hooks is not tried, as they would see the call.
    """
    whole = as_shard(batch)
    here = range(whole.begin, whole.begin + len(whole.parts[0]) if whole.parts else 0)
    parts = [x for x in cut([whole.size], take_step.micro_batches or 1) if x.begin in here]
    if not parts or is_watched(take_step.model):
        return
    samples = samples_of(whole, parts[0])
    try:
        with on_trial(take_step.model, take_step.loss):
            first, again = (_result(take_step, samples) for _ in range(2))
    except UncopiedError:
        with preserve_state(take_step.model, take_step.loss):
            first, again = (_result(take_step, samples) for _ in range(2))
    if first != again:
        requirement = (
            "on several workers a model must give the same for the same micro-batch, so it must "
            f"depend on nothing but its parameters, buffers and seeds ({_ADVICE} micro-batch)"
        )
        raise value_error("fit", requirement, model=type(take_step.model).__name__)


def _result(step: LocalStep, samples: Batch) -> list[Any]:
    """Digests of the output and the loss in training, and the draws; none if the step raises.

    It will raise again. Numbers that are drawn only the first time would be those of another part on
    each worker.
    """
    step.model.train()
    try:
        noise = part_noise(random.get_state()[0], 0, 0)
        with no_grad(), preserve_tensors(step.model), noise, compare_draws() as drawn:
            output, loss = step.forward(samples)
    except Exception:
        return []
    parts = output if isinstance(output, tuple | list) else (output,)
    return [*[digest(np.asarray(x)) for x in (*parts, loss) if isinstance(x, Tensor)], drawn]


class DriftCheck:
    """Compares a step with those of the other workers, which must all call it at the same time."""

    def __init__(self, take_step: LocalStep) -> None:
        self._take_step = take_step
        self._used = 0  # a checksum of the options that steps were taken with

    def note_options(self) -> None:
        """Note the options of the next step; they may be changed back before the workers compare."""
        groups = self._take_step.optimizer.param_groups
        options = [[(k, v) for k, v in group.items() if k != "params"] for group in groups]
        self._used = crc32(repr(options).encode(), self._used)

    def check(self, step: int, loader: Any) -> None:
        """Raise the same error on all workers if one of them differs after ``step`` steps."""
        workers = self._take_step.workers
        if workers.size == 1:
            return
        facts = self.facts(loader)
        told = workers.gather(json.dumps(_summary(facts)).encode(), "comparison")
        summaries = [json.loads(text) for text in told]
        for kind in summaries[0]:
            values = [summary.get(kind) for summary in summaries]
            if len(set(values)) > 1:
                # All workers know of it by now, so all get here.
                details = workers.gather(json.dumps(facts[kind]).encode(), "differences")
                after = f"after step {step}"
                raise _error(workers, kind, values, [json.loads(text) for text in details], after)

    def facts(self, loader: Any) -> Facts:
        """By kind and name a short text for each thing that must be the same."""
        step = self._take_step
        # Not state_dict, which gathers a sharded optimizer: each worker has another part of that.
        state = LocalStep.state_dict(step, copied=False)
        optimizer = state["optimizer"]
        options = options_in(optimizer)
        return {
            "rates and options": {name: str(optimizer[name]) for name in options}
            | {"those of the steps before": str(self._used)},
            "parameters": _texts(step.model.named_parameters()),
            "trainable parameters": {
                name: str(x.requires_grad) for name, x in step.model.named_parameters()
            },
            "buffers": _texts(step.model.named_buffers()),
            "optimizer states": _texts(
                (name, value) for name, value in optimizer.items() if name not in options
            ),
            "averages of parameters": _texts(state["ema"].items()),
            "schedules and scales": _texts(
                entries.flat({x: state[x] for x in ("schedules", "scaler")}).items()
            ),
            "modes": {name: str(x.training) for name, x in step.model.named_modules()},
            "settings of layers": _settings(step.model, "") | _settings(step.loss, "loss"),
            "seeds and order of data": {
                "seed": str(random.get_state()[0]),
                "loader": str(loader.state_dict()) if isinstance(loader, DataLoader) else "",
            },
        }


def _settings(module: Any, prefix: str) -> dict[str, str]:
    """The arguments of the library's layers that they keep as attributes, such as ``p`` of a dropout.

    Other attributes, and those of the user's modules, may differ by worker, as a count of calls does.
    """
    if not isinstance(module, Module):
        return {}
    return {
        f"{name}.{key}".lstrip("."): repr(vars(layer)[key])
        for name, layer in module.named_modules(prefix)
        if is_ours(layer)
        for key in _argument_names(type(layer).__init__)
        if isinstance(vars(layer).get(key), bool | int | float | str | tuple)
    }


@cache
def _argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(signature(function).parameters)


def _texts(things: Any) -> dict[str, str]:
    return {
        name: checksum(np.asarray(x.detach() if isinstance(x, Tensor) else x))
        if isinstance(x, Tensor | np.ndarray)
        else str(x)
        for name, x in things
    }


def _summary(facts: Facts) -> dict[str, str]:
    return {
        kind: sha256(json.dumps(values).encode()).hexdigest()[:16] for kind, values in facts.items()
    }


def _error(
    workers: Workers, kind: str, values: list[Any], details: list[dict[str, str]], after: str
) -> ValueError:
    """Names the workers that differ from most of them, or if there are no most from the first."""
    usual, count = Counter(values).most_common(1)[0]
    if count <= workers.size // 2:
        usual = values[0]
    others = [number for number, value in enumerate(values) if value != usual]
    reference = details[values.index(usual)]
    own = details[others[0]]
    names = [key for key in {**reference, **own} if reference.get(key) != own.get(key)]
    shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    who = ", ".join(workers.names[number] for number in others)
    requirement = (
        f"all workers must stay alike, but {who} has other {kind} {after}: {shown} (what callbacks "
        "change must be changed on every worker)"
    )
    first = workers.names[values.index(usual)].partition(" of ")[0].replace(" ", "_")
    odd = workers.names[others[0]].partition(" of ")[0].replace(" ", "_")
    given = {first: reference.get(names[0]), odd: own.get(names[0])} if names else {}
    return value_error("distributed", requirement, **given)
