"""The order of samples in an epoch: an array of indices, or one that is computed part by part."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from extensor import random
from extensor.data.representation import made_with
from extensor.errors import arguments, type_error, value_error
from extensor.random.generator import Generator


class Sampler(Protocol):
    """Gives ``len(sampler)`` indices for each epoch; all chance comes from ``generator``."""

    def __len__(self) -> int: ...

    def order(self, generator: Generator) -> Any:
        """The indices of the next epoch, an array of integers."""
        ...


class Order(Protocol):
    """The indices of an epoch that nobody holds: ``order[begin:end]`` is an array of some of them."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice) -> Any: ...


class LazySampler(Sampler, Protocol):
    """A sampler for epochs of any length: a loader never asks it for all indices at once."""

    def lazy_order(self, generator: Generator) -> Order:
        """The same indices as :meth:`order`, of which parts are computed when they are asked for.

        Several threads may ask. All chance comes from ``generator``, before this returns.
        """
        ...


def is_ours(part: Any) -> bool:
    """True for a sampler, data set or transform of the library: by the same generator it does the same."""
    return type(part).__module__.split(".")[0] == "extensor"


def order_of(sampler: Sampler, generator: Generator) -> Any:
    """The indices of the next epoch, lazily if the sampler can give them so."""
    lazy = getattr(sampler, "lazy_order", None)
    return np.asarray(sampler.order(generator)) if lazy is None else lazy(generator)


class SequentialSampler:
    """0, 1, 2 and so on."""

    def __init__(self, size: int) -> None:
        self.size = _count("SequentialSampler", "size", size)

    def __repr__(self) -> str:
        return made_with(self)

    def __len__(self) -> int:
        return self.size

    def order(self, generator: Generator) -> Any:
        return np.arange(self.size)

    def lazy_order(self, generator: Generator) -> Order:
        return _Counting(self.size)


class _Counting:
    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, part: slice) -> Any:
        return np.arange(*part.indices(self.size))


class RandomSampler:
    """Every index once in a random order, or ``num_samples`` of them.

    >>> from extensor.data import RandomSampler
    >>> from extensor.random import Generator
    >>> RandomSampler(5).order(Generator(0))
    array([3, 4, 2, 1, 0])
    """

    def __init__(
        self, size: int, replacement: bool = False, num_samples: int | None = None
    ) -> None:
        self.size = _count("RandomSampler", "size", size)
        self.replacement = arguments.flag("RandomSampler", "replacement", replacement)
        self.num_samples = (
            size if num_samples is None else _count("RandomSampler", "num_samples", num_samples)
        )
        if self.num_samples > (size if not replacement else self.num_samples * size):
            raise value_error(
                "RandomSampler",
                f"num_samples must be at most {size} without replacement",
                num_samples=num_samples,
            )

    def __repr__(self) -> str:
        fewer = "" if self.num_samples == self.size else f", num_samples={self.num_samples}"
        again = ", replacement=True" if self.replacement else ""
        return f"{type(self).__name__}({self.size}{again}{fewer})"

    def __len__(self) -> int:
        return self.num_samples

    def order(self, generator: Generator) -> Any:
        chosen = random.choice(self.size, self.num_samples, self.replacement, generator=generator)
        return chosen.numpy()


class WeightedSampler:
    """``num_samples`` indices, each drawn in proportion to its weight: for classes that are rare."""

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True) -> None:
        chances = arguments.numbers("WeightedSampler", "weights", weights)
        if chances.ndim != 1 or not (np.isfinite(chances) & (chances >= 0)).all():
            raise value_error(
                "WeightedSampler",
                "weights must be a row of finite numbers, none negative",
                weights_shape=chances.shape,
            )
        total = chances.sum()
        if not total > 0:
            raise value_error("WeightedSampler", "weights must not all be 0", sum=float(total))
        self.chances = chances / total
        self.num_samples = _count("WeightedSampler", "num_samples", num_samples)
        self.replacement = arguments.flag("WeightedSampler", "replacement", replacement)

    def __repr__(self) -> str:
        once = "" if self.replacement else ", replacement=False"
        number = f"{len(self.chances)} weights, num_samples={self.num_samples}"
        return f"{type(self).__name__}({number}{once})"

    def __len__(self) -> int:
        return self.num_samples

    def order(self, generator: Generator) -> Any:
        chosen = random.choice(
            len(self.chances), self.num_samples, self.replacement, self.chances, generator
        )
        return chosen.numpy()


