"""Shards of a table: read and encoded as for training, in chunks, so that it need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from extensor.data.packing.shard_writer import OP, ArrayShards, NewFolder
from extensor.data.streaming.index import Index, TableEncoding
from extensor.data.table import Table, TableEncoder
from extensor.data.table.column_statistics import MOST_WORDS, ColumnSummary
from extensor.data.table.columnar import Column
from extensor.data.table.encoder import checked_kinds
from extensor.data.table.meaning import kind_of_words
from extensor.data.table.reading import TextTable, read_chunks, read_like
from extensor.data.table.sniffing import find_column, usual_target
from extensor.errors import value_error

_TRUTH = ("False", "True")


class TargetSummary:
    """Facts on the cells of a target, none missing, added up chunk by chunk.

    ``is_one_of_several`` columns, which must be numbers, or True and False.
    """

    def __init__(self, name: str, is_one_of_several: bool) -> None:
        self.name = name
        self.is_whole = True
        self._is_one_of_several = is_one_of_several
        self._rows = 0
        self._words: set[str] | None = None

    def add(self, column: Column) -> None:
        """Look at some more rows."""
        self._rows += len(column)
        if column.kind == "date":
            requirement = "the target must be a column of numbers or words, not of dates"
            raise value_error(OP, requirement, source=column.source, target=self.name)
        if column.kind == "number":
            self.is_whole = self.is_whole and column.integers() is not None
            wrong = ~np.isfinite(column.numbers(OP))
            if wrong.any():
                requirement = "targets must be finite numbers"
                raise column.cell_error(OP, requirement, int(wrong.argmax()), "target")
            return
        self._words = self._words or set()
        self._words.update(column.words())
        if self._is_one_of_several and not self._words <= {*_TRUTH}:
            requirement = "several targets must be columns of numbers, or of True and False"
            row = next(i for i, word in enumerate(column.words()) if word not in _TRUTH)
            raise column.cell_error(OP, requirement, row, "target")
        if len(self._words) > MOST_WORDS:
            requirement = f"the target must have at most {MOST_WORDS:,} different words"
            raise value_error(OP, requirement, source=column.source, target=self.name)

    @property
    def kind(self) -> str:
        """ "number", "category" or "text"; several labels are numbers."""
        if self._words is None or self._is_one_of_several:
            return "number"
        return kind_of_words(self._rows, len(self._words))

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The words in their order, if they are such."""
        return None if self._words is None else tuple(sorted(self._words))

    def target_numbers(self, column: Column) -> Any:
        """The targets as they are stored."""
        if self._words is None:
            return column.integers() if self.is_whole else column.numbers(OP)
        words = _TRUTH if self._is_one_of_several else self.classes or ()
        known = {word: number for number, word in enumerate(words)}
        return np.array([known[word] for word in column.words()], np.int64)


class TableRequest(NamedTuple):
    """The options of packing a table: its format, its targets and the kinds of its columns."""

    options: dict[str, Any]  # of read_table
    target: Any  # a name, a number, a list of them, or None for the usual one
    with_target: bool
    kinds: Mapping[str, str]
    like: TableEncoding | None  # of other shards


