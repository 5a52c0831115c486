"""Tables in CSV files: numbers to learn from, and a column of what is to be learned."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from extensor.arrays.dtypes import get_default_dtype
from extensor.core.entries import is_integer
from extensor.data.table.cells import as_number, as_numbers, as_whole, counts, is_missing
from extensor.data.table.lexing import DELIMITERS, LongCellError, as_lines, records
from extensor.data.table.reading import USUAL
from extensor.data.table.sniffing import find_delimiter
from extensor.errors import type_error, value_error
from extensor.errors.arguments import briefly
from extensor.io.paths import as_path, unreadable
from extensor.io.regular_files import file_text

_OP = "read_csv"
_HOW = "header=True or False says which"


class _Table(NamedTuple):
    """The cells of a file, the names of its columns if it has any, and the column of targets."""

    rows: list[list[str]]
    names: list[str] | None
    target: int | None

    def line(self, row: int) -> int:
        """The line of a row, counted from 1 over those that are not empty."""
        return row + 1 + (self.names is not None)

    def name(self, column: int) -> Any:
        return column if self.names is None else self.names[column]


def read_csv(
    path: str | Path,
    target: str | int | None = -1,
    delimiter: str | None = None,
    header: bool | str = "auto",
) -> tuple[Any, Any] | Any:
    """The columns of a CSV file as a matrix, and apart from it the column ``target``.

    ``target`` is a name from the first line, or a number; None leaves all columns together.
    ``delimiter`` is found as :func:`read_table` does, unless it is given; numbers have a decimal point.
    ``header`` says whether the first line has names; "auto" looks at it, and refuses what could be
    both. A target of whole numbers becomes integers, other numbers floats; one of words becomes the
    numbers of the words in alphabetical order.
    """
    table = _table(path, target, delimiter, header)
    width = len(table.rows[0]) if table.rows else len(table.names or ())
    others = [i for i in range(width) if i != table.target]
    matrix = _matrix(table, others)
    return matrix if table.target is None else (matrix, _targets(table))


def csv_classes(
    path: str | Path,
    target: str | int = -1,
    delimiter: str | None = None,
    header: bool | str = "auto",
) -> list[str] | None:
    """The words that :func:`read_csv` numbers, in their order; None if the targets are numbers."""
    table = _table(path, target, delimiter, header)
    if table.target is None:
        raise type_error(_OP, "target must be the name or number of a column", target=None)
    words = sorted({row[table.target] for row in table.rows})
    return None if all(as_number(word) is not None for word in words) else words


def _table(
    path: str | Path, target: str | int | None, delimiter: str | None, header: bool | str
) -> _Table:
    if not (isinstance(header, bool) or (isinstance(header, str) and header == "auto")):
        raise value_error(_OP, "header must be True, False or 'auto'", header=briefly(header))
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
        requirement = "delimiter must be one character, or None"
        raise value_error(_OP, requirement, delimiter=briefly(delimiter))
    lines = _lines(path, delimiter)
    first = lines[0]
    column = _column(first, target, header)
    if header == "auto":
        header = isinstance(target, str) or _has_names(lines, column)
    names = first if header else None
    rows = lines[1:] if header else lines
    for number, row in enumerate(rows, 2 if header else 1):
        if len(row) != len(first):
            requirement = f"a line must have {len(first)} columns"
            raise value_error(_OP, requirement, line=number, columns=len(row))
    for number, name in enumerate(first if header else ()):
        # pandas reads no name as "Unnamed: 0", and writes it.
        unnamed = not name or name.startswith("Unnamed:")
        if unnamed and number != column and counts([row[number] for row in rows]):
            raise value_error(
                _OP,
                "the column without a name must not be the number of the row, which tells nothing "
                "(pandas: to_csv(path, index=False))",
                column=number,
            )
    return _Table(rows, names, column)


def _lines(path: str | Path, delimiter: str | None) -> list[list[str]]:
    place = as_path(_OP, path)
    try:
        # As Excel writes it: a mark at the beginning would make a word of the first number.
        text = file_text(place, "utf-8-sig")
        if delimiter is None:
            usual = USUAL.get(place.suffix.lower())
            delimiter = find_delimiter(_OP, as_lines(text), str(path), usual) or ","
        lines = [[x.strip() for x in row] for row in _rows(as_lines(text), delimiter)]
    except OSError as error:
        raise unreadable(_OP, path, error) from error
    except UnicodeDecodeError as error:
        requirement = "file must be a table in UTF-8 (read_table finds others)"
        raise value_error(_OP, requirement, path=str(path), byte=error.start) from None
    except LongCellError as error:
        raise value_error(_OP, f"file must be a table ({error})", path=str(path)) from None
    if not lines:
        raise value_error(_OP, "file must have at least one line", path=str(path))
    _check_delimiter(lines, delimiter)
    return lines


def _rows(lines: Sequence[str], delimiter: str) -> Iterator[list[str]]:
    """The cells line by line; a quote that is not closed would make one cell of all that follows."""
    requirement = "a quoted cell must end in the line where it begins"
    try:
        for first, last, cells in records(lines, delimiter):
            if last > first or "\n" in "".join(cells):
                raise value_error(_OP, requirement, line=first)
            yield cells
    except LongCellError as error:
        if error.last <= error.first:
            raise
        raise value_error(_OP, requirement, line=error.first) from None


def _check_delimiter(lines: list[list[str]], delimiter: str) -> None:
    """Refuse a table of one column that another delimiter makes a table of several."""
    if any(len(row) > 1 for row in lines):
        return
    for other in DELIMITERS:
        widths = {len(next(csv.reader(row, delimiter=other), ())) for row in lines}
        if len(widths) == 1 and max(widths) > 1:
            said = f"{json.dumps(other)} splits every line into {max(widths)}"
            requirement = f"delimiter must be that of the file ({said})"
            raise value_error(_OP, requirement, delimiter=delimiter)


def _column(first: list[str], target: Any, header: bool | str) -> int | None:
    """The number of the column of targets."""
    if target is None:
        return None
    if isinstance(target, str):
        if header is False:
            requirement = "target must be the number of a column where there are no names"
            raise value_error(_OP, requirement, target=target)
        if target not in first:
            raise value_error(_OP, f"target must be one of {first}", target=target)
        if first.count(target) > 1:
            columns = [number for number, name in enumerate(first) if name == target]
            requirement = "target must be the name of one column, or its number"
            raise value_error(_OP, requirement, target=target, columns=columns)
        return first.index(target)
    if not is_integer(target):
        requirement = "target must be the name or number of a column"
        raise type_error(_OP, requirement, target=briefly(target))
    if not -len(first) <= target < len(first):
        raise value_error(_OP, f"target must be one of {len(first)} columns", target=target)
    return int(target) % len(first)


def _has_names(lines: list[list[str]], target: int | None) -> bool:
    """Whether the first line is names: by what it is beside the others, which must be numbers."""
    first = lines[0]
    others = [cell for i, cell in enumerate(first) if i != target]
    words = [cell for cell in others if as_number(cell) is None]
    if words:
        if len(words) < len(others) and all(map(is_missing, words)):
            requirement = f"the first line must be names or numbers, not some of both ({_HOW})"
            raise value_error(_OP, requirement, line=first)
        return True
    if target is not None and as_number(first[target]) is None:
        return _names_the_target([row[target] for row in lines if target < len(row)], others)
    if counts(first) and len(lines) > 1 and (len(first) > 2 or not _all_whole(lines[1:])):
        requirement = f"the first line must not count the columns, as names or data ({_HOW})"
        raise value_error(_OP, requirement, line=first)
    return False


def _names_the_target(cells: list[str], others: list[str]) -> bool:
    """Whether the word over the targets is their name, where all beside it are numbers."""
    name, *below = cells
    if not below or name in below:
        return False
    counted = len(others) > 2 and counts(others)
    if counted or all(as_number(cell) is not None for cell in below):
        return True
    requirement = "the first line must be names, or have a target that occurs again"
    raise value_error(_OP, f"{requirement} ({_HOW})", target=name)


def _all_whole(lines: list[list[str]]) -> bool:
    return all(as_whole(cell) is not None for line in lines for cell in line)


def _matrix(table: _Table, columns: Sequence[int]) -> Any:
    result = np.empty((len(table.rows), len(columns)), get_default_dtype())
    for line, row in enumerate(table.rows):
        for place, column in enumerate(columns):
            number = as_number(row[column])
            if number is None:
                is_fraction = as_numbers(np.array([row[column]], object), ",") is not None
                hint = " with a decimal point (read_table reads commas)" if is_fraction else ""
                raise value_error(
                    _OP,
                    f"cells must be numbers{hint}",
                    line=table.line(line),
                    column=table.name(column),
                    cell=row[column],
                )
            result[line, place] = number
    return result


def _targets(table: _Table) -> Any:
    assert table.target is not None
    cells = [row[table.target] for row in table.rows]
    numbers = [as_number(cell) for cell in cells]
    is_number = [number is not None for number in numbers]
    if not all(is_number):
        # A single cell that is missing must not make classes of numbers.
        mixed = any(is_number)
        odd = [not cell or (mixed and as_number(cell) is None) for cell in cells]
        if any(odd):
            row = odd.index(True)
            raise value_error(
                _OP,
                "targets must all be numbers, or all be words",
                line=table.line(row),
                column=table.name(table.target),
                cell=cells[row],
            )
        return np.unique(np.array(cells), return_inverse=True)[1]
    whole = [as_whole(cell) for cell in cells]
    if None not in whole:
        return np.array(whole, np.int64)
    return np.array(numbers, get_default_dtype())
