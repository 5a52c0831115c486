"""The format of a table in text: delimiter, decimal sign, and names in the first line."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from extensor.core.entries import is_integer
from extensor.data.table.cells import (
    COULD_BE_THOUSANDS,
    ORDERS,
    as_number,
    as_numbers,
    as_whole,
    counts,
    is_missing,
    is_number,
    parse_dates,
)
from extensor.data.table.column_statistics import DistinctNumbers
from extensor.data.table.columnar import Column
from extensor.data.table.text_file import DELIMITERS, LongCellError, Record, TextSource, records
from extensor.errors import arguments, type_error, value_error
from extensor.errors.arguments import briefly
from extensor.errors.messages import COLUMN_NOT_FOUND, suggestion

_SAMPLE = 1000  # lines, and cells, that are looked at
_MOST = 0.9


class TableFormat(NamedTuple):
    """How a file is written; None is to be found out."""

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool | None = None

    def checked(self, op: str) -> TableFormat:
        """The same, if a file can be written so."""
        if self.delimiter is not None:
            one = isinstance(self.delimiter, str) and len(self.delimiter) == 1
            if not one or self.delimiter in '"\r\n.' or self.delimiter.isalnum():
                brief = arguments.briefly(self.delimiter)
                raise value_error(op, "delimiter must be one sign, or None", delimiter=brief)
        arguments.choice(op, "decimal", self.decimal, (".", ",", None))
        if self.encoding is not None:
            arguments.text(op, "encoding", self.encoding)
        header = self.header if self.header is None else arguments.flag(op, "header", self.header)
        return self._replace(header=header)


class _Split(NamedTuple):
    """Lines split by a delimiter: the usual number of cells, and the share of lines with it."""

    delimiter: str
    width: int
    share: float
    records: list[Record]


def find_delimiter(source: TextSource, lines: Sequence[str], expected: str | None) -> str | None:
    """The delimiter; None if there is one column. ``expected`` is the usual one."""
    splits = [x for x in (_split(lines, each) for each in DELIMITERS) if x.width > 1]
    if not splits:
        _refuse_spaces(source, lines)
        return None
    consistent = [split for split in splits if split.share == 1.0]
    if any(split.delimiter == expected for split in consistent or splits):
        return expected
    if not consistent:
        # Some lines will be refused with any delimiter; take the most likely one.
        return max(splits, key=lambda split: split.share).delimiter
    if len(consistent) == 1:
        return consistent[0].delimiter
    likely = [x for x in consistent if x.delimiter != "," and _explains_commas(x)]
    if len(likely) != 1:
        signs = " or ".join(json.dumps(split.delimiter) for split in consistent)
        requirement = f"what stands between cells must be clear, not {signs} (delimiter= says it)"
        raise source.error(requirement)
    return likely[0].delimiter


def _explains_commas(split: _Split) -> bool:
    """Whether the commas in its cells begin fractions; tabs are always delimiters."""
    cells = [cell.strip() for record in split.records for cell in record.cells if "," in cell]
    return split.delimiter == "\t" or all(is_number(cell, ",") for cell in cells)


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
        found.extend(x for x in every if len(x.cells) > 1 or x.cells[0].strip())
    if len(found) > 1 and len(lines) > _SAMPLE:
        found.pop()  # which may be cut off
    if not found:
        return none
    width, number = Counter(len(x.cells) for x in found).most_common(1)[0]
    return _Split(delimiter, width, number / len(found), found)


def _refuse_spaces(source: TextSource, lines: Sequence[str]) -> None:
    """Numbers between spaces would be taken for one column of words."""
    parts = [line.split() for line in lines[:_SAMPLE] if line.strip()]
    widths = {len(cells) for cells in parts}
    if len(widths) != 1 or widths == {1}:
        return
    if all(as_number(cell) is not None or is_missing(cell) for cell in parts[-1]):
        said = f"' ' splits every line into {widths.pop()}"
        raise source.error(f"delimiter must be that of the file ({said}: delimiter=' ')")


class DecimalSigns:
    """The decimal sign of a table, found chunk by chunk.

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
        self._has_comma |= "," in text
        self._has_point |= "." in text
        self._sample += cells[: max(0, _SAMPLE - len(self._sample))].tolist()
        if self._are_numbers and len(cells):
            self._are_numbers = as_numbers(cells, self.decimal, True) is not None
        if not self._is_certain and self.decimal in text:
            self._is_certain = any(
                self.decimal in cell
                and not COULD_BE_THOUSANDS.fullmatch(cell)
                and cell.rfind(self.decimal) > cell.rfind(self.other)
                for cell in cells
            )

    @property
    def is_used(self) -> bool:
        are_thousands = self.decimal == "," and self._has_point and not self._has_comma
        if not self._is_certain or (self._are_numbers and not are_thousands):
            return self._is_certain
        # Nearly all of the first are enough: one that is wrong must not hide it.
        right = sum(is_number(cell, self.decimal) for cell in self._sample)
        return right >= _MOST * len(self._sample)


