"""Batches cut into micro-batches, which are dealt out to workers by their place in a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from extensor.data.loader import DataLoader
from extensor.distributed.tree import share
from extensor.distributed.workers import Workers


class Part(NamedTuple):
    """Samples ``begin`` to ``end`` of batch ``batch`` of a step."""

    batch: int
    begin: int
    end: int


def cut(sizes: Sequence[int], micro_batches: int) -> list[Part]:
    """The micro-batches of a step, in order: ``micro_batches`` of each batch if it has the samples.

    >>> from extensor.train.dealing import cut
    >>> cut([5, 1], 2)
    [Part(batch=0, begin=0, end=2), Part(batch=0, begin=2, end=5), Part(batch=1, begin=0, end=1)]
    """
    return [
        Part(batch, begin, end)
        for batch, size in enumerate(sizes)
        for number in range(micro_batches)
        for begin, end in [(size * number // micro_batches, size * (number + 1) // micro_batches)]
        if begin < end
    ]


def samples_of(batch: Any, part: Part) -> Any:
    """The samples of a part of a batch."""
    if part.begin == 0 and part.end == len(batch[0]):
        return batch
    return tuple(x[part.begin : part.end] for x in batch)


def own_batches(sizes: Sequence[int], micro_batches: int, workers: Workers) -> set[int]:
    """The batches of a step that this worker has a part of."""
    parts = cut(sizes, micro_batches)
    return {parts[number].batch for number in share(len(parts), workers.size, workers.rank)}


def dealt(
    loader: Any, begin: int, accumulate: int, micro_batches: int, workers: Workers
) -> Iterator[Any]:
    """The batches of an epoch from number ``begin`` on.

    A loader that can tell the sizes of its batches reads only those that this worker has a part of.
    """
    # A subclass with a way of its own to give batches goes that way.
    if workers.size == 1 or getattr(type(loader), "__iter__", None) is not DataLoader.__iter__:
        return iter(loader)
    return iter(loader.dealt(_wanted(loader, begin, accumulate, micro_batches, workers)))


def _wanted(
    loader: Any, begin: int, accumulate: int, micro_batches: int, workers: Workers
) -> Callable[[int], bool]:
    def is_wanted(number: int) -> bool:
        place = (number - begin) % accumulate
        first = number - place
        group = range(first, min(first + accumulate, len(loader)))
        sizes = [loader.samples_in(each) for each in group]
        return place in own_batches(sizes, micro_batches, workers)

    return is_wanted
