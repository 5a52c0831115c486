"""The names of columns, and what to do where one is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from extensor.core.entries import is_integer
from extensor.data.table.cells import as_whole
from extensor.data.table.distinct_numbers import DistinctNumbers
from extensor.errors import type_error, value_error
from extensor.errors.arguments import briefly
from extensor.errors.suggestions import nearest

# What people call what they want to predict; otherwise it is the last column.
_TARGETS = ("target", "label", "class", "y", "outcome", "species")
_UNNAMED = re.compile(r"Unnamed: \d+")  # what pandas calls a column without a name, and writes


def index_column(first: Sequence[str], columns: Sequence[Sequence[str]]) -> int | None:
    """The place of a column that pandas or R wrote beside the data, to number the rows."""
    numbers = RowNumbers(first)
    numbers.add(columns[0])
    return numbers.column


class RowNumbers:
    """Whether the first column has no name and numbers the rows, found chunk by chunk."""

    def __init__(self, first: Sequence[str]) -> None:
        self._is_numbering = len(first) > 1 and bool(not first[0] or _UNNAMED.fullmatch(first[0]))
        self._distinct = DistinctNumbers()

    def add(self, cells: Sequence[str]) -> None:
        """Look at some more cells of the first column."""
        if not self._is_numbering:
            return
        numbers = [as_whole(cell) for cell in cells]
        self._is_numbering = None not in numbers
        if self._is_numbering:
            self._distinct.add(np.array(numbers, np.int64))
            self._is_numbering = self._distinct.are_distinct

    @property
    def column(self) -> int | None:
        """The place of the column, if it numbers the rows."""
        if self._is_numbering and self._distinct.is_unknown:
            requirement = "a column without a name must have fewer numbers, or be given a name"
            raise value_error("read_table", requirement, column=0)
        return 0 if self._is_numbering else None


def named(
    op: str,
    first: Sequence[str] | None,
    width: int,
    source: str,
    line: int,
    left_out: int | None,
    said: list[str],
) -> list[str]:
    """The names in the first line, or numbered ones; what has no name gets one and is said."""
    if first is None:
        return [f"column {place}" for place in range(width)]
    names = [name or f"column {place}" for place, name in enumerate(first)]
    without = [repr(names[i]) for i, name in enumerate(first) if not name and i != left_out]
    if without:
        said.append(f"columns without a name are called {', '.join(without)}")
    check_names(op, names, source=source, line=line)
    return names


def usual_target(names: Sequence[str]) -> tuple[str, str]:
    """The column that is learned if nobody says which, and why."""
    lower = {name.lower(): name for name in names}
    usual = [lower[name] for name in _TARGETS if name in lower]
    return (usual[0], "by its name") if usual else (names[-1], "the last column")


def find_column(op: str, names: Sequence[str], name: Any, source: str) -> str:
    """The column that somebody names, or numbers."""
    if isinstance(name, str):
        if name not in names:
            requirement = f"table must have the column{nearest(name, names)}"
            raise value_error(op, requirement, source=source, column=name)
        return name
    if not is_integer(name):
        requirement = "a column must be given by its name or number"
        raise type_error(op, requirement, column=briefly(name))
    if not -len(names) <= name < len(names):
        requirement = f"the number of a column must be one of {len(names)}"
        raise value_error(op, requirement, source=source, column=int(name))
    return names[int(name)]


def check_names(op: str, names: Sequence[str], **where: object) -> None:
    """Refuse a name that two columns have."""
    distinct, numbers = np.unique(np.array(names, object).astype(str), return_counts=True)
    if (numbers > 1).any():
        name = str(distinct[numbers > 1][0])
        columns = [place for place, other in enumerate(names) if other == name]
        raise value_error(op, "names of columns must differ", **where, name=name, columns=columns)
