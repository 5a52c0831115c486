"""Random numbers: the published vectors, their distribution, states, dtypes, errors, kernels."""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from scipy import stats

import extensor as ex
from extensor import random
from extensor.arrays.dtypes import bfloat16
from extensor.core import door
from extensor.random import Generator, philox
from extensor.random.continuous import interval_of
from extensor.random.generator import drawing_from

FLOATS = ["float16", "bfloat16", "float32", "float64"]
INTEGERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
SIZES = [0, 1, 2, 3, 5, 31, 64, 1023, 1025, 5000, 70001]
needs_kernels = pytest.mark.skipif(door.ENGINE != "native", reason="kernels are switched off")

# kat_vectors of Random123 for philox4x32-10: counter, key, words.
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000",
     "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff",
     "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0",
     "d16cfe09 94fdcceb 5001e420 24126ea1"),
]  # fmt: skip


def _words(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
@pytest.mark.parametrize("by_formula", [True, False])
def test_published_vectors(counter: str, key: str, expected: str, by_formula: bool) -> None:
    block, upper_block, stream, upper_stream = _words(counter)
    seed, upper_seed = _words(key)
    compute = philox.random_bits.formula if by_formula else philox.random_bits  # type: ignore[attr-defined]
    words = compute(
        seed | upper_seed << 32, stream | upper_stream << 32, block | upper_block << 32, (4,),
        ex.uint32,
    )  # fmt: skip
    assert words.tolist() == _words(expected)


FILLS: list[tuple[str, Any, tuple[Any, ...]]] = [
    ("random_bits", ex.uint32, ()),
    ("random_uniform", ex.float32, (0.0, 1.0, float(np.nextafter(np.float32(1), np.float32(0))))),
    ("random_uniform", ex.float32, (-0.1, 0.3, 0.15)),
    ("random_uniform", ex.float64, (-0.1, 0.3, 0.2)),
    ("random_normal", ex.float32, (0.0, 1.0)),
    ("random_normal", ex.float32, (3.0, 0.5)),
    ("random_normal", ex.float64, (0.0, 1.0)),
    *[("random_integers", np.dtype(name), (0, 99)) for name in INTEGERS],
    ("random_integers", ex.bool_, (0, 1)),
    ("random_integers", ex.int64, (2**64 - 7, 12)),
    ("random_integers", ex.int64, (2**63, 2**63)),
    ("random_integers", ex.uint64, (0, 2**63 + 2**62)),
    ("random_integers", ex.uint64, (0, 2**64 - 1)),
    ("random_bernoulli", ex.bool_, (2**31,)),
    ("random_bernoulli", ex.float32, (2**30,)),
    ("random_bernoulli", ex.float32, (0,)),
    ("random_bernoulli", ex.bool_, (2**32,)),
]
every_fill = pytest.mark.parametrize(("name", "dtype", "attributes"), FILLS)


@needs_kernels
@every_fill
@pytest.mark.parametrize("block", [0, 2**32 - 3, 2**64 - 5])
def test_kernel_is_its_formula(
    name: str, dtype: Any, attributes: tuple[Any, ...], block: int
) -> None:
    kernel = door.kernel(name)
    assert kernel is not None
    for size in SIZES:
        arguments = (0x1234_5678_9ABC_DEF0, 0, block, (size,), dtype, *attributes)
        result = kernel(*arguments)
        expected = getattr(philox, name).formula(*arguments)
        assert result.dtype == expected.dtype == dtype
        if name == "random_normal":
            mean = attributes[0]
            rounding = np.finfo(dtype).eps
            np.testing.assert_allclose(result, expected, 4 * rounding, 2 * rounding * mean)
        else:
            np.testing.assert_array_equal(result, expected)


@needs_kernels
@every_fill
def test_threads_change_nothing(name: str, dtype: Any, attributes: tuple[Any, ...]) -> None:
    from extensor import _native

    before = _native.num_threads()
    results = []
    try:
        for threads in (1, 2, 3):
            _native.set_num_threads(threads)
            results.append(getattr(philox, name)(5, 0, 9, (300, 1001), dtype, *attributes))
    finally:
        _native.set_num_threads(before)
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


@needs_kernels
@pytest.mark.parametrize(
    "arguments",
    [
        (),
        (0, 0, 0, (2,)),
        (-1, 0, 0, (2,), ex.uint32),
        (2**64, 0, 0, (2,), ex.uint32),
        (0, 0, 0, [2], ex.uint32),
        (0, 0, 0, (-2,), ex.uint32),
        (0, 0, 0, (2.0,), ex.uint32),
        (0, 0, 0, (2,), "uint32"),
        (0, 0, 0, (2,), np.dtype(">u4")),
        (0, 0, 0, (2,), ex.float64),
        (0, 0, 0, (1,) * 65, ex.uint32),
        (0, 0, 0, (2**31, 2, 2**31), ex.uint32),
    ],
)
def test_kernels_decline_what_they_were_not_written_for(arguments: tuple[Any, ...]) -> None:
    kernel = door.kernel("random_bits")
    assert kernel is not None
    assert kernel(*arguments) is NotImplemented


@every_fill
def test_any_part_can_be_made_alone(name: str, dtype: Any, attributes: tuple[Any, ...]) -> None:
    fill = getattr(philox, name)
    per_block = 2 if name == "random_integers" or dtype == ex.float64 else 4
    whole = fill(3, 0, 0, (6000,), dtype, *attributes)
    part = fill(3, 0, 1000 // per_block, (37,), dtype, *attributes)
    np.testing.assert_array_equal(part, whole[1000:1037])


def test_seed_of_a_new_process_is_zero() -> None:
    program = "from extensor import random; print(random.get_state(), random.rand(2).tolist())"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    runs = [
        subprocess.check_output([sys.executable, "-c", program], text=True, env=environment)
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert runs[0].startswith("(0, 0)")


DRAWS: list[Callable[[Generator | None], Any]] = [
    lambda g: random.rand(3, 5, generator=g),
    lambda g: random.randn(7, generator=g),
    lambda g: random.uniform(-1, 1, (2, 2), "float64", generator=g),
    lambda g: random.normal(1, 2, 5, generator=g),
    lambda g: random.randint(-5, 5, 9, generator=g),
    lambda g: random.bernoulli(0.3, 50, generator=g),
    lambda g: random.bernoulli(np.full(50, 0.3), generator=g),
    lambda g: random.permutation(20, generator=g),
    lambda g: random.choice(20, 10, generator=g),
    lambda g: random.choice(20, 10, replace=False, generator=g),
    lambda g: random.choice(4, 10, p=[0.1, 0.2, 0.3, 0.4], generator=g),
]


@pytest.mark.parametrize("draw", DRAWS)
def test_a_saved_state_replays(draw: Callable[[Generator | None], Any]) -> None:
    random.manual_seed(42)
    random.rand(5)
    state = json.loads(json.dumps(random.get_state()))
    first, second = draw(None).numpy(), draw(None).numpy()
    assert not np.array_equal(first, second)
    random.set_state(state)
    np.testing.assert_array_equal(draw(None).numpy(), first)
    np.testing.assert_array_equal(draw(None).numpy(), second)
    other = Generator()
    other.set_state(state)
    np.testing.assert_array_equal(draw(other).numpy(), first)


@pytest.mark.parametrize(
    "repeat", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))]
)
def test_a_copy_repeats_the_original(repeat: Callable[[Generator], Generator]) -> None:
    generator = Generator(5)
    random.rand(10, generator=generator)
    twin = repeat(generator)
    assert repr(twin) == "Generator(seed=5, counter=3)"
    a, b = random.rand(10, generator=generator), random.rand(10, generator=twin)
    np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_generators_without_a_seed_differ() -> None:
    assert Generator().seed != Generator().seed


