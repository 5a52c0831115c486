"""The names of columns, and what to do where one is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from extensor.data.table.cells import as_whole
from extensor.errors import value_error

_UNNAMED = re.compile(r"Unnamed: \d+")  # what pandas calls a column without a name, and writes


def index_column(first: Sequence[str], columns: Sequence[Sequence[str]]) -> int | None:
    """The place of a column that pandas or R wrote beside the data, to number the rows."""
    if len(first) < 2 or (first[0] and not _UNNAMED.fullmatch(first[0])):
        return None
    numbers = [as_whole(cell) for cell in columns[0]]
    is_numbering = None not in numbers and len(set(numbers)) == len(numbers)
    return 0 if is_numbering else None


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


def check_names(op: str, names: Sequence[str], **where: object) -> None:
    """Refuse a name that two columns have."""
    distinct, numbers = np.unique(np.array(names, object).astype(str), return_counts=True)
    if (numbers > 1).any():
        name = str(distinct[numbers > 1][0])
        columns = [place for place, other in enumerate(names) if other == name]
        raise value_error(op, "names of columns must differ", **where, name=name, columns=columns)
