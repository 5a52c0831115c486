"""Kernels of integers and booleans: NumPy's results exactly, where they wrap around too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from kernels import assert_same_bits

import extensor as ex
from extensor.core import door
from extensor.core.op import OPS

pytestmark = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")

NUMBERS = ["int32", "int64"]
ARITHMETIC = ["add", "subtract", "multiply", "floor_divide", "modulo", "maximum", "minimum"]
COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
UNARY = ["negative", "square", "abs", "sign"]
LENGTHS = [*range(20), 63, 64, 65, 1023, 1025, 5000]


def _draw(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    """Small numbers, so that some are equal, and the extremes of the dtype among them."""
    if dtype == "bool":
        return rng.random(shape) > 0.5
    info = np.iinfo(dtype)
    x = rng.integers(-4, 5, shape).astype(dtype)
    extremes = np.array([info.min, info.min + 1, info.max, 0, -1], dtype)
    chosen = rng.random(shape) < 0.2
    x[chosen] = rng.choice(extremes, int(chosen.sum()))
    return x


def _formula(name: str, *arguments: Any) -> Any:
    with np.errstate(all="ignore"):
        return OPS[name].formula(*arguments)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", [*ARITHMETIC, *UNARY, *COMPARISONS])
def test_numbers(name: str, dtype: str, rng: np.random.Generator) -> None:
    for length in LENGTHS:
        arrays = [_draw(rng, dtype, length) for _ in range(OPS[name].arity)]
        assert_same_bits(OPS[name].kernel(*arrays), _formula(name, *arrays))


@pytest.mark.parametrize("name", COMPARISONS)
def test_booleans(name: str, rng: np.random.Generator) -> None:
    for length in LENGTHS:
        a, b = (_draw(rng, "bool", length) for _ in range(2))
        assert_same_bits(OPS[name].kernel(a, b), _formula(name, a, b))


def test_any_byte_but_0_is_true() -> None:
    a, b = np.array([0, 1, 2, 255], np.uint8).view(bool), np.array([False, True, True, True])
    assert OPS["equal"].kernel(a, b).all()
    assert OPS["sum"].kernel(a, None, False) == 3
    assert not OPS["all"].kernel(a, None, False)
    assert OPS["argmax"].kernel(a, None, False) == 1
    assert OPS["where"].kernel(a, np.arange(4), np.full(4, -1)).tolist() == [-1, 1, 2, 3]


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", [*ARITHMETIC, *COMPARISONS])
def test_layouts_and_broadcasting(name: str, dtype: str, rng: np.random.Generator) -> None:
    whole = _draw(rng, dtype, 6, 5, 14)
    for a in (whole, whole[::-1], whole.T, whole[:, :, ::3], whole[:, 2], whole[:, :1]):
        for b in (a.copy(), a[:1], a[..., -1:], np.asfortranarray(a), np.array(3, dtype)):
            assert_same_bits(OPS[name].kernel(a, b), _formula(name, a, b))
            assert_same_bits(OPS[name].kernel(b, a), _formula(name, b, a))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("number", [0, 1, -7, 2**31 - 1, True])
def test_numbers_of_python(dtype: str, number: int, rng: np.random.Generator) -> None:
    x = _draw(rng, dtype, 3, 7)
    alone = np.array(number, dtype)
    for name in (*ARITHMETIC, *COMPARISONS):
        assert_same_bits(OPS[name].kernel(x, number), _formula(name, x, alone))
        assert_same_bits(OPS[name].kernel(number, x), _formula(name, alone, x))


@pytest.mark.parametrize(
    ("dtype", "number"),
    [("int32", 2**31), ("int64", 2**53 + 1), ("int64", -(2**70)), ("int64", 0.5), ("bool", 1)],
)
def test_declines_numbers_that_a_dtype_or_a_call_cannot_hold(dtype: str, number: Any) -> None:
    x = np.ones(3, dtype)
    for name in ("add", "equal"):
        assert OPS[name].kernel(x, number) is NotImplemented


def test_declines_mixed_dtypes_and_arithmetic_of_booleans() -> None:
    i, j, b = np.ones(3, "int64"), np.ones(3, "int32"), np.ones(3, bool)
    for a, c in ((i, j), (i, b), (b, b), (i, np.ones(3, "float32"))):
        assert OPS["add"].kernel(a, c) is NotImplemented
    assert OPS["sum"].kernel(np.ones(3, "uint8"), None, False) is NotImplemented


@pytest.mark.parametrize("dtype", [*NUMBERS, "bool"])
def test_choices(dtype: str, rng: np.random.Generator) -> None:
    for shape in ((37,), (5, 9), (2, 3, 8)):
        condition, a, b = (_draw(rng, kind, *shape) for kind in ("bool", dtype, dtype))
        assert_same_bits(OPS["where"].kernel(condition, a, b), np.where(condition, a, b))
        assert_same_bits(
            OPS["where"].kernel(condition[..., :1], a, b[..., ::-1]),
            np.where(condition[..., :1], a, b[..., ::-1]),
        )
        number = np.array(True, dtype)
        assert_same_bits(OPS["where"].kernel(condition, a, True), np.where(condition, a, number))
        filled = np.where(condition, number, a)
        assert_same_bits(OPS["masked_fill"].kernel(a, condition, True), filled)


REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.sum,
    "max_reduce": np.max,
    "min_reduce": np.min,
}


@pytest.mark.parametrize("dtype", [*NUMBERS, "bool"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str, dtype: str, rng: np.random.Generator) -> None:
    for shape in ((1,), (9,), (3, 4), (1, 7), (5, 1), (2, 3, 4), (70_000,), (3, 1500), (9000, 9)):
        x = _draw(rng, dtype, *shape)
        for layout in (x, x[::-1], x.T):
            for axis in (None, *range(x.ndim), tuple(range(x.ndim)), (0, -1)[: x.ndim]):
                expected = REDUCTIONS[name](layout, axis=axis, keepdims=True)
                found = OPS[name].kernel(layout, axis, True)
                if found is NotImplemented:  # axes that are no neighbours
                    assert x.ndim == 3
                    continue
                assert_same_bits(found, np.asarray(expected))
                flat = REDUCTIONS[name](layout, axis=axis)
                assert_same_bits(OPS[name].kernel(layout, axis, False), np.asarray(flat))


def test_sums_wrap_around() -> None:
    x = np.full(100_000, np.iinfo(np.int64).max)
    with np.errstate(all="ignore"):
        assert OPS["sum"].kernel(x, None, False) == x.sum()
    largest = np.full(100_000, 2**31 - 1, "int32")
    assert OPS["sum"].kernel(largest, None, False) == largest.size * (2**31 - 1)


@pytest.mark.parametrize(("name", "function"), [("any", np.any), ("all", np.all)])
def test_quantifiers(name: str, function: Any, rng: np.random.Generator) -> None:
    for chance in (0.0, 0.1, 0.9, 1.0):
        x = rng.random((7, 30)) < chance
        for axis in (None, 0, 1):
            found = OPS[name].kernel(x, axis, False)
            assert_same_bits(found, np.asarray(function(x, axis=axis)))
    assert OPS["count_nonzero"].kernel(x, 0, False).tolist() == [7] * 30
    assert OPS[name].kernel(np.ones(3), None, False) is NotImplemented


@pytest.mark.parametrize("dtype", [*NUMBERS, "bool"])
@pytest.mark.parametrize(("name", "function"), [("argmax", np.argmax), ("argmin", np.argmin)])
def test_places(name: str, function: Any, dtype: str, rng: np.random.Generator) -> None:
    for shape in ((1,), (9,), (3, 40), (2, 3, 17)):
        x = _draw(rng, dtype, *shape)
        for layout in (x, np.asfortranarray(x), x[::-1]):
            for axis in (None, -1):
                found = OPS[name].kernel(layout, axis, False)
                assert_same_bits(found, np.asarray(function(layout, axis=axis)))


@pytest.mark.parametrize("to", ["bool", "int32", "int64"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "int64", "uint8", "uint32", "uint64"])
def test_casts(dtype: str, to: str, rng: np.random.Generator) -> None:
    x = rng.integers(-(2**62), 2**62, 3000)
    x[::3] = 0
    x = x.astype(dtype)
    for layout in (x, x[::-2], x.reshape(30, 100).T):
        assert_same_bits(OPS["cast"].kernel(layout, np.dtype(to)), layout.astype(to))


@pytest.mark.parametrize("name", [*ARITHMETIC, *COMPARISONS, "sum", "max_reduce", "argmin"])
def test_the_number_of_threads_changes_nothing(
    name: str, threads: Any, rng: np.random.Generator
) -> None:
    x = _draw(rng, "int64", 700, 501)
    arguments: tuple[Any, ...] = (x, x[::-1]) if OPS[name].arity == 2 else (x, None, False)
    results = []
    for count in (1, 2, 3, 8):
        threads(count)
        results.append(OPS[name].kernel(*arguments))
    for result in results:
        assert_same_bits(result, _formula(name, *arguments))


def test_tensors_take_the_kernels() -> None:
    i, m = ex.tensor([1, 2, 3]), ex.tensor([True, False, True])
    seen = []
    with door.watch(lambda event: seen.append((event.op, event.kernel))):
        results = [i + 1, i * i, 2 - i, i < 3, m.sum(), m.any(), ex.where(m, i, 0), i.argmax()]
    assert all(kernel is not None for _, kernel in seen)
    assert [x.tolist() for x in results] == [
        [2, 3, 4], [1, 4, 9], [1, 0, -1], [True, True, False], 2, True, [1, 0, 3], 2,
    ]  # fmt: skip
