"""Columns of values in memory, which have types of their own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from extensor.data.table.cells import number_text
from extensor.data.table.column import Column, Content, Origin
from extensor.data.table.understanding import column_of_cells

_NUMBERS = (int, float, np.integer, np.floating, Decimal)
_TRUTH = (bool, np.bool_)
_GONE = ("NAType", "NaTType")  # pandas', which are equal to nothing and have no truth
_EXACT = 2**53


def origin_of(source: str, rows: int) -> Origin:
    """Of rows in memory, numbered from 0."""
    return Origin(source, "row", np.arange(rows))


def column_of_values(
    name: str,
    values: Any,
    is_category: bool,
    origin: Origin,
    said: list[str],
    is_typed: bool = True,
) -> Column | None:
    """A column of an array or a list of objects; None and a sentence if they are of other kinds.

    That is said of None too.
    ``is_typed`` says that strings are words even if they read as numbers.
    """
    kind = values.dtype.kind if isinstance(values, np.ndarray) else "O"
    column: Column | None = None
    if values is None:
        pass
    elif kind == "O":
        column = _of_objects(name, list(values), origin, said, is_typed)
    elif kind == "b":
        column = _of_words(name, [str(bool(x)) for x in values], origin)
    elif kind in "iu":
        column = _of_integer_array(name, values, origin)
    elif kind == "f":
        column = _of_floats(name, values.astype(np.float64), origin)
    elif kind == "M":
        column = _of_dates(name, values, origin)
    elif kind == "U":
        stripped = [cell.strip() for cell in values.tolist()]
        column = column_of_cells(name, stripped, origin, is_typed=is_typed, said=said)
    if column is None:
        said.append(f"column {name!r} is left out: it is of no numbers, words or dates")
        return None
    if is_category and column.kind in ("number", "text"):
        column.kind = "category"
    return column


def _of_objects(
    name: str, values: list[Any], origin: Origin, said: list[str], is_typed: bool
) -> Column | None:
    values = [None if _is_gone(x) else x for x in values]
    present = [x for x in values if x is not None]
    if all(isinstance(x, _TRUTH) for x in present) and present:
        return _of_words(name, [None if x is None else str(bool(x)) for x in values], origin)
    if all(isinstance(x, _NUMBERS) and not isinstance(x, _TRUTH) for x in present):
        if all(isinstance(x, int | np.integer) for x in present):
            return _of_integers(name, values, origin)
        return _of_floats(
            name, np.array([np.nan if x is None else float(x) for x in values]), origin
        )
    if all(isinstance(x, date | np.datetime64) for x in present):
        return _of_dates(name, np.array([_moment(x) for x in values]), origin)
    if all(isinstance(x, str | _Number) for x in present):
        cells = [None if x is None else _word(x) for x in values]
        return column_of_cells(name, cells, origin, is_typed=is_typed, said=said)
    return None


_Number = int | float | np.integer | np.floating | Decimal | np.bool_


def _is_gone(value: Any) -> bool:
    if value is None or type(value).__name__ in _GONE:
        return True
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating | Decimal) and value != value


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    return str(bool(value)) if isinstance(value, _TRUTH) else number_text(float(value))


def _moment(value: Any) -> Any:
    """A date as NumPy's, one with a time zone in UTC."""
    if value is None:
        return np.datetime64("NaT", "s")
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value).astype("datetime64[s]")


def _of_words(name: str, words: Sequence[str | None], origin: Origin) -> Column:
    array = np.empty(len(words), object)
    array[:] = words
    missing = np.array([x is None for x in words], bool)
    return Column(name, "category", missing, Content(cells=array), origin)


def _of_integer_array(name: str, values: Any, origin: Origin) -> Column:
    if len(values) and (int(values.min()) <= -_EXACT or int(values.max()) >= _EXACT):
        return _of_integers(name, values.tolist(), origin)
    content = Content(numbers=values.astype(np.float64), is_whole=len(values) > 0)
    return Column(name, "number", np.zeros(len(values), bool), content, origin)


def _of_integers(name: str, values: list[Any], origin: Origin) -> Column:
    missing = np.array([x is None for x in values], bool)
    numbers = np.array([np.nan if x is None else _as_float(x) for x in values], np.float64)
    cells = None
    if any(x is not None and abs(x) >= _EXACT for x in values):
        # Some differ only where a float has no digits left.
        cells = np.empty(len(values), object)
        cells[:] = [None if x is None else str(x) for x in values]
    content = Content(cells, numbers, is_whole=not missing.all())
    return Column(name, "number", missing, content, origin)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _of_floats(name: str, values: Any, origin: Origin) -> Column:
    missing = np.isnan(values)
    present = values[~missing]
    # What has become floats only because something is missing.
    is_whole = bool(missing.any() and len(present) and (present == np.floor(present)).all())
    return Column(name, "number", missing, Content(numbers=values, is_whole=is_whole), origin)


def _of_dates(name: str, values: Any, origin: Origin) -> Column:
    dates = values.astype("datetime64[s]")
    return Column(name, "date", np.isnat(dates), Content(dates=dates), origin)
