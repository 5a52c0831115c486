"""Lines of text as cells: what stands between delimiters, in quotes or not."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

DELIMITERS = (",", ";", "\t", "|")


class Record(NamedTuple):
    """A row of cells, and the lines it stands in, counted from 1."""

    first: int
    last: int
    cells: list[str]


class LongCellError(Exception):
    """A cell has more characters than one can have, as if a quote were not closed."""

    def __init__(self, first: int, last: int, text: str) -> None:
        super().__init__(text)
        self.first = first
        self.last = last


class QuoteError(Exception):
    """A quote is not closed, or not followed by a delimiter; ``line`` is where it begins."""

    def __init__(self, line: int, is_closed: bool) -> None:
        super().__init__(line)
        self.line = line
        self.is_closed = is_closed


def as_lines(text: str) -> list[str]:
    """The lines of a text without their ends, as they are written on any system."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def records(lines: Iterable[str], delimiter: str, skip_spaces: bool = False) -> Iterator[Record]:
    """The records that are not empty; the last may end inside a quote.

    ``skip_spaces`` lets a quoted cell begin after spaces.
    """
    # With an end of its own the last line is like the others.
    ended = (line + "\n" for line in lines)
    reader = csv.reader(ended, delimiter=delimiter, skipinitialspace=skip_spaces)
    first = 1
    try:
        for cells in reader:
            if cells:
                yield Record(first, reader.line_num, cells)
            first = reader.line_num + 1
    except csv.Error as error:
        raise LongCellError(first, reader.line_num, str(error)) from None


def checked_records(lines: Sequence[str], delimiter: str) -> Iterator[Record]:
    """The same, with a QuoteError for quotes that would be read as something else than is meant."""
    quotes = _Quotes(delimiter)
    is_quoted = any('"' in line for line in lines)
    try:
        for record in records(lines, delimiter, skip_spaces=True):
            if is_quoted:
                quotes.check(lines[record.first - 1 : record.last], record.first)
            yield record
    except LongCellError as error:
        quotes.check(lines[error.first - 1 :], error.first)
        raise


class _Quotes:
    """How cells are quoted between certain delimiters."""

    def __init__(self, delimiter: str) -> None:
        between = re.escape(delimiter)
        after = "" if delimiter == " " else " *+"
        quoted = r' *+"(?:[^"]++|"")*+"' + after
        self.delimiter = delimiter
        self.quoted = re.compile(quoted)
        self.cell = re.compile(rf'{quoted}(?={between}|\n|\Z)| *+(?!")[^{between}\n]*+')
        self.record = re.compile(f"(?:{self.cell.pattern})(?:{between}(?:{self.cell.pattern}))*+")

    def check(self, lines: Sequence[str], first: int) -> None:
        """Refuse records that are not cells between delimiters, as its quotes say."""
        if not any('"' in line for line in lines):
            return
        text = "\n".join(lines)
        if self.record.fullmatch(text):
            return
        place = 0
        while cell := self.cell.match(text, place):
            place = cell.end() + 1
            if place > len(text):
                return
        line = first + text.count("\n", 0, place)
        raise QuoteError(line, self.quoted.match(text, place) is not None)
