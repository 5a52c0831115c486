"""The charts of sweeps and of learning rates: where things lie, and whatever the values are."""

from __future__ import annotations

import math
import re
from typing import Any
from xml.etree import ElementTree

import pytest

from extensor.report.scatter import Curve, Dot, curve_chart, rate_chart, scatter


def _drawn(chart: str, tag: str) -> list[Any]:
    """The elements of a chart, which must be well-formed."""
    return list(ElementTree.fromstring(f"<div>{chart}</div>").iter(tag))


def _places(chart: str) -> list[tuple[float, float]]:
    return [(float(dot.get("cx")), float(dot.get("cy"))) for dot in _drawn(chart, "circle")]


def test_dots_lie_where_their_logarithms_do() -> None:
    rates = [1e-4, 1e-3, 3e-3, 1e-1]
    dots = [Dot(rate, place / 10, f"trial {place}") for place, rate in enumerate(rates)]
    found = _places(scatter(dots, "lr", "accuracy", logarithmic=True))
    xs, ys = [x for x, _ in found], [y for _, y in found]
    for i in (1, 2):
        share = math.log(rates[i] / rates[0]) / math.log(rates[3] / rates[0])
        assert (xs[i] - xs[0]) / (xs[3] - xs[0]) == pytest.approx(share, abs=1e-3)
        assert (ys[0] - ys[i]) / (ys[0] - ys[3]) == pytest.approx(i / 3, abs=1e-3)


def test_words_lie_side_by_side_in_their_order() -> None:
    dots = [Dot("b", 1.0, ""), Dot("a", 1.0, ""), Dot("b", 2.0, "", "best")]
    chart = scatter(dots, "name", "loss", words=["b", "a", "<c>"])
    places = _places(chart)
    assert places[0][0] == places[2][0] < places[1][0]
    assert _drawn(chart, "circle")[2].get("class") == "dot best"
    texts = [text.text for text in _drawn(chart, "text")]
    assert [text for text in texts if text in ("a", "b", "<c>")] == ["b", "a", "<c>"]


@pytest.mark.parametrize(
    "values",
    [
        [0.0], [5.0], [0.0, 0.0], [1.0, 1.0 + 2**-52], [-1e30, 1e30], [1e-300, 1e300], [1e-12, 0.5],
        [-3.0, 0.0, 3.0], [99999999.0, 100000001.0], [0.25, 0.25, 0.5],
    ],
)  # fmt: skip
@pytest.mark.parametrize("logarithmic", [False, True])
def test_whatever_the_values_are(values: list[float], logarithmic: bool) -> None:
    dots = [Dot(value, value, "<&>") for value in values]
    curves = [Curve("a <b>", [(x, y) for x, y in enumerate(values)], 1)]
    for chart in (
        scatter(dots, "x", "y", logarithmic),
        scatter(dots[::-1], "x", "y"),
        curve_chart(curves, "epoch", "y"),
    ):
        for x, y in _places(chart):
            assert 0 <= x <= 400
            assert 0 <= y <= 220
        labels = [text.text for text in _drawn(chart, "text")]
        assert len(labels) < 25
        assert not any(text in ("nan", "inf") for text in labels)


def test_the_rate_that_is_suggested_is_marked() -> None:
    rates = [10.0**power for power in range(-7, 2)]
    smooth = [2.3, 2.3, 2.3, 2.2, 1.5, 0.9, 1.2, 40.0, 9e9]
    chart = rate_chart(rates, smooth, smooth, 1e-3)
    (mark,) = [path for path in _drawn(chart, "path") if path.get("class") == "mark"]
    (line, _) = _drawn(chart, "polyline")
    points = [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]
    place = float(re.findall(r"M([\d.]+)", mark.get("d"))[0])
    assert place == pytest.approx(points[4][0], abs=0.2)
    # What the loss ends with does not flatten what came before.
    assert points[5][1] - points[0][1] > 100
    assert min(y for _, y in points) == 0
    assert len(_drawn(rate_chart(rates, smooth, smooth, None), "path")) == len(
        _drawn(chart, "path")
    ) - 1  # fmt: skip


def test_a_curve_is_marked_where_it_counts() -> None:
    points = [(1.0, 0.5), (2.0, 0.9), (3.0, 0.7)]
    chart = curve_chart(
        [Curve("a", points, 1, (2.0, 0.9), "90.00%"), Curve("b", points, 2)], "epoch", "accuracy"
    )
    last, best = _places(chart)  # the first curve lies on top
    (line, _) = _drawn(chart, "polyline")
    drawn = [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]
    assert (best, last) == (drawn[1], drawn[2])
    assert [value.text for value in _drawn(chart, "b")] == ["90.00%", "0.7"]
