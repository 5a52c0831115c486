"""Charts over a quantity that is no step: dots over values, curves over epochs and over rates."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple

_WIDTH, _HEIGHT = 400, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 386, 12, 180
_MOST_WORDS = 8  # below the axis, where there is no room for more
_LETTERS = 46  # that fit below it in all
_WIDE = 100  # times the least: then small values would all lie on the floor
_KINDS = ("early", "", "best")
CURVES = 6  # that have a colour of their own

STYLE = """
.dot { fill: var(--c1); } .dot.early { fill: var(--c0); } .dot.best { fill: var(--c2); }
svg text.unit { text-anchor: middle; }
polyline.drawn { fill: none; stroke: var(--colour); stroke-width: 1.7; stroke-linejoin: round; }
.mark { stroke: var(--c2); stroke-dasharray: 4 3; }
tr.best td { font-weight: 600; } tr.best td:first-child { color: var(--c2); }
td.reason { white-space: normal; min-width: 12rem; color: var(--soft); }
pre.command { white-space: pre-wrap; overflow-wrap: anywhere; }
a { color: inherit; }
"""


class Dot(NamedTuple):
    """A value at ``x``, a number or a word; ``kind`` is "", "early" or "best"."""

    x: float | str
    y: float
    words: str
    kind: str = ""


class Curve(NamedTuple):
    """Points, of which there is one at least, and the number of a colour; 0 is pale.

    ``chosen`` is the point that counts, and ``said`` what the legend says of it; without them it is
    the last.
    """

    name: str
    points: Sequence[tuple[float, float]]
    colour: int
    chosen: tuple[float, float] | None = None
    said: str | None = None


def scatter(
    dots: Sequence[Dot],
    across: str,
    up: str,
    logarithmic: bool = False,
    words: Sequence[str] = (),
) -> str:
    """An ``<svg>`` of ``dots``; ``across`` and ``up`` name the axes.

    Dots at words lie above them, in the order of ``words``.
    """
    ys = [dot.y for dot in dots]
    y_axis = Axis(min(ys), max(ys), _BOTTOM, _TOP, min(ys) > 0 and max(ys) > _WIDE * min(ys))
    if words:
        room = (_RIGHT - _LEFT) / len(words)
        middles = {word: _LEFT + room * (i + 0.5) for i, word in enumerate(words)}
        places = [middles[str(dot.x)] for dot in dots]
        every = -(-len(words) // _MOST_WORDS)
        most = _LETTERS * every // len(words)
        ticks = [(middles[word], _cut(word, most)) for word in words[::every]]
    else:
        numbers = [float(dot.x) for dot in dots]
        x_axis = Axis(min(numbers), max(numbers), _LEFT, _RIGHT, logarithmic)
        places = [x_axis(x) for x in numbers]
        ticks = x_axis.ticks()
    # The best are drawn last, on top of the others.
    order = sorted(zip(dots, places, strict=True), key=lambda pair: _KINDS.index(pair[0].kind))
    drawn = [
        f'<circle class="dot {dot.kind}" cx="{x:.1f}" cy="{y_axis(dot.y):.1f}" r="4">'
        f"<title>{escape(dot.words)}</title></circle>"
        for dot, x in order
    ]
    return _paper(f"{up} over {across}", across, ticks, y_axis, "".join(drawn))


def curve_chart(curves: Sequence[Curve], across: str, up: str) -> str:
    """An ``<svg>`` of curves over a count, and their names below it; a dot is where each counts."""
    xs, ys = ([point[axis] for curve in curves for point in curve.points] for axis in (0, 1))
    x_axis = Axis(min(xs), max(xs), _LEFT, _RIGHT)
    y_axis = Axis(min(ys), max(ys), _BOTTOM, _TOP)
    drawn, legend = [], []
    for curve in reversed(curves):  # the first lies on top
        colour = f'style="--colour: var(--c{curve.colour})"'
        x, y = curve.points[-1] if curve.chosen is None else curve.chosen
        said = f"{y:.4g}" if curve.said is None else curve.said
        drawn.append(
            f'{_polyline(curve, x_axis, y_axis)}<circle {colour} cx="{x_axis(x):.1f}" '
            f'cy="{y_axis(y):.1f}" r="3" fill="var(--colour)"/>'
        )
        legend.append(f"<li><i {colour}></i>{escape(curve.name)} <b>{escape(said)}</b></li>")
    ticks = [(place, text) for place, text in x_axis.ticks() if "." not in text]
    paper = _paper(f"{up} over {across}", across, ticks, y_axis, "".join(drawn))
    return f'{paper}<ul class="legend">{"".join(reversed(legend))}</ul>'


def rate_chart(
    rates: Sequence[float], losses: Sequence[float], smooth: Sequence[float], mark: float | None
) -> str:
    """An ``<svg>`` of the loss over learning rates, with a line at the rate ``mark``."""
    x_axis = Axis(min(rates), max(rates), _LEFT, _RIGHT, logarithmic=True)
    # What the loss jumps to in the end would flatten all that happened before.
    lowest, first = min(*losses, *smooth), smooth[0]
    top = min(first + 0.5 * abs(first - lowest), max(*losses, *smooth))
    y_axis = Axis(lowest, top, _BOTTOM, _TOP)
    curves = [
        Curve("loss of each batch", list(zip(rates, losses, strict=True)), 0),
        Curve("running mean", list(zip(rates, smooth, strict=True)), 1),
    ]
    drawn = "".join(_polyline(curve, x_axis, y_axis) for curve in curves)
    if mark is not None:
        drawn += f'<path class="mark" d="M{x_axis(mark):.1f} {_TOP}V{_BOTTOM}"/>'
    return _paper("loss over learning rate", "learning rate", x_axis.ticks(), y_axis, drawn)


def _polyline(curve: Curve, across: Axis, up: Axis) -> str:
    """What lies above the paper is drawn at its edge."""
    points = " ".join(f"{across(x):.1f},{max(up(y), 0):.1f}" for x, y in curve.points)
    return (
        f'<polyline class="drawn" style="--colour: var(--c{curve.colour})" points="{points}">'
        f"<title>{escape(curve.name)}</title></polyline>"
    )


def _paper(
    title: str, across: str, ticks: Sequence[tuple[float, str]], up: Axis, drawn: str
) -> str:
    parts = []
    for place, text in up.ticks():
        parts.append(f'<path class="grid" d="M{_LEFT} {place:.1f}H{_RIGHT}"/>')
        parts.append(f'<text class="left" x="{_LEFT - 6}" y="{place:.1f}" dy=".32em">{text}</text>')
    for place, text in ticks:
        below = f'x="{place:.1f}" y="{_BOTTOM + 18}"'
        parts.append(f'<text class="below" {below}>{escape(text)}</text>')
    middle = (_LEFT + _RIGHT) / 2
    parts.append(f'<text class="unit" x="{middle}" y="{_HEIGHT - 6}">{escape(across)}</text>')
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}{drawn}</svg>"
    )


def _cut(word: str, most: int) -> str:
    return word if len(word) <= most else word[: max(1, most - 1)] + "…"


class Axis:
    """Where values lie on the paper, between ``begin`` and ``end``."""

    def __init__(
        self, low: float, high: float, begin: float, end: float, logarithmic: bool = False
    ) -> None:
        self.logarithmic = logarithmic and low > 0
        low, high = self._scaled(low), self._scaled(high)
        room = 0.05 * (high - low) or max(abs(high) * 0.1, 1e-12)
        self.low, self.high = low - room, high + room
        self.begin, self.end = begin, end

    def _scaled(self, value: float) -> float:
        return log10(value) if self.logarithmic else float(value)

    def __call__(self, value: float) -> float:
        part = (self._scaled(value) - self.low) / (self.high - self.low)
        return self.begin + part * (self.end - self.begin)

    def ticks(self) -> list[tuple[float, str]]:
        """Places of round values, powers of ten or steps of 1, 2 or 5, and what they are."""
        if not self.logarithmic:
            values = _round_values(self.low, self.high)
        else:
            powers = range(max(ceil(self.low), -307), min(floor(self.high), 308) + 1)  # floats
            every = -(-len(powers) // 6)
            values = [10.0**power for power in powers[::every]] if len(powers) > 1 else []
            values = values or _round_values(10**self.low, 10**self.high)
        return [(self(value), _number(value)) for value in values]


def _round_values(low: float, high: float) -> list[float]:
    size = 10.0 ** floor(log10((high - low) / 5))
    step = next(size * factor for factor in (1, 2, 5, 10) if (high - low) / (size * factor) <= 7)
    return [i * step for i in range(ceil(low / step), floor(high / step) + 1)]


def _number(value: float) -> str:
    """As short as it may be: 1e-7 rather than 1e-07."""
    return f"{value:.4g}".replace("e-0", "e-").replace("e+0", "e")
