"""Random numbers by a traced Philox: the same words as in :mod:`extensor.random.philox`."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from extensor.arrays.dtypes import float64
from extensor.arrays.shapes import Shape, count
from extensor.compiled.xla.library import jax, jnp, kernels_by_name
from extensor.random.philox import LIMIT

_MULTIPLIERS = np.uint32(0xD2511F53), np.uint32(0xCD9E8D57)
_STEPS = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)


def _halves(x: Any) -> tuple[Any, Any]:
    """The lower and the upper word of a number of 64 bits."""
    return x.astype(jnp.uint32), (x >> np.uint64(32)).astype(jnp.uint32)


def _philox(seed: Any, stream: Any, numbers: Any) -> list[Any]:
    """The four words of the blocks of these ``numbers``."""
    c0, c1 = _halves(numbers)
    c2, c3 = (jnp.broadcast_to(word, c0.shape) for word in _halves(jnp.asarray(stream, jnp.uint64)))
    key0, key1 = _halves(seed)
    for _ in range(10):
        first, second = (
            word.astype(jnp.uint64) * np.uint64(factor)
            for word, factor in zip((c0, c2), _MULTIPLIERS, strict=True)
        )
        (low0, high0), (low1, high1) = _halves(first), _halves(second)
        c0, c1, c2, c3 = high1 ^ c1 ^ key0, low1, high0 ^ c3 ^ key1, low0
        key0, key1 = key0 + _STEPS[0], key1 + _STEPS[1]
    return [c0, c1, c2, c3]


def _numbers(block: Any, blocks: int) -> Any:
    return jnp.arange(blocks, dtype=jnp.uint64) + block


def _words(seed: Any, stream: Any, block: Any, n: int) -> Any:
    return jnp.stack(_philox(seed, stream, _numbers(block, -(-n // 4))), axis=-1).reshape(-1)[:n]


def _pairs(words: list[Any]) -> Any:
    wide = [word.astype(jnp.uint64) for word in words]
    pairs = [wide[0] | wide[1] << np.uint64(32), wide[2] | wide[3] << np.uint64(32)]
    return jnp.stack(pairs, axis=-1).reshape(-1)


def _draws(seed: Any, stream: Any, block: Any, n: int) -> Any:
    return _pairs(_philox(seed, stream, _numbers(block, -(-n // 2))))[:n]


def random_bits(seed: Any, stream: int, block: Any, shape: Shape, dtype: Any) -> Any:
    """Words of 32 bits."""
    return _words(seed, stream, block, count(shape)).astype(dtype).reshape(shape)


def _fractions(seed: Any, stream: Any, block: Any, n: int, dtype: Any) -> Any:
    if dtype == float64:
        return (_draws(seed, stream, block, n) >> np.uint64(11)).astype(dtype) * 2.0**-53
    return (_words(seed, stream, block, n) >> np.uint32(8)).astype(dtype) * np.float32(2.0**-24)


def random_uniform(
    seed: Any, stream: int, block: Any, shape: Shape, dtype: Any, *interval: float
) -> Any:
    """``fraction * scale + low``, at most ``last``."""
    low, scale, last = (dtype.type(number) for number in interval)
    fractions = _fractions(seed, stream, block, count(shape), dtype)
    return jnp.minimum(fractions * scale + low, last).reshape(shape)


def random_normal(
    seed: Any, stream: int, block: Any, shape: Shape, dtype: Any, mean: float, deviation: float
) -> Any:
    """Box-Muller, in float64 as there."""
    n = count(shape)
    even = n + n % 2
    if dtype == float64:
        fractions = _fractions(seed, stream, block, even, dtype)
        chance, angle = fractions[0::2] + 2.0**-53, fractions[1::2] * (2 * pi)
    else:
        words = _words(seed, stream, block, even)
        chance = words[0::2].astype(dtype) * dtype.type(2.0**-32) + dtype.type(2.0**-33)
        angle = words[1::2].astype(jnp.float64) * (2 * pi * 2.0**-32)
    radius = jnp.sqrt(-2 * jnp.log(chance.astype(jnp.float64)))
    units = jnp.stack([radius * jnp.cos(angle), radius * jnp.sin(angle)], axis=-1).reshape(-1)[:n]
    return (units.astype(dtype) * dtype.type(deviation) + dtype.type(mean)).reshape(shape)


def _upper(a: Any, b: int) -> Any:
    """The upper 64 bits of ``a * b``."""
    word = np.uint64(2**32 - 1)
    half = np.uint64(32)
    a_high, a_low = a >> half, a & word
    b_high, b_low = np.uint64(b >> 32), np.uint64(b & (2**32 - 1))
    middle = a_high * b_low + (a_low * b_low >> half)
    carry = a_low * b_high + (middle & word)
    return a_high * b_high + (middle >> half) + (carry >> half)


def random_integers(
    seed: Any, stream: int, block: Any, shape: Shape, dtype: Any, low: int, span: int
) -> Any:
    """Lemire's method; rejected numbers are drawn again from the next stream."""
    n = count(shape)
    draws = _draws(seed, stream, block, n)
    if span < LIMIT - 1:
        rest = np.uint64((LIMIT - span - 1) % (span + 1))

        def drawn(values: Any) -> tuple[Any, Any]:
            return _upper(values, span + 1), values * np.uint64(span + 1) < rest

        def again(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
            number, results, rejected = state
            number = number + np.uint64(1)
            others, missed = drawn(_draws(seed, number, block, n))
            return number, jnp.where(rejected, others, results), rejected & missed

        first = (jnp.asarray(stream, jnp.uint64), *drawn(draws))
        _, draws, _ = jax.lax.while_loop(lambda state: state[2].any(), again, first)
    return (draws + np.uint64(low)).astype(dtype).reshape(shape)


def random_bernoulli(
    seed: Any, stream: int, block: Any, shape: Shape, dtype: Any, threshold: int
) -> Any:
    """1 with probability ``threshold / 2**32``, else 0."""
    if threshold > 2**32 - 1:
        return jnp.ones(shape, dtype)
    words = _words(seed, stream, block, count(shape))
    return (words < np.uint32(threshold)).astype(dtype).reshape(shape)


KERNELS = kernels_by_name(
    random_bits, random_uniform, random_normal, random_integers, random_bernoulli
)
