"""Tables: columns of numbers, words and dates, of which one or several are to be learned."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from extensor.arrays.dtypes import get_default_dtype
from extensor.core import entries
from extensor.data import ArrayDataset
from extensor.data.table import Column, Table, TableEncoder, as_table, read_table
from extensor.errors import arguments, value_error
from extensor.train.experiments.config import Config, nearest
from extensor.train.experiments.goal import Goal, counted
from extensor.train.experiments.kinds.parts import divided
from extensor.train.experiments.kinds.preparation import Preparation, Prepared, Samples
from extensor.train.experiments.task import Seen, Task, decided, is_of_any_scale, loss_name

ENDINGS = (".csv", ".tsv", ".tab", ".csv.gz", ".tsv.gz", ".parquet", ".feather", ".arrow", ".ipc")
_READ = ("delimiter", "decimal", "encoding", "header")
# What people call what they want to predict; otherwise it is the last column.
_USUAL = ("target", "label", "class", "y", "outcome", "species")


class TablePreparation(Preparation):
    """Which columns are read, how each becomes numbers, and what the targets stand for."""

    kind = "table"

    def __init__(
        self, encoder: TableEncoder, goal: Goal, options: dict[str, Any], found: dict[str, Any]
    ) -> None:
        self.encoder = encoder
        self.goal = goal
        self.options = options  # as [data] has them, for files that are read later
        self.found = found  # how the file to train on was written

    def arguments(self) -> dict[str, Any]:
        return {"inputs": len(self.encoder.features), "outputs": self.goal.outputs}

    def labelled(self, source: Any) -> Samples:
        table, lines = self._read(source), list[str]()
        missing = [name for name in self.goal.names if name not in table]
        if missing:
            near = nearest(missing[0], table.names)
            requirement = f"{table.source} must have the column of the targets{near}"
            raise value_error("data", requirement, column=missing[0])
        table = _with_targets(table, self.goal.names, lines)
        return Samples(
            ArrayDataset(self.encoder.encode(table), self.targets(table)), _names(table), lines
        )

    def unlabelled(self, source: Any) -> Samples:
        table = self._read(source)
        if len(table) == 0:
            raise value_error("data", f"{table.source} must have at least one row", rows=0)
        return Samples(ArrayDataset(self.encoder.encode(table)), _names(table))

    def _read(self, source: Any) -> Table:
        if not isinstance(source, str | os.PathLike):
            return as_table(source)
        path = os.fspath(source)
        table = read_table(path, **self.options)
        # A few rows may not show what a comma in a number is; a file like the first one has its.
        like = table.options.get("delimiter") == self.found.get("delimiter")
        if like and table.options.get("decimal") != self.found.get("decimal"):
            table = read_table(path, **{**self.options, "decimal": self.found["decimal"]})
        return table

    def targets(self, table: Table) -> Any:
        """The targets as the loss takes them."""
        columns = [table[name] for name in self.goal.names]
        if self.goal.task == "regression":
            return self.goal.scaled(np.stack([x.numbers() for x in columns], axis=1))
        if self.goal.task == "multilabel":
            return np.stack([x.numbers() for x in columns], axis=1).astype(get_default_dtype())
        numbers = _class_numbers(columns[0], self.goal.classes, table)
        return numbers if self.goal.task == "multiclass" else _column(numbers)

    def state_dict(self) -> dict[str, Any]:
        return {
            "encoder": self.encoder.state_dict(),
            "goal": self.goal.state_dict(),
            "options": dict(self.options),
            "found": dict(self.found),
        }

    @classmethod
    def from_state(cls, state: Any, op: str = "load") -> TablePreparation:
        """What :meth:`state_dict` gave, checked."""
        keys = ("encoder", "goal", "options", "found")
        given = entries.with_keys(op, state, keys, "preparation")
        read = [dict(entries.mapping(op, given[key], key)) for key in keys[2:]]
        for key in {**read[0], **read[1]}:
            if key not in _READ:
                raise value_error(op, f"options must be among {list(_READ)}", key=key)
        encoder = TableEncoder.from_state(given["encoder"], op)
        return cls(encoder, Goal.from_state(given["goal"], op), *read)


def _column(numbers: Any) -> Any:
    return numbers.astype(get_default_dtype())[:, None]


def _names(table: Table) -> list[str]:
    return [f"row {i + 1}" for i in range(len(table))]


def reading(table: Config) -> dict[str, Any]:
    """What ``[data]`` says of how a table is written."""
    return {key: table[key] for key in _READ if key in table}


def prepare(config: Config, state: Any = None) -> Prepared:
    """Read the table, learn from the part to train on, and encode all parts."""
    table = config["data"]
    whole = read_table(table["train"], **reading(table))
    lines = [f"{whole.source}: {len(whole):,} rows, {len(whole.names)} columns", *whole.said]
    names, why = target_names(whole, table.get("target"))
    lines += [why] if why else []
    whole = _with_targets(whole, names, lines)
    columns = [whole[name] for name in names]
    task = decided(seen_in_columns(columns), config)
    goal = _goal(columns, task, loss_name(config))
    groups = _groups(whole, table)
    labels = None
    if goal.task in ("binary", "multiclass"):
        labels = _class_numbers(columns[0], goal.classes, whole)
    division = divided(config, len(whole), labels, groups)
    if state is not None:
        made = TablePreparation.from_state(state)
    else:
        made = _learned(whole.rows(division.train), goal, config)
    lines += _found(whole, made, task, labels, division.said(config))
    train = _part(made, whole, division.train)
    validation = _own_part(made, whole, division.validation, table.get("validation"))
    test = _own_part(made, whole, division.test, table.get("test"))
    changed = {"target": names[0] if len(names) == 1 else names, "task": task.name}
    return Prepared(
        {**config, "data": {**table, **changed}}, made, train.dataset, validation.dataset,
        test.dataset, lines, test.names, made.targets(whole.rows(division.train)),
    )  # fmt: skip


def _part(made: TablePreparation, whole: Table, rows: Any) -> Samples:
    part = whole.rows(rows)
    names = [f"row {i + 1}" for i in rows.tolist()]
    return Samples(ArrayDataset(made.encoder.encode(part), made.targets(part)), names)


def _own_part(made: TablePreparation, whole: Table, rows: Any, path: str | None) -> Samples:
    return _part(made, whole, rows) if path is None else made.labelled(path)


def target_names(table: Table, given: Any) -> tuple[list[str], str]:
    """The columns to be learned, and why if nobody said so."""
    if given is None:
        lower = {name.lower(): name for name in table.names}
        usual = [lower[name] for name in _USUAL if name in lower]
        if len(table.names) < 2:
            requirement = f"{table.source} must have a column of targets beside the inputs"
            raise value_error("data", requirement, columns=table.names)
        chosen = usual[0] if usual else table.names[-1]
        place = "by its name" if usual else "the last"
        return [chosen], f"target {chosen!r}, {place} (data.target says another)"
    several = given if isinstance(given, list) else [given]
    found = [_named(table, one) for one in several]
    if not found or len(set(found)) < len(found) or len(found) >= len(table.names):
        requirement = "data.target must be different columns, and not all of them"
        raise value_error("config", requirement, target=given)
    return found, ""


def _named(table: Table, target: Any) -> str:
    if isinstance(target, str):
        if target not in table:
            near = nearest(target, table.names)
            raise value_error("data", f"{table.source} must have the column{near}", target=target)
        return target
    number = arguments.integer("config", "data.target", target)
    if not -len(table.names) <= number < len(table.names):
        requirement = f"data.target must be one of {len(table.names)} columns"
        raise value_error("config", requirement, target=number)
    return table.names[number]


def _with_targets(table: Table, names: Any, lines: list[str]) -> Table:
    """The rows that have their targets."""
    missing = np.any([table[name].missing for name in names], axis=0)
    if not missing.any():
        return table
    kept = np.flatnonzero(~missing)
    if not len(kept):
        raise value_error("data", f"{table.source} must have targets", column=names[0])
    lines.append(f"{len(table) - len(kept):,} rows without a target are left out")
    return table.rows(kept)


def seen_in_columns(columns: list[Column]) -> Seen:
    """What targets in columns look like."""
    words = any(column.kind != "number" for column in columns)
    distinct = {value: None for column in columns for value in column.distinct()}
    whole = not words and all(column.is_whole for column in columns)
    return Seen(len(columns), len(columns[0].missing), words, whole, list(distinct))


def _goal(columns: list[Column], task: Task, loss: str) -> Goal:
    names = tuple(column.name for column in columns)
    scores = "probabilities" if loss == "BCELoss" else "logits"
    if task.name == "regression":
        return Goal(task.name, names)
    if task.name == "multilabel":
        return Goal(task.name, names, names, scores=scores)
    if len(columns) > 1:
        requirement = f"data.target must be one column for the task {task.name}"
        raise value_error("config", requirement, target=list(names))
    return Goal(task.name, names, tuple(map(_word, columns[0].distinct())), scores=scores)


def _word(value: Any) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _class_numbers(column: Column, classes: tuple[str, ...], table: Table) -> Any:
    numbers = {name: number for number, name in enumerate(classes)}
    if column.kind == "number" and all(_is_number(name) for name in classes):
        words = [_word(x) for x in column.numbers().tolist()]
    else:
        words = list(column.words())
    found = np.array([numbers.get(word, -1) for word in words], np.int64)
    if len(found) and found.min() < 0:
        row = int((found < 0).argmax())
        shown = list(classes[:10])
        requirement = f"{table.source}: targets must be classes of the training data, {shown}"
        raise value_error("data", requirement, row=row + 1, target=words[row])
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _groups(table: Table, options: Config) -> Any:
    if "group" not in options:
        return None
    words = table[_named(table, options["group"])].words()
    return np.unique([str(word) for word in words], return_inverse=True)[1]


def _learned(train: Table, goal: Goal, config: Config) -> TablePreparation:
    table = config["data"]
    kinds = dict(table.get("columns", {}))
    for name in (*kinds, *table.get("drop", [])):
        _named(train, name)
    without = [*goal.names, *table.get("drop", [])]
    without += [_named(train, table["group"])] if "group" in table else []
    encoder = TableEncoder.fit(train.without(*without), kinds)
    if not encoder.features:
        raise value_error("data", "no column is left to learn from", dropped=encoder.dropped)
    if goal.task == "regression" and is_of_any_scale(config):
        numbers = np.stack([train[name].numbers() for name in goal.names], axis=1)
        goal = goal.learned_scale(numbers)
    return TablePreparation(encoder, goal, reading(table), dict(train.options))


def _found(
    whole: Table, made: TablePreparation, task: Task, labels: Any, division: str
) -> list[str]:
    lines = [f"  {line}" for line in made.encoder.describe()]
    lines += [f"  {name}: left out, {why}" for name, why in made.encoder.dropped.items()]
    lines.append(f"task {task.name}: {task.reason}")
    if labels is not None:
        lines.append(f"classes {counted(made.goal, labels)}")
        rare = np.bincount(labels, minlength=len(made.goal.classes))
        few = [made.goal.classes[i] for i in np.flatnonzero(rare < 3)]
        if few:
            lines.append(f"few samples of {', '.join(few[:8])}: not in every part")
    return [*lines, f"divided: {division}"]
