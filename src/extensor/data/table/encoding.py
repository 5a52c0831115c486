"""From a table to a matrix that a model can learn from, and to the same for rows to come."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from extensor.core import entries
from extensor.data.table.column import KINDS
from extensor.data.table.column_summary import ColumnSummary
from extensor.data.table.date_features import DateFeatures
from extensor.data.table.features import CategoryFeatures, NumberFeatures, words
from extensor.data.table.frames import as_table
from extensor.data.table.table import Table
from extensor.errors import arguments, type_error, value_error
from extensor.errors.suggestions import nearest

Features = NumberFeatures | CategoryFeatures | DateFeatures
_ENCODERS: dict[str, Any] = {x.kind: x for x in (NumberFeatures, CategoryFeatures, DateFeatures)}
_KEYS = ("names", "columns", "dropped")
_FEW = 20  # rows that may well all differ
_CALLED_ID = re.compile(r"(?i:(^|[^a-z])(id|ids|index|uuid|guid|key)$)|[a-z]I[dD]$")


class TableEncoder:
    """Columns of a table as features: fitted to rows once, then the same for any others.

    Numbers are standardized, and 0 where missing; categories have a feature for each of the 50 most
    frequent words and one for all others, also those that come later; dates are a position in time and
    places in the cycles of year, week and day. Where something was missing, a feature says so. What
    tells nothing is dropped, with a reason.

    >>> from extensor.data.table import TableEncoder, as_table
    >>> table = as_table({"size": [1.0, 3.0], "name": ["ant", "bee"], "kind": ["insect", "insect"]})
    >>> encoder = TableEncoder.fit(table)
    >>> encoder.features, encoder.dropped
    (['size', 'name=ant', 'name=bee', 'name other'], {'kind': "constant: 'insect' in every row"})
    >>> encoder.encode(as_table({"name": ["bee"], "size": [5.0]})).tolist()
    [[3.0, 0.0, 1.0, 0.0]]
    """

    def __init__(self, columns: Sequence[Any], dropped: Mapping[str, str]) -> None:
        if not isinstance(columns, list | tuple) or not columns:
            given = arguments.briefly(columns)
            requirement = "columns must be a list (TableEncoder.fit(table) makes one)"
            raise type_error("TableEncoder", requirement, columns=given)
        for column in columns:
            meant = "what TableEncoder.fit(table) makes"
            arguments.instance("TableEncoder", "columns", column, Features, meant)
        self._columns = list(columns)
        self._features = _distinct(x for column in columns for x in column.features)
        self.dropped = dict(entries.mapping("TableEncoder", dropped, "dropped"))

    @classmethod
    def fit(cls, table: Table, kinds: Mapping[str, str] | None = None) -> TableEncoder:
        """An encoder of all columns of ``table``; ``kinds`` overrules what some are, or drops them.

        A kind is "number", "category", "date", "text" (which is not encoded) or "drop".
        """
        table = as_table(table)
        chosen = checked_kinds(table.names, {} if kinds is None else kinds)
        if len(table) == 0:
            raise value_error("fit", "table must have at least one row", source=table.source)
        summaries = []
        for name in table.names:
            summaries.append(ColumnSummary(name, chosen.get(name)))
            summaries[-1].add(table[name], "fit")
        return cls.from_summaries(summaries, table.source)

    @classmethod
    def from_summaries(cls, summaries: Sequence[ColumnSummary], source: str) -> TableEncoder:
        """The encoder that :meth:`fit` makes, from what was summed up of each column."""
        columns, dropped = [], {}
        for summary in summaries:
            found, reason = _fitted(summary)
            if found is None:
                dropped[summary.name] = reason
            else:
                columns.append(found)
        if not columns:
            requirement = "table must have a column to learn from"
            raise value_error("fit", requirement, source=source, dropped=dropped)
        return cls(columns, dropped)

    @property
    def names(self) -> list[str]:
        """The columns that :meth:`encode` needs."""
        return [column.name for column in self._columns]

    @property
    def features(self) -> list[str]:
        """What the columns of the matrix are."""
        return list(self._features)

    def encode(self, table: Table) -> Any:
        """The matrix of ``table``, in float32; columns are found by name, others are ignored."""
        table = as_table(table)
        for name in self.names:
            if name not in table:
                requirement = f"table must have the column {name!r}{nearest(name, table.names)}"
                raise value_error("encode", requirement, source=table.source)
        matrix = np.empty((len(table), len(self._features)), np.float32)
        place = 0
        for column in self._columns:
            for values in column.encoded(table[column.name], "encode"):
                matrix[:, place] = values
                place += 1
        return matrix

    def remarks(self, table: Table) -> list[str]:
        """Sentences on what ``table`` has that the rows to learn from did not, and what becomes of it."""
        table = as_table(table)
        found = [column for column in self._columns if column.name in table]
        return [x for column in found for x in column.remarks(table[column.name])]

    def describe(self) -> list[str]:
        """A line for each column: what it is, its range or words, and what becomes of it."""
        lines = [f"{column.name}: {column.said()}" for column in self._columns]
        return lines + [f"{name}: left out, {reason}" for name, reason in self.dropped.items()]

    def __repr__(self) -> str:
        return f"TableEncoder({len(self.names)} columns, {len(self.features)} features)"

    def state_dict(self) -> dict[str, Any]:
        """All that :meth:`from_state` needs, in plain values."""
        columns = {
            str(place): {"kind": column.kind, "state": column.state()}
            for place, column in enumerate(self._columns)
        }
        dropped = {"names": list(self.dropped), "reasons": list(self.dropped.values())}
        return {"names": self.names, "columns": columns, "dropped": dropped}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], op: str = "load") -> TableEncoder:
        """The encoder that :meth:`state_dict` was taken from; what cannot be one is refused."""
        if not isinstance(op, str) or not op:
            given = arguments.briefly(op)
            raise type_error("from_state", "op must be a string, not empty", given=given)
        state = entries.with_keys(op, state, _KEYS, "encoder")
        names = words(op, "encoder.names", state["names"])
        places = [str(place) for place in range(len(names))]
        parts = entries.with_keys(op, state["columns"], places, "encoder.columns")
        columns = []
        for place, name in zip(places, names, strict=True):
            where = f"encoder.columns.{place}"
            part = entries.with_keys(op, parts[place], ("kind", "state"), where)
            kind = arguments.choice(op, f"{where}.kind", part["kind"], tuple(_ENCODERS))
            encoder = _ENCODERS[kind]
            columns.append(encoder.from_state(op, name, f"{where}.state", part["state"]))
        left_out = entries.with_keys(op, state["dropped"], ("names", "reasons"), "encoder.dropped")
        without, reasons = (
            words(op, f"encoder.dropped.{key}", left_out[key]) for key in ("names", "reasons")
        )
        every = [*names, *without]
        if not names or len(set(every)) < len(every) or len(without) != len(reasons):
            requirement = (
                "encoder must have names that differ, and a reason for each that is dropped"
            )
            raise value_error(op, requirement, names=len(names), dropped=len(without))
        return cls(columns, dict(zip(without, reasons, strict=True)))


def _distinct(names: Iterable[str]) -> list[str]:
    """The names, numbered where one occurs again, as where a column is called "size missing"."""
    seen: Counter[str] = Counter()
    result = []
    for name in names:
        seen[name] += 1
        result.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
    return result


def checked_kinds(names: Sequence[str], kinds: Any) -> dict[str, str]:
    """The kinds that somebody gives columns, checked."""
    if not isinstance(kinds, Mapping):
        given = arguments.briefly(kinds)
        raise type_error("fit", "kinds must be a dict from names of columns to kinds", kinds=given)
    for name, kind in kinds.items():
        if not isinstance(name, str) or name not in names:
            hint = nearest(name, names) if isinstance(name, str) else ""
            raise value_error(
                "fit", f"kinds must be of columns of the table{hint}", name=arguments.briefly(name)
            )
        arguments.choice("fit", f"kinds[{name!r}]", kind, (*KINDS, "drop"))
    return dict(kinds)


def _fitted(summary: ColumnSummary) -> tuple[Features | None, str]:
    """What encodes a column, or None and the reason why nothing does."""
    chosen = summary.chosen
    if chosen == "drop":
        return None, "as asked"
    if summary.missing == summary.rows:
        return None, "all cells are missing"
    kind = summary.kind
    if kind == "text":
        asked = "as asked" if chosen else "different in most rows: an id or text"
        return None, asked
    if chosen is None and kind == "number" and _is_id(summary):
        hint = f"kinds={{{summary.name!r}: 'number'}} keeps it"
        return None, f"whole numbers, different in every row: an id ({hint})"
    found = _ENCODERS[kind].of(summary)
    if found is None:
        if summary.words_differ:
            hint = f"kinds={{{summary.name!r}: 'category'}} takes them as words"
            return None, f"numbers that differ in digits that no float has: an id ({hint})"
        return None, f"constant: {summary.first!r} in every row"
    return found, ""


def _is_id(summary: ColumnSummary) -> bool:
    """Whole numbers that all differ, and are called so or number the rows, some of which are gone."""
    rows = summary.rows
    if not summary.is_whole or rows <= _FEW or summary.missing:
        return False
    low, high = summary.moments.low, summary.moments.high
    numbers_rows = 0 <= low <= rows and high - low < 2 * rows
    return bool((numbers_rows or _CALLED_ID.search(summary.name)) and summary.are_distinct)
