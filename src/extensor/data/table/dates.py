"""Dates and times as they are written: the year first, or day and month where they can be told apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

ORDERS = ("ymd", "dmy", "mdy")
_TIME = (
    r"(?:[T ] ?(\d{1,2})(?::(\d\d)(?::(\d\d)(?:[.,]\d+)?)?)?(?: ?([AaPp])\.?[Mm]\.?)?"
    r" ?(Z|[+-]\d\d(?::?\d\d)?)?)?"
)
_YEAR_FIRST = re.compile(rf"(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}}){_TIME}")
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}){_TIME}")


class AmbiguousDatesError(Exception):
    """Dates of which nobody can say whether the day or the month comes first."""


def find_order(cells: Sequence[str]) -> str | None:
    """The order in which all ``cells`` are dates; None if they are none, of any order."""
    facts = DateFacts()
    facts.add(cells)
    return facts.order()


class DateFacts:
    """In which orders all cells of a column are dates, so far: the same for any chunks of them."""

    def __init__(self) -> None:
        self._count = 0
        self._dates: dict[str, Any] = dict.fromkeys(ORDERS)  # in the cells that were added last
        self._orders_differ = False
        self._offsets: set[bool] = set()

    def add(self, cells: Sequence[str]) -> None:
        """Look at some more cells, none of them missing."""
        if not len(cells) or not self._dates:
            return
        if not looks_like_date(cells[0]):
            self._dates = {}
            return
        self._count += len(cells)
        self._offsets.add(has_offset(cells[0]))  # within a chunk they are alike, or none is parsed
        found = {order: parsed(cells, order) for order in self._dates}
        self._dates = {order: dates for order, dates in found.items() if dates is not None}
        if len(self._offsets) > 1:
            self._dates = {}
        if {"dmy", "mdy"} <= self._dates.keys():
            self._orders_differ |= bool((self._dates["dmy"] != self._dates["mdy"]).any())

    @property
    def are_dates(self) -> bool:
        """Whether all cells so far are dates."""
        return bool(self._dates)

    def order(self) -> str | None:
        """The order that all are dates in; an error if it could be two that mean other days."""
        if not self._count or not self._dates:
            return None
        if {"dmy", "mdy"} <= self._dates.keys() and self._orders_differ:
            raise AmbiguousDatesError
        return next(order for order in ORDERS if order in self._dates)

    def latest(self, order: str) -> Any:
        """The dates in the cells that were added last."""
        return self._dates[order]


def looks_like_date(cell: str) -> bool:
    """Whether a cell is written as dates are."""
    return bool(_YEAR_FIRST.fullmatch(cell) or _YEAR_LAST.fullmatch(cell))


def has_offset(cell: str) -> bool:
    """Whether a date has an offset from UTC."""
    match = _YEAR_FIRST.fullmatch(cell) or _YEAR_LAST.fullmatch(cell)
    return match is not None and match.groups()[-1] is not None


def parsed(cells: Sequence[str], order: str) -> Any:
    """The dates to the second, those with an offset in UTC; None if one is no date in ``order``."""
    distinct = list(dict.fromkeys(cells))
    places = {cell: place for place, cell in enumerate(distinct)}
    dates = _distinct(distinct, order)
    return None if dates is None else dates[[places[cell] for cell in cells]]


def is_date(cell: str, order: str) -> bool:
    """Whether a single cell is a date in ``order``."""
    return _distinct([cell], order) is not None


def _distinct(cells: Sequence[str], order: str) -> Any:
    pattern = _YEAR_FIRST if order == "ymd" else _YEAR_LAST
    found = [pattern.fullmatch(cell) for cell in cells]
    written, offsets = [], []
    for match in found:
        if match is None:
            return None
        first, _, second, third, hour, minute, seconds, half, offset = match.groups()
        year, month, day = _arranged(order, first, second, third)
        hour = _hour(hour or "0", half)
        if hour is None:
            return None
        written.append(
            f"{year}-{month:0>2}-{day:0>2}T{hour:0>2}:{minute or '00'}:{seconds or '00'}"
        )
        offsets.append(offset)
    if None in offsets and any(offsets):
        return None
    try:
        dates = np.array(written, "datetime64[s]")
    except ValueError:
        return None
    if None not in offsets:
        dates -= np.array([_seconds(offset) for offset in offsets], "timedelta64[s]")
    return dates


def _arranged(order: str, first: str, second: str, third: str) -> tuple[str, str, str]:
    if order == "ymd":
        return first, second, third
    return (third, second, first) if order == "dmy" else (third, first, second)


def _hour(hour: str, half: str | None) -> str | None:
    """The hour of the day, of one that may be before or after noon."""
    if half is None:
        return hour
    number = int(hour)
    if not 1 <= number <= 12:
        return None
    return str(number % 12 + (12 if half in "Pp" else 0))


def _seconds(offset: str) -> int:
    if offset == "Z":
        return 0
    digits = offset[1:].replace(":", "").ljust(4, "0")
    size = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -size if offset[0] == "-" else size
