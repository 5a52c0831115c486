"""A call is a value: planned once, it runs again, and on other memory of the same layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from soak.native_targets import recorded

from extensor import _native
from extensor.core import door

pytestmark = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")


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


def test_memory_of_another_layout_is_refused() -> None:
    planned = _native.plan(_native.kernels["exp"], np.zeros((2, 3), np.float32))
    for other in (np.zeros((2, 3)), np.zeros((3, 2), np.float32), np.zeros((3, 2), np.float32).T):
        with pytest.raises(TypeError, match="run: inputs must be arrays like those of the plan"):
            planned.run((other,))
    with pytest.raises(TypeError, match="run: inputs must be arrays like those of the plan"):
        planned.run(())


def test_what_looks_at_values_says_so() -> None:
    taking = _native.plan(_native.kernels["take"], np.ones(3, np.float32), np.array([0, 2]), 0)
    assert taking.depends_on_values
    assert not _native.plan(_native.kernels["exp"], np.ones(3, np.float32)).depends_on_values
