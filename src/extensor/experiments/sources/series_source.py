"""Series: rows of a table one after the other in time, of which the next are to be learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from extensor.core import entries
from extensor.data import ArrayDataset
from extensor.data.table import Column, Table, TableEncoder, read_table
from extensor.data.window_datasets import SeriesWindows
from extensor.errors import arguments, type_error, value_error
from extensor.experiments.goal import Goal, choose_task
from extensor.experiments.sources.preparation import PreparedData, Samples, held_fractions
from extensor.experiments.sources.table_source import (
    READING,
    TablePreparation,
    advice_on_data,
    check_columns,
    check_numbers,
    counted_rows,
    in_words_of_data,
    kinds_of_columns,
    numbers_of,
    summary_of_columns,
    target_names,
)
from extensor.experiments.spec import DataSpec, ExperimentSpec

_GAP = 1.5  # usual steps; months and quarters differ less
_UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


@dataclass(eq=False)
class SeriesPreparation(TablePreparation):
    """The preparation of a table, with the numbers of rows to look at and to forecast."""

    kind = "series"

    columns: list[str]  # to forecast; the goal has a name for each future row
    time: str | None  # the column in whose order rows are
    window: int
    horizon: int

    def arguments(self) -> dict[str, Any]:
        width = len(self.encoder.features)
        return {"inputs": self.window * width, "outputs": self.goal.outputs}

    def labelled(self, source: Any) -> Samples:
        table = self._in_order(source)
        check_columns(table, self.columns)
        needed = self.window + self.horizon
        if len(table) < needed:
            requirement = (
                f"{table.source} must have at least {needed} rows, "
                f"{self.window} of input and {self.horizon} to forecast"
            )
            raise value_error("data", requirement, rows=len(table))
        windows = self.windows(table)
        begins = [f"rows {i + self.window + 1} on" for i in windows.starts.tolist()]
        return Samples(windows, begins, self.encoder.remarks(table))

    def unlabelled(self, source: Any) -> Samples:
        """The last rows, from which the rows after the end are forecast."""
        table = self._in_order(source)
        if len(table) < self.window:
            requirement = f"{table.source} must have at least {self.window} rows of input"
            raise value_error("data", requirement, rows=len(table))
        last = table.rows(np.arange(len(table) - self.window, len(table)))
        inputs = ArrayDataset(self.encoder.encode(last)[None])
        return Samples(inputs, ["after the last row"], self.encoder.remarks(last))

    def _in_order(self, source: Any) -> Table:
        table = self._read(source)
        check_order(table, self.time)
        return table

    def windows(self, table: Table, begin: int = 0, end: int | None = None) -> SeriesWindows:
        """The windows of some rows, with the rows after each."""
        rows = np.arange(begin, len(table) if end is None else end)
        part, count = table.rows(rows), len(self.columns)
        scale = Goal("regression", mean=self.goal.mean[:count], std=self.goal.std[:count])
        numbers = scale.scaled(_numbers(part, self.columns))
        return SeriesWindows(self.encoder.encode(part), numbers, self.window, self.horizon)

    @classmethod
    def from_state(cls, state: Any, op: str = "load") -> SeriesPreparation:
        """Restore it from the result of :meth:`state_dict`, checked."""
        stored = dict(cls._stored(op, state))
        own = {key: stored.pop(key) for key in ("columns", "time", "window", "horizon")}
        table = TablePreparation.from_state(stored, op)
        for key in ("window", "horizon"):
            own[key] = entries.count(op, key, own[key])
        columns, horizon, goal = own["columns"], own["horizon"], table.goal
        if not isinstance(columns, list) or not all(isinstance(x, str) for x in columns):
            raise value_error(op, "preparation.columns must be a list of names")
        if not isinstance(own["time"], str | None):
            raise type_error(op, "preparation.time must be the name of a column, or None")
        is_right = goal.task == "regression" and len(goal.names) == horizon * len(columns)
        if min(own["window"], horizon) < 1 or not is_right:
            raise value_error(op, "preparation must forecast each column for each future row")
        return cls(**vars(table), **own)


def prepare(spec: ExperimentSpec, learnt: SeriesPreparation | None) -> PreparedData:
    """Read the table, and cut it in time: the last rows are for the test."""
    data = spec.data
    data.check_entry("task", ["regression"], "'regression' for a series")
    horizon = 1 if data.horizon is None else data.horizon
    horizon = arguments.integer("config", "data.horizon", horizon, 1)
    window = 2 * horizon if data.window is None else data.window
    window = arguments.integer("config", "data.window", window, 1)
    with advice_on_data():
        whole = read_table(str(data.train), **data.options(*READING))
    names, why = target_names(whole, data.target, are_inputs_too=True)
    columns = [whole[name] for name in names]
    asked = spec.with_data(task="regression")
    check_numbers(columns, asked)
    choose_task(summary_of_columns(columns), asked)
    kinds = kinds_of_columns(whole, data)
    # Rows should be in the order of the first column of dates that is not left out.
    dates = [x for x in whole.names if whole[x].kind == "date" and kinds.get(x) != "drop"]
    time = dates[0] if dates else None
    check_order(whole, time)
    first, second = _cuts(whole, data, window, horizon)
    preparation = learnt or _learn(whole.rows(np.arange(first)), names, time, spec, window, horizon)

    def part(begin: int, end: int, path: str | None = None) -> Any:
        if path is not None:
            return preparation.labelled(path).dataset
        return preparation.windows(whole, begin, end)

    # Inputs may reach into the part before, targets do not.
    parts = (
        part(0, first),
        part(first - window, second, data.validation),
        part(second - window, len(whole), data.test),
    )
    several = "row" if horizon == 1 else f"{horizon} rows"
    lines = [
        counted_rows(whole, " in order"),
        *map(in_words_of_data, whole.said),
        *describe_times(whole, time),
        *([why] if why else []),
        *(f"  {in_words_of_data(line)}" for line in preparation.encoder.describe()),
        *_describe_unlearned(whole, preparation.encoder, time),
        f"task regression: {', '.join(names)} of the next {several} from the last {window}",
        f"divided in order: {len(parts[0]):,} windows to train on, "
        f"{len(parts[1]):,} for validation, {len(parts[2]):,} for the test",
    ]
    target = names[0] if len(names) == 1 else names
    changed = {"task": "regression", "target": target, "window": window, "horizon": horizon}
    begins = [f"rows {i + second + 1} on" for i in parts[2].starts.tolist()]
    begun = None if data.test is not None else begins
    return PreparedData(spec.with_data(**changed), preparation, *parts, lines, begun)


def _cuts(whole: Table, data: DataSpec, window: int, horizon: int) -> tuple[int, int]:
    """The first rows for validation and for the test."""
    shares, length = held_fractions(data), len(whole)
    second = length - round(shares[1] * length)
    first = second - round(shares[0] * length)
    for name, size, share, least in (
        ("training", first, 1.0, window + horizon),
        ("validation", second - first, shares[0], horizon),
        ("the test", length - second, shares[1], horizon),
    ):
        if share and size < least:
            requirement = (
                f"{whole.source} must have {least} rows or more for {name}, or window and horizon "
                "be less"
            )
            given = {"rows": length, "window": window, "horizon": horizon}
            raise value_error("data", requirement, **given, **{name.split()[-1]: size})
    return first, second


def _describe_unlearned(whole: Table, encoder: TableEncoder, time: str | None) -> list[str]:
    """Describe columns of dates that are not learned."""
    names = [x for x in whole.names if x not in encoder.names and x not in encoder.dropped]
    what = {name: "the order of the rows" if name == time else "a time" for name in names}
    return [f"  {x}: {what[x]}, not learned (data.columns.{x}=date learns it)" for x in names]


def _learn(
    train: Table,
    names: list[str],
    time: str | None,
    spec: ExperimentSpec,
    window: int,
    horizon: int,
) -> SeriesPreparation:
    # The past of a target is an input too: it tells most.
    kinds = {**dict.fromkeys(names, "number"), **kinds_of_columns(train, spec.data)}
    # Every future time is outside the learned range, so times only give the order.
    times = [name for name in train.names if train[name].kind == "date" and name not in kinds]
    with advice_on_data():
        encoder = TableEncoder.fit(train.without(*times), kinds)
    ahead = [f"{name} +{step + 1}" for step in range(horizon) for name in names]
    goal, numbers = Goal("regression", tuple(ahead)), _numbers(train, names)
    if spec.is_of_any_scale:
        goal = goal.learned_scale(np.tile(numbers, (1, horizon)))
    read = (spec.data.options(*READING), dict(train.options))
    return SeriesPreparation(encoder, goal, *read, names, time, window, horizon)


def _numbers(table: Table, names: list[str]) -> Any:
    """The numbers to forecast, one in each row."""
    for name in names:
        column = table[name]
        if column.missing.any():
            requirement = "a series must have a number to learn in each row"
            raise column.cell_error("data", requirement, int(column.missing.argmax()))
    return numbers_of([table[name] for name in names])


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


def describe_times(table: Table, time: str | None) -> list[str]:
    """Sentences on times that occur twice, and on steps that are longer than the others."""
    if time is None:
        return []
    column, lines = table[time], []
    rows, steps = _steps(column)
    if not (steps > 0).any():
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
    size, name = next(unit for unit in _UNITS if seconds >= unit[0])
    return f"1 {name}" if seconds == size else f"{seconds / size:.3g} {name}s"
