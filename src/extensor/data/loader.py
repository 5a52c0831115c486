"""The loader: a data set in batches, in an order that can be repeated and resumed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any

import numpy as np

from extensor.core import entries
from extensor.core.tensor import Tensor, to_array, wrap
from extensor.data.dataset import BatchDataset, Dataset
from extensor.data.sample_noise import ReadingChance, check_threads
from extensor.data.samplers import (
    RandomSampler,
    Sampler,
    SequentialSampler,
    is_ours,
    is_sampler,
    order_of,
)
from extensor.errors import arguments, type_error, value_error
from extensor.errors.explanation import explaining
from extensor.random import randint
from extensor.random.generator import Generator, default_generator
from extensor.random.global_generators import (
    preserve_global_generators,
    reseed_global_generators,
)
from extensor.random.philox import LIMIT

Batch = tuple[Any, ...]
Transform = Callable[[Batch, Generator], Batch]
_STATE = ("seed", "counter", "position")
_TOGETHER = 1024  # samples that are read at once where they lie in many places
_ORDER = "order"  # of a sampler whose order depends on more than chance


class DataLoader:
    """Iterating gives one epoch: tuples of tensors, ``batch_size`` samples in each.

    An :class:`ArrayDataset` is cut by whole batches, and so is a :class:`ShardedDataset`, which
    ``shuffle`` shuffles by blocks. The samples of other data sets are read one by one. With
    ``workers`` that many threads read, at most ``workers * prefetch`` batches ahead. ``transform`` is
    a function of a batch of arrays and a generator, or a list of such functions.

    Order and transforms depend only on ``generator``, not on threads; without one the loader draws a
    seed of its own. The state may be saved at any batch, and iteration goes on from there.

    >>> from extensor.data import ArrayDataset, DataLoader
    >>> loader = DataLoader(ArrayDataset([10, 20, 30, 40, 50]), batch_size=2)
    >>> [batch for batch, in loader]
    [tensor([10, 20]), tensor([30, 40]), tensor([50])]
    """

    @explaining
    def __init__(
        self,
        dataset: Dataset | BatchDataset,
        batch_size: int = 1,
        shuffle: bool = False,
        sampler: Sampler | None = None,
        drop_last: bool = False,
        transform: Transform | Sequence[Transform] = (),
        workers: int = 0,
        prefetch: int = 2,
        generator: Generator | None = None,
    ) -> None:
        op = "DataLoader"
        _check_dataset(dataset)
        batch_size = arguments.integer(op, "batch_size", batch_size, 1)
        workers = arguments.integer(op, "workers", workers, 0)
        prefetch = arguments.integer(op, "prefetch", prefetch, 1)
        shuffle = arguments.flag(op, "shuffle", shuffle)
        drop_last = arguments.flag(op, "drop_last", drop_last)
        if generator is not None:
            arguments.instance(op, "generator", generator, Generator, "a Generator")
        if sampler is not None and not is_sampler(sampler):
            requirement = "sampler must have a length and an order, as RandomSampler(size)"
            raise type_error(op, requirement, sampler=arguments.briefly(sampler))
        if sampler is not None and shuffle:
            raise value_error("DataLoader", "sampler and shuffle exclude each other", shuffle=True)
        if sampler is None:
            sampler = _shuffling(dataset) if shuffle else SequentialSampler(len(dataset))
        self.dataset = dataset
        self.batch_size = batch_size
        self.sampler = sampler
        self.drop_last = drop_last
        self.transforms = _functions(transform)
        self.workers = workers
        self.prefetch = prefetch
        if generator is None:
            # One that leaves nothing to chance must not change what others draw.
            chance = self.transforms or not isinstance(sampler, SequentialSampler)
            generator = default_generator.split(1)[0] if chance else Generator(0)
        self.generator = generator
        self._epoch_state = self.generator.get_state()
        self._position = 0
        self._resume_at = 0
        self._is_quiet = False  # whether its threads are known not to draw

    def __len__(self) -> int:
        """The number of batches of an epoch."""
        samples = len(self.sampler)
        return samples // self.batch_size if self.drop_last else -(-samples // self.batch_size)

    def __repr__(self) -> str:
        name = f"{type(self.dataset).__name__} of {len(self.dataset)} samples"
        order = "" if type(self.sampler) is SequentialSampler else f", {self.sampler!r}"
        order = ", shuffle" if order == f", {RandomSampler(len(self.dataset))!r}" else order
        transforms = f", transform={[*self.transforms]}" if self.transforms else ""
        return (
            f"{type(self).__name__}({repr(self.dataset) if is_ours(self.dataset) else name}, "
            f"batch_size={self.batch_size}{order}{transforms}, {len(self)} batches)"
        )

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        return self._epoch(_Batches)

    def seeded(self, chance: ReadingChance) -> Iterator[tuple[Tensor, ...]]:
        """An epoch in which ``chance`` seeds Python's and NumPy's global generators for each sample."""
        return self._epoch(partial(_Batches, chance=chance))

    def dealt(
        self,
        wanted: Callable[[int], range],
        check: Callable[[Any], None] = lambda order: None,
        chance: ReadingChance | None = None,
    ) -> Iterator[tuple[int, tuple[Tensor, ...]]]:
        """An epoch of batches by their numbers, each with those samples only that ``wanted`` says.

        Samples that nobody wants are not read; a batch without any is empty. Transforms see a batch as
        a whole, so with them it is read as a whole, and if all of it is wanted they may change how many
        samples it has. Order and chance are those of any epoch; ``check`` is called with the order.
        ``chance`` is as in :meth:`seeded`.
        """
        begin = self._resume_at
        return enumerate(self._epoch(partial(_Parts, wanted, check, chance=chance)), begin)

    def samples_in(self, number: int) -> int:
        """How many samples batch ``number`` of an epoch has."""
        return min(self.batch_size, len(self.sampler) - number * self.batch_size)

    def _epoch(self, made: Callable[[DataLoader], _Batches]) -> Iterator[tuple[Tensor, ...]]:
        self._epoch_state = self.generator.get_state()
        self._position, self._resume_at = self._resume_at, 0
        batches = made(self)
        numbers = range(self._position, len(self))
        if self.workers and batches.chance is not None:
            batches.chance = None
            self._check_threads(partial(batches, numbers.start) if numbers else self.first)
        for batch in (self._ahead if self.workers else _in_turn)(batches, numbers):
            # A batch counts as done when it is given: its user saves the state after using it.
            self._position += 1
            yield tuple([wrap(x) for x in batch])
        self._epoch_state = self.generator.get_state()
        self._position = 0

    def first(self) -> tuple[Tensor, ...]:
        """The batch that the next iteration begins with, and begins with none the less."""
        state = self.generator.get_state()
        try:
            batch = _Batches(self)(self._resume_at if self._resume_at < len(self) else 0)
        finally:
            self.generator.set_state(state)
        return tuple([wrap(x) for x in batch])

    def check_threads(self) -> None:
        """Refuse data that draw from Python's or NumPy's global generators in several threads.

        The first batch shows it, which is read for that.
        """
        if self.workers and _has_own_code(self) and len(self):
            self._check_threads(self.first)

    def _check_threads(self, read: Callable[[], Any]) -> None:
        if not self._is_quiet:
            check_threads(read)
            self._is_quiet = True

    def _ahead(self, batches: _Batches, numbers: range) -> Iterator[Batch]:
        """The batches in their order, computed by threads before they are asked for."""
        waiting: deque[Future[list[Batch]]] = deque()
        pool = ThreadPoolExecutor(self.workers, "extensor-loader")
        count = min(batches.together, self.prefetch)
        try:
            for begin in range(numbers.start, numbers.stop, count):
                some = range(begin, min(begin + count, numbers.stop))
                waiting.append(pool.submit(batches.several, some))
                if batches.read_ahead is not None:
                    for number in some:
                        pool.submit(batches.prepare, number)
                if len(waiting) * count > self.workers * self.prefetch:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    @property
    def _order(self) -> str | None:
        """What the order depends on besides chance, where the sampler says it."""
        return getattr(self.sampler, "fingerprint", None)

    def state_dict(self) -> dict[str, Any]:
        """Where the iteration is: the generator at the beginning of the epoch, and batches given."""
        state: dict[str, Any] = dict(zip(_STATE, (*self._epoch_state, self._position), strict=True))
        return state if self._order is None else {**state, _ORDER: self._order}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Let the next iteration go on where :meth:`state_dict` was called."""
        op = "DataLoader.load_state_dict"
        seed, counter, position = checked_state(op, state_dict)
        order = state_dict.get(_ORDER, self._order)
        if order != self._order:
            requirement = "the state must be of the same shards, with the same block and window"
            raise value_error(op, f"{requirement} (memory decides on the window)", order=order)
        if position > len(self):
            requirement = f"position must be in [0, {len(self)}], the batches of this loader"
            raise value_error(op, requirement, position=position)
        self.generator.set_state((seed, counter))
        self._epoch_state = (seed, counter)
        self._position = self._resume_at = position