def pack_table(
    source: Path, folder: NewFolder, shard_size: int, request: TableRequest
) -> tuple[Index, list[str]]:
    """The features that an encoder makes of columns in ``x``, and the targets in ``y``.

    The second result is what a person should know: how the file was read, and what columns became.
    """
    earlier = {} if request.like is None else request.like.options
    table = read_like(read_chunks, source, request.options, earlier)
    lines = list(table.said)
    targets = _targets(table, request, lines)
    survey = _Survey(table, targets, request)
    lines += survey.said()
    encoder = survey.encoder
    kinds = tuple(summary.kind for summary in survey.targets)
    encoding = TableEncoding(encoder, tuple(targets), kinds, dict(table.options))
    parts: tuple[Any, ...] = (("x", "float32", (len(encoder.features),)),)
    if targets:
        shape = () if len(targets) == 1 else (len(targets),)
        # Other numbers than whole ones keep all their digits.
        dtype = "int64" if all(target.is_whole for target in survey.targets) else "float64"
        parts = (*parts, ("y", dtype, shape))
    shards = ArrayShards(folder, parts, survey.rows, shard_size)
    for chunk in survey.chunks():
        arrays = [encoder.encode(chunk)]
        if targets:
            columns = [x.target_numbers(chunk[x.name]) for x in survey.targets]
            arrays.append(columns[0] if len(columns) == 1 else np.stack(columns, axis=1))
        shards.write(arrays)
    classes = survey.targets[0].classes if len(targets) == 1 else None
    names = (*encoder.features, *targets)
    index = Index("table", parts, tuple(shards.written), classes, names, None, encoding)
    return index, lines + [f"  {line}" for line in encoder.describe()]


def _targets(table: Table | TextTable, request: TableRequest, lines: list[str]) -> list[str]:
    if not request.with_target:
        return []
    if request.like is not None:
        if not request.like.targets:
            raise value_error(OP, "like must be shards with a target", source=table.source)
        return [find_column(OP, table.names, x, table.source) for x in request.like.targets]
    if request.target is None:
        name, why = usual_target(table.names)
        lines.append(f"target {name!r}, {why}")
        return [name]
    several = request.target if isinstance(request.target, list | tuple) else [request.target]
    names = [find_column(OP, table.names, one, table.source) for one in several]
    if not names or len(set(names)) < len(names):
        raise value_error(OP, "target must be different columns", target=list(several))
    return names


class _Survey:
    """A table that was looked through: the encoder, the targets, and how many rows have these."""

    def __init__(
        self, table: Table | TextTable, targets: Sequence[str], request: TableRequest
    ) -> None:
        self._table = table
        self._gone = 0
        self._first_gone = 0
        self.rows = 0
        inputs = [name for name in table.names if name not in targets]
        if not inputs:
            requirement = "file must have a column besides the target"
            raise value_error(OP, requirement, source=table.source, columns=table.names)
        self.targets = [TargetSummary(name, len(targets) > 1) for name in targets]
        kinds = checked_kinds(inputs, request.kinds)
        is_new = request.like is None
        summaries = [
            ColumnSummary(name, kinds.get(name), table.is_chunked) for name in inputs if is_new
        ]
        for chunk in self._with_targets(is_counting=True):
            self.rows += len(chunk)
            for summary in summaries:
                summary.add(chunk[summary.name], "fit")
            for target in self.targets:
                target.add(chunk[target.name])
        if self.rows == 0:
            raise value_error(OP, "file must have rows with targets", source=table.source)
        if request.like is None:
            self.encoder = TableEncoder.from_summaries(summaries, table.source)
        else:
            self.encoder = request.like.encoder

    def said(self) -> list[str]:
        """A sentence on rows that have no targets."""
        if not self._gone:
            return []
        several = f"{self._gone:,} rows without a target are"
        rows = "1 row without a target is" if self._gone == 1 else several
        return [f"{rows} left out, the first in line {self._first_gone}"]

    def chunks(self) -> Iterator[Table]:
        """The rows that have targets."""
        done = 0
        for chunk in self._with_targets():
            done += len(chunk)
            if done > self.rows:
                break
            yield chunk
        if done != self.rows:
            requirement = "file must not change while it is packed"
            raise value_error(OP, requirement, path=self._table.source)

    def _with_targets(self, is_counting: bool = False) -> Iterator[Table]:
        for chunk in self._table.chunks():
            missing = np.zeros(len(chunk), bool)
            for target in self.targets:
                missing |= chunk[target.name].missing
            if not missing.any():
                yield chunk
                continue
            if is_counting:
                where = chunk[self.targets[0].name].origin.numbers
                self._first_gone = self._first_gone or int(where[missing.argmax()])
                self._gone += int(missing.sum())
            if not missing.all():
                yield chunk.rows(np.flatnonzero(~missing))
