"""Tables larger than memory: read in chunks, with the columns that they have as a whole."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from extensor.data.table import arrow, text_chunks
from extensor.data.table.cell_facts import CellFacts, Meaning, build_column
from extensor.data.table.cells import as_numbers, missing_among
from extensor.data.table.column import Column, Origin
from extensor.data.table.dates import ORDERS, is_date
from extensor.data.table.names import RowNumbers, named
from extensor.data.table.reading import (
    EXCEL_SEPARATOR,
    OP,
    USUAL,
    Options,
    Rows,
    cells_below_names,
    checked_options,
    first_line_is_names,
    parse_rows,
    present_cells,
    read_table,
    rectangular,
    said_of_options,
    table_suffix,
)
from extensor.data.table.sniffing import DecimalSigns, better_delimiter, find_delimiter
from extensor.data.table.table import Table
from extensor.data.table.text_chunks import TextChunks
from extensor.data.table.understanding import missing_cells, said_of_meaning
from extensor.errors import value_error
from extensor.io.paths import as_path, unreadable
from extensor.io.regular_files import open_regular

_NO_DELIMITER = "\x1f"  # of a file with one column: a character that no text has
_SAMPLE = 1000  # cells of a column that sentences look at
_HEAD = 1001  # rows that tell whether the first line has names
_MAGIC = 6  # bytes that tell Parquet and Arrow from text


def read_chunks(
    path: str | Path,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> ChunkedTable:
    """The table that :func:`read_table` reads, in chunks of some megabytes of text.

    The file is read several times: what is found out depends on all of it, as there. Small files
    and those of Parquet and Arrow are one chunk.
    """
    place = as_path(OP, path)
    given = checked_options(Options(delimiter, decimal, encoding, header))
    suffix = table_suffix(place)
    first, size = _looked_at(place)
    is_small = size <= text_chunks.SIZE and place.suffix != ".gz"
    if is_small or suffix in arrow.SUFFIXES or arrow.is_arrow(first):
        return ChunkedTable(read_table(place, *given))
    return _TextTable(place, suffix, given)


def _looked_at(path: Path) -> tuple[bytes, int]:
    """The first bytes of a file, and how many there are."""
    try:
        with open(path, "rb", opener=open_regular) as file:
            return file.read(_MAGIC), os.fstat(file.fileno()).st_size
    except OSError as error:
        raise unreadable(OP, path, error) from error


class ChunkedTable:
    """A table that is there as a whole, as one chunk."""

    is_chunked = False

    def __init__(self, table: Table) -> None:
        self._table = table
        self.source = table.source
        self.names = table.names
        self.said = list(table.said)
        self.options = dict(table.options)

    def chunks(self) -> Iterator[Table]:
        """The rows, some at a time."""
        yield self._table


class _TextTable(ChunkedTable):
    """A table in a text file: looked through when it is made, then read chunk by chunk."""

    is_chunked = True

    def __init__(self, path: Path, suffix: str, given: Options) -> None:
        self.source = str(path)
        self._text = TextChunks(OP, path, given.encoding)
        self._allowed = given.delimiter or ""
        self._width = 0
        self._pending = Rows([], [])  # empty lines at the end, which are none if nothing follows
        self.said = []
        self._find_delimiter(suffix, given)
        first, decimal = self._find_decimal(given)
        header = given.header
        if header is None:
            header = first_line_is_names(first, decimal, self.source)
        self._found = Options(self._delimiter, decimal, self._text.encoding, header)
        self.options = self._found._asdict()
        delimiter = self._delimiter if self._is_split else None
        self.said.insert(
            0, said_of_options(self._text.said, delimiter, decimal, header, self._width)
        )
        self._understand(first.cells[0], first.lines[0], decimal, header)
        self.names = [name for i, name in enumerate(self._names) if i != self._left_out]

    def chunks(self) -> Iterator[Table]:
        for rows in self._below():
            origin = Origin(self.source, "line", np.array(rows.lines))
            columns = list(zip(*rows.cells, strict=True))
            yield Table(
                [
                    self._column(place, cells, origin)
                    for place, cells in enumerate(columns)
                    if place != self._left_out
                ],
                self.source,
                self.said,
                self.options,
            )

    def _column(self, place: int, cells: Sequence[str], origin: Origin) -> Column:
        array = np.empty(len(cells), object)
        array[:] = cells
        missing = missing_cells(cells, missing_among(cells))
        array[missing] = None
        return build_column(self._names[place], array, missing, self._meanings[place], origin)

    def _find_delimiter(self, suffix: str, given: Options) -> None:
        lines = self._text.head()
        excel = EXCEL_SEPARATOR.fullmatch(lines[0].strip('" '))
        self._skips_first = excel is not None
        delimiter = given.delimiter
        if excel:
            lines[0] = ""
            delimiter = delimiter or excel[1]
        if not any(map(str.strip, lines)):
            raise value_error(OP, "file must have at least one line", source=self.source)
        if delimiter is None:
            delimiter = find_delimiter(OP, lines, self.source, USUAL.get(suffix))
        self._is_split = delimiter is not None
        self._delimiter = _NO_DELIMITER if delimiter is None else delimiter
        self._better = better_delimiter(lines, self._delimiter, given.decimal)

    def _find_decimal(self, given: Options) -> tuple[Rows, str]:
        """The first rows, with the first line, and what begins a fraction."""
        signs = DecimalSigns()
        has_point = given.decimal is not None or (self._is_split and self._delimiter == ",")
        first: Rows | None = None
        is_single = True
        ends: dict[int, list[str]] = {}
        for rows, said in self._rectangles():
            width = len(rows.cells[0])
            self._width = max(self._width, width)
            ends[width] = max(ends.get(width, []), said, key=len)
            is_single = is_single and all(len(row) == 1 for row in rows.cells)
            if first is None:
                first = rows
                columns = [] if has_point else cells_below_names(rows, given.header)
            else:
                columns = [] if has_point else [*map(present_cells, zip(*rows.cells, strict=True))]
                if len(first.cells) < _HEAD:
                    padded = [self._padded(x) for x in (first, rows)]
                    first = Rows(padded[0].cells + padded[1].cells, first.lines + rows.lines)
            signs.add(columns)
        if first is None:
            raise value_error(OP, "file must have at least one line", source=self.source)
        if self._is_split and is_single and self._better is not None:
            requirement = f"delimiter must be that of the file ({self._better})"
            raise value_error(OP, requirement, source=self.source, delimiter=self._delimiter)
        if self._pending.lines:
            line = self._pending.lines[0]
            self.said.append(f"lines from {line} on have no cells and are left out")
        self.said += ends[self._width]
        return self._padded(first), given.decimal or signs.decimal()

    def _understand(self, first: list[str], line: int, decimal: str, header: bool) -> None:
        """What each column is, by all its cells, and what it is called."""
        facts = [_Notes(decimal) for _ in range(self._width)]
        numbers = RowNumbers(first) if header else None
        gone: set[str] = set()
        count = 0
        for rows in self._below():
            count += len(rows.cells)
            columns = list(zip(*rows.cells, strict=True))
            if numbers is not None:
                numbers.add(columns[0])
            for notes, cells in zip(facts, columns, strict=True):
                words = missing_among(cells)
                gone |= words
                missing = missing_cells(cells, words)
                notes.add(np.array(cells, object)[~missing], np.array(rows.lines)[~missing])
        if not count:
            requirement = (
                "file must have a line of cells below its names (header=False if it has none)"
            )
            raise value_error(OP, requirement, source=self.source, line=line)
        self._left_out = None if numbers is None else numbers.column
        if self._left_out is not None:
            self.said.append("the first column has no name and numbers the rows: it is left out")
        self._names = named(
            OP, first if header else None, self._width, self.source, line, self._left_out, self.said
        )
        self._meanings = [notes.meaning() for notes in facts]
        for place, notes in enumerate(facts):
            if place != self._left_out:
                self.said += notes.said(self._names[place], self.source)
        missing_words = ", ".join(map(repr, sorted(gone - {""})))
        if missing_words:
            self.said.append(f"cells that are {missing_words} are missing")

    def _below(self) -> Iterator[Rows]:
        """The rows of data in each chunk, of one width."""
        is_first = True
        for rows, _ in self._rectangles():
            padded = self._padded(rows)
            below = padded.below() if is_first and self._found.header else padded
            is_first = False
            if below.cells:
                yield below

    def _rectangles(self) -> Iterator[tuple[Rows, list[str]]]:
        """The rows of each chunk, and sentences on columns at their ends that are left out."""
        head: Rows | None = None
        pending = Rows([], [])
        for first, lines in self._text.chunks(self._delimiter, self._skips_first, self._allowed):
            rows = parse_rows(lines, self._delimiter, self.source, first)
            cells, places = pending.cells + rows.cells, pending.lines + rows.lines
            end, least = len(cells), 1 if head is None else 0
            while end > least and len(cells[end - 1]) > 1 and not any(cells[end - 1]):
                end -= 1
            pending = Rows(cells[end:], places[end:])
            if end == 0:
                continue
            said: list[str] = []
            whole = Rows(cells[:end], places[:end])
            if head is None:
                head = Rows(cells[:1], places[:1])
                yield rectangular(whole, self.source, said), said
            else:
                with_head = Rows(head.cells + whole.cells, head.lines + whole.lines)
                yield rectangular(with_head, self.source, said).below(), said
        self._pending = pending

    def _padded(self, rows: Rows) -> Rows:
        """Rows with the empty cells at their ends that mean something in other chunks."""
        short = self._width - len(rows.cells[0])
        return rows if not short else Rows([[*x, *[""] * short] for x in rows.cells], rows.lines)


class _Notes:
    """The facts on a column, and the cells that sentences on it need."""

    def __init__(self, decimal: str) -> None:
        self._facts = CellFacts(decimal)
        self._cells: list[str] = []
        self._lines: list[int] = []

    def add(self, present: Any, lines: Any) -> None:
        room = max(0, _SAMPLE - len(self._cells))
        self._note(present[:room], lines[:room])
        were_numbers, were_dates = self._facts.are_numbers, self._facts.are_dates
        self._facts.add(present)
        if were_numbers and not self._facts.are_numbers:
            self._note_first(present, lines, lambda x: _is_number(x, self._facts.decimal))
        if were_dates and not self._facts.are_dates:
            self._note_first(present, lines, lambda x: any(is_date(x, y) for y in ORDERS))

    def meaning(self) -> Meaning:
        return self._facts.meaning()

    def said(self, name: str, source: str) -> list[str]:
        cells = np.array(self._cells, object)
        origin = Origin(source, "line", np.array(self._lines))
        return said_of_meaning(name, self.meaning(), cells, np.zeros(len(cells), bool), origin)

    def _note(self, cells: Any, lines: Any) -> None:
        self._cells += list(cells)
        self._lines += list(lines)

    def _note_first(self, cells: Any, lines: Any, holds: Any) -> None:
        """Note the first cell that is an exception, if it is none of those noted."""
        found = next((i for i, cell in enumerate(cells) if not holds(cell)), None)
        if found is not None and int(lines[found]) not in self._lines:
            self._note(cells[found : found + 1], lines[found : found + 1])


def _is_number(cell: str, decimal: str) -> bool:
    return as_numbers(np.array([cell], object), decimal) is not None
