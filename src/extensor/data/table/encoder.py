"""Encoding of table columns as the features of a matrix."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, ClassVar, Self

import numpy as np

from extensor.core import entries
from extensor.data.table.cells import ORDERS, number_text
from extensor.data.table.column_statistics import CYCLES, ColumnSummary, Scale, finite_numbers
from extensor.data.table.columnar import KINDS, Column, Table
from extensor.data.table.memory_table import as_table
from extensor.errors import arguments, type_error, value_error
from extensor.errors.suggestions import nearest

LEVELS = 50
_SHOWN = 5  # categories that a description names


@dataclass(frozen=True)
class _ColumnFeatures:
    """The features of a column; the fields of a subclass are its state."""

    name: str

    def state(self) -> dict[str, Any]:
        """Plain values."""
        state = {x.name: getattr(self, x.name) for x in fields(self)[1:]}
        return {key: list(x) if isinstance(x, tuple) else x for key, x in state.items()}

    @classmethod
    def from_state(cls, op: str, name: str, where: str, state: Any) -> Self:
        """The features with such a state, checked; messages name it ``where``."""
        state = entries.with_keys(op, state, [x.name for x in fields(cls)[1:]], where)
        return cls(name, **cls._checked(op, where, state))

    @classmethod
    def _checked(cls, op: str, where: str, state: Mapping[str, Any]) -> dict[str, Any]:
        raise NotImplementedError


@dataclass(frozen=True)
class NumberFeatures(_ColumnFeatures):
    """A number less its mean, in deviations; where some were missing, also whether it is."""

    kind: ClassVar[str] = "number"
    mean: float
    deviation: float
    low: float
    high: float
    missing: int

    @classmethod
    def of(cls, summary: ColumnSummary, **more: Any) -> Self | None:
        """From the rows to learn from; None if they do not differ."""
        x, missing = summary.moments, summary.missing
        if x.deviation == 0 and not missing:
            return None
        return cls(summary.name, x.mean, x.deviation, x.low, x.high, missing, **more)

    @property
    def scale(self) -> Scale:
        """How the numbers are standardized."""
        return Scale(self.mean, self.deviation)

    @property
    def features(self) -> list[str]:
        value = [self.name] if self.deviation else []
        return [*value, *([f"{self.name} missing"] if self.missing else [])]

    def encoded(self, column: Column, op: str) -> list[Any]:
        values = finite_numbers(column, op)
        result = [self.scale.applied(values)] if self.deviation else []
        return [*result, column.missing] if self.missing else result

    def remarks(self, column: Column) -> list[str]:
        return unexpected(self.name, column, self.missing, "the mean")

    def said(self) -> str:
        span = " to ".join(_short(x) for x in (self.low, self.high))
        if not self.deviation:
            return f"number, {span}{_missing_text(self.missing)}; whether it is missing"
        too = ", and whether it is missing" if self.missing else ""
        return f"number, {span}{_missing_text(self.missing)}; standardized{too}"

    @classmethod
    def _checked(cls, op: str, where: str, state: Mapping[str, Any]) -> dict[str, Any]:
        numbers = {
            key: float(entries.number(op, f"{where}.{key}", state[key]))
            for key in ("mean", "deviation", "low", "high")
        }
        missing = entries.count(op, f"{where}.missing", state["missing"])
        is_range = all(map(isfinite, numbers.values())) and numbers["low"] <= numbers["high"]
        has_feature = numbers["deviation"] > 0 or (numbers["deviation"] == 0 and missing > 0)
        if not (is_range and has_feature):
            requirement = f"{where} must have a mean, a deviation and a range, all finite"
            raise value_error(op, requirement, **numbers)
        return {**numbers, "missing": missing}


@dataclass(frozen=True)
class CategoryFeatures(_ColumnFeatures):
    """A feature for each word, one for all others, and one for none where some were missing."""

    kind: ClassVar[str] = "category"
    levels: tuple[str, ...]
    rest: int  # how many words there were besides
    missing: int
    is_plain: bool  # numbers, which may be written in other ways

    @staticmethod
    def of(summary: ColumnSummary) -> CategoryFeatures | None:
        """From the rows to learn from; None if they do not differ."""
        counted, missing = summary.counted_words, summary.missing
        if len(counted) < 2 and not missing:
            return None
        common = sorted(counted, key=lambda word: (-counted[word], word))
        levels = tuple(sorted(common[:LEVELS]))
        rest = len(counted) - len(levels)
        return CategoryFeatures(summary.name, levels, rest, missing, summary.is_plain)

    @property
    def features(self) -> list[str]:
        levels = [f"{self.name}={level}" for level in self.levels]
        gone = [f"{self.name} missing"] if self.missing else []
        return [*levels, f"{self.name} other", *gone]

    def encoded(self, column: Column, op: str) -> list[Any]:
        words = column.plain_words() if self.is_plain else column.words()
        places: dict[Any, int] = {level: place for place, level in enumerate(self.levels)}
        if self.missing:
            places[None] = len(self.levels) + 1
        other = len(self.levels)
        found = np.fromiter((places.get(word, other) for word in words), np.int64, len(words))
        return [found == place for place in range(len(self.features))]

    def remarks(self, column: Column) -> list[str]:
        words = column.plain_words() if self.is_plain else column.words()
        new = sorted({*words[~column.missing]} - {*self.levels})
        if self.rest or not new:  # the rest of the words is not kept
            return unexpected(self.name, column, self.missing, "other")
        values = "1 value" if len(new) == 1 else f"{len(new)} values"
        shown = ", ".join(map(repr, new[:_SHOWN])) + (", ..." if len(new) > _SHOWN else "")
        found = f"{self.name}: {values} that training did not have ({shown}), taken as other"
        return [found, *unexpected(self.name, column, self.missing, "other")]

    def said(self) -> str:
        shown = ", ".join(self.levels[:_SHOWN]) + (", ..." if len(self.levels) > _SHOWN else "")
        number = len(self.levels) + self.rest
        rest = f", {self.rest} of them as other" if self.rest else ""
        words = "value" if number == 1 else "values"
        return f"category, {number} {words} ({shown}){_missing_text(self.missing)}; one-hot{rest}"

    @classmethod
    def _checked(cls, op: str, where: str, state: Mapping[str, Any]) -> dict[str, Any]:
        levels = words(op, f"{where}.levels", state["levels"])
        if not 1 <= len(levels) <= LEVELS or levels != sorted(set(levels)):
            requirement = f"{where}.levels must be 1 to {LEVELS} words in their order, each once"
            raise value_error(op, requirement, levels=len(levels))
        counts = {
            key: entries.count(op, f"{where}.{key}", state[key]) for key in ("rest", "missing")
        }
        is_plain = entries.truth(op, f"{where}.is_plain", state["is_plain"])
        return {"levels": tuple(levels), **counts, "is_plain": is_plain}


def unexpected(name: str, column: Column, missing: int, instead: str) -> list[str]:
    """A sentence on cells that are missing, where none were."""
    number = int(column.missing.sum())
    if missing or not number:
        return []
    return [f"{name}: {number} missing, as none was in training; taken as {instead}"]


def words(op: str, name: str, value: Any) -> list[str]:
    """A list of strings, none empty, from a state."""
    if not isinstance(value, list | tuple) or not all(isinstance(x, str) and x for x in value):
        raise type_error(op, f"{name} must be a list of strings, none empty")
    return list(value)


def _short(value: float) -> str:
    """A number for a person: whole, or of four digits."""
    return number_text(value) if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"


def _missing_text(number: int) -> str:
    return f", {number} missing" if number else ""


_DAY = 86_400  # seconds
_LIMIT = 2**40  # seconds from 1970, some 30,000 years


@dataclass(frozen=True)
class DateFeatures(NumberFeatures):
    """A date in seconds from 1970, standardized, and a sine and a cosine for each cycle that varied."""

    kind: ClassVar[str] = "date"
    cycles: tuple[str, ...]
    order: str | None  # of day, month and year, as it was written

    @classmethod
    def of(cls, summary: ColumnSummary, **more: Any) -> Self | None:
        """From the rows to learn from; None if they do not differ."""
        cycles = tuple(x for x in CYCLES if summary.cycles[x][0] < summary.cycles[x][1])
        return super().of(summary, cycles=cycles, order=summary.order, **more)

    @property
    def features(self) -> list[str]:
        waves = [f"{self.name} {wave} of {x}" for x in self.cycles for wave in ("sine", "cosine")]
        usual = super().features
        position = len(usual) - bool(self.missing)
        return [*usual[:position], *waves, *usual[position:]]

    def encoded(self, column: Column, op: str) -> list[Any]:
        dates = column.dates(self.order, op)
        seconds = np.where(column.missing, np.nan, dates.astype(np.int64).astype(np.float64))
        result = [self.scale.applied(seconds)] if self.deviation else []
        for cycle in self.cycles:
            phase = _phase(np.where(column.missing, np.datetime64(0, "s"), dates), cycle)
            angle = 2 * np.pi * phase
            result += [np.where(column.missing, 0.0, wave(angle)) for wave in (np.sin, np.cos)]
        return [*result, column.missing] if self.missing else result

    def said(self) -> str:
        low, high = (str(np.datetime64(int(x), "s")) for x in (self.low, self.high))
        span = f"{low} to {high}".replace("T00:00:00", "")
        parts = ["position in time"] if self.deviation else []
        parts += [f"cycle of the {cycle}" for cycle in self.cycles]
        parts += ["whether it is missing"] if self.missing else []
        return f"date, {span}{_missing_text(self.missing)}; {', '.join(parts)}"

    @classmethod
    def _checked(cls, op: str, where: str, state: Mapping[str, Any]) -> dict[str, Any]:
        numbers = super()._checked(op, where, state)
        low, high = numbers["low"], numbers["high"]
        if not -_LIMIT <= low <= high <= _LIMIT:
            requirement = f"{where} must have a range of years that dates have"
            raise value_error(op, requirement, low=low, high=high)
        cycles = words(op, f"{where}.cycles", state["cycles"])
        if cycles != [cycle for cycle in CYCLES if cycle in cycles]:
            requirement = f"{where}.cycles must be of {list(CYCLES)}, in that order"
            raise value_error(op, requirement, cycles=len(cycles))
        order = state["order"]
        if order is not None and (not isinstance(order, str) or order not in ORDERS):
            requirement = f"{where}.order must be one of {list(ORDERS)} or None"
            raise value_error(op, requirement, order=type(order).__name__)
        return {**numbers, "cycles": tuple(cycles), "order": order}


Features = NumberFeatures | CategoryFeatures | DateFeatures
_ENCODERS: dict[str, Any] = {x.kind: x for x in (NumberFeatures, CategoryFeatures, DateFeatures)}


def _phase(dates: Any, cycle: str) -> Any:
    """How much of the cycle is over, from 0 to 1; weeks begin on Monday."""
    if cycle == "year":
        years = dates.astype("datetime64[Y]")
        begins, ends = (x.astype("datetime64[s]") for x in (years, years + np.timedelta64(1, "Y")))
        return (dates - begins).astype(np.float64) / (ends - begins).astype(np.float64)
    seconds = dates.astype(np.int64)
    if cycle == "week":
        return (seconds + 3 * _DAY) % (7 * _DAY) / (7 * _DAY)
    return seconds % _DAY / _DAY


_KEYS = ("names", "columns", "dropped")
_FEW = 20  # rows that may well all differ
_CALLED_ID = re.compile(r"(?i:(^|[^a-z])(id|ids|index|uuid|guid|key)$)|[a-z]I[dD]$")


class TableEncoder:
    """An encoding of table columns as a matrix, fitted once and then applied to any rows.

    Numbers are standardized, and 0 where they are missing. A category has a feature for each of its 50
    most frequent words and one for all other words, including new ones. A date becomes a position in
    time and its places in the cycles of year, week and day. If cells were missing, another feature
    indicates it. Columns without information are dropped, with a reason.

    Use `fit` to create an encoder.

    Parameters
    ----------
    columns : list
        The fitted features.
    dropped : dict of str to str
        The columns without features, and the reason for each.

    Examples
    --------
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
        """Fit an encoder to all rows of a table.

        Parameters
        ----------
        table : Table, or an object that ``as_table`` accepts
            The rows for training.
        kinds : dict of str to str, optional
            The kinds of some columns instead of the inferred ones: "number", "category", "date", "text"
            (which is not encoded) or "drop".

        Returns
        -------
        TableEncoder
            The fitted encoder.

        Raises
        ------
        ValueError
            If no column can be encoded, or if a cell is not of the requested kind.
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
        """Return the encoder that `fit` creates, from statistics of the columns.

        Parameters
        ----------
        summaries : sequence of ColumnSummary
            The statistics of each column.
        source : str
            The name of the table, for messages.

        Returns
        -------
        TableEncoder
            The fitted encoder.
        """
        columns, dropped = [], {}
        for summary in summaries:
            found = _fit_column(summary)
            if isinstance(found, str):
                dropped[summary.name] = found
            else:
                columns.append(found)
        if not columns:
            requirement = "table must have a column to learn from"
            raise value_error("fit", requirement, source=source, dropped=dropped)
        return cls(columns, dropped)

    @property
    def names(self) -> list[str]:
        """Names of the columns that :meth:`encode` needs."""
        return [column.name for column in self._columns]

    @property
    def features(self) -> list[str]:
        """Names of the columns of the matrix."""
        return list(self._features)

    def encode(self, table: Table) -> Any:
        """Encode a table.

        Parameters
        ----------
        table : Table, or an object that ``as_table`` accepts
            Columns are found by name; others are ignored.

        Returns
        -------
        numpy.ndarray of float32, (rows, features)
            The matrix. Its columns are ``features``.

        Raises
        ------
        ValueError
            If a column is missing, or if a cell is not of its kind.
        """
        table = as_table(table)
        cells = [table[name] for name in self.names]
        matrix = np.empty((len(table), len(self._features)), np.float32)
        place = 0
        for column, written in zip(self._columns, cells, strict=True):
            for values in column.encoded(written, "encode"):
                matrix[:, place] = values
                place += 1
        return matrix

    def remarks(self, table: Table) -> list[str]:
        """Describe what new rows have that the rows for training did not, and how it is encoded.

        Parameters
        ----------
        table : Table, or an object that ``as_table`` accepts
            New rows.

        Returns
        -------
        list of str
            Sentences on missing cells and new words.
        """
        table = as_table(table)
        found = [column for column in self._columns if column.name in table]
        return [x for column in found for x in column.remarks(table[column.name])]

    def describe(self) -> list[str]:
        """Describe each column: its kind, its range or words, and its encoding.

        Returns
        -------
        list of str
            A line for each column.
        """
        lines = [f"{column.name}: {column.said()}" for column in self._columns]
        return lines + [f"{name}: left out, {reason}" for name, reason in self.dropped.items()]

    def __repr__(self) -> str:
        return f"TableEncoder({len(self.names)} columns, {len(self.features)} features)"

    def state_dict(self) -> dict[str, Any]:
        """Return the state from which `from_state` restores the encoder.

        Returns
        -------
        dict
            Plain values.
        """
        columns = {
            str(place): {"kind": column.kind, "state": column.state()}
            for place, column in enumerate(self._columns)
        }
        dropped = {"names": list(self.dropped), "reasons": list(self.dropped.values())}
        return {"names": self.names, "columns": columns, "dropped": dropped}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], op: str = "load") -> TableEncoder:
        """Restore an encoder.

        Parameters
        ----------
        state : dict
            A result of `state_dict`.
        op : str, default "load"
            The operation that error messages name.

        Returns
        -------
        TableEncoder
            The encoder.

        Raises
        ------
        TypeError, ValueError
            If the state is not that of an encoder.
        """
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
    """Check the kinds that the user chose for columns."""
    if not isinstance(kinds, Mapping):
        given = arguments.briefly(kinds)
        raise type_error("fit", "kinds must be a dict from names of columns to kinds", kinds=given)
    for name, kind in kinds.items():
        if not isinstance(name, str) or name not in names:
            hint = nearest(name, names) if isinstance(name, str) else ""
            requirement = f"kinds must name columns of the table{hint}"
            raise value_error("fit", requirement, name=arguments.briefly(name))
        arguments.choice("fit", f"kinds[{name!r}]", kind, (*KINDS, "drop"))
    return dict(kinds)


def _fit_column(summary: ColumnSummary) -> Features | str:
    """The features of a column, or the reason why it has none."""
    chosen = summary.chosen
    if chosen == "drop":
        return "as asked"
    if summary.missing == summary.rows:
        return "all cells are missing"
    kind = summary.kind
    if kind == "text":
        return "as asked" if chosen else "different in most rows: an id or text"
    if chosen is None and kind == "number" and _is_id(summary):
        hint = f"kinds={{{summary.name!r}: 'number'}} keeps it"
        return f"whole numbers, different in every row: an id ({hint})"
    found: Features | None = _ENCODERS[kind].of(summary)
    if found is None and summary.words_differ:
        hint = f"kinds={{{summary.name!r}: 'category'}} takes them as words"
        return f"numbers that differ in digits that no float has: an id ({hint})"
    return f"constant: {summary.first!r} in every row" if found is None else found


def _is_id(summary: ColumnSummary) -> bool:
    """Whole numbers that all differ, and are called so or number the rows, some of which are gone."""
    rows = summary.rows
    if not summary.is_whole or rows <= _FEW or summary.missing:
        return False
    low, high = summary.moments.low, summary.moments.high
    numbers_rows = 0 <= low <= rows and high - low < 2 * rows
    return bool((numbers_rows or _CALLED_ID.search(summary.name)) and summary.are_distinct)
