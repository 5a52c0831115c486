"""Arguments whose own code gives the tensor another array while an op reads them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import extensor as ex

VALUES = np.arange(24.0, dtype=np.float32).reshape(6, 4)


class Replacing:
    """Replaces the array of ``owner`` by the same numbers in float64 when it is read."""

    def __init__(self, owner: Any, value: Any) -> None:
        self.owner = owner
        self.value = value
        self.reads = 0
        self.others: list[Any] = []

    def _replace(self) -> None:
        self.reads += 1
        self.owner.to("float64")
        # They take the memory that the array before had, if nothing holds it.
        self.others += [ex.full((6, 4), 777.0, dtype="float32") for _ in range(8)]


class Index(Replacing):
    def __index__(self) -> int:
        self._replace()
        return int(self.value)


class ArrayLike(Replacing):
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        self._replace()
        return np.asarray(self.value, dtype)


class Counting:
    """Another number at each reading."""

    def __init__(self) -> None:
        self.reads = 0

    def __index__(self) -> int:
        self.reads += 1
        return self.reads


@pytest.fixture
def owner() -> ex.nn.Module:
    """A module with the parameter ``x``, whose memory nothing else holds."""
    module = ex.nn.Module()
    module.x = ex.nn.Parameter(ex.tensor(VALUES))
    return module


Read = Callable[[Any, Callable[[Any], Any], Callable[[Any], Any]], Any]
READS: dict[str, tuple[Read, Any]] = {
    "start": (lambda x, i, a: x[slice(i(1), None)], VALUES[1:]),
    "stop": (lambda x, i, a: x[: i(2)], VALUES[:2]),
    "step": (lambda x, i, a: x[:: i(2)], VALUES[::2]),
    "all parts": (lambda x, i, a: x[slice(i(1), i(5), i(2))], VALUES[1:5:2]),
    "second axis": (lambda x, i, a: x[2, slice(i(1), None)], VALUES[2, 1:]),
    "int": (lambda x, i, a: x[i(3)], VALUES[3]),
    "ints": (lambda x, i, a: x[i(3), i(1)], VALUES[3, 1]),
    "array": (lambda x, i, a: x[a([3, 0])], VALUES[[3, 0]]),
    "mask": (lambda x, i, a: x[a([True, False] * 3)], VALUES[::2]),
    "array beside a slice": (lambda x, i, a: x[slice(i(2), None), a([3, 0])], VALUES[2:, [3, 0]]),
    "take": (lambda x, i, a: ex.take(x, a([3, 0]), i(0)), VALUES[[3, 0]]),
    "gather": (lambda x, i, a: ex.gather(x, a([[1]] * 6), i(1)), VALUES[:, 1:2]),
    "sum": (lambda x, i, a: ex.sum(x, i(1)), VALUES.sum(1)),
    "sum of axes": (lambda x, i, a: ex.sum(x, (i(0), 1)), VALUES.sum()),
    "transpose": (lambda x, i, a: ex.transpose(x, (i(1), i(0))), VALUES.T),
    "reshape": (lambda x, i, a: ex.reshape(x, (i(4), 6)), VALUES.reshape(4, 6)),
    "concatenate": (lambda x, i, a: ex.concatenate([x, x], i(1)), np.hstack([VALUES] * 2)),
    "add": (lambda x, i, a: x + a([1.0] * 4), VALUES + 1),
    "matmul": (lambda x, i, a: x @ a(np.ones((4, 1))), VALUES.sum(1, keepdims=True)),
    "where": (lambda x, i, a: ex.where(a(VALUES > 3), x, 0.0), np.where(VALUES > 3, VALUES, 0)),
    "at set": (
        lambda x, i, a: x.at[slice(i(1), None)].set(a(9.0)),
        np.vstack([VALUES[:1], np.full((5, 4), 9.0)]),
    ),
    "at add": (
        lambda x, i, a: x.at[a([0, 0])].add(a(1.0)),
        np.vstack([VALUES[:1] + 2, VALUES[1:]]),
    ),
}


@pytest.mark.parametrize("recording", [False, True])
@pytest.mark.parametrize("name", READS)
def test_an_op_reads_one_array(name: str, recording: bool, owner: Any) -> None:
    read, expected = READS[name]
    arguments: list[Replacing] = []

    def made(kind: type[Replacing]) -> Callable[[Any], Any]:
        return lambda value: arguments.append(kind(owner, value)) or arguments[-1]  # type: ignore[func-returns-value]

    if not recording:
        owner.x.requires_grad = False
    found = read(owner.x, made(Index), made(ArrayLike))
    np.testing.assert_array_equal(found.numpy(), expected)
    assert [argument.reads for argument in arguments] == [1] * len(arguments)
    if recording:
        found.sum().backward()
        assert owner.x.grad.shape == (6, 4)
        assert owner.x.grad.dtype == owner.x.dtype == np.float64


WRITES: dict[str, tuple[Read, Any]] = {
    "slice": (lambda x, i, a: (slice(i(1), i(3)), 9.0), np.s_[1:3]),
    "int": (lambda x, i, a: (i(2), 9.0), np.s_[2]),
    "array": (lambda x, i, a: (a([2, 0]), 9.0), np.s_[[2, 0]]),
    "mask": (lambda x, i, a: (a([True, False] * 3), 9.0), np.s_[::2]),
    "value": (lambda x, i, a: (1, a([9.0] * 4)), np.s_[1]),
    "both": (lambda x, i, a: (slice(i(4), None), a([9.0] * 4)), np.s_[4:]),
}


@pytest.mark.parametrize("recording", [False, True])
@pytest.mark.parametrize("name", WRITES)
def test_a_write_reaches_the_array_that_the_tensor_has(
    name: str, recording: bool, owner: Any
) -> None:
    write, place = WRITES[name]
    expected = VALUES.copy()
    expected[place] = 9.0
    tensor = owner.x * 1.0 if recording else owner.x
    if not recording:
        tensor.requires_grad = False
    holder = SimpleNamespace(to=lambda dtype: _replace_array(tensor, dtype))
    index, value = write(
        tensor, lambda value: Index(holder, value), lambda value: ArrayLike(holder, value)
    )
    tensor[index] = value
    np.testing.assert_array_equal(tensor.numpy(), expected)
    assert tensor.dtype == np.float64


def _replace_array(tensor: Any, dtype: str) -> None:
    tensor._array = tensor._array.astype(dtype)


def test_the_rule_of_getitem_reads_no_index_again() -> None:
    x = ex.tensor(VALUES, requires_grad=True)
    start = Counting()
    x[slice(start, None)].sum().backward()
    assert start.reads == 1
    np.testing.assert_array_equal(x.grad.numpy(), (np.arange(6) >= 1)[:, None] * np.ones(4))


@pytest.mark.parametrize("kernel", ["getitem", "getitem_backward", "place"])
def test_kernels_decline_parts_that_are_the_users_own(kernel: str) -> None:
    start = Counting()
    arguments: list[Any] = [VALUES] if kernel == "getitem" else [VALUES, (7, 4)]
    found = ex._native.kernels[kernel](*arguments, slice(start, None))
    assert found is NotImplemented
    assert start.reads == 0


@pytest.mark.parametrize("part", [np.int64(1), np.uint8(1), True, np.True_, np.array(1)])
def test_numbers_of_numpy_are_parts_of_slices(part: Any) -> None:
    x = ex.tensor(VALUES)
    if isinstance(part, np.bool_):
        with pytest.raises(TypeError, match="getitem: the parts of a slice must be ints or None"):
            x[part:]
    else:
        np.testing.assert_array_equal(x[part:].numpy(), VALUES[1:])


def test_a_gradient_is_refused_though_its_message_replaces_the_arrays() -> None:
    class Named(np.ndarray):
        """Replaces the arrays of both tensors when the message asks for a shape."""

        def __getattribute__(self, name: str) -> Any:
            if name == "shape":
                x._array, gradient._array = ex.zeros(3)._array, ex.zeros(3)._array
            return super().__getattribute__(name)

    x, gradient = ex.zeros(3), ex.zeros(3)
    x._array = np.ones((6, 4), np.float32).view(Named)
    gradient._array = np.ones((2, 2), np.float32).view(Named)
    with pytest.raises(ValueError, match=r"shape \(6, 4\) and dtype float32 .* got \(2, 2\)"):
        x.grad = gradient
