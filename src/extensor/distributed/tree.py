"""One balanced tree over the micro-batches of a step, in which whatever they give is added up.

Node ``(level, k)`` stands for the micro-batches from ``k * 2**level`` on, ``2**level`` of them or as
many as there are. It is the sum of the nodes ``2 * k`` and ``2 * k + 1`` below it, the left one first;
without a right one it is the left one. The tree depends on the number of micro-batches alone, so it does
not matter who adds which part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Node(NamedTuple):
    """A place in the tree."""

    level: int
    k: int


def share(count: int, workers: int, rank: int) -> range:
    """The micro-batches, of ``count``, that belong to worker ``rank``: as even as can be."""
    return range(count * rank // workers, count * (rank + 1) // workers)


def owner(number: int, count: int, workers: int) -> int:
    """The worker that takes micro-batch ``number`` of ``count``.

    >>> from extensor.distributed.tree import owner
    >>> [owner(number, 4, 3) for number in range(4)]
    [0, 1, 2, 2]
    """
    return next(rank for rank in range(workers) if number in share(count, workers, rank))


class Sums(Generic[T]):
    """The nodes that are complete so far; each that is added joins those it completes a node with.

    Nodes must come from left to right. ``add`` gives the sum of two neighbours.
    """

    def __init__(self, count: int, add: Callable[[T, T], T]) -> None:
        self.count = count
        self.nodes: list[tuple[Node, T]] = []
        self._add = add

    def put(self, node: Node, value: T) -> None:
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
        self.nodes.append((Node(level, k), value))


def parts(count: int, mine: Iterable[int]) -> list[Node]:
    """The nodes that the micro-batches ``mine``, neighbours all, complete by themselves."""
    sums: Sums[None] = Sums(count, lambda left, right: None)
    for number in mine:
        sums.put(Node(0, number), None)
    return [node for node, _ in sums.nodes]


def total(count: int, nodes: Sequence[tuple[Node, T]], add: Callable[[T, T], T]) -> T:
    """The sum of the whole tree from ``nodes`` that cover it, from left to right."""
    sums = Sums(count, add)
    for node, value in nodes:
        sums.put(node, value)
    ((_, value),) = sums.nodes
    return value


def added(values: Sequence[float]) -> float:
    """The sum of numbers by the tree; 0 for none.

    >>> from extensor.distributed.tree import added
    >>> added([1.0, 2.0, 3.0])
    6.0
    """
    if not values:
        return 0.0
    leaves = [(Node(0, number), value) for number, value in enumerate(values)]
    return total(len(values), leaves, lambda left, right: left + right)
