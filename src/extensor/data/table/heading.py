"""Whether the first line of a table has names, by what it is beside the lines below."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from extensor.data.table.cells import as_numbers, counts, is_missing
from extensor.data.table.dates import ORDERS, parsed

_SAMPLE = 1000  # lines below the first that are looked at
_FEW = 3
_DIGITS = re.compile(r"[0-9]{1,18}")


class _Below:
    """A column without its first cell: its cells that are not missing, and their numbers."""

    def __init__(self, cells: Sequence[str], decimal: str) -> None:
        self.rows = len(cells)
        self.cells = [cell for cell in cells if not is_missing(cell)]
        self.decimal = decimal
        self.numbers = as_numbers(np.array(self.cells, object), decimal) if self.cells else None

    @property
    def is_words(self) -> bool:
        """Whether none is a number."""
        return bool(self.cells) and not any(_is_number(cell, self.decimal) for cell in self.cells)

    @property
    def has_fractions(self) -> bool:
        """Whether every number is written with a fraction, as programs write columns of floats."""
        written = len(self.cells) >= _FEW and self.numbers is not None
        return written and all(self.decimal in cell or "e" in cell.lower() for cell in self.cells)

    def is_far_from(self, value: float) -> bool:
        """Whether ``value`` is further away than the numbers are from each other."""
        if self.numbers is None or len(self.numbers) < _FEW:
            return False
        low, high = float(self.numbers.min()), float(self.numbers.max())
        return not 2 * low - high <= value <= 2 * high - low


def has_names(first: Sequence[str], rows: Sequence[Sequence[str]], decimal: str) -> bool | None:
    """True for names, False for data, None where it could be both."""
    if not rows:
        return _is_heading_alone(first, decimal)
    columns = [_Below(cells, decimal) for cells in zip(*rows[:_SAMPLE], strict=True)]
    beside = list(zip(first, columns, strict=True))
    numeric = [pair for pair in beside if _is_number(pair[0], decimal)]
    words = [pair for pair in beside if not (is_missing(pair[0]) or _is_number(pair[0], decimal))]
    over_numbers = [(cell, below) for cell, below in numeric if not below.is_words]
    strange = sum(below.numbers is not None for _, below in words)
    strange += sum(below.is_words for _, below in numeric)
    if strange:
        # Numbers may be names too, if they do not look like those below.
        cells = [cell for cell, _ in numeric]
        named = not over_numbers or counts(cells) or _are_years(cells) or _are_far(over_numbers)
        sure = strange > 1 and all(map(_DIGITS.fullmatch, cells))
        return True if named or sure else None
    if any(_is_date_over_dates(cell, below.cells) for cell, below in words):
        return False
    if not over_numbers:
        return _are_words_names(words)
    if words:
        return _are_numbers_and_words_names(words, over_numbers)
    return _are_numbers_names(first, rows, over_numbers)


def _is_heading_alone(first: Sequence[str], decimal: str) -> bool | None:
    """Of a single line: names if there are only words, which are then of nothing."""
    cells = [cell for cell in first if not is_missing(cell)]
    if not any(_is_number(cell, decimal) for cell in cells):
        return True
    return None if counts(cells) and len(cells) >= _FEW else False


def _is_date_over_dates(cell: str, below: Sequence[str]) -> bool:
    return bool(below) and any(parsed([cell, *below], order) is not None for order in ORDERS)


def _are_words_names(words: Sequence[tuple[str, _Below]]) -> bool | None:
    repeated = sum(cell in below.cells for cell, below in words)
    if repeated == 0:
        return True if words else None
    return False if 2 * repeated >= len(words) else None


def _are_numbers_and_words_names(
    words: Sequence[tuple[str, _Below]], numeric: Sequence[tuple[str, _Below]]
) -> bool | None:
    """Words over words, and numbers over numbers: names if these count, or data."""
    is_repeated = any(cell in below.cells for cell, below in words)
    cells = [cell for cell, _ in numeric]
    if counts(cells) or cells == ["0"]:
        if is_repeated:
            return None if len(cells) >= _FEW else False
        odd = any(below.has_fractions for _, below in numeric) or _are_far(numeric)
        return True if len(cells) >= _FEW or odd else None
    if is_repeated or not all(map(_DIGITS.fullmatch, cells)):
        return False
    return True if _are_far(numeric) else None


def _are_numbers_names(
    first: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[tuple[str, _Below]]
) -> bool | None:
    """Only numbers: data, unless they count the columns."""
    cells = [cell for cell, _ in numeric]
    if first[0] == "" and (counts(cells) or cells == ["0"]) and "" not in first[1:]:
        # As pandas writes an index and columns without names.
        index = [row[0] for row in rows]
        return True if len(index) > 1 and counts(index) else None
    if len(cells) < len(first) or not (counts(cells) or cells == ["0"]):
        return False
    if any(below.has_fractions for _, below in numeric):
        return True
    # From 1 is so common in data that two columns say nothing.
    return None if cells[0] == "0" or len(cells) >= _FEW else False


def _are_years(cells: Sequence[str]) -> bool:
    """Whole numbers one after the other, as 2019 and 2020."""
    if len(cells) < 2 or not all(map(_DIGITS.fullmatch, cells)):
        return False
    numbers = [int(cell) for cell in cells]
    return all(b - a == 1 for a, b in pairwise(numbers))


def _are_far(numeric: Sequence[tuple[str, _Below]]) -> bool:
    whole = all(_DIGITS.fullmatch(cell) for cell, _ in numeric)
    return whole and all(below.is_far_from(float(cell)) for cell, below in numeric)


def _is_number(cell: str, decimal: str) -> bool:
    return not is_missing(cell) and as_numbers(np.array([cell], object), decimal) is not None
