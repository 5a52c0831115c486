"""Kernels against the formulas that specify them, over values, lengths, layouts and dtypes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tolerances
from calls import (
    FLOATS,
    arguments_of,
    arrays_of,
    call,
    first_floating,
    hand_arguments,
    numpy_dtype,
)
from cases.case import Case
from kernels import (
    KERNELS,
    STRUCTURED,
    Elementwise,
    assert_same_bits,
    operands_of,
    results_of,
    special_values,
)
from op_cases import CASES

import extensor as ex
from extensor.core import door
from extensor.core.conversion import unwrapped
from extensor.core.op import OPS
from extensor.core.tensor import wrap

pytestmark = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")

LENGTHS = [*range(68), 1000]
every_kernel = pytest.mark.parametrize("target", KERNELS, ids=repr)
every_float = pytest.mark.parametrize("dtype", FLOATS)


def _wide(arrays: Sequence[Any]) -> list[Any]:
    return [x if x.dtype.kind == "b" else x.astype(np.float64) for x in arrays]


@every_kernel
@every_float
def test_special_values(target: Elementwise, dtype: str) -> None:
    """The values of the formula, computed in the dtype or in float64 and rounded."""
    special = special_values(numpy_dtype(dtype))
    grids = np.meshgrid(*[special] * target.count, indexing="ij")
    arrays = [np.ascontiguousarray(x.ravel()) for x in grids]
    if target.boolean is not None:
        arrays[target.boolean] = np.arange(arrays[0].size) % 3 > 0
    found = results_of(target.kernel(arrays))
    with np.errstate(all="ignore"):
        near = results_of(target.formula(arrays))
        exact = [
            x.astype(y.dtype)
            for x, y in zip(results_of(target.formula(_wide(arrays))), near, strict=True)
        ]
    for result, same, wide in zip(found, near, exact, strict=True):
        assert result.dtype == same.dtype
        agrees = _close(result, same, dtype) | _close(result, wide, dtype)
        if not agrees.all():
            i = int(np.argmin(agrees))
            raise AssertionError(
                f"{target.name}{tuple(x[i] for x in arrays)} is {result[i]!r} by the kernel, "
                f"{same[i]!r} by the formula, {wide[i]!r} by the formula in float64; "
                f"{int((~agrees).sum())} of {agrees.size} differ"
            )


def _close(a: np.ndarray, b: np.ndarray, dtype: str) -> np.ndarray:
    if a.dtype.kind == "b":
        return a == b
    with np.errstate(all="ignore"):
        tolerance = tolerances.of(dtype)
        x, y = a.astype(np.float64), b.astype(np.float64)
        equal = np.isclose(x, y, rtol=tolerance["rtol"], atol=0, equal_nan=True)
        # Below the smallest normal number one unit in the last place is not relative.
        tiny = np.abs(x - y) <= 2 * float(ml_dtypes.finfo(a.dtype).smallest_subnormal)
        return equal | tiny


@every_kernel
@every_float
def test_values(target: Elementwise, dtype: str, rng: np.random.Generator) -> None:
    arrays = operands_of(target, rng, numpy_dtype(dtype), 5000)
    with np.errstate(all="ignore"):
        near = results_of(target.formula(arrays))
        exact = results_of(target.formula(_wide(arrays)))
        for found, same, wide in zip(results_of(target.kernel(arrays)), near, exact, strict=True):
            tolerance = tolerances.of(dtype)
            agrees = np.zeros(found.shape, bool)
            for expected in (same, wide.astype(same.dtype)):
                agrees |= np.isclose(
                    found.astype("float64"), expected.astype("float64"), equal_nan=True, **tolerance
                )
            assert agrees.all(), [x[~agrees][:3] for x in (*arrays, found, same, wide)]


@every_kernel
@every_float
def test_lengths_and_alignments(target: Elementwise, dtype: str, rng: np.random.Generator) -> None:
    """An element's result does not depend on where in the array it stands."""
    arrays = operands_of(target, rng, numpy_dtype(dtype), 1100)
    whole = results_of(target.kernel(arrays))
    for length in LENGTHS:
        for start in (0, 1, 3):
            part = slice(start, start + length)
            found = target.kernel([x[part] for x in arrays])
            assert_same_bits(found, tuple(x[part] for x in whole))


