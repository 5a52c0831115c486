"""Side effects of computing a micro-batch that would part the workers.

Each worker computes other micro-batches, so what one of them changes in parameters, or in buffers that
nobody averages, is different on each worker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from extensor.core import changes
from extensor.core.tensor import Tensor
from extensor.distributed.agreement import checksum
from extensor.errors import value_error
from extensor.nn.module import Module
from extensor.nn.synchronised import noting_moved


class SideEffects:
    """Watches what is computed with ``models``, whose buffers are averaged."""

    def __init__(self, models: Sequence[Module], parameters: Sequence[Tensor]) -> None:
        self._models = models
        self._chosen = parameters
        self._is_first = True

    def _named_parameters(self) -> list[tuple[str, Tensor]]:
        named = [pair for model in self._models for pair in model.named_parameters()]
        return named + [(f"parameters[{i}]", x) for i, x in enumerate(self._chosen)]

    @contextmanager
    def refused(self) -> Iterator[None]:
        """Refuse side effects of what is computed inside the block.

        The first time, parameters are compared by their bytes. Later the clock of changes is enough,
        which does not see what is written through NumPy.
        """
        moved: list[Any] = []
        time = changes.clock()
        named = self._named_parameters() if self._is_first else []
        before = [checksum(np.asarray(x._array)) for _, x in named]
        with noting_moved(moved):
            yield
        self._refuse_unknown(moved)
        for (name, x), text in zip(named, before, strict=True):
            if checksum(np.asarray(x._array)) != text:
                raise _changed_parameter(name)
        self._is_first = False
        if changes.clock() != time:
            for name, x in self._alone_in_memory():
                if changes.changed_since(x._array, time):
                    raise _changed_parameter(name)

    def _alone_in_memory(self) -> list[tuple[str, Tensor]]:
        """The parameters that share no memory with others or with buffers.

        The clock counts changes of whole memories, of which tensors may be views.
        """
        named = {id(x): (name, x) for name, x in self._named_parameters()}
        others = {id(x): x for model in self._models for x in model.buffers()}
        tensors = [x for _, x in named.values()] + list(others.values())
        counts = Counter(id(changes.owner(x._array)) for x in tensors)
        return [pair for pair in named.values() if counts[id(changes.owner(pair[1]._array))] == 1]

    def _refuse_unknown(self, moved: Sequence[Any]) -> None:
        if not moved:
            return
        known = {id(module) for model in self._models for module in model.modules()}
        for module in moved:
            if id(module) not in known:
                requirement = (
                    "running statistics that a part changes must be known, so that they are averaged: "
                    "pass the module that has them, as Gradients(model, modules=[module]), make it a "
                    "part of the model, or call its eval()"
                )
                raise value_error("Gradients", requirement, module=type(module).__name__)


def _changed_parameter(name: str) -> ValueError:
    requirement = (
        "a forward pass must not change parameters, since each worker computes other parts: change "
        "them after the step, as in a callback, or let them be buffers (register_buffer), which are "
        "averaged"
    )
    return value_error("Gradients", requirement, parameter=name)
