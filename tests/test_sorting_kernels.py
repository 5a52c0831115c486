"""Kernels of orders: the places of a stable sort, whatever the elements are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels import assert_same_bits

import extensor as ex
from extensor.core import door
from extensor.core.op import OPS

pytestmark = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")

DTYPES = ["float32", "float64", "float16", "int32", "int64", "uint64"]
LENGTHS = [1, 2, 7, 31, 32, 33, 100, 255, 256, 257, 1000, 5000]


def _few_values(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    x = rng.integers(0, 5, shape).astype(dtype)
    return x if dtype == "uint64" else x - x.dtype.type(2)


def _many_values(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    x = rng.normal(size=shape).astype(dtype) * np.array(100, dtype)
    for special in (np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, np.finfo(dtype).tiny):
        x[rng.random(shape) < 0.04] = special
    return x


def _near_values(rng: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    """Those of 64 bits differ in the lower half alone."""
    x = rng.integers(0, 1000, shape)
    if np.dtype(dtype).kind == "f":
        return (1 + x * float(np.finfo(dtype).eps)).astype(dtype)
    return (x + (2**40 if np.dtype(dtype).itemsize == 8 else 0)).astype(dtype)


@pytest.mark.parametrize("draw", [_few_values, _many_values, _near_values])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("descending", [False, True])
def test_orders(descending: bool, dtype: str, draw: Any, rng: np.random.Generator) -> None:
    for length in LENGTHS:
        x = draw(rng, dtype, 2, length)
        for layout in (x, np.asfortranarray(x), x[::-1, ::-1]):
            expected = OPS["argsort"].formula(layout, -1, descending)
            assert_same_bits(OPS["argsort"].kernel(layout, -1, descending), expected)
            for k in {1, min(3, length), length // 2 + 1, length}:
                found = OPS["topk"].kernel(layout, k, 1, descending)
                expected = OPS["topk"].formula(layout, k, 1, descending)
                assert_same_bits(found[1], expected[1])
                np.testing.assert_array_equal(found[0], expected[0])


def test_what_comes_last_may_be_the_largest() -> None:
    """Rows in which every element displaces the ones before it."""
    x = np.arange(3000, dtype="float32").reshape(3, 1000)
    assert OPS["topk"].kernel(x, 3, -1, True)[1].tolist() == [[999, 998, 997]] * 3
    assert OPS["topk"].kernel(-x, 3, -1, False)[1].tolist() == [[999, 998, 997]] * 3
    nan = np.full((1, 200), np.nan, "float32")
    nan[0, 150] = 1
    assert OPS["topk"].kernel(nan, 2, -1, True)[1].tolist() == [[0, 1]]
    assert OPS["topk"].kernel(nan, 2, -1, False)[1].tolist() == [[150, 0]]


def test_declines_other_axes_and_dtypes() -> None:
    x = np.ones((3, 4), "float32")
    for arguments in ((x, 0, False), (x.astype("uint8"), 1, False), (x[:0], 1, False)):
        assert OPS["argsort"].kernel(*arguments) is NotImplemented
    for k in (0, 5, -1, 2**70, True):
        assert OPS["topk"].kernel(x, k, 1, True) is NotImplemented


@pytest.mark.parametrize("size", [10, 1000, 70_000])
def test_permutations_are_those_of_their_keys(size: int) -> None:
    ex.random.manual_seed(7)
    found = ex.random.permutation(size)
    ex.random.manual_seed(7)
    with door.by_formulas():
        expected = ex.random.permutation(size)
    assert_same_bits(found.numpy(), expected.numpy())


SPECS: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = [
    ("ij,jk->ik", (3, 4), (4, 5)),
    ("ij,kj->ik", (3, 4), (5, 4)),
    ("ij,jk->ki", (3, 4), (4, 5)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("bhid,bhjd->bhij", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("bihd,bjhd->bhij", (2, 4, 3, 5), (2, 6, 3, 5)),
    ("bhij,bjhd->bihd", (2, 3, 4, 5), (2, 5, 3, 6)),
    ("bsd,de->bse", (2, 3, 4), (4, 5)),
    ("abcd,cdef->abef", (2, 3, 4, 5), (4, 5, 2, 3)),
    ("ijk,ik->kj", (2, 3, 4), (2, 4)),
    ("bd,bd->b", (3, 4), (3, 4)),
    ("i,i->", (4,), (4,)),
    ("i,j->ij", (4,), (5,)),
    ("bi,bj->jbi", (3, 4), (3, 5)),
    ("ij,ij->ij", (3, 4), (3, 4)),
]


@pytest.mark.parametrize(("spec", "a", "b"), SPECS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_of_products(spec: str, a: Any, b: Any, dtype: str, rng: np.random.Generator) -> None:
    x, y = (rng.normal(size=shape).astype(dtype) for shape in (a, b))
    for first in (x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2]):
        found = OPS["einsum"].kernel([first, y], spec)
        if found is NotImplemented:  # a copy is needed first
            assert first is not x
            continue
        expected = np.einsum(spec, first, y)
        assert found.shape == expected.shape
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=1e-4 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize(
    "spec",
    ["ij,jk", "...ij,jk->...ik", "ii,ij->j", "ij,jk->i", "ij, jk->ik", "ij,jk,kl->il", "é,é->"],
)
def test_declines_other_sums(spec: str) -> None:
    x = np.ones((2, 2), "float32")
    assert OPS["einsum"].kernel([x, x], spec) is NotImplemented
    assert OPS["einsum"].kernel([x, x[:, :1]], "ij,ij->i") is NotImplemented
    assert OPS["einsum"].kernel([x, x.astype("float64")], "ij,jk->ik") is NotImplemented


def test_einsum_is_one_call_each_way() -> None:
    a, b = (ex.ones((2, 3, 4), requires_grad=True) for _ in range(2))
    seen = []
    with door.watch(lambda event: seen.append(event.kernel)):
        ex.einsum("bid,bjd->bij", a, b).sum().backward()
    assert None not in seen
    assert seen.count("einsum") == 3
