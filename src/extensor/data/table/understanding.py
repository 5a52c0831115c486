"""What a column is, by its cells; what could be taken wrongly is said."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from extensor.data.table.cell_facts import CellFacts, Meaning, build_column
from extensor.data.table.cells import as_numbers, has_thousands, missing_among, number_text
from extensor.data.table.column import Column, Origin
from extensor.data.table.dates import ORDERS, is_date
from extensor.data.table.sniffing import could_be_thousands

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
    gone: set[str] | None = None,
) -> Column:
    """A column of what is written in its cells; sentences on what was taken are added to ``said``.

    ``is_typed`` says that they are strings where numbers would be numbers: so they are words. The
    words for missing cells that occur are added to ``gone``.
    """
    array = np.empty(len(cells), object)
    array[:] = cells
    missing_words = missing_among(cells)
    if gone is not None:
        gone |= missing_words
    missing = missing_cells(cells, missing_words)
    array[missing] = None
    present = array[~missing]
    facts = CellFacts(decimal, is_typed)
    facts.add(present)
    meaning = facts.meaning()
    said += said_of_meaning(name, meaning, present, missing, origin)
    return build_column(name, array, missing, meaning, origin, facts.latest(meaning))


def said_of_meaning(
    name: str, meaning: Meaning, present: Any, missing: Any, origin: Origin
) -> list[str]:
    """Sentences on what could be taken wrongly."""
    if len(present) == 0 or meaning.kind == "date":
        return []
    if meaning.kind == "number":
        return _said_of_numbers(name, present, meaning.decimal)
    if meaning.is_ambiguous:
        return [
            f"column {name!r} is taken as words: whether day or month comes first in "
            f"{present[0]!r} cannot be told"
        ]
    return _said_of_words(name, present, missing, origin, meaning.decimal)


def missing_cells(cells: Sequence[str | None], words: set[str]) -> Any:
    """Which cells are missing: None, or one of ``words``."""
    gone = {None, *words}
    if not words and None not in cells:
        return np.zeros(len(cells), bool)
    return np.fromiter((cell in gone for cell in cells), bool, len(cells))


def _said_of_numbers(name: str, present: Any, decimal: str) -> list[str]:
    if decimal != ",":
        return []
    if has_thousands(present, decimal):
        return [f"column {name!r} has points between thousands"]
    example = could_be_thousands(present)
    if example is None:
        return []
    value = number_text(float(example.replace(",", ".")))
    return [f"column {name!r} has a decimal comma as others have: {example} is read as {value}"]


def _said_of_words(
    name: str, present: Any, missing: Any, origin: Origin, decimal: str
) -> list[str]:
    """Why a column that looks like numbers or dates is one of words."""
    why = (
        _other_decimal(present, decimal)
        or _exception(present, missing, origin, decimal)
        or _signs(present[:_LOOKED_AT], decimal)
        or _units(present[:_LOOKED_AT])
    )
    return [f"column {name!r} is taken as words: {why}"] if why else []


def _other_decimal(present: Any, decimal: str) -> str | None:
    other = "." if decimal == "," else ","
    example = next((cell for cell in present[:_LOOKED_AT] if other in cell), None)
    if example is None or as_numbers(present, other) is None:
        return None
    if other == "," and could_be_thousands(present):
        return f"{example!r} could be thousands or a fraction (which decimal=',' reads)"
    return f"{example!r} is a number only with decimal={other!r}"


def _exception(present: Any, missing: Any, origin: Origin, decimal: str) -> str | None:
    """The first cell that is no number or no date where nearly all are."""
    looked_at = present[:_LOOKED_AT]
    kinds: dict[str, Callable[[str], bool]] = {
        "numbers": lambda cell: as_numbers(np.array([cell], object), decimal) is not None,
        "dates": lambda cell: any(is_date(cell, order) for order in ORDERS),
    }
    for meant, holds in kinds.items():
        if sum(map(holds, looked_at)) >= _MOST * len(looked_at):
            for row, cell in zip(np.flatnonzero(~missing), present, strict=True):
                if not holds(cell):
                    where = f"{origin.unit} {origin.numbers[row]}"
                    return f"its cells are {meant}, but not {cell!r} in {where}"
            is_number = meant == "numbers"
            return "its numbers are strings" if is_number else "its dates are not all in one order"
    return None


def _signs(looked_at: Any, decimal: str) -> str | None:
    if sum(map(bool, map(_MEASURED.fullmatch, looked_at))) < _MOST * len(looked_at):
        return None
    example = next(x for x in looked_at if as_numbers(np.array([x], object), decimal) is None)
    signs = "percent signs, currencies, separators of thousands and the like are not read"
    return f"{example!r} is no number ({signs})"


def _units(looked_at: Any) -> str | None:
    """Numbers with the same letters behind them, nearly all."""
    found = [x for x in map(_WITH_UNIT.fullmatch, looked_at) if x]
    units = {match[1] for match in found}
    if len(found) < _MOST * len(looked_at) or len(units) > _MOST_UNITS or len({*looked_at}) < 3:
        return None
    return f"{looked_at[0]!r} is no number (units are not read)"
