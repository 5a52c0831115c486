"""Philox4x32-10 and what is made of its words: fills of arrays, each with a native kernel.

Every fill takes a seed, a stream and the number of its first block, then a shape and a dtype. A
block holds four words of 32 bits and makes four elements, or two of 64 bits; all integers are drawn
with 64. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
"""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

import numpy as np

from extensor.arrays.dtypes import float64, uint64
from extensor.arrays.shapes import Shape, count
from extensor.core import door

WORD = 2**32 - 1
LIMIT = 2**64


def philox(seed: int, stream: int, numbers: Any) -> Any:
    """The blocks of these ``numbers``: a row of four 32-bit words for each, in uint64."""
    c0, c1 = numbers & WORD, numbers >> 32
    c2, c3 = (np.full_like(numbers, word) for word in (stream & WORD, stream >> 32))
    key0, key1 = seed & WORD, seed >> 32
    for _ in range(10):
        first, second = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1 = (second >> 32) ^ c1 ^ key0, second & WORD
        c2, c3 = (first >> 32) ^ c3 ^ key1, first & WORD
        key0, key1 = (key0 + 0x9E3779B9) & WORD, (key1 + 0xBB67AE85) & WORD
    return np.stack([c0, c1, c2, c3], axis=-1)


def _pairs(blocks: Any) -> Any:
    """Two numbers of 64 bits from each block, the lower word first."""
    return blocks[:, 0::2] | blocks[:, 1::2] << 32


class PhiloxFills:
    """Fills by the blocks of ``philox``, computed with the functions of ``xp``."""

    def __init__(self, xp: Any, philox: Callable[..., Any]) -> None:
        self._xp = xp
        self._philox = philox

    def _blocks(self, seed: Any, stream: Any, block: Any, count: int) -> Any:
        numbers = self._xp.arange(count, dtype=uint64) + self._xp.asarray(block, dtype=uint64)
        return self._philox(seed, stream, numbers)

    def words(self, seed: Any, stream: Any, block: Any, n: int) -> Any:
        """``n`` words of 32 bits from ``block`` on."""
        return self._blocks(seed, stream, block, -(-n // 4)).reshape(-1)[:n]

    def draws(self, seed: Any, stream: Any, block: Any, n: int) -> Any:
        """``n`` numbers of 64 bits from ``block`` on."""
        blocks = self._blocks(seed, stream, block, -(-n // 2))
        return _pairs(blocks.astype(uint64)).reshape(-1)[:n]

    def _fractions(self, seed: Any, stream: Any, block: Any, n: int, dtype: Any) -> Any:
        """Multiples of 2**-24, in float64 of 2**-53, in [0, 1)."""
        if dtype == float64:
            return (self.draws(seed, stream, block, n) >> 11).astype(dtype) * 2.0**-53
        return (self.words(seed, stream, block, n) >> 8).astype(dtype) * 2.0**-24

    def random_bits(self, seed: Any, stream: int, block: Any, shape: Shape, dtype: Any) -> Any:
        """Words of 32 bits."""
        return self.words(seed, stream, block, count(shape)).astype(dtype).reshape(shape)

    def random_uniform(
        self, seed: Any, stream: int, block: Any, shape: Shape, dtype: Any, *interval: float
    ) -> Any:
        """``fraction * scale + low``, at most ``last``."""
        low, scale, last = (dtype.type(number) for number in interval)
        fractions = self._fractions(seed, stream, block, count(shape), dtype)
        return self._xp.minimum(fractions * scale + low, last).reshape(shape)

    def random_normal(
        self,
        seed: Any,
        stream: int,
        block: Any,
        shape: Shape,
        dtype: Any,
        mean: float,
        deviation: float,
    ) -> Any:
        """Box-Muller: two numbers from a radius and an angle; the uniform of the radius is never 0."""
        xp, n = self._xp, count(shape)
        even = n + n % 2
        if dtype == float64:
            fractions = self._fractions(seed, stream, block, even, dtype)
            chance, angle = fractions[0::2] + 2.0**-53, fractions[1::2] * (2 * pi)
        else:
            words = self.words(seed, stream, block, even)
            chance = words[0::2].astype(dtype) * 2.0**-32 + 2.0**-33
            angle = words[1::2].astype(float64) * (2 * pi * 2.0**-32)
        radius = xp.sqrt(-2 * xp.log(chance.astype(float64)))
        units = xp.stack([radius * xp.cos(angle), radius * xp.sin(angle)], axis=-1).reshape(-1)[:n]
        return (units.astype(dtype) * dtype.type(deviation) + dtype.type(mean)).reshape(shape)


def _fill(formula: Callable[..., Any]) -> Callable[..., Any]:
    """A fill through the one door: by a kernel of the formula's name, else by the formula.

    While a function is traced the seed is an array of another library, whose kernel is used then.
    """
    return door.computation(formula.__name__, formula.__name__, formula)


_fills = PhiloxFills(np, philox)
random_bits = _fill(_fills.random_bits)
random_uniform = _fill(_fills.random_uniform)
random_normal = _fill(_fills.random_normal)


@_fill
def random_integers(
    seed: int, stream: int, block: int, shape: Shape, dtype: np.dtype[Any], low: int, span: int
) -> Any:
    """``low``, ... ``low + span`` modulo 2**64, all equally likely.

    The upper half of ``draw * (span + 1)`` is the result, unless the lower half falls into the rest
    that would favour some results (Lemire, "Fast random integer generation in an interval", 2019).
    Then the element draws again in the next stream, where it moves no other.
    """
    draws = _fills.draws(seed, stream, block, count(shape))
    if span < LIMIT - 1:
        rest = (LIMIT - span - 1) % (span + 1)
        results, lower = _product(draws, span + 1)
        rejected = np.nonzero(lower < rest)[0]
        while rejected.size:
            stream += 1
            blocks = philox(seed, stream, (rejected // 2).astype(uint64) + np.uint64(block))
            again = _pairs(blocks)[np.arange(rejected.size), rejected % 2]
            results[rejected], lower = _product(again, span + 1)
            rejected = rejected[lower < rest]
        draws = results
    return (draws + np.uint64(low)).astype(dtype).reshape(shape)


def _product(a: Any, b: int) -> tuple[Any, Any]:
    """The upper and lower 64 bits of ``a * b``."""
    a_high, a_low, b_high, b_low = a >> 32, a & WORD, b >> 32, b & WORD
    middle = a_high * b_low + (a_low * b_low >> 32)
    carry = a_low * b_high + (middle & WORD)
    return a_high * b_high + (middle >> 32) + (carry >> 32), a * np.uint64(b)


@_fill
def random_bernoulli(
    seed: int, stream: int, block: int, shape: Shape, dtype: np.dtype[Any], threshold: int
) -> Any:
    """1 with probability ``threshold / 2**32``, else 0."""
    return (
        (_fills.words(seed, stream, block, count(shape)) < threshold).astype(dtype).reshape(shape)
    )