def test_split_gives_other_seeds() -> None:
    generator = Generator(1)
    children = generator.split(100) + generator.split(100)
    assert len({child.seed for child in children}) == 200
    assert [child.seed for child in Generator(1).split(3)] == [child.seed for child in children[:3]]


def test_numbers_beyond_the_last_block_are_the_first() -> None:
    generator = Generator(3)
    generator.set_state((3, 2**64 - 1))
    wrapped = random.rand(8, generator=generator).numpy()
    assert generator.counter == 1
    np.testing.assert_array_equal(wrapped[4:], random.rand(4, generator=Generator(3)).numpy())


def test_threads_that_share_a_generator_get_different_numbers() -> None:
    generator = Generator(0)
    found: list[Any] = []
    workers = [
        threading.Thread(
            target=lambda: found.extend(
                random.randint(0, 2**64, 2, ex.uint64, generator) for _ in range(200)
            )
        )
        for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(np.unique(np.concatenate([x.numpy() for x in found]))) == 1600


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(4))
def test_uniform_distribution(dtype: str, seed: int) -> None:
    x = random.rand(200_000, dtype=dtype, generator=Generator(seed)).numpy()
    assert x.min() >= 0
    assert x.max() < 1
    assert stats.kstest(x, "uniform").pvalue > 1e-3
    assert abs(x.mean(dtype=np.float64) - 0.5) < 4 * (1 / 12 / x.size) ** 0.5
    assert abs(x.var(dtype=np.float64) - 1 / 12) < 4 * (1 / 180 / x.size) ** 0.5


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(4))
def test_normal_distribution(dtype: str, seed: int) -> None:
    x = random.randn(200_000, dtype=dtype, generator=Generator(seed)).numpy().astype(np.float64)
    assert np.isfinite(x).all()
    assert stats.kstest(x, "norm").pvalue > 1e-3
    # The variances of the first four sample moments of a normal distribution.
    for moment, (expected, variance) in enumerate([(0, 1), (1, 2), (0, 15), (3, 96)], start=1):
        assert abs((x**moment).mean() - expected) < 4 * (variance / x.size) ** 0.5
    # The two numbers of a Box-Muller pair are independent, and so are their sizes.
    assert abs(np.corrcoef(x[0::2], x[1::2])[0, 1]) < 4 / (x.size / 2) ** 0.5
    assert abs(np.corrcoef(x[0::2] ** 2, x[1::2] ** 2)[0, 1]) < 4 / (x.size / 2) ** 0.5


