"""Batches cut into micro-batches, which are dealt out to workers by their place in a step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from extensor import random
from extensor.core.tensor import Tensor, wrap
from extensor.data.loader import DataLoader
from extensor.data.sample_noise import ReadingChance
from extensor.data.samplers import is_ours
from extensor.distributed.agreement import check_alike, digest
from extensor.distributed.tree import share
from extensor.distributed.workers import Workers
from extensor.errors import value_error
from extensor.random.global_generators import preserve_global_generators
from extensor.train.outputs import as_array, packed, unpacked

_OVER = object()
_COMPARED = 64  # batches of a user's loader between two comparisons


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


def gathered(batch: Any, workers: Workers) -> Any:
    """The whole of a batch that is dealt out, on every worker; all workers must ask for it.

    Where the shares do not fit together, as texts that were padded to other lengths, it is the largest.
    """
    if not isinstance(batch, Dealt) or workers.size == 1:
        return samples_here(batch)
    own = [as_array(x) for x in batch.parts]
    shares: list[Any] = [x for x in map(unpacked, workers.gather(packed(own), "first batch")) if x]
    try:
        columns = [
            np.concatenate([np.asarray(x) for x in column]) for column in zip(*shares, strict=True)
        ]
    except ValueError:
        sizes = [len(first) for first, *_ in shares]
        return tuple(shares[int(np.argmax(sizes))])
    return tuple(map(wrap, columns))


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
    loader: Any,
    begin: int,
    accumulate: int,
    micro_batches: int,
    workers: Workers,
    chance: ReadingChance | None = None,
) -> Iterator[Any]:
    """The batches of an epoch from number ``begin`` on.

    Of a loader that can deal out its batches only the samples that this worker takes are read.
    ``chance`` seeds what code of users draws meanwhile.
    """
    if not deals(loader):
        if chance is None or isinstance(loader, list | tuple):
            batches = iter(loader)
        else:
            batches = _seeded(loader, begin, chance)
        return batches if workers.size == 1 else _alike(batches, workers)
    if workers.size == 1:
        return iter(loader) if chance is None else loader.seeded(chance)
    return _own_parts(loader, begin, accumulate, micro_batches, workers, chance)


def deals(loader: Any) -> bool:
    """True for a DataLoader; a subclass with a way of its own to give batches goes that way."""
    return getattr(type(loader), "__iter__", None) is DataLoader.__iter__


def _seeded(loader: Any, begin: int, chance: ReadingChance) -> Iterator[Any]:
    """The batches of a loader of a user, which may draw from Python's and NumPy's generators."""
    with preserve_global_generators(chance.of_batch(0)):
        batches = iter(loader)
    for number in count(begin + 1):
        with preserve_global_generators(chance.of_batch(number)):
            batch = next(batches, _OVER)
        if batch is _OVER:
            return
        yield batch


def _alike(batches: Iterator[Any], workers: Workers) -> Iterator[Any]:
    """All batches of a loader, which must give all workers the same.

    The first of an epoch is compared at once, all others with some that follow or at the end.
    """
    seen = ""
    for number, batch in enumerate(batches):
        given = batch if isinstance(batch, tuple | list) else ()
        parts = [np.asarray(part) for part in given if isinstance(part, Tensor | np.ndarray)]
        seen = digest(seen, *parts)
        if number == 0:
            check_alike(workers, {"first batch of an epoch": seen})
        elif number % _COMPARED == 0:
            check_alike(workers, {"batches of an epoch": seen})
        yield batch
    check_alike(workers, {"batches of an epoch": seen})


def _own_parts(
    loader: DataLoader,
    begin: int,
    accumulate: int,
    micro_batches: int,
    workers: Workers,
    chance: ReadingChance | None,
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

    for number, batch in loader.dealt(wanted, check, chance):
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
