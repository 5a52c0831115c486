"""A part of the samples of shards, such as those to train on, read ahead and shuffled as all are."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from extensor import random
from extensor.arrays.dtypes import int64
from extensor.data.streaming.indexed import Indexed
from extensor.data.streaming.shuffle import BlockShuffle, Plan, Run
from extensor.errors import arguments, value_error
from extensor.random.generator import Generator

_BLOCKS = 500  # that samples are cut into at least, so that a small part can be had of them


class _Whole(Protocol):
    piece: int

    @property
    def fingerprint(self) -> str: ...

    def __len__(self) -> int: ...

    def batch(self, indices: Any) -> tuple[Any, ...]: ...

    def read_ahead(self, runs: Any) -> None: ...

    def block_plan(self, op: str, block: int | None, window: int | None) -> Plan: ...


class ShardedSubset(Indexed):
    """Stretches of the samples of a :class:`ShardedDataset`, in their order there.

    Made by :meth:`ShardedDataset.split`. A stretch is its first sample and how many there are, all in
    one shard.
    """

    op = "ShardedSubset"

    def __init__(self, dataset: _Whole, stretches: list[Run]) -> None:
        self.dataset = dataset
        self.stretches = stretches
        self._starts = np.array([first for first, _ in stretches], int64)
        self._lengths = np.array([count for _, count in stretches], int64)
        self._ends = np.cumsum(self._lengths)

    @classmethod
    def whole(cls, dataset: _Whole) -> ShardedSubset:
        """All samples, a stretch for each shard or what is read as a whole."""
        lengths = dataset.block_plan(cls.op, None, None).lengths
        starts = np.cumsum(lengths) - lengths
        return cls(dataset, list(zip(starts.tolist(), lengths.tolist(), strict=True)))

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def __repr__(self) -> str:
        return f"ShardedSubset({len(self)} of {len(self.dataset)} samples)"

    @property
    def fingerprint(self) -> str:
        """Another text for other samples."""
        return f"{self.dataset.fingerprint} {self.stretches}"

    def batch(self, indices: Any) -> tuple[Any, ...]:
        return self.dataset.batch(self._there(self._wanted(indices)))

    def number(self, place: int) -> int:
        """The number that a sample has among all."""
        return int(self._there(np.array([place]))[0])

    def read_ahead(self, runs: list[Run]) -> None:
        """Begin to read runs of samples, each in one stretch."""
        firsts = self._there(np.array([first for first, _ in runs], int64)).tolist()
        counts = [count for _, count in runs]
        self.dataset.read_ahead(list(zip(firsts, counts, strict=True)))

    def shuffling(self) -> BlockShuffle:
        """The sampler that a loader takes for ``shuffle=True``."""
        return BlockShuffle(self)

    def block_plan(self, op: str, block: int | None, window: int | None) -> Plan:
        """That of all samples, for these stretches."""
        plan = self.dataset.block_plan(op, block, window)
        ends = np.cumsum(plan.lengths)
        places = np.searchsorted(ends, self._starts, side="right")
        begins = self._starts - (ends - plan.lengths)[places]
        if window is None and (begins % self.dataset.piece).any():
            # A block lies in two pieces, so that half as many are in memory.
            plan = plan._replace(window=max(1, plan.window // 2))
        return plan._replace(lengths=self._lengths, whole=plan.whole[places])

    def split(
        self, fraction: float, generator: Generator | None = None
    ) -> tuple[ShardedSubset, ShardedSubset]:
        """Two parts, the second with about ``fraction`` of the samples, in blocks that chance chooses.

        A block is what is read together, or a five-hundredth of the samples if that is less: of many
        samples no part has to be read for the sake of the other.
        """
        arguments.number("split", "fraction", fraction, fraction=True)
        block = max(1, min(self.dataset.piece, len(self) // _BLOCKS))
        sizes = np.concatenate([_cut(count, block) for count in self._lengths] or [[]])
        order = random.permutation(len(sizes), generator).numpy()
        wanted = round(len(self) * fraction)
        taken = int(np.searchsorted(np.cumsum(sizes[order]), wanted)) + 1 if wanted else 0
        is_second = np.zeros(len(sizes), bool)
        is_second[order[:taken]] = True
        first, second = self._chosen(block, ~is_second), self._chosen(block, is_second)
        if not (len(first) and len(second)):
            requirement = "both parts must have samples"
            raise value_error("split", requirement, fraction=fraction, samples=len(self))
        return first, second

    def between(self, begin: int, end: int) -> ShardedSubset:
        """The samples from ``begin`` to ``end``."""
        firsts = self._ends - self._lengths
        low = np.clip(begin - firsts, 0, self._lengths)
        high = np.clip(end - firsts, 0, self._lengths)
        runs = zip((self._starts + low).tolist(), (high - low).tolist(), strict=True)
        return ShardedSubset(self.dataset, [run for run in runs if run[1] > 0])

    def _chosen(self, block: int, chosen: Any) -> ShardedSubset:
        """The blocks that are chosen, those that follow each other in a stretch as one."""
        found: list[Run] = []
        number = 0
        for first, count in self.stretches:
            end = -1  # of the last block that was chosen in this stretch
            for begin in range(0, count, block):
                size = min(block, count - begin)
                if chosen[number] and begin == end:
                    found[-1] = (found[-1][0], found[-1][1] + size)
                elif chosen[number]:
                    found.append((first + begin, size))
                end = begin + size if chosen[number] else end
                number += 1
        return ShardedSubset(self.dataset, found)

    def _there(self, places: Any) -> Any:
        """The numbers that samples have among all."""
        stretches = np.searchsorted(self._ends, places, side="right")
        return self._starts[stretches] + places - (self._ends - self._lengths)[stretches]


def _cut(count: int, block: int) -> Any:
    """The lengths of the blocks of a stretch."""
    return np.diff(np.append(np.arange(0, count, block), count))
