"""Tables of numbers as a matrix, and a column of targets beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from extensor.arrays.dtypes import get_default_dtype
from extensor.core.entries import is_integer
from extensor.data.table.cells import is_number
from extensor.data.table.columnar import Column, Table
from extensor.data.table.reading import load_table
from extensor.data.table.sniffing import TableFormat
from extensor.errors import type_error, value_error
from extensor.errors.arguments import briefly

_OP = "read_csv"


def read_csv(
    path: str | Path,
    target: str | int | None = -1,
    delimiter: str | None = None,
    header: bool | str = "auto",
) -> tuple[Any, Any] | Any:
    """Read the columns of a CSV file as a matrix, and one of them as targets.

    The file is read as by `read_table`, which infers the encoding and the decimal sign and leaves
    out a column of row numbers. Missing cells are NaN.

    Parameters
    ----------
    path : str or Path
        The file.
    target : str or int or None, default -1
        Name or number of the column of targets, -1 for the last one. None returns all columns as one
        matrix.
    delimiter : str, optional
        Character between cells. Default: it is inferred.
    header : bool or {"auto"}, default "auto"
        Whether the first line has the names of the columns. "auto" infers it, and raises an error if
        that is not clear.

    Returns
    -------
    matrix : numpy.ndarray, (rows, columns)
        The other columns, as floats of the default dtype.
    targets : numpy.ndarray, (rows,)
        Integers if all targets are whole numbers, otherwise floats. Words become their numbers in
        alphabetical order. Not returned if ``target`` is None.

    Raises
    ------
    ValueError
        If a cell outside of ``target`` is not a number, if targets are missing or mixed, or if there is
        no such column.
    OSError
        If the file cannot be read.

    See Also
    --------
    csv_classes : The words of the targets.
    read_table : A table of columns of any kind.
    TableEncoder : Numbers for words, dates and missing cells.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from extensor.data import csv_classes, read_csv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "insects.csv")
    ...     _ = path.write_text("size,legs,name\\n0.5,6,bee\\n0.25,6,ant\\n")
    ...     x, y = read_csv(path, target="name")
    ...     classes = csv_classes(path, target="name")
    >>> x.tolist(), y.tolist(), classes
    ([[0.5, 6.0], [0.25, 6.0]], [1, 0], ['ant', 'bee'])
    """
    table, name = _read(path, target, delimiter, header)
    others = [table[x] for x in table.names if x != name]
    matrix = np.empty((len(table), len(others)), get_default_dtype())
    for place, column in enumerate(others):
        matrix[:, place] = column.numbers(_OP)
    return matrix if name is None else (matrix, _targets(table[name]))


def csv_classes(
    path: str | Path,
    target: str | int = -1,
    delimiter: str | None = None,
    header: bool | str = "auto",
) -> list[str] | None:
    """Return the words that `read_csv` replaces with numbers.

    Parameters
    ----------
    path : str or Path
        The file.
    target : str or int, default -1
        Name or number of the column of targets, -1 for the last one.
    delimiter : str, optional
        Character between cells. Default: it is inferred.
    header : bool or {"auto"}, default "auto"
        Whether the first line has the names of the columns. "auto" infers it, and raises an error if
        that is not clear.

    Returns
    -------
    list of str or None
        The words in the order of their numbers; None if the targets are numbers.

    Raises
    ------
    ValueError
        If targets are missing or mixed, or there is no such column.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from extensor.data import csv_classes
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "insects.csv")
    ...     _ = path.write_text("size,name\\n0.5,bee\\n0.25,ant\\n")
    ...     csv_classes(path)
    ['ant', 'bee']
    """
    table, name = _read(path, target, delimiter, header)
    if name is None:
        raise type_error(_OP, "target must be the name or number of a column", target=None)
    return _classes(table[name])


def _read(
    path: str | Path, target: Any, delimiter: str | None, header: bool | str
) -> tuple[Table, str | None]:
    """The table, and the name of the column of targets."""
    if not (isinstance(header, bool) or (isinstance(header, str) and header == "auto")):
        raise value_error(_OP, "header must be True, False or 'auto'", header=briefly(header))
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1):
        requirement = "delimiter must be one character, or None"
        raise value_error(_OP, requirement, delimiter=briefly(delimiter))
    if not (target is None or isinstance(target, str) or is_integer(target)):
        requirement = "target must be the name or number of a column"
        raise type_error(_OP, requirement, target=briefly(target))
    if isinstance(target, str) and header is False:
        requirement = "target must be the number of a column where there are no names"
        raise value_error(_OP, requirement, target=target)
    is_open = header == "auto" and not isinstance(target, str)  # a name stands in the first line
    table = load_table(_OP, path, TableFormat(delimiter, header=None if is_open else bool(header)))
    names = table.names
    if isinstance(target, str) and target not in names:
        raise value_error(_OP, f"target must be one of {names}", target=target)
    if target is None or isinstance(target, str):
        return table, target
    if not -len(names) <= target < len(names):
        raise value_error(_OP, f"target must be one of {len(names)} columns", target=target)
    return table, names[int(target)]


def _classes(column: Column) -> list[str] | None:
    """The words of targets in their order, None if they are numbers; they may not be mixed."""
    words = column.words()
    is_word = np.zeros(len(column), bool)
    if column.kind != "number":
        is_word = np.array([x is not None and not is_number(x, ".") for x in words], bool)
    if column.missing.any() or (is_word.any() and not is_word.all()):
        row = int(np.argmax(column.missing if column.missing.any() else is_word))
        requirement = "targets must all be numbers, or all be words, none missing"
        raise column.cell_error(_OP, requirement, row)
    return sorted(set(words)) if is_word.any() else None


def _targets(column: Column) -> Any:
    classes = _classes(column)
    if classes is not None:
        return np.searchsorted(np.array(classes), column.words().astype(str))
    integers = column.integers()
    return column.numbers(_OP).astype(get_default_dtype()) if integers is None else integers
