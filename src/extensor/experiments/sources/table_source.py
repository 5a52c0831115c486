"""Tables: columns of numbers, words and dates, of which one or several are to be learned."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from extensor.core import entries
from extensor.data import ArrayDataset, ShardedDataset
from extensor.data.table import Table, TableEncoder, as_table, read_table
from extensor.data.table.reading import read_like
from extensor.data.table.sniffing import usual_target
from extensor.errors import type_error, value_error
from extensor.errors.messages import COLUMN_NOT_FOUND, suggestion
from extensor.experiments.goal import Goal, TaskChoice, choose_task, class_counts
from extensor.experiments.sources.array_targets import is_number
from extensor.experiments.sources.preparation import (
    Preparation,
    PreparedData,
    Samples,
    divide_samples,
    divide_shards,
    is_sharded,
    prepared_data,
    prepared_shards,
)
from extensor.experiments.sources.shard_samples import (
    ShardSamples,
    check_two_parts,
    class_numbering,
    survey_targets,
)
from extensor.experiments.sources.target_columns import (
    advice_on_data,
    check_classes,
    check_numbers,
    class_names,
    class_numbers,
    column_named,
    counted_rows,
    describe_similar,
    groups_of,
    in_words_of_data,
    kinds_of_columns,
    number_word,
    numbers_of,
    summary_of_columns,
    words_differ,
)
from extensor.experiments.spec import ExperimentSpec

READING = ("delimiter", "decimal", "encoding", "header")  # entries of [data]


@dataclass(eq=False)
class TablePreparation(Preparation):
    """Which columns are read, how each becomes numbers, and what the targets stand for."""

    kind = "table"

    encoder: TableEncoder
    goal: Goal
    options: dict[str, Any]  # as [data] has them, for files that are read later
    found: dict[str, Any]  # how the file to train on was written

    def arguments(self) -> dict[str, Any]:
        return {"inputs": len(self.encoder.features), "outputs": self.goal.outputs}

    def labelled(self, source: Any) -> Samples:
        if is_sharded(source):
            return self._in_shards(str(source))
        table, lines = self._read(source), list[str]()
        check_columns(table, self.goal.names)
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
        lines = [x for x in table.said if x.startswith("lines ")] + self.encoder.remarks(table)
        names = _names(np.arange(len(table)))
        return Samples(ArrayDataset(self.encoder.encode(table)), names, lines)

    def _check_encoding(self, dataset: ShardedDataset, source: str) -> None:
        """Refuse shards whose encoding differs from that of the training data."""
        encoding = dataset.encoding
        if encoding is None or encoding.encoder.state_dict() != self.encoder.state_dict():
            requirement = (
                "shards must be encoded as in training (extensor pack FILE FOLDER --like "
                "SHARDS, or pack(like=), makes such)"
            )
            raise value_error("data", requirement, path=source)

    def _in_shards(self, path: str) -> Samples:
        dataset = ShardedDataset(path)
        self._check_encoding(dataset, path)
        check_two_parts(dataset, path)
        if self.goal.row.is_of_one_class:
            are_numbers = all(map(is_number, self.goal.classes))
            if dataset.classes is None and not are_numbers:
                shown = list(self.goal.classes[:10])
                requirement = f"targets must be classes of the training data, {shown}"
                raise value_error("data", requirement, path=path)
            distinct = survey_targets(path, dataset.parts[1].name).distinct
            class_numbering(dataset.classes, self.goal, path)(distinct)
        return Samples(self.of_shards(dataset, dataset.classes, path))

    def shard_batch(self, inputs: Any, targets: Any, numbers: Callable[[Any], Any]) -> Any:
        targets = numbers(targets)
        if self.goal.task == "regression":
            targets = targets.reshape(len(targets), -1)
        return inputs, self.goal.as_loss_takes(targets)

    def _read(self, source: Any) -> Table:
        if not isinstance(source, str | os.PathLike):
            return as_table(source)
        with advice_on_data():
            return read_like(read_table, os.fspath(source), self.options, self.found)

    def targets(self, table: Table) -> Any:
        """The targets as the loss takes them."""
        columns = [table[name] for name in self.goal.names]
        if self.goal.row.is_of_one_class:
            return self.goal.as_loss_takes(class_numbers(columns[0], self.goal.classes))
        are_labels = self.goal.task == "multilabel"
        return self.goal.as_loss_takes(numbers_of(columns, are_labels))

    @classmethod
    def from_state(cls, state: Any, op: str = "load") -> TablePreparation:
        """Restore it from the result of :meth:`state_dict`, checked."""
        stored = cls._stored(op, state)
        read = [_restored_options(op, key, stored[key]) for key in ("options", "found")]
        encoder = TableEncoder.from_state(stored["encoder"], op)
        goal = Goal.from_state(stored["goal"], op)
        named = len(goal.classes) > 1 or goal.task == "regression"
        if not goal.names or not named or goal.task == "sequence":
            requirement = "goal must name the columns and the classes to be learned"
            raise value_error(op, requirement, task=goal.task)
        return cls(encoder, goal, *read)


def _restored_options(op: str, name: str, value: Any) -> dict[str, Any]:
    """The format of a file, from a state: the options of ``[data]``, or all that were inferred."""
    options = dict(entries.mapping(op, value, f"preparation.{name}"))
    is_whole = len(options) in (0, len(READING))
    if not options.keys() <= {*READING} or (name == "found" and not is_whole):
        requirement = f"preparation.{name} must say how a table is written, by {list(READING)}"
        raise value_error(op, requirement, keys=list(options))
    for key, option in options.items():
        if not isinstance(option, bool | None if key == "header" else str | None):
            raise type_error(op, f"preparation.{name}.{key} must be of the kind that data.{key} is")
    return options


def _names(rows: Any) -> list[str]:
    return [f"row {i + 1}" for i in rows.tolist()]


def check_columns(table: Table, names: Iterable[str]) -> None:
    """Refuse a table without one of the columns to be learned."""
    for name in names:
        if name not in table:
            hint = suggestion(name, table.names)
            raise COLUMN_NOT_FOUND.error(hint, column=name, source=table.source)


def prepare(spec: ExperimentSpec, learnt: TablePreparation | None) -> PreparedData:
    """Read the table, learn from the part to train on, and encode all parts."""
    data = spec.data
    with advice_on_data():
        whole = read_table(str(data.train), **data.options(*READING))
    lines = [counted_rows(whole), *map(in_words_of_data, whole.said)]
    names, why = target_names(whole, data.target)
    lines += [why] if why else []
    whole, places = _with_targets(whole, names, lines)
    columns = [whole[name] for name in names]
    check_numbers(columns, spec)
    task = choose_task(summary_of_columns(columns), spec)
    if data.task is None:
        check_classes(columns[0], whole.said)
    goal = _goal_of_columns(names, task.name, lambda: class_names(columns[0]), spec)
    groups = groups_of(whole, data, names)
    labels = class_numbers(columns[0], goal.classes) if goal.row.is_of_one_class else None
    division = divide_samples(spec, len(whole), labels, groups)
    preparation = learnt or _learn(whole.rows(division.train), goal, spec)
    lines += _describe(preparation, task, labels)
    lines.append(f"divided: {division.describe(data)}")

    def part(rows: Any) -> Samples:
        table = whole.rows(rows)
        dataset = ArrayDataset(preparation.encoder.encode(table), preparation.targets(table))
        return Samples(dataset, _names(places[rows]))

    train: Any = part(division.train).dataset
    spec = spec.with_data(target=names[0] if len(names) == 1 else names, task=task.name)
    held, targets = division[1:], train.arrays[1]
    return prepared_data(spec, preparation, train, held, part, lines, targets)


def prepare_shards(spec: ExperimentSpec, learnt: TablePreparation | None) -> PreparedData:
    """Rows of a packed table, encoded as in its index."""
    data = spec.data
    source = str(data.train)
    dataset = ShardedDataset(source)
    check_two_parts(dataset, source)
    encoding = dataset.encoding
    assert encoding is not None  # as an index of a table has one
    names = list(encoding.targets)
    target = names[0] if len(names) == 1 else names
    if data.target is not None and data.target not in (names, target):
        requirement = f"data.target must be that of the packed table, {names}"
        raise value_error("config", requirement, target=data.target)
    survey = survey_targets(source, dataset.parts[1].name)
    task = choose_task(survey.facts(dataset.classes, source), spec)
    if data.task is None and encoding.kinds[0] == "text":
        raise words_differ(names[0], source, len(dataset.classes or ()), len(dataset))
    parts = divide_shards(spec, dataset)
    preparation = learnt
    if preparation is None:
        classes = dataset.classes or map(number_word, survey.distinct.tolist())
        goal = _goal_of_columns(names, task.name, lambda: tuple(classes), spec)
        if task.name == "regression" and spec.is_of_any_scale:
            goal = survey.scaled(goal)
        preparation = TablePreparation(encoding.encoder, goal, {}, dict(encoding.options))
    if preparation.goal.row.is_of_one_class:
        # Targets that are no classes are refused before anything begins.
        class_numbering(dataset.classes, preparation.goal, source)(survey.distinct)
    spec = spec.with_data(target=target, task=task.name)
    described = [f"  {line}" for line in encoding.encoder.describe()]
    return prepared_shards(spec, preparation, dataset, parts, task, described)


def target_names(table: Table, asked: Any, are_inputs_too: bool = False) -> tuple[list[str], str]:
    """The columns to learn, and the reason if they are inferred.

    There must be other columns as inputs, unless targets ``are_inputs_too``, as in a series.
    """
    if not are_inputs_too and len(table.names) < 2:
        requirement = f"{table.source} must have a column of targets beside the inputs"
        raise value_error("data", requirement, columns=table.names)
    if asked is None:
        chosen, place = usual_target(table.names)
        return [chosen], f"target {chosen!r}, {place} (another: --target or data.target)"
    several = asked if isinstance(asked, list) else [asked]
    names = [column_named(table, one, "target") for one in several]
    is_all = len(names) >= len(table.names) and not are_inputs_too
    if not names or len(set(names)) < len(names) or is_all:
        requirement = (
            f"data.target must be different columns of {table.source}, and not all of them"
        )
        raise value_error("config", requirement, target=asked)
    is_by_number = names != several
    return names, f"target {', '.join(map(repr, names))}, by number" if is_by_number else ""


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


def _goal_of_columns(
    columns: Sequence[str], task: str, classes: Callable[[], tuple[str, ...]], spec: ExperimentSpec
) -> Goal:
    names = tuple(columns)
    if task == "regression":
        return Goal(task, names)
    if task == "multilabel":
        return Goal(task, names, names, scores=spec.loss_traits.scores)
    if len(names) > 1:
        requirement = f"data.target must be one column for the task {task}"
        raise value_error("config", requirement, target=list(names))
    return Goal(task, names, classes(), scores=spec.loss_traits.scores)


def _learn(train: Table, goal: Goal, spec: ExperimentSpec) -> TablePreparation:
    data = spec.data
    kinds = kinds_of_columns(train, data, goal.names)
    if data.group is not None:
        kinds[column_named(train, data.group, "group")] = "drop"
    if {*kinds.values()} == {"drop"} and len(kinds) + len(goal.names) == len(train.names):
        requirement = f"{train.source} must have a column to learn from beside those left out"
        raise value_error("data", requirement, target=list(goal.names), left_out=list(kinds))
    with advice_on_data():
        encoder = TableEncoder.fit(train.without(*goal.names), kinds)
    if goal.task == "regression" and spec.is_of_any_scale:
        goal = goal.learned_scale(numbers_of([train[name] for name in goal.names]))
    return TablePreparation(encoder, goal, data.options(*READING), dict(train.options))


def _describe(preparation: TablePreparation, task: TaskChoice, labels: Any) -> list[str]:
    """Describe the columns, the task and the classes."""
    classes = preparation.goal.classes
    lines = [f"  {in_words_of_data(line)}" for line in preparation.encoder.describe()]
    lines.append(f"task {task.name}: {task.reason}")
    if labels is not None:
        lines.append(f"classes {class_counts(preparation.goal, labels)}")
        lines += filter(None, [describe_similar(classes)])
        rare = np.bincount(labels, minlength=len(classes))
        few = [classes[i] for i in np.flatnonzero(rare < 3)]
        if few:
            lines.append(f"few samples of {', '.join(few[:8])}: not in every part")
    return lines
