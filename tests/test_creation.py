"""Evenly spaced numbers: in a dtype that has them, or not at all."""

from __future__ import annotations

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
