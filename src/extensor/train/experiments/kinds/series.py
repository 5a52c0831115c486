"""Series: rows of a table one after the other in time, of which the next are to be learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.core import entries
from extensor.data import ArrayDataset
from extensor.data.series import SeriesWindows
from extensor.data.table import Table, TableEncoder, read_table
from extensor.errors import arguments, type_error, value_error
from extensor.train.experiments.config import Config, nearest
from extensor.train.experiments.goal import Goal
from extensor.train.experiments.kinds import table as tables
from extensor.train.experiments.kinds.columns import (
    advising,
    check_numbers,
    counted_rows,
    kinds_of_columns,
    numbers_of,
    seen_in_columns,
    worded,
)
from extensor.train.experiments.kinds.parts import fractions
from extensor.train.experiments.kinds.preparation import Prepared, Samples
from extensor.train.experiments.kinds.times import check_order, time_column, times_said
from extensor.train.experiments.task import decided, is_of_any_scale

_STATE = ("encoder", "goal", "options", "found", "columns", "time", "window", "horizon")


class SeriesPreparation(tables.TablePreparation):
    """That of a table, and how many rows are looked at and foretold."""

    kind = "series"

    def __init__(
        self,
        encoder: TableEncoder,
        goal: Goal,
        options: dict[str, Any],
        found: dict[str, Any],
        columns: list[str],
        time: str | None,
        window: int,
        horizon: int,
    ) -> None:
        super().__init__(encoder, goal, options, found)
        self.columns = columns  # those to be foretold; the goal names each of the rows to come
        self.time = time  # the column in whose order rows are
        self.window = window
        self.horizon = horizon

    def arguments(self) -> dict[str, Any]:
        width = len(self.encoder.features)
        return {"inputs": self.window * width, "outputs": self.goal.outputs}

    def labelled(self, source: Any) -> Samples:
        table = self._in_order(source)
        for name in self.columns:
            if name not in table:
                requirement = f"{table.source} must have the column of the targets"
                near = nearest(name, table.names)
                raise value_error("data", f"{requirement}{near}", column=name)
        needed = self.window + self.horizon
        if len(table) < needed:
            requirement = (
                f"{table.source} must have at least {needed} rows, "
                f"{self.window} to look at and {self.horizon} to foretell"
            )
            raise value_error("data", requirement, rows=len(table))
        windows = self.windows(table)
        begins = [f"rows {i + self.window + 1} on" for i in windows.starts.tolist()]
        return Samples(windows, begins, self.encoder.remarks(table))

    def unlabelled(self, source: Any) -> Samples:
        """The last rows, from which those after the end are foretold."""
        table = self._in_order(source)
        if len(table) < self.window:
            requirement = f"{table.source} must have at least {self.window} rows to look at"
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
        part = table.rows(rows)
        numbers = _numbers(part, self.columns)
        count = len(self.columns)
        scale = Goal("regression", mean=self.goal.mean[:count], std=self.goal.std[:count])
        return SeriesWindows(
            self.encoder.encode(part), scale.scaled(numbers), self.window, self.horizon
        )

    def state_dict(self) -> dict[str, Any]:
        own = {"time": self.time, "window": self.window, "horizon": self.horizon}
        return {**super().state_dict(), "columns": list(self.columns), **own}

    @classmethod
    def from_state(cls, state: Any, op: str = "load") -> SeriesPreparation:
        """What :meth:`state_dict` gave, checked."""
        given = entries.with_keys(op, state, _STATE, "preparation")
        inner = {key: given[key] for key in _STATE[:4]}
        made = tables.TablePreparation.from_state(inner, op)
        window, horizon = (entries.count(op, key, given[key]) for key in _STATE[6:])
        columns = given["columns"]
        if not isinstance(columns, list) or not all(isinstance(x, str) for x in columns):
            raise value_error(op, "preparation.columns must be a list of names")
        if not isinstance(given["time"], str | None):
            raise type_error(op, "preparation.time must be the name of a column, or None")
        is_right = made.goal.task == "regression" and len(made.goal.names) == horizon * len(columns)
        if min(window, horizon) < 1 or not is_right:
            raise value_error(op, "preparation must foretell each column for each row to come")
        read = (made.options, made.found)
        return cls(made.encoder, made.goal, *read, columns, given["time"], window, horizon)


def prepare(config: Config, state: Any = None) -> Prepared:
    """Read the table, and cut it in time: what comes last is for the test."""
    table = config["data"]
    if table.get("task", "regression") != "regression":
        requirement = "data.task must be 'regression' for a series"
        raise value_error("config", requirement, task=table["task"])
    horizon = arguments.integer("config", "data.horizon", table.get("horizon", 1), 1)
    window = arguments.integer("config", "data.window", table.get("window", 2 * horizon), 1)
    with advising():
        whole = read_table(table["train"], **tables.reading(table))
    names, why = tables.target_names(whole, table.get("target"), are_inputs_too=True)
    columns = [whole[name] for name in names]
    asked = {**config, "data": {**table, "task": "regression"}}
    check_numbers(columns, asked)
    decided(seen_in_columns(columns), asked)
    kinds = kinds_of_columns(whole, table)
    time = time_column(whole, [name for name, kind in kinds.items() if kind == "drop"])
    check_order(whole, time)
    first, second = _cuts(whole, config, window, horizon)
    if state is not None:
        made = SeriesPreparation.from_state(state)
    else:
        made = _learned(whole.rows(np.arange(first)), names, time, config, window, horizon)
    # What is looked at may lie in the part before; what is foretold does not.
    parts = {
        "train": made.windows(whole, 0, first),
        "validation": _own(made, table.get("validation"), whole, first - window, second),
        "test": _own(made, table.get("test"), whole, second - window, len(whole)),
    }
    several = "row" if horizon == 1 else f"{horizon} rows"
    lines = [
        counted_rows(whole, " in order"),
        *map(worded, whole.said),
        *times_said(whole, time),
        *([why] if why else []),
        *(f"  {worded(line)}" for line in made.encoder.describe()),
        *_unlearned(whole, made.encoder, time),
        f"task regression: {', '.join(names)} of the next {several} from the last {window}",
        f"divided in order: {len(parts['train']):,} windows to train on, "
        f"{len(parts['validation']):,} for validation, {len(parts['test']):,} for the test",
    ]
    target = names[0] if len(names) == 1 else names
    changed = {"task": "regression", "target": target, "window": window, "horizon": horizon}
    begins = [f"rows {i + second + 1} on" for i in parts["test"].starts.tolist()]
    return Prepared(
        {**config, "data": {**table, **changed}}, made, parts["train"], parts["validation"],
        parts["test"], lines, None if "test" in table else begins,
    )  # fmt: skip


def _own(made: SeriesPreparation, path: str | None, whole: Table, begin: int, end: int) -> Any:
    return made.windows(whole, begin, end) if path is None else made.labelled(path).dataset


def _cuts(whole: Table, config: Config, window: int, horizon: int) -> tuple[int, int]:
    """The first rows for validation and for the test."""
    shares, length = fractions(config), len(whole)
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


def _unlearned(whole: Table, encoder: TableEncoder, time: str | None) -> list[str]:
    """What becomes of columns of dates that nobody has asked for."""
    names = [x for x in whole.names if x not in encoder.names and x not in encoder.dropped]
    what = {name: "the order of the rows" if name == time else "a time" for name in names}
    return [f"  {x}: {what[x]}, not learned (data.columns.{x}=date learns it)" for x in names]


def _learned(
    train: Table, names: list[str], time: str | None, config: Config, window: int, horizon: int
) -> SeriesPreparation:
    table = config["data"]
    # What is to be foretold is looked at too: its past tells most.
    kinds = {**dict.fromkeys(names, "number"), **kinds_of_columns(train, table)}
    # Every time to come lies beyond those that are learned, so the time only says the order.
    times = [name for name in train.names if train[name].kind == "date" and name not in kinds]
    with advising():
        encoder = TableEncoder.fit(train.without(*times), kinds)
    ahead = [f"{name} +{step + 1}" for step in range(horizon) for name in names]
    goal = Goal("regression", tuple(ahead))
    numbers = _numbers(train, names)
    if is_of_any_scale(config):
        goal = goal.learned_scale(np.tile(numbers, (1, horizon)))
    found = dict(train.options)
    read = (tables.reading(table), found)
    return SeriesPreparation(encoder, goal, *read, names, time, window, horizon)


def _numbers(table: Table, names: list[str]) -> Any:
    """What is to be foretold, a number in each row."""
    for name in names:
        column = table[name]
        if column.missing.any():
            requirement = "a series must have a number to learn in each row"
            where = column.origin.place(int(column.missing.argmax()))
            raise value_error("data", requirement, **where, column=name)
    return numbers_of([table[name] for name in names])
