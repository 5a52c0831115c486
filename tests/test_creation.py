"""Numbers in a dtype that has them, or not at all."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import extensor as ex


@pytest.mark.parametrize("function", [lambda dtype: ex.linspace(0, 1, 3, dtype=dtype),
                                      lambda dtype: ex.arange(3, dtype=dtype)])  # fmt: skip
def test_no_booleans(function) -> None:
    with pytest.raises(TypeError, match=r": dtype must be one of numbers, got dtype='bool'$"):
        function("bool")
    with pytest.raises(TypeError, match=r"^(linspace|arange): dtype must be one of numbers"):
        function(bool)


def test_whole_numbers() -> None:
    assert ex.linspace(0, 3, 4, dtype="int8").tolist() == [0, 1, 2, 3]
    assert ex.arange(253, 256, dtype="uint8").tolist() == [253, 254, 255]
    assert ex.linspace(1, 2, 0, dtype="uint8").shape == (0,)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (
            lambda: ex.linspace(0, 300, 3, dtype="uint8"),
            "linspace: all numbers must fit dtype uint8, got first=0.0, last=300.0",
        ),
        (
            lambda: ex.arange(2, -2, -1, dtype="uint8"),
            "arange: all numbers must fit dtype uint8, got first=2, last=-1",
        ),
    ],
)
def test_numbers_that_do_not_fit(function, text: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        function()
    assert str(caught.value) == text


NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda: ex.tensor([1, 300], "uint8"), "tensor: data must fit dtype uint8, got data=300"),
        (lambda: ex.tensor(-1, "uint64"), "tensor: data must fit dtype uint64, got data=-1"),
        (lambda: ex.Tensor([[1], [-129]], "int8"), "tensor: data must fit dtype int8, got data=-129"),
        (lambda: ex.tensor([2**63], "int64"), f"tensor: data must fit dtype int64, got data={2**63}"),
        (lambda: ex.tensor([1.0, 2.5], "int64"), "tensor: data must fit dtype int64, got data=2.5"),
        (lambda: ex.tensor([2.0**63], "int64"),
         f"tensor: data must fit dtype int64, got data={2.0**63}"),
        (lambda: ex.tensor([NAN], "int64"), "tensor: data must fit dtype int64, got data=nan"),
        (lambda: ex.tensor(-INFINITY, "uint8"), "tensor: data must fit dtype uint8, got data=-inf"),
        (lambda: ex.tensor([0, 2], "bool"), "tensor: data must fit dtype bool, got data=2"),
        (lambda: ex.tensor([0.5], bool), "tensor: data must fit dtype bool, got data=0.5"),
        (lambda: ex.asarray(np.array([300]), "uint8"),
         "asarray: data must fit dtype uint8, got data=300"),
        (lambda: ex.tensor(ex.tensor([-1]), "uint8"),
         "tensor: data must fit dtype uint8, got data=-1"),
        (lambda: ex.full(2, 300, "uint8"), "full: fill_value must fit dtype uint8, got fill_value=300"),
        (lambda: ex.full(2, 2.7, "int64"), "full: fill_value must fit dtype int64, got fill_value=2.7"),
        (lambda: ex.full(2, NAN, "i4"), "full: fill_value must fit dtype int32, got fill_value=nan"),
        (lambda: ex.full(2, np.float64(2.5), int),
         "full: fill_value must fit dtype int64, got fill_value=2.5"),
        (lambda: ex.full(2, ex.tensor(2.5), "int8"),
         "full: fill_value must fit dtype int8, got fill_value=2.5"),
        (lambda: ex.full_like(ex.ones(2, "uint8"), 2.5),
         "full_like: fill_value must fit dtype uint8, got fill_value=2.5"),
        (lambda: ex.full_like(ex.ones(2, "uint8"), 256),
         "full_like: fill_value must fit dtype uint8, got fill_value=256"),
        (lambda: ex.full_like(ex.ones(2), -1, "uint8"),
         "full_like: fill_value must fit dtype uint8, got fill_value=-1"),
    ],
)  # fmt: skip
def test_no_number_is_wrapped_or_cut(function, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError) as error:  # noqa: PT011
            function()
    assert str(error.value) == text


def test_numbers_that_fit() -> None:
    assert ex.tensor([0.0, 255.0], "uint8").tolist() == [0, 255]
    assert ex.tensor([-(2.0**63)], "int64").tolist() == [-(2**63)]
    assert ex.tensor([2**64 - 1], "uint64").tolist() == [2**64 - 1]
    assert ex.tensor([[]], "uint8").shape == (1, 0)
    assert ex.tensor([True, 0, 1.0], "bool").tolist() == [True, False, True]
    assert ex.full(2, 3.0, "int8").tolist() == [3, 3]
    assert ex.full(2, np.float32(3), "f4").dtype == ex.float32
    assert ex.full_like(ex.ones(1, "int64"), True).tolist() == [1]
    assert ex.zeros_like(ex.ones(1, "bool")).tolist() == [False]


def test_arrays_are_cast() -> None:
    """As by NumPy's astype: towards zero, and to True what is not 0."""
    assert ex.tensor(np.array([2.7, -2.7]), "int64").tolist() == [2, -2]
    assert ex.asarray(ex.tensor([2.7]), "uint8").tolist() == [2]
    assert ex.tensor([np.array([2.7])], "int64").tolist() == [[2]]
    assert ex.tensor(np.array([0, 2]), "bool").tolist() == [False, True]
