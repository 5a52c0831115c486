"""What the cells of a column are, found chunk by chunk: the same as if they were seen at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from extensor.data.table.cells import as_numbers, is_plain, is_written_whole
from extensor.data.table.column import Column, Content, Origin
from extensor.data.table.dates import AmbiguousDatesError, DateFacts, parsed

_FEW = 20  # rows of which nobody can say that their words mostly differ
_TRUTH = {"true": "True", "false": "False"}


class Meaning(NamedTuple):
    """How the cells of a column are read: as numbers, dates or words."""

    kind: str  # "number", "date" or "words"
    decimal: str = "."
    order: str | None = None  # of day, month and year
    is_whole: bool = False
    keeps_cells: bool = False  # numbers whose digits say more than their values
    has_comma: bool = False
    are_truth: bool = False
    is_ambiguous: bool = False  # dates of which nobody can say what comes first


class CellFacts:
    """Facts on the cells of one column, added up.

    ``is_typed`` says that cells are strings where numbers would be numbers: so they are words.
    """

    def __init__(self, decimal: str, is_typed: bool = False) -> None:
        self.decimal = decimal
        self.present = 0
        self._are_numbers = not is_typed
        self._has_comma = self._has_point = False
        self._is_whole = self._is_plain = self._are_truth = True
        self._dates = DateFacts()
        self._numbers: Any = None  # in the cells that were added last

    def add(self, present: Any) -> None:
        """Look at some more cells, none of them missing."""
        if len(present) == 0:
            return
        if self._are_numbers and not self._add_numbers(present) and self.present:
            # No number is a date, or True: what began with numbers is words.
            self._dates.add(["no date"])
            self._are_truth = False
        self.present += len(present)
        if not self._are_numbers:
            self._dates.add(present)
            self._are_truth = (
                self._are_truth
                and present[0].lower() in _TRUTH
                and {x.lower() for x in {*present}} <= {*_TRUTH}
            )

    @property
    def are_numbers(self) -> bool:
        """Whether all cells so far are numbers."""
        return self._are_numbers

    @property
    def are_dates(self) -> bool:
        """Whether all cells so far are dates, in some order."""
        return not self._are_numbers and self._dates.are_dates

    def _add_numbers(self, present: Any) -> bool:
        has_commas = self.decimal == ","
        values = as_numbers(present, self.decimal, True if has_commas else None)
        self._numbers = values
        self._are_numbers = values is not None
        if values is not None:
            if has_commas:
                text = "".join(present)
                self._has_comma, self._has_point = (
                    self._has_comma or "," in text,
                    self._has_point or "." in text,
                )
            self._is_whole = self._is_whole and is_written_whole(present, values)
            self._is_plain = self._is_plain and self._is_whole and is_plain(present)
        return self._are_numbers

    def meaning(self) -> Meaning:
        """What all cells are together."""
        if self.present == 0:
            return Meaning("number", self.decimal)
        # Without a single comma in the column, its points could be decimal ones.
        if self._are_numbers and not (self._has_point and not self._has_comma):
            keeps_cells = self._is_whole and not self._is_plain
            return Meaning(
                "number", self.decimal, None, self._is_whole, keeps_cells, self._has_comma
            )
        if self._are_numbers:
            return Meaning("words", self.decimal)
        try:
            order = self._dates.order()
        except AmbiguousDatesError:
            return Meaning("words", self.decimal, is_ambiguous=True)
        if order is not None:
            return Meaning("date", self.decimal, order)
        return Meaning("words", self.decimal, are_truth=self._are_truth)

    def latest(self, meaning: Meaning) -> Any:
        """The numbers or dates in the cells that were added last; None for words."""
        if meaning.kind == "number":
            return self._numbers
        return self._dates.latest(str(meaning.order)) if meaning.kind == "date" else None


def build_column(
    name: str, array: Any, missing: Any, meaning: Meaning, origin: Origin, values: Any = None
) -> Column:
    """A column of cells, an array with None where missing, that are read as ``meaning`` says.

    ``values`` are the numbers or dates among them, if they are known already.
    """
    present = array[~missing]
    if meaning.kind == "number":
        numbers = np.full(len(array), np.nan)
        if len(present):
            has_comma = meaning.has_comma if meaning.decimal == "," else None
            found = as_numbers(present, meaning.decimal, has_comma) if values is None else values
            numbers[~missing] = found
        cells = array if meaning.keeps_cells else None
        content = Content(cells, numbers, None, meaning.is_whole, meaning.decimal)
        return Column(name, "number", missing, content, origin)
    if meaning.kind == "date":
        dates = np.full(len(array), np.datetime64("NaT", "s"))
        if len(present):
            order = str(meaning.order)
            dates[~missing] = parsed(present, order) if values is None else values
        content = Content(cells=array, dates=dates, decimal=meaning.decimal, order=meaning.order)
        return Column(name, "date", missing, content, origin)
    if meaning.are_truth:
        # TRUE and true are the same, as pandas reads them too.
        present = np.array([_TRUTH[x.lower()] for x in present], object)
        array[~missing] = present
    content = Content(cells=array, decimal=meaning.decimal)
    return Column(name, kind_of_words(len(present), len(set(present))), missing, content, origin)


def kind_of_words(rows: int, distinct: int) -> str:
    """Text if most rows have words of their own, else a category."""
    return "text" if rows > _FEW and 2 * distinct > rows else "category"
