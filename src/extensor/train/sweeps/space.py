"""What a sweep searches: a range or choices for each key, and the values of each trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, floor, log, prod
from typing import Any

from extensor.random import permutation, rand
from extensor.random.generator import Generator

_DIGITS = 4  # of a drawn value: more say nothing, and somebody has to type them
_SHUFFLED = 100_000  # combinations that are put into an order as a whole


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``, both included; ``logarithmic``: each decade as often."""

    low: float
    high: float
    logarithmic: bool = False

    def at(self, fraction: float) -> float:
        """The value that has ``fraction``, in [0, 1), of the range below it."""
        whole = isinstance(self.low, int) and isinstance(self.high, int)
        top = self.high + 1 if whole else self.high
        if self.logarithmic:
            value = exp(log(self.low) + fraction * (log(top) - log(self.low)))
        else:
            value = self.low + fraction * (top - self.low)
        value = floor(value) if whole else float(f"{value:.{_DIGITS}g}")
        return min(max(value, self.low), self.high)

    def ends(self) -> list[float]:
        """Values that show whether all of them can be used."""
        return [self.low, self.high]


@dataclass(frozen=True)
class Choices:
    """One of several values."""

    values: tuple[Any, ...]

    def at(self, fraction: float) -> Any:
        """The value that has ``fraction``, in [0, 1), of them before it."""
        return self.values[int(fraction * len(self.values))]

    def ends(self) -> list[Any]:
        """Values that show whether all of them can be used."""
        return list(self.values)


Dimension = Range | Choices


class Space:
    """The keys that are searched, each with its range or its choices.

    >>> from extensor.train.sweeps.space import Choices, Range, Space
    >>> space = Space({"optimizer.lr": Range(1e-4, 1e-1, True), "seed": Choices((0, 1, 2))})
    >>> space.values(seed=0, trial=1)
    {'optimizer.lr': 0.03931, 'seed': 1}
    """

    def __init__(self, dimensions: Mapping[str, Dimension]) -> None:
        self.dimensions = dict(dimensions)
        sizes = [len(d.values) if isinstance(d, Choices) else 0 for d in self.dimensions.values()]
        self.combinations = prod(sizes) or None  # None: there is a range among them

    def values(self, seed: int, trial: int) -> dict[str, Any]:
        """The values of a trial, counted from 1; they depend on its number and ``seed`` alone.

        Choices alone have only so many combinations: then none comes twice.
        """
        if self.combinations is not None and self.combinations <= _SHUFFLED:
            order = permutation(self.combinations, Generator(seed)).tolist()
            return self._combination(order[trial - 1])
        chance = Generator(seed).split(trial)[-1]
        fractions = rand(len(self.dimensions), dtype="float64", generator=chance).tolist()
        dimensions = self.dimensions.items()
        return {key: d.at(x) for (key, d), x in zip(dimensions, fractions, strict=True)}

    def _combination(self, number: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, dimension in self.dimensions.items():
            number, place = divmod(number, len(dimension.ends()))
            found[key] = dimension.ends()[place]
        return found

    def probes(self) -> list[dict[str, Any]]:
        """Trials that show whether all values can be used: together they have every end and choice."""
        ends = {key: dimension.ends() for key, dimension in self.dimensions.items()}
        # Another seed needs no proof; there may be many.
        most = max(2 if key == "seed" else len(values) for key, values in ends.items())
        return [
            {key: values[place % len(values)] for key, values in ends.items()}
            for place in range(most)
        ]
