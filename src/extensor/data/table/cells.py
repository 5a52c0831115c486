"""Single cells: which are missing, which are numbers, and how numbers are written."""

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


def has_thousands(cells: Any, decimal: str) -> bool:
    """Whether numbers with a decimal comma have points between their thousands."""
    return decimal == "," and "." in "".join(cells)


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
