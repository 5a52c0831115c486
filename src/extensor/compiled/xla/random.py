"""Random numbers by a traced Philox: the same words as in :mod:`extensor.random.philox`."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays.shapes import Shape, count
from extensor.compiled.xla.library import jax, jnp, kernels_by_name
from extensor.random.philox import LIMIT, PhiloxFills

_MULTIPLIERS = np.uint32(0xD2511F53), np.uint32(0xCD9E8D57)
_STEPS = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)


def _halves(x: Any) -> tuple[Any, Any]:
    """The lower and the upper word of a number of 64 bits."""
    return x.astype(jnp.uint32), (x >> np.uint64(32)).astype(jnp.uint32)


def _philox(seed: Any, stream: Any, numbers: Any) -> Any:
    """The blocks of these ``numbers``: a row of four words for each, in uint32."""
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
    return jnp.stack([c0, c1, c2, c3], axis=-1)


_fills = PhiloxFills(jnp, _philox)


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
    draws = _fills.draws(seed, stream, block, n)
    if span < LIMIT - 1:
        rest = np.uint64((LIMIT - span - 1) % (span + 1))

        def drawn(values: Any) -> tuple[Any, Any]:
            return _upper(values, span + 1), values * np.uint64(span + 1) < rest

        def again(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
            number, results, rejected = state
            number = number + np.uint64(1)
            others, missed = drawn(_fills.draws(seed, number, block, n))
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
    words = _fills.words(seed, stream, block, count(shape))
    return (words < np.uint32(threshold)).astype(dtype).reshape(shape)


KERNELS = kernels_by_name(
    _fills.random_bits,
    _fills.random_uniform,
    _fills.random_normal,
    random_integers,
    random_bernoulli,
)