_FEW = 3
_DIGITS = re.compile(r"[0-9]{1,18}")


class _HeadedColumn:
    """The cell above a column, and the cells below it that are not missing, with their numbers."""

    def __init__(self, head: str, cells: Sequence[str], decimal: str) -> None:
        self.head = head
        self.cells = [cell for cell in cells if not is_missing(cell)]
        self.decimal = decimal
        self.numbers = as_numbers(np.array(self.cells, object), decimal) if self.cells else None
        self.is_headed_by_number = is_number(head, decimal)

    @property
    def is_words(self) -> bool:
        """Whether none of the cells is a number."""
        return bool(self.cells) and not any(is_number(x, self.decimal) for x in self.cells)

    @property
    def has_fractions(self) -> bool:
        """Whether every number is written with a fraction, as programs write columns of floats."""
        written = len(self.cells) >= _FEW and self.numbers is not None
        return written and all(self.decimal in cell or "e" in cell.lower() for cell in self.cells)

    @property
    def are_dates(self) -> bool:
        """Whether the head and all cells are dates."""
        dates = [self.head, *self.cells]
        return bool(self.cells) and any(parse_dates(dates, order) is not None for order in ORDERS)

    @property
    def is_far_below(self) -> bool:
        """Whether the head is further away from the numbers than these are from each other."""
        if self.numbers is None or len(self.numbers) < _FEW:
            return False
        low, high = float(self.numbers.min()), float(self.numbers.max())
        return not 2 * low - high <= float(self.head) <= 2 * high - low


def has_names(first: Sequence[str], rows: Sequence[Sequence[str]], decimal: str) -> bool | None:
    """True for names, False for data, None where it could be both."""
    if not rows:
        return _is_heading_alone(first, decimal)
    below = zip(*rows[:_SAMPLE], strict=True)
    columns = [
        _HeadedColumn(head, cells, decimal)
        for head, cells in zip(first, below, strict=True)
        if not is_missing(head)
    ]
    numeric = [x for x in columns if x.is_headed_by_number]
    words = [x for x in columns if not x.is_headed_by_number]
    over_numbers = [x for x in numeric if not x.is_words]
    strange = len(numeric) - len(over_numbers) + sum(x.numbers is not None for x in words)
    if strange:
        return _are_strange_names([x.head for x in numeric], over_numbers, strange)
    if not words:
        return _are_numbers_names(first, rows, over_numbers) if over_numbers else None
    if any(x.are_dates for x in words):
        return False
    if over_numbers:
        return _are_numbers_and_words_names(words, over_numbers)
    repeated = sum(x.head in x.cells for x in words)
    if repeated == 0:
        return True
    return False if 2 * repeated >= len(words) else None


def _are_strange_names(
    cells: Sequence[str], over_numbers: Sequence[_HeadedColumn], strange: int
) -> bool | None:
    """Words over numbers or the reverse: names, unless some numbers look like those below them."""
    is_named = not over_numbers or counts(cells) or _are_years(cells) or _are_far(over_numbers)
    is_sure = strange > 1 and all(map(_DIGITS.fullmatch, cells))
    return True if is_named or is_sure else None


def _is_heading_alone(first: Sequence[str], decimal: str) -> bool | None:
    """Of a single line: names if there are only words, which are then of nothing."""
    cells = [cell for cell in first if not is_missing(cell)]
    if not any(is_number(cell, decimal) for cell in cells):
        return True
    return None if counts(cells) and len(cells) >= _FEW else False


