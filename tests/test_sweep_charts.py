"""The charts of sweeps and of learning rates: where things lie, and whatever the values are."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from extensor.report import Chart, Series
from extensor.report.chart import draw_chart
from extensor.report.search_pages import rate_chart
from extensor.train import RateTest


def _drawn(chart: Chart, tag: str) -> list[Any]:
    """The elements of a chart, which must be well-formed."""
    return list(ElementTree.fromstring(f"<div>{draw_chart(chart)}</div>").iter(tag))


def _places(chart: Chart, number: int = 0) -> list[tuple[float, float]]:
    """Where the points of a series lie."""
    shapes = [x for x in _drawn(chart, "path") + _drawn(chart, "polyline") if x.get("data-points")]
    text = shapes[number].get("data-at") or shapes[number].get("points")
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in text.split())]


def _dots(points: list[tuple[float, float]], **details: Any) -> Chart:
    return Chart("t", [Series("a", points, kind="dots", said="")], **details)


def test_dots_lie_where_their_logarithms_do() -> None:
    rates = [1e-4, 1e-3, 3e-3, 1e-1]
    chart = _dots([(x, i / 10) for i, x in enumerate(rates)], logarithmic_across=True)
    xs, ys = zip(*_places(chart), strict=True)
    for i in (1, 2):
        share = math.log(rates[i] / rates[0]) / math.log(rates[3] / rates[0])
        assert (xs[i] - xs[0]) / (xs[3] - xs[0]) == pytest.approx(share, abs=1e-3)
        assert (ys[0] - ys[i]) / (ys[0] - ys[3]) == pytest.approx(i / 3, abs=1e-3)


def test_words_lie_side_by_side_in_their_order() -> None:
    words = ["b", "a c", "<c>"]
    chart = _dots([(0, 1.0), (1, 1.0), (0, 2.0)], words=words)
    places = _places(chart)
    assert places[0][0] == places[2][0] < places[1][0]
    labels = [x for x in _drawn(chart, "text") if x.text in words]
    assert [x.text for x in labels] == words
    assert [float(x.get("x")) for x in labels[:2]] == [places[0][0], places[1][0]]
    (dots,) = (x for x in _drawn(chart, "path") if x.get("data-points"))
    assert dots.get("data-x").split(" ") == ["b", "a\N{NO-BREAK SPACE}c", "b"]


@pytest.mark.parametrize("count", [1, 2, 8, 9, 40])
def test_words_below_the_axis_have_room(count: int) -> None:
    words = [f"a rather long word {i}" for i in range(count)]
    chart = _dots([(i, 0.5) for i in range(count)], words=words)
    labels = [x for x in _drawn(chart, "text") if x.text[:2] in ("a ", "a…")]
    assert 1 <= len(labels) <= 8
    assert all(0 <= x <= 400 for x, _ in _places(chart))


@pytest.mark.parametrize(
    "values",
    [
        [0.0], [5.0], [0.0, 0.0], [1.0, 1.0 + 2**-52], [-1e30, 1e30], [1e-300, 1e300], [1e-12, 0.5],
        [-3.0, 0.0, 3.0], [99999999.0, 100000001.0], [0.25, 0.25, 0.5],
    ],
)  # fmt: skip
@pytest.mark.parametrize("logarithmic", [False, True])
def test_whatever_the_values_are(values: list[float], logarithmic: bool) -> None:
    logarithmic &= min(values) > 0
    for points in ([(x, x) for x in values], [(x, x) for x in values[::-1]]):
        chart = _dots(points, logarithmic_across=logarithmic)
        for x, y in _places(chart):
            assert 0 <= x <= 400
            assert 0 <= y <= chart.height
        labels = [text.text for text in _drawn(chart, "text")]
        assert len(labels) < 25
        assert not any(text in ("nan", "inf") for text in labels)


def _rate_test(suggestion: float | None) -> RateTest:
    smooth = np.array([2.3, 2.3, 2.3, 2.2, 1.5, 0.9, 1.2, 40.0, 9e9])
    return RateTest(10.0 ** np.arange(-7, 2), smooth, smooth, 1e-2, 1e-3, suggestion, True)


def test_the_rate_that_is_suggested_is_marked() -> None:
    chart = rate_chart(_rate_test(1e-3), "Rates")
    assert rate_chart(_rate_test(None), "Rates").marks == []
    (mark,) = chart.marks
    assert (mark.at, mark.text) == (1e-3, "suggested")
    points = _places(chart, 1)
    (line,) = (x for x in _drawn(chart, "path") if x.get("class") == "mark")
    assert float(line.get("d")[1:].split(" ")[0]) == pytest.approx(points[4][0], abs=0.2)
    # What the loss ends with does not flatten what came before.
    assert points[5][1] - points[0][1] > 100
    assert min(y for _, y in points) == 0
    steps = [b - a for (a, _), (b, _) in pairwise(points)]
    assert steps == pytest.approx([steps[0]] * 8, abs=0.2)