def _check_dataset(dataset: Any) -> None:
    has_items = hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")
    if not has_items or isinstance(dataset, type | str | bytes | Mapping):
        given = arguments.briefly(dataset)
        raise type_error("DataLoader", "dataset must have a length and items", dataset=given)
    if hasattr(dataset, "columns") and hasattr(dataset, "to_numpy"):
        requirement = "dataset must have its samples as items (ArrayDataset(table.to_numpy(), y))"
        raise type_error("DataLoader", requirement, dataset=type(dataset).__name__)
    if getattr(dataset, "shape", None) == ():
        raise type_error("DataLoader", "dataset must have a length and items", dataset="0-d array")


def _shuffling(dataset: Any) -> Sampler:
    """The sampler of a data set that has one of its own, such as one by blocks, or any order."""
    own = getattr(dataset, "shuffling", None)
    return own() if callable(own) else RandomSampler(len(dataset))


def _functions(transform: Any) -> tuple[Transform, ...]:
    """The transforms, one or several."""
    is_one = callable(transform) or not isinstance(transform, Sequence)
    several = (transform,) if is_one else tuple(transform)
    for one in several:
        if not callable(one) or isinstance(one, type):
            requirement = (
                "transform must be a function of a batch and a generator, or a list of such"
            )
            raise type_error("DataLoader", requirement, transform=arguments.briefly(one))
        arguments.takes("DataLoader", "transform", one, "batch", "generator")
    return several


