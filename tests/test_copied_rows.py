"""Copies of arrays, and of rows of one into places of another, as batches of shards are put together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from extensor import _native
from extensor.arrays import storage
from extensor.arrays.dtypes import as_dtype

REFUSED = "copy_rows: needs two arrays of like rows, and as many places as rows"


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "bfloat16", "uint8"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 5), (0,)])
def test_rows_come_to_their_places(dtype: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    source = rng.integers(0, 2, (7, *shape)).astype(as_dtype(dtype))
    target = np.zeros((9, *shape), as_dtype(dtype))
    places, rows = rng.permutation(9)[:6], rng.integers(0, 7, 6)
    expected = target.copy()
    expected[places] = source[rows]
    _native.copy_rows(target, places, source, rows)
    assert target.tobytes() == expected.tobytes()


def test_memory_that_is_not_aligned_or_read_only_can_be_read() -> None:
    memory = bytes(range(1, 30))
    source = np.frombuffer(memory, np.uint8, offset=1).view(np.float32).reshape(7, 1)
    target = np.zeros((2, 1), np.float32)
    _native.copy_rows(target, np.array([1, 0]), source, np.array([6, 2]))
    assert target.tobytes() == source[[2, 6]].tobytes()


def test_numbers_may_be_of_any_integer_of_that_size() -> None:
    target = np.zeros((2, 1))
    numbers = np.array([1, 0], np.longlong)
    _native.copy_rows(target, numbers, np.array([[5.0], [6.0]]), np.array([0, 1], np.longlong))
    assert target.tolist() == [[6.0], [5.0]]


def _misfits() -> dict[str, list[Any]]:
    target, source, two = np.zeros((4, 3)), np.ones((2, 3)), np.array([0, 1])
    fixed = target.copy()
    fixed.flags.writeable = False
    return {
        "a place beyond the end": [target, np.array([0, 4]), source, two],
        "a place before the beginning": [target, np.array([-1, 0]), source, two],
        "a row beyond the end": [target, two, source, np.array([0, 2])],
        "more places than rows": [target, np.arange(3), source, two],
        "other rows": [target, two, np.ones((2, 4)), two],
        "another dtype": [target, two, source.astype(np.float32), two],
        "no rows": [np.zeros(()), two, source, two],
        "objects": [np.zeros((4, 3), object), two, np.ones((2, 3), object), two],
        "a target that cannot be written": [fixed, two, source, two],
        "a target with gaps": [np.zeros((4, 6))[:, ::2], two, source, two],
        "a source with gaps": [target, two, np.ones((2, 6))[:, ::2], two],
        "numbers of another dtype": [target, two.astype(np.int32), source, two],
        "numbers with gaps": [target, np.arange(4)[::2], source, two],
        "no array": [target, [0, 1], source, two],
        "too few": [target, two, source],
    }


@pytest.mark.parametrize("misfit", _misfits())
def test_what_does_not_fit_is_refused_and_nothing_written(misfit: str) -> None:
    arguments = _misfits()[misfit]
    before = arguments[0].copy()
    with pytest.raises(ValueError, match=f"^{REFUSED}$"):
        _native.copy_rows(*arguments)
    assert np.array_equal(arguments[0], before)


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "bfloat16", "uint8"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 5), (0, 4), (300, 1000)])
def test_a_copy_has_the_bytes_in_memory_of_its_own(dtype: str, shape: tuple[int, ...]) -> None:
    source = np.random.default_rng(0).integers(0, 2, shape).astype(as_dtype(dtype))
    source.flags.writeable = False
    made = _native.copied(source)
    assert made is not None
    assert (made.shape, made.dtype, made.tobytes()) == (shape, source.dtype, source.tobytes())
    assert made.flags.owndata
    assert made.flags.writeable
    assert not np.shares_memory(made, source)


@pytest.mark.parametrize(
    "given",
    [
        np.ones((4, 4))[:, ::2],
        np.ones((2, 3)).T,
        np.ones(3, ">f4"),
        np.array(["a"]),
        np.array([None]),
        np.ones(2, complex),
        np.ones(2).view(type("Own", (np.ndarray,), {})),
        [1.0],
        None,
    ],
    ids=str,
)
def test_what_is_not_plain_is_left_to_numpy(given: Any) -> None:
    assert _native.copied(given) is None
    if isinstance(given, np.ndarray):
        made = storage.copied(given)
        assert made.tolist() == given.tolist()
        assert not np.shares_memory(made, given)
