"""Objects that hand out an array are asked for it, and never iterated over."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import extensor as ex

VALUES = np.arange(6.0).reshape(2, 3)


class Endless:
    """Has more items than anybody can read."""

    def __len__(self) -> int:
        return 1 << 40

    def __getitem__(self, index: int) -> float:
        raise AssertionError("an object that hands out an array was iterated over")

    def __iter__(self) -> Iterator[float]:
        self[0]
        return itertools.repeat(1.0)


class ByArray(Endless):
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return VALUES


class ByInterface(Endless):
    __array_interface__ = VALUES.__array_interface__


class ByStruct(Endless):
    __array_struct__ = VALUES.__array_struct__


class ByDlpack(Endless):
    def __dlpack__(self, **options: Any) -> Any:
        return VALUES.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return VALUES.__dlpack_device__()


class EndlessList(ByArray, list[float]):
    """A list by its class, whose items are not its array."""


CALLS: dict[str, Callable[[Any], Any]] = {
    "argmax": ex.argmax,
    "tensor": ex.tensor,
    "Tensor": ex.Tensor,
    "asarray": ex.asarray,
    "sum": lambda x: ex.sum(x),
    "add": lambda x: ex.zeros((2, 3)) + x,
    "greater": lambda x: ex.greater(7, x),
    "mse_loss": lambda x: ex.mse_loss(ex.zeros((2, 3)), x),
    "mse_loss_backward": lambda x: ex.mse_loss_backward(1.0, ex.zeros((2, 3)), x),
    "where": lambda x: ex.where([True], x, x),
    "setitem": lambda x: ex.zeros((2, 3)).__setitem__(..., x),
    "contains": lambda x: x in ex.zeros((2, 3)),
    "linear": lambda x: ex.linear(x, np.ones((2, 3))),
    "ArrayDataset": lambda x: ex.data.ArrayDataset(x)[1],
    "concatenate": lambda x: ex.concatenate([x, x]),
}
REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "concatenate": (ex.concatenate, "concatenate: needs a sequence of at least one tensor"),
    "getitem": (lambda x: ex.zeros(3)[x], "getitem: an index must be an int, a slice"),
    "tensor": (lambda x: ex.tensor(x, "int8", requires_grad=x), "requires_grad must be a bool"),
}
KINDS = [ByArray, ByInterface, ByStruct, ByDlpack, EndlessList]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_the_array_is_used(name: str, kind: type[Any]) -> None:
    call = CALLS[name]
    assert repr(call(kind())) == repr(call(VALUES))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", REFUSED)
def test_errors_do_not_iterate_either(name: str, kind: type[Any]) -> None:
    call, text = REFUSED[name]
    with pytest.raises((TypeError, IndexError), match=text):
        call(kind())
