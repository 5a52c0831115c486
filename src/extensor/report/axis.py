"""Axes of charts: the place of a value, round values for ticks, numbers for people, widths of words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor, log10
from unicodedata import east_asian_width

FONT = 13  # the largest size of letters in a chart; the style sheet has smaller ones for wide pages
_PLAIN = 8  # letters that are not too many for a number without a power
_LARGEST = 1e300  # so that differences are finite
_NARROW, _WIDE = set("iljftrI.,:;'|!()[] -"), set("mwMW@%")


class Axis:
    """Maps values to places between ``begin`` and ``end``; ``room`` leaves a little at both sides."""

    def __init__(
        self,
        low: float,
        high: float,
        begin: float,
        end: float,
        logarithmic: bool = False,
        room: bool = False,
    ) -> None:
        # A zero has no logarithm; it is drawn where the axis begins.
        self.least = low if low > 0 else max(high * 1e-9, 1e-30)
        self.logarithmic = logarithmic
        low, high = self._scale(low), self._scale(high)
        size = max(abs(low), abs(high))
        if high - low <= 1e-9 * size:
            spread = max(0.1 * size, 1e-12) if room else max(1e-3 * size, 1.0)
            low, high = low - spread * room, high + spread
        elif room:
            spread = 0.05 * (high - low)
            low, high = low - spread, high + spread
        self.low, self.high = low, high
        self.begin, self.end = begin, end

    def _scale(self, value: float) -> float:
        if self.logarithmic:
            return log10(max(value, self.least))
        return min(max(value, -_LARGEST), _LARGEST)

    def __call__(self, value: float) -> float:
        part = (self._scale(value) - self.low) / (self.high - self.low)
        return self.begin + part * (self.end - self.begin)

    def ticks(self, most: int = 7, whole: bool = False) -> list[float]:
        """Round values: powers of ten, or steps of 1, 2 or 5."""
        if self.logarithmic and floor(self.high) > ceil(self.low):
            # The room at the sides may reach beyond the powers that a float can hold.
            powers = range(max(ceil(self.low), -307), min(floor(self.high), 308) + 1)
            every = -(-len(powers) // 6)
            return [10.0**power for power in powers[::every]]
        low, high = (10**self.low, 10**self.high) if self.logarithmic else (self.low, self.high)
        return round_steps(low, high, most, whole)


def round_steps(low: float, high: float, most: int = 7, whole: bool = False) -> list[float]:
    """Round values in ``[low, high]``, at most about ``most``; ``whole`` allows integers only.

    >>> from extensor.report.axis import round_steps
    >>> round_steps(0, 1380)
    [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0, 1200.0]
    """
    size: float = 10.0 ** floor(log10((high - low) / most))
    step = next(size * f for f in (1, 2, 5, 10, 20) if (high - low) / (size * f) <= most)
    step = max(step, 1.0) if whole else step
    return [i * step for i in range(ceil(low / step), floor(high / step) + 1)]


def tick_labels(ticks: Sequence[float]) -> list[str]:
    """Labels of round values, no two the same: plain numbers, or powers where those are long.

    >>> from extensor.report.axis import tick_labels
    >>> tick_labels([0.0, 0.25, 0.5]), tick_labels([1e6 + 1, 1e6 + 2]), tick_labels([0.0, 2e9])
    (['0', '0.25', '0.5'], ['1000001', '1000002'], ['0', '2e9'])
    """
    plain, powers = _labels(ticks, "f"), _labels(ticks, "e")
    longest = max(map(len, plain), default=0)
    if longest <= _PLAIN or longest <= max(map(len, powers)):
        return plain
    return [min(pair, key=len) for pair in zip(plain, powers, strict=True)]


def _labels(ticks: Sequence[float], form: str) -> list[str]:
    """Labels in one form, ``"f"`` or ``"e"``, with as many digits as they need."""
    steps = [b - a for a, b in pairwise(ticks)] or [abs(tick) for tick in ticks]
    near = 1e-5 * min(steps, default=0.0)
    labels: list[str] = []
    for digits in range(17):
        labels = [_strip_zeros(f"{value:.{digits}{form}}") for value in ticks]
        if all(abs(float(x) - value) <= near for x, value in zip(labels, ticks, strict=True)):
            break
    return labels


def _strip_zeros(text: str) -> str:
    """``text`` without zeros that carry no information."""
    number, exponent, power = text.partition("e")
    number = number.rstrip("0").rstrip(".") if "." in number else number
    if float(number) == 0:
        return "0"
    return f"{number}e{int(power)}" if exponent else number


def short(value: float, digits: int = 4) -> str:
    """``value`` in at most ``digits`` digits, without needless zeros."""
    if value == 0:
        return "0"
    text = f"{value:.{digits}g}"
    number, exponent, power = text.partition("e")
    if exponent and abs(value) < 1e7 and float(text) == value and value == int(value):
        return f"{value:.0f}"
    return f"{number}e{int(power)}" if exponent else text


def readable(value: float) -> str:
    """A number for people: four digits, and all digits before the point.

    >>> from extensor.report.axis import readable
    >>> readable(0.012349), readable(1234567.8), readable(2e12)
    ('0.01235', '1,234,568', '2e12')
    """
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else short(value)


def text_width(text: str, size: float = FONT) -> float:
    """An upper bound of the width of ``text`` in the usual fonts."""
    return size * sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    if letter in _NARROW:
        return 0.42
    if letter in _WIDE or east_asian_width(letter) in "WF":
        return 1.05
    return 0.64 if letter.islower() or letter.isdigit() or letter.isascii() else 0.85
