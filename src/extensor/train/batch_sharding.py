"""Batches cut into micro-batches that workers share, and their outputs gathered on the first one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from extensor import random
from extensor.arrays.dtypes import as_dtype
from extensor.core.tensor import Tensor, wrap
from extensor.data.dataset import is_ours
from extensor.data.epoch_batches import ReadingChance
from extensor.data.loader import DataLoader
from extensor.distributed.consistency import check_alike, digest
from extensor.distributed.micro_batches import share
from extensor.distributed.workers import Workers
from extensor.errors import type_error, value_error
from extensor.nn.preservation import preserve_state
from extensor.random.global_generators import (
    preserve_global_generators,
    watch_global_generators,
    were_drawn_from,
)
from extensor.train.data_adapters import can_share_batches, check_batch, check_inputs
from extensor.train.evaluation import Measured, MetricsFor, in_evaluation
from extensor.train.loss_parts import MicroBatch, cut
from extensor.train.tasks import UncopiedError, is_watched, on_trial

if TYPE_CHECKING:
    from extensor.train.step_strategy import LocalStep

_OVER = object()
_COMPARED = 64  # batches of a user's loader between two comparisons


class BatchShard(NamedTuple):
    """A batch of ``size`` samples, of which ``parts`` holds those from number ``begin`` on."""

    size: int
    begin: int
    parts: tuple[Any, ...]


def as_shard(batch: Any) -> BatchShard:
    """A whole batch as a shard that has all of its samples."""
    return batch if isinstance(batch, BatchShard) else BatchShard(len(batch[0]), 0, batch)


def samples_here(batch: Any) -> Any:
    """The samples that this worker has: all of a batch, or those of its shard, perhaps none."""
    return batch.parts if isinstance(batch, BatchShard) else batch


def samples_of(batch: BatchShard, part: MicroBatch) -> Any:
    """The samples of a part of a batch."""
    if part.begin == 0 and part.end == batch.size:
        return batch.parts
    return tuple(x[part.begin - batch.begin : part.end - batch.begin] for x in batch.parts)


def gather_batch(batch: Any, workers: Workers) -> Any:
    """The whole of a batch that workers share, on every worker; all workers must call this.

    Where the shares do not fit together, as texts that were padded to other lengths, it is the largest.
    """
    if not isinstance(batch, BatchShard) or workers.size == 1:
        return samples_here(batch)
    own = [sendable_array(x) for x in batch.parts]
    shares: list[Any] = [
        x for x in map(unpack_arrays, workers.gather(pack_arrays(own), "first batch")) if x
    ]
    try:
        columns = [
            np.concatenate([np.asarray(x) for x in column]) for column in zip(*shares, strict=True)
        ]
    except ValueError:
        sizes = [len(first) for first, *_ in shares]
        return tuple(shares[int(np.argmax(sizes))])
    return tuple(map(wrap, columns))


class StepParts:
    """The micro-batches of a step over ``group``; this worker computes those in ``own``.

    Their number and sizes depend on the batches alone, never on the number of workers: that is what
    makes the results independent of it.
    """

    def __init__(self, group: Sequence[Any], micro_batches: int, workers: Workers) -> None:
        self._batches = [as_shard(batch) for batch in group]
        sizes = [batch.size for batch in self._batches]
        self._parts = cut(sizes, micro_batches)
        self.samples = sum(sizes)
        self.shares = [(end - begin) / self.samples for _, begin, end in self._parts]
        self.own = share(len(self._parts), workers.size, workers.rank)
        self.own_samples = sum(self._parts[x].end - self._parts[x].begin for x in self.own)

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, number: int) -> Any:
        """The samples of micro-batch ``number``, one of this worker's."""
        part = self._parts[number]
        return samples_of(self._batches[part.batch], part)


