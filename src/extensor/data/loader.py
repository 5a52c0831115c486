"""The loader: a data set in batches, in an order that can be repeated and resumed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from extensor.core import entries
from extensor.core.tensor import Tensor, wrap
from extensor.data.dataset import (
    BatchDataset,
    Dataset,
    RandomSampler,
    Sampler,
    SequentialSampler,
    check_sampler,
    is_ours,
)
from extensor.data.epoch_batches import (
    Batch,
    EpochBatches,
    PartialBatches,
    ReadingChance,
    check_threads,
    has_own_code,
)
from extensor.errors import arguments, type_error, value_error
from extensor.errors.explanation import explaining
from extensor.random.generator import Generator, default_generator
from extensor.random.philox import LIMIT

Transform = Callable[[Batch, Generator], Batch]
_STATE = ("seed", "counter", "position")
_ORDER = "order"  # of a sampler whose order depends on more than chance


class DataLoader:
    """Batches of a data set; iterating gives the tuples of tensors of one epoch.

    Order and transforms depend only on ``generator``, never on the number of threads. The state may be
    saved after any batch, and iteration can resume there.

    Parameters
    ----------
    dataset : Dataset or BatchDataset
        The samples. A data set with a ``batch`` method is read by whole batches, others one sample at a
        time.
    batch_size : int, default 1
        Number of samples in a batch. The last batch may have fewer.
    shuffle : bool, default False
        Whether the samples come in a new random order in each epoch. A `ShardedDataset` is shuffled by
        blocks.
    sampler : Sampler, optional
        Order of the samples. It excludes ``shuffle``. Default: the order of the data set.
    drop_last : bool, default False
        Whether to leave out the last batch if it is smaller than the others.
    transform : callable or sequence of callables, default ()
        Functions ``transform(batch, generator)`` of a tuple of arrays that return a tuple of arrays,
        such as `Normalize`. They are called in their order.
    workers : int, default 0
        Number of threads that read ahead. With 0, batches are read when they are needed.
    prefetch : int, default 2
        Number of batches that each thread may be ahead, 1 or more.
    generator : Generator, optional
        Source of all randomness. Default: one that is split off the default generator of
        `extensor.random`, if the loader draws at all.

    Raises
    ------
    TypeError
        If ``dataset`` has no length or no items, or if ``transform`` cannot be called with a batch and a
        generator.
    ValueError
        If both ``sampler`` and ``shuffle`` are given.

    Examples
    --------
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
        if sampler is not None:
            check_sampler(op, sampler)
            if shuffle:
                raise value_error(op, "sampler and shuffle exclude each other", shuffle=True)
        else:
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
        return self._epoch(EpochBatches)

    def seeded(self, chance: ReadingChance) -> Iterator[tuple[Tensor, ...]]:
        """Iterate over an epoch with Python's and NumPy's global generators seeded for each sample.

        Parameters
        ----------
        chance : ReadingChance
            The seeds of the samples and batches of the epoch.

        Returns
        -------
        iterator of tuple of Tensor
            The batches.
        """
        return self._epoch(partial(EpochBatches, chance=chance))

    def dealt(
        self,
        wanted: Callable[[int], range],
        check: Callable[[Any], None] = lambda _order: None,
        chance: ReadingChance | None = None,
    ) -> Iterator[tuple[int, tuple[Tensor, ...]]]:
        """Iterate over an epoch, reading only a part of each batch.

        Samples outside of that part are not read, and a batch may be empty. Transforms see whole batches:
        with transforms, each batch is read as a whole and then cut. Order and randomness are those of any
        epoch.

        Parameters
        ----------
        wanted : callable
            ``wanted(number)`` is the range of places in batch ``number`` that is read.
        check : callable, optional
            Called once with the order of the epoch.
        chance : ReadingChance, optional
            As in `seeded`.

        Returns
        -------
        iterator of (int, tuple of Tensor)
            The number of each batch, and its part.
        """
        begin = self._resume_at
        return enumerate(self._epoch(partial(PartialBatches, wanted, check, chance=chance)), begin)

    def samples_in(self, number: int) -> int:
        """Return the number of samples in a batch.

        Parameters
        ----------
        number : int
            The number of the batch in the epoch, from 0.

        Returns
        -------
        int
            The number; the last batch may have fewer samples than the others.
        """
        return min(self.batch_size, len(self.sampler) - number * self.batch_size)

    def _epoch(self, made: Callable[[DataLoader], EpochBatches]) -> Iterator[tuple[Tensor, ...]]:
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
        """Return the batch with which the next iteration begins, without advancing.

        Returns
        -------
        tuple of Tensor
            The batch.
        """
        state = self.generator.get_state()
        try:
            batch = EpochBatches(self)(self._resume_at if self._resume_at < len(self) else 0)
        finally:
            self.generator.set_state(state)
        return tuple([wrap(x) for x in batch])

    def check_threads(self) -> None:
        """Raise an error if several threads would draw from Python's or NumPy's global generators.

        The check reads the first batch.

        Raises
        ------
        ValueError
            If the data set or a transform draws from a global generator and ``workers`` is not 0.
        """
        if self.workers and has_own_code(self) and len(self):
            self._check_threads(self.first)

    def _check_threads(self, read: Callable[[], Any]) -> None:
        if not self._is_quiet:
            check_threads(read)
            self._is_quiet = True

    def _ahead(self, batches: EpochBatches, numbers: range) -> Iterator[Batch]:
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
        """The fingerprint of an order that depends on more than chance."""
        return getattr(self.sampler, "fingerprint", None)

    def state_dict(self) -> dict[str, Any]:
        """Return the position: the generator at the start of the epoch, and the number of batches given.

        Returns
        -------
        dict
            Plain values for `load_state_dict`.
        """
        state: dict[str, Any] = dict(zip(_STATE, (*self._epoch_state, self._position), strict=True))
        return state if self._order is None else {**state, _ORDER: self._order}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Resume the next iteration where `state_dict` was called.

        Parameters
        ----------
        state_dict : dict
            A result of `state_dict`.

        Raises
        ------
        ValueError
            If the state is not that of a loader of the same length and order.
        """
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


def _in_turn(batches: EpochBatches, numbers: range) -> Iterator[Batch]:
    """The batches in their order, each when it is asked for."""
    for number in numbers:
        batch = batches(number)
        batches.prepare(number)
        yield batch
