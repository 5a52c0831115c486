"""Integers: exact in every op whose mathematics is, a float only where it cannot be otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from calls import INTEGERS, arrays_of, call, flat
from cases.case import Case
from op_cases import CASES

import extensor as ex
from extensor.core.op import OPS

LARGE = 2**62
# What float32 has no number for near 2**62: its neighbours are 2**39 apart.
NEAR = np.array([LARGE + 1, LARGE - 1, -LARGE - 1, LARGE + 3, 5, -LARGE + 2, 0, LARGE])
ROWS = [row for row in CASES if row.integers and not OPS[row.op].floats]
# They give floats where an argument of theirs is one, or asks for one.
FLOATS_BY_ARGUMENT = {"clip", "cast"}
DTYPES = ["int8", "int32", "int64", "uint8", "uint64"]


def _near(x: Any) -> Any:
    if isinstance(x, list):
        return [_near(item) for item in x]
    if x.dtype != np.int64 or x.size == 0:
        return x
    return np.resize(NEAR, x.shape)


def _whole(case: Case, rng: np.random.Generator) -> list[Any]:
    floating = [g if isinstance(g, list) else g(rng, np.float64) for g in case.inputs]
    arrays = arrays_of(case, rng, "int64")
    return [
        _near(x) if isinstance(f, list) or f.dtype == np.float64 else x
        for x, f in zip(arrays, floating, strict=True)
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_int64_keeps_every_digit(row: Case, rng: np.random.Generator) -> None:
    """Against the row's reference, which computes in Python's integers where it can."""
    arrays = _whole(row, rng)
    try:
        with np.errstate(all="ignore"):
            found = flat(call(row, arrays))
    except (TypeError, ValueError):  # refused: its text is a row of its own
        return
    with np.errstate(all="ignore"):
        expected = flat(row.reference(*arrays, **row.attributes))
    for ours, theirs in zip(found, expected, strict=True):
        reference = np.asarray(theirs)
        if ours.dtype.kind == "f":
            assert row.op in FLOATS_BY_ARGUMENT
        elif reference.dtype.kind in "iub":
            np.testing.assert_array_equal(ours.numpy(), reference)


def _extreme(dtype: str) -> np.ndarray:
    """Eight numbers of the dtype, the least and the largest among them."""
    info = np.iinfo(dtype)
    return np.array([1, info.max, info.max - 1, 0, info.min, info.min + 1, 7, 3], dtype)


def _same(found: ex.Tensor, expected: Any, dtype: str) -> None:
    assert found.dtype == dtype
    assert found.tolist() == expected


@pytest.mark.parametrize("dtype", DTYPES)
def test_largest_of_windows(dtype: str) -> None:
    x = _extreme(dtype)
    info = np.iinfo(dtype)
    pairs = [[[info.max, info.max - 1, info.min + 1, 7]]]
    _same(ex.max_pool1d(x.reshape(1, 1, 8), 2), pairs, dtype)
    _same(ex.max_pool2d(x.reshape(1, 1, 1, 8), (1, 2)), [pairs], dtype)


def test_largest_of_windows_of_booleans() -> None:
    x = np.array([[[False, True, False, False]]])
    _same(ex.max_pool1d(x, 2), [[[True, False]]], "bool")
    _same(ex.nn.MaxPool2d((1, 2))(x[None]), [[[[True, False]]]], "bool")


@pytest.mark.parametrize("dtype", DTYPES)
def test_hard_tanh(dtype: str) -> None:
    x = _extreme(dtype)
    _same(ex.hard_tanh(x), [max(-1, min(1, n)) for n in x.tolist()], dtype)
    _same(ex.hard_tanh(x, -(2.0**70), 7), [min(7, n) for n in x.tolist()], dtype)
    _same(ex.nn.Hardtanh()(x), ex.hard_tanh(x).tolist(), dtype)


def test_hard_tanh_of_booleans() -> None:
    _same(ex.hard_tanh(np.array([True, False])), [True, False], "bool")
    _same(ex.relu6(np.array([True, False])), [True, False], "bool")


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
def test_dropout_that_drops_nothing(dtype: str) -> None:
    x = _extreme("int64").astype(dtype).reshape(2, 4)
    for y in (
        ex.dropout(x, training=False),
        ex.dropout(x, 0.0),
        ex.dropout2d(x, training=False),
        ex.nn.Dropout(0.5).eval()(x),
        ex.nn.Dropout2d(0.5).eval()(x),
    ):
        _same(y, x.tolist(), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_convolutions(dtype: str) -> None:
    x = np.array([[[2**53 + 1, 5, 1, 2]]]).astype(dtype)  # which wraps, as sums of integers do
    weight, bias = np.array([[[1, 2]]], dtype), np.array([3], dtype)
    a, b, c, d = x[0, 0].tolist()
    wrapped = np.array([[[a + 2 * b + 3, b + 2 * c + 3, c + 2 * d + 3]]]).astype(dtype).tolist()
    _same(ex.conv1d(x, weight, bias), wrapped, dtype)
    _same(ex.conv2d(x[None], weight[None], bias), [wrapped], dtype)
    spread = np.array([[[a, 2 * a + b, 2 * b + c, 2 * c + d, 2 * d]]]).astype(dtype).tolist()
    _same(ex.conv_transpose1d(x, weight), spread, dtype)
    _same(ex.conv_transpose2d(x[None], weight[None]), [spread], dtype)


def test_convolution_of_integers_by_floats() -> None:
    x, weight = np.array([[[1, 2]]], "u1"), np.array([[[0.5]]], "f4")
    _same(ex.conv1d(x, weight), [[[0.5, 1.0]]], "float32")


@pytest.mark.parametrize("default", ["float16", "float32"])
def test_integers_are_finite(default: str) -> None:
    """Also those that are none of the default float."""
    before = ex.get_default_dtype()
    ex.set_default_dtype(default)
    try:
        x = np.array([2**62, 2**17, -1])
        assert ex.isfinite(x).all()
        assert not ex.isinf(x).any()
        assert not ex.isnan(x).any()
    finally:
        ex.set_default_dtype(before)


COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("number", [-(2**70), -1, 256, 2**63, 2**64, 2**70, np.int64(-1)])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_comparisons_with_any_number(dtype: str, number: int, name: str) -> None:
    """The answer is that of whole numbers, also where the dtype has no such number."""
    x = np.array([0, 1], dtype)
    if dtype != "bool":
        x = np.append(x, np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype))
    whole, number_alone = np.array([int(value) for value in x], object), int(number)
    compared, a = getattr(ex, name), ex.tensor(x)
    expected = getattr(np, name)(whole, number_alone).astype(bool).tolist()
    assert compared(a, number).tolist() == expected
    turned = getattr(np, name)(number_alone, whole).astype(bool).tolist()
    assert compared(number, a).tolist() == turned


def test_comparisons_by_operators() -> None:
    x = ex.tensor([1, 2], "uint8")
    assert (x == -1).tolist() == [False, False]
    assert (x != -1).tolist() == [True, True]
    assert (x < 256).tolist() == [True, True]
    assert (256 < x).tolist() == [False, False]  # noqa: SIM300
    assert ex.less([1, 2], 2**70).tolist() == [True, True]
