"""The batches of an epoch: read, stacked and transformed, with seeds that depend on nothing else.

Data sets of users may draw from the global generators of Python and NumPy. Each sample has its own seeds,
so it is the same whoever reads it, and whatever was read before. Seeding takes longer than reading a
sample from memory; so a batch is first read without, and again if anybody has drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from extensor.arrays.dtypes import int64, supported
from extensor.core.tensor import to_array
from extensor.data.dataset import BatchDataset, SequentialSampler, is_ours, order_of
from extensor.errors import arguments, type_error, value_error
from extensor.random import randint
from extensor.random.generator import Generator
from extensor.random.global_generators import (
    preserve_global_generators,
    reseed_global_generators,
    watch_global_generators,
    were_drawn_from,
)
from extensor.random.philox import LIMIT
from extensor.random.seeds import BATCHES, SAMPLES, derived_seeds

if TYPE_CHECKING:
    from extensor.data.loader import DataLoader

Batch = tuple[Any, ...]
_TOGETHER = 1024  # samples that are read at once where they lie in many places


class ReadingChance:
    """The seeds of the samples and batches of an epoch; ``seed`` is that of the run."""

    def __init__(self, seed: int, epoch: int) -> None:
        self.seed = seed
        self.epoch = epoch
        self._is_drawn_from = False

    def of_batch(self, number: int) -> int:
        """The seed of what is done with a whole batch; that of its order is number 0."""
        return derived_seeds(self.seed, BATCHES, self.epoch, range(number, number + 1))[0]

    def read(self, part: range, read: Callable[[], Any], one: Callable[[int], Any] | None) -> Any:
        """The samples in these places of the epoch, by ``read`` at once or by ``one`` for each.

        Without ``one`` the samples cannot be read one by one. The global generators must be preserved.
        """
        if not self._is_drawn_from:
            watch_global_generators()
            batch = read()
            if not were_drawn_from():
                return batch
            self._is_drawn_from = True
        if one is None:
            requirement = (
                "a data set that reads whole batches must not draw from the global generators of "
                "Python or NumPy with micro_batches (draw in __getitem__ alone, or in a transform "
                "of the loader, which is given a generator)"
            )
            raise value_error("DataLoader", requirement)
        samples = []
        seeds = derived_seeds(self.seed, SAMPLES, self.epoch, part)
        for place, seed in zip(part, seeds, strict=True):
            reseed_global_generators(seed)
            samples.append(one(place))
        return samples


def check_threads(read: Callable[[], Any]) -> None:
    """Refuse to let threads read what draws from the global generators, which they would share."""
    with preserve_global_generators(0):
        watch_global_generators()
        read()
        if were_drawn_from():
            requirement = (
                "data that draw from the global generators of Python or NumPy must be read without "
                "threads with micro_batches (workers=0, or draw in a transform of the loader, which "
                "is given a generator)"
            )
            raise value_error("DataLoader", requirement)


def has_own_code(loader: DataLoader) -> bool:
    """Whether code of users reads or changes samples, which may draw from any generator."""
    return not all(map(is_ours, (loader.dataset, *loader.transforms)))


class EpochBatches:
    """The batches of one epoch by their number, in any order and from any thread."""

    def __init__(self, loader: DataLoader, chance: ReadingChance | None = None) -> None:
        self.chance = chance if has_own_code(loader) else None
        self.dataset: Any = loader.dataset
        # Asked only once in an epoch: to check a protocol takes Python as long as a batch.
        self.at_once = isinstance(self.dataset, BatchDataset)
        self.batch_size = loader.batch_size
        self.transforms = loader.transforms
        self.in_order = isinstance(loader.sampler, SequentialSampler)
        self.size = len(self.dataset)
        seed = None if chance is None or is_ours(loader.sampler) else chance.of_batch(0)
        with nullcontext() if seed is None else preserve_global_generators(seed):
            self.indices = order_of(loader.sampler, loader.generator)
        self.is_lazy = not isinstance(self.indices, np.ndarray)
        if not self.is_lazy:
            self._check(self.indices)
        elif self.in_order:
            self._check(self.indices[-1:])
        has_plan = hasattr(self.indices, "ahead")
        self.read_ahead = getattr(self.dataset, "read_ahead", None) if has_plan else None
        # A block of random numbers makes two seeds, of which an epoch could need too many to keep.
        blocks = -(-len(loader) // 2) if self.transforms else 0
        self.seed, self.first_block = loader.generator._take(blocks) if blocks else (0, 0)

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
        places = [slice(part.start - first, part.stop - first) for part in parts]
        return [
            self._transform(number, tuple([x[place] for x in read]))
            for number, place in zip(numbers, places, strict=True)
        ]

    def __call__(self, number: int) -> Batch:
        part = self._part(number)
        if self.chance is None:
            return self._transform(number, self._read(part))
        one = None if self.at_once else self._read_one
        with preserve_global_generators(0):
            places = range(part.start, part.stop)
            batch = self.chance.read(places, lambda: self._read(part), one)
            batch = _stack(batch) if isinstance(batch, list) else batch
            reseed_global_generators(self.chance.of_batch(number + 1))
            return self._transform(number, batch)

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
        return _stack([self.dataset[i] for i in indices.tolist()])

    def _transform(self, number: int, batch: Batch) -> Batch:
        """The batch after all transforms."""
        if self.transforms:
            generator = self._generator(number)
            for transform in self.transforms:
                result: Any = transform(batch, generator)
                if not isinstance(result, tuple | list):
                    requirement = "a transform must give a batch, a tuple of arrays"
                    raise type_error("DataLoader", requirement, batch=arguments.briefly(result))
                batch = tuple(result)
        return batch

    def _generator(self, number: int) -> Generator:
        """That of a batch's transforms: no batch's chance depends on another's."""
        block, place = divmod(number, 2)
        generator = Generator(self.seed)
        generator.set_state((self.seed, (self.first_block + block) % LIMIT))
        return Generator(int(randint(0, 2**64, 2, "uint64", generator).numpy()[place]))

    def _part(self, number: int) -> slice:
        begin = number * self.batch_size
        return slice(begin, min(begin + self.batch_size, len(self.indices)))

    def prepare(self, number: int) -> None:
        """Let the data set read what comes some time after a batch, if it can."""
        if self.read_ahead is not None:
            part = self._part(number)
            # An error is raised when the samples are needed.
            with suppress(OSError, ValueError):
                self.read_ahead(self.indices.ahead(part.start, part.stop))


class PartialBatches(EpochBatches):
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


def _stack(samples: list[Any]) -> Batch:
    """The parts of all samples, each as one array."""
    rows = [sample if isinstance(sample, tuple | list) else (sample,) for sample in samples]
    if len({len(row) for row in rows}) > 1:
        requirement = "samples must have the same number of parts"
        raise value_error("DataLoader", requirement, parts=len(rows[0]))
    return tuple(_stack_part(part) for part in zip(*rows, strict=True))


def _stack_part(part: tuple[Any, ...]) -> Any:
    kinds = set(map(type, part))
    if kinds == {int}:
        labels = np.array(part)
        if labels.dtype == int64:  # not for ints that it cannot hold
            return labels
    if kinds == {np.ndarray}:
        arrays: Sequence[Any] = part
        for dtype in {x.dtype for x in arrays}:
            supported(dtype, "DataLoader")
    else:
        arrays = [to_array(x, op="DataLoader") for x in part]
    shapes = {x.shape for x in arrays}
    if len(shapes) > 1:
        requirement = "samples of a batch must have the same shape"
        raise value_error("DataLoader", requirement, shapes=sorted(shapes))
    return np.stack(arrays)
