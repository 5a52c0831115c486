"""Block shuffling: blocks in a random order, several of them mixed, computed on demand."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from extensor import random
from extensor.arrays.dtypes import int64, uint64
from extensor.errors import arguments, type_error, value_error
from extensor.random.generator import Generator
from extensor.random.philox import LIMIT, philox

_DRAWN = 1 << 16  # numbers whose order is kept
_ROUNDS = 6


class Permutation:
    """The numbers below ``size`` in an order that ``key`` decides: ``permutation[begin:end]``.

    Few are drawn and kept, so that every order is equally likely. Of many each is computed, by a
    Feistel network whose rounds are Philox: four make an order that nobody can tell from a random
    one (Luby and Rackoff, 1988).
    """

    def __init__(self, size: int, key: int) -> None:
        self.size = size
        self.key = key
        self._half = -(-max(size - 1, 1).bit_length() // 2)  # bits
        few = size <= _DRAWN
        self._kept = random.permutation(size, Generator(key)).numpy() if few else None

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, part: slice) -> Any:
        if self._kept is not None:
            return self._kept[part]
        numbers = np.arange(*part.indices(self.size), dtype=uint64)
        found = self._feistel(numbers)
        # The network permutes a power of four; numbers outside of the size are permuted again.
        outside = np.nonzero(found >= self.size)[0]
        while outside.size:
            found[outside] = again = self._feistel(found[outside])
            outside = outside[again >= self.size]
        return found.astype(int64)

    def _feistel(self, numbers: Any) -> Any:
        half, mask = np.uint64(self._half), np.uint64((1 << self._half) - 1)
        left, right = numbers >> half, numbers & mask
        for number in range(_ROUNDS):
            words = philox(self.key, number, right)[:, 0]
            left, right = right, left ^ (words & mask)
        return left << half | right


_OP = "BlockShuffle"
_KEPT = 3  # windows: this one, the next, which is read ahead, and one that threads still use
Run = tuple[int, int]  # the first of several samples, and how many they are


class BlockPlan(NamedTuple):
    """Stretches of samples, whether each is read as a whole, and how the others are cut into blocks."""

    lengths: Any
    whole: Any
    block: int
    window: int


class BlockShuffle:
    """Blocks in random order, and the samples of each window of blocks in random order.

    A block is a run of consecutive samples of a shard. Larger windows mix samples better; sorted data
    should be shuffled before they are packed. The order depends only on the generator, and any part of
    it is computed from at most two windows, whatever the length of the epoch.

    Parameters
    ----------
    source : ShardedDataset, or sequence of int
        The data set, or the lengths of its shards.
    block : int, optional
        Number of samples in a block. Lengths need it. Default: as many as make some megabytes. Row
        groups of Parquet, which are read as a whole, are always blocks.
    window : int, optional
        Number of blocks in a window. Lengths need it. Default: half of the blocks that fit into the
        memory of the data set, since the next window is read while one is used.

    Raises
    ------
    ValueError
        If two windows do not fit into the memory of the data set.

    Examples
    --------
    >>> from extensor.data import BlockShuffle
    >>> from extensor.random import Generator
    >>> BlockShuffle([6, 4], block=2, window=2).order(Generator(0))
    array([8, 7, 9, 6, 5, 3, 2, 4, 1, 0])
    """

    def __init__(self, source: Any, block: int | None = None, window: int | None = None) -> None:
        for name, value in (("block", block), ("window", window)):
            if value is not None and arguments.integer(_OP, name, value, 1) >= 2**62:
                raise value_error(_OP, f"{name} must be below 2**62", **{name: value})
        planned = not isinstance(source, type) and hasattr(source, "block_plan")
        self.plan = (
            source.block_plan(_OP, block, window)
            if planned
            else _plan_of_lengths(source, block, window)
        )
        self.block, self.window = self.plan.block, self.plan.window
        self._size = int(self.plan.lengths.sum())

    def __len__(self) -> int:
        return self._size

    @property
    def fingerprint(self) -> str:
        """Text that differs for samplers with different orders."""
        lengths, whole = self.plan.lengths.tobytes(), self.plan.whole.tobytes()
        return f"{sha256(lengths + whole).hexdigest()[:16]} {self.block} {self.window}"

    def order(self, generator: Generator) -> Any:
        """Return the indices of the next epoch.

        Parameters
        ----------
        generator : Generator
            The source of all randomness.

        Returns
        -------
        numpy.ndarray of int64, (len(self),)
            The numbers of the samples, from 0.
        """
        return self.lazy_order(generator)[:]

    def lazy_order(self, generator: Generator) -> BlockOrder:
        """Return the order of an epoch as an object that computes slices of it on demand.

        Parameters
        ----------
        generator : Generator
            The source of all randomness; it is used before this method returns.

        Returns
        -------
        Order
            ``order[begin:end]`` is an array of int64. Several threads may slice it.
        """
        keys = random.randint(0, LIMIT, 3, "uint64", generator).tolist()
        return BlockOrder(self.plan, *keys)


def _plan_of_lengths(lengths: Any, block: int | None, window: int | None) -> BlockPlan:
    is_row = isinstance(lengths, Sequence) or (isinstance(lengths, np.ndarray) and lengths.ndim > 0)
    if not is_row or isinstance(lengths, str | bytes):
        requirement = "source must be a ShardedDataset, or the lengths of shards"
        raise type_error(_OP, requirement, source=arguments.briefly(lengths))
    if block is None or window is None:
        requirement = "block and window must be given with lengths"
        raise value_error(_OP, requirement, block=block, window=window)
    sizes = [arguments.integer(_OP, f"source[{i}]", x, 0) for i, x in enumerate(lengths)]
    if sum(sizes) >= 2**63:
        raise value_error(_OP, "lengths must be below 2**63 together")
    return BlockPlan(np.array(sizes, int64), np.zeros(len(sizes), bool), int(block), int(window))


class _Window(NamedTuple):
    """Some blocks: where in the epoch they are, where each begins and ends, and their samples."""

    begin: int
    starts: Any
    lengths: Any
    indices: Any


class BlockOrder:
    """The order of one epoch. Any thread may ask for any part."""

    def __init__(self, plan: BlockPlan, block_key: int, rest_key: int, window_key: int) -> None:
        ends = np.cumsum(plan.lengths)
        self._block, self._per_window = plan.block, plan.window
        self._size = int(ends[-1]) if len(ends) else 0
        self._starts = ends - plan.lengths
        full = np.where(plan.whole, 0, plan.lengths // plan.block)
        self._full_ends = np.cumsum(full)
        # The others are shorter, or as long as they come: few, as each shard has its own anyway.
        rests = plan.lengths - full * plan.block
        places = np.nonzero(rests)[0]
        order = Permutation(len(places), rest_key)[:]
        self._rest_lengths = rests[places][order]
        self._rest_starts = (self._starts + full * plan.block)[places][order]
        self._rest_sums = np.concatenate([[0], np.cumsum(self._rest_lengths)])
        self._fulls = int(self._full_ends[-1]) if len(ends) else 0
        self._blocks = self._fulls + len(places)
        self._order = Permutation(self._fulls, block_key)
        self._key = window_key
        self._windows: OrderedDict[int, _Window] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> Any:
        begin, end, step = part.indices(self._size)
        if step != 1:
            return self[:][part]
        parts = []
        while begin < end:
            window = self._window(self._number(begin))
            first = begin - window.begin
            parts.append(window.indices[first : first + end - begin])
            begin += len(parts[-1])
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([np.empty(0, int64), *parts])

    def ahead(self, begin: int, end: int) -> list[Run]:
        """The runs of the next window to read while positions ``begin`` to ``end`` are used."""
        runs = []
        for block in range(self._blocks_due(begin), self._blocks_due(end)):
            number, place = divmod(block, self._per_window)
            window = self._window(number)
            runs.append((int(window.starts[place]), int(window.lengths[place])))
        return runs

    def _blocks_due(self, position: int) -> int:
        """How many blocks should have been read when ``position`` is reached."""
        if position >= self._size:
            return self._blocks
        number = self._number(position)
        begin, end = self._begin(number), self._begin(number + 1)
        first, last = self._until(number + 1), self._until(number + 2)
        return first + (position - begin) * (last - first) // (end - begin)

    def _until(self, number: int) -> int:
        """The blocks in all windows before this one."""
        return min(number * self._per_window, self._blocks)

    def _split(self, number: int) -> tuple[int, int]:
        """The same by kind: full ones and others are spread alike over the epoch."""
        blocks = self._until(number)
        fulls = blocks * self._fulls // self._blocks
        return fulls, blocks - fulls

    def _begin(self, number: int) -> int:
        """The position at which a window begins."""
        fulls, rests = self._split(number)
        return fulls * self._block + int(self._rest_sums[rests])

    def _number(self, position: int) -> int:
        """The window of a position."""
        windows = range(-(-self._blocks // self._per_window))
        return bisect_right(windows, position, key=self._begin) - 1

    def _window(self, number: int) -> _Window:
        with self._lock:
            if number not in self._windows:
                self._windows[number] = self._build_window(number)
                if len(self._windows) > _KEPT:
                    self._windows.popitem(last=False)
            self._windows.move_to_end(number)
            return self._windows[number]

    def _build_window(self, number: int) -> _Window:
        (first, rest), (last, rest_end) = self._split(number), self._split(number + 1)
        blocks = self._order[first:last]
        shards = np.searchsorted(self._full_ends, blocks, side="right")
        before = np.concatenate([[0], self._full_ends])[shards]
        starts = self._starts[shards] + (blocks - before) * self._block
        starts = np.concatenate([starts, self._rest_starts[rest:rest_end]])
        lengths = np.full(len(starts), self._block)
        lengths[len(blocks) :] = self._rest_lengths[rest:rest_end]
        ends = np.cumsum(lengths)
        samples = np.arange(ends[-1]) + np.repeat(starts - (ends - lengths), lengths)
        begin = self._begin(number)
        generator = Generator(self._key)
        # An order takes a draw for each sample, two to a block of numbers: none takes another's.
        generator.set_state((self._key, begin))
        order = random.permutation(len(samples), generator).numpy()
        return _Window(begin, starts, lengths, samples[order])
