"""Tables in files: found out how they are written, and said."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from extensor.data.content import read_content
from extensor.data.table import arrow
from extensor.data.table.cells import as_numbers, missing_among
from extensor.data.table.column import Column, Origin
from extensor.data.table.heading import has_names
from extensor.data.table.lexing import LongCellError, QuoteError, as_lines, checked_records
from extensor.data.table.names import index_column, named
from extensor.data.table.sniffing import (
    better_delimiter,
    find_decimal,
    find_delimiter,
    unused_delimiter,
)
from extensor.data.table.table import Table
from extensor.data.table.text import decoded
from extensor.data.table.understanding import column_of_cells
from extensor.errors import arguments, value_error
from extensor.io.paths import as_path

OP = "read_table"
USUAL = {".tsv": "\t", ".tab": "\t"}
# What others call tables, and what to do with it.
FOREIGN = {
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".ods"), "save the sheet as CSV"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "pandas.read_json, then as_table"),
    **dict.fromkeys((".pkl", ".pickle", ".joblib"), "nothing is unpickled here"),
    **dict.fromkeys((".npy", ".npz"), "read_arrays reads it"),
}
ENDINGS = (".csv", ".tsv", ".tab", ".csv.gz", ".tsv.gz", ".parquet", ".feather", ".arrow", ".ipc")
_LONGEST = 131_072  # characters of a cell that Python's csv reads
_COST = 8  # bytes of memory for a byte of text, most of them for cells as strings
EXCEL_SEPARATOR = re.compile(r"sep=(.)", re.IGNORECASE)


class Options(NamedTuple):
    """How a file is written; None is to be found out."""

    delimiter: str | None
    decimal: str | None
    encoding: str | None
    header: bool | None


class Rows(NamedTuple):
    """Cells, and the line in which each row begins."""

    cells: list[list[str]]
    lines: list[int]

    def below(self) -> Rows:
        """The rows without the first."""
        return Rows(self.cells[1:], self.lines[1:])


def read_table(
    path: str | Path,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> Table:
    """The table in a file: CSV and the like, also compressed by gzip, Parquet or Arrow.

    What is None is found out and said in ``said``: the delimiter (comma, semicolon, tab or bar), a
    decimal point or comma, the encoding, and whether the first line has names. What could be read in
    two ways is refused, and the argument that decides is named. Cells are missing where they are
    empty or NA, N/A, NaN, null, None, ? or -.

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
    place = as_path(OP, path)
    given = checked_options(Options(delimiter, decimal, encoding, header))
    suffix = table_suffix(place)
    content = read_content(OP, place, cost=_COST)
    if arrow.is_arrow(content) or suffix in arrow.SUFFIXES:
        return arrow.read_arrow(OP, content, str(path))
    return _from_text(content, str(path), suffix, given)


def table_suffix(path: Path) -> str:
    """What the name of a table ends with, but for ``.gz``; an error for files of other kinds."""
    suffix = Path(path.stem if path.suffix == ".gz" else path.name).suffix.lower()
    if suffix in FOREIGN:
        requirement = f"file must be CSV, Parquet or Arrow ({FOREIGN[suffix]})"
        raise value_error(OP, requirement, path=str(path))
    return suffix


def checked_options(options: Options) -> Options:
    """How somebody says that a file is written, checked."""
    delimiter, decimal, encoding, header = options
    if delimiter is not None:
        one = isinstance(delimiter, str) and len(delimiter) == 1
        if not one or delimiter in '"\r\n.' or delimiter.isalnum():
            given = arguments.briefly(delimiter)
            raise value_error(OP, "delimiter must be one sign, or None", delimiter=given)
    arguments.choice(OP, "decimal", decimal, (".", ",", None))
    if encoding is not None:
        arguments.text(OP, "encoding", encoding)
    if header is not None:
        header = arguments.flag(OP, "header", header)
    return options._replace(header=header)


def _from_text(content: bytes, source: str, suffix: str, given: Options) -> Table:
    text = decoded(OP, content, source, given.encoding, given.delimiter or "")
    lines = as_lines(text.text)
    delimiter = given.delimiter
    excel = EXCEL_SEPARATOR.fullmatch(lines[0].strip('" '))
    if excel:
        lines[0] = ""
        delimiter = delimiter or excel[1]
    if not any(map(str.strip, lines)):
        raise value_error(OP, "file must have at least one line", source=source)
    if delimiter is None:
        delimiter = find_delimiter(OP, lines, source, USUAL.get(suffix))
    is_split = delimiter is not None
    if delimiter is None:
        delimiter = unused_delimiter(text.text)
    rows = parse_rows(lines, delimiter, source)
    if is_split and all(len(row) == 1 for row in rows.cells):
        better = better_delimiter(lines, delimiter, given.decimal)
        if better is not None:
            requirement = f"delimiter must be that of the file ({better})"
            raise value_error(OP, requirement, source=source, delimiter=delimiter)
    said: list[str] = []
    rows = rectangular(rows, source, said)
    decimal = given.decimal or _decimal(rows, delimiter, is_split, given.header)
    header = given.header
    if header is None:
        header = first_line_is_names(rows, decimal, source)
    found = Options(delimiter, decimal, text.encoding, header)
    said.insert(
        0,
        said_of_options(
            text.said, delimiter if is_split else None, decimal, header, len(rows.cells[0])
        ),
    )
    return _table(rows, found, source, said)


def said_of_options(
    encoding: str, delimiter: str | None, decimal: str, header: bool, width: int
) -> str:
    """A sentence on how a table is written."""
    point = "comma" if decimal == "," else "point"
    split = "one column" if delimiter is None else f"delimiter {delimiter!r}"
    last = f" to 'column {width - 1}'" if width > 1 else ""
    names = "names in the first line" if header else f"no names, so they are 'column 0'{last}"
    return f"encoding {encoding}, {split}, decimal {point}, {names}"


