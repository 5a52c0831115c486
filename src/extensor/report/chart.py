"""Charts: the series in them, the cards and tables that hold them, and their drawing as SVG.

The SVG is written by hand: a few lines suffice, and the page needs nothing from elsewhere.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from extensor.report.axis import Axis, readable, short, text_width, tick_labels

UNKNOWN = "\N{EN DASH}"  # in a table, where nothing is known
WIDTH = 400
MOST_POINTS = 400  # that a line is drawn with
_EDGE = 4  # between words and the edge of the paper
_LINE = 17  # from a line of words to the next
_COLOURS = 8  # in the style sheet; more curves than that are coloured by their order
_MOST_WORDS = 8  # below the axis
_FEW_BARS = 12  # as many have their heights written above them
_UNSEEN = 0.1  # a distance in units of the paper, of which a chart has some hundreds

Points = list[tuple[float, float]]
Kind = Literal["line", "joined", "dots", "bars"]  # joined: a line with dots on it


class Series(NamedTuple):
    """A curve: its name, and values at steps of training. A faint one is drawn behind the others.

    ``labels`` describe the points one by one. ``said`` stands beside the name in the legend instead
    of the last value; ``colour`` is the number of the colour and how many there are, if it does not
    follow from the place in the chart.
    """

    name: str
    points: Points
    faint: bool = False
    kind: Kind = "line"
    labels: Sequence[str] = ()
    said: str | None = None
    colour: tuple[int, int] | None = None


class Mark(NamedTuple):
    """A thin vertical line, and the words beside it."""

    at: float
    text: str


class Chart(NamedTuple):
    """Series that share their axes, which are called ``across`` and ``up``.

    ``limits`` are the limits of both axes, if they do not follow from the values. ``guides`` are
    dashed lines, each from a point to a point. With ``words``, points lie at the numbers of words.
    Values above ``top`` are drawn at the edge of the paper.
    """

    title: str
    series: list[Series]
    logarithmic: bool = False
    across: str = "step"
    up: str = ""
    marks: Sequence[Mark] = ()
    limits: tuple[float, float] | None = None
    guides: Sequence[tuple[tuple[float, float], tuple[float, float]]] = ()
    height: int = 240
    logarithmic_across: bool = False
    words: Sequence[str] = ()
    top: float | None = None


class Card(NamedTuple):
    """A part of the page: charts below each other, and words about them."""

    title: str
    charts: list[Chart]
    note: str = ""


class TableCard(NamedTuple):
    """A part of the page: a row of headings, and rows whose first cell is a name."""

    title: str
    heads: list[str]
    rows: list[list[str]]
    note: str = ""


def draw_chart(chart: Chart) -> str:
    """An ``<svg>`` with axes and all series, and a legend below it."""
    across, up = _axes(chart)
    shapes, legend = [], []
    for number, series in enumerate(chart.series):
        style = _style(series, number, len(chart.series))
        shape, drawn_points = _shape(series, style, across, up, chart.words)
        shapes.append(shape)
        legend.append(_legend(series, style, drawn_points))
    has_legend = len(chart.series) > 1 or chart.series[0].kind == "line"
    return (
        f'<div class="chart"><svg viewBox="0 0 {WIDTH} {chart.height}" role="img" '
        f'aria-label="{escape(chart.title)}" data-across="{escape(chart.across)}">'
        f"{_grid(chart, across, up)}{''.join(shapes)}{_marks(chart, across, up)}</svg></div>"
        + (f'<ul class="legend">{"".join(legend)}</ul>' if has_legend else "")
    )


def _axes(chart: Chart) -> tuple[Axis, Axis]:
    """The axes, so far from the edges that their labels have room."""
    kinds = {series.kind for series in chart.series}
    has_bars = "bars" in kinds
    left, right, low, high = _limits(chart, has_bars)
    has_heights = has_bars and all(len(x.points) <= _FEW_BARS for x in chart.series)
    top = 10 + (_LINE - 2) * bool(chart.up) + _LINE * has_heights
    bottom = chart.height - 2 * _LINE - 8
    room = chart.limits is None and not has_bars
    up = Axis(low, high, bottom, top, chart.logarithmic, room)
    begin = max(map(text_width, tick_labels(_up_ticks(up))), default=0) + _EDGE + 6
    inside = room and "dots" in kinds and not chart.words
    log = chart.logarithmic_across
    # The labels below decide how far the axis may reach, so a first axis is laid out to get them.
    _, labels = _across_ticks(Axis(left, right, begin, WIDTH - _EDGE, log, inside), chart)
    halves = [text_width(label) / 2 for label in labels] or [0.0]
    begin, end = max(begin, halves[0] + _EDGE), WIDTH - _EDGE - max(halves[-1], 4)
    return Axis(left, right, begin, end, log, inside), up


def _limits(chart: Chart, has_bars: bool) -> tuple[float, float, float, float]:
    """The ends of the axis across, and of the axis up."""
    xs, ys = _xs(chart), [y for series in chart.series for _, y in series.points]
    left, right, low, high = min(xs), max(xs), min(ys), max(ys)
    if chart.logarithmic and low <= 0 < high:
        low = min(y for y in ys if y > 0) / 10  # zeros lie below all other values
    if chart.top is not None:
        high = min(high, chart.top)
    if chart.limits is not None:
        (left, right), (low, high) = chart.limits, chart.limits
    elif chart.words:
        left, right = -0.5, len(chart.words) - 0.5
    elif has_bars:
        side = max(_bar_width(series) for series in chart.series) / 2
        left, right = left - side, right + side
    return (left, right, 0.0, max(ys)) if has_bars else (left, right, low, high)


def _xs(chart: Chart) -> list[float]:
    return [x for series in chart.series for x, _ in series.points]


def _bar_width(series: Series) -> float:
    return min((b - a for (a, _), (b, _) in pairwise(series.points)), default=1.0)


def fit_text(text: str, width: float = WIDTH - 2 * _EDGE) -> str:
    """``text``, cut at its end if it is wider than the paper."""
    if text_width(text) <= width:
        return text
    while text and text_width(f"{text}…") > width:
        text = text[:-1]
    return f"{text}…"


def _up_ticks(up: Axis) -> list[float]:
    return up.ticks(min(7, max(1, int((up.begin - up.end) / (_LINE + 6)))))


def _across_ticks(across: Axis, chart: Chart) -> tuple[list[float], list[str]]:
    """As many words or round values as can stand beside each other, and their labels."""
    if chart.words:
        every = -(-len(chart.words) // _MOST_WORDS)
        width = every * (across.end - across.begin) / len(chart.words) - 6
        places = range(0, len(chart.words), every)
        return [float(i) for i in places], [fit_text(chart.words[i], width) for i in places]
    whole = not across.logarithmic and all(float(x).is_integer() for x in _xs(chart))
    ticks: list[float] = []
    for most in range(7, 0, -1):
        ticks = across.ticks(most, whole)
        labels = tick_labels(ticks)
        widest = max(map(text_width, labels), default=0)
        if len(ticks) < 2 or across(ticks[1]) - across(ticks[0]) > widest + 6:
            return ticks, labels
    return ticks[:1], tick_labels(ticks[:1])


def _grid(chart: Chart, across: Axis, up: Axis) -> str:
    parts = []
    ticks = _up_ticks(up)
    for value, label in zip(ticks, tick_labels(ticks), strict=True):
        y = f"{up(value):.1f}"
        parts.append(f'<path class="grid" d="M{across.begin:.1f} {y}H{across.end:.1f}"/>')
        x = f"{across.begin - 6:.1f}"
        parts.append(f'<text class="left" x="{x}" y="{y}" dy=".32em">{label}</text>')
    y = f"{up.begin + _LINE:.1f}"
    for value, label in zip(*_across_ticks(across, chart), strict=True):
        place = f'x="{across(value):.1f}" y="{y}"'
        parts.append(f'<text class="below" {place}>{escape(label)}</text>')
    middle, y = (across.begin + across.end) / 2, f"{up.begin + 2 * _LINE:.1f}"
    name = escape(fit_text(chart.across, 2 * (WIDTH - middle - _EDGE)))
    parts.append(f'<text class="below" x="{middle:.1f}" y="{y}">{name}</text>')
    if chart.up:
        parts.append(f'<text x="{_EDGE}" y="{_LINE - 4}">{escape(fit_text(chart.up))}</text>')
    for (x1, y1), (x2, y2) in chart.guides:
        ends = f"M{across(x1):.1f} {up(y1):.1f}L{across(x2):.1f} {up(y2):.1f}"
        parts.append(f'<path class="guide" d="{ends}"/>')
    return "".join(parts)


def _marks(chart: Chart, across: Axis, up: Axis) -> str:
    """Vertical lines, with words beside them, or across them if neither side has the room."""
    parts = []
    for at, words in chart.marks:
        text = fit_text(words)
        x, width = across(at), text_width(text)
        places = (x + 4, x - 4 - width, (WIDTH - width) / 2)
        place = next((p for p in places if p >= _EDGE and p + width <= WIDTH - _EDGE), _EDGE)
        # Letters narrower than the estimate must still end at the line.
        kind, place = ("mark left", x - 4) if place == places[1] else ("mark", place)
        parts.append(f'<path class="mark" d="M{x:.1f} {up.begin:.1f}V{up.end:.1f}"/>')
        y = f"{up.end + 10:.1f}"
        parts.append(f'<text class="{kind}" x="{place:.1f}" y="{y}">{escape(text)}</text>')
    return "".join(parts)


def _shape(
    series: Series, style: str, across: Axis, up: Axis, words: Sequence[str] = ()
) -> tuple[str, int]:
    """The series as lines, dots or bars, and the number of points to report as drawn.

    A line that leaves points out counts as complete while nobody could see the difference.
    """
    places = [(across(x), max(up(y), 0.0)) for x, y in series.points]
    chosen, distance = list(range(len(places))), 0.0
    if series.kind == "line":
        kept, distance = corners([x for x, _ in places], [y for _, y in places])
        chosen = kept.tolist()
    drawn_at = " ".join(f"{places[i][0]:.1f},{places[i][1]:.1f}" for i in chosen)
    values = _data_attributes(series, chosen, words)
    title = f"<title>{escape(series.name)}</title>"
    dots = "".join(f"M{places[i][0]:.1f} {places[i][1]:.1f}h0" for i in chosen)
    if series.kind in ("line", "joined"):
        # A single point as a short line, which is the least that can be seen.
        drawn_at = f"{drawn_at} {drawn_at}" if len(places) == 1 else drawn_at
        shape = f'<polyline {style} points="{drawn_at}" {values}>{title}</polyline>'
        if series.kind == "joined":
            shape += f'<path {style} d="{dots}"/>'
    else:
        path, heights = (dots, "") if series.kind == "dots" else _bars(series, across, up)
        shape = f'<path {style} d="{path}" data-at="{drawn_at}" {values}>{title}</path>{heights}'
    return shape, len(chosen) if distance > 1.0 else len(places)


def _data_attributes(series: Series, chosen: Sequence[int], words: Sequence[str]) -> str:
    """The values that the script of the page shows under the pointer, with spaces between them."""
    xs = [series.points[i][0] for i in chosen]
    across = [
        words[int(x)].replace(" ", "\N{NO-BREAK SPACE}") if words else short(x, 7) for x in xs
    ]
    values = (
        f'data-points="{len(series.points)}" data-name="{escape(series.name)}" '
        f'data-x="{escape(" ".join(across))}" '
        f'data-y="{" ".join(readable(series.points[i][1]) for i in chosen)}"'
    )
    if series.labels:
        words = json.dumps([series.labels[i] for i in chosen], ensure_ascii=False)
        values += f' data-labels="{escape(words)}"'
    return values


def _bars(series: Series, across: Axis, up: Axis) -> tuple[str, str]:
    """Bars that touch each other; their heights above them if they are few."""
    wide = _bar_width(series)
    path, words = [], []
    for x, y in series.points:
        left, right = (
            min(max(across(x + side * wide / 2), across.begin), across.end) for side in (-1, 1)
        )
        path.append(f"M{left + 0.5:.1f} {up(0):.1f}V{up(y):.1f}H{right - 0.5:.1f}V{up(0):.1f}z")
        if len(series.points) <= _FEW_BARS:
            place = f'x="{(left + right) / 2:.1f}" y="{up(y) - 3:.1f}"'
            words.append(f'<text class="below small" {place}>{_count(y)}</text>')
    return "".join(path), "".join(words)


def _count(value: float) -> str:
    """A count in at most five characters."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= 10 * size:
            return f"{value / size:.0f}{letter}"
    return short(value)


