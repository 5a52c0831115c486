"""The pooling kernels against their formulas over widths, windows, ties and special values."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import tolerances

import extensor as ex
from extensor.core import door
from extensor.core.op import OPS
from extensor.core.tensor import wrap

native = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")
# Around the widths of vectors, and beyond the 256 windows that the rules take at a time.
WIDTHS = [*range(1, 36), 67, 513, 600]
WINDOWS = [(1, 1, 0), (2, 2, 0), (2, 1, 1), (3, 2, 1), (3, 1, 0), (4, 3, 2), (2, 5, 0)]


def _planes(rng: np.random.Generator, width: int, dtype: str) -> np.ndarray:
    """Few different numbers, so that many windows tie; zeros of both signs, infinities, NaN."""
    values = np.array([-1.5, -0.0, 0.0, 2.0, 7.0, -np.inf, np.inf, np.nan], dtype)
    chances = np.array([20, 10, 10, 30, 25, 3, 1, 1]) / 100
    return rng.choice(values, (2, 2, 5, width), p=chances)


@native
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dilation", [1, 2])
def test_max_and_its_rule(dtype: str, dilation: int, rng: np.random.Generator) -> None:
    op = OPS["max_pool2d"]
    assert op.kernel is not None
    assert op.rule is not None
    assert op.rule.kernel is not None
    for width in WIDTHS:
        x = _planes(rng, width, dtype)
        for (kernel, stride, padding), ceil_mode in product(WINDOWS, (False, True)):
            if dilation * (kernel - 1) >= min(5, width) + 2 * padding:
                continue
            how = (kernel, stride, padding, dilation, ceil_mode)
            found = op.kernel(x, *how)
            np.testing.assert_array_equal(found, op.formula(x, *how), strict=True)
            gradient = rng.integers(-4, 5, found.shape).astype(dtype)  # whose sums are exact
            (expected,) = op.rule.by_formula([wrap(gradient), wrap(x), *how], None)
            given = op.rule.kernel(gradient, x, *how)
            np.testing.assert_array_equal(given, expected.numpy(), strict=True)


@native
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_mean_and_its_rule(dtype: str, rng: np.random.Generator) -> None:
    op = OPS["avg_pool2d"]
    assert op.kernel is not None
    assert op.rule is not None
    assert op.rule.kernel is not None
    for width in WIDTHS:
        x = rng.uniform(-1, 1, (2, 2, 5, width)).astype(dtype)
        for window, ceil_mode, counted in product(WINDOWS, (False, True), (False, True)):
            if window[0] > min(5, width) + 2 * window[2]:
                continue
            how = (*window, ceil_mode, counted, None)
            found = op.kernel(x, *how)
            tolerances.assert_close(found, op.formula(x, *how), dtype)
            gradient = rng.uniform(-1, 1, found.shape).astype(dtype)
            (expected,) = op.rule.by_formula([wrap(gradient), x.shape, *how], None)
            tolerances.assert_close(op.rule.kernel(gradient, x.shape, *how), expected, dtype)


@native
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_adaptive_mean_and_its_rule(dtype: str, rng: np.random.Generator) -> None:
    op = OPS["adaptive_avg_pool2d"]
    assert op.kernel is not None
    assert op.rule is not None
    assert op.rule.kernel is not None
    for width in WIDTHS:
        x = rng.uniform(-1, 1, (2, 2, 5, width)).astype(dtype)
        for size in (1, 2, 3, 5, 9, (None, 1), (1, None), (2, 7)):
            found = op.kernel(x, size)
            tolerances.assert_close(found, op.formula(x, size), dtype)
            gradient = rng.uniform(-1, 1, found.shape).astype(dtype)
            (expected,) = op.rule.by_formula([wrap(gradient), x.shape, size], None)
            tolerances.assert_close(op.rule.kernel(gradient, x.shape, size), expected, dtype)


def test_the_first_of_the_largest_gets_the_gradient() -> None:
    x = [[[[1.0, 3.0, 3.0], [3.0, 0.0, 3.0], [3.0, 3.0, 3.0]]]]
    gradient = ex.max_pool2d_backward([[[[1.0, 10.0], [100.0, 1000.0]]]], x, 2, 1)
    assert gradient.tolist() == [[[[0.0, 11.0, 0.0], [100.0, 0.0, 1000.0], [0.0, 0.0, 0.0]]]]


def test_nan_is_the_largest() -> None:
    x = ex.tensor([[[1.0, float("nan"), 9.0, float("nan")]]], requires_grad=True)
    out = ex.max_pool1d(x, 4)
    assert np.isnan(out.item())
    out.backward(np.ones((1, 1, 1), np.float32))
    assert x.grad.tolist() == [[[0.0, 1.0, 0.0, 0.0]]]


def test_a_window_of_infinities_beside_the_padding() -> None:
    """The padding, which is -inf to the maximum, never wins."""
    x = np.full((1, 1, 3), -np.inf, np.float32)
    assert ex.max_pool1d(x, 3, 1, 1).tolist() == [[[-np.inf] * 3]]
    gradient = ex.max_pool1d_backward(np.ones((1, 1, 3), np.float32), x, 3, 1, 1)
    assert gradient.tolist() == [[[2.0, 1.0, 0.0]]]


def test_a_window_that_sees_nothing() -> None:
    """Dilated over a short input, both of its elements are beyond the ends."""
    x = np.ones((1, 1, 3), np.float32)
    assert ex.max_pool1d(x, 2, 1, 1, 4).tolist() == [[[-np.inf]]]
    gradient = ex.max_pool1d_backward(np.ones((1, 1, 1), np.float32), x, 2, 1, 1, 4)
    assert gradient.tolist() == [[[0.0, 0.0, 0.0]]]


def test_kinks_are_seen() -> None:
    with pytest.raises(AssertionError, match="max_pool2d has a kink 0 away"):
        ex.check_gradient(lambda x: ex.max_pool2d(x, 2), [np.ones((1, 1, 2, 2))])
    ex.check_gradient(lambda x: ex.max_pool2d(x, 2), [np.arange(4.0).reshape(1, 1, 2, 2)])
