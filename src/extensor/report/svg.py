"""Charts as SVG, by hand: a few lines suffice, and the page needs nothing from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from itertools import pairwise

from extensor.report.axis import Axis, readable, short, text_width, tick_labels
from extensor.report.chart import Chart, Series
from extensor.report.thinning import corners

WIDTH = 400
_EDGE = 4  # between words and the edge of the paper
_LINE = 17  # from a line of words to the next
_COLOURS = 8  # in the style sheet; more curves than that are coloured by their order
_FEW_BARS = 12  # as many have their heights written above them


def drawn(chart: Chart) -> str:
    """An ``<svg>`` with axes and all series, and a legend below it."""
    across, up = _axes(chart)
    lines, legend = [], []
    for number, series in enumerate(chart.series):
        style = _style(series, number, len(chart.series))
        shape, drawn_points = _shape(series, style, across, up)
        lines.append(shape)
        legend.append(_legend(series, style, drawn_points))
    named = len(chart.series) > 1 or chart.series[0].kind == "line"
    return (
        f'<div class="chart"><svg viewBox="0 0 {WIDTH} {chart.height}" role="img" '
        f'aria-label="{escape(chart.title)}" data-across="{escape(chart.across)}">'
        f"{_grid(chart, across, up)}{''.join(lines)}{_marks(chart, across, up)}</svg></div>"
        + (f'<ul class="legend">{"".join(legend)}</ul>' if named else "")
    )


def _axes(chart: Chart) -> tuple[Axis, Axis]:
    """The axes, so far from the edges that their words have room."""
    xs = [x for series in chart.series for x, _ in series.points]
    ys = [y for series in chart.series for _, y in series.points]
    kinds = {series.kind for series in chart.series}
    left, right, low, high = min(xs), max(xs), min(ys), max(ys)
    if chart.logarithmic and low <= 0 < high:
        low = min(y for y in ys if y > 0) / 10  # what is 0 lies below all others
    if chart.limits is not None:
        (left, right), (low, high) = chart.limits, chart.limits
    if "bars" in kinds:
        low, high = 0.0, max(ys)
        if chart.limits is None:
            side = max(_bar_width(series) for series in chart.series) / 2
            left, right = left - side, right + side
    top = 10 + (_LINE - 2) * bool(chart.up) + _LINE * ("bars" in kinds and _are_few(chart))
    bottom = chart.height - 2 * _LINE - 8
    room = chart.limits is None and "bars" not in kinds
    up = Axis(low, high, bottom, top, chart.logarithmic, room)
    begin = max(map(text_width, tick_labels(_up_ticks(up))), default=0) + _EDGE + 6
    inside = room and "dots" in kinds
    _, labels = _across_ticks(Axis(left, right, begin, WIDTH - _EDGE, room=inside), xs)
    halves = [text_width(label) / 2 for label in labels] or [0.0]
    begin, end = max(begin, halves[0] + _EDGE), WIDTH - _EDGE - max(halves[-1], 4)
    return Axis(left, right, begin, end, room=inside), up


def _bar_width(series: Series) -> float:
    return min((b - a for (a, _), (b, _) in pairwise(series.points)), default=1.0)


def fitted(text: str, width: float = WIDTH - 2 * _EDGE) -> str:
    """``text``, without its end if it is wider than the paper."""
    if text_width(text) <= width:
        return text
    while text and text_width(f"{text}…") > width:
        text = text[:-1]
    return f"{text}…"


def _are_few(chart: Chart) -> bool:
    return all(len(series.points) <= _FEW_BARS for series in chart.series)


def _up_ticks(up: Axis) -> list[float]:
    return up.ticks(min(7, max(1, int((up.begin - up.end) / (_LINE + 6)))))


def _across_ticks(across: Axis, xs: Sequence[float]) -> tuple[list[float], list[str]]:
    """As many round values as can stand beside each other, and their words."""
    whole = all(float(x).is_integer() for x in xs)
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
    xs = [x for series in chart.series for x, _ in series.points]
    y = f"{up.begin + _LINE:.1f}"
    for value, label in zip(*_across_ticks(across, xs), strict=True):
        parts.append(f'<text class="below" x="{across(value):.1f}" y="{y}">{label}</text>')
    middle, y = (across.begin + across.end) / 2, f"{up.begin + 2 * _LINE:.1f}"
    name = escape(fitted(chart.across, 2 * (WIDTH - middle - _EDGE)))
    parts.append(f'<text class="below" x="{middle:.1f}" y="{y}">{name}</text>')
    if chart.up:
        parts.append(f'<text x="{_EDGE}" y="{_LINE - 4}">{escape(fitted(chart.up))}</text>')
    for (x1, y1), (x2, y2) in chart.guides:
        ends = f"M{across(x1):.1f} {up(y1):.1f}L{across(x2):.1f} {up(y2):.1f}"
        parts.append(f'<path class="guide" d="{ends}"/>')
    return "".join(parts)


def _marks(chart: Chart, across: Axis, up: Axis) -> str:
    """Lines upwards, with their words beside them, or across them if neither side has the room."""
    parts = []
    for at, words in chart.marks:
        text = fitted(words)
        x, width = across(at), text_width(text)
        places = (x + 4, x - 4 - width, (WIDTH - width) / 2)
        place = next((p for p in places if p >= _EDGE and p + width <= WIDTH - _EDGE), _EDGE)
        # Narrower letters than were reckoned with must stay at the line.
        kind, place = ("mark left", x - 4) if place == places[1] else ("mark", place)
        parts.append(f'<path class="mark" d="M{x:.1f} {up.begin:.1f}V{up.end:.1f}"/>')
        y = f"{up.end + 10:.1f}"
        parts.append(f'<text class="{kind}" x="{place:.1f}" y="{y}">{escape(text)}</text>')
    return "".join(parts)


def _shape(series: Series, style: str, across: Axis, up: Axis) -> tuple[str, int]:
    """The series as lines, dots or bars, and of how many points, if one could see that some lack."""
    places = [(across(x), up(y)) for x, y in series.points]
    chosen, distance = list(range(len(places))), 0.0
    if series.kind == "line":
        kept, distance = corners([x for x, _ in places], [y for _, y in places])
        chosen = kept.tolist()
    drawn_at = " ".join(f"{places[i][0]:.1f},{places[i][1]:.1f}" for i in chosen)
    values = (
        f'data-points="{len(places)}" data-name="{escape(series.name)}" '
        f'data-x="{" ".join(short(series.points[i][0], 7) for i in chosen)}" '
        f'data-y="{" ".join(readable(series.points[i][1]) for i in chosen)}"'
    )
    if series.labels:
        words = json.dumps([series.labels[i] for i in chosen], ensure_ascii=False)
        values += f' data-labels="{escape(words)}"'
    title = f"<title>{escape(series.name)}</title>"
    dots = "".join(f"M{places[i][0]:.1f} {places[i][1]:.1f}h0" for i in chosen)
    if series.kind in ("line", "joined"):
        # A single point as a short line, which is the least that can be seen.
        drawn_at = f"{drawn_at} {drawn_at}" if len(places) == 1 else drawn_at
        shape = f'<polyline {style} points="{drawn_at}" {values}>{title}</polyline>'
        if series.kind == "joined":
            shape += f'<path {style} d="{dots}"/>'
    elif series.kind == "dots":
        shape = f'<path {style} d="{dots}" data-at="{drawn_at}" {values}>{title}</path>'
    else:
        path, words = _bars(series, across, up)
        shape = f'<path {style} d="{path}" data-at="{drawn_at}" {values}>{title}</path>{words}'
    return shape, len(chosen) if distance > 1.0 else len(places)


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
    """A number of samples in at most five characters."""
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
    said = readable(series.points[-1][1]) if series.said is None else series.said
    count = len(series.points)
    rest = f" ({drawn_points} of {count:,} points drawn)" if drawn_points < count else ""
    return f"<li><i {style}></i>{escape(series.name)} <b>{escape(said)}</b>{rest}</li>"