def _style(series: Series, number: int, count: int) -> str:
    kind = f"{series.kind} faint" if series.faint else series.kind
    if series.colour is not None:
        number, count = series.colour
    if series.faint:
        return f'class="{kind}"'
    if count <= _COLOURS:
        return f'class="{kind} colour{number}"'
    hue = round(220 - 220 * number / (count - 1))  # from blue, the first, to red, the last
    return f'class="{kind}" style="--colour: hsl({hue} 70% var(--bright))"'


def _legend(series: Series, style: str, drawn_points: int) -> str:
    words = readable(series.points[-1][1]) if series.said is None else series.said
    count = len(series.points)
    rest = f" ({drawn_points} of {count:,} points drawn)" if drawn_points < count else ""
    return f"<li><i {style}></i>{escape(series.name)} <b>{escape(words)}</b>{rest}</li>"


def corners(x: Any, y: Any, most: int = MOST_POINTS) -> tuple[Any, float]:
    """The indices of at most ``most`` points, and how far from their line the others lie at most.

    A quarter is spread evenly. Then the point furthest from the line so far is added, again and
    again: corners and peaks come first, points on a straight line never.
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if len(x) <= most:
        return np.arange(len(x)), 0.0
    kept = np.unique(np.linspace(0, len(x) - 1, max(2, most // 4)).astype(int)).tolist()
    waiting = [_furthest(x, y, begin, end) for begin, end in pairwise(kept) if end - begin > 1]
    heapq.heapify(waiting)
    while waiting and -waiting[0][0] > _UNSEEN and len(kept) < most:
        _, begin, end, middle = heapq.heappop(waiting)
        kept.append(middle)
        for part in ((begin, middle), (middle, end)):
            if part[1] - part[0] > 1:
                heapq.heappush(waiting, _furthest(x, y, *part))
    return np.sort(kept), -waiting[0][0] if waiting else 0.0


def _furthest(x: Any, y: Any, begin: int, end: int) -> tuple[float, int, int, int]:
    """Minus the distance of the furthest point from the line, the ends of the line, and the point.

    Negative, because a heap gives its least entry first.
    """
    inner = slice(begin + 1, end)
    across, up = x[inner] - x[begin], y[inner] - y[begin]
    line = np.hypot(x[end] - x[begin], y[end] - y[begin])
    if line > 0:
        run, rise = (x[end] - x[begin]) / line, (y[end] - y[begin]) / line
        along = np.clip(across * run + up * rise, 0, line)
        distances = np.hypot(across - along * run, up - along * rise)
    else:
        distances = np.hypot(across, up)
    middle = int(distances.argmax())
    return -float(distances[middle]), begin, end, begin + 1 + middle
