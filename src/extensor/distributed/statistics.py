"""Buffers that a forward pass changes, such as the running statistics of batch norm.

Each micro-batch begins with the same ones. What it changes in them is averaged by the tree, each
micro-batch with its share of the samples. A count moves by the most that a micro-batch moved it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.core import changes, door
from extensor.core.tensor import Tensor
from extensor.distributed.tree import Node, Sums, parts, share, total
from extensor.distributed.workers import Workers
from extensor.nn.module import Module

TAG = 0


class Statistics:
    """The buffers of ``models`` in the course of a step."""

    def __init__(self, models: Sequence[Module], workers: Workers) -> None:
        self.models = models
        self.workers = workers
        self.changed: Any = None  # 1 for each buffer that a micro-batch of this worker changed
        self._before: dict[str, Any] = {}
        self._is_sum: dict[str, bool] = {}
        self._sums: Sums[dict[str, Any]] | None = None
        self._count = 0

    def begin(self, count: int) -> None:
        """A step of ``count`` micro-batches begins."""
        self._count = count
        self._before = self.kept()
        self._is_sum = {name: is_floating(x.dtype) for name, x in self._before.items()}
        self._sums = Sums(count, self._joined)
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
        self._sums.put(Node(0, number), moved)

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
        return {name: _copied(x._array) for name, x in self._named_buffers()}

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
        transfer = self.workers.transfer()
        for peer in self.workers.others:
            if nodes[peer]:
                transfer.receive(peer, TAG, table[edges[peer] : edges[peer + 1]])
            if nodes[rank]:
                transfer.send(peer, TAG, table[edges[rank] : edges[rank + 1]])
        transfer.wait("running statistics")
        order = [node for found in nodes for node in found]
        self._move(names, sizes, list(zip(order, table, strict=True)))

    def _move(self, names: Sequence[str], sizes: Sequence[int], rows: Any) -> None:
        edges = np.cumsum([0, *sizes]).tolist()
        split = [
            (node, {name: row[a:b] for name, a, b in zip(names, edges, edges[1:], strict=False)})
            for node, row in rows
        ]
        moved = total(self._count, split, self._joined)
        buffers = dict(self._named_buffers())
        for name in names:
            before = self._before[name]
            step = moved[name].reshape(before.shape)
            with np.errstate(all="ignore"):
                after = np.where(step != 0, before.astype(np.float64) + step, before)
            _write(buffers[name], after.astype(before.dtype))

    def _joined(self, left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
        found = {}
        for name in {**left, **right}:
            # What a micro-batch has not changed moved by nothing.
            first, second = left.get(name, 0.0), right.get(name, 0.0)
            found[name] = first + second if self._is_sum[name] else np.maximum(first, second)
        return found


def _copied(array: Any) -> Any:
    return np.array(array, order="C")


def _difference(before: Any, after: Any, weight: float) -> Any:
    with np.errstate(all="ignore"):
        moved = after.astype(np.float64) - before.astype(np.float64)
        moved = np.where(after == before, 0.0, moved)
        return moved * weight if is_floating(before.dtype) else moved


def _write(buffer: Any, array: Any) -> None:
    door.setitem(buffer._array, ..., array)
    changes.mark_all([buffer._array])
