"""Batches cut into micro-batches, which are dealt out to workers by their place in a step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from extensor import random
from extensor.core.tensor import Tensor
from extensor.data.loader import DataLoader
from extensor.data.samplers import is_ours
from extensor.distributed.agreement import check_alike, digest
from extensor.distributed.tree import share
from extensor.distributed.workers import Workers
from extensor.errors import value_error


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


class Dealt(NamedTuple):
    """A batch of ``size`` samples, of which ``parts`` holds those from number ``begin`` on."""

    size: int
    begin: int
    parts: tuple[Any, ...]


def as_dealt(batch: Any) -> Dealt:
    """A batch that is whole, if it is not dealt out already."""
    return batch if isinstance(batch, Dealt) else Dealt(len(batch[0]), 0, batch)


def samples_here(batch: Any) -> Any:
    """What of a batch this worker has: all, or what was dealt out to it, which may be nothing."""
    return batch.parts if isinstance(batch, Dealt) else batch


def samples_of(batch: Dealt, part: Part) -> Any:
    """The samples of a part of a batch."""
    if part.begin == 0 and part.end == batch.size:
        return batch.parts
    return tuple(x[part.begin - batch.begin : part.end - batch.begin] for x in batch.parts)


def own_samples(sizes: Sequence[int], micro_batches: int, workers: Workers) -> list[range]:
    """Of each batch of a step the samples that this worker takes, which are neighbours.

    >>> from extensor.distributed.workers import Workers
    >>> from extensor.train.dealing import own_samples
    >>> own_samples([5, 4], 2, Workers(1, 4, 1.0))
    [range(2, 5), range(0, 0)]
    """
    found = [range(0)] * len(sizes)
    parts = cut(sizes, micro_batches)
    for number in share(len(parts), workers.size, workers.rank):
        batch, begin, end = parts[number]
        found[batch] = range(found[batch].start if found[batch] else begin, end)
    return found


def dealt(
    loader: Any, begin: int, accumulate: int, micro_batches: int, workers: Workers
) -> Iterator[Any]:
    """The batches of an epoch from number ``begin`` on.

    Of a loader that can deal out its batches only the samples that this worker takes are read.
    """
    if workers.size == 1:
        return iter(loader)
    if not deals(loader):
        return _alike(loader, workers)
    return _own_parts(loader, begin, accumulate, micro_batches, workers)


def deals(loader: Any) -> bool:
    """True for a DataLoader; a subclass with a way of its own to give batches goes that way."""
    return getattr(type(loader), "__iter__", None) is DataLoader.__iter__


def _alike(loader: Any, workers: Workers) -> Iterator[Any]:
    """All batches of a loader, which must give all workers the same: of each epoch the first is compared."""
    for number, batch in enumerate(loader):
        if number == 0:
            given = batch if isinstance(batch, tuple | list) else ()
            parts = [np.asarray(part) for part in given if isinstance(part, Tensor | np.ndarray)]
            check_alike(workers, {"first batch of an epoch": digest(*parts)})
        yield batch


def _own_parts(
    loader: DataLoader, begin: int, accumulate: int, micro_batches: int, workers: Workers
) -> Iterator[Dealt]:
    def wanted(number: int) -> range:
        place = (number - begin) % accumulate
        first = number - place
        group = range(first, min(first + accumulate, len(loader)))
        sizes = [loader.samples_in(each) for each in group]
        return own_samples(sizes, micro_batches, workers)[place]

    state = random.get_state()

    def check(order: Any) -> None:
        nonlocal state
        if not is_ours(loader.sampler):
            check_alike(workers, {"order of samples": digest(np.asarray(order[:]))})
        state = random.get_state()

    for number, batch in loader.dealt(wanted, check):
        if random.get_state() != state and not loader.workers:
            requirement = (
                "data must not draw from the default generator on several workers, which each read "
                "some samples only (a transform of the loader is given a generator)"
            )
            raise value_error("fit", requirement, workers=workers.size)
        own = wanted(number)
        if own and len(batch[0]) != len(own):
            requirement = "a transform must keep the number of samples on several workers"
            raise value_error("fit", requirement, before=len(own), after=len(batch[0]))
        yield Dealt(loader.samples_in(number), own.start, batch)
        state = random.get_state()
