"""Workers that no longer agree: found while they train, and named.

All have the same parameters and make the same updates, so nothing but a difference in the program,
such as a callback that changes a rate on one of them, or a broken machine can part them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from extensor import random
from extensor.core.tensor import Tensor
from extensor.data.loader import DataLoader
from extensor.distributed.agreement import checksum
from extensor.distributed.joining import workers as found_workers
from extensor.distributed.workers import Workers
from extensor.errors import value_error
from extensor.train.step import TrainStep

if TYPE_CHECKING:
    from extensor.train.trainer import Trainer

# Reading all parameters and states takes about as long as a small step, so this many steps make it
# less than two hundredths of the time; and no more than so many steps are lost.
CHECK_EVERY = 64
_SHOWN = 3  # names in an error

Facts = dict[str, dict[str, str]]


class Agreement:
    """Compares a trainer with those of the other workers, which must all ask at the same time."""

    def __init__(self, trainer: Trainer) -> None:
        self._trainer = trainer
        self._used = 0  # a checksum of the options that steps were taken with

    def note_options(self) -> None:
        """Note what the next step is taken with; it may be changed back before the workers compare."""
        groups = self._trainer.optimizer.param_groups
        options = [[(k, v) for k, v in group.items() if k != "params"] for group in groups]
        self._used = crc32(repr(options).encode(), self._used)

    def check(self) -> None:
        """Raise the same error on all workers if one of them differs from the others."""
        workers = found_workers()
        if workers.size == 1:
            return
        facts = self._facts()
        told = workers.gather(json.dumps(_summary(facts)).encode(), "comparison")
        summaries = [json.loads(text) for text in told]
        for kind in summaries[0]:
            values = [summary.get(kind) for summary in summaries]
            if len(set(values)) > 1:
                # All workers know of it by now, so all get here.
                details = workers.gather(json.dumps(facts[kind]).encode(), "differences")
                after = f"after step {self._trainer.step}"
                raise _error(workers, kind, values, [json.loads(text) for text in details], after)

    def _facts(self) -> Facts:
        """By kind and name a short text for each thing that must be the same."""
        trainer, step = self._trainer, self._trainer.take_step
        # Not of a class that gathers what is shared out: each worker has another part of that.
        state = TrainStep.state_dict(step, False)
        optimizer = state["optimizer"]
        is_option = {name: _is_option(name) for name in optimizer}
        loader = trainer._loader
        return {
            "rates and options": {
                name: str(value) for name, value in optimizer.items() if is_option[name]
            }
            | {"those of the steps before": str(self._used)},
            "parameters": _texts(step.model.named_parameters()),
            "trainable parameters": {
                name: str(x.requires_grad) for name, x in step.model.named_parameters()
            },
            "buffers": _texts(step.model.named_buffers()),
            "optimizer states": _texts(
                (name, value) for name, value in optimizer.items() if not is_option[name]
            ),
            "averages of parameters": _texts(state["ema"].items()),
            "schedules and scales": _texts(_flat({x: state[x] for x in ("schedules", "scaler")})),
            "modes": {name: str(x.training) for name, x in step.model.named_modules()},
            "seeds and order of data": {
                "seed": str(random.get_state()[0]),
                "loader": str(loader.state_dict()) if isinstance(loader, DataLoader) else "",
            },
        }


def _is_option(name: str) -> bool:
    return name.startswith("groups.") and not name.endswith(".params")


def _flat(table: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


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
