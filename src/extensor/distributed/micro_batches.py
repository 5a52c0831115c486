"""What makes a step the same on any number of workers: shares, one tree for sums, and random numbers.

All of it depends on the number of micro-batches, the seed and the step, never on the workers.

TreeNode ``(level, k)`` stands for the micro-batches from ``k * 2**level`` on, ``2**level`` of them or as
many as there are. It is the sum of the nodes ``2 * k`` and ``2 * k + 1`` below it, the left one first;
without a right one it is the left one. The tree depends on the number of micro-batches alone, so it does
not matter who adds which part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import ClassVar, Generic, NamedTuple, TypeVar
from weakref import ref

import numpy as np

from extensor.errors import value_error
from extensor.random.generator import Generator, default_generator, drawing_from
from extensor.random.global_generators import preserve_global_generators
from extensor.random.philox import philox
from extensor.random.seeds import STEPS, derived_seeds

T = TypeVar("T")


class TreeNode(NamedTuple):
    """A place in the tree."""

    level: int
    k: int


def share(count: int, workers: int, rank: int) -> range:
    """The micro-batches, of ``count``, that belong to worker ``rank``: as even as can be."""
    return range(count * rank // workers, count * (rank + 1) // workers)


def owner(number: int, count: int, workers: int) -> int:
    """The worker that takes micro-batch ``number`` of ``count``.

    >>> from extensor.distributed.micro_batches import owner
    >>> [owner(number, 4, 3) for number in range(4)]
    [0, 1, 2, 2]
    """
    return next(rank for rank in range(workers) if number in share(count, workers, rank))


class PartialSums(Generic[T]):
    """The nodes that are complete so far; each that is added joins those it completes a node with.

    Nodes must come from left to right. ``add`` gives the sum of two neighbours.
    """

    def __init__(self, count: int, add: Callable[[T, T], T]) -> None:
        self.count = count
        self.nodes: list[tuple[TreeNode, T]] = []
        self._add = add

    def put(self, node: TreeNode, value: T) -> None:
        """Take the value of ``node``."""
        level, k = node
        while True:
            if k % 2:
                if not self.nodes or self.nodes[-1][0] != (level, k - 1):
                    break
                value = self._add(self.nodes.pop()[1], value)
            elif (k + 1) << level < self.count or (k == 0 and 1 << level >= self.count):
                break
            level, k = level + 1, k // 2
        self.nodes.append((TreeNode(level, k), value))


def parts(count: int, mine: Iterable[int]) -> list[TreeNode]:
    """The nodes that the micro-batches ``mine``, neighbours all, complete by themselves."""
    sums: PartialSums[None] = PartialSums(count, lambda _left, _right: None)
    for number in mine:
        sums.put(TreeNode(0, number), None)
    return [node for node, _ in sums.nodes]


def total(count: int, nodes: Sequence[tuple[TreeNode, T]], add: Callable[[T, T], T]) -> T:
    """The sum of the whole tree from ``nodes`` that cover it, from left to right."""
    sums = PartialSums(count, add)
    for node, value in nodes:
        sums.put(node, value)
    ((_, value),) = sums.nodes
    return value


def tree_sum(values: Sequence[float]) -> float:
    """The sum of numbers by the tree; 0 for none.

    >>> from extensor.distributed.micro_batches import tree_sum
    >>> tree_sum([1.0, 2.0, 3.0])
    6.0
    """
    if not values:
        return 0.0
    leaves = [(TreeNode(0, number), value) for number, value in enumerate(values)]
    return total(len(values), leaves, lambda left, right: left + right)


_TOGETHER = 64  # seeds that are computed at once, which takes hardly longer than one
_PLACE = 2**63 + 2**62  # of the streams' seeds, far from those of steps


def part_seed(seed: int, step: int, number: int) -> int:
    """The seed of micro-batch ``number`` of a step.

    >>> from extensor.distributed.micro_batches import part_seed
    >>> part_seed(0, 1, 2) == part_seed(0, 1, 2) != part_seed(0, 2, 1)
    True
    """
    block, place = divmod(number, _TOGETHER)
    return _seeds(seed, step, block)[place]


@lru_cache(maxsize=2)
def _seeds(seed: int, step: int, block: int) -> list[int]:
    first = block * _TOGETHER
    return derived_seeds(seed, STEPS, step, range(first, first + _TOGETHER))


@contextmanager
def part_noise(seed: int, step: int, number: int) -> Iterator[None]:
    """Let this thread draw the random numbers of a micro-batch inside the block.

    ``seed`` is that of the run. The default generator stays as it is. The global generators of Python
    and NumPy are seeded too, and put back afterwards.
    """
    own = part_seed(seed, step, number)
    with drawing_from(Generator(own)), preserve_global_generators(own):
        yield


def stream_seed(seed: int, stream: int) -> int:
    """The seed of a stream; stream 0 has ``seed`` itself.

    >>> from extensor.distributed.micro_batches import stream_seed
    >>> stream_seed(7, 0), stream_seed(7, 1) != stream_seed(7, 2)
    (7, True)
    """
    if stream == 0:
        return seed
    block = philox(seed, _PLACE, np.array([stream], np.uint64))[0]
    return int(block[0]) | int(block[1]) << 32


class NoiseStream:
    """The next stream since the default generator was seeded, or the one with this ``number``.

    Counting from the last ``manual_seed`` on lets a program repeat itself within one process.
    """

    # How often the generator was seeded, and the streams since then.
    _counted: ClassVar[tuple[int, int]] = (0, 0)
    _last: ClassVar[dict[int, tuple[ref[NoiseStream], int, int]]] = {}

    def __init__(self, number: int | None = None) -> None:
        self.is_numbered = number is not None
        if number is None:
            seedings, count = NoiseStream._counted
            number = count if seedings == default_generator.seedings else 0
            NoiseStream._counted = default_generator.seedings, number + 1
        self.number = number

    def seed(self, seed: int, step: int) -> int:
        """The seed for ``step`` of a run with this ``seed``.

        Streams from before and after a ``manual_seed`` may have one number. They are refused where
        they would draw the same.
        """
        if not self.is_numbered:
            owner, last, seedings = self._last.get(self.number, (None, 0, 0))
            other = None if owner is None else owner()
            is_new = (last, seedings) != (step, default_generator.seedings)
            if other is not None and other is not self and not is_new:
                requirement = (
                    "two objects must not draw the same random numbers: make both after "
                    "manual_seed, or give them streams of their own (stream=1)"
                )
                raise value_error("Gradients", requirement, step=step, stream=self.number)
            self._last[self.number] = ref(self), step, default_generator.seedings
        return stream_seed(seed, self.number)
