"""What a column is, by its cells; what could be taken wrongly is said."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from extensor.data.table.cells import (
    as_numbers,
    has_thousands,
    is_plain,
    is_written_whole,
    missing_among,
    number_text,
)
from extensor.data.table.column import Column, Content, Origin
from extensor.data.table.dates import ORDERS, AmbiguousDatesError, find_order, is_date, parsed
from extensor.data.table.sniffing import could_be_thousands

_FEW = 20  # rows of which nobody can say that their words mostly differ
_MOST = 0.9
_LOOKED_AT = 1000  # cells that are looked at one by one
_MEASURED = re.compile(
    r"\(?[+\u2212-]? ?[$€£¥]? ?[+\u2212-]?[\d.,][\d., '\u2019\u00a0]*(?: ?[%‰$€£¥])?\)?"
)
_WITH_UNIT = re.compile(r"[+-]?\d+(?:[.,]\d+)* ?([^\W\d_][^\d\s]{0,7})")
_MOST_UNITS = 3
_TRUTH = {"true": "True", "false": "False"}


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
    missing = _missing(cells, missing_words)
    array[missing] = None
    present = array[~missing]
    if len(present) == 0:
        content = Content(numbers=np.full(len(array), np.nan))
        return Column(name, "number", missing, content, origin)
    values = None if is_typed else as_numbers(present, decimal)
    if values is not None:
        said += _said_of_numbers(name, present, decimal)
        content = _numbers(array, present, values, missing, decimal)
        return Column(name, "number", missing, content, origin)
    if present[0].lower() in _TRUTH and {x.lower() for x in {*present}} <= {*_TRUTH}:
        # TRUE and true are the same, as pandas reads them too.
        present = np.array([_TRUTH[x.lower()] for x in present], object)
        array[~missing] = present
    found = Content(cells=array, decimal=decimal)
    try:
        order = find_order(present)
    except AmbiguousDatesError:
        said.append(
            f"column {name!r} is taken as words: whether day or month comes first in "
            f"{present[0]!r} cannot be told"
        )
        order = None
    else:
        if order is None:
            said += _said_of_words(name, present, missing, origin, decimal)
    if order is not None:
        dates = np.full(len(array), np.datetime64("NaT", "s"))
        dates[~missing] = parsed(present, order)
        return Column(name, "date", missing, found._replace(dates=dates, order=order), origin)
    return Column(name, kind_of_words(present), missing, found, origin)


def kind_of_words(present: Sequence[str]) -> str:
    """Text if most rows have words of their own, else a category."""
    mostly_differ = len(present) > _FEW and 2 * len(set(present)) > len(present)
    return "text" if mostly_differ else "category"


def _missing(cells: Sequence[str | None], words: set[str]) -> Any:
    gone = {None, *words}
    if not words and None not in cells:
        return np.zeros(len(cells), bool)
    return np.fromiter((cell in gone for cell in cells), bool, len(cells))


def _numbers(array: Any, present: Any, values: Any, missing: Any, decimal: str) -> Content:
    numbers = np.full(len(array), np.nan)
    numbers[~missing] = values
    is_whole = is_written_whole(present, values)
    # 007 and numbers of 16 digits are often names of something: what is written may be asked for.
    cells = array if is_whole and not is_plain(present) else None
    return Content(cells, numbers, None, is_whole, decimal)


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