def _are_numbers_and_words_names(
    words: Sequence[_HeadedColumn], numeric: Sequence[_HeadedColumn]
) -> bool | None:
    """Words over words, and numbers over numbers: names if these count, or data."""
    is_repeated = any(x.head in x.cells for x in words)
    cells = [x.head for x in numeric]
    if counts(cells) or cells == ["0"]:
        if is_repeated:
            return None if len(cells) >= _FEW else False
        odd = any(x.has_fractions for x in numeric) or _are_far(numeric)
        return True if len(cells) >= _FEW or odd else None
    if is_repeated or not all(map(_DIGITS.fullmatch, cells)):
        return False
    return True if _are_far(numeric) else None


def _are_numbers_names(
    first: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[_HeadedColumn]
) -> bool | None:
    """Only numbers: data, unless they count the columns."""
    cells = [x.head for x in numeric]
    if not (counts(cells) or cells == ["0"]):
        return False
    if first[0] == "" and "" not in first[1:]:
        # As pandas writes an index and columns without names.
        index = [row[0] for row in rows]
        return True if len(index) > 1 and counts(index) else None
    if len(cells) < len(first):
        return False
    if any(x.has_fractions for x in numeric):
        return True
    # From 1 is so common in data that two columns say nothing.
    return None if cells[0] == "0" or len(cells) >= _FEW else False


def _are_years(cells: Sequence[str]) -> bool:
    """Whole numbers one after the other, as 2019 and 2020."""
    if len(cells) < 2 or not all(map(_DIGITS.fullmatch, cells)):
        return False
    numbers = [int(cell) for cell in cells]
    return all(b - a == 1 for a, b in pairwise(numbers))


def _are_far(numeric: Sequence[_HeadedColumn]) -> bool:
    return all(_DIGITS.fullmatch(x.head) for x in numeric) and all(x.is_far_below for x in numeric)


# What people call what they want to predict; otherwise it is the last column.
_TARGETS = ("target", "label", "class", "y", "outcome", "species")
_UNNAMED = re.compile(r"Unnamed: \d+")  # what pandas calls a column without a name, and writes


def numbers_rows(column: Column) -> bool:
    """Whether a column of a frame is the row numbers that pandas read from a file."""
    integers = column.integers() if _UNNAMED.fullmatch(column.name) else None
    return integers is not None and len(np.unique(integers)) == len(column)


class RowNumbers:
    """Whether the first column has no name and numbers the rows, found chunk by chunk."""

    def __init__(self, op: str, first: Sequence[str]) -> None:
        self._op = op
        self._is_numbering = len(first) > 1 and bool(not first[0] or _UNNAMED.fullmatch(first[0]))
        self._distinct = DistinctNumbers()

    def add(self, cells: Sequence[str]) -> None:
        """Look at some more cells of the first column."""
        if not self._is_numbering:
            return
        numbers = [as_whole(cell) for cell in cells]
        self._is_numbering = None not in numbers
        if self._is_numbering:
            self._distinct.add(np.array(numbers, np.int64))
            self._is_numbering = self._distinct.are_distinct

    @property
    def column(self) -> int | None:
        """The place of the column, if it numbers the rows."""
        if self._is_numbering and self._distinct.is_unknown:
            requirement = "a column without a name must have fewer numbers, or be given a name"
            raise value_error(self._op, requirement, column=0)
        return 0 if self._is_numbering else None


def usual_target(names: Sequence[str]) -> tuple[str, str]:
    """Return the default target column, and why it was chosen."""
    lower = {name.lower(): name for name in names}
    usual = [lower[name] for name in _TARGETS if name in lower]
    return (usual[0], "by its name") if usual else (names[-1], "the last column")


def find_column(op: str, names: Sequence[str], name: Any, source: str) -> str:
    """Return the column with this name or number."""
    if isinstance(name, str):
        if name not in names:
            raise COLUMN_NOT_FOUND.error(suggestion(name, names), column=name, source=source)
        return name
    if not is_integer(name):
        requirement = "a column must be given by its name or number"
        raise type_error(op, requirement, column=briefly(name))
    if not -len(names) <= name < len(names):
        requirement = f"the number of a column must be one of {len(names)}"
        raise value_error(op, requirement, source=source, column=int(name))
    return names[int(name)]


def check_names(op: str, names: Sequence[str], **where: object) -> None:
    """Refuse a name that two columns have."""
    distinct, numbers = np.unique(np.array(names, object).astype(str), return_counts=True)
    if (numbers > 1).any():
        name = str(distinct[numbers > 1][0])
        columns = [place for place, other in enumerate(names) if other == name]
        raise value_error(op, "names of columns must differ", **where, name=name, columns=columns)
