"""A column of a table: numbers, words or dates, and where each cell stood."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from extensor.data.table.cells import as_numbers, as_whole, brief, number_text
from extensor.data.table.dates import ORDERS, AmbiguousDatesError, find_order, is_date, parsed
from extensor.errors import value_error

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
    """What a column holds: cells as they are written, numbers or dates; one of them or two."""

    cells: Any = None  # strings, None where missing
    numbers: Any = None  # float64, NaN where missing
    dates: Any = None  # datetime64[s], NaT where missing
    is_whole: bool = False
    decimal: str = "."
    order: str | None = None  # of day, month and year

    def taken(self, indices: Any) -> Content:
        """Of the rows at ``indices``."""
        cells, numbers, dates = (None if x is None else x[indices] for x in self[:3])
        return self._replace(cells=cells, numbers=numbers, dates=dates)


class Column:
    """Cells of one kind under a name; what is missing has no value.

    ``kind`` is "number", "category" (a few words, such as True and False), "date" or "text" (words
    that mostly differ).

    >>> from extensor.data.table import as_table
    >>> column = as_table({"size": [1.5, None, 2.5]})["size"]
    >>> column.kind, column.missing.tolist(), column.numbers().tolist()
    ('number', [False, True, False], [1.5, nan, 2.5])
    """

    def __init__(
        self, name: str, kind: str, missing: Any, content: Content, origin: Origin
    ) -> None:
        self.name = name
        self.kind = kind
        self.missing = missing
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
        """The file it was read from, or what it was made of."""
        return self.origin.source

    @property
    def is_whole(self) -> bool:
        """Whether every number is a whole one, written without a point.

        Floats in memory are not, unless some are missing: whole numbers have become floats then.
        """
        return self._content.is_whole

    @property
    def order(self) -> str | None:
        """How its dates are written: "ymd", "dmy" or "mdy"; None if they are not."""
        return self._content.order

    @property
    def is_as_written(self) -> bool:
        """Whether :meth:`words` gives the cells themselves, not numbers or dates as words."""
        return self._content.cells is not None

    def taken(self, indices: Any) -> Column:
        """The rows at ``indices``, of the same kind."""
        content, origin = self._content.taken(indices), self.origin.taken(indices)
        return Column(self.name, self.kind, self.missing[indices], content, origin)

    def numbers(self, op: str = "table") -> Any:
        """The numbers in float64, NaN where missing; an error names the first cell that is none."""
        if self._content.numbers is not None:
            return self._content.numbers.copy()
        words = self.words()
        result = np.full(len(self), np.nan)
        present = words[~self.missing]
        if len(present):
            decimal = self._content.decimal
            values = as_numbers(present, decimal)
            if values is None:
                raise self._first_that_fails(
                    op, "numbers", lambda x: as_numbers(np.array([x], object), decimal) is not None
                )
            result[~self.missing] = values
        return result

    def words(self) -> Any:
        """The cells as strings, None where missing; numbers as short as can be."""
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

    def plain_words(self) -> Any:
        """The same, but numbers as short as can be also where they are written otherwise."""
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
        """The dates in datetime64[s], NaT where missing; an error names the first cell that is none.

        ``order`` says how they are written, "ymd", "dmy" or "mdy", where the column itself does not.
        """
        if self._content.dates is not None and (
            order is None or self.order in (None, "ymd", order)
        ):
            return self._content.dates.copy()
        present = self.words()[~self.missing].tolist()
        result = np.full(len(self), np.datetime64("NaT", "s"))
        if present:
            result[~self.missing] = self._parsed(op, present, order)
        return result

    def _parsed(self, op: str, cells: list[str], order: str | None) -> Any:
        found = order
        if order is None:
            try:
                found = find_order(cells)
            except AmbiguousDatesError:
                requirement = "some date must tell day and month apart (write them as 2024-01-31)"
                where = self.origin.place(int(np.flatnonzero(~self.missing)[0]))
                raise value_error(
                    op, requirement, **where, column=self.name, cell=cells[0]
                ) from None
        # A year in front leaves no doubt, whatever was usual.
        for each in dict.fromkeys(("ymd", found)) if found else ():
            values = parsed(cells, each)
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
        return value_error(
            op,
            f"cells must be {meant}",
            **self.origin.place(row),
            column=self.name,
            cell=brief(words[row]),
        )

    def distinct(self) -> list[Any]:
        """The values that occur, in order: numbers by value, dates by time, words by the alphabet."""
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