class ShardSampler:
    """The part of another sampler's order that belongs to worker ``rank`` of ``workers``.

    Every worker must have a generator of the same state. Runs of ``batch`` indices go to the workers
    in turn: so in each step the batches of all workers are, one after the other, a batch of the whole
    order, however many there are. All get the same number of indices: the order is filled up from
    its beginning, or with ``drop_last`` what does not divide is left out.

    >>> from extensor.data import SequentialSampler, ShardSampler
    >>> from extensor.random import Generator
    >>> ShardSampler(SequentialSampler(12), rank=1, workers=2, batch=3).order(Generator(0))
    array([ 3,  4,  5,  9, 10, 11])
    """

    def __init__(
        self,
        sampler: Sampler,
        rank: int,
        workers: int,
        drop_last: bool = False,
        batch: int = 1,
    ) -> None:
        if not is_sampler(sampler):
            requirement = "sampler must have a length and an order, as RandomSampler(size)"
            raise type_error("ShardSampler", requirement, sampler=arguments.briefly(sampler))
        rank = arguments.integer("ShardSampler", "rank", rank)
        workers = arguments.integer("ShardSampler", "workers", workers)
        if not 0 <= rank < workers:
            raise value_error(
                "ShardSampler", "rank must be in [0, workers - 1]", rank=rank, workers=workers
            )
        self.sampler = sampler
        self.rank = rank
        self.workers = workers
        self.drop_last = arguments.flag("ShardSampler", "drop_last", drop_last)
        self.batch = arguments.integer("ShardSampler", "batch", batch, 1)

    def __repr__(self) -> str:
        return made_with(self)

    def __len__(self) -> int:
        whole, turn = len(self.sampler), self.workers * self.batch
        return self.batch * (whole // turn if self.drop_last else -(-whole // turn))

    def order(self, generator: Generator) -> Any:
        return self.lazy_order(generator)[:]

    def lazy_order(self, generator: Generator) -> Order:
        return _Share(self, order_of(self.sampler, generator))


class _Share:
    """What a :class:`ShardSampler` takes of an order."""

    def __init__(self, sampler: ShardSampler, order: Any) -> None:
        self.length = len(sampler)
        self.rank, self.workers, self.batch = sampler.rank, sampler.workers, sampler.batch
        self.whole = order

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, part: slice) -> Any:
        own = np.arange(*part.indices(self.length))
        if not own.size:
            return own
        runs, places = np.divmod(own, self.batch)
        positions = (runs * self.workers + self.rank) * self.batch + places
        begin, end = int(positions[0]), int(positions[-1]) + 1
        return self._stretch(begin, end)[positions - begin]

    def ahead(self, begin: int, end: int) -> Any:
        """What should be read meanwhile, if the whole order knows: by all workers, each its part."""
        if not hasattr(self.whole, "ahead"):
            return []
        turn = self.batch * self.workers
        first, last = (min(x // self.batch * turn, len(self.whole)) for x in (begin, end))
        return self.whole.ahead(first, len(self.whole) if end == self.length else last)

    def _stretch(self, begin: int, end: int) -> Any:
        """The whole order from ``begin`` to ``end``, repeated if it ends before."""
        size = len(self.whole)
        parts = []
        while begin < end:
            first = begin % size
            last = min(size, first + end - begin)
            parts.append(self.whole[first:last])
            begin += last - first
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


def is_sampler(value: Any) -> bool:
    """True for an object that gives an order, not for a class of such objects."""
    return not isinstance(value, type) and hasattr(value, "order") and hasattr(value, "__len__")


def _count(op: str, name: str, value: Any) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise type_error(op, f"{name} must be an int", **{name: arguments.briefly(value)})
    if value < 0:
        raise value_error(op, f"{name} must be 0 or more", **{name: value})
    return int(value)