def test_normal_tails() -> None:
    x = np.abs(random.randn(4_000_000, generator=Generator(11)).numpy())
    for bound in (3.0, 4.0, 4.5):
        expected = 2 * stats.norm.sf(bound) * x.size
        assert abs((x > bound).sum() - expected) < 4 * expected**0.5


@pytest.mark.parametrize("seed", range(3))
def test_every_bit_is_fair(seed: int) -> None:
    words = philox.random_bits(seed, 0, 0, (100_000,), ex.uint32)
    ones = ((words[:, None] >> np.arange(32, dtype=np.uint32)) & 1).sum(axis=0)
    assert stats.chisquare(np.stack([ones, words.size - ones]).ravel()).pvalue > 1e-3
    for shift in (0, 8, 16, 24):
        counts = np.bincount(words >> np.uint32(shift) & np.uint32(255), minlength=256)
        assert stats.chisquare(counts).pvalue > 1e-3


def test_neighbouring_seeds_and_numbers_are_not_correlated() -> None:
    rows = np.stack([random.rand(20_000, generator=Generator(seed)).numpy() for seed in range(12)])
    between = np.corrcoef(rows)[~np.eye(12, dtype=bool)]
    assert np.abs(between).max() < 4.5 / 20_000**0.5
    flat = rows.ravel()
    for lag in (1, 2, 3, 4, 8, 16):
        assert abs(np.corrcoef(flat[:-lag], flat[lag:])[0, 1]) < 4 / flat.size**0.5


@pytest.mark.parametrize(("low", "high"), [(0, 2), (-3, 4), (0, 256), (10, 1010)])
def test_integers_are_equally_likely(low: int, high: int) -> None:
    x = random.randint(low, high, 300_000, generator=Generator(2)).numpy()
    counts = np.bincount(x - low, minlength=high - low)
    assert len(counts) == high - low
    assert stats.chisquare(counts).pvalue > 1e-3


