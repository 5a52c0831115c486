"""The special functions in float64, against forty digits of mpmath."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import extensor as ex

COUNT = 400
Draw = Callable[[np.random.Generator], Any]


def _uniform(low: float, high: float) -> Draw:
    return lambda rng: rng.uniform(low, high, COUNT)


def _powers(low: float, high: float) -> Draw:
    return lambda rng: 10 ** rng.uniform(low, high, COUNT)


def _near(point: float, gap: float) -> Draw:
    return lambda rng: point + rng.normal(0, gap, COUNT)


def _lgamma(x: Any) -> Any:
    return mpmath.re(mpmath.loggamma(x))


ROWS: list[tuple[str, Callable[[Any], Any], Draw, float]] = [
    ("erfc", mpmath.erfc, _uniform(-6, 26), 4),
    ("erfinv", mpmath.erfinv, _uniform(-1, 1), 3),
    ("erfinv", mpmath.erfinv, lambda rng: 1 - 10 ** rng.uniform(-15.5, -1, COUNT), 3),
    ("erfinv", mpmath.erfinv, _powers(-300, -1), 2),
    ("lgamma", _lgamma, _uniform(0, 3), 6),
    ("lgamma", _lgamma, _uniform(3, 200), 4),
    ("lgamma", _lgamma, _powers(-300, 300), 4),
    ("lgamma", _lgamma, _near(1, 1e-6), 3),
    ("lgamma", _lgamma, _near(2, 1e-6), 3),
    ("digamma", mpmath.digamma, _uniform(0, 3), 4),
    ("digamma", mpmath.digamma, _uniform(3, 200), 4),
    ("digamma", mpmath.digamma, _powers(-300, 300), 4),
    ("digamma", mpmath.digamma, _near(1.4616321449683622, 1e-6), 3),
    ("sinc", lambda x: mpmath.sincpi(x), _uniform(-0.9, 0.9), 8),
    ("exp2", lambda x: mpmath.mpf(2) ** x, _uniform(-1000, 1000), 2),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_within_units_in_the_last_place(
    row: tuple[str, Callable[[Any], Any], Draw, float], rng: np.random.Generator
) -> None:
    name, exact, draw, most = row
    points = draw(rng)
    found = getattr(ex, name)(points).numpy()
    with mpmath.workdps(40):
        for x, y in zip(points, found, strict=True):
            known = exact(mpmath.mpf(float(x)))
            unit = np.spacing(max(abs(float(known)), np.finfo(np.float64).tiny))
            assert abs(mpmath.mpf(float(y)) - known) <= most * mpmath.mpf(float(unit)), (name, x)


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_polygamma(n: int, rng: np.random.Generator) -> None:
    points = np.concatenate([rng.uniform(0.01, 60, 200), rng.uniform(-9, 0, 100)])
    found = ex.polygamma(points, n).numpy()
    with mpmath.workdps(40):
        known = np.array([float(mpmath.polygamma(n, mpmath.mpf(float(x)))) for x in points])
    np.testing.assert_allclose(found, known, rtol=2e-13)


@pytest.mark.parametrize(
    ("name", "points", "values"),
    [
        ("lgamma", [0.0, -0.0, -3.0, np.inf, -np.inf], [np.inf] * 5),
        ("lgamma", [1.0, 2.0], [0.0, 0.0]),
        ("digamma", [0.0, -0.0, -3.0, np.inf, -np.inf], [-np.inf, np.inf, np.nan, np.inf, np.nan]),
        ("erfinv", [-1.0, 1.0, 0.0, 1.5, np.inf], [-np.inf, np.inf, 0.0, np.nan, np.nan]),
        ("erfc", [np.inf, -np.inf, 0.0], [0.0, 2.0, 1.0]),
    ],
)
def test_values_at_the_edges(name: str, points: list[float], values: list[float]) -> None:
    found = getattr(ex, name)(np.array(points)).numpy()
    np.testing.assert_array_equal(found, values)