def own_samples(sizes: Sequence[int], micro_batches: int, workers: Workers) -> list[range]:
    """Of each batch of a step the samples that this worker takes, which are neighbours.

    >>> from extensor.distributed.workers import Workers
    >>> from extensor.train.batch_sharding import own_samples
    >>> own_samples([5, 4], 2, Workers(1, 4, 1.0))
    [range(2, 5), range(0, 0)]
    """
    own = [range(0)] * len(sizes)
    parts = cut(sizes, micro_batches)
    for number in share(len(parts), workers.size, workers.rank):
        batch, begin, end = parts[number]
        own[batch] = range(own[batch].start if own[batch] else begin, end)
    return own


def sharded_batches(
    loader: Any,
    begin: int,
    accumulate: int,
    micro_batches: int,
    workers: Workers,
    chance: ReadingChance | None = None,
) -> Iterator[Any]:
    """The batches of an epoch from number ``begin`` on.

    Of a DataLoader only the samples that this worker takes are read. ``chance`` seeds the global
    generators while code of users runs.
    """
    if not can_share_batches(loader):
        if chance is None or isinstance(loader, list | tuple):
            batches = iter(loader)
        else:
            batches = _seeded_batches(loader, begin, chance)
        return batches if workers.size == 1 else _compare_batches(batches, workers)
    if workers.size == 1:
        return iter(loader) if chance is None else loader.seeded(chance)
    return _own_shards(loader, begin, accumulate, micro_batches, workers, chance)


def _seeded_batches(loader: Any, begin: int, chance: ReadingChance) -> Iterator[Any]:
    """The batches of a loader of a user, which may draw from Python's and NumPy's generators."""
    with preserve_global_generators(chance.of_batch(0)):
        batches = iter(loader)
    for number in count(begin + 1):
        with preserve_global_generators(chance.of_batch(number)):
            batch = next(batches, _OVER)
        if batch is _OVER:
            return
        yield batch


def _compare_batches(batches: Iterator[Any], workers: Workers) -> Iterator[Any]:
    """All batches of a loader, which must give all workers the same.

    The first of an epoch is compared at once, all others with some that follow or at the end.
    """
    seen = ""
    for number, batch in enumerate(batches):
        columns = batch if isinstance(batch, tuple | list) else ()
        parts = [np.asarray(part) for part in columns if isinstance(part, Tensor | np.ndarray)]
        seen = digest(seen, *parts)
        if number == 0:
            check_alike(workers, {"first batch of an epoch": seen})
        elif number % _COMPARED == 0:
            check_alike(workers, {"batches of an epoch": seen})
        yield batch
    check_alike(workers, {"batches of an epoch": seen})


def _own_shards(
    loader: DataLoader,
    begin: int,
    accumulate: int,
    micro_batches: int,
    workers: Workers,
    chance: ReadingChance | None,
) -> Iterator[BatchShard]:
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
        yield BatchShard(loader.samples_in(number), own.start, batch)
        state = random.get_state()


@dataclass
class OutputGathering:
    """Outputs and targets of a step: told to the first worker, which uses them in their order."""

    workers: Workers
    use: Callable[[Any, Any], None]
    _own: list[Any] = field(default_factory=list)

    def put(self, output: Any, target: Any) -> None:
        """Take those of the next micro-batch of this worker."""
        if self.workers.is_first:  # whose micro-batches are the first
            self.use(output, target)
        else:
            self._own += [sendable_array(output), sendable_array(target)]

    def tell(self) -> None:
        """The step is over: let the first worker use what the others have."""
        for message in self.workers.to_first(pack_arrays(self._own), "outputs")[1:]:
            arrays = unpack_arrays(message)
            for output, target in zip(arrays[::2], arrays[1::2], strict=True):
                self.use(output, target)


def sendable_array(value: Any) -> Any:
    """``value`` as a contiguous array, which must be a tensor or an array."""
    if not isinstance(value, Tensor | np.ndarray):
        requirement = "metrics need one tensor as output and target to be brought together"
        raise type_error("Trainer", requirement, output=type(value).__name__)
    return np.ascontiguousarray(np.asarray(value))


