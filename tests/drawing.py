"""What the property tests draw: shapes that broadcast, numbers, memory layouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

import extensor as ex

# The same examples in every run: a red test can be run again.
settings.register_profile(
    "extensor",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("extensor")

Shape = tuple[int, ...]
sizes = st.integers(0, 3)
shapes = st.lists(sizes, max_size=4).map(tuple)
positive_shapes = st.lists(st.integers(1, 3), max_size=4).map(tuple)


@st.composite
def broadcastable(draw: st.DrawFn, count: int = 2) -> list[Shape]:
    """Shapes that broadcast: a common one with axes left out in front or made 1."""
    common = draw(shapes)
    result = []
    for _ in range(count):
        kept = common[draw(st.integers(0, len(common))) :]
        result.append(tuple(1 if draw(st.booleans()) else size for size in kept))
    return result


def numbers(shape: Shape, seed: int) -> np.ndarray:
    """Distinct numbers away from 0 and from whole numbers, of both signs and in any order."""
    size = int(np.prod(shape))
    rng = np.random.default_rng([seed, size])
    values = (np.arange(size) + 0.3) * 0.37 + 0.15
    return np.asarray(rng.permutation(values) * rng.choice([-1, 1], size)).reshape(shape)


@st.composite
def layouts(draw: st.DrawFn) -> Callable[[np.ndarray], np.ndarray]:
    """The same values contiguous, with gaps, reversed, in Fortran order, or read-only."""

    def plain(x: np.ndarray) -> np.ndarray:
        return x.copy()

    def gaps(x: np.ndarray) -> np.ndarray:
        wide = np.full(tuple(2 * n for n in x.shape), 7, x.dtype)
        view = wide[(..., *(slice(None, None, 2) for _ in x.shape))]
        view[...] = x
        return view

    def backwards(x: np.ndarray) -> np.ndarray:
        reverse = (..., *(slice(None, None, -1) for _ in x.shape))
        return x[reverse].copy()[reverse]

    def fortran(x: np.ndarray) -> np.ndarray:
        return x.copy(order="F")

    def read_only(x: np.ndarray) -> np.ndarray:
        copy = x.copy()
        copy.flags.writeable = False
        return copy

    return draw(st.sampled_from([plain, gaps, backwards, fortran, read_only]))


class Watched:
    """Leaves around arrays of a drawn layout, and a check that nobody changed them."""

    def __init__(
        self, arrays: list[np.ndarray], layout: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        self.arrays = [layout(x) for x in arrays]
        self.before = [x.copy() for x in self.arrays]
        self.leaves = [ex.asarray(x) for x in self.arrays]
        for leaf in self.leaves:
            leaf.requires_grad = True

    def gradients(self, output: Any, seed: Any) -> list[np.ndarray]:
        kept = seed.copy()
        output.backward(seed)
        np.testing.assert_array_equal(seed, kept)
        for array, before in zip(self.arrays, self.before, strict=True):
            np.testing.assert_array_equal(array, before)
        for leaf in self.leaves:
            assert leaf.grad is not None
            assert leaf.grad.shape == leaf.shape
            assert leaf.grad.dtype == leaf.dtype
        return [leaf.grad.numpy() for leaf in self.leaves]


def summed_to(gradient: np.ndarray, shape: Shape) -> np.ndarray:
    """The adjoint of broadcasting, element by element."""
    total = np.zeros(shape)
    padded = (1,) * (gradient.ndim - len(shape)) + shape
    view = total.reshape(padded)
    for index in np.ndindex(gradient.shape):
        place = tuple(0 if size == 1 else i for i, size in zip(index, padded, strict=True))
        view[place] += gradient[index]
    return total


def assert_close(actual: Any, expected: Any) -> None:
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-10)
