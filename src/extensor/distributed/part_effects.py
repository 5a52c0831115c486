"""Side effects of computing a micro-batch that would part the workers.

Each worker computes other micro-batches, so what one of them changes in parameters, or in buffers that
nobody averages, is different on each worker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.core import changes, door
from extensor.core.door import watchers
from extensor.core.tensor import Tensor
from extensor.distributed.consistency import checksum
from extensor.distributed.micro_batches import (
    PartialSums,
    TreeNode,
    part_noise,
    parts,
    share,
    total,
)
from extensor.distributed.workers import Workers
from extensor.errors import value_error
from extensor.nn.module import Module
from extensor.nn.preservation import (
    iterator_positions,
    preserve_state,
    preserve_tensors,
    reaches_iterator,
)
from extensor.nn.synchronised import noting_moved
from extensor.random.global_generators import compare_draws

_TAG = 0


class BufferAveraging:
    """The buffers of ``models`` in the course of a step."""

    def __init__(self, models: Sequence[Module], workers: Workers) -> None:
        self.models = models
        self.workers = workers
        self.changed: Any = None  # 1 for each buffer that a micro-batch of this worker changed
        self._before: dict[str, Any] = {}
        self._is_sum: dict[str, bool] = {}
        self._sums: PartialSums[dict[str, Any]] | None = None
        self._count = 0

    def begin(self, count: int) -> None:
        """A step of ``count`` micro-batches begins."""
        self._count = count
        self._before = self.kept()
        self._is_sum = {name: is_floating(x.dtype) for name, x in self._before.items()}
        self._sums = PartialSums(count, self._join)
        self.changed = np.zeros(len(self._before), np.uint8)

    def take(self, number: int, weight: float) -> None:
        """Note what micro-batch ``number`` changed, and undo it."""
        if not self._before:
            return
        assert self._sums is not None
        moved: dict[str, Any] = {}
        for index, (name, buffer) in enumerate(self._named_buffers()):
            before, after = self._before[name], np.asarray(buffer._array)
            same = before.tobytes() == after.tobytes()
            if same:
                continue
            self.changed[index] = 1
            moved[name] = _difference(before, after, weight)
            _write(buffer, before)
        self._sums.put(TreeNode(0, number), moved)

    def _named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        """The buffers of all models, each once: a model may be a part of another."""
        seen: set[int] = set()
        for index, model in enumerate(self.models):
            for name, buffer in model.named_buffers():
                if id(buffer) not in seen:
                    seen.add(id(buffer))
                    yield f"{index}.{name}", buffer

    def kept(self) -> dict[str, Any]:
        """The buffers as they are now, copied."""
        return {name: _copy(x._array) for name, x in self._named_buffers()}

    def bring(self, kept: dict[str, Any]) -> None:
        """Let the buffers be as they were."""
        for name, buffer in self._named_buffers():
            _write(buffer, kept[name])

    def finish(self, changed: Any) -> None:
        """Move the buffers that any worker has ``changed``."""
        names = [name for name, flag in zip(self._before, changed, strict=True) if flag]
        if not names or self._sums is None:
            return
        sizes = [self._before[name].size for name in names]
        size, rank = self.workers.size, self.workers.rank
        nodes = [parts(self._count, share(self._count, size, number)) for number in range(size)]
        edges = np.cumsum([0, *map(len, nodes)]).tolist()
        table = np.zeros((edges[-1], sum(sizes)))
        for row, (_, moved) in zip(table[edges[rank] :], self._sums.nodes, strict=False):
            begin = 0
            for name, length in zip(names, sizes, strict=True):
                if name in moved:
                    row[begin : begin + length] = moved[name].reshape(-1)
                begin += length
        by_worker = [table[begin:end] for begin, end in pairwise(edges)]
        self.workers.exchange(_TAG, by_worker).wait("running statistics")
        order = [node for found in nodes for node in found]
        self._move(names, sizes, list(zip(order, table, strict=True)))

    def _move(self, names: Sequence[str], sizes: Sequence[int], rows: Any) -> None:
        edges = np.cumsum([0, *sizes]).tolist()
        split = [
            (node, {name: row[a:b] for name, (a, b) in zip(names, pairwise(edges), strict=True)})
            for node, row in rows
        ]
        moved = total(self._count, split, self._join)
        buffers = dict(self._named_buffers())
        for name in names:
            before = self._before[name]
            step = moved[name].reshape(before.shape)
            with np.errstate(all="ignore"):
                after = np.where(step != 0, before.astype(np.float64) + step, before)
            _write(buffers[name], after.astype(before.dtype))

    def _join(self, left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
        found = {}
        for name in {**left, **right}:
            # What a micro-batch has not changed moved by nothing.
            first, second = left.get(name, 0.0), right.get(name, 0.0)
            found[name] = first + second if self._is_sum[name] else np.maximum(first, second)
        return found


def _copy(array: Any) -> Any:
    return np.array(array, order="C")


def _difference(before: Any, after: Any, weight: float) -> Any:
    with np.errstate(all="ignore"):
        moved = after.astype(np.float64) - before.astype(np.float64)
        moved = np.where(after == before, 0.0, moved)
        return moved * weight if is_floating(before.dtype) else moved


def _write(buffer: Any, array: Any) -> None:
    door.setitem(buffer._array, ..., array)
    changes.mark_all([buffer._array])


class PartEffects:
    """Watches what is computed with ``models``, whose buffers are averaged."""

    def __init__(
        self, models: Sequence[Module], parameters: Sequence[Tensor], has_others: bool
    ) -> None:
        self._models = models
        self._chosen = parameters
        self._has_others = has_others  # workers, which would read an iterator of their own
        self._is_first = True

    def _named_parameters(self) -> list[tuple[str, Tensor]]:
        named = [pair for model in self._models for pair in model.named_parameters()]
        return named + [(f"parameters[{i}]", x) for i, x in enumerate(self._chosen)]

    @contextmanager
    def refused(self, compute: Callable[[int], Tensor]) -> Iterator[None]:
        """Refuse side effects of ``compute``, which is called inside the block.

        The first time, parameters are compared by their bytes, and the positions of iterators. Later
        the clock of changes is enough, which does not see what is written through NumPy.
        """
        reads_iterators = self._has_others and self._is_first
        positions = iterator_positions(*self._models, compute) if reads_iterators else []
        moved: list[Any] = []
        time = changes.clock()
        named = self._named_parameters() if self._is_first else []
        before = [checksum(np.asarray(x._array)) for _, x in named]
        with noting_moved(moved):
            yield
        if positions and positions != iterator_positions(*self._models, compute):
            requirement = (
                "on several workers a part must not read an iterator, since each worker computes other "
                "parts: choose the value by the number of the part or step, or read it before the step"
            )
            raise value_error("Gradients", requirement, iterators=len(positions))
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


def check_repeatable(
    models: Sequence[Module], compute: Callable[[int], Tensor], seed: int, step: int, number: int
) -> None:
    """Refuse a part that has another loss when it is computed again with the same parameters.

    Each number of workers computes other parts before it, so a count of calls or a generator that the
    model keeps would give each of them other bits.
    """
    results = _trial_losses(models, compute, seed, step, number, 2)
    if results and results[0] != results[1]:
        requirement = (
            "on several workers a part must have the same loss whenever it is computed, so it may depend "
            "on nothing but its number, parameters, buffers and seeds (not on a count of calls, on "
            "numbers that it drew at an earlier call or on a generator that is kept in an attribute; "
            "np.random, random and ex.random are seeded for it)"
        )
        raise value_error("Gradients", requirement, part=number)


def check_same_data(
    models: Sequence[Module],
    compute: Callable[[int], Tensor],
    seed: int,
    step: int,
    workers: Workers,
) -> None:
    """Raise an error if the workers compute different losses for part 0: they read different data.

    Every worker computes this loss, although only one takes the part. A worker that has read only the
    samples of its own parts cannot compute it, and is not compared.
    """
    results = _trial_losses(models, compute, seed, step, 0, 1)
    loss = results[0][0] if results else ""
    losses = [x.decode() for x in workers.gather(loss.encode(), "losses of part 0")]
    if len({*losses} - {""}) > 1:
        names = {f"worker_{rank}": x or "not tried" for rank, x in enumerate(losses)}
        requirement = (
            "all workers must read the same data, but their losses of part 0 differ (read and draw it "
            "from one seed, and not in threads that share np.random)"
        )
        raise value_error("Gradients", requirement, **names)


def _trial_losses(
    models: Sequence[Module],
    compute: Callable[[int], Tensor],
    seed: int,
    step: int,
    number: int,
    times: int,
) -> list[tuple[str, Any]]:
    """A part's loss, and what it drew, for each of so many times.

    Empty for a part that fails or reads an iterator, and for models with hooks, which would see it.
    """
    is_hooked = any(module._hooks for model in models for module in model.modules())
    if watchers or is_hooked or reaches_iterator(*models, compute):
        return []
    results = []
    with preserve_state(*models, compute):
        for _ in range(times):
            try:
                noise = part_noise(seed, step, number)
                with preserve_tensors(*models), noise, compare_draws() as drawn:
                    loss = repr(float(np.asarray(compute(number))))
                results.append((loss, drawn))
            except Exception:  # the step raises it again
                return []
    return results


def _changed_parameter(name: str) -> ValueError:
    requirement = (
        "a forward pass must not change parameters, since each worker computes other parts: change "
        "them after the step, as in a callback, or let them be buffers (register_buffer), which are "
        "averaged"
    )
    return value_error("Gradients", requirement, parameter=name)
