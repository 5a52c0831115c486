"""Dtypes: promotion, weak scalars, the default float, and floats from integers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from calls import FLOATS as FLOAT_NAMES
from calls import INTEGERS as INTEGER_NAMES
from calls import numpy_dtype

import extensor as ex

BFLOAT16 = numpy_dtype("bfloat16")
INTEGERS = [numpy_dtype(name) for name in INTEGER_NAMES if name != "bool"]
FLOATS = [numpy_dtype(name) for name in FLOAT_NAMES]
DTYPES = [np.dtype(bool), *INTEGERS, *FLOATS]
PAIRS = list(itertools.product(DTYPES, DTYPES))


@pytest.fixture
def default_float64() -> Iterator[None]:
    ex.set_default_dtype("float64")
    yield
    ex.set_default_dtype("float32")


def assert_tensor(found: Any, expected: Any, dtype: Any) -> None:
    assert isinstance(found, ex.Tensor)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.numpy(), np.asarray(expected, dtype))


def _promoted(a: np.dtype, b: np.dtype) -> np.dtype:
    """API.md: integer with float is the float, two different halves float32, else NumPy's."""
    if (a in FLOATS) != (b in FLOATS):
        return a if a in FLOATS else b
    if {a, b} == {np.dtype("float16"), BFLOAT16}:
        return np.dtype("float32")
    return np.promote_types(a, b)


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=str)
def test_promotion(a: np.dtype, b: np.dtype) -> None:
    x, y = np.ones((2, 1), a), np.ones(3, b)
    for left, right in ((ex.tensor(x), ex.tensor(y)), (ex.tensor(x), y), (x, ex.tensor(y))):
        assert (left * right).dtype == _promoted(a, b)
    quotient = _promoted(a, b)
    assert (ex.tensor(x) / y).dtype == (quotient if quotient in FLOATS else np.float32)
    assert (ex.tensor(x) < y).dtype == bool
    assert ex.where([True], x, y).dtype == _promoted(a, b)
    assert ex.concatenate([x[:, 0], y]).dtype == _promoted(a, b)


@pytest.mark.parametrize(("a", "b"), [(a, b) for a, b in PAIRS if a in FLOATS], ids=str)
def test_gradients_keep_their_inputs_dtype(a: np.dtype, b: np.dtype) -> None:
    x = ex.tensor(np.ones(2, a), requires_grad=True)
    y = ex.tensor(np.ones(2, b), requires_grad=b in FLOATS)
    (x * y).sum().backward()
    assert x.grad.dtype == a
    if b in FLOATS:
        assert y.grad.dtype == b


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_weak_scalars(dtype: np.dtype) -> None:
    x = ex.tensor(np.ones(2, dtype))
    whole = np.dtype("int64") if dtype.kind == "b" else dtype
    for result in (x + 1, 1 + x, x * 2):
        assert result.dtype == whole
    for result in (x + 1.5, 1.5 * x):
        assert result.dtype == (dtype if dtype in FLOATS else np.float32)
    for result in (x + True, True * x):
        assert result.dtype == dtype


def test_scalars_alone() -> None:
    assert_tensor(ex.add(1, 2), 3, "int64")
    assert_tensor(ex.add(1.0, 2), 3, "float32")
    assert_tensor(ex.add(True, False), True, "bool")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8"])
def test_numpy_scalars_are_as_weak_as_python_numbers(dtype: str) -> None:
    x = ex.tensor([1, 2, 3], dtype=dtype)
    for kind, number in [("float64", 2.0), ("float16", 2.0), ("int64", 2), ("bool", True)]:
        scalar = np.dtype(kind).type(number)
        for op in (ex.add, ex.divide, ex.power, ex.maximum, ex.less):
            for got, expected in [
                (op(x, scalar), op(x, number)),
                (op(scalar, x), op(number, x)),
            ]:
                assert got.dtype == expected.dtype
                np.testing.assert_array_equal(got.numpy(), expected.numpy())
        assert (x * scalar).dtype == (scalar * x).dtype == (x * number).dtype
    assert ex.where([True, False, True], x, np.float64(0)).dtype == ex.where(x > 0, x, 0.0).dtype
    with pytest.raises(ValueError, match=r"^add: b must fit dtype uint8, got b=300"):
        ex.tensor([1], dtype="uint8") + np.int64(300)


def test_numpy_scalars_without_tensors_keep_their_dtype() -> None:
    assert ex.exp(np.float64(1)).dtype == np.float64
    assert ex.add(np.float32(1), np.float64(2)).dtype == np.float64
    assert ex.add(np.float64(1), 2.0).dtype == np.float64
    assert (ex.tensor([1.0]) * np.asarray([2.0])).dtype == np.float64  # an array is strong


@pytest.mark.parametrize(
    ("dtype", "value"), [("uint8", 300), ("uint8", -1), ("int8", 200), ("int32", 2**40)]
)
def test_scalar_that_does_not_fit(dtype: str, value: int) -> None:
    with pytest.raises(ValueError, match="must fit") as caught:
        ex.tensor([1], dtype=dtype) + value
    assert str(caught.value) == f"add: b must fit dtype {dtype}, got b={value}"


@pytest.mark.parametrize("dtype", [np.dtype(bool), *INTEGERS], ids=str)
@pytest.mark.parametrize("name", ["exp", "mean", "sqrt", "reciprocal", "sigmoid", "divide"])
def test_float_only_ops(name: str, dtype: np.dtype) -> None:
    arguments = [np.ones(2, dtype)] * (2 if name == "divide" else 1)
    assert getattr(ex, name)(*arguments).dtype == np.float32


@pytest.mark.usefixtures("default_float64")
def test_default_dtype() -> None:
    assert ex.get_default_dtype() == np.float64
    assert ex.tensor(1.0).dtype == np.float64
    assert ex.zeros((2,)).dtype == np.float64
    assert ex.exp([1, 2]).dtype == np.float64
    assert (ex.tensor([1, 2]) + 1.5).dtype == np.float64
    assert (ex.tensor(np.ones(2, "float32")) + 1.5).dtype == np.float32
    assert repr(ex.tensor([1.0])) == "tensor([1.])"


def test_default_dtype_must_be_floating() -> None:
    with pytest.raises(TypeError) as caught:
        ex.set_default_dtype("int32")
    assert str(caught.value) == "set_default_dtype: dtype must be floating, got dtype='int32'"
    assert ex.get_default_dtype() == np.float32


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_compute_in_float32(dtype: str) -> None:
    """The sum of many halves is rounded once, not after every addition."""
    x = ex.tensor(np.full(5000, 0.1), dtype=dtype)
    once = np.asarray(x.numpy(), "float64").sum().astype(x.dtype)
    assert x.sum().numpy() == once


def test_round_of_bools() -> None:
    assert ex.round(np.array([True, False])).dtype == bool


def test_sign_of_bools() -> None:
    x = np.array([True, False])
    assert ex.sign(x).dtype == bool
    np.testing.assert_array_equal(ex.sign(x).numpy(), x)


def test_clip_of_integers_with_float_bounds() -> None:
    assert ex.clip(np.array([1, 2]), 0.5, 1.5).dtype == np.float32


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["prod", "sum", "square", "exp", "cumsum"])
def test_overflow_of_a_half_is_infinite_without_a_warning(name: str, dtype: str) -> None:
    x = ex.tensor(np.full(3, 6e4 if dtype == "float16" else 3e38), dtype=dtype)
    assert np.isinf(getattr(ex, name)(x).numpy()).any()
