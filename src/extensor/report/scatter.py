"""Charts over a quantity that is no step: dots, or a curve, by hand as the other charts are."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple

from extensor.report.svg import round_steps

_WIDTH, _HEIGHT = 400, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 386, 12, 180
_MOST_WORDS = 8  # below the axis, where there is no room for more
_LETTERS = 46  # that fit below it in all
_WIDE = 100  # times the least: then small values would all lie on the floor
_KINDS = ("early", "", "best")

STYLE = """
.dot { fill: var(--c1); } .dot.early { fill: var(--c0); } .dot.best { fill: var(--c2); }
.mark { stroke: var(--c2); stroke-dasharray: 4 3; }
.unit { text-anchor: middle; }
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
    wide = min(ys) > 0 and max(ys) > _WIDE * min(ys)
    y_axis = Axis(min(ys), max(ys), _BOTTOM, _TOP, wide)
    numbers = [dot.x for dot in dots if not isinstance(dot.x, str)]
    if words:
        room = (_RIGHT - _LEFT) / len(words)
        middles = {word: _LEFT + room * (i + 0.5) for i, word in enumerate(words)}
        places = [middles[str(dot.x)] for dot in dots]
        every = -(-len(words) // _MOST_WORDS)
        most = _LETTERS * every // len(words)
        ticks = [(middles[word], _cut(word, most)) for word in words[::every]]
    else:
        x_axis = Axis(min(numbers), max(numbers), _LEFT, _RIGHT, logarithmic)
        places = [x_axis(x) for x in numbers]
        ticks = [(x_axis(x), f"{x:.4g}") for x in x_axis.ticks()]
    # The best are drawn last, on top of the others.
    order = sorted(zip(dots, places, strict=True), key=lambda pair: _KINDS.index(pair[0].kind))
    drawn = [
        f'<circle class="dot {dot.kind}" cx="{x:.1f}" cy="{y_axis(dot.y):.1f}" r="4">'
        f"<title>{escape(dot.words)}</title></circle>"
        for dot, x in order
    ]
    return _paper(f"{up} over {across}", across, ticks, y_axis, "".join(drawn))


def rate_chart(
    rates: Sequence[float], losses: Sequence[float], smooth: Sequence[float], mark: float | None
) -> str:
    """An ``<svg>`` of the loss over learning rates, with a line at the rate ``mark``."""
    x_axis = Axis(min(rates), max(rates), _LEFT, _RIGHT, logarithmic=True)
    # What the loss jumps to in the end would flatten all that happened before.
    top = max(smooth[0], min(smooth)) + 0.5 * (max(smooth[0], min(smooth)) - min(smooth))
    top = min(max(top, smooth[0] * 1.05), max(*losses, *smooth))
    y_axis = Axis(min(*losses, *smooth), top, _BOTTOM, _TOP)
    curves = [
        f'<polyline class="curve {kind}" points="'
        + " ".join(
            f"{x_axis(x):.1f},{max(y_axis(y), 0):.1f}" for x, y in zip(rates, ys, strict=True)
        )
        + f'"><title>{name}</title></polyline>'
        for kind, name, ys in (("faint", "of each batch", losses), ("curve0", "smooth", smooth))
    ]
    if mark is not None:
        x = f"{x_axis(mark):.1f}"
        curves.append(f'<path class="mark" d="M{x} {_TOP}V{_BOTTOM}"/>')
    ticks = [
        (x_axis(x), f"{x:.0e}".replace("e-0", "e-").replace("e+0", "e")) for x in x_axis.ticks()
    ]
    return _paper("loss over learning rate", "learning rate", ticks, y_axis, "".join(curves))


def _paper(
    title: str, across: str, ticks: Sequence[tuple[float, str]], up: Axis, drawn: str
) -> str:
    parts = []
    for value in up.ticks():
        y = f"{up(value):.1f}"
        parts.append(f'<path class="grid" d="M{_LEFT} {y}H{_RIGHT}"/>')
        parts.append(f'<text class="left" x="{_LEFT - 6}" y="{y}" dy=".32em">{value:.4g}</text>')
    for x, text in ticks:
        place = f'x="{x:.1f}" y="{_BOTTOM + 18}"'
        parts.append(f'<text class="below" {place}>{escape(text)}</text>')
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

    def ticks(self) -> list[float]:
        """Round values: powers of ten, or steps of 1, 2 or 5."""
        if not self.logarithmic:
            return round_steps(self.low, self.high)
        powers = range(ceil(self.low), floor(self.high) + 1)
        if len(powers) < 2:
            return round_steps(10**self.low, 10**self.high)
        every = -(-len(powers) // 6)
        return [10.0**power for power in powers[::every]]
