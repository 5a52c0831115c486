"""Shards of a table: read and encoded as for training, in chunks, so that it need not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from extensor.data.packing.packed_targets import TargetSummary, target_columns
from extensor.data.packing.writing import OP, ArrayShards, NewFolder
from extensor.data.streaming.index import Index
from extensor.data.table import Table, TableEncoder
from extensor.data.table.chunked import ChunkedTable, read_chunks
from extensor.data.table.column_summary import ColumnSummary
from extensor.data.table.encoding import checked_kinds
from extensor.data.table.names import find_column, usual_target
from extensor.data.table.table_encoding import TableEncoding
from extensor.errors import value_error


class TableRequest(NamedTuple):
    """What somebody says of a table: how it is written, what is learned, and what columns are."""

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
    table = _read(source, request)
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
        parts = (*parts, ("y", target_columns(survey.targets), shape))
    shards = ArrayShards(folder, parts, survey.rows, shard_size)
    for chunk in survey.chunks():
        arrays = [encoder.encode(chunk)]
        if targets:
            columns = [x.numbered(chunk[x.name]) for x in survey.targets]
            arrays.append(columns[0] if len(columns) == 1 else np.stack(columns, axis=1))
        shards.write(arrays)
    classes = survey.targets[0].classes if len(targets) == 1 else None
    names = (*encoder.features, *targets)
    index = Index("table", parts, tuple(shards.written), classes, names, None, encoding)
    return index, lines + [f"  {line}" for line in encoder.describe()]


def _read(source: Path, request: TableRequest) -> ChunkedTable:
    table = read_chunks(source, **request.options)
    like = request.like
    if like is None:
        return table
    # A few rows may not show what a comma in a number is; a file like the first one has its.
    is_like = table.options["delimiter"] == like.options["delimiter"]
    if is_like and table.options["decimal"] != like.options["decimal"]:
        return read_chunks(source, **{**request.options, "decimal": like.options["decimal"]})
    return table


def _targets(table: ChunkedTable, request: TableRequest, lines: list[str]) -> list[str]:
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

    def __init__(self, table: ChunkedTable, targets: Sequence[str], request: TableRequest) -> None:
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
        self.encoder = (
            TableEncoder.from_summaries(summaries, table.source)
            if request.like is None
            else request.like.encoder
        )

    def said(self) -> list[str]:
        """A sentence on rows that have no targets."""
        if not self._gone:
            return []
        rows = (
            "1 row without a target is"
            if self._gone == 1
            else f"{self._gone:,} rows without a target are"
        )
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
