"""A table: columns of numbers, words or dates under names that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from extensor.core import entries
from extensor.data.table.cells import (
    ORDERS,
    AmbiguousDatesError,
    as_numbers,
    as_whole,
    brief,
    find_order,
    is_date,
    is_number,
    number_text,
    parse_dates,
)
from extensor.errors import arguments, type_error, value_error
from extensor.errors.messages import COLUMN_NOT_FOUND, suggestion

KINDS = ("number", "category", "date", "text")


class Origin(NamedTuple):
    """Where rows come from: a file and its lines, or something in memory and its rows."""

    source: str
    unit: str  # "line" or "row"
    numbers: Any

    def taken(self, indices: Any) -> Origin:
        """Of the rows at ``indices``."""
        return self._replace(numbers=self.numbers[indices])

    def place(self, row: int) -> dict[str, Any]:
        """For a message: ``source='a.csv', line=7``."""
        return {"source": self.source, self.unit: int(self.numbers[row])}


class Content(NamedTuple):
    """The content of a column: cells as they are written, numbers or dates; one of them or two."""

    missing: Any  # whether each cell is
    cells: Any = None  # strings, None where missing
    numbers: Any = None  # float64, NaN where missing
    dates: Any = None  # datetime64[s], NaT where missing
    is_whole: bool = False
    decimal: str = "."
    order: str | None = None  # of day, month and year

    @property
    def kind(self) -> str:
        """The kind of a column of it; words are those of a category."""
        if self.numbers is not None:
            return "number"
        return "category" if self.dates is None else "date"

    def taken(self, indices: Any) -> Content:
        """Of the rows at ``indices``."""
        missing, cells, numbers, dates = (None if x is None else x[indices] for x in self[:4])
        return self._replace(missing=missing, cells=cells, numbers=numbers, dates=dates)


class Column:
    """Cells of one kind under a name; missing cells have no value.

    Attributes
    ----------
    name : str
        The name.
    kind : {"number", "category", "date", "text"}
        The kind of the cells. A category has few distinct words, such as True and False; the words of a
        text mostly differ.
    missing : array of bool of shape (rows,)
        Whether each cell is missing.

    Examples
    --------
    >>> from extensor.data.table import as_table
    >>> column = as_table({"size": [1.5, None, 2.5]})["size"]
    >>> column.kind, column.missing.tolist(), column.numbers().tolist()
    ('number', [False, True, False], [1.5, nan, 2.5])
    """

    def __init__(self, name: str, kind: str, content: Content, origin: Origin) -> None:
        self.name = name
        self.kind = kind
        self.missing = content.missing
        self.missing.setflags(write=False)
        self.origin = origin
        self._content = content

    def __len__(self) -> int:
        return len(self.missing)

    def __repr__(self) -> str:
        gone = int(self.missing.sum())
        said = f", {gone} missing" if gone else ""
        return f"Column({self.name!r}, {self.kind}, {len(self)} rows{said})"

    @property
    def source(self) -> str:
        """File or object from which the column was read."""
        return self.origin.source

    @property
    def is_whole(self) -> bool:
        """Whether every number is a whole one, written without a point.

        Floats in memory are not, unless some are missing: whole numbers have become floats then.
        """
        return self._content.is_whole

    @property
    def order(self) -> str | None:
        """Order of the parts of its dates: "ymd", "dmy" or "mdy"; None for other kinds."""
        return self._content.order

    @property
    def is_as_written(self) -> bool:
        """Whether :meth:`words` returns the cells themselves, not numbers or dates as words."""
        return self._content.cells is not None

    def taken(self, indices: Any) -> Column:
        """Return the rows at ``indices``, as a column of the same kind.

        Parameters
        ----------
        indices : array of int
            Row numbers.

        Returns
        -------
        Column
        """
        content, origin = self._content.taken(indices), self.origin.taken(indices)
        return Column(self.name, self.kind, content, origin)

    def numbers(self, op: str = "table") -> Any:
        """Return the cells as numbers.

        Parameters
        ----------
        op : str, default "table"
            The operation that error messages name.

        Returns
        -------
        array of float64 of shape (rows,)
            NaN where a cell is missing.

        Raises
        ------
        ValueError
            If a cell is not a number; the message names the first.
        """
        if self._content.numbers is not None:
            return self._content.numbers.copy()
        decimal = self._content.decimal
        values = as_numbers(self.words()[~self.missing], decimal)
        if values is None:
            raise self._first_that_fails(op, "numbers", lambda cell: is_number(cell, decimal))
        result = np.full(len(self), np.nan)
        result[~self.missing] = values
        return result

    def words(self) -> Any:
        """Return the cells as strings.

        Returns
        -------
        array of object of shape (rows,)
            None where a cell is missing. Numbers are written as briefly as possible.
        """
        if self._content.cells is not None:
            return self._content.cells.copy()
        result = np.full(len(self), None, dtype=object)
        present = ~self.missing
        if self._content.numbers is not None:
            result[present] = [number_text(x) for x in self._content.numbers[present].tolist()]
        else:
            result[present] = [
                str(x).replace("T00:00:00", "") for x in self._content.dates[present]
            ]
        return result

    def integers(self) -> Any:
        """Return the cells as integers, exact to the last digit.

        Returns
        -------
        array of int64 of shape (rows,), or None
            None if a cell is missing or does not fit int64.
        """
        if not self.is_whole or self.missing.any():
            return None
        if not self.is_as_written:
            return self._content.numbers.astype(np.int64)
        digits = [as_whole(cell) for cell in self._content.cells]
        return None if None in digits else np.array(digits, np.int64)

    def plain_words(self) -> Any:
        """Return the cells as strings, with numbers written as briefly as possible in any column.

        Returns
        -------
        array of object of shape (rows,)
            None where a cell is missing.
        """
        words = self.words()
        if self._content.cells is not None:
            decimal = self._content.decimal
            plain: dict[Any, Any] = {None: None}
            for word in set(words[~self.missing]):
                value = as_numbers(np.array([word], object), decimal)
                plain[word] = word if value is None else number_text(float(value[0]))
            words[:] = [plain[word] for word in words]
        return words

    def dates(self, order: str | None = None, op: str = "table") -> Any:
        """Return the cells as dates.

        Parameters
        ----------
        order : {"ymd", "dmy", "mdy"}, optional
            The order of day, month and year, unless the column has one.
        op : str, default "table"
            The operation that error messages name.

        Returns
        -------
        array of datetime64[s] of shape (rows,)
            NaT where a cell is missing.

        Raises
        ------
        ValueError
            If a cell is not a date, or if day and month cannot be told apart.
        """
        known = self._content.dates
        if known is not None and (order is None or self.order in (None, "ymd", order)):
            return known.copy()
        present = self.words()[~self.missing].tolist()
        result = np.full(len(self), np.datetime64("NaT", "s"))
        if present:
            result[~self.missing] = self._parse_dates(op, present, order)
        return result

    def _parse_dates(self, op: str, cells: list[str], order: str | None) -> Any:
        found = order
        if order is None:
            try:
                found = find_order(cells)
            except AmbiguousDatesError:
                requirement = (
                    "at least one date must show whether day or month comes first (write them as "
                    "2024-01-31)"
                )
                raise self.cell_error(op, requirement, int((~self.missing).argmax())) from None
        # A year in front leaves no doubt, whatever was usual.
        for each in dict.fromkeys(("ymd", found)) if found else ():
            values = parse_dates(cells, each)
            if values is not None:
                return values
        orders = ORDERS if order is None else tuple({"ymd", order})
        meant = f"dates, {_ORDER_WORDS[order]}" if order else "dates, all written in one way"
        raise self._first_that_fails(
            op, meant, lambda cell: any(is_date(cell, each) for each in orders)
        )

    def _first_that_fails(self, op: str, meant: str, holds: Any) -> ValueError:
        words = self.words()
        present = np.flatnonzero(~self.missing)
        row = int(next((i for i in present if not holds(words[i])), present[0]))
        return self.cell_error(op, f"cells must be {meant}", row)

    def cell_error(self, op: str, requirement: str, row: int, key: str = "column") -> ValueError:
        """Return the error for a cell, with its place and, unless it is missing, what it says.

        Parameters
        ----------
        op : str
            The operation that the message names.
        requirement : str
            What the cell must be.
        row : int
            The row number.
        key : str, default "column"
            The word before the name of the column.

        Returns
        -------
        ValueError
        """
        given = {**self.origin.place(row), key: self.name}
        if not self.missing[row]:
            given["cell"] = brief(self.words()[row])
        return value_error(op, requirement, **given)

    def distinct(self) -> list[Any]:
        """Return the distinct values in order.

        Returns
        -------
        list
            Numbers by value, dates by time, words alphabetically.
        """
        if self.kind == "number":
            if self.is_whole and self.is_as_written:
                written = [as_whole(x) for x in self._content.cells[~self.missing]]
                if None not in written:
                    return sorted({x for x in written if x is not None})
            values = np.unique(self.numbers()[~self.missing]).tolist()
            are_whole = self.is_whole and all(map(isfinite, values))
            return [int(x) for x in values] if are_whole else values
        if self.kind == "date":
            return list(np.unique(self.dates()[~self.missing]))
        return sorted(set(self.words()[~self.missing]))


_ORDER_WORDS = {"ymd": "year-month-day", "dmy": "day/month/year", "mdy": "month/day/year"}


class Table:
    """Columns by their names. `read_table` and `extensor.data.table.as_table` create tables.

    Parameters
    ----------
    columns : list of Column
        Columns of the same length, with different names.
    source : str, default "columns"
        The file or object from which the table was read.
    said : list of str, optional
        Sentences on how it was read.
    options : dict, optional
        The options with which `read_table` reads the same table again.

    Examples
    --------
    >>> from extensor.data.table import as_table
    >>> table = as_table({"size": [1.5, 2.5], "name": ["ant", "bee"]})
    >>> table.names, len(table), table["name"].words().tolist()
    (['size', 'name'], 2, ['ant', 'bee'])
    """

    is_chunked = False

    def __init__(
        self,
        columns: Sequence[Column],
        source: str = "columns",
        said: Sequence[str] = (),
        options: dict[str, Any] | None = None,
    ) -> None:
        if not isinstance(columns, list | tuple) or not columns:
            given = arguments.briefly(columns)
            raise type_error("Table", "columns must be a list of columns", columns=given)
        for column in columns:
            arguments.instance("Table", "columns", column, Column, "a list of Column")
        lengths = sorted({len(column) for column in columns})
        if len(lengths) > 1:
            raise value_error("Table", "columns must have the same length", lengths=lengths)
        self._columns = {column.name: column for column in columns}
        if len(self._columns) < len(columns):
            names = [column.name for column in columns]
            raise value_error("Table", "names of columns must differ", names=names)
        self.source = arguments.text("Table", "source", source)
        if not isinstance(said, list | tuple) or not all(isinstance(x, str) for x in said):
            given = arguments.briefly(said)
            raise type_error("Table", "said must be a list of sentences", said=given)
        self.said = list(said)
        self.options = dict(entries.mapping("Table", {} if options is None else options, "options"))

    @property
    def names(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, name: str) -> Column:
        return self._column("table", name)

    def __repr__(self) -> str:
        return f"Table({self.source!r}, {len(self)} rows, columns {self.names})"

    def chunks(self) -> Iterator[Table]:
        """Yield the table itself, as tables that are read in chunks yield their parts.

        Yields
        ------
        Table
            This table, once.
        """
        yield self

    def rows(self, indices: Any) -> Table:
        """Return a table of some of the rows; columns keep their kinds.

        Parameters
        ----------
        indices : array_like of int of shape (n,)
            Row numbers from 0.

        Returns
        -------
        Table
            The rows, in the order of the numbers.

        Raises
        ------
        ValueError
            If a number is not that of a row.
        """
        places = _places(indices, len(self))
        return self._with([column.taken(places) for column in self._columns.values()])

    def select(self, names: Sequence[str]) -> Table:
        """Return a table of some of the columns.

        Parameters
        ----------
        names : list of str
            The columns, in the new order.

        Returns
        -------
        Table
            The columns.
        """
        if not isinstance(names, list | tuple) or not names:
            given = arguments.briefly(names)
            raise type_error("select", "names must be a list of names of columns", names=given)
        return self._with([self._column("select", name) for name in names])

    def without(self, *names: str) -> Table:
        """Return a table without some of the columns.

        Parameters
        ----------
        *names : str
            The columns to leave out.

        Returns
        -------
        Table
            The other columns.

        Raises
        ------
        ValueError
            If no column remains, or if there is no column of that name.
        """
        left_out = {self._column("without", name).name for name in names}
        if len(left_out) == len(self._columns):
            raise value_error("without", "a column must be left", names=list(names))
        return self._with([x for name, x in self._columns.items() if name not in left_out])

    def _column(self, op: str, name: Any) -> Column:
        if not isinstance(name, str):
            given = arguments.briefly(name)
            raise type_error(op, "the name of a column must be a string", name=given)
        if name not in self._columns:
            raise COLUMN_NOT_FOUND.error(
                suggestion(name, self._columns), column=name, source=self.source
            )
        found: Column = self._columns[name]
        return found

    def _with(self, columns: Sequence[Column]) -> Table:
        return Table(columns, self.source, self.said, self.options)


def _places(indices: Any, rows: int) -> Any:
    try:
        places = np.asarray(getattr(indices, "_array", indices))
    except (TypeError, ValueError):
        places = np.empty(0, object)
    if places.ndim == 1 and len(places) == 0:
        places = places.astype(np.int64) if places.dtype.kind in "iuf" else places
    if places.ndim != 1 or places.dtype.kind not in "iu":
        given = arguments.briefly(indices)
        raise type_error("rows", "rows must be chosen by a row of integers", indices=given)
    if len(places) and not (places.min() >= 0 and places.max() < rows):
        given = {"lowest": int(places.min()), "highest": int(places.max())}
        raise value_error("rows", f"rows must be chosen from 0 to {rows - 1}", **given)
    return places.astype(np.int64)