def test_integers_of_an_awkward_range_are_equally_likely() -> None:
    # Every fourth draw is rejected here; a remainder would give the lower third twice the chance.
    high = 3 * 2**62
    x = random.randint(0, high, 100_000, ex.uint64, Generator(0)).numpy()
    assert x.max() < high
    assert stats.chisquare(np.bincount((x // np.uint64(2**62)).astype(np.int64))).pvalue > 1e-3


@pytest.mark.parametrize("dtype", [*INTEGERS, "bool"])
def test_integers_reach_the_ends_of_their_dtype(dtype: str) -> None:
    low, high = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    x = random.randint(low, high + 1, 5000, dtype, Generator(0))
    assert x.dtype == np.dtype(dtype)
    wide = x.numpy().astype(np.float64)
    assert wide.min() <= low + (high - low) * 0.01
    assert wide.max() >= low + (high - low) * 0.99
    only = random.randint(high, high + 1, 3, dtype)
    assert only.tolist() == [high] * 3


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1), (-0.1, 0.1), (1000, 1002.5), (-3, 0)])
def test_uniform_stays_below_high(dtype: str, low: float, high: float) -> None:
    x = random.uniform(low, high, 50_000, dtype, generator=Generator(1))
    assert str(x.dtype) == dtype
    wide = x.numpy().astype(np.float64)
    assert wide.max() < high
    assert wide.min() >= float(np.asarray(low).astype(x.dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_largest_fraction_stays_below_one(dtype: str) -> None:
    *_, last = interval_of("rand", 0.0, 1.0, ex.dtypes.as_dtype(dtype))
    bits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}[dtype]
    assert last == 1 - 2.0**-bits
    if dtype in ("float16", "bfloat16"):
        x = random.rand(100_000, dtype=dtype, generator=Generator(0)).numpy().astype(np.float64)
        assert x.max() == last
        assert abs(x.mean() - 0.5) < 4 * (1 / 12 / x.size) ** 0.5


@pytest.mark.parametrize("dtype", FLOATS)
def test_dtypes_and_shapes(dtype: str) -> None:
    for made in (
        random.rand(2, 0, 3, dtype=dtype),
        random.rand((2, 0, 3), dtype=dtype),
        random.randn([2, 0, 3], dtype=dtype),
        random.uniform(0, 1, (2, 0, 3), dtype),
        random.normal(0, 1, (2, 0, 3), dtype),
        random.bernoulli(0.5, (2, 0, 3), dtype),
    ):
        assert made.shape == (2, 0, 3)
        assert str(made.dtype) == dtype
    assert random.rand(dtype=dtype).shape == ()
    assert random.randn(4, dtype=dtype).shape == (4,)
    assert random.rand(4, dtype=dtype, requires_grad=True).requires_grad


def test_default_dtype_is_used() -> None:
    assert random.rand(2).dtype == ex.float32
    ex.set_default_dtype("float64")
    try:
        assert random.rand(2).dtype == random.randn(2).dtype == ex.float64
        assert random.bernoulli(0.5, 2).dtype == ex.float64
    finally:
        ex.set_default_dtype("float32")


def test_uniform_of_equal_ends_is_that_number() -> None:
    assert random.uniform(0.25, 0.25, 3).tolist() == [0.25] * 3


def test_normal_has_its_mean_and_deviation() -> None:
    x = random.normal(5, 0.5, 100_000, generator=Generator(0)).numpy()
    assert abs(x.mean() - 5) < 0.01
    assert abs(x.std() - 0.5) < 0.01
    assert random.normal(2, 0, 3).tolist() == [2.0] * 3


def test_bernoulli_has_its_probability() -> None:
    for p in (0.01, 0.3, 0.5, 0.9):
        x = random.bernoulli(p, 100_000, "bool", Generator(4)).numpy()
        assert x.dtype == np.bool_
        assert abs(x.mean() - p) < 4 * (p * (1 - p) / x.size) ** 0.5
        same = random.bernoulli(np.full(1, p), 100_000, generator=Generator(4))
        assert same.dtype == ex.float64
        np.testing.assert_array_equal(same.numpy(), x)


def test_bernoulli_of_an_array() -> None:
    p = ex.tensor([[0.0], [1.0]])
    x = random.bernoulli(p, (3, 2, 4))
    np.testing.assert_array_equal(x.numpy(), np.broadcast_to(p.numpy(), (3, 2, 4)))
    assert random.bernoulli(p).shape == (2, 1)
    assert random.bernoulli(ex.tensor(1.0, dtype="float64")).dtype == ex.float64
    assert random.bernoulli(1).tolist() == 1.0
    assert random.bernoulli([0.0, 1.0], dtype=ex.int8).tolist() == [0, 1]
    assert random.bernoulli(np.ones(2, bfloat16())).dtype == bfloat16()


def test_permutation_orders_are_equally_likely() -> None:
    generator = Generator(0)
    orders = [tuple(random.permutation(3, generator).tolist()) for _ in range(3000)]
    counts = [orders.count(order) for order in sorted(set(orders))]
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-3


def test_permutation_of_an_array_keeps_rows() -> None:
    x = np.arange(20).reshape(10, 2)
    shuffled = random.permutation(x, Generator(3)).numpy()
    np.testing.assert_array_equal(x, np.arange(20).reshape(10, 2))
    np.testing.assert_array_equal(np.sort(shuffled[:, 0]), x[:, 0])
    np.testing.assert_array_equal(shuffled[:, 1], shuffled[:, 0] + 1)
    assert random.permutation(0).shape == (0,)
    leaf = ex.tensor([1.0, 2.0], requires_grad=True)
    random.permutation(leaf).sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [1.0, 1.0]


def test_choice_has_its_probabilities() -> None:
    p = np.array([0.1, 0.0, 0.6, 0.3, 0.0])
    x = random.choice(5, 50_000, p=p, generator=Generator(0)).numpy()
    counts = np.bincount(x, minlength=5)
    assert counts[1] == counts[4] == 0
    assert stats.chisquare(counts[p > 0], p[p > 0] * x.size).pvalue > 1e-3


def test_choice_without_replacement_has_its_probabilities() -> None:
    p = [0.5, 0.3, 0.2]
    generator = Generator(0)
    pairs = [
        tuple(random.choice(3, 2, replace=False, p=p, generator=generator).tolist())
        for _ in range(3000)
    ]
    possible = [(i, j) for i in range(3) for j in range(3) if i != j]
    counts = [pairs.count(pair) for pair in possible]
    expected = [3000 * p[i] * p[j] / (1 - p[i]) for i, j in possible]
    assert stats.chisquare(counts, expected).pvalue > 1e-3


def test_choice_shapes() -> None:
    rows = ex.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert random.choice(rows, (3, 4)).shape == (3, 4, 2)
    assert random.choice(rows).shape == (2,)
    assert random.choice(9).shape == ()
    assert random.choice(0, 0).shape == (0,)
    assert random.choice(4, (2, 0), replace=False).shape == (2, 0)
    assert sorted(random.choice(6, (2, 3), replace=False).numpy().ravel()) == list(range(6))
    assert random.choice([7], 2).tolist() == [7, 7]
    softmaxed = np.full(1000, 1e-3, np.float32)
    assert random.choice(1000, 2, p=softmaxed).shape == (2,)


ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: random.manual_seed(2**64), ValueError,
     "manual_seed: seed must be from 0 to 2**64 - 1, got seed=18446744073709551616"),
    (lambda: random.manual_seed(-1), ValueError,
     "manual_seed: seed must be from 0 to 2**64 - 1, got seed=-1"),
    (lambda: Generator(2**70), ValueError,
     "Generator: seed must be from 0 to 2**64 - 1, got seed=1180591620717411303424"),
    (lambda: Generator(1.5), TypeError,  # type: ignore[arg-type]
     "Generator: seed must be an int, got seed=1.5"),
    (lambda: random.set_state((0, 2**64)), ValueError,
     "set_state: state must be two ints from 0 to 2**64 - 1, seed and counter, "
     "got state=(0, 18446744073709551616)"),
    (lambda: random.set_state([1]), ValueError,
     "set_state: state must be two ints from 0 to 2**64 - 1, seed and counter, got state=[1]"),
    (lambda: Generator(0).split(-1), ValueError,
     "split: number must not be negative, got number=-1"),
    (lambda: random.rand(2, -1), ValueError,
     "rand: shape must not be negative, got shape=(2, -1)"),
    (lambda: random.rand(2.0), TypeError, "rand: shape must be ints, got shape=2.0"),
    (lambda: random.rand(2, dtype="int32"), TypeError,
     "rand: dtype must be floating, got dtype='int32'"),
    (lambda: random.rand(2, generator=3), TypeError,  # type: ignore[arg-type]
     "rand: generator must be a Generator, got generator='int'"),
    (lambda: random.randn(2, dtype="bool"), TypeError,
     "randn: dtype must be floating, got dtype='bool'"),
    (lambda: random.uniform(2, 1), ValueError,
     "uniform: low must not be above high, got low=2.0, high=1.0"),
    (lambda: random.uniform(0, float("inf")), ValueError,
     "uniform: high must be finite, got high=inf"),
    (lambda: random.uniform("0", 1), TypeError,  # type: ignore[arg-type]
     "uniform: low must be a number, got low='0'"),
    (lambda: random.uniform(-3e38, 3e38), ValueError,
     "uniform: the interval must be finite in float32, got low=-3e+38, high=3e+38"),
    (lambda: random.uniform(0, 1e6, dtype="float16"), ValueError,
     "uniform: the interval must be finite in float16, got low=0.0, high=1000000.0"),
    (lambda: random.uniform(1.0000001, 1.00000011), ValueError,
     "uniform: a float32 must lie in the interval, got low=1.0000001, high=1.00000011"),
    (lambda: random.normal(0, -1), ValueError, "normal: std must be 0 or more, got std=-1.0"),
    (lambda: random.normal(float("nan")), ValueError, "normal: mean must be finite, got mean=nan"),
    (lambda: random.normal(1e5, 1, dtype="float16"), ValueError,
     "normal: mean and std must be finite in float16, got mean=100000.0, std=1.0"),
    (lambda: random.randint(3, 3), ValueError,
     "randint: low must be below high, got low=3, high=3"),
    (lambda: random.randint(0.5, 3), TypeError,  # type: ignore[arg-type]
     "randint: low and high must be ints, got low=0.5, high=3"),
    (lambda: random.randint(0, 3, dtype="float32"), TypeError,
     "randint: dtype must be bool or an integer dtype, got dtype='float32'"),
    (lambda: random.randint(0, 257, dtype="uint8"), ValueError,
     "randint: the integers must fit dtype uint8, got low=0, high=257"),
    (lambda: random.randint(-1, 2, dtype="bool"), ValueError,
     "randint: the integers must fit dtype bool, got low=-1, high=2"),
    (lambda: random.bernoulli(1.5), ValueError, "bernoulli: p must be in [0, 1], got p=1.5"),
    (lambda: random.bernoulli([0.5, float("nan")]), ValueError,
     "bernoulli: p must be in [0, 1], got p=[0.5, nan]"),
    (lambda: random.bernoulli([0.5, 0.5], (2, 3)), ValueError,
     "bernoulli: p must broadcast to shape, got p_shape=(2,), shape=(2, 3)"),
    (lambda: random.permutation(-1), ValueError, "permutation: x must not be negative, got x=-1"),
    (lambda: random.permutation(np.float32(1)), ValueError,
     "permutation: x must be an int or have an axis, got x_shape=()"),
    (lambda: random.choice(2.5), ValueError,
     "choice: a must be an int or have an axis, got a_shape=()"),
    (lambda: random.choice(3, 4, replace=False), ValueError,
     "choice: 4 elements must be possible, got possible=3, replace=False"),
    (lambda: random.choice(0, 1), ValueError,
     "choice: 1 elements must be possible, got possible=0, replace=True"),
    (lambda: random.choice(3, 3, replace=False, p=[0.5, 0.5, 0.0]), ValueError,
     "choice: 3 elements must be possible, got possible=2, replace=False"),
    (lambda: random.choice(3, p=[0.5, 0.5]), ValueError,
     "choice: p must have shape (3,), got p_shape=(2,)"),
    (lambda: random.choice(2, p=[1.5, -0.5]), ValueError,
     "choice: p must not be negative, got p=[1.5, -0.5]"),
    (lambda: random.choice(2, p=[0.5, 0.25]), ValueError, "choice: p must sum to 1, got sum=0.75"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "text"), ERRORS)
def test_error_texts(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=f"^{re.escape(text)}$"):
        call()


def test_another_default_in_one_thread() -> None:
    own = Generator(7)
    before = random.get_state()
    with drawing_from(own):
        inside = random.rand(3)
        assert random.get_state() == own.get_state() == (7, 1)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(random.get_state).result() == before
        with drawing_from(Generator(8)):
            random.rand(3)
        assert own.get_state() == (7, 1)
    assert random.get_state() == before
    np.testing.assert_array_equal(inside, random.rand(3, generator=Generator(7)))
