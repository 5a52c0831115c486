"""Charts as SVG, by hand: a few lines suffice, and the page needs nothing from elsewhere."""

from __future__ import annotations

from html import escape
from math import ceil, floor, log10

from extensor.report.curves import Chart, Points, Series

_WIDTH, _HEIGHT = 400, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 388, 10, 194
_COLOURS = 6  # in the style sheet; more curves than that are coloured by their order


def line_chart(chart: Chart) -> str:
    """An ``<svg>`` with axes and a polyline for each series, and a legend below it."""
    xs = [x for series in chart.series for x, _ in series.points]
    ys = [y for series in chart.series for _, y in series.points]
    across = _Axis(min(xs), max(xs), _LEFT, _RIGHT)
    up = _Axis(min(ys), max(ys), _BOTTOM, _TOP, chart.logarithmic)
    lines, legend = [], []
    for number, series in enumerate(chart.series):
        style = _style(series, number, len(chart.series))
        name = escape(series.name)
        drawn = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in _visible(series.points))
        lines.append(
            f'<polyline {style} points="{drawn}" data-points="{len(series.points)}">'
            f"<title>{name}</title></polyline>"
        )
        last = f"{series.points[-1][1]:.4g}"
        legend.append(f"<li><i {style}></i>{name} <b>{last}</b></li>")
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(chart.title)}">'
        f"{_grid(across, up)}{''.join(lines)}</svg>"
        f'<ul class="legend">{"".join(legend)}</ul>'
    )


def _visible(points: Points) -> Points:
    """A single point as a short line, which is the least that can be seen."""
    return points if len(points) > 1 else points * 2


def _style(series: Series, number: int, count: int) -> str:
    if series.faint:
        return 'class="curve faint"'
    if count <= _COLOURS:
        return f'class="curve curve{number}"'
    hue = round(220 - 220 * number / (count - 1))  # from blue, the first, to red, the last
    return f'class="curve" style="--colour: hsl({hue} 70% 50%)"'


class _Axis:
    """Where values lie on the paper, between ``begin`` and ``end``."""

    def __init__(
        self, low: float, high: float, begin: float, end: float, logarithmic: bool = False
    ) -> None:
        # A zero has no logarithm; it is drawn below everything else.
        self.least = max(low, high * 1e-9, 1e-30)
        self.logarithmic = logarithmic
        low, high = self._scaled(low), self._scaled(high)
        room = 0.05 * (high - low) or max(abs(high) * 0.1, 1e-12)
        inside = begin < end  # the horizontal axis is not made longer
        self.low, self.high = (low, high + (low == high)) if inside else (low - room, high + room)
        self.begin, self.end = begin, end

    def _scaled(self, value: float) -> float:
        return log10(max(value, self.least)) if self.logarithmic else value

    def __call__(self, value: float) -> float:
        part = (self._scaled(value) - self.low) / (self.high - self.low)
        return self.begin + part * (self.end - self.begin)

    def ticks(self) -> list[float]:
        """Round values: powers of ten, or steps of 1, 2 or 5."""
        if self.logarithmic and floor(self.high) > ceil(self.low):
            powers = range(ceil(self.low), floor(self.high) + 1)
            every = -(-len(powers) // 6)
            return [10.0**power for power in powers[::every]]
        low, high = (10**self.low, 10**self.high) if self.logarithmic else (self.low, self.high)
        return round_steps(low, high)


def round_steps(low: float, high: float, count: int = 5) -> list[float]:
    """About ``count`` round values in ``[low, high]``.

    >>> from extensor.report.svg import round_steps
    >>> round_steps(0, 1380)
    [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0, 1200.0]
    """
    size: float = 10.0 ** floor(log10((high - low) / count))
    step = next(size * factor for factor in (1, 2, 5, 10) if (high - low) / (size * factor) <= 7)
    return [i * step for i in range(ceil(low / step), floor(high / step) + 1)]


def _grid(across: _Axis, up: _Axis) -> str:
    parts = []
    for value in up.ticks():
        y = f"{up(value):.1f}"
        parts.append(f'<path class="grid" d="M{_LEFT} {y}H{_RIGHT}"/>')
        parts.append(f'<text class="left" x="{_LEFT - 6}" y="{y}" dy=".32em">{value:.4g}</text>')
    for value in across.ticks():
        x = f"{across(value):.1f}"
        parts.append(f'<text class="below" x="{x}" y="{_HEIGHT - 10}">{value:.7g}</text>')
    parts.append(f'<text class="left" x="{_LEFT - 6}" y="{_HEIGHT - 10}">step</text>')
    return "".join(parts)
