"""Random numbers that data sets of users draw while their samples are read.

They may draw from the global generators of Python and NumPy. Each sample has seeds of its own, so it is
the same whoever reads it, and whatever was read before. Seeding takes longer than reading a sample
from memory; so a batch is first read without, and again if anybody has drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from extensor.errors import value_error
from extensor.random.global_generators import (
    preserve_global_generators,
    reseed_global_generators,
    watch_global_generators,
    were_drawn_from,
)
from extensor.random.seeds import BATCHES, SAMPLES, derived_seeds


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
        """What ``read`` gives for the samples in these places of the epoch, or ``one`` for each.

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
        for place, seed in zip(
            part, derived_seeds(self.seed, SAMPLES, self.epoch, part), strict=True
        ):
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
