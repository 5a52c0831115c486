"""A random order of any number of things, of which a part can be had without the rest."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor import random
from extensor.arrays.dtypes import int64, uint64
from extensor.random.generator import Generator
from extensor.random.philox import philox

_KEPT = 1 << 16  # numbers whose order is kept
_ROUNDS = 6


class Permutation:
    """The numbers below ``size`` in an order that ``key`` decides: ``permutation[begin:end]``.

    Few are drawn and kept, so that every order is equally likely. Of many each is computed, by a
    Feistel network whose rounds are Philox: four make an order that nobody can tell from a random
    one (Luby and Rackoff, 1988).
    """

    def __init__(self, size: int, key: int) -> None:
        self.size = size
        self.key = key
        self._half = -(-max(size - 1, 1).bit_length() // 2)  # bits
        few = size <= _KEPT
        self._kept = random.permutation(size, Generator(key)).numpy() if few else None

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, part: slice) -> Any:
        if self._kept is not None:
            return self._kept[part]
        numbers = np.arange(*part.indices(self.size), dtype=uint64)
        found = self._exchanged(numbers)
        # The network permutes a power of four; whoever lands outside goes on to where it leads.
        outside = np.nonzero(found >= self.size)[0]
        while outside.size:
            found[outside] = again = self._exchanged(found[outside])
            outside = outside[again >= self.size]
        return found.astype(int64)

    def _exchanged(self, numbers: Any) -> Any:
        half, mask = np.uint64(self._half), np.uint64((1 << self._half) - 1)
        left, right = numbers >> half, numbers & mask
        for number in range(_ROUNDS):
            words = philox(self.key, number, right)[:, 0]
            left, right = right, left ^ (words & mask)
        return left << half | right