def pack_arrays(arrays: Sequence[Any]) -> bytes:
    """The bytes of arrays after their dtypes and shapes in JSON; nothing is pickled."""
    head = json.dumps([[array.dtype.name, array.shape] for array in arrays]).encode()
    return b"".join([len(head).to_bytes(8, "little"), head, *(x.tobytes() for x in arrays)])


def unpack_arrays(data: bytes) -> list[Tensor]:
    """The arrays that :func:`pack_arrays` was given."""
    at = 8 + int.from_bytes(data[:8], "little")
    arrays = []
    for name, shape in json.loads(data[8:at]):
        dtype = as_dtype(name, "Trainer")
        count = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(data, dtype, count, at).reshape(shape).copy()  # may be written to
        at += array.nbytes
        arrays.append(wrap(array))
    return arrays


def can_share(take_step: LocalStep, loader: Any) -> bool:
    """Whether batches can be dealt out, which the first of them shows to all workers.

    A model must give the same whenever it is asked, so a copy of it is asked twice. What is not a tensor
    is not sent.
    """
    if not can_share_batches(loader) or len(loader) < 2 or not is_ours(loader.sampler):
        return False
    if is_watched(take_step.model):
        return False
    state = random.get_state()
    try:
        with preserve_state(), on_trial(take_step.model, take_step.loss):
            watch_global_generators()
            batch = loader.first()
            check_batch("evaluate", "loader", batch)
            check_inputs("evaluate", take_step.model, batch[:-1])
            before = _bits(take_step.model.buffers())
            with in_evaluation(take_step.model, take_step.ema):
                first, again = take_step.forward(batch), take_step.forward(batch)
            is_drawing = random.get_state() != state or were_drawn_from()
            is_unchanged = _bits(take_step.model.buffers()) == before
    except UncopiedError:
        return False
    is_same = isinstance(first[0], Tensor) and _bits(first) == _bits(again)
    return is_same and is_unchanged and not is_drawing


def _bits(tensors: Iterable[Any]) -> list[bytes]:
    return [np.asarray(tensor).tobytes() for tensor in tensors]


def evaluate_jointly(
    take_step: LocalStep, metrics_for: MetricsFor | None, loader: DataLoader, workers: Workers
) -> dict[str, Any]:
    """The values of :func:`evaluate_batches`, which only the first worker knows.

    Outputs are sent only if there are metrics.
    """
    state = random.get_state()
    measured = Measured(metrics_for or (lambda _: {}))
    own: list[Any] = []

    def wanted(number: int) -> range:
        is_own = number % workers.size == workers.rank
        return range(loader.samples_in(number) if is_own else 0)

    watch_global_generators()
    with in_evaluation(take_step.model, take_step.ema):
        for number, batch in loader.dealt(wanted):
            if wanted(number):
                output, loss = take_step.evaluate_batch(batch)
                own = [np.float64(float(loss)), np.int64(len(batch[0]))]
                own += [sendable_array(output), sendable_array(batch[-1])] if metrics_for else []
            if number % workers.size == workers.size - 1 or number == len(loader) - 1:
                every = workers.to_first(pack_arrays(own), "validation")
                workers.broadcast(b"", "validation")  # so that nobody waits for more than a round
                for message in every:
                    # Nothing, or the loss and the size of a batch, with its output or without.
                    if arrays := unpack_arrays(message):
                        loss_value, samples, *rest = arrays
                        measured.add(loss_value.item(), samples.item(), *(rest or (None, None)))
                own = []
    if random.get_state() != state or were_drawn_from():
        requirement = "models and data that draw in evaluation must do so for every batch"
        raise value_error("evaluate", requirement, workers=workers.size)
    return measured.values() if workers.is_first else {}
