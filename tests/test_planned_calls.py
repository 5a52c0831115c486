"""A call that was planned is run on arrays like those it was planned for, and on no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from extensor import _native

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
