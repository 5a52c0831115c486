"""Columns of a table as a configuration names them: targets, groups, and the kinds of inputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from extensor.data.table import Column, Table
from extensor.data.table.cells import as_number
from extensor.data.table.columnar import KINDS
from extensor.errors import arguments, is_ours, marked, value_error
from extensor.errors.messages import COLUMN_NOT_FOUND, suggestion
from extensor.experiments.goal import TargetFacts
from extensor.experiments.sources.array_targets import some_names
from extensor.experiments.spec import DataSpec, ExperimentSpec

_LARGEST = float(np.finfo(np.float32).max)
_TRUTH = {"False": 0.0, "True": 1.0}
# Advice of read_table and TableEncoder, to be translated into entries of [data].
_OPTION = re.compile(r"\b(encoding|delimiter|decimal|header)=")
_KINDS = re.compile(r"kinds=\{'(.+)': '(\w+)'\}")
_INTEGER = re.compile(r"-?\d+")


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
