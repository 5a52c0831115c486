"""A call is a value: planned once, it runs again, and on other memory of the same layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from soak.native_targets import recorded

from extensor import _native
from extensor.core import door

pytestmark = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")
LIKE = "run: inputs must be arrays like those of the plan"


def _elsewhere(x: Any) -> Any:
    """A copy with the strides of ``x``, in memory of its own."""
    low, high = np.lib.array_utils.byte_bounds(x)
    memory = np.zeros(high - low, np.uint8)
    begin = x.__array_interface__["data"][0] - low
    copy = np.ndarray(x.shape, x.dtype, memory, begin, x.strides)
    if copy.size:
        copy[...] = x
    copy.flags.writeable = x.flags.writeable
    return copy


def _copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _elsewhere(value)
    return type(value)(map(_copied, value)) if isinstance(value, list | tuple) else value


def _bits(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, np.ascontiguousarray(value).tobytes())
    return [_bits(item) for item in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("name", sorted({*_native.kernels} - {"masked_scale"}))  # it is dropout's
def test_runs_again_and_elsewhere(name: str) -> None:
    kernel = _native.kernels[name]
    calls = recorded()[name]
    assert calls
    for arguments in calls:
        given = _copied(arguments)
        expected = _bits([kernel(*given), given])  # with what it has changed in place
        planned_for = _copied(arguments)
        planned = _native.plan(kernel, *planned_for)
        assert _bits([planned.run(), planned_for]) == expected
        if not name.endswith("_update"):  # another step would give something else
            assert _bits([planned.run(), planned_for]) == expected
        moved = tuple(_elsewhere(x) for x in planned.inputs)
        fresh = _native.plan(kernel, *_copied(arguments))
        inputs = tuple(_elsewhere(x) for x in fresh.inputs)
        result = fresh.run(inputs)
        if name.endswith("_update"):
            assert [_bits(x) for x in inputs] == [_bits(x) for x in moved]
        else:
            assert _bits(result) == expected[0]


def test_numbers_belong_to_a_run() -> None:
    x = np.array([-1.0, 2.0], np.float32)
    planned = _native.plan(_native.kernels["leaky_relu"], x, 0.5)
    assert planned.run().tolist() == [-0.5, 2.0]
    assert planned.run(numbers=(0.25,)).tolist() == [-0.25, 2.0]
    assert planned.run().tolist() == [-0.5, 2.0]


def test_what_looks_at_values_says_so() -> None:
    taking = _native.plan(_native.kernels["take"], np.ones(3, np.float32), np.array([0, 2]), 0)
    assert taking.depends_on_values
    assert not _native.plan(_native.kernels["exp"], np.ones(3, np.float32)).depends_on_values


def _planned(x: np.ndarray) -> Any:
    return _native.plan(_native.kernels["clone"], x)


def _reshape(x: np.ndarray) -> None:
    x.resize((3, 2), refcheck=False)


def _shrink(x: np.ndarray) -> None:
    x.resize(1, refcheck=False)


def _lock(x: np.ndarray) -> None:
    x.flags.writeable = False


@pytest.mark.parametrize("change", [_reshape, _shrink, _lock])
def test_arrays_that_changed_since_are_refused(change: Callable[[np.ndarray], None]) -> None:
    x = np.arange(6.0).reshape(2, 3).copy()
    planned, like = _planned(x), x.copy()
    change(x)
    with pytest.raises(TypeError, match=LIKE):
        planned.run()
    with pytest.raises(TypeError, match=LIKE):
        planned.run((x,))
    np.testing.assert_array_equal(planned.run((like,)), like)


@pytest.mark.parametrize(
    "other",
    [
        np.ones((2, 3), np.float32),
        np.ones((3, 2)),
        np.ones((3, 2)).T,
        np.ones((2, 6))[:, ::2],
        np.ones((2, 3)).astype(">f8"),
        np.broadcast_to(1.0, (2, 3)),
        np.ma.ones((2, 3)),
    ],
    ids=["dtype", "shape", "order", "strides", "byte order", "broadcast", "subclass"],
)
def test_other_arrays_are_refused(other: np.ndarray) -> None:
    x = np.arange(6.0).reshape(2, 3)
    planned = _planned(x)
    with pytest.raises(TypeError, match=LIKE):
        planned.run((other,))
    np.testing.assert_array_equal(planned.run(), x)


def _repeated(value: Any, *shape: int) -> np.ndarray:
    return np.broadcast_to(value, shape)


LONG = _repeated(np.float32(1), 2**59)


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [
        ("add", (LONG, _repeated(np.float32(1), 2**16, 1))),
        ("where", (_repeated(True, 2**59), LONG[:1], LONG[:64, None])),
        ("equal", (LONG, _repeated(np.float32(1), 2**16, 1))),
        ("index_select", (LONG[:, None], _repeated(np.int64(0), 2**59), 1)),
    ],
)
def test_shapes_that_no_memory_holds(kernel: str, arguments: tuple[Any, ...]) -> None:
    """Their elements cannot be counted, so they are declined before anybody tries."""
    assert _native.plan(_native.kernels[kernel], *arguments) is NotImplemented


def test_a_recurrence_of_any_length_is_planned() -> None:
    """Of repeated arrays: what it would take is estimated, not counted."""
    x, h0 = (_repeated(np.float32(1), *shape) for shape in [(2**20, 2**30, 2**9), (2**30, 2**30)])
    weights = [_repeated(np.float32(1), 2**30, length) for length in (2**9, 2**30)]
    planned = _native.plan(_native.kernels["rnn"], x, h0, *weights, None, None, "tanh")
    assert planned.inputs[0] is x