def _reversed(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x[::-1])[::-1]


def _spread(x: np.ndarray) -> np.ndarray:
    wide = np.zeros((*x.shape, 3), x.dtype)
    wide[..., 1] = x
    return wide[..., 1]


def _fortran(x: np.ndarray) -> np.ndarray:
    return np.asfortranarray(x)


def _read_only(x: np.ndarray) -> np.ndarray:
    copy = x.copy()
    copy.flags.writeable = False
    return copy


@every_kernel
@every_float
@pytest.mark.parametrize("layout", [_reversed, _spread, _fortran, _read_only])
def test_layouts(target: Elementwise, dtype: str, layout: Any, rng: np.random.Generator) -> None:
    """Strides change no bit, alone or beside a contiguous operand."""
    for shape in ((37,), (5, 7), (2, 3, 17)):
        size = int(np.prod(shape))
        arrays = [x.reshape(shape) for x in operands_of(target, rng, numpy_dtype(dtype), size)]
        expected = target.kernel(arrays)
        copies = [x.copy() for x in arrays]
        assert_same_bits(target.kernel([layout(x) for x in arrays]), expected)
        assert_same_bits(target.kernel([layout(arrays[0]), *arrays[1:]]), expected)
        assert_same_bits(target.kernel([*arrays[:-1], layout(arrays[-1])]), expected)
        for x, copy in zip(arrays, copies, strict=True):
            assert x.tobytes() == copy.tobytes()


SEVERAL = [t for t in KERNELS if t.count > 1 and not t.name.endswith("_backward")]


@pytest.mark.parametrize("target", SEVERAL, ids=repr)
@every_float
def test_broadcast_operands(target: Elementwise, dtype: str, rng: np.random.Generator) -> None:
    shapes = [(3, 5), (5,), (3, 1), (1, 1), (), (2, 1, 5)]
    for chosen in itertools.product(shapes, repeat=target.count):
        arrays = [
            operands_of(target, rng, numpy_dtype(dtype), int(np.prod(shape)))[i].reshape(shape)
            for i, shape in enumerate(chosen)
        ]
        full = [x.copy() for x in np.broadcast_arrays(*arrays)]
        assert_same_bits(target.kernel(arrays), target.kernel(full))


def _of_cases(name: str) -> list[Case]:
    return [case for case in CASES if case.op == name]


@pytest.mark.parametrize("name", [n for n in STRUCTURED if OPS[n].kernel is not None])
@every_float
def test_structured_ops(name: str, dtype: str, rng: np.random.Generator) -> None:
    """Reductions, products, softmax: every row of the case table, by kernel and by formula."""
    op = OPS[name]
    assert op.kernel is not None
    accepted = 0
    for case in _of_cases(name):
        arrays = arrays_of(case, rng, dtype)
        arguments = [unwrapped(x) for x in op.bound(*arguments_of(case, arrays))]
        if op.variadic:
            arguments[0] = list(arguments[0])
        found = op.kernel(*arguments)
        if found is NotImplemented:
            continue
        accepted += 1
        expected = op.formula(*arguments)
        for result, reference in zip(results_of(found), results_of(expected), strict=True):
            assert result.shape == reference.shape
            assert result.dtype == reference.dtype
            tolerances.assert_close(result, reference, dtype)
    _assert_accepted(accepted, dtype)


def _assert_accepted(count: int, dtype: str) -> None:
    """A kernel that declines everything would pass unseen. The 16-bit floats it may decline."""
    if count == 0 and numpy_dtype(dtype).itemsize == 2:
        pytest.skip("the kernel leaves 16-bit floats to the formula")
    assert count


