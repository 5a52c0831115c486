"""Kernels that only move elements: every bit of NumPy's result, and a copy only where it makes one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from kernels import assert_same_bits

import extensor as ex
from extensor.core import door
from extensor.core.op import OPS

pytestmark = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "plain": np.ascontiguousarray,
    "reversed": lambda x: x[::-1],
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "spread": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "swapped": lambda x: np.ascontiguousarray(np.swapaxes(x, 0, 1)).swapaxes(0, 1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "bool", "float16"])
def test_joining_in_every_layout(layout: str, dtype: str, rng: np.random.Generator) -> None:
    change = LAYOUTS[layout]
    for shape in ((3, 4, 5), (1, 1, 1), (2, 1, 3), (17, 9, 12), (0, 2, 2)):
        parts = [change(rng.uniform(-9, 9, shape).astype(dtype)) for _ in range(3)]
        for axis in (0, 1, 2, -1):
            assert_same_bits(OPS["stack"].kernel(parts, axis), np.stack(parts, axis))
            uneven = [*parts, change(np.concatenate(parts[:2], axis))]
            assert_same_bits(OPS["concatenate"].kernel(uneven, axis), np.concatenate(uneven, axis))
        assert_same_bits(OPS["stack"].kernel(parts, 3), np.stack(parts, 3))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_reshape_copies_only_where_it_must(layout: str, rng: np.random.Generator) -> None:
    x = LAYOUTS[layout](rng.uniform(-9, 9, (4, 6, 1, 10)).astype("float32"))
    for part in (x, x[:, :, :, 2:7], x[1:3], x[:, :1], x.swapaxes(0, 1), x.swapaxes(0, 3)):
        for shape in (
            -1,
            (-1, 2),
            (2, -1),
            (2, 1, 2, -1),
            (*part.shape[:3], -1, 5),
            part.shape[::-1],
        ):
            try:
                expected = part.reshape(shape)
            except ValueError:
                continue
            wanted = (shape,) if isinstance(shape, int) else shape
            found = OPS["reshape"].kernel(part, wanted)
            assert_same_bits(np.ascontiguousarray(found), np.ascontiguousarray(expected))
            assert np.shares_memory(found, part) == np.shares_memory(expected, part)


def test_additions_broadcast_along_an_index_of_several_axes() -> None:
    """NumPy's ``add.at`` reads beyond the values there."""
    index = np.array([-2, 1, 0, -2, 0, -2, -1, 0, 1, 0, 0, 2]).reshape(2, 2, 3)
    x, updates = np.arange(4.0), np.array([1.0, 10.0, 100.0])
    expected = x.copy()
    for place, update in zip(index.ravel(), np.tile(updates, 4), strict=True):
        expected[place] += update
    assert ex.index_add(x, updates, index).tolist() == expected.tolist()
    assert ex.tensor(x).at[index].add(updates).tolist() == expected.tolist()
