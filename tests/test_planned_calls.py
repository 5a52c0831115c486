"""A call that was planned is run on arrays like those it was planned for, and on no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from calls import arrays_of, as_leaf, call, first_floating
from cases.case import Case
from op_cases import CASES

import extensor as ex
from extensor import _native
from extensor.core import door
from extensor.core.op import OPS

pytestmark = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")
LIKE = "run: inputs must be arrays like those of the plan"


def _planned(x: np.ndarray) -> Any:
    return _native.plan(_native.kernels["clone"], x)


def _reshape(x: np.ndarray) -> None:
    x.shape = (3, 2)


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


def _like(x: np.ndarray) -> np.ndarray:
    """A copy of the same strides."""
    if x.size == 0 or not x.flags.writeable:
        return x
    reach = [stride * (length - 1) for stride, length in zip(x.strides, x.shape, strict=True)]
    before = -sum(step for step in reach if step < 0)
    after = sum(step for step in reach if step > 0)
    room = np.zeros((before + after) // x.itemsize + 1, x.dtype)
    copy = np.ndarray(x.shape, x.dtype, room, before, x.strides)
    copy[...] = x
    return copy


def _bits(result: Any) -> Any:
    if isinstance(result, tuple):
        return [_bits(x) for x in result]
    return None if result is None else (result.dtype, result.shape, result.tobytes())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_call_gives_the_same_on_other_memory(case: Case) -> None:
    told: list[_native.Computed] = []
    inputs = as_leaf(arrays_of(case, np.random.default_rng(7), "float32"))
    with door.watch(told.append):
        outputs = call(case, inputs)
        with_gradient = [x for x in first_floating(outputs, OPS[case.op].rule) if x.requires_grad]
        if with_gradient:
            ex.backward(with_gradient, [ex.cos(x.detach()) for x in with_gradient])
    for computed in told:
        if computed.kernel is None:
            continue
        planned = _native.plan(_native.kernels[computed.kernel], *computed.inputs)
        others = tuple(_like(x) for x in planned.inputs)
        for result in (planned.run(), planned.run(others), planned.run()):
            assert _bits(result) == _bits(computed.outputs)


def test_a_recurrence_of_any_length_is_planned() -> None:
    """Of repeated arrays: what it would take is estimated, not counted."""
    x, h0 = (_repeated(np.float32(1), *shape) for shape in [(2**20, 2**30, 2**9), (2**30, 2**30)])
    weights = [_repeated(np.float32(1), 2**30, length) for length in (2**9, 2**30)]
    planned = _native.plan(_native.kernels["rnn"], x, h0, *weights, None, None, "tanh")
    assert planned.inputs[0] is x
