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
    if not (_YEAR_FIRST.fullmatch(cells[0]) or _YEAR_LAST.fullmatch(cells[0])):
        return None
    if parsed(cells, "ymd") is not None:
        return "ymd"
    day_first, month_first = parsed(cells, "dmy"), parsed(cells, "mdy")
    if day_first is None or month_first is None:
        return "dmy" if day_first is not None else "mdy" if month_first is not None else None
    if (day_first != month_first).any():
        raise AmbiguousDatesError
    return "dmy"


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
