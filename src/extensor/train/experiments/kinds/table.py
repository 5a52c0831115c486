"""Tables: columns of numbers, words and dates, of which one or several are to be learned."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from extensor.arrays.dtypes import get_default_dtype
from extensor.core import entries
from extensor.data import ArrayDataset, ShardedDataset
from extensor.data.streaming import ShardedSubset
from extensor.data.table import Column, Table, TableEncoder, as_table, read_table
from extensor.data.table.names import usual_target
from extensor.data.table.reading import ENDINGS as ENDINGS
from extensor.errors import type_error, value_error
from extensor.train.experiments.config import Config, nearest
from extensor.train.experiments.goal import Goal, counted
from extensor.train.experiments.kinds.columns import (
    advising,
    alike,
    check_classes,
    check_numbers,
    class_names,
    class_numbers,
    column_named,
    counted_rows,
    groups_of,
    kinds_of_columns,
    numbers_of,
    seen_in_columns,
    worded,
)
from extensor.train.experiments.kinds.parts import divided
from extensor.train.experiments.kinds.preparation import Preparation, Prepared, Samples
from extensor.train.experiments.kinds.sharded import (
    ShardSamples,
    check_two_parts,
    is_sharded,
    numbering,
    surveyed,
)
from extensor.train.experiments.targets import is_number
from extensor.train.experiments.task import Task, decided, is_of_any_scale, loss_name

_OWN = ("validation", "test")  # parts that may have a file of their own
_READ = ("delimiter", "decimal", "encoding", "header")


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
        if is_sharded(source):
            return self._in_shards(str(source))
        table, lines = self._read(source), list[str]()
        missing = [name for name in self.goal.names if name not in table]
        if missing:
            near = nearest(missing[0], table.names)
            requirement = f"{table.source} must have the column of the targets{near}"
            raise value_error("data", requirement, column=missing[0])
        table, rows = _with_targets(table, self.goal.names, lines)
        lines += self.encoder.remarks(table)
        dataset = ArrayDataset(self.encoder.encode(table), self.targets(table))
        return Samples(dataset, _names(rows), lines)

    def unlabelled(self, source: Any) -> Samples:
        if is_sharded(source):
            shards = ShardedDataset(Path(source), ["x"])
            self._check_encoding(shards, str(source))
            return Samples(ShardSamples(shards, lambda batch: batch, str(source)))
        table = self._read(source)
        if len(table) == 0:
            raise value_error("data", f"{table.source} must have at least one row", rows=0)
        # Lines of nothing but delimiters at the end of a file are no rows.
        lines = [*filter(_is_of_lines, table.said), *self.encoder.remarks(table)]
        rows = np.arange(len(table))
        return Samples(ArrayDataset(self.encoder.encode(table)), _names(rows), lines)

    def _check_encoding(self, dataset: ShardedDataset, source: str) -> None:
        """Refuse shards whose numbers mean something else than those that the model was trained with."""
        encoding = dataset.encoding
        if encoding is None or encoding.encoder.state_dict() != self.encoder.state_dict():
            requirement = (
                "shards must be encoded as those trained with (extensor pack FILE FOLDER --like "
                "SHARDS, or pack(like=), makes such)"
            )
            raise value_error("data", requirement, path=source)

    def _in_shards(self, path: str) -> Samples:
        dataset = ShardedDataset(path)
        self._check_encoding(dataset, path)
        check_two_parts(dataset, path)
        if self.goal.task in ("binary", "multiclass"):
            are_numbers = all(map(is_number, self.goal.classes))
            if dataset.classes is None and not are_numbers:
                shown = list(self.goal.classes[:10])
                requirement = f"targets must be classes of the training data, {shown}"
                raise value_error("data", requirement, path=path)
            distinct = surveyed(path, dataset.parts[1].name).distinct
            numbering(dataset.classes, self.goal, path)(distinct)
        return Samples(self.of_shards(dataset, dataset.classes, path))

    def of_shards(
        self,
        dataset: ShardedDataset | ShardedSubset,
        names: list[str] | None = None,
        source: str = "",
    ) -> ShardSamples:
        """Packed rows as the model and its loss take them; ``names`` are those of the classes there."""
        numbers = numbering(names, self.goal, source)
        return ShardSamples(
            dataset, lambda batch: (batch[0], self._packed_targets(numbers(batch[1]))), source
        )

    def _packed_targets(self, targets: Any) -> Any:
        if self.goal.task == "regression":
            return self.goal.scaled(targets.reshape(len(targets), -1))
        if self.goal.task == "multilabel":
            return targets.astype(get_default_dtype())
        return targets if self.goal.task == "multiclass" else _column(targets)

    def _read(self, source: Any) -> Table:
        if not isinstance(source, str | os.PathLike):
            return as_table(source)
        path = os.fspath(source)
        with advising():
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
            return self.goal.scaled(numbers_of(columns))
        if self.goal.task == "multilabel":
            return numbers_of(columns, are_labels=True).astype(get_default_dtype())
        numbers = class_numbers(columns[0], self.goal.classes)
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
        read = [_restored_options(op, key, given[key]) for key in keys[2:]]
        encoder = TableEncoder.from_state(given["encoder"], op)
        goal = Goal.from_state(given["goal"], op)
        named = len(goal.classes) > 1 or goal.task == "regression"
        if not goal.names or not named or goal.task == "sequence":
            requirement = "goal must name the columns and the classes to be learned"
            raise value_error(op, requirement, task=goal.task)
        return cls(encoder, goal, *read)


def _restored_options(op: str, name: str, value: Any) -> dict[str, Any]:
    """How a file is written, from a state: as ``[data]`` says, or all that was found."""
    options = dict(entries.mapping(op, value, f"preparation.{name}"))
    if not options.keys() <= {*_READ} or (name == "found" and len(options) not in (0, len(_READ))):
        requirement = f"preparation.{name} must say how a table is written, by {list(_READ)}"
        raise value_error(op, requirement, keys=list(options))
    for key, option in options.items():
        if not isinstance(option, bool | None if key == "header" else str | None):
            raise type_error(op, f"preparation.{name}.{key} must be of the kind that data.{key} is")
    return options


def _column(numbers: Any) -> Any:
    return numbers.astype(get_default_dtype())[:, None]


def _names(rows: Any) -> list[str]:
    return [f"row {i + 1}" for i in rows.tolist()]


def _is_of_lines(sentence: str) -> bool:
    return sentence.startswith("lines ")


def reading(table: Config) -> dict[str, Any]:
    """What ``[data]`` says of how a table is written."""
    return {key: table[key] for key in _READ if key in table}


def prepare(config: Config, state: Any = None) -> Prepared:
    """Read the table, learn from the part to train on, and encode all parts."""
    table = config["data"]
    with advising():
        whole = read_table(table["train"], **reading(table))
    lines = [counted_rows(whole), *map(worded, whole.said)]
    names, why = target_names(whole, table.get("target"))
    lines += [why] if why else []
    whole, places = _with_targets(whole, names, lines)
    columns = [whole[name] for name in names]
    check_numbers(columns, config)
    task = decided(seen_in_columns(columns), config)
    if "task" not in table:
        check_classes(columns[0], whole.said)
    goal = _goal(columns, task, loss_name(config))
    groups = groups_of(whole, table, names)
    labels = None
    if goal.task in ("binary", "multiclass"):
        labels = class_numbers(columns[0], goal.classes)
    division = divided(config, len(whole), labels, groups)
    if state is not None:
        made = TablePreparation.from_state(state)
    else:
        made = _learned(whole.rows(division.train), goal, config)
    lines += _found(whole, made, task, labels, division.said(config))
    train = _part(made, whole, division.train, places)
    validation = _own_part(made, whole, division.validation, places, table.get("validation"))
    test = _own_part(made, whole, division.test, places, table.get("test"))
    for name, part in (("validation", validation), ("test", test)):
        lines += [f"{table[name]}: {line}" for line in part.lines] if name in table else []
    changed = {"target": names[0] if len(names) == 1 else names, "task": task.name}
    return Prepared(
        {**config, "data": {**table, **changed}}, made, train.dataset, validation.dataset,
        test.dataset, lines, test.names, made.targets(whole.rows(division.train)),
    )  # fmt: skip


def _part(made: TablePreparation, whole: Table, rows: Any, places: Any) -> Samples:
    part = whole.rows(rows)
    dataset = ArrayDataset(made.encoder.encode(part), made.targets(part))
    return Samples(dataset, _names(places[rows]))


def _own_part(
    made: TablePreparation, whole: Table, rows: Any, places: Any, path: str | None
) -> Samples:
    return _part(made, whole, rows, places) if path is None else made.labelled(path)


def target_names(table: Table, given: Any, are_inputs_too: bool = False) -> tuple[list[str], str]:
    """The columns to be learned, and why if that is not what somebody wrote.

    Unless they ``are_inputs_too``, as those of a series, there must be others beside them.
    """
    if not are_inputs_too and len(table.names) < 2:
        requirement = f"{table.source} must have a column of targets beside the inputs"
        raise value_error("data", requirement, columns=table.names)
    if given is None:
        chosen, place = usual_target(table.names)
        return [chosen], f"target {chosen!r}, {place} (another: --target or data.target)"
    several = given if isinstance(given, list) else [given]
    found = [column_named(table, one, "target") for one in several]
    is_all = len(found) >= len(table.names) and not are_inputs_too
    if not found or len(set(found)) < len(found) or is_all:
        requirement = (
            f"data.target must be different columns of {table.source}, and not all of them"
        )
        raise value_error("config", requirement, target=given)
    numbered = found != several
    return found, f"target {', '.join(map(repr, found))}, by number" if numbered else ""


def _with_targets(table: Table, names: Any, lines: list[str]) -> tuple[Table, Any]:
    """The rows that have their targets, and which they are."""
    missing = np.any([table[name].missing for name in names], axis=0)
    kept = np.flatnonzero(~missing)
    if not missing.any():
        return table, kept
    if not len(kept):
        raise value_error("data", f"{table.source} must have targets", column=names[0])
    gone = len(table) - len(kept)
    where = table[names[0]].origin.place(int(missing.argmax()))
    unit = "line" if "line" in where else "row"
    words = f"1 row without a target is left out, {unit} {where[unit]}"
    if gone > 1:
        words = f"{gone:,} rows without a target are left out, the first {unit} {where[unit]}"
    lines.append(words)
    return table.rows(kept), kept


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
    return Goal(task.name, names, class_names(columns[0]), scores=scores)


def _learned(train: Table, goal: Goal, config: Config) -> TablePreparation:
    table = config["data"]
    kinds = kinds_of_columns(train, table, goal.names)
    if "group" in table:
        kinds[column_named(train, table["group"], "group")] = "drop"
    if {*kinds.values()} == {"drop"} and len(kinds) + len(goal.names) == len(train.names):
        requirement = f"{train.source} must have a column to learn from beside those left out"
        raise value_error("data", requirement, target=list(goal.names), left_out=list(kinds))
    with advising():
        encoder = TableEncoder.fit(train.without(*goal.names), kinds)
    if goal.task == "regression" and is_of_any_scale(config):
        goal = goal.learned_scale(numbers_of([train[name] for name in goal.names]))
    return TablePreparation(encoder, goal, reading(table), dict(train.options))


def _found(
    whole: Table, made: TablePreparation, task: Task, labels: Any, division: str
) -> list[str]:
    lines = [f"  {worded(line)}" for line in made.encoder.describe()]
    lines.append(f"task {task.name}: {task.reason}")
    if labels is not None:
        lines.append(f"classes {counted(made.goal, labels)}")
        lines += filter(None, [alike(made.goal.classes)])
        rare = np.bincount(labels, minlength=len(made.goal.classes))
        few = [made.goal.classes[i] for i in np.flatnonzero(rare < 3)]
        if few:
            lines.append(f"few samples of {', '.join(few[:8])}: not in every part")
    return [*lines, f"divided: {division}"]
