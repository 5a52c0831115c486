"""Shards of columns: Parquet by row groups and Arrow by record batches, read by pyarrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from extensor.data.streaming.shard import (
    OP,
    Choice,
    Loaded,
    PiecedShard,
    SamplePart,
    Shard,
    Stamp,
    damaged,
    explain_damage,
    names_in,
    shard_error,
    usable_dtype,
    usual_names,
)
from extensor.data.streaming.shard_files import class_names
from extensor.data.table.arrow import (
    MAGIC,
    Batch,
    arrow_batches,
    batches_cost,
    import_pyarrow,
    parquet_cost,
)
from extensor.io.limits import check_decoded
from extensor.io.paths import explain_unreadable
from extensor.io.regular_files import open_regular
from extensor.io.state_file import DamagedFileError


class ColumnShard(PiecedShard):
    """Columns of numbers, or of lists of the same length; a list of columns is a part of rows."""

    def __init__(
        self, path: Path, choice: Choice, partition: Mapping[str, Any] | None = None
    ) -> None:
        self.path = path
        self.partition = {} if partition is None else dict(partition)
        self.stamp = Stamp.of(path)
        with self._open_unchanged() as file:
            self.column_types = _types(file.schema)
            names = usual_names(path, file.schema.names, choice, several=True)
            self.columns = [names_in(name) for name in names]
            sizes = file.sizes()
            self.samples = sum(sizes)
            if self.samples == 0:
                raise damaged("shard must have samples", path, samples=0)
            self.bounds = np.cumsum(sizes)
            self.parts = tuple(
                self._part(file, columns, not isinstance(name, str))
                for name, columns in zip(names, self.columns, strict=True)
            )
            known = {part.name: class_names(file.schema, part.name) for part in self.parts}
            self.class_names = {name: words for name, words in known.items() if words is not None}

    def load(self, begin: int, end: int, ahead: bool) -> Loaded:
        """A row group, or a record batch."""
        group = int(np.searchsorted(self.bounds, begin, side="right"))
        wanted = list(dict.fromkeys(name for columns in self.columns for name in columns))
        with self._open_unchanged() as file:
            table = file.group(group, wanted)
            if table.num_rows != end - begin:
                raise damaged("shard must have as many rows as its metadata say", self.path)
            arrays = [
                self._part_array(table, part, columns)
                for part, columns in zip(self.parts, self.columns, strict=True)
            ]
        return Loaded(arrays, sum(array.nbytes for array in arrays))

    def _part(self, file: Any, columns: list[str], is_row: bool) -> SamplePart:
        parts = [self._column(file, name) for name in columns]
        dtype = np.result_type(*(part.dtype for part in parts))
        if len(columns) == 1 and (parts[0].shape or not is_row):
            return parts[0]
        if any(part.shape for part in parts):
            requirement = "columns that make one part must have a number in each row"
            raise shard_error(requirement, self.path, columns=columns)
        return SamplePart("+".join(columns), dtype, (len(columns),))

    def _column(self, file: Any, name: str) -> SamplePart:
        import pyarrow

        kind = file.schema.field(name).type
        shape: list[int] = []
        if isinstance(kind, pyarrow.FixedShapeTensorType):
            if kind.permutation not in (None, list(range(len(kind.shape)))):
                raise damaged(f"{name} must lie in the order of its axes", self.path)
            shape, kind = list(kind.shape), kind.value_type
        types = pyarrow.types
        while types.is_fixed_size_list(kind):
            shape, kind = [*shape, kind.list_size], kind.value_type
        if not shape and (types.is_list(kind) or types.is_large_list(kind)):
            # Only the rows tell how long they are, and all must be as the first.
            first = int(np.nonzero(self.bounds)[0][0])
            column = file.group(first, [name]).column(name).combine_chunks()
            if column.null_count:
                raise damaged(f"{name} must have no missing values", self.path)
            shape, kind = [len(column[0])], kind.value_type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
            requirement = (
                "columns of a part must be numbers, or lists of them of the same length (parts= "
                "chooses, in a configuration data.inputs)"
            )
            raise shard_error(requirement, self.path, column=name, type=str(kind))
        return SamplePart(name, usable_dtype(self.path, name, kind.to_pandas_dtype()), tuple(shape))

    def _part_array(self, table: Any, part: SamplePart, columns: list[str]) -> Any:
        if len(columns) == 1:
            return self._numbers(table, columns[0], part)
        array = np.empty((table.num_rows, len(columns)), part.dtype)
        for place, name in enumerate(columns):
            array[:, place] = self._numbers(table, name, part._replace(shape=()))
        return array

    def _numbers(self, table: Any, name: str, part: SamplePart) -> Any:
        import pyarrow

        column = table.column(name).combine_chunks()
        rows, types = len(column), pyarrow.types
        if isinstance(column, pyarrow.ExtensionArray):
            column = column.storage
        while types.is_nested(column.type) and not column.null_count:
            if not types.is_fixed_size_list(column.type):
                lengths = column.value_lengths().to_numpy(zero_copy_only=False)
                if (lengths != part.shape[0]).any():
                    requirement = f"the lists in {name} must all have {part.shape[0]} numbers"
                    raise damaged(requirement, self.path)
            column = column.flatten()
        if column.null_count:
            raise damaged(f"{name} must have no missing values", self.path)
        values = np.ascontiguousarray(column.to_numpy(zero_copy_only=False), part.dtype)
        return values.reshape(rows, *part.shape)

    @contextmanager
    def _open_unchanged(self) -> Iterator[Any]:
        self.stamp.check(self.path)
        with _open_columns(self.path, self.partition) as file:
            yield file


def column_names(path: Path, partition: Mapping[str, Any]) -> list[str]:
    """The names of the columns of a shard, without the index columns of pandas."""
    with _open_columns(path, partition) as file:
        return list(_types(file.schema))


def _types(schema: Any) -> dict[str, str]:
    """The type of each column, without the index columns of pandas."""
    known = schema.pandas_metadata or {}
    index = [name for name in known.get("index_columns", ()) if isinstance(name, str)]
    return {field.name: str(field.type) for field in schema if field.name not in index}


@contextmanager
def _open_columns(path: Path, partition: Mapping[str, Any]) -> Iterator[Any]:
    pyarrow = import_pyarrow(OP, path.name)
    kind: Any = _Parquet
    if path.suffix.lower() != ".parquet":
        with explain_unreadable(OP, path):
            kind = _Arrow if _begins_as_file(path) else _Stream
    requirement = f"shard must be a whole {kind.name} file"
    errors = (pyarrow.ArrowException, ValueError, IndexError, KeyError)
    with explain_damage(requirement, path, *errors), closing(kind(path)) as file:
        if partition:
            file.add(partition)
        yield file


def _begins_as_file(path: Path) -> bool:
    """Whether an Arrow file is one for random access, and not a stream."""
    with open(path, "rb", opener=open_regular) as file:
        return file.read(len(MAGIC)) == MAGIC


class _Parquet:
    """A Parquet file, by row groups."""

    name = "Parquet"

    def __init__(self, path: Path) -> None:
        from pyarrow.parquet import ParquetFile

        self.path = path
        self.file = ParquetFile(path, memory_map=True)
        self.schema = self.file.schema_arrow
        self.partition: Mapping[str, Any] = {}

    def add(self, partition: Mapping[str, Any]) -> None:
        """Add columns that the folders of the file name, the same in every row."""
        import pyarrow

        for name, value in partition.items():
            if name in self.file.schema_arrow.names:
                requirement = f"column {name!r} must be in the files or in the names of folders"
                raise shard_error(f"{requirement}, not in both", self.path)
            self.schema = self.schema.append(pyarrow.field(name, value.type))
        self.partition = partition

    def close(self) -> None:
        self.file.close()

    def sizes(self) -> list[int]:
        """The rows of each group."""
        metadata = self.file.metadata
        return [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]

    def group(self, number: int, columns: list[str]) -> Any:
        """The columns of a group."""
        import pyarrow

        stored = [name for name in columns if name not in self.partition]
        needed = parquet_cost(self.file.metadata, [number], stored)
        check_decoded(OP, self.path, needed, self.path.stat().st_size)
        table = self.file.read_row_group(number, stored, use_threads=False)
        rows = self.file.metadata.row_group(number).num_rows
        if len(stored) == len(columns):
            return table
        added = {x: pyarrow.repeat(self.partition[x], rows) for x in columns if x not in stored}
        return pyarrow.table({x: table.column(x) for x in stored} | added)


class _Arrow:
    """An Arrow file, by record batches."""

    name = "Arrow"

    def __init__(self, path: Path) -> None:
        import pyarrow

        self.path = path
        self.source = pyarrow.memory_map(str(path))
        self.schema = self._open().schema

    def close(self) -> None:
        self.source.close()

    def _open(self) -> Any:
        import pyarrow

        self.file = pyarrow.ipc.open_file(self.source)
        return self.file

    def sizes(self) -> list[int]:
        """The rows of each batch."""
        return [batch.rows for batch in _batches(self.path, Stamp.of(self.path)).rows]

    def group(self, number: int, columns: list[str]) -> Any:
        """The columns of a batch."""
        import pyarrow

        _batches(self.path, Stamp.of(self.path)).check(self.path, [number], self.schema)
        table = pyarrow.Table.from_batches([self.file.get_batch(number)])
        return table.select(columns)


class _Stream(_Arrow):
    """An Arrow stream, as Hugging Face's datasets save them, by record batches."""

    def _open(self) -> Any:
        import pyarrow

        return pyarrow.ipc.open_stream(self.source)

    def group(self, number: int, columns: list[str]) -> Any:
        """The columns of a batch."""
        import pyarrow

        batches = _batches(self.path, Stamp.of(self.path))
        if any(pyarrow.types.is_dictionary(field.type) for field in self.schema):
            # The words of a batch may stand before any batch earlier on.
            batches.check(self.path, range(number + 1), self.schema)
            self.source.seek(0)
            batch = next(islice(pyarrow.ipc.open_stream(self.source), number, None))
        else:
            batches.check(self.path, [number], self.schema)
            self.source.seek(batches.rows[number].offset)
            message = pyarrow.ipc.read_message(self.source)
            batch = pyarrow.ipc.read_record_batch(message, self.schema)
        return pyarrow.Table.from_batches([batch]).select(columns)


