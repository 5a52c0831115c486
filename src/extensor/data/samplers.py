"""The order of samples in an epoch, as one array of indices."""

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

    Every worker must have a generator of the same state. All get the same number of indices: the
    order is filled up from its beginning, or with ``drop_last`` what does not divide is left out.
    """

    def __init__(self, sampler: Sampler, rank: int, workers: int, drop_last: bool = False) -> None:
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

    def __repr__(self) -> str:
        return made_with(self)

    def __len__(self) -> int:
        whole = len(self.sampler)
        return whole // self.workers if self.drop_last else -(-whole // self.workers)

    def order(self, generator: Generator) -> Any:
        order = self.sampler.order(generator)
        return np.resize(order, len(self) * self.workers)[self.rank :: self.workers]


def is_sampler(value: Any) -> bool:
    """True for an object that gives an order, not for a class of such objects."""
    return not isinstance(value, type) and hasattr(value, "order") and hasattr(value, "__len__")


def _count(op: str, name: str, value: Any) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise type_error(op, f"{name} must be an int", **{name: arguments.briefly(value)})
    if value < 0:
        raise value_error(op, f"{name} must be 0 or more", **{name: value})
    return int(value)
