"""A table: columns of the same length under names that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from extensor.core import entries
from extensor.data.table.column import Column
from extensor.errors import arguments, type_error, value_error
from extensor.errors.suggestions import nearest


class Table:
    """Columns by their names, and how they were read; :func:`read_table` and ``as_table`` make one.

    ``source`` names where it comes from, ``said`` has sentences on how it was read, and ``options``
    are those with which reading gives the same again.

    >>> from extensor.data.table import as_table
    >>> table = as_table({"size": [1.5, 2.5], "name": ["ant", "bee"]})
    >>> table.names, len(table), table["name"].words().tolist()
    (['size', 'name'], 2, ['ant', 'bee'])
    """

    def __init__(
        self,
        columns: Sequence[Column],
        source: str = "columns",
        said: Sequence[str] = (),
        options: dict[str, Any] | None = None,
    ) -> None:
        if not isinstance(columns, list | tuple) or not columns:
            given = arguments.briefly(columns)
            raise type_error("Table", "columns must be a list of columns", columns=given)
        for column in columns:
            arguments.instance("Table", "columns", column, Column, "a list of Column")
        lengths = sorted({len(column) for column in columns})
        if len(lengths) > 1:
            raise value_error("Table", "columns must have the same length", lengths=lengths)
        self._columns = {column.name: column for column in columns}
        if len(self._columns) < len(columns):
            names = [column.name for column in columns]
            raise value_error("Table", "names of columns must differ", names=names)
        self.source = arguments.text("Table", "source", source)
        if not isinstance(said, list | tuple) or not all(isinstance(x, str) for x in said):
            given = arguments.briefly(said)
            raise type_error("Table", "said must be a list of sentences", said=given)
        self.said = list(said)
        self.options = dict(entries.mapping("Table", {} if options is None else options, "options"))

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, name: str) -> Column:
        return self._found("table", name)

    def __repr__(self) -> str:
        return f"Table({self.source!r}, {len(self)} rows, columns {self.names})"

    def rows(self, indices: Any) -> Table:
        """The rows at ``indices``, integers from 0; columns keep their kinds."""
        places = _places(indices, len(self))
        return self._with([column.taken(places) for column in self._columns.values()])

    def select(self, names: Sequence[str]) -> Table:
        """The columns called ``names``, in that order."""
        if not isinstance(names, list | tuple) or not names:
            given = arguments.briefly(names)
            raise type_error("select", "names must be a list of names of columns", names=given)
        return self._with([self._found("select", name) for name in names])

    def without(self, *names: str) -> Table:
        """All columns but those called ``names``."""
        left_out = {self._found("without", name).name for name in names}
        if len(left_out) == len(self._columns):
            raise value_error("without", "a column must be left", names=list(names))
        return self._with([x for name, x in self._columns.items() if name not in left_out])

    def _found(self, op: str, name: Any) -> Column:
        if not isinstance(name, str):
            given = arguments.briefly(name)
            raise type_error(op, "the name of a column must be a string", name=given)
        if name not in self._columns:
            requirement = f"table must have the column {name!r}{nearest(name, self._columns)}"
            raise value_error(op, requirement, source=self.source)
        found: Column = self._columns[name]
        return found

    def _with(self, columns: Sequence[Column]) -> Table:
        return Table(columns, self.source, self.said, self.options)


def _places(indices: Any, rows: int) -> Any:
    try:
        places = np.asarray(getattr(indices, "_array", indices))
    except (TypeError, ValueError):
        places = np.empty(0, object)
    if places.ndim == 1 and len(places) == 0:
        places = places.astype(np.int64) if places.dtype.kind in "iuf" else places
    if places.ndim != 1 or places.dtype.kind not in "iu":
        given = arguments.briefly(indices)
        raise type_error("rows", "rows must be chosen by a row of integers", indices=given)
    if len(places) and not (places.min() >= 0 and places.max() < rows):
        low, high = int(places.min()), int(places.max())
        raise value_error(
            "rows", f"rows must be chosen from 0 to {rows - 1}", lowest=low, highest=high
        )
    return places.astype(np.int64)