def checked_state(op: str, state_dict: Any) -> tuple[int, int, int]:
    """Seed, counter and position in the state of a loader, whichever it is."""
    has_order = isinstance(state_dict, Mapping) and _ORDER in state_dict
    given = entries.with_keys(op, state_dict, (*_STATE, _ORDER) if has_order else _STATE)
    for name in _STATE[:2]:
        word = given[name]
        if not entries.is_integer(word) or not 0 <= word < LIMIT:
            raise value_error(op, f"{name} must be an integer from 0 to 2**64 - 1", **{name: word})
    position = entries.count(op, "position", given["position"])
    return int(given["seed"]), int(given["counter"]), position


def _has_own_code(loader: DataLoader) -> bool:
    """Whether code of users reads or changes samples, which may draw from any generator."""
    return not all(map(is_ours, (loader.dataset, *loader.transforms)))


class _Batches:
    """The batches of one epoch by their number, in any order and from any thread."""

    def __init__(self, loader: DataLoader, chance: ReadingChance | None = None) -> None:
        self.chance = chance if _has_own_code(loader) else None
        self.dataset: Any = loader.dataset
        # Asked only once in an epoch: to check a protocol takes Python as long as a batch.
        self.at_once = isinstance(self.dataset, BatchDataset)
        self.batch_size = loader.batch_size
        self.transforms = loader.transforms
        self.in_order = isinstance(loader.sampler, SequentialSampler)
        self.size = len(self.dataset)
        is_seeded = chance is not None and not is_ours(loader.sampler)
        seed = chance.of_batch(0) if chance is not None and is_seeded else None
        with nullcontext() if seed is None else preserve_global_generators(seed):
            self.indices = order_of(loader.sampler, loader.generator)
        self.is_lazy = not isinstance(self.indices, np.ndarray)
        if not self.is_lazy:
            self._check(self.indices)
        elif self.in_order:
            self._check(self.indices[-1:])
        has_plan = hasattr(self.indices, "ahead")
        self.read_ahead = getattr(self.dataset, "read_ahead", None) if has_plan else None
        self.seeds = _Seeds(loader.generator, len(loader)) if self.transforms else None

    def _check(self, indices: Any) -> None:
        if indices.size and not (indices.min() >= 0 and indices.max() < self.size):
            worst = indices.max() if indices.min() >= 0 else indices.min()
            requirement = f"indices must be in [0, {self.size - 1}]"
            raise value_error("DataLoader", requirement, index=int(worst))

    @property
    def together(self) -> int:
        """How many batches are read at once: from many places, several cost little more than one."""
        is_spread = self.read_ahead is not None and self.at_once and not self.in_order
        return max(1, _TOGETHER // self.batch_size) if is_spread else 1

    def several(self, numbers: range) -> list[Batch]:
        """The batches of these numbers, neighbours all."""
        if len(numbers) == 1:
            return [self(numbers[0])]
        parts = [self._part(number) for number in numbers]
        read = self._read(slice(parts[0].start, parts[-1].stop))
        first = parts[0].start
        return [
            self._changed(number, tuple([x[part.start - first : part.stop - first] for x in read]))
            for number, part in zip(numbers, parts, strict=True)
        ]

    def __call__(self, number: int) -> Batch:
        part = self._part(number)
        if self.chance is None:
            return self._changed(number, self._read(part))
        one = None if self.at_once else self._read_one
        with preserve_global_generators(0):
            places = range(part.start, part.stop)
            batch = self.chance.read(places, lambda: self._read(part), one)
            batch = _stacked(batch) if isinstance(batch, list) else batch
            reseed_global_generators(self.chance.of_batch(number + 1))
            return self._changed(number, batch)

    def _read_one(self, place: int) -> Any:
        return self.dataset[int(self.indices[place : place + 1][0])]

    def _read(self, part: slice) -> Batch:
        if self.at_once and self.in_order:
            return self.dataset.batch(part)  # type: ignore[no-any-return]
        indices = self.indices[part]
        if self.is_lazy:
            self._check(indices)
        if self.at_once:
            return self.dataset.batch(indices)  # type: ignore[no-any-return]
        return _stacked([self.dataset[i] for i in indices.tolist()])

    def _changed(self, number: int, batch: Batch) -> Batch:
        """What the transforms make of a batch."""
        if self.seeds is not None:
            generator = Generator(self.seeds[number])
            for transform in self.transforms:
                batch = _checked_batch(transform(batch, generator))
        return batch

    def _part(self, number: int) -> slice:
        begin = number * self.batch_size
        return slice(begin, min(begin + self.batch_size, len(self.indices)))

    def prepare(self, number: int) -> None:
        """Let the data set read what comes some time after a batch, if it can."""
        if self.read_ahead is not None:
            part = self._part(number)
            # What cannot be read is told when it is needed.
            with suppress(OSError, ValueError):
                self.read_ahead(self.indices.ahead(part.start, part.stop))


class _Parts(_Batches):
    """Of each batch the samples that are wanted."""

    together = 1

    def __init__(
        self,
        wanted: Callable[[int], range],
        check: Callable[[Any], None],
        loader: DataLoader,
        chance: ReadingChance | None = None,
    ) -> None:
        super().__init__(loader, chance)
        self.wanted = wanted
        check(self.indices)

    def __call__(self, number: int) -> Batch:
        wanted = self.wanted(number)
        if not wanted:
            return ()
        batch = super().__call__(number)
        whole = super()._part(number)
        samples = whole.stop - whole.start
        if not self.transforms or len(wanted) == samples:
            return batch
        if len(batch[0]) != samples:
            requirement = "a transform must keep the number of samples if workers share a batch"
            raise value_error("DataLoader", requirement, before=samples, after=len(batch[0]))
        return tuple(part[wanted.start : wanted.stop] for part in batch)

    def _part(self, number: int) -> slice:
        whole = super()._part(number)
        if self.transforms:
            return whole
        wanted = self.wanted(number)
        return slice(whole.start + wanted.start, whole.start + wanted.stop)


def _in_turn(batches: _Batches, numbers: range) -> Iterator[Batch]:
    """The batches in their order, each when it is asked for."""
    for number in numbers:
        batch = batches(number)
        batches.prepare(number)
        yield batch


class _Seeds:
    """One seed for each batch, so that no batch's chance depends on another's."""

    def __init__(self, generator: Generator, batches: int) -> None:
        # A block makes two of them. They are those that one draw would give, of which an epoch
        # could need too many to keep.
        self.seed, self.first = generator._take(-(-batches // 2))

    def __getitem__(self, number: int) -> int:
        block, place = divmod(number, 2)
        generator = Generator(self.seed)
        generator.set_state((self.seed, (self.first + block) % LIMIT))
        return int(randint(0, 2**64, 2, "uint64", generator).numpy()[place])


def _checked_batch(batch: Any) -> Batch:
    if not isinstance(batch, tuple | list):
        requirement = "a transform must give a batch, a tuple of arrays"
        raise type_error("DataLoader", requirement, batch=arguments.briefly(batch))
    return tuple(batch)


def _stacked(samples: list[Any]) -> Batch:
    """The parts of all samples, each as one array."""
    rows = [sample if isinstance(sample, tuple | list) else (sample,) for sample in samples]
    if len({len(row) for row in rows}) > 1:
        raise value_error(
            "DataLoader", "samples must have the same number of parts", parts=len(rows[0])
        )
    return tuple(_stacked_part(list(part)) for part in zip(*rows, strict=True))


def _stacked_part(part: list[Any]) -> Any:
    arrays = [to_array(x, op="DataLoader") for x in part]
    shapes = {x.shape for x in arrays}
    if len(shapes) > 1:
        raise value_error(
            "DataLoader", "samples of a batch must have the same shape", shapes=sorted(shapes)
        )
    return np.stack(arrays)
