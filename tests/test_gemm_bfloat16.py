"""Matrix products of bfloat16: summed in float32 over the whole of k, rounded once.

The bound of an element is that of a float32 sum of k terms in any order, k 2^-24 sum |a b|, and then
half a unit of the 8 bits of bfloat16, 2^-8 of the result. Products of two bfloat16 are exact in
float32.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.core import door
from extensor.core.op import OPS

pytestmark = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")

ROOT = Path(__file__).resolve().parents[1]
LENGTHS = (1, 2, 3, 7, 8, 9, 15, 17, 64, 287, 288, 289, 577, 3001)
SHAPES = [
    *((5, k, 9) for k in LENGTHS),  # k even and odd, below, at and above a block of 288
    *((m, 33, 20) for m in (1, 2, 6, 7, 13, 70)),
    *((7, 33, n) for n in (1, 2, 8, 10, 16, 17, 31, 33)),
    (130, 300, 70),
    (1100, 3, 4),
    (3, 5, 1100),
]
LAYOUTS = ("NN", "NT", "TN", "TT", "strided", "reversed")


def _kernel(name: str) -> Any:
    kernel = OPS[name].kernel
    assert kernel is not None
    return kernel


def _laid_out(x: Any, transposed: bool, layout: str) -> Any:
    """The same matrix, otherwise in memory."""
    if layout == "strided":
        wide = np.full((*x.shape[:-1], 2 * x.shape[-1]), np.nan, x.dtype)
        wide[..., ::2] = x
        return wide[..., ::2]
    if layout == "reversed":
        return np.ascontiguousarray(x[..., ::-1, ::-1])[..., ::-1, ::-1]
    if transposed:
        return np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)
    return np.ascontiguousarray(x)


def _operands(rng: np.random.Generator, layout: str, a: Any, b: Any) -> Any:
    short = [rng.normal(size=shape).astype(ex.bfloat16) for shape in (a, b)]
    return [_laid_out(x, layout[i] == "T", layout) for i, x in enumerate(short)]


def _assert_bounded(result: Any, a: Any, b: Any, added: Any = 0.0) -> None:
    wide = [x.astype(np.float64) for x in (a, b)]
    exact = wide[0] @ wide[1] + added
    terms = np.abs(wide[0]) @ np.abs(wide[1]) + np.abs(added)
    summed = (a.shape[-1] + 1) * 2.0**-24 * terms
    bound = summed + 2.0**-8 * (np.abs(exact) + summed)
    error = np.abs(result.astype(np.float64) - exact)
    assert result.dtype == ex.bfloat16
    assert result.shape == exact.shape
    assert (error <= bound).all(), (error / bound).max()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products(shape: Any, layout: str, rng: np.random.Generator) -> None:
    m, k, n = shape
    a, b = _operands(rng, layout, (m, k), (k, n))
    _assert_bounded(_kernel("matmul")(a, b), a, b)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "shapes",
    [
        ((4, 6, 33), (4, 33, 10)),
        ((9, 5, 7), (7, 3)),
        ((2, 1, 5, 9), (3, 9, 4)),
        ((8, 1, 31), (31, 5)),
    ],
    ids=str,
)
def test_batches(shapes: Any, layout: str, rng: np.random.Generator) -> None:
    a, b = _operands(rng, layout, *shapes)
    _assert_bounded(_kernel("matmul")(a, b), a, b)


@pytest.mark.parametrize("k", [1, 31, 300, 1001])
def test_linear_and_both_backward_products(k: int, rng: np.random.Generator) -> None:
    x, weight, bias, gradient = (
        rng.normal(size=s).astype(ex.bfloat16) for s in ((21, k), (13, k), (13,), (21, 13))
    )
    _assert_bounded(_kernel("linear")(x, weight, bias), x, weight.T, bias.astype(np.float64))
    leaves = [ex.tensor(v, requires_grad=True) for v in (x, weight)]
    ex.linear(*leaves).backward(ex.tensor(gradient))
    _assert_bounded(leaves[0].grad.numpy(), gradient, weight)
    _assert_bounded(leaves[1].grad.numpy(), gradient.T, x)


def test_partial_sums_are_not_rounded() -> None:
    """Each block of k adds less than half a unit of bfloat16, all together they add many."""
    k = 20 * 288
    a = np.full((2, k), 2.0**-11, ex.bfloat16)
    b = np.ones((k, 3), ex.bfloat16)
    a[:, 0] = 256
    exact = 256 + (k - 1) * 2.0**-11
    np.testing.assert_array_equal(_kernel("matmul")(a, b), np.full((2, 3), exact, ex.bfloat16))
    assert ex.bfloat16.type(256 + 288 * 2.0**-11) == 256
    assert ex.bfloat16.type(exact) != 256


as_float32 = pytest.mark.skipif(
    door.multiplies_bfloat16(),
    reason="AVX512-BF16 sums in pairs; the bounds above hold for it",
)


@as_float32
@pytest.mark.parametrize(
    "shapes", [((7, 33), (33, 20)), ((3, 40, 300), (300, 17)), ((5, 2, 3, 8), (2, 8, 1))]
)
def test_products_are_rounded_once(shapes: Any, rng: np.random.Generator) -> None:
    """Sums are those of float32, to the bit; only the result is short."""
    a, b = (rng.normal(size=shape).astype(ex.bfloat16) for shape in shapes)
    kernel = _kernel("matmul")
    expected = kernel(a.astype(np.float32), b.astype(np.float32)).astype(ex.bfloat16)
    np.testing.assert_array_equal(kernel(a, b).view("u2"), expected.view("u2"))


@as_float32
def test_linear_adds_the_bias_before_rounding(rng: np.random.Generator) -> None:
    x, weight, bias = (
        rng.normal(size=s).astype(ex.bfloat16) for s in ((6, 5, 40), (12, 40), (12,))
    )
    kernel = _kernel("linear")
    expected = kernel(*(array.astype(np.float32) for array in (x, weight, bias)))
    result = kernel(x, weight, bias)
    np.testing.assert_array_equal(result.view("u2"), expected.astype(ex.bfloat16).view("u2"))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "shape", [(300, 301, 203), (64, 5001, 10), (1, 2001, 700), (700, 2001, 1)], ids=str
)
def test_the_same_bits_for_any_number_of_threads(
    shape: Any, layout: str, threads: Any, rng: np.random.Generator
) -> None:
    m, k, n = shape
    a, b = _operands(rng, layout, (m, k), (k, n))
    results = []
    for count in range(1, 9):
        threads(count)
        results.append(_kernel("matmul")(a, b).tobytes())
    assert len(set(results)) == 1


def test_infinity_and_nan_stay_in_their_rows(rng: np.random.Generator) -> None:
    """Neither the zeros that complete an odd k nor the lines beside the last one touch them."""
    a, b = (rng.normal(size=shape).astype(ex.bfloat16) for shape in ((7, 33), (33, 10)))
    a[0, 32], a[6, 3], b[32, 4] = np.inf, np.nan, 1
    result = _kernel("matmul")(a, b).astype(np.float32)
    assert np.isinf(result[0, 4])
    assert np.isnan(result[6]).all()
    assert np.isfinite(result[1:6]).all()


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a compiler")
@pytest.mark.parametrize("vectors", ["as wide as here", "as wide as AVX-512"])
def test_products_of_pairs(vectors: str, tmp_path: Path) -> None:
    """What AVX512-BF16 computes with, all but the instruction: panels of pairs and their tiles."""
    options = ["-std=c++20", "-O2", "-march=native", "-Wno-psabi", "-fwrapv", "-ffp-contract=fast"]
    options += ["-DEX_ISA=v3", "-DEX_TEST_PAIRS", "-pthread", "-o", str(tmp_path / "test")]
    if vectors == "as wide as AVX-512":
        options.append("-DEX_VECTOR_BYTES=64")
    # A sanitizer that is loaded but not compiled in does not see how the threads wait for each other.
    if "EXTENSOR_SANITIZED" in os.environ:
        options.append(f"-fsanitize={os.environ['EXTENSOR_SANITIZED']}")
    kernel = ["native/kernels/matrix/gemm.cpp", "native/runtime/scratch.cpp"]
    sources = [*kernel, "benchmarks/native/gemm_bench.cpp"]
    subprocess.run(["g++", *options, *(str(ROOT / s) for s in sources), "-ldl"], check=True)
    subprocess.run([str(tmp_path / "test"), "test-bfloat16"], check=True)
