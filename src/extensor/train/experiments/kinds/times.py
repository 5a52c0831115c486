"""The order of a series in time, by the column of dates that it has."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from extensor.data.table import Column, Table
from extensor.errors import value_error

_GAP = 1.5  # usual steps; months and quarters differ less
_UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


def time_column(table: Table, without: Collection[str] = ()) -> str | None:
    """The first column of dates that is not left out: in its order the rows should be."""
    names = [name for name in table.names if table[name].kind == "date" and name not in without]
    return names[0] if names else None


def check_order(table: Table, time: str | None) -> None:
    """Refuse rows that go back in time, by the column of this name if it has one."""
    if time is None or time not in table or table[time].kind != "date":
        return
    column = table[time]
    rows, steps = _steps(column)
    if (steps < 0).any():
        row = int(rows[int((steps < 0).argmax()) + 1])
        requirement = (
            f"a series must be in the order of its column {column.name!r} (sort the rows; several "
            "series in one file are several files; data.drop leaves out a column that is no time)"
        )
        cell = column.words()[row]
        raise value_error("data", requirement, **column.origin.place(row), cell=cell)


def times_said(table: Table, time: str | None) -> list[str]:
    """Sentences on times that occur twice, and on steps that are longer than the others."""
    if time is None:
        return []
    column = table[time]
    rows, steps = _steps(column)
    lines = []
    if not len(steps) or not (steps > 0).any():
        return []
    usual = float(np.median(steps[steps > 0]))
    for which, words in (
        (steps == 0, "the same time as the row before"),
        (steps > _GAP * usual, ""),
    ):
        number = int(which.sum())
        if number:
            place = column.origin.place(int(rows[int(which.argmax()) + 1]))
            unit = "line" if "line" in place else "row"
            after = "it" if number == 1 else "them"
            words = words or f"a gap before {after} (the usual step is {_span(usual)})"
            of = "1 row has" if number == 1 else f"{number:,} rows have"
            first = "" if number == 1 else "the first "
            lines.append(f"{column.name}: {of} {words}, {first}{unit} {place[unit]}")
    return lines


def _steps(column: Column) -> tuple[Any, Any]:
    """The rows that have a time, and the seconds from each to the next."""
    rows = np.flatnonzero(~column.missing)
    return rows, np.diff(column.dates()[rows].astype(np.int64))


def _span(seconds: float) -> str:
    for size, name in _UNITS:
        if seconds >= size:
            number = seconds / size
            return f"1 {name}" if number == 1 else f"{number:.3g} {name}s"
    return f"{seconds:g} seconds"
