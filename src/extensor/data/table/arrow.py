"""Tables of Parquet and Arrow, if pyarrow is installed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from extensor.data.table.arrow_batches import (
    MAGIC,
    NUMBER_COST,
    OBJECT_COST,
    arrow_batches,
    batches_cost,
)
from extensor.data.table.names import check_names
from extensor.data.table.table import Table
from extensor.data.table.values import column_of_values, origin_of
from extensor.errors import is_ours, value_error
from extensor.io.limits import check_decoded

SUFFIXES = (".parquet", ".pq", ".feather", ".arrow", ".arrows", ".ipc")
_PARQUET, _FEATHER = b"PAR1", b"FEA1"
_STREAM = b"\xff\xff\xff\xff"
_INDEX = re.compile(r"__index_level_\d+__")  # what pandas writes beside the columns
_NUMBERS = ("INT32", "INT64", "FLOAT", "DOUBLE")  # that stay numbers in an array
_OPTIONS = ("delimiter", "decimal", "encoding", "header")


def is_arrow(content: bytes) -> bool:
    """Whether a file begins as those of Parquet and Arrow do."""
    return content.startswith((_PARQUET, MAGIC, _FEATHER, _STREAM))


def read_arrow(op: str, content: bytes, source: str) -> Table:
    """The table in the content of a file."""
    try:
        import pyarrow
        import pyarrow.feather
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            f"{op}: pyarrow must be installed to read Parquet and Arrow, "
            "see pip install extensor[parquet]"
        ) from None
    stream = pyarrow.BufferReader(content)
    try:
        if content.startswith(_PARQUET):
            table = _read_parquet(op, stream, len(content), source)
        elif content.startswith(_FEATHER):
            table = pyarrow.feather.read_table(stream)
        else:
            is_file = content.startswith(MAGIC)
            reader = (pyarrow.ipc.open_file if is_file else pyarrow.ipc.open_stream)(stream)
            needed = batches_cost(arrow_batches(content), reader.schema)
            check_decoded(op, source, needed, len(content))
            table = reader.read_all()
        table.validate(full=True)
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, LookupError) as error:
        if is_ours(error):
            raise
        kind = "Arrow" if is_arrow(content) and not content.startswith(_PARQUET) else "Parquet"
        raise value_error(op, f"file must be whole, as {kind} is", source=source) from error
    if table.num_rows == 0:
        raise value_error(op, "file must have at least one row", source=source)
    check_dictionaries(op, table, len(content), source)
    return table_of_arrow(op, table, source)


def _read_parquet(op: str, stream: Any, stored: int, source: str) -> Any:
    """The table in a Parquet file, whose words are first read as they are stored, each once."""
    from pyarrow import types
    from pyarrow.parquet import ParquetFile

    file = ParquetFile(stream)
    check_decoded(op, source, parquet_cost(file.metadata), stored)
    schema = file.schema_arrow
    words = [x.name for x in schema if types.is_string(x.type) or types.is_binary(x.type)]
    stream.seek(0)
    table = ParquetFile(stream, read_dictionary=words).read()
    check_dictionaries(op, table, stored, source)
    for place, field in enumerate(schema):
        if table.column(place).type != field.type:
            table = table.set_column(place, field, table.column(place).cast(field.type))
    return table


def parquet_cost(metadata: Any, groups: Any = None, columns: Any = None) -> int:
    """An estimate of the bytes that row groups take in memory; without ``groups`` all of them do.

    The sizes in the file do not tell: a value that is repeated is stored once.
    """
    cost = 0
    for number in range(metadata.num_row_groups) if groups is None else groups:
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            chunk = group.column(place)
            if columns is None or chunk.path_in_schema.split(".")[0] in columns:
                size = NUMBER_COST if chunk.physical_type in _NUMBERS else OBJECT_COST
                cost += max(chunk.num_values * size, chunk.total_uncompressed_size)
    return cost


def check_dictionaries(op: str, table: Any, stored: int, source: str) -> None:
    """Refuse words that take too much memory where each is written out in every row."""
    import pyarrow.compute as compute
    from pyarrow import types

    needed = 0
    for column in table.columns:
        kind = column.type
        if types.is_dictionary(kind) and _are_bytes(kind.value_type):
            for chunk in column.chunks:
                lengths = compute.binary_length(chunk.dictionary).cast("int64")
                needed += compute.sum(lengths.take(chunk.indices)).as_py() or 0
        elif str(kind) == "string_view":
            # Each row is a length and a place, and many rows may name the same place.
            for chunk in filter(len, column.chunks):
                views = np.frombuffer(chunk.buffers()[1], np.int32).reshape(-1, 4)
                rows = views[chunk.offset : chunk.offset + len(chunk), 0]
                needed += int(rows.sum(dtype=np.int64))
    check_decoded(op, source, needed, stored)


def _are_bytes(kind: Any) -> bool:
    from pyarrow import types

    of_text = types.is_string(kind) or types.is_large_string(kind)
    return bool(of_text or types.is_binary(kind) or types.is_large_binary(kind))


def table_of_arrow(op: str, data: Any, source: str) -> Table:
    """The columns of a pyarrow table; those that are no numbers, words or dates are left out."""
    said: list[str] = []
    names = [str(name) for name in data.column_names]
    check_names(op, names, source=source)
    columns = []
    for name, values in zip(names, data.columns, strict=True):
        if _INDEX.fullmatch(name):
            said.append(f"column {name!r} is the index of pandas and is left out")
            continue
        origin = origin_of(source, data.num_rows)
        column = column_of_values(name, *_values(values), origin, said)
        if column is not None:
            columns.append(column)
    if not columns:
        requirement = "table must have a column of numbers, words or dates"
        raise value_error(op, requirement, source=source, columns=names)
    return Table(columns, source, said, dict.fromkeys(_OPTIONS))


def _values(column: Any) -> tuple[Any, bool]:
    """An array, a list or None, and whether it is a category by its type."""
    from pyarrow import types

    kind = column.type
    is_category = bool(types.is_dictionary(kind))
    if is_category:
        kind = kind.value_type
        column = column.cast(kind)
    is_array = types.is_floating(kind) or types.is_date(kind) or types.is_timestamp(kind)
    if is_array or (types.is_integer(kind) and column.null_count == 0):
        return column.to_numpy(), is_category
    is_plain = types.is_integer(kind) or types.is_decimal(kind) or types.is_boolean(kind)
    is_words = types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind)
    if is_plain or is_words or str(kind) == "string_view":
        return column.to_pylist(), is_category
    return None, False
