"""How a table is written: what stands between its cells, and what begins a fraction."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from extensor.data.table.cells import as_number, as_numbers, is_missing
from extensor.data.table.lexing import DELIMITERS, LongCellError, Record, records
from extensor.errors import value_error

_SAMPLE = 1000  # lines, and cells, that are looked at
_MOST = 0.9
# What could also be thousands: 1,234 and 1.234, but not 0,234.
_COULD_BE_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[.,]\d{3}")


class _Split(NamedTuple):
    """What a delimiter makes of lines: how many cells most of them have, and how many do."""

    delimiter: str
    width: int
    share: float
    records: list[Record]


def find_delimiter(op: str, lines: Sequence[str], source: str, expected: str | None) -> str | None:
    """What stands between the cells; None if there is one column. ``expected`` is the usual one."""
    splits = [x for x in (_split(lines, each) for each in DELIMITERS) if x.width > 1]
    if not splits:
        _refuse_spaces(op, lines, source)
        return None
    consistent = [split for split in splits if split.share == 1.0]
    for split in consistent or splits:
        if split.delimiter == expected:
            return expected
    if not consistent:
        # Lines will be refused: those that the most likely one leaves.
        return max(splits, key=lambda split: split.share).delimiter
    likely = [x for x in consistent if x.delimiter != "," and _explains_commas(x)]
    if len(consistent) > 1 and len(likely) != 1:
        found = " or ".join(json.dumps(split.delimiter) for split in consistent)
        requirement = f"what stands between cells must be clear, not {found} (delimiter= says it)"
        raise value_error(op, requirement, source=source)
    return (consistent if len(consistent) == 1 else likely)[0].delimiter


def _explains_commas(split: _Split) -> bool:
    """Whether the commas in its cells begin fractions; a tab needs no explanation, nobody writes it."""
    cells = [cell.strip() for record in split.records for cell in record.cells if "," in cell]
    return split.delimiter == "\t" or all(_has_decimal_comma(cell) for cell in cells)


def _has_decimal_comma(cell: str) -> bool:
    return as_numbers(np.array([cell], object), ",") is not None


def unused_delimiter(text: str) -> str:
    """One that leaves every line a single cell."""
    return next((each for each in DELIMITERS if each not in text), "\x1f")


def better_delimiter(lines: Sequence[str], delimiter: str, decimal: str | None) -> str | None:
    """Words for a delimiter that makes several columns of what ``delimiter`` leaves as one."""
    for other in DELIMITERS:
        if other != delimiter and other != decimal:
            split = _split(lines, other)
            if split.share == 1.0 and split.width > 1:
                return f"{json.dumps(other)} splits every line into {split.width}"
    return None


def _split(lines: Sequence[str], delimiter: str) -> _Split:
    sample = lines[:_SAMPLE]
    none = _Split(delimiter, 1, 1.0, [])
    if not any(delimiter in line for line in sample):
        return none
    found: list[Record] = []
    with suppress(LongCellError):  # which is refused when all is read
        every = records(sample, delimiter, skip_spaces=True)
        found.extend(record for record in every if _has_cells(record.cells))
    if len(found) > 1 and len(lines) > _SAMPLE:
        found.pop()  # which may be cut off
    if not found:
        return none
    width, number = Counter(len(x.cells) for x in found).most_common(1)[0]
    return _Split(delimiter, width, number / len(found), found)


def _has_cells(cells: Sequence[str]) -> bool:
    return len(cells) > 1 or bool(cells[0].strip())


def _refuse_spaces(op: str, lines: Sequence[str], source: str) -> None:
    """Numbers between spaces would be taken for one column of words."""
    parts = [line.split() for line in lines[:_SAMPLE] if line.strip()]
    widths = {len(cells) for cells in parts}
    if len(widths) != 1 or widths == {1}:
        return
    if all(as_number(cell) is not None or is_missing(cell) for cell in parts[-1]):
        said = f"' ' splits every line into {widths.pop()}"
        requirement = f"delimiter must be that of the file ({said}: delimiter=' ')"
        raise value_error(op, requirement, source=source)


def find_decimal(columns: Sequence[Any]) -> str:
    """A point or a comma: what numbers have in ``columns``, whose cells are arrays, none missing."""
    signs = DecimalSigns()
    signs.add(columns)
    return signs.decimal()


class DecimalSigns:
    """What begins the fractions in a table, found chunk by chunk.

    A comma needs a column of numbers in which one of them can be nothing else (1,5 but not 1,234),
    and no column of numbers with a point.
    """

    def __init__(self) -> None:
        self._columns: list[dict[str, _Sign]] = []

    def add(self, columns: Sequence[Any]) -> None:
        """Look at some more rows: for each column an array of its cells, none missing."""
        while len(self._columns) < len(columns):
            self._columns.append({",": _Sign(",", "."), ".": _Sign(".", ",")})
        for signs, cells in zip(self._columns, columns, strict=False):
            for sign in signs.values():
                sign.add(cells)

    def decimal(self) -> str:
        """A point or a comma."""
        if not any(signs[","].is_used for signs in self._columns):
            return "."
        return "." if any(signs["."].is_used for signs in self._columns) else ","


class _Sign:
    """Whether the numbers of a column have ``decimal`` before their fractions."""

    def __init__(self, decimal: str, other: str) -> None:
        self.decimal, self.other = decimal, other
        self._is_certain = False  # some cell can be nothing else
        self._are_numbers = True
        self._has_comma = self._has_point = False
        self._sample: list[str] = []

    def add(self, cells: Any) -> None:
        text = "".join(cells)
        self._has_comma, self._has_point = (
            self._has_comma or "," in text,
            self._has_point or "." in text,
        )
        self._sample += cells[: max(0, _SAMPLE - len(self._sample))].tolist()
        if self._are_numbers and len(cells):
            self._are_numbers = as_numbers(cells, self.decimal, True) is not None
        if not self._is_certain and self.decimal in text:
            self._is_certain = any(
                self.decimal in cell
                and not _COULD_BE_THOUSANDS.fullmatch(cell)
                and cell.rfind(self.decimal) > cell.rfind(self.other)
                for cell in cells
            )

    @property
    def is_used(self) -> bool:
        return self._is_certain and (self._all_are_numbers or self._most_are_numbers)

    @property
    def _all_are_numbers(self) -> bool:
        are_thousands = self.decimal == "," and self._has_point and not self._has_comma
        return self._are_numbers and not are_thousands

    @property
    def _most_are_numbers(self) -> bool:
        """Whether nearly all of the first are: one that is wrong must not hide it."""
        sample = np.array(self._sample, object)
        right = [
            as_numbers(sample[i : i + 1], self.decimal) is not None for i in range(len(sample))
        ]
        return sum(right) >= _MOST * len(sample)


def could_be_thousands(cells: Any) -> str | None:
    """The first of ``cells`` with a comma if each of those could be thousands, else None."""
    found = [cell for cell in cells if "," in cell]
    if found and all(_COULD_BE_THOUSANDS.fullmatch(cell) for cell in found):
        return str(found[0])
    return None