class _ArrowBatches(NamedTuple):
    """The content of an Arrow file: batches of rows, and the words of its categories."""

    rows: list[Batch]
    words: list[Batch]

    def check(self, path: Path, numbers: Iterable[int], schema: Any) -> None:
        """Refuse batches that take too much memory when they are decoded one at a time."""
        words = batches_cost(self.words, schema)
        needed = max(batches_cost([self.rows[number]], schema) for number in numbers)
        check_decoded(OP, path, words + needed, path.stat().st_size)


@lru_cache(maxsize=1024)
def _batches(path: Path, stamp: Stamp) -> _ArrowBatches:  # noqa: ARG001  a key of the cache
    """The batches of a file or a stream, which has no table of them."""
    import pyarrow

    with pyarrow.memory_map(str(path)) as source:
        batches = arrow_batches(source.read_buffer())
    rows = [batch for batch in batches if not batch.is_dictionary]
    return _ArrowBatches(rows, [batch for batch in batches if batch.is_dictionary])


def disagreements(shards: Sequence[Shard], choice: Choice) -> dict[int, DamagedFileError]:
    """The errors for shards with other columns than most have, by their places.

    If parts were chosen, only their columns count.
    """
    chosen = None if choice is None else {name for part in choice for name in names_in(part)}
    types = [
        {
            name: kind
            for name, kind in shard.column_types.items()
            if chosen is None or name in chosen
        }
        for shard in shards
    ]
    counted = Counter(tuple(found.items()) for found in types if found)
    if len(counted) < 2:
        return {}
    usual = dict(counted.most_common(1)[0][0])
    reasons = {i: _difference(found, usual) for i, found in enumerate(types) if found}
    return {
        i: damaged(f"shards must have the same columns ({reason})", shards[i].path)
        for i, reason in reasons.items()
        if reason is not None
    }


def _difference(found: Mapping[str, str], usual: Mapping[str, str]) -> str | None:
    """Words for the first column that is not as in most shards; None if all are."""
    for name, kind in found.items():
        if name not in usual:
            return f"column {name!r} is not in the others"
        if kind != usual[name]:
            return f"column {name!r} is {kind}, in the others {usual[name]}"
    missing = [name for name in usual if name not in found]
    return f"column {missing[0]!r} is missing" if missing else None
