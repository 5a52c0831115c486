"""Single cells: which are missing, which are numbers or dates, and how they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np

MISSING = frozenset({"", "?", "-", "na", "n/a", "nan", "null", "none"})
_SPELLINGS = frozenset(
    "".join(letters)
    for word in MISSING
    for letters in product(*((x.lower(), x.upper()) for x in word))
)
_WHOLE = re.compile(r"[+-]?\d+")
# As Python would write it: nothing of such a number is lost when it has become a float.
_PLAIN_WHOLE = re.compile(r"0|-?[1-9]\d{0,14}")
_WITH_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?")
# What could also be thousands: 1,234 and 1.234, but not 0,234.
COULD_BE_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")
_EXACT = 2.0**53
_LONGEST = 80  # characters of a cell in a message


def is_missing(cell: str) -> bool:
    """True for an empty cell, and for the words that are written instead of one."""
    return cell.lower() in MISSING


def missing_among(cells: Iterable[str | None]) -> set[str]:
    """The words for missing cells that occur."""
    return set(_SPELLINGS.intersection(cells))


def as_number(cell: str) -> float | None:
    """The number with a decimal point that a cell is; None if it is none."""
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def as_whole(cell: str) -> int | None:
    """An integer as it is written, to its last digit."""
    try:
        number = int(cell)
    except ValueError:
        return None
    return number if -(2**63) <= number < 2**63 else None


def counts(cells: Sequence[str]) -> bool:
    """0, 1, 2 and so on, or from 1: how pandas and R call columns, and rows, that have no names."""
    begin = 1 if cells and cells[0] == "1" else 0
    return len(cells) > 1 and list(cells) == [str(i + begin) for i in range(len(cells))]


def as_numbers(cells: Any, decimal: str, has_comma: bool | None = None) -> Any:
    """The numbers that all ``cells`` are, an array of strings none of which is missing; or None.

    ``has_comma`` says whether a comma occurs in the column, if ``cells`` are only a part of it.
    """
    if decimal == ",":
        cells = _with_points(cells, has_comma)
        if cells is None:
            return None
    try:
        values = cells.astype(np.float64)
    except ValueError:
        return None
    # Python reads 1_000, and +nan.
    odd = np.isnan(values).any() or "_" in "".join(cells)
    return None if odd else values


def is_number(cell: str, decimal: str) -> bool:
    """Whether a single cell is a number with this decimal sign."""
    return as_numbers(np.array([cell], object), decimal) is not None


def _with_points(cells: Any, has_comma: bool | None) -> Any:
    """Cells with a decimal comma as Python reads them; None if a point cannot be of thousands."""
    if "." in "".join(cells):
        pointed = [cell for cell in cells if "." in cell]
        # Without a single comma in the column, the points could be decimal ones.
        is_certain = any("," in cell for cell in cells) if has_comma is None else has_comma
        if not is_certain or not all(_WITH_THOUSANDS.fullmatch(cell) for cell in pointed):
            return None
    replaced = [cell.replace(".", "").replace(",", ".") for cell in cells]
    return np.array(replaced, dtype=object)


def could_be_thousands(cells: Any) -> str | None:
    """The first of ``cells`` with a comma if each of those could be thousands, else None."""
    found = [cell for cell in cells if "," in cell]
    if found and all(COULD_BE_THOUSANDS.fullmatch(cell) for cell in found):
        return str(found[0])
    return None


_SAMPLE = 1000  # lines below the first that are looked at


def is_written_whole(cells: Any, values: Any) -> bool:
    """Whether every number is whole and written without a point."""
    return bool((values == np.floor(values)).all()) and all(map(_WHOLE.fullmatch, cells))


def is_plain(cells: Any) -> bool:
    """Whether whole numbers are written so that their values say all: no 007, none of 16 digits."""
    return all(map(_PLAIN_WHOLE.fullmatch, cells))


def brief(cell: str) -> str:
    """A cell for a message."""
    return cell if len(cell) <= _LONGEST else f"{cell[:_LONGEST]}..."


def number_text(value: float) -> str:
    """A number as a word: 3 for 3.0, else the shortest that is read as the same number."""
    return str(int(value)) if value.is_integer() and abs(value) < _EXACT else repr(value)


ORDERS = ("ymd", "dmy", "mdy")
_TIME = (
    r"(?:[T ] ?(\d{1,2})(?::(\d\d)(?::(\d\d)(?:[.,]\d+)?)?)?(?: ?([AaPp])\.?[Mm]\.?)?"
    r" ?(Z|[+-]\d\d(?::?\d\d)?)?)?"
)
_YEAR_FIRST = re.compile(rf"(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}}){_TIME}")
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}){_TIME}")


class AmbiguousDatesError(Exception):
    """It is unclear whether the day or the month comes first in the dates."""


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
        match = _YEAR_FIRST.fullmatch(cells[0]) or _YEAR_LAST.fullmatch(cells[0])
        if match is None:
            self._dates = {}
            return
        self._count += len(cells)
        # Within a chunk all offsets are alike, or parsing fails.
        self._offsets.add(match.groups()[-1] is not None)
        by_order = {order: parse_dates(cells, order) for order in self._dates}
        self._dates = {order: dates for order, dates in by_order.items() if dates is not None}
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


def parse_dates(cells: Sequence[str], order: str) -> Any:
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
    written, offsets = [], []
    for match in map(pattern.fullmatch, cells):
        if match is None:
            return None
        first, _, second, third, hour, minute, seconds, half, offset = match.groups()
        by_letter = dict(zip(order, (first, second, third), strict=True))
        year, month, day = (by_letter[letter] for letter in "ymd")
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
