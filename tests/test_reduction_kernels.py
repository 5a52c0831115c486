"""Reductions beyond the tables of cases: many lengths, numbers that are hard, and exact references."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from calls import numpy_dtype

import extensor as ex
from extensor.core import door
from extensor.core.op import OPS
from extensor.core.tensor import wrap

native = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")
assert ex.bfloat16.itemsize == 2  # asking for it makes it known to the kernels
# Lengths around vectors, and around the parts into which rows and columns are cut.
LENGTHS = (*range(1, 35), 63, 64, 65, 255, 256, 257, 511, 513, 1000, 16383, 16385, 40_000)
# Far from 0 and close together; wide; one far from all others, at the beginning and inside.
HARD = ("far", "wide", "outlier first", "outlier")


def _hard(kind: str, length: int, dtype: str, rng: np.random.Generator) -> Any:
    x = rng.normal(size=length)
    if kind == "far":
        x = x * 1e-2 + (1e4 if dtype == "float32" else 1e9)
    if kind == "wide":
        x = x * 10.0 ** rng.uniform(-6, 6, length)
    if kind == "outlier first":
        x[0] = 1e6
    if kind == "outlier":
        x[length // 2] = -1e6
    return x.astype(dtype)


def _distances(x: Any) -> Any:
    """Those of one row from its mean, each right to a unit of the longest."""
    values = x.tolist()
    mean = math.fsum(values) / len(values)
    lost = math.fsum(v - mean for v in values) / len(values)  # when the mean was rounded
    return (x.astype(np.float64) - mean) - lost


def _ulps(dtype: str) -> float:
    return 4 * float(np.finfo(dtype).eps)


@native
@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_variances_keep_their_digits(kind: str, dtype: str, rng: np.random.Generator) -> None:
    """Along rows, down columns, and over segments: the kernels, not the formula.

    Up to 64 squares, each right to two units, are added one after the other before they join a
    wider or longer sum: half a unit for each.
    """
    rtol = (64 / 2 + 4) * float(np.finfo(dtype).eps)
    for length in LENGTHS:
        rows = np.stack([_hard(kind, length, dtype, rng) for _ in range(3)])
        squares = [math.fsum(_distances(row) ** 2) for row in rows]
        variances = np.array(squares) / length
        down = np.ascontiguousarray(rows.T)
        split = np.ascontiguousarray(np.stack([rows, rows[:, ::-1]]))
        for array, axis in ((rows, 1), (rows.T, 0), (down, 0), (split, (0, 2))):
            variance = OPS["var"].kernel(array, axis, False, 0)
            deviation = OPS["std"].kernel(array, axis, False, 0)
            np.testing.assert_allclose(variance, variances, rtol=rtol, err_msg=f"{length}")
            np.testing.assert_allclose(deviation, np.sqrt(variances), rtol=rtol)
        for row, own in zip(rows, OPS["var"].kernel(rows, 1, False, 0), strict=True):
            assert OPS["var"].kernel(row, None, False, 0) == own


@native
@pytest.mark.parametrize("kind", HARD)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_their_rules_keep_their_digits(kind: str, dtype: str, rng: np.random.Generator) -> None:
    for length in LENGTHS[2:]:
        rows = np.stack([_hard(kind, length, dtype, rng) for _ in range(3)])
        gradient = rng.normal(size=3).astype(dtype)
        distances = np.stack([_distances(row) for row in rows])
        deviation = np.sqrt((distances**2).sum(1) / (length - 1)).astype(dtype)
        # The mean is known to a few units of what lies between it and the first element.
        longest = np.abs(distances).max(1, keepdims=True)
        slopes = {
            "var_backward": gradient * 2 / (length - 1),
            "std_backward": gradient / deviation / (length - 1),
        }
        down = np.ascontiguousarray(rows.T)
        for name, slope in slopes.items():
            size = () if name == "var_backward" else (deviation,)
            rule = OPS[name.removesuffix("_backward")].rule.kernel
            bound = _ulps(dtype) * np.abs(slope)[:, None] * (longest + np.abs(distances))
            for found in (
                rule(gradient, rows, *size, 1, False, 1),
                rule(gradient, rows.T, *size, 0, False, 1).T,
                rule(gradient, down, *size, 0, False, 1).T,
            ):
                wrong = np.abs(found - distances * slope[:, None]) > bound
                assert not wrong.any(), (name, length)


@native
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_norms_keep_their_digits(dtype: str, rng: np.random.Generator) -> None:
    for length in LENGTHS[1:]:
        rows = np.stack([_hard("wide", length, dtype, rng) for _ in range(3)])
        down = np.ascontiguousarray(rows.T)
        split = np.ascontiguousarray(rows.reshape(3, 1, length).repeat(2, 1).swapaxes(0, 1))
        wide = np.abs(rows.astype(np.float64))
        expected = {
            1: [math.fsum(row) for row in wide],
            2: [math.sqrt(math.fsum(v * v for v in row)) for row in wide],
            np.inf: wide.max(1),
        }
        for ord, sizes in expected.items():
            kernel = OPS["norm"].kernel
            for array, axis in ((rows, 1), (rows.T, 0), (down, 0)):
                found = kernel(array, ord, axis, False)
                np.testing.assert_allclose(found, sizes, rtol=_ulps(dtype), err_msg=f"{length}")
            twice = np.asarray(sizes) * {1: 2, 2: math.sqrt(2), np.inf: 1}[ord]
            np.testing.assert_allclose(kernel(split, ord, (0, 2), False), twice, rtol=_ulps(dtype))


@pytest.mark.parametrize("name", ["var", "std", "norm"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_largest_and_the_smallest_numbers(name: str, dtype: str) -> None:
    """Squares that overflow or vanish, differences that do: as the formula, forward and backward."""
    info = np.finfo(dtype)
    top, tiny = float(info.max), float(info.smallest_subnormal)
    op = OPS[name]
    assert op.rule is not None
    for values in (
        [top, -top, top / 2],
        [tiny, 0.0, 3 * tiny],
        [float(info.tiny), 0.0, -float(info.tiny)],
        [0.0, 0.0, 0.0],
        [-0.0, -0.0, -0.0],
        [np.inf, 1.0, 2.0],
        [1.0, np.inf, 2.0],
        [1.0, -np.inf, np.inf],
        [1.0, np.nan, 2.0],
    ):
        x = np.array(values, dtype)
        attributes = op.parameters.defaults[op.arity :]
        output = op.function(x).numpy()
        with np.errstate(all="ignore"):
            expected = op.formula(x, *attributes)
        np.testing.assert_allclose(output, expected, rtol=_ulps(dtype), err_msg=f"{values}")
        for seed in (0.0, -0.0, 1.0, -3.0, tiny, np.inf, np.nan):
            gradient = np.array(seed, dtype)
            kept = [x] if name == "var" else [x, expected]
            found = getattr(ex, f"{name}_backward")(gradient, *kept).numpy()
            arguments = [wrap(a) for a in (gradient, *kept)]
            with ex.no_grad(), np.errstate(all="ignore"):
                reference = op.rule.by_formula([*arguments, *attributes], None)[0].numpy()
            np.testing.assert_allclose(
                found, reference, rtol=_ulps(dtype), atol=2 * tiny, err_msg=f"{values} {seed}"
            )


@native
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions(name: str, dtype: str, rng: np.random.Generator) -> None:
    """The first of several that tie; NaN before all; over lengths, and rows cut into pieces."""
    kernel, reference = OPS[name].kernel, getattr(np, name)
    for length in (*range(1, 70), 1000, 65_536, 65_537, 200_000):
        x = rng.integers(-1000, 1000, (2, length)).astype(numpy_dtype(dtype))
        x[1, rng.integers(length)] = np.nan
        for array in (x, np.ascontiguousarray(x.T).T, x[:, ::-1]):
            for axis, keepdims in ((1, False), (-1, True), (None, False)):
                found = kernel(array, axis, keepdims)
                wide = array.astype(np.float64)
                expected = reference(wide, axis=axis, keepdims=keepdims)
                assert found.dtype == np.int64
                np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(kernel(array[0], 0, False), reference(array[0]))


@native
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_products_of_all_others(dtype: str, zeros: int, rng: np.random.Generator) -> None:
    rule = OPS["prod"].rule
    assert rule is not None
    for length in (*range(1, 35), 63, 64, 65, 300):
        rows = (rng.choice([-1, 1], (3, length)) * rng.uniform(0.8, 1.2, (3, length))).astype(dtype)
        rows[1, rng.integers(0, length, zeros)] = 0
        gradient = rng.normal(size=3).astype(dtype)
        others = [[math.prod(np.delete(row, i).tolist()) for i in range(length)] for row in rows]
        expected = np.array(others) * gradient[:, None].astype(np.float64)
        rtol = float(np.finfo(dtype).eps) * (length + 2)
        for found in (
            rule.kernel(gradient, rows, 1, False),
            rule.kernel(gradient, np.ascontiguousarray(rows.T), 0, False).T,
        ):
            np.testing.assert_allclose(found, expected, rtol=rtol)
