"""Tables: columns of numbers, words and dates, of which one or several are to be learned."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from extensor.core import entries
from extensor.data import ArrayDataset, ShardedDataset
from extensor.data.table import Column, Table, TableEncoder, as_table, read_table
from extensor.data.table.cells import as_number
from extensor.data.table.columnar import KINDS
from extensor.data.table.reading import read_like
from extensor.data.table.sniffing import usual_target
from extensor.errors import arguments, is_ours, marked, type_error, value_error
from extensor.errors.messages import COLUMN_NOT_FOUND, suggestion
from extensor.experiments.goal import Goal, TargetFacts, TaskChoice, choose_task, class_counts
from extensor.experiments.sources.array_targets import is_number, some_names
from extensor.experiments.sources.preparation import (
    Preparation,
    PreparedData,
    Samples,
    ShardSamples,
    check_two_parts,
    class_numbering,
    divide_samples,
    divide_shards,
    is_sharded,
    prepared_data,
    prepared_shards,
    survey_targets,
)
from extensor.experiments.spec import DataSpec, ExperimentSpec

READING = ("delimiter", "decimal", "encoding", "header")  # entries of [data]
_LARGEST = float(np.finfo(np.float32).max)
_TRUTH = {"False": 0.0, "True": 1.0}
# Advice of read_table and TableEncoder, to be translated into entries of [data].
_OPTION = re.compile(r"\b(encoding|delimiter|decimal|header)=")
_KINDS = re.compile(r"kinds=\{'(.+)': '(\w+)'\}")
_INTEGER = re.compile(r"-?\d+")


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
    data.check_entry("target", (names, target), f"that of the packed table, {names}")
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


def in_words_of_data(text: str) -> str:
    """A sentence of ours on how tables are read, with its advice in the words of ``[data]``."""
    advice, got, values = text.partition(", got ")
    advice = _KINDS.sub(r"data.columns.\1=\2", _OPTION.sub(r"data.\1=", advice))
    advice = advice.replace("header=True or False", "header=true or false")
    return advice.replace("header=False", "header=false") + got + values


@contextmanager
def advice_on_data() -> Iterator[None]:
    """Let errors within the block advise as :func:`in_words_of_data` does."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if not is_ours(error):
            raise
        raise marked(type(error)(in_words_of_data(str(error)))) from None


def column_named(table: Table, name: Any, key: str) -> str:
    """The column that the entry ``data.<key>`` names, or numbers."""
    if isinstance(name, str) and (name in table or not _INTEGER.fullmatch(name)):
        if name not in table:
            where = table.source if key == "target" else f"{table.source} (data.{key})"
            raise COLUMN_NOT_FOUND.error(suggestion(name, table.names), column=name, source=where)
        return name
    if not isinstance(name, str | int) or isinstance(name, bool):
        requirement = f"data.{key} must be the name or the number of a column"
        raise value_error("config", requirement, **{key: arguments.briefly(name)})
    number = int(name)
    if not -len(table.names) <= number < len(table.names):
        requirement = f"data.{key} must be one of the {len(table.names)} columns of {table.source}"
        raise value_error("config", requirement, **{key: number})
    return table.names[number]


def kinds_of_columns(table: Table, data: DataSpec, targets: Sequence[str] = ()) -> dict[str, str]:
    """The kinds of columns in ``[data]``, or "drop"; none may be one of ``targets``."""
    allowed = (*KINDS, "drop")
    kinds = {}
    for name, kind in (data.columns or {}).items():
        column = column_named(table, name, "columns")
        kinds[column] = arguments.choice("config", f"data.columns.{name}", kind, allowed)
    for name in data.drop or ():
        kinds[column_named(table, name, "drop")] = "drop"
    for name in targets:
        if name in kinds:
            key = "drop" if kinds[name] == "drop" else "columns"
            requirement = (
                f"data.{key} is for inputs, not for the target (data.task says what it is)"
            )
            raise value_error("config", requirement, column=name)
    return kinds


def groups_of(table: Table, data: DataSpec, targets: Sequence[str]) -> Any:
    """The group of each row, if ``[data]`` names a column for it."""
    if data.group is None:
        return None
    name = column_named(table, data.group, "group")
    if name in targets:
        raise value_error("config", "data.group must be another column than the target", group=name)
    column = table[name]
    if column.missing.any():
        row = int(column.missing.argmax())
        raise column.cell_error("data", "each row must have its group", row)
    return np.unique(column.words().astype(str), return_inverse=True)[1]


