"""The meaning of a column: numbers, dates or words, decided by all of its cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from extensor.data.table.cells import (
    ORDERS,
    AmbiguousDatesError,
    DateFacts,
    as_numbers,
    could_be_thousands,
    is_date,
    is_number,
    is_plain,
    is_written_whole,
    missing_among,
    number_text,
    parse_dates,
)
from extensor.data.table.columnar import Column, Content, Origin

_FEW = 20  # up to this many rows, words are never text
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
    is_ambiguous: bool = False  # dates in which day and month are unclear


class CellFacts:
    """Facts on the cells of one column, added up.

    ``is_typed`` says that cells are strings where numbers would be numbers: so they are words.
    """

    def __init__(self, decimal: str, is_typed: bool = False) -> None:
        self.decimal = decimal
        self.present = 0
        self.are_numbers = not is_typed  # all cells so far
        self._has_comma = self._has_point = False
        self._is_whole = self._is_plain = self._are_truth = True
        self._dates = DateFacts()
        self._numbers: Any = None  # in the cells that were added last

    def add(self, present: Any) -> None:
        """Look at some more cells, none of them missing."""
        if len(present) == 0:
            return
        if self.are_numbers and not self._add_numbers(present) and self.present:
            # No number is a date, or True: what began with numbers is words.
            self._dates.add(["no date"])
            self._are_truth = False
        self.present += len(present)
        if not self.are_numbers:
            self._dates.add(present)
            self._are_truth = (
                self._are_truth
                and present[0].lower() in _TRUTH
                and {x.lower() for x in {*present}} <= {*_TRUTH}
            )

    @property
    def are_dates(self) -> bool:
        """Whether all cells so far are dates, in some order."""
        return not self.are_numbers and self._dates.are_dates

    def _add_numbers(self, present: Any) -> bool:
        has_commas = self.decimal == ","
        self._numbers = as_numbers(present, self.decimal, True if has_commas else None)
        self.are_numbers = self._numbers is not None
        if not self.are_numbers:
            return False
        if has_commas:
            text = "".join(present)
            self._has_comma |= "," in text
            self._has_point |= "." in text
        self._is_whole = self._is_whole and is_written_whole(present, self._numbers)
        self._is_plain = self._is_plain and self._is_whole and is_plain(present)
        return True

    def meaning(self) -> Meaning:
        """The meaning of all cells together."""
        if self.present == 0:
            return Meaning("number", self.decimal)
        # Without a single comma in the column, its points could be decimal ones.
        if self.are_numbers and self._has_point and not self._has_comma:
            return Meaning("words", self.decimal)
        if self.are_numbers:
            keeps_cells = self._is_whole and not self._is_plain
            return Meaning(
                "number", self.decimal, None, self._is_whole, keeps_cells, self._has_comma
            )
        try:
            order = self._dates.order()
        except AmbiguousDatesError:
            return Meaning("words", self.decimal, is_ambiguous=True)
        if order is not None:
            return Meaning("date", self.decimal, order)
        return Meaning("words", self.decimal, are_truth=self._are_truth)

    def latest(self) -> Any:
        """The numbers or dates in the cells that were added last; None for words."""
        meaning = self.meaning()
        if meaning.kind == "number":
            return self._numbers
        return self._dates.latest(str(meaning.order)) if meaning.kind == "date" else None


class WrittenCells(NamedTuple):
    """Cells as they are written, None where missing, and the words that stand for missing ones."""

    array: Any
    missing: Any
    present: Any
    missing_words: set[str]

    @classmethod
    def of(cls, cells: Sequence[str | None]) -> WrittenCells:
        """The cells of a column."""
        array = np.empty(len(cells), object)
        array[:] = cells
        words = missing_among(cells)
        missing = np.zeros(len(cells), bool)
        if words or None in cells:
            gone = {None, *words}
            missing = np.fromiter((cell in gone for cell in cells), bool, len(cells))
            array[missing] = None
        return cls(array, missing, array[~missing], words)


def build_column(
    name: str, cells: WrittenCells, meaning: Meaning, origin: Origin, values: Any = None
) -> Column:
    """A column of cells that are read as ``meaning`` says.

    ``values`` are the numbers or dates among them, if they are known already.
    """
    array, missing, present, _ = cells
    if meaning.kind == "number":
        if values is None:
            has_comma = meaning.has_comma if meaning.decimal == "," else None
            values = as_numbers(present, meaning.decimal, has_comma)
        numbers = np.full(len(array), np.nan)
        numbers[~missing] = values
        kept = array if meaning.keeps_cells else None
        content = Content(missing, kept, numbers, None, meaning.is_whole, meaning.decimal)
        return Column(name, "number", content, origin)
    if meaning.kind == "date":
        dates = np.full(len(array), np.datetime64("NaT", "s"))
        dates[~missing] = parse_dates(present, str(meaning.order)) if values is None else values
        content = Content(missing, array, None, dates, False, meaning.decimal, meaning.order)
        return Column(name, "date", content, origin)
    if meaning.are_truth:
        # TRUE and true are the same, as pandas reads them too.
        present = np.array([_TRUTH[x.lower()] for x in present], object)
        array[~missing] = present
    content = Content(missing, array, decimal=meaning.decimal)
    return Column(name, kind_of_words(len(present), len(set(present))), content, origin)


def kind_of_words(rows: int, distinct: int) -> str:
    """Text if most rows have words of their own, else a category."""
    return "text" if rows > _FEW and 2 * distinct > rows else "category"


_MOST = 0.9
_LOOKED_AT = 1000  # cells that are looked at one by one
_MEASURED = re.compile(
    r"\(?[+\u2212-]? ?[$€£¥]? ?[+\u2212-]?[\d.,][\d., '\u2019\u00a0]*(?: ?[%‰$€£¥])?\)?"
)
_WITH_UNIT = re.compile(r"[+-]?\d+(?:[.,]\d+)* ?([^\W\d_][^\d\s]{0,7})")
_MOST_UNITS = 3


def column_of_cells(
    name: str,
    cells: Sequence[str | None],
    origin: Origin,
    decimal: str = ".",
    *,
    is_typed: bool = False,
    said: list[str],
) -> Column:
    """A column of what is written in its cells; sentences on what was taken are added to ``said``.

    ``is_typed`` says that they are strings where numbers would be numbers: so they are words.
    """
    written = WrittenCells.of(cells)
    facts = CellFacts(decimal, is_typed)
    facts.add(written.present)
    meaning = facts.meaning()
    said += said_of_meaning(name, meaning, written.present, origin.taken(~written.missing))
    return build_column(name, written, meaning, origin, facts.latest())


def said_of_meaning(name: str, meaning: Meaning, present: Any, origin: Origin) -> list[str]:
    """Sentences on what could be taken wrongly; ``origin`` is that of the present cells."""
    if len(present) == 0 or meaning.kind == "date":
        return []
    if meaning.kind == "number":
        return _said_of_numbers(name, present, meaning.decimal)
    looked_at, decimal = present[:_LOOKED_AT], meaning.decimal
    if meaning.is_ambiguous:
        why: str | None = f"whether day or month comes first in {present[0]!r} cannot be told"
    else:
        # A column that looks like numbers or dates.
        why = (
            _other_decimal(present, decimal)
            or _exception(present, origin, decimal)
            or _signs(looked_at, decimal)
            or _units(looked_at)
        )
    return [f"column {name!r} is taken as words: {why}"] if why else []


def _said_of_numbers(name: str, present: Any, decimal: str) -> list[str]:
    if decimal != ",":
        return []
    if "." in "".join(present):
        return [f"column {name!r} has points between thousands"]
    example = could_be_thousands(present)
    if example is None:
        return []
    value = number_text(float(example.replace(",", ".")))
    return [f"column {name!r} has a decimal comma as others have: {example} is read as {value}"]


def _other_decimal(present: Any, decimal: str) -> str | None:
    other = "." if decimal == "," else ","
    example = next((cell for cell in present[:_LOOKED_AT] if other in cell), None)
    if example is None or as_numbers(present, other) is None:
        return None
    if other == "," and could_be_thousands(present):
        return f"{example!r} could be thousands or a fraction (which decimal=',' reads)"
    return f"{example!r} is a number only with decimal={other!r}"


def _exception(present: Any, origin: Origin, decimal: str) -> str | None:
    """The first cell that is no number or no date where nearly all are."""
    looked_at = present[:_LOOKED_AT]
    kinds: dict[str, Callable[[str], bool]] = {
        "numbers": lambda cell: is_number(cell, decimal),
        "dates": lambda cell: any(is_date(cell, order) for order in ORDERS),
    }
    for meant, holds in kinds.items():
        if sum(map(holds, looked_at)) >= _MOST * len(looked_at):
            for row, cell in enumerate(present):
                if not holds(cell):
                    where = f"{origin.unit} {origin.numbers[row]}"
                    return f"its cells are {meant}, but not {cell!r} in {where}"
            are_dates = meant == "dates"
            return "its dates are not all in one order" if are_dates else "its numbers are strings"
    return None


def _signs(looked_at: Any, decimal: str) -> str | None:
    if sum(map(bool, map(_MEASURED.fullmatch, looked_at))) < _MOST * len(looked_at):
        return None
    example = next(x for x in looked_at if not is_number(x, decimal))
    signs = "percent signs, currencies, separators of thousands and the like are not read"
    return f"{example!r} is no number ({signs})"


def _units(looked_at: Any) -> str | None:
    """Numbers with the same letters behind them, nearly all."""
    found = [x for x in map(_WITH_UNIT.fullmatch, looked_at) if x]
    units = {match[1] for match in found}
    if len(found) < _MOST * len(looked_at) or len(units) > _MOST_UNITS or len({*looked_at}) < 3:
        return None
    return f"{looked_at[0]!r} is no number (units are not read)"


class ColumnNotes(CellFacts):
    """The facts on a column, and the cells that sentences on it need: all, or ``most`` of them."""

    def __init__(self, decimal: str, most: int | None) -> None:
        super().__init__(decimal)
        self._room = most
        self._cells: list[Any] = []
        self._lines: list[Any] = []

    def add_rows(self, present: Any, lines: Any) -> None:
        """Look at some more cells, none of them missing, and at the lines they stand in."""
        were_numbers, were_dates = self.are_numbers, self.are_dates
        self.add(present)
        if self._room is None:
            self._note(present, lines)
            return
        noted = min(self._room, len(present))
        self._room -= noted
        self._note(present[:noted], lines[:noted])
        if were_numbers and not self.are_numbers:
            self._note_first(present, lines, noted, lambda x: is_number(x, self.decimal))
        if were_dates and not self.are_dates:
            self._note_first(present, lines, noted, lambda x: any(is_date(x, y) for y in ORDERS))

    def said(self, name: str, source: str) -> list[str]:
        """Sentences on what could be taken wrongly."""
        cells, lines = np.concatenate(self._cells), np.concatenate(self._lines)
        return said_of_meaning(name, self.meaning(), cells, Origin(source, "line", lines))

    def _note(self, cells: Any, lines: Any) -> None:
        # A slice, even an empty one, would keep the whole chunk in memory.
        self._cells.append(cells if self._room is None else cells.copy())
        self._lines.append(lines if self._room is None else lines.copy())

    def _note_first(self, cells: Any, lines: Any, noted: int, holds: Callable[[str], bool]) -> None:
        """Note the first cell that is an exception, if it is not noted yet."""
        place = next((i for i, cell in enumerate(cells) if not holds(cell)), None)
        if place is not None and place >= noted:
            self._note(cells[place : place + 1], lines[place : place + 1])