@pytest.mark.parametrize(
    "name", [n for n in STRUCTURED if OPS[n].rule is not None and OPS[n].rule.kernel is not None]
)
@every_float
def test_structured_rules(name: str, dtype: str, rng: np.random.Generator) -> None:
    rule = OPS[name].rule
    assert rule is not None
    assert rule.kernel is not None
    accepted = 0
    for case in _of_cases(name):
        inputs = [ex.tensor(x) for x in arrays_of(case, rng, dtype)]
        output = call(case, inputs)
        outputs = first_floating(output, rule)
        seeds = [ex.tensor(rng.uniform(-1, 1, x.shape), dtype=dtype) for x in outputs]
        given = hand_arguments(case, inputs, output)
        seed = seeds if rule.several else seeds[0]
        arguments = [seed, *rule.parameters.bound((seed,), given)[1:]]
        if rule.kept_at:
            arguments = rule._with_kept(arguments)
        needs = (True,) * len(rule.fields)
        plain = [unwrapped(x) for x in arguments]
        found = rule.kernel(*plain, *(() if rule.single else (needs,)))
        if found is NotImplemented:
            continue
        accepted += 1
        expected = rule.by_formula(arguments, needs)
        for result, reference in zip(
            found if type(found) is tuple else [found], expected, strict=True
        ):
            if reference is None:  # a target of class indices has no gradient
                assert result is None
                continue
            assert result.shape == reference.shape
            tolerances.assert_close(result, reference.numpy(), dtype)
    _assert_accepted(accepted, dtype)


@pytest.mark.parametrize("name", ["sum", "mean", "max_reduce", "min_reduce"])
@every_float
def test_reductions_over_lengths(name: str, dtype: str, rng: np.random.Generator) -> None:
    op = OPS[name]
    assert op.kernel is not None
    for length in (*range(1, 68), 1000, 5000):
        x = rng.uniform(-1, 1, (3, length)).astype(numpy_dtype(dtype))
        for array, axis in ((x, 1), (x.T, 0), (np.ascontiguousarray(x.T), 0), (_spread(x), -1)):
            found = op.kernel(array, axis, False)
            if found is NotImplemented:
                continue
            wide = op.formula(array.astype(np.float64), axis, False)
            scale = 1 if name != "sum" else max(1.0, length**0.5)
            rtol, atol = tolerances.of(dtype).values()
            np.testing.assert_allclose(
                found.astype(np.float64), wide, rtol=rtol, atol=atol * scale, err_msg=f"{length}"
            )
        contiguous = op.kernel(x, 1, False)
        assert contiguous is not NotImplemented
        for row in range(3):
            assert_same_bits(op.kernel(x[row], 0, False), contiguous[row : row + 1].reshape(()))


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@every_float
def test_softmax_over_lengths(name: str, dtype: str, rng: np.random.Generator) -> None:
    op = OPS[name]
    assert op.kernel is not None
    assert op.rule is not None
    assert op.rule.kernel is not None
    for length in (*range(1, 68), 1000, 5000):
        x = rng.uniform(-9, 9, (3, length)).astype(numpy_dtype(dtype))
        g = rng.uniform(-1, 1, (3, length)).astype(numpy_dtype(dtype))
        found = op.kernel(x, -1)
        if found is NotImplemented:
            _assert_accepted(0, dtype)
        tolerances.assert_close(found, op.formula(x.astype(np.float64), -1), dtype)
        gradient = op.rule.kernel(g, found, -1)
        wide = [wrap(a.astype(np.float64)) for a in (g, found)]
        tolerances.assert_close(gradient, op.rule.by_formula([*wide, -1], None)[0], dtype)


@every_float
def test_running_sums_over_lengths(dtype: str, rng: np.random.Generator) -> None:
    op = OPS["cumsum"]
    for length in (*range(1, 68), 1000, 5000):
        x = rng.uniform(-1, 1, (3, length)).astype(numpy_dtype(dtype))
        for array, axis in ((x, 1), (x.T, 0), (np.ascontiguousarray(x.T), 0), (_spread(x), -1)):
            found = op.kernel(array, axis)
            if found is NotImplemented:
                _assert_accepted(0, dtype)
                continue
            wide = array.astype(np.float64)
            backward = np.flip(np.cumsum(np.flip(wide, axis), axis), axis)
            rtol, atol = tolerances.of(dtype).values()
            for sums, expected in (
                (found, np.cumsum(wide, axis)),
                (op.rule.kernel(array, axis), backward),
            ):
                np.testing.assert_allclose(sums, expected, rtol=rtol, atol=atol * length**0.5)