def parse_rows(lines: Sequence[str], delimiter: str, source: str, first: int = 1) -> Rows:
    """The rows that are not empty; ``first`` is the number of the first line."""
    cells, places = [], []
    try:
        for record in checked_records(lines, delimiter):
            line = lines[record.first - 1]
            row = record.cells
            if record.last > record.first or not _is_tight(line):
                row = [cell.strip() for cell in row]
            if len(row) > 1 or row[0] or line.strip():
                cells.append(row)
                places.append(record.first + first - 1)
    except QuoteError as error:
        requirement = (
            "after a quoted cell a delimiter must come (a quote inside of one is written twice)"
            if error.is_closed
            else "a quoted cell must be closed"
        )
        raise value_error(OP, requirement, source=source, line=error.line + first - 1) from None
    except LongCellError as error:
        requirement = f"a cell must have at most {_LONGEST} characters"
        raise value_error(OP, requirement, source=source, line=error.first + first - 1) from None
    return Rows(cells, places)


def _is_tight(line: str) -> bool:
    """Whether a line has no spaces, of any kind, that cells could begin or end with."""
    return line.isascii() and line.isprintable() and " " not in line


def rectangular(rows: Rows, source: str, said: list[str]) -> Rows:
    """Rows of one width; delimiters at the end of lines, and lines of nothing else, are left out."""
    cells, lines = list(rows.cells), list(rows.lines)
    while len(cells) > 1 and len(cells[-1]) > 1 and not any(cells[-1]):
        cells.pop()
        lines.pop()
    if len(cells) < len(rows.cells):
        said.append(f"lines from {rows.lines[len(cells)]} on have no cells and are left out")
    widest = max(map(len, cells))
    cells = _without_ends(cells)
    empty = widest - max(map(len, cells))
    if empty == 1:
        said.append("the last column has neither a name nor cells and is left out")
    elif empty:
        said.append(f"the last {empty} columns have neither names nor cells and are left out")
    for row, line in zip(cells, lines, strict=True):
        if len(row) != len(cells[0]):
            requirement = f"a line must have as many cells as the first, {len(cells[0])}"
            raise value_error(OP, requirement, source=source, line=line, cells=len(row))
    return Rows(cells, lines)


def _without_ends(cells: list[list[str]]) -> list[list[str]]:
    """Rows without the last columns that are empty in all of them.

    The first line may have one delimiter more or less at its end than all others, which then agree.
    """
    first, below = len(cells[0]), {len(row) for row in cells[1:]}
    if len(below) > 1:
        return cells
    width = min(first, *below) if below else first
    longer = [row for row in cells if len(row) > width]
    if any(row[-1] or len(row) > width + 1 for row in longer):
        return cells
    # A single pass over the empty ends: one column at a time would be quadratic in the width.
    used = max(_used_width(row, width) for row in cells)
    return [row[:used] for row in cells]


def _used_width(row: list[str], width: int) -> int:
    """How many of the first ``width`` cells there are up to the last that is not empty; 1 at least."""
    while width > 1 and not row[width - 1]:
        width -= 1
    return width


def _decimal(rows: Rows, delimiter: str, is_split: bool, header: bool | None) -> str:
    """What begins a fraction; beside commas as delimiters, always a point."""
    if is_split and delimiter == ",":
        return "."
    return find_decimal(cells_below_names(rows, header))


def cells_below_names(rows: Rows, header: bool | None) -> list[Any]:
    """The cells of each column that are not missing, without those in the first line that are names."""
    columns = list(zip(*rows.cells, strict=True))
    if header is not False:
        # Names are no numbers, and would hide that those below them are.
        columns = [x if header is None and _is_number(x[0]) else x[1:] for x in columns]
    return [present_cells(cells) for cells in columns]


def _is_number(cell: str) -> bool:
    return any(as_numbers(np.array([cell], object), decimal) is not None for decimal in ".,")


def present_cells(cells: Sequence[str]) -> Any:
    """The cells that are not missing."""
    gone = missing_among(cells)
    return np.array([x for x in cells if x not in gone], object)


def first_line_is_names(rows: Rows, decimal: str, source: str) -> bool:
    """Whether the first line has names; an error if that is not clear."""
    found = has_names(rows.cells[0], rows.cells[1:], decimal)
    if found is None:
        raise value_error(
            OP,
            "whether the first line is names or data must be clear (header=True or False says it)",
            source=source,
            line=rows.lines[0],
            cells=json.dumps(rows.cells[0], ensure_ascii=False)[:80],
        )
    return found


def _table(rows: Rows, found: Options, source: str, said: list[str]) -> Table:
    first, line = rows.cells[0], rows.lines[0]
    below = rows.below() if found.header else rows
    if not below.cells:
        requirement = "file must have a line of cells below its names (header=False if it has none)"
        raise value_error(OP, requirement, source=source, line=line)
    columns = list(zip(*below.cells, strict=True))
    left_out = index_column(first, columns) if found.header else None
    if left_out is not None:
        said.append("the first column has no name and numbers the rows: it is left out")
    names = named(OP, first if found.header else None, len(first), source, line, left_out, said)
    origin = Origin(source, "line", np.array(below.lines))
    gone: set[str] = set()
    understood: list[Column] = [
        column_of_cells(name, cells, origin, found.decimal or ".", said=said, gone=gone)
        for place, (name, cells) in enumerate(zip(names, columns, strict=True))
        if place != left_out
    ]
    words = ", ".join(map(repr, sorted(gone - {""})))
    if words:
        said.append(f"cells that are {words} are missing")
    return Table(understood, source, said, found._asdict())
