"""Tables read from files, whole or in chunks of rows."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from extensor.data.table import arrow, text_file
from extensor.data.table.cells import is_number
from extensor.data.table.columnar import Origin, Table
from extensor.data.table.meaning import ColumnNotes, WrittenCells, build_column
from extensor.data.table.sniffing import (
    DecimalSigns,
    RowNumbers,
    TableFormat,
    better_delimiter,
    check_names,
    find_delimiter,
    has_names,
)
from extensor.data.table.text_file import (
    ParsedRows,
    TextFile,
    check_controls,
    parse_rows,
    rectangular,
)
from extensor.errors import value_error
from extensor.io.limits import read_content
from extensor.io.paths import as_path, explain_unreadable
from extensor.io.regular_files import open_regular

_USUAL = {".tsv": "\t", ".tab": "\t"}  # delimiters, by the ending of the name
_SAMPLE = 1000  # cells of a column that sentences look at, of a table in chunks
_HEAD = 1001  # rows that tell whether the first line has names
_EXCEL_SEPARATOR = re.compile(r"sep=(.)", re.IGNORECASE)


Item = TypeVar("Item")


class _Chunk:
    """Rows of data, and their cells by columns."""

    def __init__(self, rows: ParsedRows) -> None:
        self.lines = np.array(rows.lines)
        columns = list(zip(*rows.cells, strict=True))
        self.first = columns[0]
        self.columns = [WrittenCells.of(cells) for cells in columns]


class TextTable:
    """A table in text: looked through when it is made, then given whole or chunk by chunk."""

    is_chunked = True

    def __init__(self, text: TextFile, suffix: str, asked: TableFormat) -> None:
        self.source = text.source.name
        self.said: list[str] = []
        self._text = text
        self._allowed = asked.delimiter or ""
        self._width = 0
        # Empty lines at the end of a chunk, which are rows only if others follow.
        self._pending = ParsedRows([], [])
        self._find_delimiter(suffix, asked)
        self._rectangles = self._passes(self._parse)
        first, decimal = self._find_decimal(asked)
        header = asked.header
        if header is None:
            header = self._has_names(first, decimal)
        self._has_header = header
        self.options = TableFormat(self._delimiter, decimal, text.encoding, header)._asdict()
        self.said.insert(0, self._said_of_format(decimal, header))
        self._understand(first.cells[0], first.lines[0], decimal)
        self.names = [name for i, name in enumerate(self._names) if i != self._left_out]

    def chunks(self) -> Iterator[Table]:
        """The rows, some at a time."""
        for chunk in self._below():
            origin = Origin(self.source, "line", chunk.lines)
            columns = [
                build_column(
                    self._names[place],
                    cells,
                    self._meanings[place],
                    origin,
                    self._notes[place].latest() if self._text.is_whole else None,
                )
                for place, cells in enumerate(chunk.columns)
                if place != self._left_out
            ]
            yield Table(columns, self.source, self.said, self.options)

    def _said_of_format(self, decimal: str, header: bool) -> str:
        """A sentence on how the table is written."""
        point = "comma" if decimal == "," else "point"
        split = f"delimiter {self._delimiter!r}" if self._is_split else "one column"
        last = f" to 'column {self._width - 1}'" if self._width > 1 else ""
        names = "names in the first line" if header else f"no names, so they are 'column 0'{last}"
        return f"encoding {self._text.said}, {split}, decimal {point}, {names}"

    def _head(self) -> list[str]:
        """The first lines, without that in which Excel names the delimiter."""
        lines = self._text.head()
        if self._skips_first:
            lines[0] = ""
        return lines

    def _find_delimiter(self, suffix: str, asked: TableFormat) -> None:
        excel = _EXCEL_SEPARATOR.fullmatch(self._text.head()[0].strip('" '))
        self._skips_first = excel is not None
        lines = self._head()
        if not any(map(str.strip, lines)):
            raise self._empty()
        check_controls(self._text.source, "\n".join(lines), self._allowed)
        delimiter = asked.delimiter or (excel and excel[1])
        if delimiter is None:
            delimiter = find_delimiter(self._text.source, lines, _USUAL.get(suffix))
        self._is_split = delimiter is not None
        self._delimiter = self._text.unused_delimiter if delimiter is None else delimiter

    def _empty(self) -> ValueError:
        return self._text.source.error("file must have at least one line")

    def _find_decimal(self, asked: TableFormat) -> tuple[ParsedRows, str]:
        """The first rows, with the first line, and the sign that begins a fraction."""
        signs = DecimalSigns()
        # Beside commas as delimiters, fractions always begin with a point.
        is_known = asked.decimal is not None or (self._is_split and self._delimiter == ",")
        first: ParsedRows | None = None
        ends: dict[int, list[str]] = {}
        for rows, said in self._rectangles():
            width = len(rows.cells[0])
            self._width = max(self._width, width)
            ends[width] = max(ends.get(width, []), said, key=len)
            if not is_known:
                signs.add(_present_columns(rows, first is None, asked.header))
            if first is None:
                first = rows
            elif len(first.cells) < _HEAD:
                first = self._pad(first) + self._pad(rows)
        if first is None:
            raise self._empty()
        if self._is_split and self._width == 1:
            better = better_delimiter(self._head(), self._delimiter, asked.decimal)
            if better is not None:
                requirement = f"delimiter must be that of the file ({better})"
                raise self._text.source.error(requirement, delimiter=self._delimiter)
        if self._pending.lines:
            line = self._pending.lines[0]
            self.said.append(f"lines from {line} on have no cells and are left out")
        self.said += ends[self._width]
        return self._pad(first), asked.decimal or signs.decimal()

    def _has_names(self, rows: ParsedRows, decimal: str) -> bool:
        """Whether the first line has names; an error if that is not clear."""
        answer = has_names(rows.cells[0], rows.cells[1:], decimal)
        if answer is None:
            requirement = (
                "whether the first line is names or data must be clear "
                "(header=True or False says it)"
            )
            cells = json.dumps(rows.cells[0], ensure_ascii=False)[:80]
            raise self._text.source.error(requirement, line=rows.lines[0], cells=cells)
        return answer

    def _understand(self, first: list[str], line: int, decimal: str) -> None:
        """The meaning of each column, by all its cells, and its name."""
        self._below = self._passes(self._data)
        self._notes = [
            ColumnNotes(decimal, None if self._text.is_whole else _SAMPLE)
            for _ in range(self._width)
        ]
        numbers = RowNumbers(self._text.source.op, first) if self._has_header else None
        missing_words: set[str] = set()
        is_empty = True
        for chunk in self._below():
            is_empty = False
            if numbers is not None:
                numbers.add(chunk.first)
            for notes, cells in zip(self._notes, chunk.columns, strict=True):
                missing_words |= cells.missing_words
                notes.add_rows(cells.present, chunk.lines[~cells.missing])
        if is_empty:
            requirement = (
                "file must have a line of cells below its names (header=False if it has none)"
            )
            raise self._text.source.error(requirement, line=line)
        self._name_columns(numbers, first, line)
        self._meanings = [notes.meaning() for notes in self._notes]
        for place, notes in enumerate(self._notes):
            if place != self._left_out:
                self.said += notes.said(self._names[place], self.source)
        shown = ", ".join(map(repr, sorted(missing_words - {""})))
        if shown:
            self.said.append(f"cells that are {shown} are missing")

    def _name_columns(self, numbers: RowNumbers | None, first: list[str], line: int) -> None:
        """Names for all columns, and the place of one that numbers the rows."""
        self._left_out = None if numbers is None else numbers.column
        if self._left_out is not None:
            self.said.append("the first column has no name and numbers the rows: it is left out")
        written = first if self._has_header else [""] * self._width
        self._names = [name or f"column {place}" for place, name in enumerate(written)]
        without = [i for i, name in enumerate(written) if not name and i != self._left_out]
        if self._has_header and without:
            called = ", ".join(repr(self._names[i]) for i in without)
            self.said.append(f"columns without a name are called {called}")
        check_names(self._text.source.op, self._names, source=self.source, line=line)

    def _passes(self, read: Callable[[], Iterable[Item]]) -> Callable[[], Iterable[Item]]:
        """``read``, which a text in memory does once, not in every pass."""
        if not self._text.is_whole:
            return read
        found = list(read())
        return lambda: found

    def _data(self) -> Iterator[_Chunk]:
        """The rows of data in each chunk, of one width."""
        is_first = True
        for rows, _ in self._rectangles():
            padded = self._pad(rows)
            below = padded.below() if is_first and self._has_header else padded
            is_first = False
            if below.cells:
                yield _Chunk(below)

    def _parse(self) -> Iterator[tuple[ParsedRows, list[str]]]:
        """The rows of each chunk, and sentences on columns at their ends that are left out."""
        source = self._text.source
        head: ParsedRows | None = None
        pending = ParsedRows([], [])
        for first, lines in self._text.chunks(self._delimiter, self._skips_first, self._allowed):
            rows = pending + parse_rows(source, lines, self._delimiter, first)
            end, least = len(rows.cells), 1 if head is None else 0
            while end > least and len(rows.cells[end - 1]) > 1 and not any(rows.cells[end - 1]):
                end -= 1
            pending = ParsedRows(rows.cells[end:], rows.lines[end:])
            if end == 0:
                continue
            kept = ParsedRows(rows.cells[:end], rows.lines[:end])
            if head is None:
                head = ParsedRows(kept.cells[:1], kept.lines[:1])
                yield rectangular(source, kept)
            else:
                # The first line decides on the width, and on names of columns without cells.
                whole, said = rectangular(source, head + kept)
                yield whole.below(), said
        self._pending = pending

    def _pad(self, rows: ParsedRows) -> ParsedRows:
        """Rows with the empty cells at their ends that mean something in other chunks."""
        short = self._width - len(rows.cells[0])
        if not short:
            return rows
        return ParsedRows([[*x, *[""] * short] for x in rows.cells], rows.lines)


def _present_columns(rows: ParsedRows, is_first: bool, header: bool | None) -> list[Any]:
    """The cells of each column that are not missing, without names in the first line."""
    columns: list[Sequence[str]] = list(zip(*rows.cells, strict=True))
    if is_first and header is not False:
        # Names are no numbers, and would hide that the cells below them are.
        is_data = [header is None and any(is_number(x[0], sign) for sign in ".,") for x in columns]
        columns = [x if is_kept else x[1:] for x, is_kept in zip(columns, is_data, strict=True)]
    return [WrittenCells.of(cells).present for cells in columns]


OP = "read_table"
# Files that others call tables, and how to get one from them.
_REFUSED_FORMATS = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".ods"), "save the sheet as CSV"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "pandas.read_json, then as_table"),
    **dict.fromkeys((".pkl", ".pickle", ".joblib"), "nothing is unpickled here"),
    **dict.fromkeys((".npy", ".npz"), "read_arrays reads it"),
}
_TEXTS = (".csv", ".tsv", ".tab")
ENDINGS = (*_TEXTS, *(f"{ending}.gz" for ending in _TEXTS), *arrow.SUFFIXES)
_COST = 8  # bytes of memory for a byte of text, most of them for cells as strings
_MAGIC = 6  # bytes that tell Parquet and Arrow from text
Readable = TypeVar("Readable", bound="Table | TextTable")


def read_table(
    path: str | Path,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> Table:
    """Read a table from a file: CSV and its variants, also compressed by gzip, Parquet, or Arrow.

    Options that are not passed are inferred, and ``said`` of the table reports the result. Cells are
    missing if they are empty or NA, N/A, NaN, null, None, ? or -.

    Parameters
    ----------
    path : str or Path
        The file.
    delimiter : str, optional
        Character between cells. Default: comma, semicolon, tab or bar, whichever the file has.
    decimal : {".", ","}, optional
        Sign before a fraction. Default: it is inferred.
    encoding : str, optional
        Encoding of the text. Default: it is inferred.
    header : bool, optional
        Whether the first line has the names of the columns. Default: it is inferred.

    Returns
    -------
    Table
        The columns, with what was inferred in ``said``.

    Raises
    ------
    ValueError
        If the file is damaged, or if it can be read in two ways. The message names the option that
        decides.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from extensor.data import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "sizes.csv")
    ...     _ = path.write_text("name;size\\nant;1,5\\nbee;\\n")
    ...     table = read_table(path)
    >>> table.said
    ["encoding utf-8, delimiter ';', decimal comma, names in the first line"]
    >>> table["size"].numbers().tolist()
    [1.5, nan]
    """
    return load_table(OP, path, TableFormat(delimiter, decimal, encoding, header))


def load_table(op: str, path: str | Path, asked: TableFormat) -> Table:
    """The table that :func:`read_table` reads, with errors in the name of ``op``."""
    place = as_path(op, path)
    asked = asked.checked(op)
    suffix = table_suffix(op, place)
    content = read_content(op, place, cost=_COST)
    if content.startswith(arrow.MAGICS) or suffix in arrow.SUFFIXES:
        return arrow.read_arrow(op, content, str(path))
    text = TextFile(op, place, asked.encoding, content)
    (table,) = TextTable(text, suffix, asked).chunks()
    return table


def read_chunks(path: str | Path, **options: Any) -> Table | TextTable:
    """The table that :func:`read_table` reads, in chunks of some megabytes of text.

    The file is read several times, since its format depends on all rows. Small files, Parquet and
    Arrow are one chunk.
    """
    place = as_path(OP, path)
    asked = TableFormat(**options).checked(OP)
    suffix = table_suffix(OP, place)
    with explain_unreadable(OP, place), open(place, "rb", opener=open_regular) as file:
        first, size = file.read(_MAGIC), os.fstat(file.fileno()).st_size
    is_small = size <= text_file.SIZE and place.suffix != ".gz"
    if is_small or suffix in arrow.SUFFIXES or first.startswith(arrow.MAGICS):
        return load_table(OP, place, asked)
    return TextTable(TextFile(OP, place, asked.encoding, None), suffix, asked)


def read_like(
    read: Callable[..., Readable],
    path: str | Path,
    options: Mapping[str, Any],
    earlier: Mapping[str, Any],
) -> Readable:
    """The table in a file that is written as an earlier one was, whose options are ``earlier``.

    A few rows may not show whether a comma begins fractions; the earlier file had more.
    """
    table = read(path, **options)
    is_alike = table.options.get("delimiter") == earlier.get("delimiter")
    if is_alike and table.options.get("decimal") != earlier.get("decimal"):
        return read(path, **{**options, "decimal": earlier["decimal"]})
    return table


def table_suffix(op: str, path: Path) -> str:
    """The ending of the name of a table, but for ``.gz``; an error for files of other kinds."""
    suffix = Path(path.stem if path.suffix == ".gz" else path.name).suffix.lower()
    if suffix in _REFUSED_FORMATS:
        requirement = f"file must be CSV, Parquet or Arrow ({_REFUSED_FORMATS[suffix]})"
        raise value_error(op, requirement, path=str(path))
    return suffix
