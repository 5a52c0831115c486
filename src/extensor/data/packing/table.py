"""Shards of a CSV file of numbers, read line by line: twice, as its length is needed first."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from extensor.arrays.dtypes import get_default_dtype
from extensor.data.packing.writing import OP, ArrayShards, NewFolder
from extensor.data.streaming.index import Index
from extensor.errors import value_error
from extensor.io.paths import unreadable
from extensor.io.regular_files import open_regular

_ROWS = 4096  # that are converted together
_HOW = "header=True or False says which"


@dataclass
class _Survey:
    """What is known of a table when all its lines have been looked at."""

    names: list[str] | None
    width: int
    target: int | None
    rows: int = 0
    whole: bool = True  # so far the targets are integers
    numbers: int = 0  # among the targets
    words: dict[str, int] = field(default_factory=dict)  # and how often each is one
    first: str = ""


def pack_table(
    source: Path,
    folder: NewFolder,
    shard_size: int,
    target: str | int | None,
    delimiter: str,
    header: bool | None,
) -> Index:
    """Columns as floats in ``x``; the target as integers, floats or numbers of words in ``y``."""
    survey = _surveyed(source, target, delimiter, header)
    floats = str(get_default_dtype())
    columns = survey.width - (survey.target is not None)
    if columns == 0:
        requirement = "file must have a column besides the target"
        raise value_error(OP, requirement, path=str(source), columns=survey.width)
    parts: tuple[Any, ...] = (("x", floats, (columns,)),)
    classes: tuple[str, ...] | None = None
    if survey.target is not None:
        if survey.words:
            classes = tuple(sorted(survey.words))
        parts = (*parts, ("y", "int64" if survey.whole or classes else floats, ()))
    shards = ArrayShards(folder, parts, survey.rows, shard_size)
    done = 0
    spread = _Spread(columns)
    for first, rows in _chunks(_lines(source, delimiter, survey.names is not None)):
        shards.write(_converted(source, first, rows, survey, classes, spread))
        done += len(rows)
    spread.check(source, survey)
    if done != survey.rows:
        raise value_error(OP, "file must not change while it is packed", path=str(source))
    names = None
    if survey.names is not None:
        names = [name for i, name in enumerate(survey.names) if i != survey.target]
        names += [] if survey.target is None else [survey.names[survey.target]]
    return Index(
        "table", parts, tuple(shards.written), classes, None if names is None else tuple(names)
    )


def _lines(source: Path, delimiter: str, skip_first: bool) -> Iterator[tuple[int, list[str]]]:
    """The number of each line that is not empty, and its cells."""
    try:
        with open(source, newline="", encoding="utf-8-sig", opener=open_regular) as file:
            reader = csv.reader(file, delimiter=delimiter)
            begin, passed_over = 1, not skip_first
            for row in reader:
                if reader.line_num > begin:
                    requirement = "a quoted cell must end in the line where it begins"
                    raise value_error(OP, requirement, path=str(source), line=begin)
                if row and passed_over:
                    yield begin, [cell.strip() for cell in row]
                passed_over = passed_over or bool(row)
                begin = reader.line_num + 1
    except OSError as error:
        raise unreadable(OP, source, error) from error
    except (UnicodeDecodeError, csv.Error):
        raise value_error(OP, "file must be a table in UTF-8", path=str(source)) from None


def _chunks(lines: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[list[int], list[list[str]]]]:
    numbers: list[int] = []
    rows: list[list[str]] = []
    for number, row in lines:
        numbers.append(number)
        rows.append(row)
        if len(rows) == _ROWS:
            yield numbers, rows
            numbers, rows = [], []
    if rows:
        yield numbers, rows


def _surveyed(
    source: Path, target: str | int | None, delimiter: str, header: bool | None
) -> _Survey:
    lines = _lines(source, delimiter, False)
    line, first = next(lines, (0, None))
    if first is None:
        raise value_error(OP, "file must have at least one line", path=str(source))
    column = _column(first, target, header)
    if header is None:
        header = isinstance(target, str) or _has_names(first, column)
    survey = _Survey(first if header else None, len(first), column)
    if not header:
        _look_at(source, line, first, survey)
    for number, row in lines:
        _look_at(source, number, row, survey)
    if survey.rows == 0:
        raise value_error(OP, "file must have lines below its names", path=str(source))
    if survey.words and survey.numbers:
        requirement = "targets must all be numbers, or all be words"
        word = next(iter(survey.words))
        raise value_error(OP, requirement, path=str(source), cell=word)
    if not header and survey.words.get(survey.first) == 1 and len(survey.words) > 1:
        requirement = f"the first line must be names, or have a target that occurs again ({_HOW})"
        raise value_error(OP, requirement, target=survey.first)
    return survey


def _look_at(source: Path, line: int, row: list[str], survey: _Survey) -> None:
    if len(row) != survey.width:
        requirement = f"a line must have {survey.width} columns"
        raise value_error(OP, requirement, path=str(source), line=line, columns=len(row))
    survey.rows += 1
    if survey.target is None:
        return
    cell = row[survey.target]
    if survey.rows == 1:
        survey.first = cell
    if not cell:
        raise value_error(OP, "targets must not be missing", path=str(source), line=line)
    if _number(cell) is None:
        survey.words[cell] = survey.words.get(cell, 0) + 1
    else:
        survey.numbers += 1
        survey.whole = survey.whole and _whole(cell) is not None


def _column(first: list[str], target: str | int | None, header: bool | None) -> int | None:
    if target is None:
        return None
    if isinstance(target, str):
        if header is False or target not in first:
            raise value_error(OP, f"target must be one of {first}", target=target)
        return first.index(target)
    if not -len(first) <= target < len(first):
        raise value_error(OP, f"target must be one of {len(first)} columns", target=target)
    return target % len(first)


def _has_names(first: list[str], target: int | None) -> bool:
    """Whether the first line is names: cells of which none is a number."""
    others = [cell for i, cell in enumerate(first) if i != target]
    words = sum(_number(cell) is None for cell in others)
    counted = len(first) > 1 and first in (_counted(first, 0), _counted(first, 1))
    if 0 < words < len(others) or counted:
        requirement = f"the first line must be names or numbers, not what could be both ({_HOW})"
        raise value_error(OP, requirement, line=first)
    return words > 0


def _counted(cells: list[str], begin: int) -> list[str]:
    return [str(i + begin) for i in range(len(cells))]


def _converted(
    source: Path,
    lines: list[int],
    rows: list[list[str]],
    survey: _Survey,
    classes: Any,
    spread: _Spread,
) -> list[Any]:
    wide = np.empty((len(rows), survey.width - (survey.target is not None)))
    limit = float(np.finfo(get_default_dtype()).max)
    targets: list[Any] = []
    numbers = None if classes is None else {word: i for i, word in enumerate(classes)}
    for place, (line, row) in enumerate(zip(lines, rows, strict=True)):
        cells = row
        if survey.target is not None:
            cells = [*row[: survey.target], *row[survey.target + 1 :]]
            cell = row[survey.target]
            if numbers is not None:
                targets.append(numbers[cell])
            else:
                targets.append(_whole(cell) if survey.whole else _number(cell))
                if not abs(targets[-1]) <= limit and not survey.whole:
                    requirement = "targets must be finite numbers"
                    raise value_error(OP, requirement, path=str(source), line=line, cell=cell)
        try:
            if "_" in "".join(cells):
                raise ValueError
            wide[place] = [float(cell) for cell in cells]
            good = bool((np.abs(wide[place]) <= limit).all())
        except ValueError:
            good = False
        if not good:
            raise _misfit(source, line, cells, survey)
    spread.note(wide)
    inputs = wide.astype(get_default_dtype())
    if survey.target is None:
        return [inputs]
    dtype = np.int64 if survey.whole or classes else get_default_dtype()
    return [inputs, np.array(targets, dtype)]


class _Spread:
    """The least and the largest number of each column, which tell whether its digits can be kept."""

    def __init__(self, columns: int) -> None:
        self.low, self.high = np.full(columns, np.inf), np.full(columns, -np.inf)

    def note(self, rows: Any) -> None:
        """Look at some more."""
        self.low = np.minimum(self.low, rows.min(axis=0))
        self.high = np.maximum(self.high, rows.max(axis=0))

    def check(self, source: Path, survey: _Survey) -> None:
        """Refuse a column of numbers that are large and near each other, such as times in seconds."""
        gap = np.maximum(abs(self.low), abs(self.high)) * np.finfo(get_default_dtype()).eps
        lost = (self.high > self.low) & (gap > 1e-3 * (self.high - self.low))
        if lost.any():
            place = int(lost.argmax())
            columns = [i for i in range(survey.width) if i != survey.target]
            name: Any = columns[place] if survey.names is None else survey.names[columns[place]]
            requirement = (
                f"a column must keep its digits in {get_default_dtype()} (take the least of its "
                "numbers away from all)"
            )
            got = {"column": name, "least": self.low[place], "largest": self.high[place]}
            raise value_error(OP, requirement, path=str(source), **got)


def _misfit(source: Path, line: int, cells: list[str], survey: _Survey) -> ValueError:
    """The error for a line with a cell that is no number to learn from."""
    columns = [i for i in range(survey.width) if i != survey.target]
    limit = float(np.finfo(get_default_dtype()).max)
    numbers = [_number(cell) for cell in cells]
    bad = [number is None or not abs(number) <= limit for number in numbers]
    place = bad.index(True) if True in bad else 0
    column: Any = columns[place]
    if survey.names is not None:
        column = survey.names[column]
    got = {"line": line, "column": column, "cell": cells[place]}
    return value_error(OP, "cells must be finite numbers", path=str(source), **got)


def _whole(cell: str) -> int | None:
    try:
        number = int(cell)
    except ValueError:
        return None
    return number if -(2**63) <= number < 2**63 and "_" not in cell else None


def _number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None