def summary_of_columns(columns: list[Column]) -> TargetFacts:
    """The facts of targets in columns."""
    names = [column.name for column in columns]
    where = {"path": columns[0].source, "target": names[0] if len(names) == 1 else names}
    for column in columns:
        if column.kind == "date":
            requirement = "the target must be a column of numbers or words, not of dates"
            raise value_error("data", requirement, path=column.source, target=column.name)
    if len(columns) > 1 and all(map(_is_truth, columns)):
        return TargetFacts(len(columns), len(columns[0]), False, True, [0, 1], where)
    words = any(column.kind != "number" for column in columns)
    distinct = {value: None for column in columns for value in _distinct(column)}
    whole = not words and all(column.is_whole for column in columns)
    return TargetFacts(len(columns), len(columns[0]), words, whole, list(distinct), where)


def check_numbers(columns: Sequence[Column], spec: ExperimentSpec) -> None:
    """Name the cell that is no number in a column of numbers, where numbers are asked for."""
    is_asked = spec.data.task == "regression" or spec.loss_traits.targets in ("numbers", "signs")
    for column in columns if is_asked else ():
        words = column.words()[~column.missing] if column.kind in ("category", "text") else ()
        if any(as_number(word) is not None for word in words):
            column.numbers("data")


def counted_rows(table: Table, how: str = "") -> str:
    """Describe the size of a table."""
    rows = "1 row" if len(table) == 1 else f"{len(table):,} rows"
    columns = "1 column" if len(table.names) == 1 else f"{len(table.names):,} columns"
    return f"{table.source}: {rows}{how}, {columns}"


def check_classes(column: Column, remarks: Sequence[str]) -> None:
    """Refuse mostly different words as classes, with the reason why they are words."""
    if column.kind != "text":
        return
    reasons = [x.partition(": ")[2] for x in remarks if x.startswith(f"column {column.name!r} is")]
    why = f": {in_words_of_data(reasons[0])}" if reasons else ""
    raise words_differ(column.name, column.source, len(_distinct(column)), len(column), why)


def words_differ(target: str, source: str, classes: int, rows: int, why: str = "") -> ValueError:
    """The error for targets that are words which mostly differ."""
    requirement = f"the target must have words that occur again, or numbers{why}"
    given = {"target": target, "classes": classes, "rows": rows}
    return value_error("data", requirement, path=source, **given)


def class_words(column: Column) -> list[str]:
    """The name of the class in each row."""
    if column.kind != "number":
        return list(column.words())
    if _is_exact(column):
        return [str(int(x)) for x in column.words()]
    return [number_word(x) for x in column.numbers().tolist()]


def class_names(column: Column) -> tuple[str, ...]:
    """The names of the classes that occur, in their order."""
    return tuple(map(number_word, _distinct(column)))


def number_word(value: Any) -> str:
    """A value as the name of a class."""
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def class_numbers(column: Column, classes: Sequence[str]) -> Any:
    """The number of the class in each row; an error names the first that is none."""
    numbers = {name: number for number, name in enumerate(classes)}
    labels = np.array([numbers.get(word, -1) for word in class_words(column)], np.int64)
    if len(labels) and labels.min() < 0:
        requirement = f"targets must be classes of the training data ({some_names(classes)})"
        raise column.cell_error("data", requirement, int((labels < 0).argmax()))
    return labels


def numbers_of(columns: Sequence[Column], are_labels: bool = False) -> Any:
    """Numbers to be learned, a column for each of ``columns``; of labels 0 and 1."""
    stacked = []
    for column in columns:
        if are_labels and _is_truth(column):
            values = np.array([_TRUTH[word] for word in column.words()])
        else:
            values = column.numbers("data")
        if are_labels:
            wrong, requirement = ~np.isin(values, (0, 1)), "labels must be 0 or 1"
        else:
            wrong = ~(np.abs(values) <= _LARGEST)
            requirement = "numbers to be learned must be finite, and below 3.4e38"
        if wrong.any():
            raise column.cell_error("data", requirement, int(wrong.argmax()))
        stacked.append(values)
    return np.stack(stacked, axis=1)


def _is_truth(column: Column) -> bool:
    return column.kind == "category" and {*column.distinct()} <= _TRUTH.keys()


def _distinct(column: Column) -> list[Any]:
    if column.kind == "number" and _is_exact(column):
        return sorted({int(x) for x in column.words()[~column.missing]})
    return column.distinct()


def _is_exact(column: Column) -> bool:
    """Whether whole numbers are written with digits that a float has not, and none is beyond it."""
    is_written = column.is_whole and column.is_as_written
    return is_written and not np.isinf(column.numbers()).any()


def describe_similar(classes: Sequence[str]) -> str | None:
    """Describe two classes that differ only in case, if there are any."""
    seen: dict[str, str] = {}
    for name in classes:
        other = seen.setdefault(name.casefold(), name)
        if other != name:
            return f"{other!r} and {name!r} are taken as two classes: they differ in case"
    return None
