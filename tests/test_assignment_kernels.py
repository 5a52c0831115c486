"""Kernels that write into arrays, or into copies of them: every bit of NumPy's result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels import assert_same_bits

import extensor as ex
from extensor import _native
from extensor.core import door
from extensor.core.op import OPS

pytestmark = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")

setitem = _native.kernels["setitem"]
INDICES: list[Any] = [
    ..., (), 1, -1, (0, 2), slice(None), slice(1, 3), slice(None, None, -1), slice(3, 0, -2),
    (slice(None), 1), (..., -1), (..., slice(None, None, 2)), None, (None, 2, ...),
    (slice(1, 2), slice(0, 0)), (slice(2), 1, slice(None, None, 3)),
]  # fmt: skip
DTYPES = ["float32", "float64", "float16", "bool", "int8", "int64"]


def _draw(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    return rng.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_setitem(index: Any, dtype: str, rng: np.random.Generator) -> None:
    x = _draw(rng, dtype, 4, 5, 6)
    for target in (x, x[::-1], x.T.copy().T, x[:, :, ::2]):
        part = target[index]
        values = [_draw(rng, dtype, *part.shape), np.array(1, dtype)]
        if part.ndim:
            values += [_draw(rng, dtype, *part.shape)[::-1], _draw(rng, dtype, *part.shape[1:])]
        for value in values:
            expected, found = target.copy(), np.array(target)
            expected[index] = value
            assert setitem(found, index, value) is found
            assert_same_bits(found, expected)


@pytest.mark.parametrize("number", [0, 1, -3, True, 0.1, float("nan"), float("inf"), 1e39])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers(dtype: str, number: float) -> None:
    found, expected = np.ones((3, 70), dtype), np.ones((3, 70), dtype)
    setitem(found, (slice(None), slice(None, None, 2)), number)
    with np.errstate(all="ignore"):
        expected[:, ::2] = number
    assert_same_bits(found, expected)


@pytest.mark.parametrize(
    ("dtype", "of_value"),
    [("float32", "float64"), ("float64", "float32"), ("float32", "int64"), ("float16", "float32"),
     ("float64", "bool"), ("int64", "int32"), ("int32", "int64"), ("int64", "bool")],
)  # fmt: skip
def test_values_of_other_dtypes(dtype: str, of_value: str, rng: np.random.Generator) -> None:
    value = (rng.normal(size=(7, 33)) * 100).astype(of_value)
    found, expected = np.zeros((2, 7, 33), dtype), np.zeros((2, 7, 33), dtype)
    expected[1] = value
    setitem(found, 1, value)
    assert_same_bits(found, expected)


def test_declines_what_numpy_has_to_look_at() -> None:
    x = np.zeros((3, 4), "float32")
    frozen = x.copy()
    frozen.flags.writeable = False
    repeated = np.lib.stride_tricks.as_strided(x, (3, 4), (0, 4))
    wrong: list[tuple[Any, ...]] = [
        (frozen, 0, 1.0), (repeated, ..., np.ones((3, 4), "float32")), (x, 5, 1.0),
        (x, [0, 1], 1.0), (x, 0, np.ones(3, "float32")), (x, 0, "1"), (x, 0, 1j),
        (x, 0, np.ones((1, 4, 4), "float32")), (np.zeros(3, "int64"), 0, 0.5),
        (np.zeros(3, "float16"), 0, 1.0), (np.zeros(3, "int32"), 0, 2**31),
    ]  # fmt: skip
    for arguments in wrong:
        assert setitem(*arguments) is NotImplemented
    assert not x.any()


def test_memory_that_overlaps() -> None:
    x = ex.arange(8.0)
    x[1:] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2, 3, 4, 5, 6]
    x[::-1] = x
    assert x.tolist() == [6, 5, 4, 3, 2, 1, 0, 0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_copies_with_a_part(index: Any, dtype: str, rng: np.random.Generator) -> None:
    x = _draw(rng, dtype, 4, 5, 6)
    for whole in (x, x.transpose(1, 0, 2).copy().transpose(1, 0, 2)):
        before = whole.copy()
        shape = whole[index].shape
        for updates in (_draw(rng, dtype, *shape), _draw(rng, dtype, *shape[1:])):
            for name in ("index_set", "index_add"):
                found = OPS[name].kernel(whole, updates, index)
                assert_same_bits(found, OPS[name].formula(whole, updates, index))
        assert_same_bits(whole, before)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_sums_at_rows(dtype: str, rng: np.random.Generator) -> None:
    for shape in ((9,), (9, 40), (9, 3, 5)):
        x = rng.normal(size=shape).astype(dtype)
        for index in (np.array([0, 0, -1, 5, 0]), np.array([[1, 2], [8, 1]]), np.zeros(0, int)):
            updates = rng.normal(size=(*index.shape, *shape[1:])).astype(dtype)
            found = OPS["index_add"].kernel(x, updates, index)
            assert_same_bits(found, OPS["index_add"].formula(x, updates, index))
    assert OPS["index_add"].kernel(x, updates, np.array([9])) is NotImplemented


def test_the_number_of_threads_changes_nothing(threads: Any, rng: np.random.Generator) -> None:
    x = rng.normal(size=(900, 700)).astype("float32")
    updates = rng.normal(size=(20_000, 700)).astype("float32")
    rows = rng.integers(0, 900, 20_000)
    part = (slice(None, None, 2), slice(3, 690))
    results = []
    for count in (1, 2, 3, 8):
        threads(count)
        written = x.copy()
        setitem(written, part, updates[:450, :687])
        sums = OPS["index_add"].kernel(x, updates, rows)
        parts = OPS["index_add"].kernel(x, updates[:450, :687], part)
        results.append([a.tobytes() for a in (written, sums, parts)])
    assert results.count(results[0]) == len(results)


def test_writing_is_a_call_that_the_tape_notices() -> None:
    x = ex.ones((3, 4), requires_grad=True)
    h = x * 2.0
    y = h.detach()
    total = (h * h).sum()
    seen = []
    with door.watch(lambda event: seen.append(event.kernel)):
        y[1] = 3.0
        y[...] = ex.zeros((3, 4))
    assert [name for name in seen if name is not None] == ["setitem", "setitem"]
    with pytest.raises(RuntimeError, match="was changed in place"):
        total.backward()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("axes", [2, 4])
def test_running_statistics_are_rounded_once(
    axes: int, dtype: str, rng: np.random.Generator
) -> None:
    mean, variance = (ex.tensor(rng.random(3).astype(dtype)) for _ in range(2))
    memory = mean.numpy()
    for _ in range(3):
        x = rng.normal(size=(6, 3, 4, 5)[:axes]).astype("float32")
        before = mean.numpy().copy(), variance.numpy().copy()
        _, *moved = OPS["batch_norm"].kernel(x, *before, None, None, True, 0.1, 1e-5)
        ex.batch_norm(x, mean, variance, training=True)
        for found, wide in zip((mean, variance), moved, strict=True):
            assert_same_bits(found.numpy(), wide.astype(dtype))
    assert mean.numpy() is memory


def test_a_step_of_batch_norm_has_no_formulas() -> None:
    layer, x = ex.nn.BatchNorm2d(3), ex.ones((2, 3, 4, 4))
    counter = layer.num_batches_tracked
    seen = []
    with door.watch(lambda event: seen.append(event.kernel)):
        layer(x).sum().backward()
    assert None not in seen
    assert layer.num_batches_tracked is counter
    assert int(counter) == 1


def test_running_statistics_that_were_saved_are_known_to_have_changed() -> None:
    layer, x = ex.nn.BatchNorm1d(2), ex.ones((4, 2), requires_grad=True)
    product = (x * layer.running_var).sum()
    layer(ex.arange(8.0).reshape((4, 2)))
    with pytest.raises(RuntimeError, match="was changed in place"):
        product.backward()
