"""What rows say of a column, added up: all that an encoder is fitted to."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from extensor.data.table.cell_facts import kind_of_words
from extensor.data.table.cells import brief
from extensor.data.table.column import Column
from extensor.data.table.distinct_numbers import MOST as MOST_NUMBERS
from extensor.data.table.distinct_numbers import DistinctNumbers
from extensor.data.table.scale import Moments
from extensor.errors import value_error

MOST_WORDS = 1 << 20  # different words of a column that are counted
CYCLES = ("year", "week", "day")


class ColumnSummary:
    """Counts, sums and ranges of the cells of a column.

    ``chosen`` is the kind that somebody has given the column. The rows may come in chunks if
    ``is_chunked``: numbers, dates and words as they are understood in the whole table.
    """

    def __init__(self, name: str, chosen: str | None = None, is_chunked: bool = False) -> None:
        self.name = name
        self.chosen = chosen
        self.rows = self.missing = 0
        self.is_whole = True
        self.is_as_written = False
        self.order: str | None = None
        self.first: str | None = None  # the first word
        self.words_differ = False
        self.moments = Moments()  # of numbers, or of dates in seconds from 1970
        self.words: Counter[str] = Counter()
        self.cycles: dict[str, tuple[int, int]] = {}  # the range of the places in each
        self._is_chunked = is_chunked
        self._own_kind = ""
        self._has_more_words = False
        self._distinct = DistinctNumbers()

    @property
    def kind(self) -> str:
        """What the column is encoded as."""
        if self.chosen is not None or not self._is_chunked or self._own_kind in ("number", "date"):
            return self.chosen or self._own_kind
        present = self.rows - self.missing
        kind = kind_of_words(present, len(self.words))
        if self._has_more_words and kind == "category":
            raise self._too_many("words", MOST_WORDS)
        return kind

    @property
    def is_plain(self) -> bool:
        """Whether its words are numbers as short as can be, which may be written in other ways."""
        return not self.is_as_written and self._own_kind != "date"

    @property
    def counted_words(self) -> Counter[str]:
        """How often each word occurs."""
        if self._has_more_words:
            raise self._too_many("words", MOST_WORDS)
        return self.words

    @property
    def are_distinct(self) -> bool:
        """Whether the numbers differ in every row."""
        if self._distinct.is_unknown:
            raise self._too_many("numbers", MOST_NUMBERS)
        return self._distinct.are_distinct

    def add(self, column: Column, op: str) -> None:
        """Look at some more rows."""
        present = ~column.missing
        if self.rows == 0 and len(column):
            self.first = column.taken(np.array([0])).words()[0]
        self.rows += len(column)
        self.missing += int(column.missing.sum())
        self._own_kind = column.kind
        self.is_as_written = column.is_as_written
        self.order = column.order
        kind = self.chosen or column.kind
        if kind == "drop" or not present.any():
            return
        self.is_whole = self.is_whole and column.is_whole
        if column.is_as_written and kind == "number":
            self.words_differ |= any(word != self.first for word in column.words())
        if kind == "number":
            values = finite_numbers(column, op)[present]
            self.moments.add(values)
            if self.chosen is None and self.is_whole:
                self._distinct.add(values)
        elif kind == "date":
            self._add_dates(column.dates(op=op)[present])
        elif kind == "category" or (self._is_chunked and self.chosen is None):
            self._add_words(column.words()[present].tolist())

    def _add_dates(self, dates: Any) -> None:
        self.moments.add(dates.astype(np.int64).astype(np.float64))
        for cycle in CYCLES:
            places = _places(dates, cycle)
            low, high = int(places.min()), int(places.max())
            least, most = self.cycles.get(cycle, (low, high))
            self.cycles[cycle] = (min(low, least), max(high, most))

    def _add_words(self, words: list[str]) -> None:
        if not self._has_more_words:
            self.words.update(words)
            self._has_more_words = self._is_chunked and len(self.words) > MOST_WORDS

    def _too_many(self, things: str, most: int) -> ValueError:
        requirement = (
            f"a column must have at most {most:,} different {things} to be understood "
            f"(kinds={{{self.name!r}: 'drop'}} leaves it out)"
        )
        return value_error("fit", requirement, column=self.name)


def finite_numbers(column: Column, op: str) -> Any:
    """The numbers of a column, refused where one is infinite."""
    values = column.numbers(op)
    wrong = np.isinf(values)
    if wrong.any():
        row = int(wrong.argmax())
        where = column.origin.place(row)
        cell = brief(column.words()[row])
        raise value_error(op, "numbers must be finite", **where, column=column.name, cell=cell)
    return values


def _places(dates: Any, cycle: str) -> Any:
    """The day of the year, the day of the week or the second of the day."""
    days = dates.astype("datetime64[D]")
    if cycle == "year":
        months = dates.astype("datetime64[M]")
        return months.astype(np.int64) % 12 * 31 + (days - months).astype(np.int64)
    if cycle == "week":
        return days.astype(np.int64) % 7
    return (dates - days).astype(np.int64)
